"""The object that a report is about: the nearest of its kind, and none farther away than one object reaches."""

from __future__ import annotations

from esar_ros.mission.same_object import SAME, nearest_of_kind

SEEN = [("tent", (0.0, 0.0, 0.0)), ("tent", (3.0, 0.0, 0.0)), ("rope", (1.0, 0.0, 0.0))]


def nearest(kind: str, x: float) -> tuple[str, tuple[float, float, float]] | None:
    return nearest_of_kind(kind, (x, 0.0, 0.0), SEEN, lambda one: one)


def test_the_nearest_of_the_kind_is_meant() -> None:
    assert nearest("tent", 1.0) == SEEN[0]
    assert nearest("tent", 2.0) == SEEN[1]
    assert nearest("rope", 0.0) == SEEN[2]


def test_far_away_or_of_no_such_kind_there_is_none() -> None:
    assert nearest("tent", 3.0 + SAME) == SEEN[1]
    assert nearest("tent", 3.1 + SAME) is None
    assert nearest("person", 0.0) is None
