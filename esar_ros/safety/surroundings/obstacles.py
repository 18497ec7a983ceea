"""The obstacles near the vehicle as limits on its velocity, from the range image and from the map's window.

For an obstacle at distance d in direction n the closing speed, n . v, must not exceed what stops before the clearance:
allowed_speed(d - clearance). Because this holds for every point and any later turn, no direction that the vehicle may
take next can carry it into one of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.safety.braking import allowed_speed, closing_speed
from esar_ros.safety.inputs import RangeImageData
from esar_ros.safety.limits import Limits

_OCCUPIED = 2
_TOO_NEAR = 1e-6  # m, below which an obstacle has no direction
ALL_AROUND = -2.0  # sine of an elevation below any that exists: no obstacle is left out


@dataclass(frozen=True)
class HalfSpaces:
    """Limits normals @ v <= bounds of a velocity v."""

    normals: NDArray[np.float64]  # (n, 3), unit length, map
    bounds: NDArray[np.float64]  # (n,) m/s


NO_LIMITS = HalfSpaces(np.zeros((0, 3)), np.zeros(0))


@dataclass(frozen=True)
class Surroundings:
    """The limits of one source of obstacles, and the distance of its nearest obstacle."""

    limits: HalfSpaces
    nearest: float  # m, inf: there is none


@njit(cache=True, nogil=True)
def _bound(distance, closing, clearance, drift, braking, deadband, push):  # type: ignore[no-untyped-def]
    """Returns the closing speed (m/s) that an obstacle allows; negative: backing off at up to push (m/s).

    The vehicle stops a drift (m) before the clearance. It allows less while the vehicle already closes in faster, and
    makes one that closes in all the same, as the wind makes it, back off.
    """
    room = distance - clearance - drift
    deceleration, latency, tau = braking
    if room < 0.0:
        depth = max(clearance - distance - deadband, 0.0)
        return -min(push, push * depth + max(closing, 0.0))
    bound = closing_speed(room, closing, deceleration, latency, tau)
    if bound > 0.0:
        return bound
    return -min(push, max(closing - 2.0 * allowed_speed(room, deceleration, latency, tau), 0.0))


@njit(cache=True, nogil=True)
def _from_ranges(  # type: ignore[no-untyped-def]
    ranges,
    grid,
    range_min,
    range_max,
    rotation,
    offset,
    velocity,
    clearance,
    drift,
    braking,
    deadband,
    push,
    reach,
    min_sine,
    ground,
    normals,
    bounds,
):
    """Fills in normals and bounds of the obstacles in the ranges; returns their number and the nearest distance (m)."""
    count = 0
    nearest = np.inf
    azimuth_min, azimuth_step, elevation_min, elevation_step = grid
    azimuth = azimuth_min + (np.arange(ranges.shape[1]) + 0.5) * azimuth_step
    cos_azimuth, sin_azimuth = np.cos(azimuth), np.sin(azimuth)
    for r in range(ranges.shape[0]):
        elevation = elevation_min + (r + 0.5) * elevation_step
        ce, se = math.cos(elevation), math.sin(elevation)
        for c in range(ranges.shape[1]):
            measured = ranges[r, c]
            if measured == -np.inf:
                measured = range_min
            elif not 0.0 <= measured <= range_max:
                continue
            x, y, z = ce * cos_azimuth[c] * measured, ce * sin_azimuth[c] * measured, se * measured
            px = rotation[0, 0] * x + rotation[0, 1] * y + rotation[0, 2] * z + offset[0]
            py = rotation[1, 0] * x + rotation[1, 1] * y + rotation[1, 2] * z + offset[1]
            pz = rotation[2, 0] * x + rotation[2, 1] * y + rotation[2, 2] * z + offset[2]
            distance = math.sqrt(px * px + py * py + pz * pz)
            nearest = min(nearest, distance)
            if distance > reach or distance < _TOO_NEAR or pz < min_sine * distance:
                continue
            if pz <= ground + math.sqrt(px * px + py * py):
                continue
            px, py, pz = px / distance, py / distance, pz / distance
            closing = px * velocity[0] + py * velocity[1] + pz * velocity[2]
            normals[count, 0], normals[count, 1], normals[count, 2] = px, py, pz
            bounds[count] = _bound(distance, closing, clearance, drift, braking, deadband, push)
            count += 1
    return count, nearest


@njit(cache=True, nogil=True)
def _from_window(  # type: ignore[no-untyped-def]
    cells,
    origin,
    resolution,
    position,
    velocity,
    clearance,
    drift,
    braking,
    own,
    reach,
    min_sine,
):
    """Returns normals and bounds of the occupied cells within reach, and the nearest distance (m) in their box."""
    count = 0
    nearest = np.inf
    delta = np.empty(3)
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    size = 1
    for axis in range(3):
        most = float(cells.shape[axis])
        begin = np.floor((position[axis] - reach - origin[axis]) / resolution)
        end = np.ceil((position[axis] + reach - origin[axis]) / resolution)
        low[axis], high[axis] = int(min(max(begin, 0.0), most)), int(min(max(end, 0.0), most))
        size *= max(high[axis] - low[axis], 0)
    normals, bounds = np.empty((size, 3)), np.empty(size)
    for i in range(low[0], high[0]):
        for j in range(low[1], high[1]):
            for k in range(low[2], high[2]):
                if cells[i, j, k] != _OCCUPIED:
                    continue
                # Nearest point of the cell's box, relative to the vehicle.
                delta[0] = origin[0] + i * resolution - position[0]
                delta[1] = origin[1] + j * resolution - position[1]
                delta[2] = origin[2] + k * resolution - position[2]
                for axis in range(3):
                    delta[axis] = max(delta[axis], 0.0) if delta[axis] > -resolution else delta[axis] + resolution
                distance = math.sqrt(delta[0] ** 2 + delta[1] ** 2 + delta[2] ** 2)
                if distance < own:
                    continue
                nearest = min(nearest, distance)
                if distance > reach or delta[2] < min_sine * distance:
                    continue
                closing = 0.0
                for axis in range(3):
                    delta[axis] /= distance
                    closing += delta[axis] * velocity[axis]
                normals[count] = delta
                bounds[count] = _bound(distance, closing, clearance, drift, braking, 0.0, 0.0)
                count += 1
    return normals[:count], bounds[:count], nearest


def reach_of(speed: float, limits: Limits) -> float:
    """Returns the distance (m) beyond which no obstacle limits a speed (m/s)."""
    return limits.clearance + limits.stopping_distance(speed)


def from_ranges(
    image: RangeImageData,
    position: Vector,
    velocity: Vector,
    limits: Limits,
    reach: float,
    push: float,
    min_sine: float = ALL_AROUND,
    ground: float = -math.inf,
    drift: float = 0.0,
) -> Surroundings:
    """Returns the limits of the range image's obstacles within reach (m) of a position (m, map), at a velocity (m/s).

    push: m/s of backing off when too near, 0 for none. Obstacles at an elevation whose sine is less than min_sine are
    left out. So are points that are no higher above the surface at `ground` (m, relative to the vehicle) than they are
    away to the side: the ground to be landed on. drift: m that are kept beside the clearance. The vehicle's motion
    since the image was measured is accounted for.
    """
    ranges = np.ascontiguousarray(image.ranges, dtype=np.float32)
    normals = np.empty((ranges.size, 3))
    bounds = np.empty(ranges.size)
    grid = (image.azimuth_min, image.azimuth_step, image.elevation_min, image.elevation_step)
    count, nearest = _from_ranges(
        ranges, grid, image.range_min, image.range_max, image.pose.rotation, image.pose.position - position, velocity,
        limits.clearance, drift, limits.braking_model, limits.push_deadband, push, reach, min_sine, ground,
        normals, bounds,
    )  # fmt: skip
    return Surroundings(HalfSpaces(normals[:count], bounds[:count]), float(nearest))


def from_window(
    window: OccupancyWindow,
    position: Vector,
    velocity: Vector,
    limits: Limits,
    reach: float,
    own: float,
    min_sine: float = ALL_AROUND,
    drift: float = 0.0,
) -> Surroundings:
    """Returns the limits of the window's occupied cells within reach (m) of a position (m, map), at a velocity (m/s).

    Cells nearer than own (m), the vehicle's body, are free by assumption. No cell makes the vehicle back off: a cell is
    as coarse as the margin, and near obstacles are in the ranges. min_sine and drift are as in from_ranges.
    """
    normals, bounds, nearest = _from_window(
        window.cells, np.asarray(window.origin, dtype=np.float64), window.resolution, position, velocity,
        limits.clearance, drift, limits.braking_model, own, reach, min_sine,
    )  # fmt: skip
    return Surroundings(HalfSpaces(normals, bounds), float(nearest))
