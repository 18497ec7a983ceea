"""Cameras and LiDAR of one AirSim vehicle, on a connection of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.bridges.airsim_client import AirSimClient
from esar_ros.bridges.airsim_connect import authorise
from esar_ros.geometry.frames import frd_to_flu

SCENE, DEPTH_PLANAR, SEGMENTATION = 0, 1, 5  # AirSim's ImageType
LIDAR = "lidar"  # sensor's name in the settings


@dataclass(frozen=True)
class Pictures:
    """All cameras at one time, keyed by camera."""

    ns: int
    rgb: dict[str, NDArray[np.uint8]]  # (H, W, 3)
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
        self._requests = [
            {"camera_name": camera, "image_type": kind, "pixels_as_float": as_float, "compress": False}
            for kind, as_float in kinds
            for camera in self._cameras
        ]

    def read(self) -> Pictures:
        """Pictures of this instant. Raises AirSimError."""
        answers = self._client.call("simGetImages", self._requests, self._vehicle, False)
        n = len(self._cameras)
        rgb = {c: _colour(a) for c, a in zip(self._cameras, answers[:n], strict=True)}
        depth = {c: self._depth(a) for c, a in zip(self._cameras, answers[n : 2 * n], strict=True)}
        ids = {c: _floats(a).astype(np.uint8) for c, a in zip(self._cameras, answers[2 * n :], strict=False)}
        return Pictures(int(answers[0]["time_stamp"]), rgb, depth, ids)

    def _depth(self, answer: dict[str, Any]) -> NDArray[np.float32]:
        depth = _floats(answer).copy()
        depth[depth > self._depth_max] = np.inf
        return depth

    def close(self) -> None:
        """Hang up."""
        self._client.close()


class AirSimLidar:
    """Points of one LiDAR turn."""

    def __init__(self, client: AirSimClient, vehicle: str) -> None:
        self._client = client
        self._vehicle = vehicle

    def read(self) -> NDArray[np.float32]:
        """Points (N, 3), m, sensor's FLU frame. Raises AirSimError."""
        answer = self._client.call("getLidarData", LIDAR, self._vehicle)
        flat = np.asarray(answer["point_cloud"], dtype=np.float32)
        points = flat[: len(flat) // 3 * 3].reshape(-1, 3)  # AirSim answers one lone zero for "no point"
        return frd_to_flu(points).astype(np.float32)

    def close(self) -> None:
        """Hang up."""
        self._client.close()


def _colour(answer: dict[str, Any]) -> NDArray[np.uint8]:
    flat = np.frombuffer(answer["image_data_uint8"], dtype=np.uint8)
    bgr = flat.reshape(int(answer["height"]), int(answer["width"]), 3)
    return np.ascontiguousarray(bgr[..., ::-1])


def _floats(answer: dict[str, Any]) -> NDArray[np.float32]:
    flat = np.asarray(answer["image_data_float"], dtype=np.float32)
    return flat.reshape(int(answer["height"]), int(answer["width"]))
