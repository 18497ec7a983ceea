"""Terrain following: the height to fly now so that rising ground ahead is cleared in time.

The surface (ground, trees, rocks) is the highest occupied cell of each column of the local map. Each sample of it along
the path ahead demands its own height; a sample s metres away must be met only when the vehicle gets there, so its
demand is reduced by the height that can be climbed until then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.occupancy_window import OccupancyWindow

_OCCUPIED = 2


@njit(cache=True, nogil=True)
def _tops(cells, out):  # type: ignore[no-untyped-def]
    """Number of cells up to and including the highest occupied one of each column; -1 when there is none."""
    for i in range(cells.shape[0]):
        for j in range(cells.shape[1]):
            out[i, j] = -1.0
            for k in range(cells.shape[2] - 1, -1, -1):
                if cells[i, j, k] == _OCCUPIED:
                    out[i, j] = k + 1.0
                    break


@njit(cache=True, nogil=True)
def _profile(surface, origin, resolution, position, direction, reach, width, out):  # type: ignore[no-untyped-def]
    """Highest surface (m) across a strip of half width at each step of one cell along the path; -inf unknown."""
    side = math.ceil(width / resolution)
    for n in range(out.shape[0]):
        s = n * resolution
        highest = -np.inf
        # The strip's end is round: where the vehicle may be by then.
        for a in range(-side, side + 1):
            for b in range(-side, side + 1):
                if a * a + b * b > side * side:
                    continue
                i = math.floor((position[0] + s * direction[0] - origin[0]) / resolution) + a
                j = math.floor((position[1] + s * direction[1] - origin[1]) / resolution) + b
                if 0 <= i < surface.shape[0] and 0 <= j < surface.shape[1]:
                    highest = max(highest, surface[i, j])
        out[n] = highest


@dataclass(frozen=True)
class Surface:
    """Height of the surface (m, map z) per column of the local map; -inf where none is known."""

    heights: NDArray[np.float64]  # (nx, ny)
    origin: Vector  # (3,) m
    resolution: float  # m

    @staticmethod
    def of(window: OccupancyWindow) -> Surface:
        """Surface of a window."""
        tops = np.empty(window.cells.shape[:2])
        _tops(window.cells, tops)
        heights = np.where(tops < 0.0, -math.inf, window.origin[2] + tops * window.resolution)
        return Surface(heights, np.asarray(window.origin, dtype=np.float64), window.resolution)

    def ahead(self, position: Vector, direction: Vector, reach: float, width: float) -> NDArray[np.float64]:
        """Highest surface (m) each cell's length along a horizontal unit direction, from 0 to reach (m)."""
        out = np.empty(max(1, math.ceil(reach / self.resolution) + 1))
        _profile(self.heights, self.origin, self.resolution, position, direction, reach, width, out)
        return out


@dataclass(frozen=True)
class Climb:
    """Height to steer to (m, map z) and the horizontal speed (m/s) at which the ground ahead is still cleared."""

    height: float
    speed: float


def follow(
    profile: NDArray[np.float64], step: float, z: float, above: float, speed: float, climb: float
) -> Climb | None:
    """Returns the height for flying `above` (m) over a profile sampled each step (m), at z (m) with speed and climb
    (m/s).

    None where the whole profile is unknown.
    """
    known = np.isfinite(profile)
    if not known.any():
        return None
    distance = np.arange(len(profile)) * step
    wanted = profile[known] + above
    # Half of what could be climbed: the other half is kept in hand for the climb's own lag.
    height = float(np.max(wanted - distance[known] * 0.5 * climb / speed))
    missing = wanted - 0.5 * above - z
    rising = missing > 0.0
    if rising.any():
        # Half the height above ground is the least: slow down so as to be there in time.
        speed = min(speed, float(np.min(climb * distance[known][rising] / missing[rising])))
    return Climb(height, speed)
