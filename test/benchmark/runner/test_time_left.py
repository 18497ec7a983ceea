"""The time that a run has left: its range holds the truth, and narrows as episodes end."""

from __future__ import annotations

import heapq
import random

import pytest

from esar_ros.benchmark.runner.job import Job
from esar_ros.benchmark.runner.time_left import TimeLeft
from esar_ros.mission.run_conditions import RunConditions

LIMITS = (900.0, 1800.0)
# Shares of its time limit that a method flies: one that finds fast, one that never stops early, one that does either.
SHARES = {"belief": (0.1, 0.5), "fbe": (0.95, 1.0), "greedy": (0.3, 1.0)}
ALIKE = dict.fromkeys(SHARES, 0.2)  # s of wall time a simulated second
MIXED = {"belief": 0.1, "fbe": 0.3, "greedy": 0.15}


def jobs(count: int) -> list[Job]:
    conditions = RunConditions("fast", True, "noisy", "eyes")
    return [
        Job(i * len(SHARES) + k, f"t{i}", f"t{i}", "", planner, 0, conditions)
        for i in range(count)
        for k, planner in enumerate(SHARES)
    ]


def run(seed: int, count: int, workers: int, paces: dict[str, float]) -> list[tuple[float, tuple[float, float], float]]:
    """(share of the run that has passed, range told, truth) whenever an episode ends; paces: by method."""
    draw = random.Random(seed)
    waiting = jobs(count)
    limits = {job.task: draw.choice(LIMITS) for job in waiting}
    simulated = {job: limits[job.task] * draw.uniform(*SHARES[job.planner]) for job in waiting}
    wall = {job: simulated[job] * paces[job.planner] * draw.uniform(0.8, 1.25) for job in waiting}
    left, now, told = TimeLeft(limits), 0.0, []
    flying: list[tuple[float, int, Job, float]] = []
    while waiting or flying:
        while waiting and len(flying) < workers:
            job = waiting.pop(0)
            heapq.heappush(flying, (now + wall[job], job.index, job, now))
        now, _, job, began = heapq.heappop(flying)
        left.ended(job.task, job.planner, now - began, simulated[job])
        span = left.range(waiting, {job: now - since for _, _, job, since in flying}, workers)
        if span is not None:
            told.append((now, span))
    return [(at / now, span, now - at) for at, span in told]


@pytest.mark.parametrize("paces", [ALIKE, MIXED], ids=["alike", "mixed"])
def test_the_range_holds_the_truth_and_narrows(paces: dict[str, float]) -> None:
    held, wide = [], {False: [], True: []}  # type: ignore[var-annotated]
    for seed in range(20):
        for passed, (low, high), truth in run(seed, 8, 2, paces):
            assert 0.0 < low <= high
            held.append(low <= truth <= high)
            wide[passed > 0.4].append(high / low if passed < 0.8 else 1.0)
    assert sum(held) > 0.8 * len(held)
    assert sum(wide[True]) / len(wide[True]) < 0.8 * sum(wide[False]) / len(wide[False])


def test_methods_of_which_none_has_ended_may_cost_more_than_those_that_have() -> None:
    """The cheap method's two episodes end while the dear one's first goes on."""
    held = []
    for seed in range(40):
        told = run(seed, 3, 2, MIXED)
        held += [low <= truth <= high for passed, (low, high), truth in told if passed < 0.4]
    assert len(held) > 40 and sum(held) > 0.7 * len(held)


def test_an_episode_that_flies_for_longer_than_its_method_was_thought_to_slows_the_method() -> None:
    waiting = jobs(4)
    left = TimeLeft({job.task: 900.0 for job in waiting})
    first, slow = waiting.pop(0), waiting.pop(0)
    left.ended(first.task, first.planner, 20.0, 600.0)
    _, before = left.range(waiting, {slow: 1.0}, 2) or (0.0, 0.0)
    low, high = left.range(waiting, {slow: 600.0}, 2) or (0.0, 0.0)  # thought to end after 30 s at the latest
    assert high > 3 * before and low > 100.0, "three more of its episodes wait"


def test_short_episodes_that_end_first_do_not_promise_a_short_run() -> None:
    waiting = jobs(4)
    limits = {job.task: 900.0 for job in waiting}
    left = TimeLeft(limits)
    assert left.range(waiting, {}, 2) is None
    first = waiting.pop(0)
    left.ended(first.task, first.planner, 20.0, 90.0)  # a tenth of its time limit
    low, high = left.range(waiting, {waiting.pop(0): 20.0}, 2) or (0.0, 0.0)
    assert high > 7 * 20.0 * 10 / 2, "the others may fly all of theirs"
    assert low < high / 2, "and nobody knows yet"


def test_an_episode_that_was_not_simulated_tells_nothing() -> None:
    waiting = jobs(1)
    left = TimeLeft({job.task: 900.0 for job in waiting})
    left.ended(waiting[0].task, waiting[0].planner, 5.0, 0.0)
    left.ended("another run's", waiting[0].planner, 5.0, 5.0)
    assert left.range(waiting, {}, 1) is None
