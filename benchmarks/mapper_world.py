"""The workload of the mapper's benchmark: hills with clustered trees, a flight over them, four depth cameras.

The world is a raster of 0.5 m: ground height and, where a tree stands, the span of its crown or
trunk. Depth comes from marching rays through exactly that raster, so its voxels are known truth.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, quaternion_from_rotation, quaternion_from_yaw

CELL = 0.5  # m
SPAN = 2000.0  # m, edge of the world; its middle is the map frame's origin
_COARSE = 16  # cells of a coarse tile that rays cross at once above its highest point
CAMERAS = ((0.0, -20.0), (90.0, -20.0), (-90.0, -20.0), (0.0, -90.0))  # yaw, pitch in degrees


class World:
    """A world of hills and trees: heights in m above the map frame's origin, rows along y."""

    def __init__(self, seed: int = 0, trees: int = 60000) -> None:
        rng = np.random.default_rng(seed)
        cells = int(SPAN / CELL)
        ground = np.zeros((cells, cells), np.float32)
        for knots, height in ((5, 40.0), (12, 15.0), (40, 4.0), (160, 0.8)):
            noise = rng.uniform(-1.0, 1.0, (knots, knots)).astype(np.float32)
            ground += height * cv2.resize(noise, (cells, cells), interpolation=cv2.INTER_CUBIC)
        self.ground = ground - ground.min() + 2.0
        self.bottom = np.full((cells, cells), np.inf, np.float32)
        self.top = np.full((cells, cells), -np.inf, np.float32)
        density = cv2.resize(rng.uniform(0.0, 1.0, (30, 30)).astype(np.float32), (cells, cells))
        xy = rng.uniform(10.0, SPAN - 10.0, (trees * 3, 2))
        xy = xy[density[(xy[:, 1] / CELL).astype(int), (xy[:, 0] / CELL).astype(int)] > 0.55][:trees]
        radius, heights = rng.uniform(1.5, 4.0, len(xy)), rng.uniform(6.0, 20.0, len(xy))
        _plant(self.ground, self.bottom, self.top, xy, radius, heights)
        coarse = np.maximum(self.ground, self.top).reshape(cells // _COARSE, _COARSE, -1, _COARSE)
        self.ceiling = np.ascontiguousarray(coarse.max(axis=(1, 3)))

    def ground_at(self, x: float, y: float) -> float:
        """Returns the mean ground height (m) of the 40 m square around a map-frame position."""
        i, j = int((x + SPAN / 2) / CELL), int((y + SPAN / 2) / CELL)
        return float(self.ground[j - 40 : j + 40, i - 40 : i + 40].mean())

    def view(self, vehicle: Pose, camera: tuple[float, float], model: CameraModel, reach: float) -> CameraFrame:
        """Returns the depth picture of a camera (yaw, pitch in degrees) on the vehicle; +inf beyond the reach."""
        optical = Pose(np.zeros(3), quaternion_from_rotation(optical_rotation(*map(math.radians, camera))))
        pose = vehicle.compose(optical)
        pinhole = np.array([model.fx, model.fy, model.cx, model.cy])
        start = pose.position + np.array([SPAN / 2, SPAN / 2, 0.0])
        depth = np.empty((model.height, model.width), np.float32)
        _march(self.ground, self.bottom, self.top, self.ceiling, pose.rotation, start, pinhole, reach, depth)
        return CameraFrame("front", model, pose, depth)

    def solid(self, first_cell: NDArray[np.int64], shape: tuple[int, int, int]) -> NDArray[np.uint8]:
        """Returns the number of solid 0.5 m cells, 0..8, in each 1 m voxel of a box; 9 where one is only touched."""
        out = np.zeros(shape, np.uint8)
        _fill(self.ground, self.bottom, self.top, first_cell, out)
        return out


def flight(world: World, seconds: float, period: float, speed: float = 10.0) -> list[Pose]:
    """Returns the poses of a lawn-mower pattern over the world's middle at 40 to 80 m above ground."""
    poses = []
    x, y, along, turned, left = -700.0, -700.0, 1.0, False, 1400.0
    for n in range(int(seconds / period)):
        step = speed * period
        while step > 0.0:
            part = min(step, left)
            x, y = (x, y + part) if turned else (x + along * part, y)
            step, left = step - part, left - part
            if left <= 1e-6:
                along, turned, left = (along, True, 150.0) if not turned else (-along, False, 1400.0)
        yaw = math.pi / 2 if turned else (0.0 if along > 0.0 else math.pi)
        z = world.ground_at(x, y) + 60.0 + 20.0 * math.sin(n * period / 40.0)
        poses.append(Pose(np.array([x, y, z]), quaternion_from_yaw(yaw)))
    return poses


@njit(cache=True)
def _plant(ground, bottom, top, xy, radius, height):  # type: ignore[no-untyped-def]
    cells = ground.shape[0]
    for n in range(len(xy)):
        i0, j0, r = int(xy[n, 0] / CELL), int(xy[n, 1] / CELL), radius[n]
        middle, half = ground[j0, i0] + height[n] * 0.65, height[n] * 0.35
        m = int(r / CELL) + 1
        for j in range(max(0, j0 - m), min(cells, j0 + m + 1)):
            for i in range(max(0, i0 - m), min(cells, i0 + m + 1)):
                square = ((i - i0) ** 2 + (j - j0) ** 2) * CELL * CELL
                if square < r * r:
                    rise = math.sqrt(1.0 - square / (r * r)) * half
                    bottom[j, i] = min(bottom[j, i], middle - rise)
                    top[j, i] = max(top[j, i], middle + rise)
        bottom[j0, i0] = ground[j0, i0]
        top[j0, i0] = max(top[j0, i0], middle + half)


@njit(cache=True, parallel=True)
def _march(ground, bottom, top, ceiling, turn, start, pinhole, reach, depth):  # type: ignore[no-untyped-def]
    rows, columns = depth.shape
    cells = ground.shape[0]
    tile = _COARSE * CELL
    for v in prange(rows):
        for u in range(columns):
            dx, dy = (u + 0.5 - pinhole[2]) / pinhole[0], (v + 0.5 - pinhole[3]) / pinhole[1]
            wx = turn[0, 0] * dx + turn[0, 1] * dy + turn[0, 2]
            wy = turn[1, 0] * dx + turn[1, 1] * dy + turn[1, 2]
            wz = turn[2, 0] * dx + turn[2, 1] * dy + turn[2, 2]
            norm = math.sqrt(1.0 + dx * dx + dy * dy)
            t, end, step = 0.0, reach / norm, 0.5 * CELL / norm
            found = np.inf
            while t < end:
                x, y, z = start[0] + wx * t, start[1] + wy * t, start[2] + wz * t
                i, j = int(x / CELL), int(y / CELL)
                if i < 0 or j < 0 or i >= cells or j >= cells:
                    break
                roof = ceiling[j // _COARSE, i // _COARSE]
                if z > roof:
                    leave = np.inf
                    if wx != 0.0:
                        leave = ((i // _COARSE + (1 if wx > 0.0 else 0)) * tile - x) / wx
                    if wy != 0.0:
                        leave = min(leave, ((j // _COARSE + (1 if wy > 0.0 else 0)) * tile - y) / wy)
                    if wz < 0.0:
                        leave = min(leave, (roof - z) / wz)
                    t += leave + 1e-4 + 0.02 / norm
                elif z <= ground[j, i] or bottom[j, i] <= z <= top[j, i]:
                    found = t
                    break
                else:
                    t += step
            depth[v, u] = found


@njit(cache=True)
def _fill(ground, bottom, top, first_cell, out):  # type: ignore[no-untyped-def]
    cells = ground.shape[0]
    for x in range(out.shape[0]):
        for y in range(out.shape[1]):
            for part in range(4):
                i = int((first_cell[0] + x + SPAN / 2) / CELL) + (part & 1)
                j = int((first_cell[1] + y + SPAN / 2) / CELL) + (part >> 1)
                if i < 0 or j < 0 or i >= cells or j >= cells:
                    continue
                for z in range(out.shape[2]):
                    for part_z in range(2):
                        low = first_cell[2] + z + CELL * part_z
                        middle = low + CELL / 2
                        touched = low < ground[j, i] or (bottom[j, i] < low + CELL and top[j, i] > low)
                        if middle < ground[j, i] or bottom[j, i] < middle < top[j, i]:
                            out[x, y, z] = (0 if out[x, y, z] == 9 else out[x, y, z]) + 1
                        elif touched and out[x, y, z] == 0:
                            out[x, y, z] = 9
