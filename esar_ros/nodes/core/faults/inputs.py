"""Faults at one node's inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from esar_ros.faults import schedule as core
from esar_ros.faults.schedule import Channel, Schedule
from esar_ros.mission import names
from esar_ros.msg import MissionState
from esar_ros.nodes.core.faults.checked import inputs_of
from esar_ros.nodes.core.faults.tamper import FrameTamper, MessageTamper
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.stamps import start_of


class NodeFaults:
    """The faults of one node's inputs, by the mission's time."""

    def __init__(self, node: Node, vehicle: str, schedule: Schedule, state_topic: str) -> None:
        """vehicle: the node's own; state_topic: of the mission's state, whose start is zero in the faults' times."""
        self._schedule = schedule
        self._node, self._vehicle = node, vehicle
        self._start_ns: int | None = None
        self._logged: set[int] = set()
        self._subscription = node.create_subscription(
            MissionState, state_topic, self._on_state, PROFILES[BY_NAME[names.MISSION_STATE].quality]
        )

    def _on_state(self, state: MissionState) -> None:
        if self._start_ns is None:
            self._start_ns = start_of(state)

    def _time(self, ns: int) -> float | None:
        """s since the mission's start, None before it."""
        return None if self._start_ns is None else (ns - self._start_ns) * 1e-9

    def into(
        self, topic: str, take: Callable[[Any], None], lost: Callable[[int], None] = lambda ns: None
    ) -> Callable[[Any], None]:
        """Returns take behind the faults of a topic; lost(ns) is called for stamps whose message is not in time.

        A topic that comes of several vehicles has the faults each time: what a schedule names is the node's vehicle.
        """
        name = self._node.get_name()
        faults = self._schedule.messages(name, self._vehicle, topic) if topic in inputs_of(name) else ()
        if not faults:
            return take
        tamper = FrameTamper() if topic == core.FRAMES else MessageTamper()
        channel: Channel[Any] = Channel(faults, tamper, self._schedule.seed)

        def receive(message: Any) -> None:
            ns = tamper.stamp(message)
            now = self._time(ns)
            if now is None:
                take(message)
                return
            self._tell(channel.touched(now), topic, now)
            given = channel.receive(now, message)
            if all(tamper.stamp(one) != ns for one in given):
                lost(ns)
            for one in given:
                take(one)

        return receive

    def lacks_transform(self, ns: int) -> bool:
        """Returns whether the transform map -> odom is missing for odometry of this stamp."""
        now = self._time(ns)
        for gap in self._schedule.transform_gaps(self._node.get_name(), self._vehicle):
            if now is not None and gap.active(now):
                self._tell(gap, names.TF_STATIC, now)
                return True
        return False

    def _tell(self, fault: Any, topic: str, now: float) -> None:
        """Once per fault, so that a log says what was injected."""
        if fault is not None and id(fault) not in self._logged:
            self._logged.add(id(fault))
            self._node.get_logger().warning(f"fault injected: {fault.kind} of {topic} from {now:.2f} s on")
