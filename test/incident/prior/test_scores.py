"""MapScores of priors: of ground without a map, and of kinds of prior against each other."""

from __future__ import annotations

import numpy as np
import pytest

from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.prior.scores import (
    LEVEL,
    POA,
    RINGS,
    WORDS,
    kinds_of_prior,
    level,
    score,
    scores,
    without_terrain,
)
from esar_ros.incident.prior.terrain import Terrain
from esar_ros.planning.methods.patterns.lost_persons import load_lost_persons

pytest.importorskip("pyproj")
HIKER = load_lost_persons().category("hiker")
NORTH = "The drone starts at the hut. She was last seen 600 m north of the hut."


def test_words_that_are_right_score_more_than_rings_and_wrong_ones_less() -> None:
    on = level(Origin(44.27, -71.3, 0.0), 600.0)
    there, behind = (
        scores(NORTH, np.zeros(2), on, np.array([0.0, y]), HIKER, without_terrain()) for y in (610.0, -610.0)
    )
    assert there[WORDS] > there[RINGS] > behind[WORDS]
    assert there[RINGS] == pytest.approx(behind[RINGS], abs=2e-3)
    # Rings rank by distance alone: the share of the square that is nearer.
    assert there[RINGS] == pytest.approx(1.0 - 2.0 * np.pi * 610.0**2 / (2.0 * LEVEL) ** 2, abs=5e-3)
    assert there[RINGS] < there[POA] <= 1.0


def test_words_that_lead_nowhere_leave_the_rings() -> None:
    on = level(Origin(44.27, -71.3, 0.0), 600.0)
    told = scores("She is missing.", np.zeros(2), on, np.array([300.0, 300.0]), HIKER, without_terrain())
    assert told[RINGS] == told[WORDS] == told[POA]


def test_a_find_far_away_lies_on_the_ground_that_is_scored() -> None:
    assert level(Origin(44.27, -71.3, 0.0), 10_000.0).ground.north == 15_000.0


def test_one_kind_of_terrain_counts_at_a_time() -> None:
    slope, offset = np.ones((3, 3)), np.zeros((3, 3))
    kinds = kinds_of_prior(Terrain(slope, None, offset))
    assert kinds["with slope"].terrain.offset is None and kinds["with trails"].terrain.factor is None
    assert kinds[POA].terrain == Terrain()


def test_the_likeliest_cell_scores_one_and_an_even_map_by_chance() -> None:
    on = level(Origin(44.27, -71.3, 0.0), 0.0)
    cells = np.ones(on.inside.shape)
    assert score(cells, on, np.zeros(2)) == pytest.approx(0.0, abs=1e-6)
    middle = len(cells) // 2
    cells[middle - 1, middle] = 2.0
    assert score(cells, on, np.array([5.0, 5.0])) == pytest.approx(1.0, abs=1e-4)
