"""The time that a run has left: its range holds the truth, and narrows as episodes end."""

from __future__ import annotations

import heapq
import random

from esar_ros.benchmark.runner.job import Job
from esar_ros.benchmark.runner.time_left import TimeLeft
from esar_ros.mission.run_conditions import RunConditions

LIMITS = (900.0, 1800.0)
# Shares of its time limit that a method flies: one that finds fast, one that never stops early, one that does either.
SHARES = {"belief": (0.1, 0.5), "fbe": (0.95, 1.0), "greedy": (0.3, 1.0)}


def jobs(count: int) -> list[Job]:
    conditions = RunConditions("fast", True, "noisy", "eyes")
    return [
        Job(i * len(SHARES) + k, f"t{i}", f"t{i}", "", planner, 0, conditions)
        for i in range(count)
        for k, planner in enumerate(SHARES)
    ]


def run(seed: int, count: int, workers: int) -> list[tuple[float, tuple[float, float], float]]:
    """(share of the run that has passed, range told, truth) whenever an episode ends, at wall time as simulated / 5."""
    draw = random.Random(seed)
    waiting = jobs(count)
    limits = {job.task: draw.choice(LIMITS) for job in waiting}
    simulated = {job: limits[job.task] * draw.uniform(*SHARES[job.planner]) for job in waiting}
    left, now, told = TimeLeft(limits), 0.0, []
    flying: list[tuple[float, int, Job, float]] = []
    while waiting or flying:
        while waiting and len(flying) < workers:
            job = waiting.pop(0)
            heapq.heappush(flying, (now + simulated[job] / 5.0, job.index, job, now))
        now, _, job, began = heapq.heappop(flying)
        left.ended(job.task, job.planner, now - began, simulated[job])
        span = left.range(waiting, {job: now - since for _, _, job, since in flying}, workers)
        if span is not None:
            told.append((now, span))
    return [(at / now, span, now - at) for at, span in told]


def test_the_range_holds_the_truth_and_narrows() -> None:
    held, wide = [], {False: [], True: []}  # type: ignore[var-annotated]
    for seed in range(20):
        for passed, (low, high), truth in run(seed, 8, 2):
            assert 0.0 < low <= high
            held.append(low <= truth <= high)
            wide[passed > 0.4].append(high / low if passed < 0.8 else 1.0)
    assert sum(held) > 0.8 * len(held)
    assert sum(wide[True]) / len(wide[True]) < 0.8 * sum(wide[False]) / len(wide[False])


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
