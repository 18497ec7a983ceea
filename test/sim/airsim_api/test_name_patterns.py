"""Regular expressions of clients cannot hold up the simulation."""

from __future__ import annotations

import re
import signal
import time

import pytest

from esar_ros.sim.airsim_api.name_patterns import matching

NAMES = ["tent_1", "tent_2", "person", "a" * 40]


def test_expressions_match_whole_names_in_order() -> None:
    assert matching("tent_.", NAMES) == ["tent_1", "tent_2"]
    assert matching(".*", NAMES) == NAMES
    assert matching("ent_1", NAMES) == []


def test_an_expression_that_explodes_is_given_up() -> None:
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        matching("(a+)+$b", NAMES)
    assert time.monotonic() - began < 1.0
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
    assert matching("person", NAMES) == ["person"]


@pytest.mark.parametrize("pattern", ["(", "[z-a]", "*", "(?P<", "(" * 500])
def test_bad_expressions_are_errors_of_their_own(pattern: str) -> None:
    with pytest.raises((re.error, RecursionError, OverflowError)):
        matching(pattern, NAMES)
