"""The token that grants access to ground truth, for processes that are allowed it.

It comes on standard input where the variable says so, since the environment of a process can be read by every other
process of the same user. A user, or a launcher that cannot write to standard input, may put it into the variable.
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
