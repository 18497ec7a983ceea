"""From a 2D detection to a place in the map: the depth under the object's own pixels, with covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.perception.backend import CameraFrame, Detection2D
from esar_ros.perception.settings import LocalisationSettings

_TRIM = (0.1, 0.9)  # share of the object's depths kept, between these quantiles
_CLUSTER = 0.05  # of the range: thickness of the cluster taken for the object when no mask is known
_CLUSTER_LEAST = 1.0  # m


@dataclass(frozen=True)
class Sighting:
    """One object seen in one picture. Without depth it is a bearing: position and the rest of it are None."""

    stamp: float  # s
    camera: str
    detection: Detection2D
    origin: Vector  # (3,) m, optical centre in the map
    bearing: Vector  # (3,) unit vector in the map
    position: Vector | None = None  # (3,) m, map
    covariance: NDArray[np.float64] | None = None  # (3, 3) m^2, map
    view_range: float | None = None  # m, camera to object


def localise(detection: Detection2D, frame: CameraFrame, settings: LocalisationSettings) -> Sighting:
    """Place a detection in the map by the frame's depth and pose.

    The range is the median of the trimmed depths of the mask's pixels; without a mask, of the
    depths close behind the box's lower quartile, since a box also holds ground behind the object.
    """
    rows, columns, depths = _object_depths(detection, frame.depth)
    x, y, width, height = detection.box
    if len(depths):
        pixel = np.array([columns.mean() + 0.5, rows.mean() + 0.5])
    else:
        pixel = np.array([x + width / 2.0, y + height / 2.0])
    model, rotation, origin = frame.model, frame.pose.rotation, frame.pose.position
    ray = model.back_project(pixel, 1.0)
    bearing = rotation @ ray / np.linalg.norm(ray)
    if len(depths) < settings.min_depth_pixels:
        return Sighting(frame.stamp, frame.camera, detection, origin, bearing)
    depth = float(np.median(depths))
    point = ray * depth

    cut = (
        (x <= 0) + (x + width >= model.width),
        (y <= 0) + (y + height >= model.height),
    )
    lateral = [
        np.hypot(settings.pixel_sigma, extent * (settings.centre_share + 0.5 * at_border)) * depth / focal
        for extent, at_border, focal in zip((width, height), cut, (model.fx, model.fy), strict=True)
    ]
    along = np.sqrt(settings.depth_sigma**2 + (settings.depth_relative_sigma * depth) ** 2 + float(np.var(depths)))
    covariance = np.diag([lateral[0] ** 2, lateral[1] ** 2, 0.0]) + np.outer(ray, ray) * along**2
    # A small turn of the camera by w moves the point by w x p.
    lever = _cross_matrix(point) * settings.attitude_sigma
    covariance = rotation @ (covariance + lever @ lever.T) @ rotation.T + np.eye(3) * settings.position_sigma**2
    return Sighting(
        stamp=frame.stamp,
        camera=frame.camera,
        detection=detection,
        origin=origin,
        bearing=bearing,
        position=rotation @ point + origin,
        covariance=(covariance + covariance.T) / 2.0,
        view_range=float(np.linalg.norm(point)),
    )


def _object_depths(
    detection: Detection2D, depth: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Rows, columns and depths (N,) of the pixels taken for the object itself."""
    x, y, width, height = detection.box
    top, left = max(y, 0), max(x, 0)
    crop = depth[top : max(y + height, 0), left : max(x + width, 0)].astype(np.float64)
    valid = np.isfinite(crop) & (crop > 0.0)
    if detection.mask is not None:
        valid &= detection.mask[top - y :, left - x :][: crop.shape[0], : crop.shape[1]]
    rows, columns = np.nonzero(valid)
    depths = crop[rows, columns]
    if len(depths):
        if detection.mask is not None:
            low, high = np.quantile(depths, _TRIM)
        else:
            front = float(np.quantile(depths, 0.25))
            thickness = max(_CLUSTER_LEAST, _CLUSTER * front)
            low, high = front - thickness, front + thickness
        keep = (low <= depths) & (depths <= high)
        rows, columns, depths = rows[keep], columns[keep], depths[keep]
    return rows + top, columns + left, depths


def _cross_matrix(v: Vector) -> NDArray[np.float64]:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
