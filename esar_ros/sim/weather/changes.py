"""Changes of weather within a mission: what the air holds at any moment of them, a pure function of time.

A change runs in the order of a front: wind and gusts rise and clouds close first, then rain, snow, fog or dust come;
where it clears, what falls ends first. Every value runs smoothly from the one weather's to the other's, and equals it
at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission.weather import Weather
from esar_ros.sim.weather.appearance import CONDITIONS, Conditions, Falling

GUSTINESS: dict[Weather, float] = {Weather.THUNDERSTORM: 1.6, Weather.BLIZZARD: 1.3, Weather.SANDSTORM: 1.3}
_EARLY, _LATE = (0.0, 0.6), (0.4, 1.0)  # shares of a change in which its first and its second part run
_GUST_FRONT = 0.5  # share by which gusts are stronger at their height, before what falls comes
_FRONT_PASSED = 0.7  # share of a change at which those gusts have gone
_CALM = 0.1  # m/s; a weaker wind has no direction from which another could turn


@dataclass(frozen=True)
class Change:
    """One change: begin and duration (> 0) in s of simulation time, the weather and the wind (m/s, ENU) it leads to.

    Changes of a schedule follow one another without overlap. None keeps what is.
    """

    begin: float
    duration: float
    weather: Weather | None = None
    wind: Vector | None = None


@dataclass(frozen=True)
class Air:
    """The weather of one moment: of `before`, with `share` (0..1) of what falls and hides already of `after`."""

    before: Weather
    after: Weather
    share: float
    conditions: Conditions
    sight: float  # meteorological visibility, m
    wind: Vector  # mean, m/s, ENU, where it blows to
    gustiness: float  # factor on the wind's turbulence

    @property
    def weather(self) -> Weather:
        """The one of both that has the greater share."""
        return self.after if self.share >= 0.5 else self.before

    def mixed(self, value: Callable[[Weather], float]) -> float:
        """Returns a number that each weather has, by their shares."""
        one = value(self.before)
        return one if self.share <= 0.0 else one + self.share * (value(self.after) - one)


def steady(weather: Weather, sight: float, wind: Vector) -> Air:
    """Returns the air of a weather that does not change."""
    return Air(weather, weather, 0.0, CONDITIONS[weather], sight, wind, GUSTINESS.get(weather, 1.0))


def air_at(start: Air, changes: Sequence[Change], now: float) -> Air:
    """Returns the air at a simulation time (s), that before the first change being `start`."""
    air = start
    for change in changes:
        if now <= change.begin:
            break
        weather = air.before if change.weather is None else change.weather
        wind = air.wind if change.wind is None else change.wind
        sight = air.sight if change.weather is None else CONDITIONS[weather].visibility
        end, over = steady(weather, sight, wind), now >= change.begin + change.duration
        air = end if over else _between(air, end, (now - change.begin) / change.duration)
    return air


def spells(first: Weather, changes: Sequence[Change], since: float, now: float) -> Iterator[tuple[Weather, float]]:
    """Yields each weather from `since` to `now` (s), with how long it lasted (s): what lies on the ground follows it.

    One follows the other when half of what falls is of the other.
    """
    weather = first
    for change in changes:
        if change.weather is None:
            continue
        low, high = _EARLY if _clears(weather, change.weather) else _LATE
        turn = change.begin + 0.5 * (low + high) * change.duration
        if turn >= now:
            break
        yield weather, max(0.0, turn - since)
        weather, since = change.weather, max(since, turn)
    yield weather, max(0.0, now - since)


def _between(before: Air, after: Air, done: float) -> Air:
    """Returns the air of a change of which a share `done` (0..1) is over."""
    one, other = before.conditions, after.conditions
    first, second = _ramp(_EARLY, done), _ramp(_LATE, done)
    clears = _clears(before.before, after.before)
    cloud, share = (second, first) if clears else (first, second)
    falling, density = _fall(one, other, share)
    front = 0.0
    if not clears and after.before is not before.before and other.density > one.density:
        front = _GUST_FRONT * math.sin(math.pi * min(1.0, done / _FRONT_PASSED)) ** 2
    conditions = Conditions(
        visibility=math.exp(_mix(math.log(one.visibility), math.log(other.visibility), share)),
        cloud_cover=_mix(one.cloud_cover, other.cloud_cover, cloud),
        dimming=_mix(one.dimming, other.dimming, cloud),
        falling=falling,
        density=density,
        frost=_mix(one.frost, other.frost, share),
        yellow=_mix(one.yellow, other.yellow, share),
        flashes=_mix(one.flashes, other.flashes, share),
        ground=(other if share >= 0.5 else one).ground,
    )
    return Air(
        before.before,
        after.before,
        share,
        conditions,
        sight=math.exp(_mix(math.log(before.sight), math.log(after.sight), share)),
        wind=_turned(before.wind, after.wind, first),
        gustiness=_mix(before.gustiness, after.gustiness, first) * (1.0 + front),
    )


def _clears(before: Weather, after: Weather) -> bool:
    return CONDITIONS[after].visibility > CONDITIONS[before].visibility


def _fall(one: Conditions, other: Conditions, share: float) -> tuple[Falling, float]:
    """Returns what falls and how densely; of two kinds the one ends before the other begins."""
    kinds = {row.falling for row in (one, other)} - {Falling.NOTHING}
    if len(kinds) < 2:
        return (kinds.pop() if kinds else Falling.NOTHING), _mix(one.density, other.density, share)
    if share < 0.5:
        return one.falling, one.density * (1.0 - 2.0 * share)
    return other.falling, other.density * (2.0 * share - 1.0)


def _turned(before: Vector, after: Vector, share: float) -> Vector:
    """Returns the wind (m/s, ENU) a share of the way on: its speed grows evenly, it veers by the shorter turn."""
    speed_before, speed_after = (math.hypot(float(wind[0]), float(wind[1])) for wind in (before, after))
    first, last = (math.atan2(float(wind[1]), float(wind[0])) for wind in (before, after))
    if speed_before < _CALM:
        first = last
    if speed_after < _CALM:
        last = first
    speed, angle = _mix(speed_before, speed_after, share), first + share * math.remainder(last - first, 2.0 * math.pi)
    up = _mix(float(before[2]), float(after[2]), share)
    return np.array([speed * math.cos(angle), speed * math.sin(angle), up])


def _mix(one: float, other: float, share: float) -> float:
    return one + share * (other - one)


def _ramp(part: tuple[float, float], done: float) -> float:
    t = min(1.0, max(0.0, (done - part[0]) / (part[1] - part[0])))
    return t * t * (3.0 - 2.0 * t)
