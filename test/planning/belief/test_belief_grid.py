"""The belief as a grid: scaled by its maximum, unknown where nothing is said, and looking at it changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from esar_ros.mission.observation import UNKNOWN, Grid
from esar_ros.planning import registry
from esar_ros.planning.method import HasBeliefGrid, Method, scaled
from helpers.chat_server import ChatEndpoint

PROMPT = "A hiker is missing. You start at the hut. He left the hut and walked 100 m to the east."


def shown(method: Method) -> Grid:
    assert isinstance(method, HasBeliefGrid)
    grid = method.belief_grid()
    assert grid is not None
    return grid


def test_cells_are_per_cent_of_the_greatest_known_one() -> None:
    values = np.array([[0.0, 0.1, 0.4], [9.0, -1.0, 0.0]])
    known = np.array([[True, True, True], [False, True, True]])
    assert scaled(values, known).tolist() == [[0, 25, 100], [UNKNOWN, 0, 0]]
    assert scaled(np.zeros((1, 2)), np.array([[True, False]])).tolist() == [[0, UNKNOWN]]


def test_the_belief_is_greatest_where_the_brief_says_and_falls_where_it_was_looked(brief: Any, observe: Any) -> None:
    method = registry.create("belief")
    method.reset(brief(half=300.0, prompt=PROMPT), 0)
    before = shown(method)
    row, column = np.unravel_index(int(np.argmax(before.cells)), before.cells.shape)
    assert np.linalg.norm(before.center_of(int(row), int(column)) - [100.0, 0.0]) < 40.0
    assert before.cells.max() == 100 and before.cells[before.cell_of(np.array([-250.0, 0.0]))] < 20
    for stamp in range(10):
        method.act(observe(float(stamp), (100.0, 0.0, 30.0)))
    after = shown(method)
    here = after.cell_of(np.array([100.0, 0.0]))
    assert after.cells[here] < 0.5 * before.cells[here]


def test_outside_the_area_nothing_is_said(brief: Any) -> None:
    method = registry.create("belief")
    triangle = np.array([[-200.0, -200.0], [200.0, -200.0], [200.0, 200.0]])
    method.reset(brief(area=triangle, prompt=PROMPT), 0)
    grid = shown(method)
    assert grid.cells[grid.cell_of(np.array([-150.0, 150.0]))] == UNKNOWN
    assert grid.cells[grid.cell_of(np.array([150.0, -150.0]))] >= 0


def test_looking_at_it_changes_no_decision(brief: Any, flight: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tracks = []
    for watched in (False, True):
        method = registry.create("belief")
        method.reset(brief(half=200.0, prompt=PROMPT, t_max=120.0), 3)
        act = method.act

        def look_and_act(observation: Any, method: Any = method, act: Any = act, watched: bool = watched) -> Any:
            if watched:
                assert np.array_equal(shown(method).cells, shown(method).cells)
            return act(observation)

        monkeypatch.setattr(method, "act", look_and_act)
        tracks.append(flight(method, 5.0).run(60).track)
    assert np.array_equal(*tracks)


def test_value_maps_of_vlfm_and_apex(brief: Any, observe: Any, look: Any, clue: Any, chat: ChatEndpoint) -> None:
    labels = registry.create("vlfm_labels")
    labels.reset(brief(half=200.0), 0)
    assert (shown(labels).cells == UNKNOWN).all()
    person = clue(1, "person", (30.0, 0.0, 0.0))
    labels.act(observe(0.0, clues=(person,), views=look()))
    assert shown(labels).cells.max() == 100
    apex = registry.create("apex")
    apex.reset(brief(half=200.0), 0)
    assert isinstance(apex, HasBeliefGrid) and apex.belief_grid() is None
    apex.act(observe(0.0, clues=(person,), views=look()))
    grid = shown(apex)
    assert grid.cells[grid.cell_of(np.array([30.0, 0.0]))] == 100 and np.count_nonzero(grid.cells) == 1
