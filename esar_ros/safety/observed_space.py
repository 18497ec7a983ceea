"""The space that sensors have observed: the free distance along a direction, and the surface below the vehicle.

Unknown space is never free. A point counts as free when a fresh range reaches past it, or when its cell of the map's
window is free.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numba import njit

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.safety.inputs import RangeImageData

_FREE = 1
_STEP = 0.5  # m between the points that are tested along a direction
_STEEP = math.radians(45.0)  # below the horizon; beams as steep point down however far a standing vehicle tilts
_FOOTPRINT = 0.8  # m around the vehicle's foot point that count as "below" it: a wall beside it does not
_FOOTPRINT_GROWTH = 0.14  # m of footprint per m of depth: the two lowest rows of a 5 degree scan
_ANGLE_TOLERANCE = 1e-6  # rad


@njit(cache=True, nogil=True)
def _range_at(ranges, grid, x, y, z):  # type: ignore[no-untyped-def]
    """Returns the range (m) measured in the direction of a point of the sensor frame; NaN outside the image."""
    azimuth_min, azimuth_step, elevation_min, elevation_step = grid
    rows, columns = ranges.shape
    elevation = math.atan2(z, math.sqrt(x * x + y * y))
    row = math.floor((elevation - elevation_min) / elevation_step)
    # Exactly straight down or up belongs to the outermost row.
    if row == -1 and elevation > elevation_min - _ANGLE_TOLERANCE:
        row = 0
    if row == rows and elevation < elevation_min + rows * elevation_step + _ANGLE_TOLERANCE:
        row = rows - 1
    turn = (math.atan2(y, x) - azimuth_min) % (2.0 * math.pi)
    column = math.floor(turn / azimuth_step)
    if row < 0 or row >= rows or column < 0 or column >= columns:
        return np.nan
    return ranges[row, column]


@njit(cache=True, nogil=True)
def _free_by_ranges(ranges, grid, range_max, rotation, offset):  # type: ignore[no-untyped-def]
    """Returns whether a range reaches past a point at offset (m, map axes, from the sensor)."""
    x = rotation[0, 0] * offset[0] + rotation[1, 0] * offset[1] + rotation[2, 0] * offset[2]
    y = rotation[0, 1] * offset[0] + rotation[1, 1] * offset[1] + rotation[2, 1] * offset[2]
    z = rotation[0, 2] * offset[0] + rotation[1, 2] * offset[1] + rotation[2, 2] * offset[2]
    distance = math.sqrt(x * x + y * y + z * z)
    measured = _range_at(ranges, grid, x, y, z)
    if measured == np.inf:
        return distance <= range_max
    return 0.0 <= measured <= range_max and distance <= measured


@njit(cache=True, nogil=True)
def _surface(ranges, grid, range_max, rotation, sensor):  # type: ignore[no-untyped-def]
    """Returns the heights (m, negative, relative to the vehicle) of the highest and lowest point in its footprint.

    sensor: its position (3,) relative to the vehicle (m, map axes). Where no point was measured: -inf and inf.
    """
    azimuth_min, azimuth_step, elevation_min, elevation_step = grid
    azimuth = azimuth_min + (np.arange(ranges.shape[1]) + 0.5) * azimuth_step
    cos_azimuth, sin_azimuth = np.cos(azimuth), np.sin(azimuth)
    highest, lowest = -np.inf, np.inf
    for r in range(ranges.shape[0]):
        elevation = elevation_min + (r + 0.5) * elevation_step
        ce, se = math.cos(elevation), math.sin(elevation)
        for c in range(ranges.shape[1]):
            measured = ranges[r, c]
            if not 0.0 <= measured <= range_max:
                continue
            bx, by, bz = ce * cos_azimuth[c] * measured, ce * sin_azimuth[c] * measured, se * measured
            z = rotation[2, 0] * bx + rotation[2, 1] * by + rotation[2, 2] * bz + sensor[2]
            if z >= 0.0 or lowest <= z <= highest:
                continue
            x = rotation[0, 0] * bx + rotation[0, 1] * by + rotation[0, 2] * bz + sensor[0]
            y = rotation[1, 0] * bx + rotation[1, 1] * by + rotation[1, 2] * bz + sensor[1]
            if math.sqrt(x * x + y * y) <= max(_FOOTPRINT, -_FOOTPRINT_GROWTH * z):
                highest, lowest = max(highest, z), min(lowest, z)
    return highest, lowest


@njit(cache=True, nogil=True)
def _known_free(  # type: ignore[no-untyped-def]
    direction,
    wanted,
    own,
    position,
    has_ranges,
    ranges,
    grid,
    range_max,
    rotation,
    sensor,
    has_window,
    cells,
    origin,
    resolution,
):
    """Returns the distance (m, at most wanted) beyond own (m) that ranges or window show to be free."""
    point = np.empty(3)
    offset = np.empty(3)
    known = own
    while known < wanted + own:
        s = min(known + _STEP, wanted + own)
        for k in range(3):
            point[k] = position[k] + s * direction[k]
            offset[k] = point[k] - sensor[k]
        free = has_ranges and _free_by_ranges(ranges, grid, range_max, rotation, offset)
        if not free and has_window:
            i = math.floor((point[0] - origin[0]) / resolution)
            j = math.floor((point[1] - origin[1]) / resolution)
            k = math.floor((point[2] - origin[2]) / resolution)
            inside = 0 <= i < cells.shape[0] and 0 <= j < cells.shape[1] and 0 <= k < cells.shape[2]
            free = inside and cells[i, j, k] == _FREE
        if not free:
            break
        known = s
    return known - own


_NO_RANGES = np.zeros((1, 1), dtype=np.float32)
_NO_CELLS = np.zeros((1, 1, 1), dtype=np.uint8)


class ObservedSpace:
    """The space around the vehicle that fresh ranges and a fresh window have observed; either may be missing."""

    def __init__(
        self, position: Vector, image: RangeImageData | None, window: OccupancyWindow | None, own_radius: float
    ) -> None:
        self._position = position
        self._own = own_radius
        self._image = image
        self._window = window
        self._rotation = image.pose.rotation if image else np.eye(3)

    def known_free(self, direction: Vector, wanted: float) -> float:
        """Returns the free distance (m, at most wanted) beyond the vehicle's own radius along a unit direction."""
        image, window = self._image, self._window
        return float(
            _known_free(
                direction, wanted, self._own, self._position,
                image is not None,
                np.ascontiguousarray(image.ranges, dtype=np.float32) if image else _NO_RANGES,
                (image.azimuth_min, image.azimuth_step, image.elevation_min, image.elevation_step)
                if image else (0.0, 1.0, 0.0, 1.0),
                image.range_max if image else 0.0,
                self._rotation,
                image.pose.position if image else self._position,
                window is not None,
                window.cells if window else _NO_CELLS,
                np.asarray(window.origin, dtype=np.float64) if window else self._position,
                window.resolution if window else 1.0,
            )
        )  # fmt: skip

    @cached_property
    def _footprint(self) -> tuple[float, float]:
        """Heights (m, negative, relative to the vehicle) of the highest and lowest point below; -inf and inf: none."""
        image = self._image
        if image is None:
            return -math.inf, math.inf
        grid = (image.azimuth_min, image.azimuth_step, image.elevation_min, image.elevation_step)
        ranges = np.ascontiguousarray(image.ranges, dtype=np.float32)
        highest, lowest = _surface(ranges, grid, image.range_max, self._rotation, image.pose.position - self._position)
        return float(highest), float(lowest)

    def depth_below(self) -> float | None:
        """Returns the distance (m) down to the lowest point measured below, on a slope more than to the surface.

        None where no point was measured.
        """
        _, lowest = self._footprint
        return -lowest if math.isfinite(lowest) else None

    def gap_below(self) -> float | None:
        """Returns the distance (m) down to the surface below that the ranges show; None where they show none."""
        image = self._image
        if image is None:
            return None
        surface = self.surface_below()
        if surface is not None:
            return float(self._position[2]) - surface
        elevation = image.elevation_min + (np.arange(image.ranges.shape[0]) + 0.5) * image.elevation_step
        too_near = np.isneginf(image.ranges[elevation < -_STEEP])
        return image.range_min if too_near.any() else None

    def surface_below(self) -> float | None:
        """Returns the height (m, map z) of the highest surface under the vehicle; None where none was observed.

        It is taken from the ranges, or else from the window.
        """
        highest, _ = self._footprint
        if highest > -math.inf:
            return float(self._position[2] + highest)
        return self._window.ground_below(self._position, float(self._position[2])) if self._window is not None else None
