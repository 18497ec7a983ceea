"""The rows of a suite's own paper, shown beside what was flown and never mixed with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PaperRows:
    """Published scores of a suite's methods, per cent."""

    source: str  # of the paper: its name and its tables
    methods: Mapping[str, Mapping[tuple[str, str], float]]  # method -> (tier or "overall", score) -> value
    caveat: str  # why they are not to be compared with what was flown here
