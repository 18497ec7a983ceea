"""The ground about a walker as its depth images show it: a bird's-eye grid of floor, and of what stands on it.

Each column of an image lies in an upright plane through the eye, so that it is read like a range finder's sweep, from
the feet outwards: floor as long as it rises and falls no more than one walks, until something stands in the way. One
floor is known of a cell: where two lie above one another it is the one seen from nearest.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission.observation import FREE, OCCUPIED, UNKNOWN, Grid
from esar_ros.mission.rescue import WalkView

CELL = 0.2  # m
_HALF = 100.0  # m, of the map about the start
_REACH = 10.0  # m from the eye to which floor is read: beyond it a pixel covers metres of it
_STEP = 0.45  # m, stepped up and down
_STEEPEST = math.tan(math.radians(44.0))  # rise over run that is walked
_ROUGH = 0.06  # m that a floor may be uneven
_LOW = 0.25  # m: what rises by more at once is a thing on the floor, not a stair
_TALL = 1.9  # m above the floor from which one walks beneath
_BESIDE = 1.3  # m about the feet where the camera does not see the floor
_ARMS = 0.7  # m before the eye in which lies who is carried
_BLOCK = 0.25  # m about a place where something was walked against


class GroundMap:
    """Floors and heights of things by cell, (rows = y, columns = x), in the map frame."""

    def __init__(self, foot: Vector) -> None:
        """foot: (3,) m, where the walker stands."""
        side = round(2.0 * _HALF / CELL)
        self.origin = (float(foot[0]) - _HALF, float(foot[1]) - _HALF)
        self._floor = np.full((side, side), np.nan, dtype=np.float32)
        self._seen_from = np.full((side, side), np.inf, dtype=np.float32)  # m, range of the floor's reading
        self._top = np.full((side, side), -np.inf, dtype=np.float32)  # m, of what lies or stands there
        y, x = self._disc(foot, _BESIDE)
        self._floor[y, x] = float(foot[2])

    def look(self, view: WalkView, foot: float, carrying: bool) -> None:
        """Take in an image; foot: m, height of the floor under the walker."""
        model, pose = view.model, view.pose
        across = (np.arange(model.width) + 0.5 - model.cx) / model.fx
        down = (np.arange(model.height) + 0.5 - model.cy) / model.fy
        eye = np.array([pose.position[0] - self.origin[0], pose.position[1] - self.origin[1], pose.position[2]])
        nearest = _ARMS if carrying else 0.0
        layers = (self._floor, self._seen_from, self._top)
        _read(view.depth, across, down, np.ascontiguousarray(pose.rotation), eye, foot, nearest, *layers)

    def block(self, place: Vector) -> None:
        """Take note that something stands at a place (x, y, ...) m."""
        y, x = self._disc(place, _BLOCK)
        self._top[y, x] = np.inf

    def grid(self) -> Grid:
        """The part of the map that is known, with a border of unknown cells."""
        rows, columns = self._known
        floor, top = self._floor[rows, columns], self._top[rows, columns]
        cells = np.full(floor.shape, UNKNOWN, dtype=np.int8)
        known = np.isfinite(floor)
        cells[known] = FREE
        cells[known & (top - floor > _STEP)] = OCCUPIED
        for axis in (0, 1):  # a step too high is in the way of both its cells
            high = np.abs(np.diff(floor, axis=axis)) > _STEP  # never so for NaN
            index = np.argwhere(high)
            cells[index[:, 0], index[:, 1]] = OCCUPIED
            index[:, axis] += 1
            cells[index[:, 0], index[:, 1]] = OCCUPIED
        return Grid(cells, CELL, (self.origin[0] + CELL * columns.start, self.origin[1] + CELL * rows.start))

    def low_things(self, height: tuple[float, float], length: tuple[float, float]) -> list[Vector]:
        """Returns the middles (2,) m of things on the floor whose height and longer side (m) lie in these spans."""
        rows, columns = self._known
        rise = self._top[rows, columns] - self._floor[rows, columns]  # NaN where no floor is known
        inside = ((rise >= height[0]) & (rise <= height[1])).astype(np.uint8)
        inside = cv2.morphologyEx(inside, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
        count, labels = cv2.connectedComponents(inside, connectivity=8)
        found = []
        for label in range(1, count):
            index = np.argwhere(labels == label)
            side = max(cv2.minAreaRect(index[:, ::-1].astype(np.float32))[1]) * CELL + CELL
            if length[0] <= side <= length[1]:
                row, column = index.mean(axis=0) + 0.5
                x, y = columns.start + column, rows.start + row
                found.append(np.array([self.origin[0] + CELL * x, self.origin[1] + CELL * y]))
        return found

    @property
    def _known(self) -> tuple[slice, slice]:
        known = np.isfinite(self._floor)
        rows, columns = np.flatnonzero(known.any(axis=1)), np.flatnonzero(known.any(axis=0))
        return slice(max(rows[0] - 1, 0), rows[-1] + 2), slice(max(columns[0] - 1, 0), columns[-1] + 2)

    def _disc(self, place: Vector, radius: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and columns of the cells within a radius (m) of a place."""
        side = self._floor.shape[0]
        row, column = (place[1] - self.origin[1]) / CELL, (place[0] - self.origin[0]) / CELL
        reach = math.ceil(radius / CELL)
        y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
        y, x = y + math.floor(row), x + math.floor(column)
        near = np.hypot(y + 0.5 - row, x + 0.5 - column) * CELL <= radius
        near &= (y >= 0) & (x >= 0) & (y < side) & (x < side)
        return y[near], x[near]


