"""Timeliness of a cyclic task: response times and deadlines missed (Liu and Layland 1973)."""

from __future__ import annotations

from collections import deque

import numpy as np

KEPT = 3000  # response times, of which the percentile is taken: a minute at 50 Hz


class Deadlines:
    """Counts periods and those without an answer in time; a release that was skipped is a deadline missed."""

    def __init__(self, period: float) -> None:
        self._period = period
        self._released: float | None = None
        self._responses: deque[float] = deque(maxlen=KEPT)
        self.periods = 0
        self.missed = 0

    def answered(self, released: float, done: float) -> None:
        """The answer of the period that began at `released` is complete at `done` (s, one clock)."""
        skipped = 0
        if self._released is not None:
            skipped = max(round((released - self._released) / self._period) - 1, 0)
        self._released = released
        self._responses.append(done - released)
        self.periods += 1 + skipped
        self.missed += skipped + (done - released > self._period)

    def response(self, percent: float) -> float:
        """Percentile of the latest response times (s), NaN before the first."""
        return float(np.percentile(list(self._responses), percent)) if self._responses else float("nan")
