"""Tests for the score of a probability map."""

from __future__ import annotations

import numpy as np
import pytest

from esar_ros.planning.belief.map_score import map_score


def test_a_map_is_scored_by_the_share_of_cells_that_it_ranks_above_the_find() -> None:
    cells = np.array([0.4, 0.3, 0.2, 0.1])
    assert [map_score(cells, found) for found in cells] == pytest.approx([0.75, 0.25, -0.25, -0.75])


def test_a_map_that_says_nothing_scores_nothing() -> None:
    assert map_score(np.full((10, 10), 0.01), 0.01) == pytest.approx(0.0, abs=1e-9)
