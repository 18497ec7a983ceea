"""Two ways of time passing between the commands of a client, in simulated s and whole ticks of a walker."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from esar_ros.sim.walking.walker import TICK

LONGEST = 60.0  # s that a running world goes on at once; a client that was away for longer finds it so much older


class Clock(Protocol):
    """Says how far the world goes on."""

    def moved(self) -> float:
        """Seconds to go on before a new movement is in force."""
        ...

    def asked(self) -> float:
        """Seconds to go on before a question is answered."""
        ...


class PausedClock:
    """The world waits: each movement is in force for one step, which is done when something is asked."""

    def __init__(self, step: float) -> None:
        self._step = step
        self._due = False

    def moved(self) -> float:
        """Seconds to go on before a new movement is in force."""
        seconds = self.asked()
        self._due = True
        return seconds

    def asked(self) -> float:
        """Seconds to go on before a question is answered."""
        seconds = self._step if self._due else 0.0
        self._due = False
        return seconds


class RunningClock:
    """The world goes on with the wall's clock, whether the client moves, asks or thinks."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._done = now()

    def moved(self) -> float:
        """Seconds to go on before a new movement is in force."""
        return self.asked()

    def asked(self) -> float:
        """Seconds to go on before a question is answered."""
        now = self._now()
        ticks = int((now - self._done) / TICK)
        self._done += ticks * TICK
        return min(ticks * TICK, LONGEST)
