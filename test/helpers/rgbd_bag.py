"""Bags of colour and depth images, as a mission or as somebody's drivers record them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.bags.writer import BagWriter, typestore
from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose
from esar_ros.mission.vehicle import load_vehicle
from helpers.built_messages import SECOND, START, build, header

View = tuple[Pose, NDArray[np.float32], NDArray[np.uint8]]  # optical frame in the map, depth, colours
MOUNT = load_vehicle().cameras["down"].pose
ODOM = Pose(np.array([5.0, -3.0, 1.0]))  # in the map
TYPES = {
    "image": "sensor_msgs/msg/Image",
    "depth": "sensor_msgs/msg/Image",
    "camera_info": "sensor_msgs/msg/CameraInfo",
    "odometry": "nav_msgs/msg/Odometry",
    "tf": "tf2_msgs/msg/TFMessage",
    "brief": "esar_ros/msg/Brief",
}


class RgbdWriter:
    """Writes a vehicle's views into a bag."""

    def __init__(self, path: Path, model: CameraModel) -> None:
        self.bag, self.model = BagWriter(path), model

    def put(self, topic: str, kind: str, t: float, message: Any) -> None:
        self.bag.add_topic(topic, TYPES[kind], latched=int(topic == "/tf_static"))
        self.bag.write(topic, START + round(t * SECOND), bytes(typestore().serialize_cdr(message, TYPES[kind])))

    def frames(self, vehicle: str, odom: Pose = ODOM, *, joined: bool = True) -> None:
        """Writes the static frames of a vehicle; joined: also where its odometry begins in the map."""
        own = [transform(0.0, f"{vehicle}/base_link", f"{vehicle}/camera_down_optical", MOUNT)]
        own += [transform(0.0, "map", f"{vehicle}/odom", odom)] if joined else []
        self.put("/tf_static", "tf", 0.0, build(TYPES["tf"], transforms=own))

    def views(
        self,
        vehicle: str,
        views: Sequence[View],
        *,
        odom: Pose = ODOM,
        by_tf: bool = False,
        encodings: tuple[str, str] = ("rgb8", "32FC1"),
        padding: int = 0,
        skew: float = 0.0,
        period: float = 1.0,
        names: tuple[str, str, str] = ("camera/down/image", "camera/down/depth", "camera/down/camera_info"),
        distortion: float = 0.0,
    ) -> None:
        """Writes images with their intrinsics, and where base_link was a tenth of a period before and after each.

        encodings: of colour and depth. padding: bytes at the end of each row, negative: that are missing. skew: s, of
        colour after depth. period: s, between two views.
        """
        optical = f"{vehicle}/camera_down_optical"
        info = {"height": self.model.height, "width": self.model.width, "k": self.model.matrix.reshape(9)}
        for t, (pose, depth, rgb) in zip(np.arange(len(views)) * period, views, strict=True):
            base = odom.inverse().compose(pose).compose(MOUNT.inverse())
            for moment, share in ((t - 0.1 * period, -1.0), (t + 0.1 * period, 1.0)):
                moved = Pose(base.position + share * np.array([0.1, 0.2, 0.0]), base.quaternion)
                if by_tf:
                    edge = transform(moment, f"{vehicle}/odom", f"{vehicle}/base_link", moved)
                    self.put("/tf", "tf", moment, build(TYPES["tf"], transforms=[edge]))
                else:
                    self.put(f"/{vehicle}/odometry", "odometry", moment, odometry(moment, vehicle, moved))
            colours, planar = encoded(rgb, encodings[0], padding), encoded(depth, encodings[1], padding)
            d = np.array([distortion, 0.0, 0.0, 0.0, 0.0])
            stamped = build(TYPES["camera_info"], header=header(t, optical), d=d, **info)
            topics = dict(zip(("image", "depth", "camera_info"), (f"/{vehicle}/{name}" for name in names), strict=True))
            self.put(topics["camera_info"], "camera_info", t, stamped)
            self.put(topics["depth"], "depth", t, build(TYPES["depth"], header=header(t, optical), **planar))
            image = build(TYPES["image"], header=header(t + skew, optical), **colours)
            self.put(topics["image"], "image", t + skew, image)

    def close(self) -> None:
        self.bag.close()


def encoded(pixels: NDArray[Any], encoding: str, padding: int) -> dict[str, Any]:
    """Returns the fields of an Image message."""
    if encoding == "16UC1":
        pixels = np.where(np.isfinite(pixels), np.rint(1000.0 * pixels), 0.0).astype("<u2")
    elif encoding == "bgr8":
        pixels = pixels[..., ::-1]
    height, width = pixels.shape[:2]
    rows = np.ascontiguousarray(pixels).view(np.uint8).reshape(height, -1)
    padded = np.pad(rows, ((0, 0), (0, padding)), constant_values=255) if padding >= 0 else rows[:, :padding]
    return {"height": height, "width": width, "encoding": encoding, "step": padded.shape[1], "data": padded.flatten()}


def transform(t: float, parent: str, child: str, pose: Pose) -> Any:
    numbers = {"translation": vector(pose.position), "rotation": quaternion(pose.quaternion)}
    moved = build("geometry_msgs/msg/Transform", **numbers)
    return build("geometry_msgs/msg/TransformStamped", header=header(t, parent), child_frame_id=child, transform=moved)


def odometry(t: float, vehicle: str, pose: Pose) -> Any:
    position = build("geometry_msgs/msg/Point", **dict(zip("xyz", map(float, pose.position), strict=True)))
    placed = build("geometry_msgs/msg/Pose", position=position, orientation=quaternion(pose.quaternion))
    covariant = build("geometry_msgs/msg/PoseWithCovariance", pose=placed)
    stamp = header(t, f"{vehicle}/odom")
    return build(TYPES["odometry"], header=stamp, child_frame_id=f"{vehicle}/base_link", pose=covariant)


def vector(numbers: Any) -> Any:
    return build("geometry_msgs/msg/Vector3", **dict(zip("xyz", map(float, numbers), strict=True)))


def quaternion(numbers: Any) -> Any:
    return build("geometry_msgs/msg/Quaternion", **dict(zip("wxyz", map(float, numbers), strict=True)))
