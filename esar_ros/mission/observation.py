"""A planner's observation of one frame; every method receives the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, Vector
from esar_ros.mission.decision import Report

UNKNOWN, FREE, OCCUPIED = -1, 0, 100  # cell values of nav_msgs/OccupancyGrid


@dataclass(frozen=True)
class Forecast:
    """A change of weather within a mission, as its brief foretells it: to some minutes. Times in s into the mission."""

    earliest: float  # before which it does not begin
    latest: float  # from which on it has surely come about
    weather: str  # what there is then; empty: as before
    wind_speed: float  # m/s, mean wind then; NaN: as before


@dataclass(frozen=True)
class Brief:
    """The rescue team's words and limits; no coordinates of victims or clues. Lengths in m, times in s."""

    mission_id: str
    map_id: str
    prompt: str
    weather: str
    local_time: str
    t_max: float
    area: NDArray[np.float64]  # (N, 2) corners of the search area in the map frame, counter-clockwise
    ceiling: float  # above ground
    home: Vector  # (3,) map frame
    report_cap: int
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)  # latitude, longitude (deg), altitude (m)
    vehicle: str = ""  # whom it is for
    wind_speed: float = math.nan  # m/s, mean wind as forecast; NaN: not known
    forecast: tuple[Forecast, ...] = ()  # changes of weather that are foretold, in order
    team: tuple[str, ...] = ()  # all vehicles of the mission in one order; empty: it searches alone


@dataclass(frozen=True)
class SeenClue:
    """An object fused over views and time, as the detector estimates it; msg/Clue has its probability as `score`."""

    id: int
    kind: str
    text: str
    probability: float  # that it is there and of its kind
    position: Vector  # (3,) m, map
    covariance: NDArray[np.float64]  # (3, 3) m^2, map, of the position
    views: int  # places apart enough to count as independent looks
    nearest_view: float  # m, least distance of a camera
    first_seen: float  # s
    last_seen: float  # s


@dataclass(frozen=True)
class Grid:
    """Bird's-eye view of the map at the flight level: cells UNKNOWN, FREE or OCCUPIED."""

    cells: NDArray[np.int8]  # (rows = y, columns = x)
    resolution: float  # m
    origin: tuple[float, float]  # map-frame x, y of the least corner of cell (0, 0)

    def cell_of(self, xy: Vector) -> tuple[int, int]:
        """Row and column of a map-frame position; may lie outside the grid."""
        return (
            int(np.floor((xy[1] - self.origin[1]) / self.resolution)),
            int(np.floor((xy[0] - self.origin[0]) / self.resolution)),
        )

    def center_of(self, row: int, column: int) -> Vector:
        """Map-frame x, y of a cell's centre."""
        return np.array(
            [
                self.origin[0] + (column + 0.5) * self.resolution,
                self.origin[1] + (row + 0.5) * self.resolution,
            ]
        )


@dataclass(frozen=True)
class Teammate:
    """Another vehicle of the mission, as reported by itself; map frame (m)."""

    vehicle: str
    pose: Pose  # base_link in map at the observation's stamp
    height: float | None  # m above ground, None when unknown
    goal: Vector | None  # (3,) waypoint that its planner gave at the frame before, None without one
    clues: tuple[SeenClue, ...] = ()  # what its own detector knows at the observation's stamp
    reports: tuple[Report, ...] = ()  # made up to the frame before
    cameras: tuple[str, ...] = ()  # whose images its detector has looked at, of this stamp


@dataclass(frozen=True)
class Observation:
    """Everything a method may use to decide, all of one stamp."""

    stamp: float  # s, simulation or wall clock
    elapsed: float  # s since the brief
    vehicle: str
    pose: Pose  # base_link in map
    velocity: Vector  # m/s, map frame
    height: float | None  # m above ground, None when unknown
    battery: float  # 0..1
    clues: tuple[SeenClue, ...]
    detector: str = ""  # name of what sees them; empty until it has told
    focal: float = 0.0  # px, focal length of the images it looks at; 0 until it has told
    cameras: tuple[str, ...] = ()  # whose images it has looked at, of this stamp; what others would show is not seen
    grid: Grid | None = None
    views: Mapping[str, CameraFrame] = field(default_factory=dict)  # only for methods that ask
    team: tuple[Teammate, ...] = ()  # the mission's other vehicles, in the brief's order
    held_by_safety: bool = False  # the governor is holding or worse
    goal_blocked: bool = False  # the pilot found no way to the last goal
    goal_reached: bool = False
