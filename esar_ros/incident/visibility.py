"""The ground that a look shows: each cell that lies in the picture and is hidden by no ridge, and how far it is."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from esar_ros.incident.features import Floats
from esar_ros.incident.ground import Ground, height_at
from esar_ros.incident.looks import Look
from esar_ros.mapping.kernels.kernel import kernel

STATURE = 0.4  # m above the ground of what is to be seen: somebody who sits or lies


class Seen(NamedTuple):
    """The N cells that a look shows."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    slant: Floats  # m, from the camera
    sine: Floats  # of the angle between the line of sight and the ground
    toward: Floats  # (N, 3) unit vectors from the cell to the camera: east, north, up

    def pixels(self, focal: float, size: float) -> Floats:
        """Returns how many pixels something of a size (m) across the line of sight covers; focal in px."""
        return focal * size / self.slant


def see(look: Look, ground: Ground, altitude: float, reach: float) -> Seen:
    """Returns the cells of the ground that a look shows within a reach (m).

    altitude: of the camera, m above the sea (`placing.camera_height`). Raises ValueError for a look without attitude or
    intrinsics.
    """
    rotation = look.rotation(ground.convergence(look.latitude, look.longitude))
    model = look.model
    if rotation is None or model is None:
        raise ValueError("a look without attitude or intrinsics shows nothing that is known")
    x, y = ground.to_grid(look.latitude, look.longitude)
    camera = np.array([(x - ground.west) / ground.cell, (ground.north - y) / ground.cell, altitude])
    rows, columns = ground.heights.shape
    span = reach / ground.cell
    low = (max(0, math.floor(camera[1] - span)), max(0, math.floor(camera[0] - span)))
    high = (min(rows, math.ceil(camera[1] + span)), min(columns, math.ceil(camera[0] + span)))
    if low[0] >= high[0] or low[1] >= high[1]:
        empty = np.zeros(0, np.int64)
        return Seen(empty, empty, np.zeros(0), np.zeros(0), np.zeros((0, 3)))
    lens = np.array([model.fx, model.fy, model.cx, model.cy, model.width, model.height])
    top = float(np.nanmax(ground.heights)) + STATURE
    slant = np.full((high[0] - low[0], high[1] - low[1]), np.nan)
    _mark(ground.heights, ground.cell, camera, rotation, lens, reach, top, np.array(low), slant)
    row, column = np.nonzero(np.isfinite(slant))
    far, row, column = slant[row, column], row + low[0], column + low[1]
    toward = np.stack(
        [
            (camera[0] - column - 0.5) * ground.cell,
            (row + 0.5 - camera[1]) * ground.cell,
            altitude - ground.heights[row, column] - STATURE,
        ],
        axis=1,
    ) / far[:, None]  # fmt: skip
    sine = np.maximum((toward * _normals(ground, row, column)).sum(axis=1), 0.0)
    return Seen(row, column, far, sine, toward)


def _normals(ground: Ground, row: NDArray[np.int64], column: NDArray[np.int64]) -> Floats:
    """Returns unit normals (N, 3) of the ground at cells, by their neighbours."""
    heights, (rows, columns) = ground.heights, ground.heights.shape
    left, right = np.maximum(column - 1, 0), np.minimum(column + 1, columns - 1)
    above, below = np.maximum(row - 1, 0), np.minimum(row + 1, rows - 1)
    east = (heights[row, right] - heights[row, left]) / ((right - left) * ground.cell)
    north = (heights[above, column] - heights[below, column]) / ((below - above) * ground.cell)
    normal = np.nan_to_num(np.stack([-east, -north, np.ones(len(row))], axis=1))
    return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True))


@kernel
def _mark(
    heights: NDArray[np.float64],
    cell: float,
    camera: NDArray[np.float64],
    rotation: NDArray[np.float64],
    lens: NDArray[np.float64],
    reach: float,
    top: float,
    low: NDArray[np.int64],
    slant: NDArray[np.float64],
) -> None:
    """Writes the distance (m) of each visible cell into a window whose upper left cell is `low` (row, column)."""
    for j in range(slant.shape[0]):
        for i in range(slant.shape[1]):
            ground = heights[low[0] + j, low[1] + i]
            if math.isnan(ground):
                continue
            across, along = low[1] + i + 0.5 - camera[0], low[0] + j + 0.5 - camera[1]
            east, north, up = across * cell, -along * cell, ground + STATURE - camera[2]
            far = math.sqrt(east * east + north * north + up * up)
            if far > reach:
                continue
            depth = rotation[0, 2] * east + rotation[1, 2] * north + rotation[2, 2] * up
            if depth <= 0.0:
                continue
            u = lens[0] * (rotation[0, 0] * east + rotation[1, 0] * north + rotation[2, 0] * up) / depth + lens[2]
            v = lens[1] * (rotation[0, 1] * east + rotation[1, 1] * north + rotation[2, 1] * up) / depth + lens[3]
            if not (0.0 <= u < lens[4] and 0.0 <= v < lens[5]):
                continue
            # From the cell towards the camera, at half cells, until the line is above all ground.
            steps = math.ceil(2.0 * math.sqrt(across * across + along * along))
            hidden = False
            for n in range(1, steps):
                share = n / steps
                height = ground + STATURE - share * up
                if height > top:
                    break
                over = height_at(heights, camera[0] + (1.0 - share) * across, camera[1] + (1.0 - share) * along)
                if over > height:
                    hidden = True
                    break
            if not hidden:
                slant[j, i] = far
