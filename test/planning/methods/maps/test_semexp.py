"""SemExp on hand-made maps: frontiers near what was found, persons first, blocked ways painted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.decision import Decision
from esar_ros.mission.observation import FREE, OCCUPIED, UNKNOWN, Grid
from esar_ros.planning import registry


def room(half: int = 40, unknown: int = 60) -> Grid:
    """Free square of 2 * half m around the origin, unknown beyond, 1 m cells."""
    cells = np.full((2 * unknown, 2 * unknown), UNKNOWN, np.int8)
    cells[unknown - half : unknown + half, unknown - half : unknown + half] = FREE
    return Grid(cells, 1.0, (-float(unknown), -float(unknown)))


@pytest.fixture
def begin(brief: Any, observe: Any) -> Callable[..., Any]:
    """Factory: the method with its opening behind it, in the middle of a map."""

    def make(name: str = "semexp@air", grid: Grid | None = None, **parameters: Any) -> Any:
        method = registry.create(name, parameters)
        method.reset(brief(), 1)
        method.act(observe(0.0))
        method.act(observe(1.0, grid=grid))

        def step(stamp: float, position: Any = (0.0, 0.0, 30.0), **values: Any) -> Decision:
            return method.act(observe(stamp, position, np.pi, **{"grid": grid, **values}))

        return step

    return make


def test_without_evidence_the_nearer_frontier(begin: Any, corridor: Grid) -> None:
    decision = begin(grid=corridor)(2.0)
    assert decision.action == "frontier" and decision.goal.position[0] > 20.0 and decision.considered == 2


def test_evidence_outweighs_the_way(begin: Any, clue: Any, corridor: Grid) -> None:
    tent = clue(1, "tent", (-52.0, 0.0, 0.0))
    decision = begin(grid=corridor)(2.0, clues=(tent,))
    assert decision.goal.position[0] < -40.0


def test_a_person_comes_before_every_frontier_and_is_looked_at_once(begin: Any, clue: Any, corridor: Grid) -> None:
    step = begin(grid=corridor)
    person = clue(1, "person", (-30.0, 5.0, 0.0))
    assert step(2.0).action == "frontier"
    decision = step(3.0, clues=(person,))
    assert decision.action == "object" and "person" in decision.why
    assert np.linalg.norm(decision.goal.position[:2] - [-30.0, 5.0]) < 2.0
    after = step(4.0, (-15.0, 3.0, 30.0), clues=(person,))
    assert after.action == "frontier"


def test_a_doubtful_person_is_not_flown_to(begin: Any, clue: Any, corridor: Grid) -> None:
    decision = begin(grid=corridor)(2.0, clues=(clue(1, "person", (-30.0, 5.0, 0.0), probability=0.3),))
    assert decision.action == "frontier"


def test_a_frontier_is_chosen_anew_after_its_steps(begin: Any, clue: Any, corridor: Grid) -> None:
    step = begin(grid=corridor, steps=3, leg={"tolerance": 4.0, "patience": 99.0})
    assert step(2.0).goal.position[0] > 20.0
    tent = clue(1, "tent", (-52.0, 0.0, 0.0))
    actions = [step(3.0 + n, clues=(tent,)) for n in range(3)]
    assert [decision.goal is None for decision in actions] == [True, True, False]
    assert actions[2].goal.position[0] < -40.0


def test_a_blocked_way_is_painted_and_another_chosen(begin: Any, corridor: Grid) -> None:
    step = begin(grid=corridor)
    assert step(2.0).goal.position[0] > 20.0
    decision = step(3.0, goal_blocked=True)
    assert "blocked" in decision.why and decision.goal.position[0] < -40.0


def test_it_stops_when_nothing_is_left(begin: Any) -> None:
    closed = np.full((80, 80), OCCUPIED, np.int8)
    closed[20:60, 20:60] = FREE
    step = begin(grid=Grid(closed, 1.0, (-40.0, -40.0)), settle=3)
    decisions = [step(2.0 + n) for n in range(3)]
    assert [decision.stop for decision in decisions] == [False, False, True]
    assert step(9.0).stop


def test_without_a_map_it_holds(begin: Any) -> None:
    assert begin(grid=None)(2.0).action == "hold"


def test_it_explores_a_whole_area_and_comes_to_an_end(brief: Any, flight: Any) -> None:
    """Ground within 40 m of the track is known, so that every frontier moves away or closes."""
    method = registry.create("semexp@air")
    method.reset(brief(half=70.0), 1)
    known = np.full((200, 200), UNKNOWN, np.int8)
    y, x = np.mgrid[-99.5:100, -99.5:100]

    def grid_at(position: np.ndarray) -> Grid:
        known[np.hypot(x - position[0], y - position[1]) < 40.0] = FREE
        return Grid(known.copy(), 1.0, (-100.0, -100.0))

    flown = flight(method).run(400, grid_at)
    assert flown.stopped
    assert (known[35:165, 35:165] == FREE).mean() > 0.93
