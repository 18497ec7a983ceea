"""Visibility of map positions in an image: within its frame, near enough, and unobstructed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera_frame import CameraFrame

_EDGE = 0.08  # share of the image's sides, at its edges, in which an object may be cut or placed outside by error
_SLACK, _SLACK_SHARE = 1.0, 0.05  # m, and share of the depth, by which what is seen there may be nearer


def unobstructed(frame: CameraFrame, places: NDArray[np.float64], farthest: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Returns which of places (N, 3; m, map) an image shows, from no farther off than `farthest` (N,; m), as a mask
    (N,).

    A place counts as hidden where the depth camera sees something nearer or nothing valid.
    """
    points = (places - frame.pose.position) @ frame.pose.rotation
    pixels, _ = frame.model.project(points)
    size = np.array([frame.model.width, frame.model.height], dtype=np.float64)
    inside = ((pixels >= _EDGE * size) & (pixels < (1.0 - _EDGE) * size)).all(axis=1) & (points[:, 2] > 0.0)
    shown = inside & (np.linalg.norm(points, axis=1) <= farthest)
    index = np.flatnonzero(shown)
    columns, rows = pixels[index].astype(np.int64).T
    shown[index] = frame.depth[rows, columns] >= points[index, 2] * (1.0 - _SLACK_SHARE) - _SLACK  # false for NaN
    return np.asarray(shown)
