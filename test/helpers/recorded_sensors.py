"""A bag as a vehicle's drivers would leave it: a front and a down camera and a LiDAR, six metres above level ground."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.bags.files import open_bag
from esar_ros.bags.writer import BagWriter
from esar_ros.geometry.camera import CameraModel
from esar_ros.mission import names
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.stamps import to_stamp
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.tools.restamp import restamp

HEIGHT = 6.0  # m
CAMERAS = ("front", "down")
SECONDS, PICTURES, SCANS = 4.0, 2.0, 10.0  # s; Hz
BEGIN = 1_700_000_000_000_000_000  # ns, when it was recorded
MODEL = CameraModel.from_horizontal_fov(160, 120, math.pi / 2.0)


def depth_of(camera: str) -> NDArray[np.float32]:
    """Returns the planar depth (H, W), m, of level ground; +inf where there is none in reach."""
    down = -(MODEL.rays() @ load_vehicle().cameras[camera].pose.rotation.T)[..., 2]
    with np.errstate(divide="ignore"):
        depth = np.where(down > 0.0, HEIGHT / down, np.inf)
    return np.where(depth > 120.0, np.inf, depth).astype(np.float32)


def scan() -> NDArray[np.float32]:
    """Returns the echoes (N, 3) of level ground, m, base_link."""
    around, below = np.meshgrid(np.radians(np.arange(-180.0, 180.0, 2.0)), np.radians(np.arange(-89.0, -7.0, 3.0)))
    level = HEIGHT / np.tan(-below)
    return np.stack([level * np.cos(around), level * np.sin(around), np.full(level.shape, -HEIGHT)], -1).reshape(-1, 3)


def record(path: Path, space: str = "/uav1") -> Path:
    """Writes the bag; returns its folder."""
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import CameraInfo, Image, PointCloud2, PointField

    writer = BagWriter(path)

    def write(name: str, ns: int, message: Any) -> None:
        message.header.stamp = to_stamp(ns)
        writer.add_topic(f"{space}/{name}", BY_NAME[name].type)
        writer.write(f"{space}/{name}", ns, bytes(serialize_message(message)))

    echoes = scan().astype(np.float32)
    cloud = PointCloud2(height=1, width=len(echoes), point_step=12, row_step=echoes.nbytes, data=echoes.tobytes())
    cloud.fields = [PointField(name=name, offset=4 * k, datatype=7, count=1) for k, name in enumerate("xyz")]
    size = {"height": MODEL.height, "width": MODEL.width}
    colours = np.random.default_rng(0).integers(60, 120, (*MODEL.rays().shape[:2], 3), np.uint8)
    for k in range(round(SECONDS * SCANS)):
        ns = BEGIN + round(k * 1e9 / SCANS)
        write(names.LIDAR_POINTS, ns, cloud)
        if k % round(SCANS / PICTURES) == 0:
            for camera in CAMERAS:
                rgb = Image(**size, encoding="rgb8", step=3 * MODEL.width, data=colours.tobytes())
                depth = Image(**size, encoding="32FC1", step=4 * MODEL.width, data=depth_of(camera).tobytes())
                write(names.camera_info(camera), ns, CameraInfo(**size, k=MODEL.matrix.reshape(9)))
                write(names.camera_image(camera), ns, rgb)
                write(names.camera_depth(camera), ns, depth)
    writer.close()
    return path


class Player:
    """Publishes the bag's messages again and again from a node, each stamped with the time at which it is sent.

    The player of the project refuses a domain in which somebody flies; here the vehicle stands, and no topic of the bag
    moves it.
    """

    def __init__(self, node: Any, path: Path, topics: tuple[str, ...]) -> None:
        """topics: how the names of those end that are played."""
        self._node, self._next = node, 0
        with open_bag(path) as bag:
            chosen = [c for c in bag.connections if c.topic.endswith(topics)]
            self._messages = [(c.topic, c.msgtype, ns, bytes(raw)) for c, ns, raw in bag.messages(chosen)]
        self._out = {
            topic: node.create_publisher(message_class(kind), topic, PROFILES[BY_NAME[topic.split("/", 2)[2]].quality])
            for topic, kind in {(topic, kind) for topic, kind, _, _ in self._messages}
        }
        self._begun = node.get_clock().now().nanoseconds

    def step(self) -> None:
        """Publishes what is due."""
        now = self._node.get_clock().now().nanoseconds
        while True:
            turn, index = divmod(self._next, len(self._messages))
            topic, kind, ns, raw = self._messages[index]
            shift = self._begun - BEGIN + turn * round(SECONDS * 1e9)
            if ns + shift > now:
                return
            self._out[topic].publish(restamp(raw, kind, shift))
            self._next += 1
