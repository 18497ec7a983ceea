"""The greatest speed of a mission as it goes on: in the weather that is foretold, and by its clock in the dark.

Where it is not sure which of two weathers there is, both count. Of weather that nobody foretold it knows nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_HOUR = 3600.0  # s
_MIDNIGHT = 24.0 * _HOUR
_PAST = 1e-3  # s behind an hour of the clock, past what rounding leaves
_DAY = (6.0 * _HOUR, 18.0 * _HOUR)  # s of local time: between them it is light (ESARBench, appendix A)


@dataclass(frozen=True)
class Spell:
    """A weather of a mission: from when until when it may be there (s into the mission), and the greatest speed in it.

    A time that is no number bounds nothing.
    """

    earliest: float
    latest: float
    speed: float  # m/s

    def may_be(self, elapsed: float) -> bool:
        """Returns whether it may be there at a time (s into the mission)."""
        return not (elapsed < self.earliest or elapsed >= self.latest)


@dataclass(frozen=True)
class Pace:
    """The greatest speeds of one mission: of what may be there the slowest counts."""

    spells: tuple[Spell, ...] = ()
    clock: float = math.nan  # s of local time at the start, 0 at midnight; NaN: not known, it is never dark
    night: float = math.inf  # m/s in the dark

    def at(self, elapsed: float) -> float:
        """Returns the greatest speed (m/s) at a time (s into the mission)."""
        speed = min((spell.speed for spell in self.spells if spell.may_be(elapsed)), default=math.inf)
        return min(speed, self.night) if self._is_dark(elapsed) else speed

    def slowest(self, since: float, until: float) -> float:
        """Returns the least of the greatest speeds (m/s) of a span of time (s into the mission)."""
        return min(self.at(moment) for moment in (since, *self._turns(since, until)))

    def exceeds(self, other: Pace) -> bool:
        """Returns whether it is faster than the other at any time."""
        turns = (0.0, *self._turns(0.0, math.inf), *other._turns(0.0, math.inf))
        return any(self.at(moment) > other.at(moment) for moment in turns)

    def _is_dark(self, elapsed: float) -> bool:
        """Returns whether it is night by the clock."""
        hour = (self.clock + elapsed) % _MIDNIGHT
        return hour < _DAY[0] or hour >= _DAY[1]

    def _turns(self, since: float, until: float) -> list[float]:
        """Returns the times (s into the mission) within a span at which the speed may change; the clock's of a day."""
        times = [time for spell in self.spells for time in (spell.earliest, spell.latest)]
        times += [since + (hour - self.clock - since) % _MIDNIGHT + _PAST for hour in _DAY]
        return [time for time in times if since < time < until]
