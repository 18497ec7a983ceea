"""From a 2D detection to a place in the map: the depth under the object's own pixels, with covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.perception.detectors.backend import CameraFrame, Detection2D
from esar_ros.perception.detectors.object_depth import object_pixels
from esar_ros.perception.settings import LocalisationSettings


@dataclass(frozen=True)
class Sighting:
    """One object seen in one image. Without depth it is a bearing: position and the rest of it are None."""

    stamp: float  # s
    camera: str
    detection: Detection2D
    origin: Vector  # (3,) m, optical centre in the map
    bearing: Vector  # (3,) unit vector in the map
    pose_covariance: NDArray[np.float64]  # (6, 6) of the pose: m^2 and rad^2, about the map's axes
    position: Vector | None = None  # (3,) m, map
    noise: NDArray[np.float64] | None = None  # (3, 3) m^2, of the position, the pose taken as exact
    view_range: float | None = None  # m, camera to object
    extent: float = 0.0  # m, the longer side of what is visible

    @property
    def covariance(self) -> NDArray[np.float64] | None:
        """(3, 3) m^2, map: all that the position may be wrong by."""
        if self.position is None or self.noise is None:
            return None
        effect = pose_effect(self.position - self.origin)
        total = self.noise + effect @ self.pose_covariance @ effect.T
        return (total + total.T) / 2.0


def pose_effect(lever: Vector) -> NDArray[np.float64]:
    """(3, 6): how a small error of the pose (position, rotation) moves a point at lever (m, map) from the camera."""
    x, y, z = lever
    return np.array([[1.0, 0.0, 0.0, 0.0, z, -y], [0.0, 1.0, 0.0, -z, 0.0, x], [0.0, 0.0, 1.0, y, -x, 0.0]])


def localise(detection: Detection2D, frame: CameraFrame, settings: LocalisationSettings) -> Sighting:
    """Place a detection in the map by the frame's depth and pose: the middle of what is visible of it."""
    shown = object_pixels(detection, frame.depth)
    depths = shown.depths
    x, y, width, height = detection.box
    if len(depths):
        pixel = np.array([shown.columns.mean() + 0.5, shown.rows.mean() + 0.5])
    else:
        pixel = np.array([x + width / 2.0, y + height / 2.0])
    model, rotation, origin = frame.model, frame.pose.rotation, frame.pose.position
    ray = model.back_project(pixel, 1.0)
    bearing = rotation @ ray / np.linalg.norm(ray)
    pose_covariance = _stated(frame.pose_covariance, settings.pose.covariance)
    if len(depths) < settings.min_depth_pixels:
        return Sighting(frame.stamp, frame.camera, detection, origin, bearing, pose_covariance)
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
    along = settings.depth_sigma**2 + (settings.depth_relative_sigma * depth) ** 2 + float(np.var(depths)) + shown.doubt
    noise = np.diag([lateral[0] ** 2, lateral[1] ** 2, 0.0]) + np.outer(ray, ray) * along
    noise = rotation @ noise @ rotation.T
    return Sighting(
        stamp=frame.stamp,
        camera=frame.camera,
        detection=detection,
        origin=origin,
        bearing=bearing,
        pose_covariance=pose_covariance,
        position=rotation @ point + origin,
        noise=(noise + noise.T) / 2.0,
        view_range=float(np.linalg.norm(point)),
        extent=depth * max(width / model.fx, height / model.fy),
    )


def _stated(covariance: NDArray[np.float64] | None, assumed: NDArray[np.float64]) -> NDArray[np.float64]:
    """The pose's covariance (6, 6); of axes whose variance is not stated the assumed one's diagonal (REP-145)."""
    if covariance is None:
        return assumed
    stated = covariance.diagonal() > 0.0
    return np.where(np.outer(stated, stated), covariance, assumed)
