"""Time that a benchmark has left, as a range: from what its episodes have cost, and what the others may at most.

The wall time of an episode is its simulated time, by wall time a simulated second (the method's pace). The former is a
share of the task's time limit; both depend on the method and are known once some of its episodes have ended. Until then
the share is anything from nothing to all of it, the pace may be several times that of the methods that are known, and
the range is wide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from esar_ros.benchmark.runner.job import Job

_SHARE, _SPREAD = 0.6, 0.35  # of a time limit, mean and standard deviation: counts as one episode of every method
_DEVIATIONS = 1.3  # standard deviations on either side: some four of five runs end within the range
_SLOWER = 4.0  # times the slowest known pace that a method may have of which no episode has ended
_UNEVEN = 0.4  # by this share of its pace a method may be slower than its first episode showed
_OVER = 0.1  # least share of an episode's expected time that is left of one that flies for longer than expected


class TimeLeft:
    """Estimate of a run's remaining wall time."""

    def __init__(self, time_limits: Mapping[str, float]) -> None:
        """time_limits: s of mission time, by Job.task."""
        self._limits = time_limits
        self._wall: dict[str, float] = {}  # s of ended episodes, by method
        self._simulated: dict[str, float] = {}  # s
        self._shares: dict[str, list[float]] = {}

    def ended(self, task: str, planner: str, wall: float, simulated: float) -> None:
        """Takes an episode that has ended; wall, simulated: s. One that was not simulated to its end tells nothing."""
        if not (wall > 0.0 and simulated > 0.0 and self._limits.get(task)):
            return
        self._wall[planner] = self._wall.get(planner, 0.0) + wall
        self._simulated[planner] = self._simulated.get(planner, 0.0) + simulated
        self._shares.setdefault(planner, []).append(min(simulated / self._limits[task], 1.0))

    def range(self, waiting: Sequence[Job], flying: Mapping[Job, float], workers: int) -> tuple[float, float] | None:
        """Returns from how many to how many seconds are left, None before the first episode has ended.

        flying: s since each of these was begun; workers: episodes at a time.
        """
        if not self._wall or not (waiting or flying):
            return None
        total = most = variance = longest = 0.0
        by_method: dict[str, float] = {}
        unsure: dict[str, float] = {}  # s more, were each method as slow as it may be
        paces = {job.planner: self._pace(job.planner, flying) for job in (*waiting, *flying)}
        for job in (*waiting, *flying):
            pace, slowest = paces[job.planner]
            full = self._limits[job.task] * pace  # s, were all of the time limit flown
            share, spread = self._share(job.planner)
            expected, gone = share * full, flying.get(job, 0.0)
            left = max(expected - gone, _OVER * expected)
            longest_left = max(self._limits[job.task] * slowest - gone, left)
            total, most, longest = total + left, most + longest_left, max(longest, left)
            variance += (spread * full) ** 2
            by_method[job.planner] = by_method.get(job.planner, 0.0) + full
            unsure[job.planner] = unsure.get(job.planner, 0.0) + share * full * (slowest / pace - 1.0)
        variance += sum((more / _DEVIATIONS) ** 2 for more in unsure.values())
        for planner, full in by_method.items():  # the mean share is no better known than by so many episodes
            variance += (self._share(planner)[1] * full) ** 2 / (1 + len(self._shares.get(planner, ())))
        half = _DEVIATIONS * math.sqrt(variance)
        idle = (workers - 1) * longest / 2.0  # of workers that find no more to fly while others do
        low, high = max(total - half, total / 4.0), min(total + half, most)
        return max(low / workers, longest / 2.0), max((high + idle) / workers, longest)

    def _pace(self, planner: str, flying: Mapping[Job, float]) -> tuple[float, float]:
        """Returns a method's s of wall time a simulated second: as expected, and the slowest that it may be."""
        known = [self._wall[name] / self._simulated[name] for name in self._wall]
        # One that flies has taken so much for its whole time limit at the least.
        least = max(
            (gone / self._limits[job.task] for job, gone in flying.items() if job.planner == planner), default=0
        )
        if planner not in self._wall:
            pace = max(sum(self._wall.values()) / sum(self._simulated.values()), least)
            return pace, max(_SLOWER * max(known), _SLOWER * least)
        pace = max(self._wall[planner] / self._simulated[planner], least)
        return pace, pace * (1.0 + _UNEVEN / math.sqrt(len(self._shares[planner])))

    def _share(self, planner: str) -> tuple[float, float]:
        """Returns mean and standard deviation of the share of its time limit that a method flies."""
        known = self._shares.get(planner, [])
        count = 1 + len(known)
        mean = (_SHARE + sum(known)) / count
        return mean, math.sqrt((_SPREAD**2 + (_SHARE - mean) ** 2 + sum((s - mean) ** 2 for s in known)) / count)
