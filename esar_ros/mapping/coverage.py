"""How much of the search area's ground the cameras have looked at, and from how near."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.inputs import DepthView, checked_depth, checked_pose, checked_range
from esar_ros.mapping.kernel import kernel


class Coverage:
    """Cells of a search area that a depth pixel ended in within the look range.

    A cell belongs to the area when its centre lies in the polygon. What is seen from above counts,
    be it ground or a crown over it.
    """

    def __init__(self, area: ArrayLike, look_range: float, cell: float = 4.0) -> None:
        """Polygon (N, 2) of the area in the map frame, without its first corner repeated; lengths in m."""
        corners = np.asarray(area, dtype=np.float64)
        if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3 or not np.isfinite(corners).all():
            raise MapInputError(f"not an area: {corners.tolist()}")
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
        # Best distance in m, inf where not seen; rows along y.
        self.best_distance: NDArray[np.float32] = np.full((rows, columns), np.inf, np.float32)

    def observe(self, view: DepthView) -> None:
        """Count what one depth picture shows. Raises MapInputError and counts nothing."""
        depth = checked_depth(view)
        rotation, position = checked_pose(view.pose)
        model = view.model
        pinhole = (float(model.fx), float(model.fy), float(model.cx), float(model.cy))
        look(depth, pinhole, rotation, position, self.origin, self.cell, self.look_range, self.best_distance)

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Which cells (rows = y, columns = x) of the area were seen."""
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
    origin: tuple[float, float],
    cell: float,
    look_range: float,
    best: NDArray[np.float32],
) -> None:
    """Lower the best look distance (m) of every cell in which a pixel of the picture ends."""
    fx, fy, cx, cy = pinhole
    rows, columns = best.shape
    xx, xy, xz = turn[0, 0], turn[0, 1], turn[0, 2]
    yx, yy, yz = turn[1, 0], turn[1, 1], turn[1, 2]
    px, py = position[0] - origin[0], position[1] - origin[1]
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
            column = math.floor((px + (xx * dx + xy * dy + xz) * z) / cell)
            row = math.floor((py + (yx * dx + yy * dy + yz) * z) / cell)
            if 0 <= row < rows and 0 <= column < columns and distance < best[row, column]:
                best[row, column] = distance
