"""The paper's numbers are the paper's: whole counts of its groups, and totals that follow from them."""

from __future__ import annotations

import pytest

from esar_ros.mission.object_goal import SizeClass
from esar_ros.suites.uav_on.paper import EPISODES, PAPER

SIZES = [size.value for size in SizeClass]
# Random's small episodes as its rates have them; the one that is missing was an oracle success.
GROUPS = {method: dict(EPISODES) | ({"small": 628} if method == "Random" else {}) for method in PAPER.methods}
UNCLASSED = {"sr": {"Random": 0}, "osr": {"Random": 1}}


def count(percent: float, episodes: int) -> int:
    """The whole number of episodes that is this many per cent, to two decimals."""
    nearest = round(percent / 100.0 * episodes)
    assert round(100.0 * nearest / episodes, 2) == percent, (percent, episodes)
    return nearest


def test_the_groups_are_the_test_split() -> None:
    assert sum(EPISODES[size] for size in SIZES) == EPISODES["total"] == 1000


@pytest.mark.parametrize("method", PAPER.methods)
@pytest.mark.parametrize("score", ["sr", "osr"])
def test_rates_are_whole_counts_and_totals_their_sums(method: str, score: str) -> None:
    row = PAPER.methods[method]
    parts = [count(row[size, score], GROUPS[method][size]) for size in SIZES]
    assert sum(parts) + UNCLASSED[score].get(method, 0) == count(row["total", score], 1000)


def test_successes_of_aoa_f_as_counts() -> None:
    row = PAPER.methods["AOA-F"]
    assert [count(row[size, "sr"], EPISODES[size]) for size in SIZES] == [28, 22, 23]


@pytest.mark.parametrize("method", PAPER.methods)
def test_only_whole_counts_of_these_groups_fit(method: str) -> None:
    """Neither neighbour of the small group's size gives whole counts for every rate of the methods but Random."""
    if method != "Random":
        row = PAPER.methods[method]
        for wrong in (628, 630):
            with pytest.raises(AssertionError):
                for score in ("sr", "osr"):
                    count(row["small", score], wrong)


@pytest.mark.parametrize("method", PAPER.methods)
@pytest.mark.parametrize("score", ["dts", "spl"])
def test_means_of_all_follow_from_those_of_the_groups(method: str, score: str) -> None:
    row = PAPER.methods[method]
    groups = GROUPS[method]
    total = sum(row[size, score] * groups[size] for size in SIZES) / sum(groups[size] for size in SIZES)
    assert total == pytest.approx(row["total", score], abs=0.016)  # three roundings of 0.005 and the one episode


@pytest.mark.parametrize("method", PAPER.methods)
def test_terminations_are_all_and_no_success_is_without_oracle(method: str) -> None:
    row = PAPER.methods[method]
    assert sum(row["total", ending] for ending in ("stop", "step_limit", "collision")) == pytest.approx(100.0)
    assert all(row[size, "spl"] <= row[size, "sr"] <= row[size, "osr"] for size in EPISODES)
