"""CoT bridge node: where the vehicles are and what they report, for clients of TAK at a host that somebody has named.

Nothing comes in this way, and nothing is sent anywhere else. Until the mission runs only latched topics are read, as
in nodes/viewer.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import NavSatFix

from esar_ros.geometry.frames import FARTHEST, Pose, motion_in_parent
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import Find, Position, Search
from esar_ros.incident.formats import cot
from esar_ros.mission import names
from esar_ros.mission.clues import PERSON
from esar_ros.mission.errors import UsageError
from esar_ros.msg import MissionState, Report
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.messages.convert import array3, pose_of, pose_of_transform

PERIOD = 1.0  # s wall between two events of a vehicle
AGAIN = 10  # periods after which all finds are sent again: a datagram may be lost
ALWAYS = (names.BRIEF, names.MISSION_STATE, names.TF_STATIC)
RUNNING = (names.ODOMETRY, names.BATTERY, names.REPORTS, names.REPORT_FIXES)


@dataclass
class _Vehicle:
    odom_in_map: Pose | None = None
    odometry: Any = None  # the newest
    battery: float | None = None
    reports: list[Any] = field(default_factory=list)
    fixes: list[NavSatFix] = field(default_factory=list)  # in the order of the reports


class CotBridgeNode(Node):
    """Sends a vehicle's place once a second and each find as it is reported, as datagrams of CoT."""

    def __init__(self, overrides: Sequence[Parameter] = ()) -> None:
        """Raises UsageError where the host is not known. overrides: of its parameters."""
        super().__init__(node_names.COT_BRIDGE, parameter_overrides=list(overrides))
        vehicles = list(declare(self, "vehicles", ["uav1"], "names of the vehicles"))
        to = str(declare(self, "to", "", "HOST:PORT of a TAK client or a multicast group, by UDP"))
        self._link = cot.Link(*cot.address_of(to))
        self._vehicles = {vehicle: _Vehicle() for vehicle in vehicles}
        self._mission = ""
        self._origin: Origin | None = None
        self._running, self._periods, self._told, self._failed = False, 0, 0, False
        for vehicle in vehicles:
            for topic in ALWAYS:
                self._listen(vehicle, topic)
        self.create_timer(PERIOD, self._on_time, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _listen(self, vehicle: str, topic: str) -> None:
        entry = BY_NAME[topic]
        name = topic if topic.startswith("/") else f"{vehicle}/{topic}"
        take = partial(self._take, vehicle, topic)
        self.create_subscription(message_class(entry.type), name, take, PROFILES[entry.quality])

    def _take(self, vehicle: str, topic: str, message: Any) -> None:
        known = self._vehicles[vehicle]
        if topic == names.BRIEF:
            if message.mission_id != self._mission:
                self._mission = message.mission_id
                for each in self._vehicles.values():
                    each.reports, each.fixes = [], []
            places = message.origin_latitude, message.origin_longitude, message.origin_altitude
            self._origin = Origin(*places) if any(places[:2]) else None
        elif topic == names.MISSION_STATE:
            if message.phase != MissionState.PREPARING and not self._running:
                self._running = True
                for each in self._vehicles:
                    for wanted in RUNNING:
                        self._listen(each, wanted)
        elif topic == names.TF_STATIC:
            for transform in message.transforms:
                if transform.child_frame_id == names.vehicle_frame(vehicle, names.ODOM):
                    known.odom_in_map = pose_of_transform(transform.transform)
        elif topic == names.ODOMETRY:
            known.odometry = message
        elif topic == names.BATTERY:
            known.battery = float(message.percentage) if math.isfinite(message.percentage) else None
        elif topic == names.REPORTS:
            known.reports.append(message)
        elif topic == names.REPORT_FIXES:
            known.fixes.append(message)

    def _on_time(self) -> None:
        if self._origin is None:
            return
        events = [event for vehicle in self._vehicles if (event := self._place(vehicle, self._origin)) is not None]
        finds = [find for vehicle in self._vehicles for find in self._finds(vehicle)]
        self._periods += 1
        if len(finds) != self._told or self._periods % AGAIN == 0:
            self._told = len(finds)
            events += cot.events(Search(self._mission, finds=finds))
        try:
            for event in events:
                self._link.send(ET.tostring(event, encoding="utf-8", xml_declaration=True))
            self._failed = False
        except UsageError as error:  # the flight goes on, and a network comes back
            if not self._failed:
                self.get_logger().warning(str(error))
            self._failed = True

    def _place(self, vehicle: str, origin: Origin) -> ET.Element | None:
        """Returns a vehicle's event; None while its place is not known."""
        known = self._vehicles[vehicle]
        if known.odom_in_map is None or known.odometry is None:
            return None
        moved = known.odometry
        pose, velocity = motion_in_parent(known.odom_in_map, pose_of(moved.pose.pose), array3(moved.twist.twist.linear))
        if not pose.is_finite():
            return None
        speed = math.hypot(velocity[0], velocity[1])
        course = (90.0 - math.degrees(math.atan2(velocity[1], velocity[0]) if speed > 0.3 else pose.yaw)) % 360.0
        place = Position(*origin.to_geodetic(pose.position))
        return cot.vehicle_event(self._mission, vehicle, place, course, speed, known.battery)

    def _finds(self, vehicle: str) -> list[Find]:
        """Returns a vehicle's reports whose fixes have come, too, and name a place on Earth."""
        known = self._vehicles[vehicle]
        pairs = zip(known.reports, known.fixes, strict=False)
        return [_find(vehicle, *pair) for pair in pairs if _is_place(pair[1])]


def _is_place(fix: NavSatFix) -> bool:
    return abs(fix.latitude) <= 90.0 and abs(fix.longitude) <= 180.0  # False for NaN


def _find(vehicle: str, report: Report, fix: NavSatFix) -> Find:
    covariance, altitude = None, None
    full = np.array(fix.position_covariance, dtype=np.float64).reshape(3, 3)
    if fix.position_covariance_type != NavSatFix.COVARIANCE_TYPE_UNKNOWN and np.abs(full).max() < FARTHEST**2:
        covariance, altitude = full[:2, :2], math.sqrt(max(full[2, 2], 0.0))
    words = "" if report.text in ("", report.kind.replace("_", " ")) else report.text
    return Find(
        f"{vehicle}/{report.seq}", report.kind or PERSON, Position(fix.latitude, fix.longitude), covariance, altitude,
        float(report.confidence), note=words, source=vehicle,
    )  # fmt: skip


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [CotBridgeNode()])


if __name__ == "__main__":
    raise SystemExit(main())
