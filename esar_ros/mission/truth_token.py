"""The token that opens ground truth, for processes that may know it.

It comes on standard input where the variable says so, since the environment of a process can be read by every
other process of the same user; a person, or a launcher that has no such way, may give it in the variable itself.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache

VARIABLE = "ESAR_TRUTH_TOKEN"
ON_STANDARD_INPUT = "-"


@lru_cache(maxsize=1)
def truth_token() -> str:
    """The token this process was given; empty: none. Reads standard input at most once."""
    value = os.environ.get(VARIABLE, "")
    return sys.stdin.readline().strip() if value == ON_STANDARD_INPUT else value
