"""Coverage of the search area's ground by the cameras, with the distance and angle of the best view."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.inputs import checked_depth, checked_pose, checked_range
from esar_ros.mapping.kernels.kernel import kernel


class LookLayers(NamedTuple):
    """The layers of a Coverage as its kernel takes them."""

    best_distance: NDArray[np.float32]
    steepest: NDArray[np.float32]
    quality: NDArray[np.float32]
    sectors: NDArray[np.uint8]
    looks: NDArray[np.uint16]


_LAYERS = LookLayers._fields


class Coverage:
    """Cells of a search area that a depth pixel ended in within the look range, and how well they were seen.

    A cell belongs to the area when its centre lies in the polygon. What is seen from above counts,
    be it ground or a crown over it. The quality of a look is (1 - distance / look range) times the
    sine of its angle below the horizon: 1 from right above, 0 at the look range or along the ground.
    All layers have rows along y.
    """

    def __init__(self, area: ArrayLike, look_range: float, cell: float = 4.0) -> None:
        """Polygon (N, 2) of the area in the map frame, without its first corner repeated; lengths in m."""
        corners = np.asarray(area, dtype=np.float64)
        if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3 or not np.isfinite(corners).all():
            raise MapInputError(f"not an area: {corners.tolist()}")
        self.area = corners
        self.look_range = checked_range(look_range)
        self.cell = checked_range(cell)
        low = np.floor(corners.min(axis=0) / self.cell)
        columns, rows = (np.ceil(corners.max(axis=0) / self.cell) - low).astype(int)
        self.origin: tuple[float, float] = (float(low[0] * self.cell), float(low[1] * self.cell))
        x = self.origin[0] + (np.arange(columns) + 0.5) * self.cell
        y = self.origin[1] + (np.arange(rows) + 0.5) * self.cell
        self.inside: NDArray[np.bool_] = _in_polygon(x[None, :], y[:, None], corners)
        if not self.inside.any():
            raise MapInputError(f"the area holds no cell of {self.cell} m")
        self.best_distance: NDArray[np.float32] = np.full((rows, columns), np.inf, np.float32)  # m, inf: not seen
        self.steepest: NDArray[np.float32] = np.full((rows, columns), -1.0, np.float32)  # sine below the horizon
        self.quality: NDArray[np.float32] = np.zeros((rows, columns), np.float32)  # of the best look, 0..1
        self.sectors: NDArray[np.uint8] = np.zeros((rows, columns), np.uint8)  # bit set: sides it was seen from
        self.looks: NDArray[np.uint16] = np.zeros((rows, columns), np.uint16)  # images that showed it
        self._seen = np.zeros((rows, columns), np.bool_)

    @property
    def layers(self) -> dict[str, NDArray[Any]]:
        """The layers accumulated over all views, by name."""
        return {name: getattr(self, name) for name in _LAYERS}

    def restore(self, layers: Mapping[str, NDArray[Any]]) -> None:
        """Restores the layers from a coverage of the same area. Raises MapInputError and changes nothing."""
        for name, own in self.layers.items():
            if name not in layers or layers[name].shape != own.shape or layers[name].dtype != own.dtype:
                raise MapInputError(f"the coverage in it is not of this area: {name}")
        for name, own in self.layers.items():
            own[...] = layers[name]

    def observe(self, view: CameraFrame) -> None:
        """Adds the ground seen in one depth image. Raises MapInputError and adds nothing."""
        depth = checked_depth(view)
        rotation, position = checked_pose(view.pose)
        model = view.model
        pinhole = (float(model.fx), float(model.fy), float(model.cx), float(model.cy))
        limits = (self.origin[0], self.origin[1], self.cell, self.look_range)
        look(depth, pinhole, rotation, position, limits, self._all, self._seen)

    @property
    def _all(self) -> LookLayers:
        return LookLayers(self.best_distance, self.steepest, self.quality, self.sectors, self.looks)

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Mask (rows = y, columns = x) of the area's cells that were seen."""
        return self.inside & np.isfinite(self.best_distance)

    @property
    def covered_area(self) -> float:
        """m^2 of the area seen."""
        return int(np.count_nonzero(self.covered)) * self.cell**2

    @property
    def search_area(self) -> float:
        """m^2 of all the area's cells."""
        return int(np.count_nonzero(self.inside)) * self.cell**2

    @property
    def share(self) -> float:
        """Share of the area seen, 0..1."""
        return self.covered_area / self.search_area


def _in_polygon(x: NDArray[np.float64], y: NDArray[np.float64], corners: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Even-odd rule for every point of the product of x (1, C) and y (R, 1)."""
    inside = np.zeros((y.shape[0], x.shape[1]), np.bool_)
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if y0 != y1:
            inside ^= ((y0 > y) != (y1 > y)) & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    return inside


@kernel
def look(
    depth: NDArray[np.float32],
    pinhole: tuple[float, float, float, float],
    turn: NDArray[np.float64],
    position: NDArray[np.float64],
    limits: tuple[float, float, float, float],
    layers: LookLayers,
    seen: NDArray[np.bool_],
) -> None:
    """Take note of an image in every cell in which one of its pixels ends.

    Limits are the lower corner's x and y, the cell's edge and the look range, in m; `seen` is scratch,
    False before and after.
    """
    fx, fy, cx, cy = pinhole
    left, bottom, cell, look_range = limits
    rows, columns = seen.shape
    xx, xy, xz = turn[0, 0], turn[0, 1], turn[0, 2]
    yx, yy, yz = turn[1, 0], turn[1, 1], turn[1, 2]
    zx, zy, zz = turn[2, 0], turn[2, 1], turn[2, 2]
    px, py = position[0] - left, position[1] - bottom
    touched = np.empty(depth.size, np.int32)
    count = 0
    for v in range(depth.shape[0]):
        dy = (v + 0.5 - cy) / fy
        for u in range(depth.shape[1]):
            z = float(depth[v, u])
            if not 0.0 < z <= look_range:
                continue
            dx = (u + 0.5 - cx) / fx
            distance = z * math.sqrt(1.0 + dx * dx + dy * dy)
            if distance > look_range:
                continue
            ax, ay = (xx * dx + xy * dy + xz) * z, (yx * dx + yy * dy + yz) * z
            column, row = math.floor((px + ax) / cell), math.floor((py + ay) / cell)
            if not (0 <= row < rows and 0 <= column < columns):
                continue
            down = -(zx * dx + zy * dy + zz) * z / distance
            quality = (1.0 - distance / look_range) * down
            layers.best_distance[row, column] = min(layers.best_distance[row, column], distance)
            layers.steepest[row, column] = max(layers.steepest[row, column], down)
            layers.quality[row, column] = max(layers.quality[row, column], quality)
            if not seen[row, column]:
                seen[row, column] = True
                touched[count] = row * columns + column
                count += 1
                # The side the camera is on, as one of eight octants.
                octant = (4 if ax < 0.0 else 0) | (2 if ay < 0.0 else 0) | (1 if abs(ax) < abs(ay) else 0)
                layers.sectors[row, column] |= np.uint8(1 << octant)
    for n in range(count):
        row, column = touched[n] // columns, touched[n] % columns
        seen[row, column] = False
        layers.looks[row, column] = min(layers.looks[row, column] + 1, 65535)
