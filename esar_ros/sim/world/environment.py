"""Conditions of a run: weather, sight, time of day, wind, and the ground as weather has left it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission.weather import Weather
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.weather.appearance import VISIBILITY
from esar_ros.sim.weather.ground_state import GroundState, usual_ground
from esar_ros.sim.weather.sky import Lighting, lighting, moon_at, sun_direction

SUN_STEP = timedelta(minutes=3)  # sun and moon move 0.75 degrees in it


@dataclass(frozen=True)
class Environment:
    """Immutable; put another in World.environment to change the weather or the hour (see `changed`)."""

    weather: Weather = Weather.CLEAR
    local_time: datetime = datetime(2024, 7, 1, 11, 0)
    wind: Vector = field(default_factory=lambda: np.zeros(3))  # m/s, ENU, where it blows to
    visibility: float | None = None  # m, None: as the weather has it
    ground_start: GroundState | None = None  # when the weather began; None: bare ground ten minutes into it
    since: float = 0.0  # s of simulation time at which the weather began

    @property
    def sight(self) -> float:
        """Meteorological visibility, m."""
        return VISIBILITY[self.weather] if self.visibility is None else max(self.visibility, 1.0)

    def ground(self, now: float) -> GroundState:
        """Snow, water and dust at a simulation time, s."""
        start = usual_ground(self.weather) if self.ground_start is None else self.ground_start
        return start.after(self.weather, now - self.since)

    def changed(self, now: float, **changes: Any) -> Environment:
        """With other fields from simulation time `now` (s) on; another weather goes on from the ground as it is."""
        if changes.get("weather", self.weather) is not self.weather:
            changes = {"ground_start": self.ground(now), "since": now} | changes
        return replace(self, **changes)

    def to_sun(self, place: PlaceMap) -> Vector:
        """Unit ENU vector to the sun."""
        origin = place.origin
        return sun_direction(origin.latitude, origin.longitude, place.utc_offset, self.local_time)

    def lighting(self, place: PlaceMap) -> Lighting:
        """Light for the renderer; sun and moon move in steps of SUN_STEP, since shadows are baked."""
        origin, when = place.origin, _stepped(self.local_time)
        to_sun = sun_direction(origin.latitude, origin.longitude, place.utc_offset, when)
        moon, phase = moon_at(origin.latitude, origin.longitude, place.utc_offset, when)
        return lighting(to_sun, self.weather, self.sight, moon, phase)


def _stepped(when: datetime) -> datetime:
    """The nearest whole step of its day."""
    midnight = when.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + round((when - midnight) / SUN_STEP) * SUN_STEP
