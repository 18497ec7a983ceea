"""The ground that the cameras have searched, as a map: searched cells are free in it, all others unknown.

A frontier is the rim of what has been explored, and explored is what a camera has shown within the range in which
things are told apart: indoors the range of the depth camera, some 5 m (VLFM, section IV-A; SemExp, section 3). From the
air depth reaches much farther than a person can be told from a rock. So ground counts as searched within the range
at which a person is seen, and the frontiers are the rim of that.
"""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mapping.layers.coverage import Coverage
from esar_ros.mission.observation import FREE, OCCUPIED, UNKNOWN, Grid

_GAP = 200.0  # m^2: smaller gaps have no frontier. VLFM's 1.5 m^2 at 5 m, at 60 m


class SearchedGround:
    """The part of the search area's ground that cameras have shown within a range."""

    def __init__(self, area: NDArray[np.float64], look_range: float) -> None:
        """Takes the polygon (N, 2) of the search area and the range (m) at which a person is seen."""
        self._coverage = Coverage(area, look_range)

    def observe(self, views: Iterable[CameraFrame]) -> None:
        """Adds the ground that images show."""
        for view in views:
            self._coverage.observe(view)

    def grid(self) -> Grid:
        """Returns the map: FREE where it is searched, UNKNOWN where it is not, OCCUPIED outside the area."""
        coverage = self._coverage
        left = np.empty(coverage.inside.shape, np.uint8)
        _find_left(coverage.inside, coverage.best_distance, left)
        _, labels, stats, _ = cv2.connectedComponentsWithStats(left, connectivity=8)
        large = stats[:, cv2.CC_STAT_AREA] * coverage.cell**2 >= _GAP
        large[0] = False  # what is not left
        cells = np.empty(left.shape, np.int8)
        _tell_apart(coverage.inside, labels, large, cells)
        return Grid(cells, coverage.cell, coverage.origin)


@njit(cache=True, nogil=True)
def _find_left(inside, best_distance, left):  # type: ignore[no-untyped-def]
    """Mark the cells (rows, columns) of the area that no camera has shown."""
    for row in range(left.shape[0]):
        for column in range(left.shape[1]):
            left[row, column] = inside[row, column] and not np.isfinite(best_distance[row, column])


@njit(cache=True, nogil=True)
def _tell_apart(inside, labels, large, cells):  # type: ignore[no-untyped-def]
    """Fill cells (rows, columns): UNKNOWN in large gaps (their numbers are labels), FREE elsewhere inside."""
    for row in range(cells.shape[0]):
        for column in range(cells.shape[1]):
            if not inside[row, column]:
                cells[row, column] = OCCUPIED
            else:
                cells[row, column] = UNKNOWN if large[labels[row, column]] else FREE
