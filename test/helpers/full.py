"""Parameters of which the default suite takes some and `./esar test --full` all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def mostly_full(values: Iterable[Any], default: int = 1) -> list[Any]:
    """Returns the values; those behind the first few are for the full suite alone."""
    return [value if n < default else pytest.param(value, marks=pytest.mark.full) for n, value in enumerate(values)]
