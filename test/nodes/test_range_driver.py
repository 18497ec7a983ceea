"""Ranges of a real vehicle's sensors: a cloud or depth images in, what the governor reads out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

SECOND = 1_000_000_000


def cloud(points: np.ndarray, ns: int = 5 * SECOND, fields: str = "ixyz") -> Any:
    """A PointCloud2 as LiDAR drivers send it: other fields beside x, y and z."""
    from sensor_msgs.msg import PointCloud2, PointField

    from esar_ros.nodes.core.stamps import to_stamp

    data = np.zeros((len(points), len(fields)), np.float32)
    for column, name in enumerate(fields):
        if name in "xyz":
            data[:, column] = points[:, "xyz".index(name)]
    message = PointCloud2(height=1, width=len(points), point_step=4 * len(fields), row_step=data.nbytes)
    message.fields = [PointField(name=n, offset=4 * k, datatype=7, count=1) for k, n in enumerate(fields)]
    message.data = data.tobytes()
    message.header.stamp = to_stamp(ns)
    return message


def test_points_are_read_by_their_fields_names() -> None:
    from esar_ros.nodes.messages.clouds import points_of

    points = np.random.default_rng(1).normal(size=(7, 3)).astype(np.float32)
    for fields in ("xyz", "ixyz", "zayxi"):
        read = points_of(cloud(points, fields=fields))
        assert read is not None
        np.testing.assert_array_equal(read, points)


@pytest.mark.parametrize("wrong", [{"is_bigendian": True}, {"width": 8}, {"point_step": 0}, {"point_step": 8}])
def test_a_cloud_that_cannot_be_read_gives_no_ranges(wrong: dict[str, Any]) -> None:
    from esar_ros.nodes.messages.clouds import points_of

    message = cloud(np.ones((7, 3)))
    for name, value in wrong.items():
        setattr(message, name, value)
    assert points_of(message) is None
    assert points_of(cloud(np.ones((7, 3)), fields="xya")) is None


def driver(**parameters: Any) -> Any:
    from rclpy.node import Node
    from rclpy.parameter import Parameter

    from esar_ros.nodes.range_driver import RangeDriverNode

    original, given = Node.__init__, [Parameter(key, value=value) for key, value in parameters.items()]
    Node.__init__ = lambda self, name: original(self, name, namespace="/uav1", parameter_overrides=given)  # type: ignore[method-assign]
    try:
        return RangeDriverNode()
    finally:
        Node.__init__ = original  # type: ignore[method-assign]


@pytest.fixture
def user(ros: Callable[..., bool]) -> Any:
    """A sensor driver, and what the governor would hear."""
    import rclpy

    from esar_ros.mission import names
    from esar_ros.msg import RangeImage
    from esar_ros.nodes.core.interface import BY_NAME
    from esar_ros.nodes.core.qos import PROFILES

    node = rclpy.create_node("sensor", namespace="/uav1")
    node.heard = []
    node.create_subscription(RangeImage, names.RANGES, node.heard.append, PROFILES[BY_NAME[names.RANGES].quality])
    return node


def ranges_of(message: Any) -> np.ndarray:
    return np.array(message.ranges, np.float32).reshape(message.rows, message.columns)


def test_a_lidars_cloud_becomes_ranges_with_its_stamp_and_place(ros: Callable[..., bool], user: Any) -> None:
    from sensor_msgs.msg import PointCloud2

    from esar_ros.mission import names
    from esar_ros.mission.stamps import nanoseconds
    from esar_ros.nodes.core.interface import BY_NAME
    from esar_ros.nodes.core.qos import PROFILES

    node = driver(x=0.5, yaw=math.pi / 2.0)
    send = user.create_publisher(PointCloud2, names.LIDAR_POINTS, PROFILES[BY_NAME[names.LIDAR_POINTS].quality])
    message = cloud(np.array([[4.0, 0.5, 0.0]] * 3))  # to the left of the vehicle, right above its origin's left

    def heard() -> bool:
        send.publish(message)
        return bool(user.heard)

    assert ros([node, user], heard)
    told = user.heard[-1]
    assert (nanoseconds(told.header.stamp), told.header.frame_id) == (5 * SECOND, "uav1/base_link")
    out = ranges_of(told)
    assert np.nanmin(out) == pytest.approx(4.0, abs=1e-3)
    _, column = np.unravel_index(np.nanargmin(out), out.shape)
    assert told.azimuth_min + (column + 0.5) * told.azimuth_step == pytest.approx(math.pi / 2.0, abs=told.azimuth_step)
    assert np.isnan(out).mean() > 0.9, "where no beam came back nothing is known"
    assert np.isnan(out[-12:]).all(), "nor above 30 degrees, unless elevation_max says that the LiDAR sees there"


def test_it_tells_the_rate_of_its_ranges_and_which_silence_is_whose(ros: Callable[..., bool], user: Any) -> None:
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
    from sensor_msgs.msg import PointCloud2

    from esar_ros.mission import names
    from esar_ros.nodes.core.interface import BY_NAME
    from esar_ros.nodes.core.qos import PROFILES

    node, told = driver(), []
    user.create_subscription(
        DiagnosticArray,
        names.DIAGNOSTICS,
        lambda m: told.append(m.status[0]),
        PROFILES[BY_NAME[names.DIAGNOSTICS].quality],
    )
    send = user.create_publisher(PointCloud2, names.LIDAR_POINTS, PROFILES[BY_NAME[names.LIDAR_POINTS].quality])
    whole, unreadable = cloud(np.array([[4.0, 0.5, 0.0]] * 3)), cloud(np.ones((7, 3)), fields="xya")

    def says(level: bytes, words: str, message: Any) -> Callable[[], bool]:
        def said() -> bool:
            if message is not None:
                send.publish(message)
            return bool(told) and told[-1].level == level and words in told[-1].message

        return said

    assert ros([node, user], says(DiagnosticStatus.ERROR, "no ranges: nothing comes of the sensors", None))
    assert (told[-1].name, told[-1].hardware_id) == ("uav1/range_driver: ranges", "uav1")
    assert ros([node, user], says(DiagnosticStatus.OK, " Hz", whole))
    assert ros([node, user], says(DiagnosticStatus.ERROR, "no ranges: a cloud without x, y and z", unreadable))


def test_depth_images_of_two_cameras_know_what_these_show(ros: Callable[..., bool], user: Any) -> None:
    from sensor_msgs.msg import CameraInfo, Image

    from esar_ros.mission import names
    from esar_ros.mission.stamps import nanoseconds
    from esar_ros.nodes.core.interface import BY_NAME
    from esar_ros.nodes.core.qos import PROFILES
    from esar_ros.nodes.core.stamps import to_stamp

    node = driver(source="depth")
    quality = PROFILES[BY_NAME[names.camera_depth("front")].quality]
    pictures = {c: user.create_publisher(Image, names.camera_depth(c), quality) for c in ("front", "down")}
    infos = {c: user.create_publisher(CameraInfo, names.camera_info(c), quality) for c in ("front", "down")}
    stamps = {"front": 5 * SECOND, "down": 5 * SECOND - 40_000_000}
    shown = {"front", "down"}

    def said(until: Callable[[], bool]) -> bool:
        for camera in shown:
            stamps[camera] += 200_000_000
            image = Image(height=60, width=80, encoding="32FC1", step=320)
            image.data = np.full((60, 80), 8.0, np.float32).tobytes()
            image.header.stamp = to_stamp(stamps[camera])
            infos[camera].publish(CameraInfo(width=80, height=60, k=[40.0, 0.0, 40.0, 0.0, 40.0, 30.0, 0.0, 0.0, 1.0]))
            pictures[camera].publish(image)
        return until()

    def known() -> int:
        return int(np.isfinite(ranges_of(user.heard[-1])).sum())

    assert ros([node, user], lambda: said(lambda: bool(user.heard) and known() > 150)), "both cameras"
    both = known()
    assert (stamps["down"] - nanoseconds(user.heard[-1].header.stamp)) % 200_000_000 == 0, "of the older one"
    shown.discard("down")
    assert ros([node, user], lambda: said(lambda: 0 < known() < both - 20)), "one camera narrows it"


def test_one_camera_of_millimetres_is_turned_as_it_is_mounted(ros: Callable[..., bool], user: Any) -> None:
    """As RealSense and OAK drivers send it: 16UC1, best effort."""
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import CameraInfo, Image

    from esar_ros.nodes.core.stamps import to_stamp

    node = driver(source="camera", yaw=math.pi / 2.0, range_max=10.0)
    pictures = user.create_publisher(Image, "depth", qos_profile_sensor_data)
    infos = user.create_publisher(CameraInfo, "camera_info", qos_profile_sensor_data)
    depth, count = np.full((60, 80), 4000, np.uint16), 0
    depth[:, 60:] = 0

    def said() -> bool:
        nonlocal count
        count += 1
        image = Image(height=60, width=80, encoding="16UC1", step=160, data=depth.tobytes())
        image.header.stamp = to_stamp(5 * SECOND + count * 100_000_000)
        infos.publish(CameraInfo(width=80, height=60, k=[40.0, 0.0, 40.0, 0.0, 40.0, 30.0, 0.0, 0.0, 1.0]))
        pictures.publish(image)
        return bool(user.heard)

    assert ros([node, user], said)
    told, out = user.heard[-1], ranges_of(user.heard[-1])
    assert told.range_max == 10.0
    level, left = told.rows // 2, told.columns * 3 // 4
    assert out[level, left] == pytest.approx(4.0, rel=0.05)
    assert np.isnan(out[level, left - 6]), "right of its axis nothing was measured"
    assert np.isnan(out[level, told.columns // 2]), "it does not look ahead"


def test_a_level_scan_with_the_distance_to_the_ground(ros: Callable[..., bool], user: Any) -> None:
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import LaserScan, Range

    from esar_ros.nodes.core.stamps import to_stamp

    node = driver(source="scan", yaw=math.pi / 2.0)
    scans = user.create_publisher(LaserScan, "scan", qos_profile_sensor_data)
    grounds = user.create_publisher(Range, "ground", qos_profile_sensor_data)
    angles = np.linspace(-math.pi, math.pi, 720, endpoint=False)
    measured = np.where(np.abs(angles) < 0.3, 3.0, np.inf)
    measured[np.abs(angles) > 2.8] = 99.0  # beyond its own reach: says nothing

    def said() -> bool:
        scan = LaserScan(angle_min=-math.pi, angle_increment=math.pi / 360.0, range_min=0.1, range_max=12.0)
        scan.ranges = measured.tolist()
        scan.header.stamp = to_stamp(5 * SECOND)
        ground = Range(min_range=0.1, max_range=30.0, range=7.0)
        ground.header.stamp = to_stamp(5 * SECOND - 20_000_000)
        grounds.publish(ground)
        scans.publish(scan)
        return bool(user.heard) and bool(np.isfinite(ranges_of(user.heard[-1])[0]).all())

    assert ros([node, user], said)
    told, out = user.heard[-1], ranges_of(user.heard[-1])
    level, left, ahead = told.rows // 2, told.columns * 3 // 4, told.columns // 2
    assert (out[level, left], out[0, 0], told.range_max) == (3.0, 7.0, 12.0)
    assert np.isposinf(out[level, ahead]) and np.isnan(out[level, told.columns // 4])
    assert np.isnan(out[level + 3]).all() and np.isnan(out[level - 4]).all(), "above and below nothing is known"


def test_a_scan_without_angles_gives_no_ranges(ros: Callable[..., bool], user: Any) -> None:
    from sensor_msgs.msg import LaserScan

    node = driver(source="scan")
    node._on_scan(LaserScan(ranges=[1.0, 2.0], angle_increment=math.nan))
    node._on_scan(LaserScan())
    assert not ros([node, user], lambda: bool(user.heard), 0.5)


def test_the_governor_takes_ranges_of_it_and_of_nobody_else(ros: Callable[..., bool], user: Any) -> None:
    from esar_ros.mission import names
    from esar_ros.msg import RangeImage
    from esar_ros.nodes.core.authority import Authority

    node, authority = driver(), Authority(user, "", (names.RANGES,))
    assert ros([node, user], lambda: len(user.get_publishers_info_by_topic("/uav1/ranges")) == 1)
    authority.look()
    assert authority.complaint == ""
    user.create_publisher(RangeImage, names.RANGES, 1)
    assert ros([node, user], lambda: "/uav1/sensor" in authority.complaint)
