"""A named host is told, as CoT, where a vehicle is and what it reports; nothing before the mission runs."""

from __future__ import annotations

import math
import socket
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import rclpy
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from rclpy.parameter import Parameter
from sensor_msgs.msg import BatteryState, NavSatFix
from tf2_msgs.msg import TFMessage

from esar_ros.geometry.frames import Pose
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.formats import cot
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.msg import Brief, MissionState, Report
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.types import message_class

Spin = Callable[..., bool]
ORIGIN = Origin(46.6, 8.0, 1500.0)


@pytest.fixture
def client() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.bind(("127.0.0.1", 0))
        bound.setblocking(False)
        yield bound


def bridge_to(port: int | str) -> Any:
    from esar_ros.nodes.tools.cot_bridge import CotBridgeNode

    return CotBridgeNode([Parameter("to", value=f"127.0.0.1:{port}")])


def test_a_vehicle_and_its_finds_are_told_while_it_flies(ros: Spin, client: socket.socket) -> None:
    pytak = pytest.importorskip("pytak")
    bridge = bridge_to(client.getsockname()[1])
    mission = rclpy.create_node("mission")
    nodes = [mission, bridge]
    heard: list[ET.Element] = []

    def send(topic: str, message: Any) -> None:
        if topic not in publishers:
            name = topic if topic.startswith("/") else f"uav1/{topic}"
            entry = BY_NAME[topic]
            publishers[topic] = mission.create_publisher(message_class(entry.type), name, PROFILES[entry.quality])
        publishers[topic].publish(message)

    def has(kind: str) -> bool:
        try:
            while True:
                heard.append(ET.fromstring(client.recv(65_536)))
        except BlockingIOError:
            pass
        return any(event.get("type") == kind for event in heard)

    publishers: dict[str, Any] = {}
    frame = TransformStamped()
    frame.child_frame_id = names.vehicle_frame("uav1", names.ODOM)
    frame.transform.translation.x, frame.transform.rotation.w = 100.0, 1.0
    moved = Odometry()
    moved.pose.pose.position.y, moved.pose.pose.position.z, moved.pose.pose.orientation.w = 50.0, 40.0, 1.0
    moved.twist.twist.linear.x = 5.0
    brief = Brief(mission_id="valley", origin_latitude=46.6, origin_longitude=8.0, origin_altitude=1500.0)
    send(names.BRIEF, brief)
    send(names.TF_STATIC, TFMessage(transforms=[frame]))
    send(names.ODOMETRY, moved)
    send(names.MISSION_STATE, MissionState(phase=MissionState.PREPARING))
    assert not ros(nodes, lambda: has(cot.DRONE), 2.5), "nothing flies yet"
    send(names.MISSION_STATE, MissionState(phase=MissionState.RUNNING))
    assert ros(nodes, lambda: publishers[names.ODOMETRY].get_subscription_count() == 1)

    def is_shown() -> bool:
        send(names.ODOMETRY, moved)
        send(names.BATTERY, BatteryState(percentage=0.62))
        return has(cot.DRONE) and any("battery: 62%" in (e.findtext("detail/remarks") or "") for e in heard)

    assert ros(nodes, is_shown)
    event: Any = heard[-1]
    latitude, longitude, _ = ORIGIN.to_geodetic([100.0, 50.0, 40.0])
    point = event.find("point")
    assert float(point.get("lat")) == pytest.approx(latitude, abs=1e-6)
    assert float(point.get("lon")) == pytest.approx(longitude, abs=1e-6)
    assert event.attrib.keys() == pytak.cot_event(lat=1.0, lon=2.0).attrib.keys()
    assert (event.find("detail/track").get("course"), event.find("detail/track").get("speed")) == ("90.0", "5.0")
    send(names.REPORTS, Report(seq=1, type=Report.VICTIM, kind="person", text="red jacket", confidence=0.8))
    fix = NavSatFix(latitude=46.601, longitude=8.002)
    fix.position_covariance = [4.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 1.0]
    fix.position_covariance_type = NavSatFix.COVARIANCE_TYPE_KNOWN
    send(names.REPORT_FIXES, fix)
    assert ros(nodes, lambda: has(cot.SPOT))
    found: Any = next(event for event in heard if event.get("type") == cot.SPOT)
    assert (found.find("point").get("lat"), found.find("point").get("lon")) == ("46.60100000", "8.00200000")
    assert found.find("point").get("ce") == "3.00" and "person 80 %" in found.find("detail/contact").get("callsign")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda odometry, report, fix: setattr(odometry.pose.pose.position, "x", math.nan),
        lambda odometry, report, fix: setattr(odometry.pose.pose.orientation, "w", 0.0),
        lambda odometry, report, fix: setattr(odometry.twist.twist.linear, "x", math.inf),
        lambda odometry, report, fix: setattr(fix, "latitude", math.nan),
        lambda odometry, report, fix: setattr(fix, "position_covariance", [math.nan] * 9),
        lambda odometry, report, fix: setattr(report, "confidence", math.nan),
    ],
    ids=["position", "attitude", "speed", "latitude", "covariance", "confidence"],
)
def test_numbers_that_are_none_end_nothing(ros: Spin, client: socket.socket, spoil: Callable[..., None]) -> None:
    bridge = bridge_to(client.getsockname()[1])
    ros([bridge], lambda: True)
    report = Report(seq=1, type=Report.VICTIM, kind="person", confidence=0.8)
    fix = NavSatFix(latitude=46.601, longitude=8.002, position_covariance_type=NavSatFix.COVARIANCE_TYPE_KNOWN)
    odometry = Odometry()
    odometry.pose.pose.orientation.w = 1.0
    spoil(odometry, report, fix)
    bridge._origin, known = ORIGIN, bridge._vehicles["uav1"]
    known.odom_in_map, known.odometry, known.reports, known.fixes = Pose(), odometry, [report], [fix]
    bridge._on_time()
    told = client.recv(65_536)
    assert b"nan" not in told.lower().replace(b"nan %", b"") and b"inf" not in told.lower()


def test_where_nobody_can_be_told_it_is_refused_at_the_start(ros: Spin) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        bridge_to("port")
