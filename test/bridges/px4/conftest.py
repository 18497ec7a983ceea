"""The bridge's rules in flight against the fake autopilot."""

from __future__ import annotations

import pytest
from loop import Loop


@pytest.fixture
def flying() -> Loop:
    return Loop().fly()
