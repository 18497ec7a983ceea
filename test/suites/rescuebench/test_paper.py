"""The paper's numbers are the paper's: whole counts of episodes, stages that add up, nobody above the oracle."""

from __future__ import annotations

import pytest

from esar_ros.benchmark.report.comparison import OVERALL
from esar_ros.mission.rescue import level_name
from esar_ros.suites.rescuebench.files.points import LEVELS
from esar_ros.suites.rescuebench.paper import PAPER

GROUPS = list(map(level_name, LEVELS))


@pytest.mark.parametrize("method", PAPER.methods)
def test_completions_of_the_first_level_are_whole_counts_of_its_25_episodes(method: str) -> None:
    assert PAPER.methods[method][GROUPS[0], "tcr"] % 4.0 == 0.0


@pytest.mark.parametrize("method", PAPER.methods)
def test_whoever_completed_has_all_points_of_it(method: str) -> None:
    row = PAPER.methods[method]
    assert all(row[level, "tcr"] <= row[level, "ts"] <= 100.0 for level in GROUPS)


@pytest.mark.parametrize("method", PAPER.methods)
def test_later_stages_are_never_worth_more(method: str) -> None:
    row = PAPER.methods[method]
    stages = [row[OVERALL, stage] for stage in ("s1", "s2", "s3", "s4")]
    assert stages == sorted(stages, reverse=True) and stages[0] <= 25.0


@pytest.mark.parametrize("method", PAPER.methods)
def test_the_average_of_all_stages_lies_between_those_of_the_levels(method: str) -> None:
    row = PAPER.methods[method]
    points = [row[level, "ts"] for level in GROUPS]
    assert min(points) <= sum(row[OVERALL, stage] for stage in ("s1", "s2", "s3", "s4")) <= max(points)


def test_the_oracle_completes_all_and_people_all_but_two_of_31() -> None:
    assert [PAPER.methods["Oracle"][level, "tcr"] for level in GROUPS] == [100.0] * 5
    assert PAPER.methods["Human Player"][GROUPS[4], "tcr"] == round(100 * 29 / 31, 1)
