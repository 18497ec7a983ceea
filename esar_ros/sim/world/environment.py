"""Conditions of a run: weather, sight, time of day, wind, and the ground as weather has left it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission.weather import Weather
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.weather.appearance import CONDITIONS, VISIBILITY
from esar_ros.sim.weather.changes import Air, Change, air_at, spells, steady
from esar_ros.sim.weather.ground_state import ICING, GroundState, ice_after, usual_ground
from esar_ros.sim.weather.sky import Lighting, lighting, moon_at, sun_direction

_OF_THE_AIR = ("weather", "visibility", "wind", "changes")
SUN_STEP = timedelta(minutes=3)  # sun and moon move 0.75 degrees in it


@dataclass(frozen=True)
class Environment:
    """Immutable; put another in World.environment to change the weather or the hour (see `changed`).

    weather, wind and visibility are those before the first of `changes`; what is at a moment, `air` tells.
    """

    weather: Weather = Weather.CLEAR
    local_time: datetime = datetime(2024, 7, 1, 11, 0)
    wind: Vector = field(default_factory=lambda: np.zeros(3))  # m/s, ENU, where it blows to
    visibility: float | None = None  # m, None: as the weather has it
    ground_start: GroundState | None = None  # when the weather began; None: bare ground ten minutes into it
    since: float = 0.0  # s of simulation time at which the weather began
    changes: tuple[Change, ...] = ()  # to come or past, in order, without overlap

    @property
    def sight(self) -> float:
        """Meteorological visibility before any change, m."""
        return VISIBILITY[self.weather] if self.visibility is None else max(self.visibility, 1.0)

    def air(self, now: float) -> Air:
        """Weather, sight and wind at a simulation time, s."""
        start = steady(self.weather, self.sight, self.wind)
        return air_at(start, self.changes, now) if self.changes else start

    def ground(self, now: float) -> GroundState:
        """Snow, water and dust at a simulation time, s."""
        ground = usual_ground(self.weather) if self.ground_start is None else self.ground_start
        for weather, seconds in spells(self.weather, self.changes, self.since, now):
            ground = ground.after(weather, seconds)
        return ground

    def ice(self, now: float) -> float:
        """Share of a lens that ice has reached at a simulation time, s."""
        if not self.changes:
            return CONDITIONS[self.weather].frost * min(1.0, max(0.0, now - self.since) / ICING)
        ice = 0.0
        for weather, seconds in spells(self.weather, self.changes, self.since, now):
            ice = ice_after(ice, weather, seconds)
        return ice

    def changed(self, now: float, **changes: Any) -> Environment:
        """With other fields from simulation time `now` (s) on; another weather goes on from the ground as it is.

        Who sets weather, sight or wind ends the changes that were to come.
        """
        if self.changes and not changes.keys().isdisjoint(_OF_THE_AIR):
            return self._settled(now).changed(now, **changes)
        if changes.get("weather", self.weather) is not self.weather:
            changes = {"ground_start": self.ground(now), "since": now} | changes
        return replace(self, **changes)

    def _settled(self, now: float) -> Environment:
        air = self.air(now)
        return Environment(air.weather, self.local_time, air.wind, None, self.ground(now), since=now)

    def to_sun(self, place: PlaceMap) -> Vector:
        """Unit ENU vector to the sun."""
        return _sun_at(place, self.local_time)

    def lighting(self, place: PlaceMap, now: float = 0.0) -> Lighting:
        """Light for the renderer at a simulation time (s); sun and moon move in steps of SUN_STEP, since shadows are
        baked. Where the weather changes, the light's strength and colours follow the clock without steps.
        """
        air = self.air(now)
        stepped = _stepped(self.local_time)
        when = self.local_time if self.changes else stepped
        to_sun, (moon, phase) = _sun_at(place, when), self._moon_at(place, when)
        light = lighting(to_sun, air.conditions, air.sight, moon, phase)
        if when == stepped:
            return light
        baked = _sun_at(place, stepped) if light.to_sun is to_sun else self._moon_at(place, stepped)[0]
        return replace(light, to_sun=baked)

    def _moon_at(self, place: PlaceMap, when: datetime) -> tuple[Vector, float]:
        return moon_at(place.origin.latitude, place.origin.longitude, place.utc_offset, when)


def _sun_at(place: PlaceMap, when: datetime) -> Vector:
    return sun_direction(place.origin.latitude, place.origin.longitude, place.utc_offset, when)


def _stepped(when: datetime) -> datetime:
    """The nearest whole step of its day."""
    midnight = when.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + round((when - midnight) / SUN_STEP) * SUN_STEP
