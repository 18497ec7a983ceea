"""The world that scenarios are flown in: level ground, wind by height with gusts, and what a survey of it shows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose, Vector
from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, OccupancyWindow
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.ranges import RangeGrid
from esar_ros.safety.inputs import RangeImageData
from esar_ros.sim.physics.drone import GROUND
from esar_ros.sim.weather.gusts import Gusts, dryden
from esar_ros.sim.world.scene import Contact
from esar_ros.suites.uavbench.scenarios.scene import Scene

REACH = 600.0  # m, of the ranging: heights are always measured
_CELL = 2.0  # m
_BELOW = 8.0  # m of ground in the window
_ABOVE = 40.0  # m of air over the vehicle in the window
_QUANTILE_95 = 1.645  # deviations
_NOISE = 0.01  # m, of the ranging


class LevelGround:
    """Ground at z = 0 and nothing on it."""

    def ground_height(self, xy: Vector) -> float:
        """Returns the ground's height (m)."""
        return 0.0

    def contact(self, position: Vector, radius: float) -> Contact | None:
        """Returns how a sphere meets the ground."""
        depth = radius - float(position[2])
        if depth <= 0.0:
            return None
        foot = np.array([position[0], position[1], 0.0])
        return Contact(GROUND, "ground", depth, np.array([0.0, 0.0, 1.0]), foot, position.copy())

    def contact_along(self, start: Vector, end: Vector, radius: float) -> Contact | None:
        """Returns how a sphere that moves meets the ground: where it ends, since steps are short."""
        return self.contact(end, radius)


class Wind:
    """Mean wind by height, and gusts of which 95 % stay below the stated strength."""

    def __init__(self, scene: Scene, seed: int) -> None:
        weather = "/environment/weather"
        speed, direction = scene[f"{weather}/wind_mps"], scene[f"{weather}/wind_dir_deg"]
        layers = scene.get("/environment/wind_profile") or [{"alt_m": 0.0, "wind_mps": speed, "dir_deg": direction}]
        self._heights = [float(layer["alt_m"]) for layer in layers]
        angles = [math.radians(layer["dir_deg"]) for layer in layers]  # where it comes from, clockwise from north
        self._east = [-layer["wind_mps"] * math.sin(a) for layer, a in zip(layers, angles, strict=True)]
        self._north = [-layer["wind_mps"] * math.cos(a) for layer, a in zip(layers, angles, strict=True)]
        self._mean = np.array([self._east[0], self._north[0], 0.0])  # at every height where there is one layer
        self._gust = float(scene[f"{weather}/gust_mps"])
        self._gusts = Gusts(seed, "scenario")

    def at(self, tick: int, velocity: Vector, height: float) -> Vector:
        """Returns the wind (m/s, ENU) of a control step of 10 ms, for a vehicle at a velocity and height (m)."""
        mean = self._mean
        if len(self._heights) > 1:
            levels = (np.interp(height, self._heights, layers) for layers in (self._east, self._north))
            mean = np.array([*levels, 0.0])
        speed = math.hypot(*mean[:2].tolist())
        if speed <= 0.0 or self._gust <= 0.0:
            return mean
        away = velocity - mean
        airspeed = math.sqrt(away.dot(away))
        scale = self._gust / (_QUANTILE_95 * dryden(speed, height)[0])
        return mean + scale * self._gusts.next(tick, mean, airspeed, height, 1.0)


@dataclass(frozen=True)
class Survey:
    """The result of a survey: free air above level ground, as a window around the vehicle and as ranges."""

    directions: NDArray[np.float64]  # (rows, columns, 3) of the ranging's cells, FLU
    grid: RangeGrid
    cells: NDArray[np.uint8]  # (n, n, m), as high as a flight goes

    @staticmethod
    def of(half: float, top: float) -> Survey:
        """Returns the survey of a flight up to top (m) whose window reaches half (m) to each side."""
        grid = RangeGrid.of(load_vehicle().lidar)
        elevation = grid.elevation_min + (np.arange(grid.rows) + 0.5)[:, None] * grid.elevation_step
        azimuth = grid.azimuth_min + (np.arange(grid.columns) + 0.5)[None, :] * grid.azimuth_step
        level = np.cos(elevation)
        up = np.broadcast_to(np.sin(elevation), (grid.rows, grid.columns))
        directions = np.stack([level * np.cos(azimuth), level * np.sin(azimuth), up], axis=-1)
        side = 2 * math.ceil(half / _CELL)
        cells = np.full((side, side, math.ceil((top + _ABOVE + _BELOW) / _CELL)), FREE, np.uint8)
        cells[:, :, : round(_BELOW / _CELL)] = OCCUPIED
        return Survey(directions, grid, cells)

    def window(self, position: Vector, stamp: float) -> OccupancyWindow:
        """Returns the window around a position (m) at a stamp (s)."""
        corner = np.floor(position / _CELL) * _CELL - 0.5 * _CELL * np.array([*self.cells.shape[:2], 0])
        corner[2] = -_BELOW
        layers = min(self.cells.shape[2], math.ceil((max(float(position[2]), 0.0) + _ABOVE + _BELOW) / _CELL))
        return OccupancyWindow(corner, _CELL, self.cells[:, :, :layers], stamp)

    def ranges(self, told: Pose, true: Pose, stamp: float, random: np.random.Generator) -> RangeImageData:
        """Returns the ranges to the ground from the true pose, with the pose that the vehicle takes itself to have."""
        down = -(self.directions @ true.rotation[2])
        with np.errstate(divide="ignore"):
            found = np.where(down > 1e-6, max(float(true.position[2]), 0.0) / down, np.inf)
        found = found + _NOISE * random.standard_normal(found.shape)
        ranges = np.where(found > REACH, np.inf, np.maximum(found, self.grid.range_min)).astype(np.float32)
        grid = self.grid
        return RangeImageData(
            stamp,
            told,
            grid.azimuth_min,
            grid.azimuth_step,
            grid.elevation_min,
            grid.elevation_step,
            grid.range_min,
            REACH,
            ranges,
        )
