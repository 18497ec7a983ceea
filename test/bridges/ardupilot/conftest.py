"""The bridge's rules in flight against the fake ArduCopter."""

from __future__ import annotations

import pytest
from copter_loop import CopterLoop


@pytest.fixture
def flying() -> CopterLoop:
    return CopterLoop().fly()
