"""The space that sensors have observed: the free distance along a direction, the surface below, how the ground falls.

Unknown space is never free. A point counts as free when a fresh range reaches past it, or when its cell of the map's
window is free.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.safety.inputs import RangeImageData

_FREE, _OCCUPIED = 1, 2
_STEP = 0.5  # m between the points that are tested along a direction
_STEEP = math.radians(45.0)  # below the horizon; beams as steep point down however far a standing vehicle tilts
_FOOTPRINT = 0.8  # m around the vehicle's foot point that count as "below" it: a wall beside it does not
_FOOTPRINT_GROWTH = 0.14  # m of footprint per m of depth: the two lowest rows of a 5 degree scan
_ANGLE_TOLERANCE = 1e-6  # rad
SECTORS = 12  # of azimuth, in which the fall of the ground is measured
_AROUND = 20.0  # m from the vehicle's foot point, up to which the fall of the ground must be seen
_BEYOND = 30.0  # m, within which points of the ground count
_SAMPLES = 4  # columns of the map's window that are looked at in a sector
_NO_RANGES = np.zeros((1, 1), dtype=np.float32)
_NO_CELLS = np.zeros((1, 1, 1), dtype=np.uint8)


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
def _points_under(ranges, grid, range_max, rotation, sensor, top, out):  # type: ignore[no-untyped-def]
    """Writes the points measured under top as x, y, z (m from the vehicle, map axes), range (m) and elevation (rad).

    sensor: its position (3,) relative to the vehicle (m, map axes). top: m above it. Returns the number of points.
    """
    azimuth_min, azimuth_step, elevation_min, elevation_step = grid
    azimuth = azimuth_min + (np.arange(ranges.shape[1]) + 0.5) * azimuth_step
    cos_azimuth, sin_azimuth = np.cos(azimuth), np.sin(azimuth)
    count = 0
    for r in range(ranges.shape[0]):
        elevation = elevation_min + (r + 0.5) * elevation_step
        ce, se = math.cos(elevation), math.sin(elevation)
        for c in range(ranges.shape[1]):
            measured = ranges[r, c]
            if not 0.0 <= measured <= range_max:
                continue
            bx, by, bz = ce * cos_azimuth[c] * measured, ce * sin_azimuth[c] * measured, se * measured
            z = rotation[2, 0] * bx + rotation[2, 1] * by + rotation[2, 2] * bz + sensor[2]
            if z >= top:
                continue
            out[count, 0] = rotation[0, 0] * bx + rotation[0, 1] * by + rotation[0, 2] * bz + sensor[0]
            out[count, 1] = rotation[1, 0] * bx + rotation[1, 1] * by + rotation[1, 2] * bz + sensor[1]
            out[count, 2], out[count, 3], out[count, 4] = z, measured, elevation
            count += 1
    return count


def points_under(image: RangeImageData, position: Vector, top: float = 0.0) -> NDArray[np.float64]:
    """Returns the points (n, 5) that a range image shows lower than top (m) above a position (m, map).

    x, y and z are in m from there along the map's axes; behind them stand range (m) and elevation (rad) of the beam.
    """
    ranges = np.ascontiguousarray(image.ranges, dtype=np.float32)
    grid = (image.azimuth_min, image.azimuth_step, image.elevation_min, image.elevation_step)
    out = np.empty((ranges.size, 5))
    rotation, sensor = image.pose.rotation, image.pose.position - position
    return out[: _points_under(ranges, grid, image.range_max, rotation, sensor, top, out)]


@njit(cache=True, nogil=True)
def _surface(points):  # type: ignore[no-untyped-def]
    """Returns the heights (m, negative, relative to the vehicle) of the highest and lowest point in its footprint.

    points: as of points_under. Where none lies in the footprint: -inf and inf.
    """
    highest, lowest = -np.inf, np.inf
    for n in range(points.shape[0]):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        if not lowest <= z <= highest and math.sqrt(x * x + y * y) <= max(_FOOTPRINT, -_FOOTPRINT_GROWTH * z):
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


@njit(cache=True, nogil=True)
def _fall(points, foot, near, slope, falls):  # type: ignore[no-untyped-def]
    """Writes the steepest fall (m/m, >= 0) of the ground from the foot point to falls, for each sector of azimuth.

    points: as of points_under. foot: height (m, relative to the vehicle) of the lowest point below it. near: m from
    there, within which nothing counts. Ground that no echo shows falls at slope (m/m) from the farthest that was seen.
    """
    farthest = np.zeros(falls.shape[0])
    last = np.full(falls.shape[0], foot)
    falls[:] = 0.0
    for n in range(points.shape[0]):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        away = math.sqrt(x * x + y * y)
        if away < near or away > _BEYOND:
            continue
        sector = int(falls.shape[0] * (math.atan2(y, x) + math.pi) / (2.0 * math.pi)) % falls.shape[0]
        # The lowest point below may lie near down the slope already.
        falls[sector] = max(falls[sector], (foot - z) / max(away - near, near))
        if away > farthest[sector]:
            farthest[sector], last[sector] = away, z
    for sector in range(falls.shape[0]):
        if farthest[sector] < _AROUND:
            unseen = foot - last[sector] + slope * (_AROUND - farthest[sector])
            falls[sector] = max(falls[sector], unseen / _AROUND)


@njit(cache=True, nogil=True)
def _fall_in_window(cells, origin, resolution, position, foot, slope, falls):  # type: ignore[no-untyped-def]
    """Writes the steepest fall (m/m, >= 0) of the window's ground from the foot point to falls, for each sector.

    foot: height (m, map z) of the ground below. Columns without ground fall at slope (m/m) from the last that has some.
    """
    sectors = falls.shape[0]
    for sector in range(sectors):
        azimuth = (sector + 0.5) * 2.0 * math.pi / sectors - math.pi
        falls[sector] = 0.0
        last, farthest = foot, 0.0
        for n in range(1, _SAMPLES + 1):
            away = n * _AROUND / _SAMPLES
            i = math.floor((position[0] + away * math.cos(azimuth) - origin[0]) / resolution)
            j = math.floor((position[1] + away * math.sin(azimuth) - origin[1]) / resolution)
            if not (0 <= i < cells.shape[0] and 0 <= j < cells.shape[1]):
                continue
            for k in range(min(math.floor((position[2] - origin[2]) / resolution), cells.shape[2] - 1), -1, -1):
                if cells[i, j, k] == _OCCUPIED:
                    last, farthest = origin[2] + (k + 1) * resolution, away
                    falls[sector] = max(falls[sector], (foot - last) / away)
                    break
        falls[sector] = max(falls[sector], (foot - last + slope * (_AROUND - farthest)) / _AROUND)


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

    def known_free(self, direction: Vector, wanted: float, beside: Vector | None = None) -> float:
        """Returns the free distance (m, at most wanted) beyond the vehicle's own radius along a unit direction.

        beside: (3,) m, map: how far beside the vehicle's centre the line lies; None: through it.
        """
        image, window = self._image, self._window
        return float(
            _known_free(
                direction, wanted, self._own, self._position if beside is None else self._position + beside,
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
    def _below(self) -> NDArray[np.float64]:
        """Points (n, 5) that the ranges show below, as of points_under; none without ranges."""
        return np.zeros((0, 5)) if self._image is None else points_under(self._image, self._position)

    @cached_property
    def _footprint(self) -> tuple[float, float]:
        """Heights (m, negative, relative to the vehicle) of the highest and lowest point below; -inf and inf: none."""
        highest, lowest = _surface(self._below)
        return float(highest), float(lowest)

    def depth_below(self) -> float | None:
        """Returns the distance (m) down to the lowest point measured below, on a slope more than to the surface.

        None where no point was measured.
        """
        _, lowest = self._footprint
        return -lowest if math.isfinite(lowest) else None

    def fall_around(self, slope: float) -> NDArray[np.float64]:
        """Returns the steepest fall (m/m, >= 0) of the ground from the foot point on, (SECTORS,) from west by south.

        Ground that no echo shows falls at slope (m/m) from the farthest that was seen, or from the foot point.
        """
        falls = np.full(SECTORS, slope)
        window, depth = self._window, self.depth_below()
        if depth is not None:
            _fall(self._below, -depth, max(_FOOTPRINT, _FOOTPRINT_GROWTH * depth), slope, falls)
        elif window is not None:
            surface = window.ground_below(self._position, float(self._position[2]))
            if surface is not None:
                corner = np.asarray(window.origin, dtype=np.float64)
                _fall_in_window(window.cells, corner, window.resolution, self._position, surface, slope, falls)
        return falls

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
