"""Counts over a whole run, however many processes share it."""

from __future__ import annotations

from collections import Counter

STEPS: Counter[str] = Counter()  # random steps held against the governor's promises, by the kind of test
