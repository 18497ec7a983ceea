"""Compilation settings (numba) of every kernel of the map.

The interpreter lock is released, the machine code is kept beside the source, and floating point stays strict: the same
images give the same map on every machine, and NaN means NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function that Python calls."""
    return cast(F, njit(cache=True, nogil=True, error_model="numpy")(function))


def inlined(function: F) -> F:
    """Compile a small function into every kernel that uses it."""
    return cast(F, njit(cache=True, nogil=True, error_model="numpy", inline="always")(function))
