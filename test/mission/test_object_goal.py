"""Words of object-goal navigation."""

from __future__ import annotations

import pytest

from esar_ros.mission.object_goal import ObjectGoal, SizeClass


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (" mid(2.5*2.0=5.0 squares)", SizeClass.MID),
        ("small1.5*1=1.5 squares)", SizeClass.SMALL),
        ("big", SizeClass.BIG),
        ("small, not big", SizeClass.SMALL),  # the first of small, mid, big
        ("big or mid", SizeClass.MID),
        ("large(9 squares)", None),
        ("Small", None),
        ("", None),
    ],
)
def test_the_size_class_is_the_first_word_that_the_size_contains(size: str, expected: SizeClass | None) -> None:
    assert ObjectGoal("Bench", size, "").size_class is expected