@njit(cache=True, nogil=True)
def _read(depth, across, down, rotation, eye, foot, nearest, floor, seen_from, top):  # type: ignore[no-untyped-def]
    """Read an image (H, W) column by column into the layers; eye (3,) m from their corner."""
    side = floor.shape[0]
    for u in range(depth.shape[1]):
        fr, fz = 0.0, foot  # the farthest floor of this column: its distance and its height
        raised = False
        blocked = False
        for v in range(depth.shape[0] - 1, -1, -1):
            d = depth[v, u]
            if not (nearest <= d < 2.0 * _REACH):
                continue
            px, py = across[u] * d, down[v] * d
            x = rotation[0, 0] * px + rotation[0, 1] * py + rotation[0, 2] * d
            y = rotation[1, 0] * px + rotation[1, 1] * py + rotation[1, 2] * d
            z = eye[2] + rotation[2, 0] * px + rotation[2, 1] * py + rotation[2, 2] * d
            r = math.sqrt(x * x + y * y)
            rise = z - fz
            if r > _REACH or rise >= _TALL:
                continue
            i, j = math.floor((eye[1] + y) / CELL), math.floor((eye[0] + x) / CELL)
            if i < 0 or j < 0 or i >= side or j >= side:
                continue
            if not blocked:
                run = max(r - fr, 0.0)
                if raised and abs(rise) <= _ROUGH + 0.3 * run:
                    raised = False  # behind a low thing, on the floor again
                if not raised and -_STEP <= rise and abs(rise) <= _ROUGH + _STEEPEST * run:
                    count = max(1, math.ceil(2.0 * (r - fr) / CELL))
                    for k in range(1, count + 1):
                        at = fr + (r - fr) * k / count
                        a = math.floor((eye[1] + y * at / r) / CELL)
                        b = math.floor((eye[0] + x * at / r) / CELL)
                        if 0 <= a < side and 0 <= b < side and at <= seen_from[a, b]:
                            floor[a, b], seen_from[a, b] = fz + rise * k / count, at
                    fr, fz = r, z
                elif rise > _STEP or rise < -_STEP:
                    blocked = True
                elif rise > _LOW:
                    raised = True
            if r > 0.05 and z > top[i, j]:
                top[i, j] = z
                if blocked and r <= fr + CELL and not math.isfinite(floor[i, j]):
                    floor[i, j], seen_from[i, j] = fz, r
