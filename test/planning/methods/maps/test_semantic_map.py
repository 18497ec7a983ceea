"""SemExp's map: what each channel takes in, and the evidence around a place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.clues import KINDS
from esar_ros.mission.observation import FREE, OCCUPIED, UNKNOWN, Grid
from esar_ros.planning.methods.maps.semantic_map import CHANNEL, EXPLORED, OBSTACLE, SemanticMap


def ground(value: int, outside: bool = False) -> Grid:
    """20 x 10 cells of 4 m from (-40, 0); the first column may lie outside the area."""
    cells = np.full((10, 20), value, np.int8)
    cells[:, 0] = OCCUPIED if outside else value
    return Grid(cells, 4.0, (-40.0, 0.0))


def test_a_channel_for_obstacles_one_for_the_explored_and_one_a_kind() -> None:
    semantic = SemanticMap(ground(UNKNOWN))
    assert semantic.channels.shape == (2 + len(KINDS), 10, 20) and not semantic.channels.any()
    assert sorted([OBSTACLE, EXPLORED, *CHANNEL.values()]) == list(range(2 + len(KINDS)))


def test_each_channel_keeps_its_maximum(clue: Any) -> None:
    semantic = SemanticMap(ground(UNKNOWN))
    row, column = 2, 10  # of (1, 9)
    tents = CHANNEL["tent"]
    for probability, kept in ((0.4, 0.4), (0.9, 0.9), (0.2, 0.9)):
        semantic.add(ground(UNKNOWN), None, [clue(1, "tent", (1.0, 9.0, 0.0), probability=probability)])
        assert semantic.channels[tents, row, column] == pytest.approx(kept)
    assert np.count_nonzero(semantic.channels) == 1
    semantic.add(ground(FREE), None, [clue(2, "rope", (999.0, 9.0, 0.0)), clue(3, "rope", (np.nan, 9.0, 0.0))])
    assert semantic.channels[EXPLORED].all() and not semantic.channels[CHANNEL["rope"]].any()
    semantic.add(ground(UNKNOWN), None, [])
    assert semantic.channels[EXPLORED].all(), "what is explored stays so"


def test_obstacles_come_from_the_bird_s_eye_map_and_close_cells(clue: Any) -> None:
    semantic = SemanticMap(ground(UNKNOWN, outside=True))
    cells = np.full((30, 30), FREE, np.int8)
    cells[5, 7] = OCCUPIED  # (-20 + 15, 11)
    semantic.add(ground(FREE, outside=True), Grid(cells, 2.0, (-20.0, 0.0)), [])
    assert np.argwhere(semantic.channels[OBSTACLE]).tolist() == [[2, 8]]
    explored = semantic.explored()
    assert explored.cells[2, 8] == OCCUPIED and (explored.cells[:, 0] == OCCUPIED).all()
    assert np.count_nonzero(explored.cells == FREE) == 10 * 19 - 1


def test_evidence_is_the_best_of_each_kind_and_falls_with_the_distance(clue: Any) -> None:
    semantic = SemanticMap(ground(UNKNOWN))
    seen = [clue(1, "tent", (2.0, 18.0, 0.0), probability=0.8), clue(2, "tent", (6.0, 18.0, 0.0), probability=0.3),
            clue(3, "rope", (2.0, 26.0, 0.0), probability=0.5), clue(4, "person", (2.0, 18.0, 0.0))]  # fmt: skip
    semantic.add(ground(UNKNOWN), None, seen)
    at = np.array([2.0, 18.0])
    assert semantic.evidence(at, 40.0) == pytest.approx(0.8 + 0.5 * math.exp(-8.0 / 40.0))
    assert semantic.evidence(np.array([2.0, 38.0]), 40.0) == pytest.approx(0.8 * math.exp(-0.5) + 0.5 * math.exp(-0.3))
    assert 0.0 < semantic.evidence(np.array([202.0, 18.0]), 100.0) < semantic.evidence(np.array([152.0, 18.0]), 100.0)
    assert SemanticMap(ground(UNKNOWN)).evidence(at, 40.0) == 0.0
    semantic.add(ground(UNKNOWN), None, [clue(5, "tent", (2.0, 18.0, 0.0), probability=0.95)])
    assert semantic.evidence(at, 40.0) == pytest.approx(0.95 + 0.5 * math.exp(-8.0 / 40.0)), "what is seen later counts"
