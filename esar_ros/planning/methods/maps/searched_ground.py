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
        left = coverage.inside & ~coverage.covered
        _, labels, stats, _ = cv2.connectedComponentsWithStats(left.view(np.uint8), connectivity=8)
        large = stats[:, cv2.CC_STAT_AREA] * coverage.cell**2 >= _GAP
        large[0] = False  # what is not left
        cells = np.where(large[labels], UNKNOWN, np.where(coverage.inside, FREE, OCCUPIED)).astype(np.int8)
        return Grid(cells, coverage.cell, coverage.origin)
