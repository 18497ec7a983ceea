"""Range driver node: `ranges` of a real vehicle, from its LiDAR's PointCloud2 or from depth images.

Lives in the vehicle's namespace, real time only. The drivers' topics are remapped to this graph's names. Stamps are
those of the sensor; of several depth images the oldest one's, so that the governor's limit on their age holds for all.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image, PointCloud2, PointField

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission import names
from esar_ros.mission.stamps import nanoseconds
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.stamps import to_stamp
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.messages.vehicle import range_image_message
from esar_ros.perception.ranges import DepthPooling, RangeGrid, merged_ranges, pool_ranges, unknown_above

LIDAR, DEPTH = "lidar", "depth"
TOGETHER = 100_000_000  # ns between the depth images that make one message


class RangeDriverNode(Node):
    """The only writer of `ranges` where no simulator is."""

    def __init__(self) -> None:
        super().__init__(node_names.RANGE_DRIVER)
        source = declare(self, "source", LIDAR, "what the ranges are made of", choices=(LIDAR, DEPTH))
        place = [
            float(declare(self, "x", 0.0, "m, of a LiDAR in base_link, forward", -10.0, 10.0)),
            float(declare(self, "y", 0.0, "m, of a LiDAR in base_link, to the left", -10.0, 10.0)),
            float(declare(self, "z", 0.0, "m, of a LiDAR in base_link, up", -10.0, 10.0)),
        ]
        about = "rad, to the left, of a LiDAR in base_link; it must stand level"
        turn = float(declare(self, "yaw", 0.0, about, -math.pi, math.pi))
        about = "degrees, up to which a LiDAR sees; what lies higher is unknown"
        self._top = math.radians(float(declare(self, "elevation_max", 30.0, about, -90.0, 90.0)))
        self._mount = Pose(np.array(place), quaternion_from_yaw(turn))
        self._vehicle = self.get_namespace().rsplit("/", 1)[-1] or "uav1"
        self._rig = load_vehicle()
        self._grid = RangeGrid.of(self._rig.lidar)
        self._newest: dict[str, Image] = {}  # depth, by camera
        self._models: dict[str, CameraModel] = {}
        self._poolings: dict[str, tuple[CameraModel, DepthPooling]] = {}
        self._sent = 0  # ns, stamp of the newest image in the last message
        entry = BY_NAME[names.RANGES]
        self._out = self.create_publisher(message_class(entry.type), names.RANGES, PROFILES[entry.quality])
        if source == LIDAR:
            self._listen(names.LIDAR_POINTS, self._on_cloud)
            return
        for camera in self._rig.cameras:
            self._listen(names.camera_depth(camera), lambda image, c=camera: self._newest.__setitem__(c, image))
            self._listen(names.camera_info(camera), lambda info, c=camera: self._on_info(c, info))
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0 / self._rig.rates.ranges, self._on_time, clock=steady)

    def _listen(self, topic: str, callback: Any) -> None:
        entry = BY_NAME[topic]
        self.create_subscription(message_class(entry.type), topic, callback, PROFILES[entry.quality])

    def _publish(self, ns: int, ranges: NDArray[np.float32]) -> None:
        self._out.publish(range_image_message(self._vehicle, self._grid, ranges, to_stamp(ns)))

    def _refuse(self, why: str) -> None:
        self.get_logger().warning(f"no ranges: {why}", throttle_duration_sec=5.0)

    def _on_cloud(self, cloud: PointCloud2) -> None:
        points = points_of(cloud)
        if points is None:
            self._refuse("a cloud without x, y and z as float32 of this machine's byte order, or of another size")
            return
        there = np.asarray(self._mount.apply(points), np.float32)
        ranges = unknown_above(pool_ranges(there, self._grid), self._grid, self._top)
        self._publish(nanoseconds(cloud.header.stamp), ranges)

    def _on_info(self, camera: str, info: CameraInfo) -> None:
        if info.width and info.height and info.k[0] > 0.0 and info.k[4] > 0.0:
            self._models[camera] = CameraModel(info.width, info.height, info.k[0], info.k[4], info.k[2], info.k[5])

    def _on_time(self) -> None:
        """Sends what the newest depth images show; a camera without one narrows it."""
        stamps = {c: nanoseconds(image.header.stamp) for c, image in self._newest.items() if c in self._models}
        newest = max(stamps.values(), default=0)
        if newest <= self._sent:
            return
        together = {camera: ns for camera, ns in stamps.items() if newest - ns <= TOGETHER}
        parts = [part for camera in together if (part := self._pooled(camera)) is not None]
        self._sent = newest
        if parts:
            self._publish(min(together.values()), merged_ranges(parts))

    def _pooled(self, camera: str) -> NDArray[np.float32] | None:
        image, model = self._newest[camera], self._models[camera]
        size = 4 * image.width * image.height
        if image.encoding != "32FC1" or image.is_bigendian or len(image.data) != size:
            self._refuse(f"the depth of {camera} is no 32FC1 image of its size")
            return None
        if (image.width, image.height) != (model.width, model.height):
            self._refuse(f"the depth of {camera} and its camera_info have different sizes")
            return None
        if camera not in self._poolings or self._poolings[camera][0] != model:
            self._poolings[camera] = model, DepthPooling(model, self._rig.cameras[camera].pose, self._grid)
        depth = np.frombuffer(image.data, np.float32).reshape(image.height, image.width)
        return self._poolings[camera][1].pool(depth)


def points_of(cloud: Any) -> NDArray[np.float32] | None:
    """Returns the points (N, 3) of a sensor_msgs/PointCloud2, m; None where it holds none that can be read."""
    offsets = {field.name: field.offset for field in cloud.fields if field.datatype == PointField.FLOAT32}
    whole = len(cloud.data) == cloud.point_step * cloud.width * cloud.height
    if cloud.is_bigendian or not whole or not cloud.point_step or not {"x", "y", "z"} <= set(offsets):
        return None
    if max(offsets[axis] for axis in "xyz") + 4 > cloud.point_step:
        return None
    kind = np.dtype(
        {"names": ["x", "y", "z"], "formats": ["<f4"] * 3, "offsets": [offsets[a] for a in "xyz"],
         "itemsize": cloud.point_step}
    )  # fmt: skip
    points = np.frombuffer(cloud.data, kind)
    return np.stack([points["x"], points["y"], points["z"]], axis=-1)


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [RangeDriverNode()])


if __name__ == "__main__":
    raise SystemExit(main())
