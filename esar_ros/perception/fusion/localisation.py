"""The localisation of a 2D detection in the map, from the depth under the object's own pixels, with covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Vector
from esar_ros.perception.detectors.backend import Detection2D
from esar_ros.perception.detectors.object_depth import object_pixels
from esar_ros.perception.settings import LocalisationSettings
from esar_ros.perception.size_prior import side_of


@dataclass(frozen=True)
class Sighting:
    """A detection of an object in an image. Without depth it is a bearing: position, noise and range are None."""

    stamp: float  # s
    camera: str
    detection: Detection2D
    origin: Vector  # (3,) m, optical centre in the map
    bearing: Vector  # (3,) unit vector in the map
    pose_covariance: NDArray[np.float64]  # (6, 6) of the pose: m^2 and rad^2, about the map's axes
    position: Vector | None = None  # (3,) m, map
    noise: NDArray[np.float64] | None = None  # (3, 3) m^2, of the position, the pose taken as exact
    view_range: float | None = None  # m, camera to object
    extent: float = 0.0  # m, longer side of the visible part
    side: float = 0.0  # root of the box's area, m at one metre from the camera; 0: the picture's edge cuts it

    @property
    def covariance(self) -> NDArray[np.float64] | None:
        """Covariance (3, 3) of the position in m^2, map: its noise and the pose's error."""
        if self.position is None or self.noise is None:
            return None
        jacobian = pose_jacobian(self.position - self.origin)
        total = self.noise + jacobian @ self.pose_covariance @ jacobian.T
        return (total + total.T) / 2.0


def pose_jacobian(lever: Vector) -> NDArray[np.float64]:
    """Returns the Jacobian (3, 6) of a point at lever (m, map) from the camera by the pose (position, rotation)."""
    x, y, z = lever
    return np.array([[1.0, 0.0, 0.0, 0.0, z, -y], [0.0, 1.0, 0.0, -z, 0.0, x], [0.0, 0.0, 1.0, y, -x, 0.0]])


def localise(detection: Detection2D, frame: CameraFrame, settings: LocalisationSettings) -> Sighting:
    """Returns the sighting of a detection: the middle of its visible part, by the frame's depth and pose."""
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
    cut = (
        (x <= 0) + (x + width >= model.width),
        (y <= 0) + (y + height >= model.height),
    )
    if len(depths) < settings.min_depth_pixels:
        side = 0.0 if any(cut) else side_of(detection.box, 1.0, model)
        return Sighting(frame.stamp, frame.camera, detection, origin, bearing, pose_covariance, side=side)
    depth = float(np.median(depths))
    point = ray * depth

    lateral = [
        np.hypot(settings.pixel_sigma, side_px * (settings.centre_share + 0.5 * at_border)) * depth / focal
        for side_px, at_border, focal in zip((width, height), cut, (model.fx, model.fy), strict=True)
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
    """Returns the pose's covariance (6, 6); axes without a stated variance take the assumed one (REP-145)."""
    if covariance is None:
        return assumed
    stated = covariance.diagonal() > 0.0
    return np.where(np.outer(stated, stated), covariance, assumed)
