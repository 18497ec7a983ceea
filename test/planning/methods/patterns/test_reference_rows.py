"""The rows that every table carries: doing nothing, and claiming everything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from esar_ros.mission.decision import Decision, ReportType
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.planning.methods.patterns.report_spam import ReportSpam, grid_around
from esar_ros.planning.registry import create


def test_stay_asks_for_no_goal_reports_nothing_and_stops(brief: Any, observe: Any) -> None:
    stay = create("stay")
    stay.reset(brief(), 1)
    first, last = stay.act(observe(0.0)), stay.act(observe(10.0))
    assert first.goal is None and last.goal is None
    assert not first.reports and not last.reports
    assert not first.stop and last.stop


def test_flooder_spends_the_whole_cap_and_asks_for_no_goal(brief: Any, observe: Any) -> None:
    flooder = create("flooder")
    flooder.reset(brief(home=np.array([10.0, -20.0, 3.0])), 1)
    decisions: list[Decision] = []
    while not decisions or not decisions[-1].stop:
        decisions.append(flooder.act(observe(float(len(decisions)))))
    reports = [report for decision in decisions for report in decision.reports]
    assert len(reports) == 100 and len(decisions) == 5
    assert all(decision.goal is None for decision in decisions)
    assert sum(report.type is ReportType.VICTIM for report in reports) == 50
    assert len({report.kind for report in reports if report.type is ReportType.CLUE}) == 12
    assert np.allclose(reports[0].position, [10.0, -20.0, 3.0])


def test_flooder_forgets_the_last_mission(brief: Any, observe: Any) -> None:
    flooder = create("flooder")
    flooder.reset(brief(), 1)
    flooder.act(observe())
    flooder.reset(brief(report_cap=7), 2)
    assert len(flooder.act(observe()).reports) == 7


@pytest.mark.parametrize("count", [0, 1, 4, 50, 100])
def test_the_grid_is_as_long_as_asked_and_nearest_first(count: Any) -> None:
    grid = grid_around(count, 2.0)
    assert grid.shape == (count, 2)
    assert len({tuple(cell) for cell in grid}) == count
    away = np.hypot(*grid.T)
    assert np.all(np.diff(away) >= -1e-9)
    assert not count or away.max() <= 2.0 * (np.sqrt(count) / 2 + 1) * np.sqrt(2)


def test_the_grid_leaves_no_gap_within_e() -> None:
    """Every place inside the grid is strictly nearer than E to a report: the spacing is E times the root of two."""
    reach = load_thresholds().error_threshold
    grid = grid_around(100, reach * np.sqrt(2.0))
    places = np.random.default_rng(1).uniform(-50.0, 50.0, (2000, 2))
    nearest = np.linalg.norm(places[:, None] - grid, axis=2).min(axis=1)
    assert nearest.max() < reach
    flooder = create("flooder")
    assert isinstance(flooder, ReportSpam) and flooder._settings.reach == reach
