"""The bridge's rules in flight against the fake ArduCopter."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

# The fake speaks with pymavlink's messages, which is an extra.
collect_ignore_glob = [] if find_spec("pymavlink") else ["test_*.py"]


@pytest.fixture
def flying() -> Any:
    from copter_loop import CopterLoop

    return CopterLoop().fly()
