"""The record of all looks: for each cell and side the best probability of detection (POD) of a look.

Looks at a cell from one side fail together - what hides somebody hides him from the next image too - so of one side
only the best look counts; looks from different sides count as independent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, Vector
from esar_ros.planning.belief.detection_probability import TABLE_RANGE, Curves, Detection

SIDES = 4  # quadrants that the camera may be in, seen from the cell


class LookMap:
    """The looks at the cells (rows = y, columns = x) of a box around the search area."""

    def __init__(self, corners: NDArray[np.float64], cell: float) -> None:
        """Takes the polygon (N, 2) of the search area and a cell's edge (m)."""
        self.cell = cell
        low = np.floor(corners.min(axis=0) / cell)
        columns, rows = (np.ceil(corners.max(axis=0) / cell) - low).astype(int)
        self.shape = (int(rows), int(columns))
        self.origin: Vector = low * cell
        self.person = np.zeros((SIDES, rows, columns))  # best probability of each side
        self.clue = np.zeros((rows, columns))  # best of all sides

    @property
    def x(self) -> NDArray[np.float64]:
        """Centres of the columns, m."""
        return self.origin[0] + (np.arange(self.shape[1]) + 0.5) * self.cell

    @property
    def y(self) -> NDArray[np.float64]:
        """Centres of the rows, m."""
        return self.origin[1] + (np.arange(self.shape[0]) + 0.5) * self.cell

    @property
    def missed(self) -> NDArray[np.float64]:
        """Probability (rows, columns) that all looks so far have missed somebody in a cell: 1 - cumulative POD."""
        return np.asarray(np.prod(1.0 - self.person, axis=0))

    def look(
        self,
        base: Pose,
        cameras: list[tuple[CameraModel, Pose]],
        plane: tuple[float, NDArray[np.float64]],
        detection: Detection,
    ) -> None:
        """Counts the images taken at a pose of base_link; plane: height and slope of the ground below (Terrain)."""
        reach, here = detection.reach, base.position
        first = np.floor((here[:2] - reach - self.origin) / self.cell).astype(int)
        last = np.ceil((here[:2] + reach - self.origin) / self.cell).astype(int)
        c0, r0 = np.maximum(first, 0)
        c1, r1 = np.minimum(last, self.shape[::-1])
        if c0 >= c1 or r0 >= r1:
            return
        dx, dy = np.meshgrid(self.x[c0:c1] - here[0], self.y[r0:r1] - here[1])
        height, slope = plane
        dz = height + slope[0] * dx + slope[1] * dy - here[2]
        offset = np.stack([dx, dy, dz], axis=-1)
        distance = np.linalg.norm(offset, axis=-1)
        seen = np.zeros(distance.shape, np.bool_)
        for model, mount in cameras:
            pose = base.compose(mount)
            _, inside = model.project((offset + here - pose.position) @ pose.rotation)
            seen |= inside
        sine = (-dz + slope[0] * dx + slope[1] * dy) / np.maximum(distance, 1e-9)
        factor = np.where(seen, detection.angle_factor(sine), 0.0)
        metres = np.minimum(np.rint(distance), TABLE_RANGE).astype(int)
        side = side_of(-dx, -dy)
        window = self.person[:, r0:r1, c0:c1]
        person = detection.person[metres] * factor
        for number in range(SIDES):
            np.maximum(window[number], np.where(side == number, person, 0.0), out=window[number])
        np.maximum(self.clue[r0:r1, c0:c1], detection.clue[metres] * factor, out=self.clue[r0:r1, c0:c1])

    def passed(self, start: Vector, end: Vector, beside: Curves, only_seen: bool = False) -> None:
        """Counts a straight flight as the looks in passing that plans expect of it.

        beside: curves by distance on the ground. Detections that a plan expected and the images did not bring are
        thereby written off, so that no leg is flown for the same expectation twice. only_seen: cells that no image
        has shown from that side are left out, as plans expect the looks of all cameras.
        """
        reach = len(beside.person) - 1
        low = np.maximum(np.floor((np.minimum(start, end) - reach - self.origin) / self.cell).astype(int), 0)
        high = np.ceil((np.maximum(start, end) + reach - self.origin) / self.cell).astype(int)
        high = np.minimum(high, self.shape[::-1])
        if (low >= high).any():
            return
        x, y = np.meshgrid(self.x[low[0] : high[0]], self.y[low[1] : high[1]])
        run = end - start
        length = float(np.linalg.norm(run))
        unit = run / length if length > 0.0 else np.zeros(2)
        along = np.clip((x - start[0]) * unit[0] + (y - start[1]) * unit[1], 0.0, length)
        dx, dy = start[0] + along * unit[0] - x, start[1] + along * unit[1] - y
        metres = np.minimum(np.hypot(dx, dy), reach).astype(int)
        side = side_of(dx, dy)
        window = self.person[:, low[1] : high[1], low[0] : high[0]]
        clue = self.clue[low[1] : high[1], low[0] : high[0]]
        np.maximum(clue, np.where((clue > 0.0) | (not only_seen), beside.clue[metres], 0.0), out=clue)
        for number in range(SIDES):
            counts = (side == number) & ((window[number] > 0.0) | (not only_seen))
            np.maximum(window[number], np.where(counts, beside.person[metres], 0.0), out=window[number])


def side_of(dx: NDArray[np.float64], dy: NDArray[np.float64]) -> NDArray[np.intp]:
    """Returns the quadrant of directions, 0..3: north-east, north-west, south-east, south-west."""
    return (dx < 0.0).astype(np.intp) + 2 * (dy < 0.0)
