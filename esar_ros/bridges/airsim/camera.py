"""Cameras and LiDAR of one AirSim vehicle, on a connection of their own."""

from __future__ import annotations

import json
import math

import numpy as np
from numpy.typing import NDArray

from esar_ros.bridges.airsim.client import AirSimClient, AirSimConnectionError, AirSimError, Caller
from esar_ros.bridges.airsim.connect import authorise
from esar_ros.bridges.airsim.types import (
    DEPTH_PLANAR,
    SCENE,
    SEGMENTATION,
    THERMAL,
    image_pixels,
    image_request,
    lidar_points,
)
from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame, FrameSet
from esar_ros.geometry.frames import frd_to_flu
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.vehicle import Vehicle

LIDAR = "lidar"  # sensor's name in the settings
LIDAR_FRAME = "SensorLocalFrame"  # of its points; AirSim's default is another


class AirSimCameras:
    """Fetches colour (greys of a thermal camera), depth and, where truth is read, object ids of all cameras at once."""

    def __init__(self, client: AirSimClient, vehicle: str, rig: Vehicle, segmentation: bool = False) -> None:
        """Raises UsageError where the rig carries a thermal camera and the server's vehicle does not.

        Raises AirSimConnectionError where the server does not answer.
        """
        self._client = client
        self._vehicle = vehicle
        self._rig = rig
        self._segmentation = segmentation
        if segmentation:
            authorise(self._client)
        if rig.thermal.mounted and not self._serves_thermal():
            raise UsageError(
                "the AirSim server has no thermal camera, which config/vehicle.yaml mounts",
                "fly in the embedded simulator, or set thermal.mounted to false there",
            )
        self._cameras = tuple(rig.eyes)
        kinds = [(SCENE, False), (DEPTH_PLANAR, True)] + ([(SEGMENTATION, True)] if segmentation else [])
        self._requests = [
            image_request(camera, THERMAL if kind == SCENE and camera == names.THERMAL else kind, as_float)
            for kind, as_float in kinds
            for camera in self._cameras
        ]

    def read(self) -> FrameSet:
        """Returns the frames of this instant, posed in base_link. Raises AirSimError."""
        answers = self._client.call("simGetImages", self._requests, self._vehicle, False)
        ns, n, frames = int(answers[0]["time_stamp"]), len(self._cameras), []
        for index, camera in enumerate(self._cameras):
            depth = self._depth(image_pixels(answers[n + index]))
            frames.append(
                CameraFrame(
                    camera,
                    _model_for(self._rig.model_of(camera), depth),
                    self._rig.eyes[camera].pose,
                    depth,
                    np.ascontiguousarray(image_pixels(answers[index])[..., ::-1]),
                    ns * 1e-9,
                    image_pixels(answers[2 * n + index]).astype(np.uint8) if self._segmentation else None,
                )
            )
        return FrameSet(ns, tuple(frames))

    def _serves_thermal(self) -> bool:
        try:
            return bool(self._client.call("esarHasThermalCamera", self._vehicle))
        except AirSimConnectionError:
            raise
        except AirSimError:  # a server of another make does not know the question
            return False

    def _depth(self, received: NDArray[np.float32]) -> NDArray[np.float32]:
        depth = received.copy()  # what was received is the client's buffer
        depth[depth > self._rig.image.depth_max] = np.inf
        return depth

    def close(self) -> None:
        """Closes the connection."""
        self._client.close()


class AirSimLidar:
    """Points of one LiDAR turn."""

    def __init__(self, client: Caller, vehicle: str) -> None:
        """Raises AirSimError where the server's settings say that its points are in another frame."""
        self._client = client
        self._vehicle = vehicle
        try:
            vehicles = json.loads(client.call("getSettingsString") or "{}").get("Vehicles", {})
            own = vehicles.get(vehicle, {}).get("Sensors", {}).get(LIDAR)
            frame = LIDAR_FRAME if own is None else own.get("DataFrame", "VehicleInertialFrame")
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise AirSimError(f"the server's settings cannot be read: {str(error)[:160]}") from None
        if frame != LIDAR_FRAME:
            cure = f'set "DataFrame": "{LIDAR_FRAME}" in settings.json'
            raise AirSimError(f"sensor '{LIDAR}' of {vehicle} answers in {str(frame)[:40]}: {cure}")

    def read(self) -> NDArray[np.float32]:
        """Points (N, 3), m, sensor's FLU frame. Raises AirSimError."""
        answer = self._client.call("getLidarData", LIDAR, self._vehicle)
        return frd_to_flu(lidar_points(answer)).astype(np.float32)

    def close(self) -> None:
        """Closes the connection."""
        self._client.close()


def _model_for(model: CameraModel, depth: NDArray[np.float32]) -> CameraModel:
    """Returns the intrinsics of the image that came: a server may be set to another size."""
    height, width = depth.shape
    if (height, width) == (model.height, model.width):
        return model
    return CameraModel.from_horizontal_fov(width, height, 2.0 * math.atan(model.width / (2.0 * model.fx)))
