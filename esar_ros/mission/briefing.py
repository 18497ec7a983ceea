"""The brief of a task: what a planner is told of it."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta
from typing import Protocol

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.observation import Brief, Forecast
from esar_ros.mission.task import FIELD, Task, WeatherChange, task_from
from esar_ros.mission.task_files import TASK_SCHEMA

CEILING = 120.0  # m above ground, the usual legal limit
AREA_MARGIN = 50.0  # m between the search area and the map's edge
_FORECAST_STEP = timedelta(minutes=5)


class Extent(Protocol):
    """The square that a map covers: a map, or what its file says of it (map_files.MapExtent)."""

    @property
    def size(self) -> float:
        """Side of the square, m."""

    @property
    def origin(self) -> Origin:
        """Geodetic origin of the map frame."""


def mission_id(task: Task, planner: str, seed: int) -> str:
    """Returns the name of a run; it reveals no position. planner: NAME, or NAME:FILE of one that flies a plan."""
    return f"{task.id}-{planner.partition(':')[0]}-{seed}"


def field_task(
    name: str, map_id: str, words: str, start: tuple[float, float], t_max: float, local_time: datetime
) -> Task:
    """Returns the task of a search of one's own: words to brief with, and nothing known of what lies there.

    name: of the brief, for its id; start: m east and north of the map's origin; t_max: s. Raises UsageErrors.
    """
    slug = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:60] or "brief"
    content = {
        "schema": TASK_SCHEMA, "id": f"field-{slug}", "map": map_id, "event": FIELD, "snapshot": FIELD, "split": FIELD,
        "seed": 0, "prompt": words.strip(), "local_time": local_time.isoformat(), "weather": "clear",
        "start": {"position": [float(v) for v in start], "yaw": 0.0}, "t_max": float(t_max), "victims": [], "clues": [],
        "difficulty": 0, "tier": "simple",
    }  # fmt: skip
    return task_from(content, f"brief {name}")


def brief_words(task: Task) -> str:
    """Returns the words of a task as its vehicles get them: the prompt, and the forecast of what will change.

    A forecast has hours to the nearest _FORECAST_STEP and round speeds; changes that come unannounced are not in it.
    """
    parts = []
    for change in _foretold(task):
        about = task.local_time + timedelta(seconds=_about(task, change.at))
        what = [] if change.weather is None else [change.weather.value.replace("_", " ")]
        what += [] if change.wind is None else [f"wind of {change.wind.speed:.0f} m/s"]
        parts.append(f"{' and '.join(what)} from about {about:%H:%M}")
    return f"{task.prompt} Forecast: {', then '.join(parts)}." if parts else task.prompt


def forecast_of(task: Task) -> tuple[Forecast, ...]:
    """Returns the changes that a brief foretells, with the limits that hours to the nearest _FORECAST_STEP leave."""
    unsure = 0.5 * _FORECAST_STEP.total_seconds()
    return tuple(
        Forecast(
            earliest=_about(task, change.at) - unsure,
            latest=_about(task, change.end) + unsure,
            weather="" if change.weather is None else change.weather.value,
            wind_speed=math.nan if change.wind is None else change.wind.speed,
        )
        for change in _foretold(task)
    )


def _about(task: Task, seconds: float) -> float:
    """Returns a time (s into the mission), rounded so that the clock shows whole _FORECAST_STEPs."""
    moment = task.local_time + timedelta(seconds=seconds)
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    about = midnight + round((moment - midnight) / _FORECAST_STEP) * _FORECAST_STEP
    return (about - task.local_time).total_seconds()


def _foretold(task: Task) -> tuple[WeatherChange, ...]:
    return tuple(change for change in task.changes if change.forecast)


def make_brief(task: Task, place: Extent, name: str, report_cap: int, home: Vector) -> Brief:
    """Brief of a vehicle that starts at home (3,) m; the search area is the map less a margin.

    Weather and hour are those of the start; what is foretold follows in its forecast, and wind_speed is the greatest
    mean wind that is.
    """
    half = place.size / 2.0 - AREA_MARGIN
    return Brief(
        mission_id=name,
        map_id=task.map,
        prompt=brief_words(task),
        weather=task.weather.value,
        wind_speed=max([task.wind.speed, *(change.wind.speed for change in _foretold(task) if change.wind)]),
        forecast=forecast_of(task),
        local_time=task.local_time.isoformat(),
        t_max=task.t_max,
        area=np.array([[-half, -half], [half, -half], [half, half], [-half, half]]),
        ceiling=CEILING,
        home=home,
        report_cap=report_cap,
        origin=(place.origin.latitude, place.origin.longitude, place.origin.altitude),
    )
