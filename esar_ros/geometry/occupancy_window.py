"""Occupancy around a vehicle as pilot and governor see it, and its packed form (four cells a byte)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.frames import FARTHEST, Vector, vector

UNKNOWN, FREE, OCCUPIED = 0, 1, 2  # as in msg/LocalMap.msg

_RESOLUTIONS = (0.01, 100.0)  # m
_MAX_CELLS = 50_000_000
_MIN_STEP = 0.05  # m, of a sphere marched along a segment


def pack_cells(cells: NDArray[np.uint8]) -> bytes:
    """Cells 0..3 of any shape, in C order, four to a byte: cell k in bits 2*(k%4) of byte k//4."""
    flat = np.ascontiguousarray(cells, dtype=np.uint8).ravel()
    if len(flat) % 4:
        flat = np.concatenate([flat, np.zeros(-len(flat) % 4, np.uint8)])
    # Four cells are one little-endian word; folding its bytes packs it.
    words = flat.view("<u4")
    return (words | words >> 6 | words >> 12 | words >> 18).astype(np.uint8).tobytes()


def unpack_cells(packed: bytes, shape: tuple[int, int, int]) -> NDArray[np.uint8]:
    """Inverse of pack_cells. Raises ValueError when the number of bytes does not fit the shape."""
    count = shape[0] * shape[1] * shape[2]
    if min(shape) < 0 or len(packed) != (count + 3) // 4:
        raise ValueError(f"{len(packed)} bytes are no packed window of {shape} cells")
    quads = np.frombuffer(packed, np.uint8).astype("<u4")
    words = (quads | quads << 6 | quads << 12 | quads << 18) & 0x03030303
    return words.view(np.uint8)[:count].reshape(shape)


@dataclass(frozen=True)
class OccupancyWindow:
    """A box of cells in the map frame. What lies outside of it is unknown, and so is a cell value of 3."""

    origin: Vector  # (3,) m, map frame, least corner of cell (0, 0, 0)
    resolution: float  # m
    cells: NDArray[np.uint8]  # (nx, ny, nz): UNKNOWN, FREE or OCCUPIED
    stamp: float  # s, of the newest depth frame in it

    @staticmethod
    def from_packed(
        packed: bytes, origin: ArrayLike, resolution: float, shape: tuple[int, int, int], stamp: float
    ) -> OccupancyWindow:
        """Window of a LocalMap message. Raises ValueError for a message that contradicts itself."""
        corner = vector(origin)
        sound = np.abs(corner).max() < FARTHEST and _RESOLUTIONS[0] <= resolution <= _RESOLUTIONS[1]
        if not (sound and min(shape) > 0 and math.prod(shape) <= _MAX_CELLS):
            raise ValueError(f"no window of {shape} cells of {resolution} m at {corner.tolist()}")
        return OccupancyWindow(corner, float(resolution), unpack_cells(packed, shape), stamp)

    def pack(self) -> bytes:
        """The cells as in a LocalMap message."""
        return pack_cells(self.cells)

    @property
    def upper(self) -> Vector:
        """(3,) m, upper corner."""
        return self.origin + self.resolution * np.array(self.cells.shape)

    def state_at(self, points: ArrayLike) -> NDArray[np.uint8]:
        """UNKNOWN, FREE or OCCUPIED at map-frame points (..., 3); outside, and at NaN, UNKNOWN."""
        position = (np.asarray(points, dtype=np.float64) - self.origin) / self.resolution
        inside = np.asarray(((position >= 0.0) & (position < self.cells.shape)).all(axis=-1))
        index = np.where(inside[..., None], position, 0.0).astype(np.intp)
        found = self.cells[index[..., 0], index[..., 1], index[..., 2]]
        return np.where(inside & (found <= OCCUPIED), found, UNKNOWN).astype(np.uint8)

    def nearest_obstacle(
        self, point: ArrayLike, r_max: float, unknown_is_obstacle: bool = True
    ) -> tuple[float, Vector | None]:
        """Distance (m) to the nearest point of an obstacle's cell and that point; (inf, None) beyond r_max.

        Exact; 0 inside an obstacle. With unknown_is_obstacle the world outside the window is one too.
        """
        p = vector(point)
        if not np.isfinite(p).all():
            raise ValueError(f"no distance from {p.tolist()}")
        if unknown_is_obstacle and self.state_at(p) == UNKNOWN:
            return 0.0, p
        best, nearest = self._nearest_of(self._near(p, p, r_max, unknown_is_obstacle), p)
        if unknown_is_obstacle:
            gaps = np.concatenate([p - self.origin, self.upper - p])
            side = int(np.argmin(gaps))
            if gaps[side] < best:
                best, nearest = float(gaps[side]), p.copy()
                nearest[side % 3] = self.origin[side] if side < 3 else self.upper[side - 3]
        return (best, nearest) if best <= r_max else (math.inf, None)

    def ground_below(self, xy: ArrayLike, z: float) -> float | None:
        """Height (m, map frame) of the top of the highest occupied cell at or below z; None where none is known."""
        x, y = (np.asarray(xy, dtype=np.float64)[:2] - self.origin[:2]) / self.resolution
        if not (0.0 <= x < self.cells.shape[0] and 0.0 <= y < self.cells.shape[1] and math.isfinite(z)):
            return None
        count = math.floor((z - self.origin[2]) / self.resolution) + 1
        below = np.flatnonzero(self.cells[int(x), int(y), : max(count, 0)] == OCCUPIED)
        return float(self.origin[2] + (below[-1] + 1) * self.resolution) if len(below) else None

    @cached_property
    def _occupied(self) -> NDArray[np.float64]:
        return self._corners(self.cells == OCCUPIED)

    @cached_property
    def _unknown_shell(self) -> NDArray[np.float64]:
        """Unknown cells with a known face neighbour: from a known cell no other unknown one is nearest."""
        known = (self.cells == FREE) | (self.cells == OCCUPIED)
        beside = np.zeros_like(known)
        for axis in range(3):
            here, there = np.moveaxis(beside, axis, 0), np.moveaxis(known, axis, 0)
            here[1:] |= there[:-1]
            here[:-1] |= there[1:]
        return self._corners(beside & ~known)

    def _corners(self, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Least corners (N, 3) in m of the cells in a mask."""
        return self.origin + self.resolution * np.argwhere(mask)

    def _near(self, p0: Vector, p1: Vector, reach: float, unknown_is_obstacle: bool) -> NDArray[np.float64]:
        """Least corners of the obstacles in the box around a segment."""
        low = np.minimum(p0, p1) - reach - self.resolution
        high = np.maximum(p0, p1) + reach
        found = [self._occupied, self._unknown_shell] if unknown_is_obstacle else [self._occupied]
        return np.concatenate([c[((c >= low) & (c <= high)).all(axis=1)] for c in found])

    def _nearest_of(self, corners: NDArray[np.float64], p: Vector) -> tuple[float, Vector]:
        """Distance to, and nearest point of, the cells with these lower corners; inf and p if there are none."""
        if not len(corners):
            return math.inf, p
        points = np.clip(p, corners, corners + self.resolution)
        squares = ((points - p) ** 2).sum(axis=1)
        nearest = int(np.argmin(squares))
        return math.sqrt(squares[nearest]), points[nearest]
