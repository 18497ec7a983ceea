"""Share of briefs understood whose words the rules were not made for, as benchmarks/phrasings.py measures it."""

from __future__ import annotations

import phrasings
import pytest

# As measured; docs/results/phrasings.md states them. All: every field of a brief is right.
LEAST = {
    "improved on": {"all": 29, "victims": 30, "stationary": 30, "start": 29, "ways": 29},
    "held out": {"all": 14, "victims": 27, "stationary": 28, "start": 25, "ways": 17},
}


@pytest.mark.parametrize("half", LEAST)
def test_no_less_is_understood_than_was_measured(half: str) -> None:
    assert len(phrasings.HALVES[half]) == 30
    counts = phrasings.counts(phrasings.HALVES[half])
    assert all(counts[field] >= least for field, least in LEAST[half].items()), counts
