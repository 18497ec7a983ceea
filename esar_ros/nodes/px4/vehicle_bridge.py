"""Common part of the bridges of autopilots: one vehicle's, behind the same topics and actions as airsim_bridge.

Lives in the vehicle's namespace. Real time only, on system time. What is sent is decided in
bridges/px4/stream.py, what is asked in bridges/px4/offboard.py; the node feeds them, 50 times a second.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from esar_ros.bridges.px4.clock import SampleClock
from esar_ros.bridges.px4.commands import MODE_HOLD, Manoeuvre
from esar_ros.bridges.px4.descent import Descent
from esar_ros.bridges.px4.frames import LocalFrame, Motion, velocity_setpoint
from esar_ros.bridges.px4.offboard import Offboard
from esar_ros.bridges.px4.state import mode_name
from esar_ros.bridges.px4.stream import Output
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission import names
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.msg import Heartbeat, VehicleState
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.authority import Authority, Rivals, why_not_obeyed
from esar_ros.nodes.core.diagnostics import Diagnostics, Finding
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.operator_log import OperatorLog
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.stamps import to_stamp
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.messages import convert
from esar_ros.nodes.messages.governor_status import GovernorStatus
from esar_ros.nodes.messages.vehicle import battery_message, mount_transforms, transform_message
from esar_ros.nodes.px4.actions import Px4Actions

RATE = 50.0  # Hz
BATTERY_EVERY = 50  # steps
SINGLE_WRITER_TOPICS = (names.CMD_VEL_SAFE, names.SAFETY_STATUS, names.BRIEF)  # each has one writer
PARTING = 5  # times that hold is asked for at the end
OLDEST = 400_000_000  # ns, of a safe command's stamp, which counts from the odometry it answers


class VehicleBridge(Node, ABC):
    """The only node that talks to this vehicle's autopilot. A subclass has the link, and makes the rules' state."""

    land_command = "./esar px4 land"  # what lands a vehicle that is left in the air

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._vehicle = self.get_namespace().rsplit("/", 1)[-1] or "uav1"
        self._index = int(declare(self, "index", 0, "of the vehicle in the mission, from 0", minimum=0, maximum=254))
        self._frame = LocalFrame()
        self._sample_clock = SampleClock()
        self._origin: Origin | None = None
        self._complaint = "the autopilot has not been looked for"
        self._count = 0
        self._moved = False  # map -> odom, since it was published
        self._new = False  # position, since odometry was published
        self._sampled = 0  # ns, system time at which the newest position was measured
        self._last_reason = ""
        self._authority = Authority(self, "", SINGLE_WRITER_TOPICS)
        # A second bridge would command what the first flies into hold: it ends before it says anything.
        said = self.resolve_topic_name(names.VEHICLE_STATE)
        self._rivals = Rivals(self, names.VEHICLE_STATE, [said], lambda state: True)
        self._body = load_vehicle()
        self._told = GovernorStatus(self._authority)
        self._descent = Descent()
        self.scheduling = ""  # of this process, in words
        self._offboard = self._make()
        self._stream, self._state = self._offboard.stream, self._offboard.state
        self._out = {
            name: self.create_publisher(message_class(BY_NAME[name].type), name, PROFILES[BY_NAME[name].quality])
            for name in (
                names.ODOMETRY, names.VEHICLE_STATE, names.BATTERY, names.COLLISION, names.TF, names.TF_STATIC,
            )
        }  # fmt: skip
        for name, callback in (
            (names.CMD_VEL_SAFE, self._on_command),
            (names.SAFETY_STATUS, self._on_safety),
            (names.BRIEF, self._on_brief),
            (names.HEARTBEAT, self._on_heartbeat),
        ):
            entry = BY_NAME[name]
            self.create_subscription(message_class(entry.type), name, callback, PROFILES[entry.quality])
        self._pilot = 0  # its boot id
        self._actions = Px4Actions(self, self._offboard, OperatorLog(self), lambda: self._pilot)
        self._diagnostics = Diagnostics(self)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0 / RATE, self._step, clock=steady)
        self.create_timer(1.0, self._look, clock=steady)

    @abstractmethod
    def _make(self) -> Offboard:
        """Declares its own parameters, opens the link, and returns the rules. Raises UsageError."""

    @abstractmethod
    def _send(self, output: Output) -> None:
        """Sends one step's output."""

    @abstractmethod
    def _lacks(self) -> str:
        """Returns in words what is missing of the autopilot, once a second. Raises UsageError at a wrong one."""

    def _read(self) -> None:
        """Takes in what has come, where no executor does."""

    def _more(self) -> dict[str, Any]:
        """Returns further values for the diagnostics."""
        return {}

    # -- in -------------------------------------------------------------------------------------

    def _on_position(self, message: Any, now: float) -> None:
        """A position of the rules' state has come."""
        self._moved = self._frame.update(message) or self._moved
        self._new = True
        self._sampled = self._sample_clock.sampled(message, self.get_clock().now().nanoseconds, now)

    def _on_heartbeat(self, message: Heartbeat) -> None:
        if message.node == node_names.PILOT:
            self._pilot = message.boot_id

    def _on_command(self, message: Any) -> None:
        unknown = "" if self._told.is_known else "no mode of the governor is known"
        why = unknown or why_not_obeyed(message, self.get_clock().now().nanoseconds, OLDEST)
        complaint = self._authority.complaint
        if why or complaint:
            self.get_logger().warning(f"not obeyed: {why or complaint}", throttle_duration_sec=5.0)
        if why:
            return
        velocity, yaw_rate = convert.array3(message.twist.linear), float(message.twist.angular.z)
        if complaint:  # it stands, and does not leave offboard for good
            velocity, yaw_rate = np.zeros(3), 0.0
        self._stream.obey(velocity, yaw_rate, time.monotonic())

    def _on_safety(self, message: Any) -> None:
        self._told.take(message, time.monotonic())

    def _on_brief(self, message: Any) -> None:
        origin = Origin(message.origin_latitude, message.origin_longitude, message.origin_altitude)
        if not (abs(origin.latitude) <= 90.0 and abs(origin.longitude) <= 360.0 and abs(origin.altitude) < 1e5):
            self.get_logger().error(f"the brief's origin is not on Earth: {origin}; it is not taken")
            return
        if self._origin not in (None, origin) and self._state.armed:
            self.get_logger().error("the brief tells another origin of the map in flight: it is not taken")
            return
        self._origin, self._moved = origin, True
        self._offboard.ceiling = float(message.ceiling)

    # -- steps ----------------------------------------------------------------------------------

    def _step(self) -> None:
        self._read()
        if not self._rivals.alone:
            return
        now = time.monotonic()
        self._stream.mode, self._stream.height = self._told.mode, self._told.height
        self._stream.text = self._told.text
        self._send(self._offboard.step(now))
        self._actions.settle()
        self._count += 1
        stamp = self.get_clock().now().to_msg()
        if self._moved and self._origin is not None:
            self._publish_static(stamp)
        motion = self._motion(now) if self._new else None
        self._new = False
        if motion is not None:
            self._publish_motion(motion, to_stamp(self._sampled))
        self._out[names.VEHICLE_STATE].publish(self._vehicle_state(now, stamp))
        if self._count % BATTERY_EVERY == 1:
            self._publish_battery(now, stamp)
        self._tell()

    def _motion(self, now: float) -> Motion | None:
        """The newest; None when a part of it is older than a safe command may be, or not known.

        A position without whether the vehicle stands would make the ground under a landed one an obstacle.
        """
        if self._state.newest("VehicleLandDetected") is None:
            return None
        parts = ("VehicleLocalPosition", "VehicleOdometry")
        if max(self._state.age(part, now) for part in parts) > self._stream.timing.fresh:
            return None
        return self._frame.motion(self._state.newest("VehicleLocalPosition"), self._state.newest("VehicleOdometry"))

    def _tell(self) -> None:
        """Say once why safe commands are not obeyed, and what ends that."""
        why = self._stream.advice
        if why != self._last_reason:
            self._last_reason = why
            self.get_logger().warning(f"not in offboard: {why}" if why else "in offboard, obeying safe commands")

    # -- out ------------------------------------------------------------------------------------

    def _publish_static(self, stamp: Any) -> None:
        assert self._origin is not None
        pose = self._frame.odom_in_map(self._origin)
        if pose is None:
            return
        transforms = [transform_message(names.MAP, names.vehicle_frame(self._vehicle, names.ODOM), pose, stamp)]
        transforms += mount_transforms(self._vehicle, self._body, stamp)
        self._out[names.TF_STATIC].publish(TFMessage(transforms=transforms))
        self._moved = False

    def _publish_motion(self, motion: Motion, stamp: Any) -> None:
        odom = names.vehicle_frame(self._vehicle, names.ODOM)
        base = names.vehicle_frame(self._vehicle, names.BASE_LINK)
        message = Odometry(child_frame_id=base)
        message.header.stamp, message.header.frame_id = stamp, odom
        message.pose.pose.position = convert.point(motion.pose.position)
        message.pose.pose.orientation = convert.quaternion(motion.pose.quaternion)
        message.pose.covariance = motion.pose_covariance.ravel()
        message.twist.twist.linear = convert.vector3(motion.velocity)
        message.twist.twist.angular = convert.vector3(motion.angular_velocity)
        twist = np.zeros((6, 6))
        twist[:3, :3] = motion.velocity_covariance
        message.twist.covariance = twist.ravel()
        self._out[names.ODOMETRY].publish(message)
        self._out[names.TF].publish(TFMessage(transforms=[transform_message(odom, base, motion.pose, stamp)]))

    def _vehicle_state(self, now: float, stamp: Any) -> VehicleState:
        state = self._state
        reasons = [reason for reason in (self._complaint, self._offboard.why_not_ready(now)) if reason]
        touches = self._offboard.running is Manoeuvre.TOUCH_DOWN
        landed = VehicleState.LANDED_FLYING
        if not state.is_fresh("VehicleLandDetected", now):
            landed = VehicleState.LANDED_UNKNOWN
        elif state.landed:
            landed = VehicleState.LANDED_ON_GROUND
        elif self._descent.is_coming_down(state.nav_state, touches, self._told.height):
            landed = VehicleState.LANDED_LANDING
        message = VehicleState(
            armed=state.armed,
            offboard=state.nav_state == self._stream.own_state,
            landed=landed,
            ready=not reasons,
            ready_message="; ".join(reasons),
            holding=not self._stream.engaged,
        )
        message.header.stamp = stamp
        return message

    def _publish_battery(self, now: float, stamp: Any) -> None:
        status, unknown = self._state.newest("BatteryStatus"), math.nan
        if status is None:
            return
        if not self._state.is_fresh("BatteryStatus", now):
            # What is old must not be told as new; the governor counts down what is not known.
            self._out[names.BATTERY].publish(battery_message(unknown, unknown, unknown, stamp))
            return
        message = battery_message(
            float(status.remaining) if status.remaining >= 0.0 else unknown,
            float(status.voltage_v) if status.voltage_v > 0.0 else unknown,
            -float(status.current_a) if status.current_a >= 0.0 else unknown,
            stamp,
            bool(status.connected),
        )
        self._out[names.BATTERY].publish(message)

    # -- health ---------------------------------------------------------------------------------

    def _look(self) -> None:
        """Once a second: is the autopilot there, and is it the right one?"""
        self._complaint = self._lacks()
        level, text = DiagnosticStatus.OK, "obeying safe commands"
        if self._complaint:
            level, text = DiagnosticStatus.ERROR, self._complaint
        elif not self._stream.engaged:
            level, text = DiagnosticStatus.WARN, f"not in offboard: {self._stream.advice}"
        running: Manoeuvre | None = self._offboard.running
        values = {
            "mode": mode_name(self._state.nav_state),
            "armed": self._state.armed,
            "failsafe": self._state.failsafe,
            "manoeuvre": running.name if running is not None else "",
            "resets": self._frame.resets,
            "heading resets": self._frame.heading_resets,
            "scheduling": self.scheduling,
            **self._more(),
        }
        self._diagnostics.publish([Finding(f"vehicle {self._vehicle}", level, text, values)])

    def close(self) -> None:
        """Leaves a vehicle that was in this bridge's mode in hold, before the autopilot finds that it is alone."""
        if not self._stream.engaged or not self.context.ok():
            return
        stand = Output(setpoint=velocity_setpoint(np.zeros(3), 0.0), commands=(MODE_HOLD,))
        for _ in range(PARTING):  # nobody is left to see whether it was heard
            self._send(stand)
            time.sleep(1.0 / RATE)
        self.get_logger().warning(f"left in hold, armed: {self.land_command} lands it")
