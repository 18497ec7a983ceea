"""Cameras and LiDAR of one AirSim vehicle, on a connection of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from esar_ros.bridges.airsim.client import AirSimClient, Caller
from esar_ros.bridges.airsim.connect import authorise
from esar_ros.bridges.airsim.types import CameraImage, image_request, lidar_points
from esar_ros.geometry.frames import frd_to_flu

SCENE, DEPTH_PLANAR, SEGMENTATION = 0, 1, 5  # AirSim's ImageType
LIDAR = "lidar"  # sensor's name in the settings


@dataclass(frozen=True)
class CameraImages:
    """All cameras at one time, keyed by camera."""

    ns: int
    rgb: dict[str, NDArray[np.uint8]]  # (H, W, 3); none where nobody looks at colours
    depth: dict[str, NDArray[np.float32]]  # (H, W) planar m, +inf nothing in range
    ids: dict[str, NDArray[np.uint8]] = field(default_factory=dict)  # (H, W) object ids, if asked for


class AirSimCameras:
    """Fetches colour, depth and, for detectors that use ground truth, object ids of all cameras at once."""

    def __init__(
        self,
        client: AirSimClient,
        vehicle: str,
        cameras: Sequence[str],
        depth_max: float,
        segmentation: bool = False,
    ) -> None:
        self._client = client
        self._vehicle = vehicle
        self._cameras = tuple(cameras)
        self._depth_max = depth_max
        self._segmentation = segmentation
        if segmentation:
            authorise(self._client)
        kinds = [(SCENE, False), (DEPTH_PLANAR, True)] + ([(SEGMENTATION, True)] if segmentation else [])
        self._requests = [image_request(camera, kind, as_float) for kind, as_float in kinds for camera in self._cameras]

    def read(self) -> CameraImages:
        """Images of this instant. Raises AirSimError."""
        answers = self._client.call("simGetImages", self._requests, self._vehicle, False)
        n = len(self._cameras)
        images = [CameraImage.of(answer) for answer in answers]
        rgb = {image.camera: np.ascontiguousarray(image.pixels[..., ::-1]) for image in images[:n]}
        depth = {image.camera: self._depth(image.pixels) for image in images[n : 2 * n]}
        ids = {image.camera: image.pixels.astype(np.uint8) for image in images[2 * n :]}
        return CameraImages(images[0].stamp_ns, rgb, depth, ids)

    def _depth(self, received: NDArray[np.float32]) -> NDArray[np.float32]:
        depth = received.copy()  # what was received is the client's buffer
        depth[depth > self._depth_max] = np.inf
        return depth

    def close(self) -> None:
        """Closes the connection."""
        self._client.close()


class AirSimLidar:
    """Points of one LiDAR turn."""

    def __init__(self, client: Caller, vehicle: str) -> None:
        self._client = client
        self._vehicle = vehicle

    def read(self) -> NDArray[np.float32]:
        """Points (N, 3), m, sensor's FLU frame. Raises AirSimError."""
        answer = self._client.call("getLidarData", LIDAR, self._vehicle)
        return frd_to_flu(lidar_points(answer)).astype(np.float32)

    def close(self) -> None:
        """Closes the connection."""
        self._client.close()
