"""Views on hand-made maps where the right one is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from esar_ros.planning.belief.detection_probability import Curves
from esar_ros.planning.belief.view_planning import (
    PlanningSettings,
    Worth,
    after,
    best_view,
    candidates,
    flyable,
    leg_gains,
    strongest,
)

AREA = np.array([[-500.0, -500], [500, -500], [500, 500], [-500, 500]])
CURVE = np.where(np.arange(151) < 60, 0.9, 0.0)  # sure within 60 m
CURVES = Curves(CURVE, CURVE)
HERE = np.zeros(2)


def worth(places: Any, person: Any, clue: Any = None, seen: float = 0.0) -> Any:
    cells = np.array(places, dtype=float).reshape(-1, 2)
    count = len(cells)
    return Worth(
        cells,
        np.array(person, dtype=float),
        np.zeros(count) if clue is None else np.array(clue, dtype=float),
        np.full((4, count), seen),
        np.zeros(count),
    )


def plan(what: Any, left: float = 900.0, here: Any = HERE, **settings: Any) -> Any:
    places = flyable(candidates(here, what, 100), here, AREA, 15.0, [], 25.0)
    return best_view(here, what, CURVES, places, left, PlanningSettings(**settings))


def test_flies_to_where_the_mass_is() -> None:
    view = plan(worth([(300.0, 0.0), (-300.0, 0.0)], [0.8, 0.1]))
    assert view.place[0] > 200.0 and view.rate > 0.0


def test_what_lies_on_the_way_decides_between_equals() -> None:
    view = plan(worth([(300.0, 0.0), (-300.0, 0.0), (-150.0, 0.0)], [0.4, 0.4, 0.1]))
    assert view.place[0] < 0.0


def test_near_comes_before_far() -> None:
    view = plan(worth([(100.0, 0.0), (0.0, -400.0)], [0.3, 0.4]))
    assert view.place[0] > 0.0 and abs(view.place[1]) < 100.0


def test_two_legs_see_more_than_one() -> None:
    # One alone to the east; in the west a row of two behind each other: worth more a second in the end.
    what = worth([(200.0, 0.0), (-200.0, 0.0), (-330.0, 0.0)], [0.30, 0.28, 0.28])
    assert plan(what).place[0] < 0.0


def test_seen_ground_is_worth_less() -> None:
    fresh, seen = worth([(200.0, 0.0)], [0.5]), worth([(200.0, 0.0)], [0.5], seen=0.85)
    assert plan(seen).rate < 0.5 * plan(fresh).rate


def test_flies_low_when_range_is_short() -> None:
    short = np.where(np.arange(151) < 30, 0.9, 0.0)
    what = worth([(200.0, 0.0)], [0.5])
    places = flyable(candidates(HERE, what, 100), HERE, AREA, 15.0, [], 25.0)
    planning = PlanningSettings()
    view = best_view(HERE, what, Curves(short, short), places, 900.0, planning)
    assert view is not None and view.height == min(planning.heights)


def test_nothing_to_find_no_view() -> None:
    assert plan(worth([], [])) is None
    assert best_view(HERE, worth([(9.0, 9.0)], [1.0]), CURVES, np.zeros((0, 2)), 900.0, PlanningSettings()) is None


def test_no_view_that_takes_longer_than_is_left() -> None:
    view = plan(worth([(400.0, 0.0)], [1.0]), left=30.0)
    assert view is None or np.linalg.norm(view.place) / 4.5 < 30.0


def test_a_leg_finds_once() -> None:
    what = worth([(100.0, 0.0), (100.0, 300.0)], [0.5, 0.5])
    beside = CURVES.beside(30.0)
    places = np.array([[200.0, 0.0]])
    assert leg_gains(HERE, places, what, beside) == pytest.approx([0.45])
    left = after(HERE, places[0], what, beside)
    assert leg_gains(HERE, places, left, beside) == pytest.approx([0.0])
    assert left.person == pytest.approx([0.05, 0.5]) and what.person[0] == 0.5, "the original is not touched"


def test_places_outside_or_closed_are_left_out() -> None:
    places = flyable(
        np.array([[480.0, 0], [490, 0], [600, 0], [200, 0]]), HERE, AREA, 15.0, [np.array([210.0, 0])], 25.0
    )
    assert [480.0, 0.0] in places.tolist() and [490.0, 0.0] not in places.tolist()
    assert [200.0, 0.0] not in places.tolist()


def test_strongest_cells() -> None:
    person = np.array([[0.0, 0.5], [1e-9, 0.2]])
    assert strongest(person, np.zeros((2, 2))).tolist() == [1, 3]
    assert len(strongest(np.zeros((2, 2)), np.zeros((2, 2)))) == 0
