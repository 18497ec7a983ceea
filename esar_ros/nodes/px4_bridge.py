"""PX4 bridge node: one vehicle's autopilot behind the same topics and actions as airsim_bridge.

Lives in the vehicle's namespace. Real time only, on system time. What is sent is decided in
bridges/px4/stream.py, what is asked in bridges/px4/offboard.py; this node feeds them, 50 times a second.
"""

from __future__ import annotations

import math
import random
import time
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
from esar_ros.bridges.px4.external import ExternalMode
from esar_ros.bridges.px4.frames import LocalFrame, Motion, velocity_setpoint
from esar_ros.bridges.px4.offboard import Offboard
from esar_ros.bridges.px4.settings import load_px4_settings
from esar_ros.bridges.px4.state import Px4State, mode_name
from esar_ros.bridges.px4.stream import Output, Stream
from esar_ros.bridges.px4.versions import DEFAULT, EXTERNAL_OUT, release_of
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.msg import Heartbeat, VehicleState
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.authority import Authority, why_not_obeyed
from esar_ros.nodes.core.diagnostics import Diagnostics, Finding
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.operator_log import OperatorLog
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.realtime_scheduling import use_realtime_scheduling
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.stamps import to_stamp
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.messages import convert
from esar_ros.nodes.messages.governor_status import GovernorStatus
from esar_ros.nodes.messages.vehicle import battery_message, mount_transforms, transform_message
from esar_ros.nodes.px4.actions import Px4Actions
from esar_ros.nodes.px4.link import Px4Link
from esar_ros.nodes.px4.messages import lacking_fields

RATE = 50.0  # Hz
BATTERY_EVERY = 50  # steps
SINGLE_WRITER_TOPICS = (names.CMD_VEL_SAFE, names.SAFETY_STATUS, names.BRIEF)  # each has one writer
PARTING = 5  # times that hold is asked for at the end
OLDEST = 400_000_000  # ns, of a safe command's stamp, which counts from the odometry it answers


class Px4BridgeNode(Node):
    """The only node that talks to this vehicle's autopilot."""

    def __init__(self) -> None:
        super().__init__(node_names.PX4_BRIDGE)
        settings = load_px4_settings()
        space = self.get_namespace().rsplit("/", 1)[-1] or "uav1"
        self._vehicle = space
        index = int(declare(self, "index", 0, "of the vehicle in the mission, from 0", minimum=0, maximum=254))
        address = settings.address(space, index)
        namespace = str(declare(self, "px4_namespace", address.namespace, "of the autopilot's topics"))
        target = int(
            declare(self, "target_system", address.system_id, "the autopilot's MAV_SYS_ID", minimum=1, maximum=255)
        )
        about = "what it flies safe commands in: PX4's offboard, or a mode of this bridge's own that it registers"
        own = declare(self, "mode", settings.mode, about, choices=("offboard", "external")) == "external"
        self._state = Px4State(target)
        self._external = ExternalMode(random.SystemRandom().getrandbits(63)) if own else None
        self._stream = Stream(self._state, settings.timing, self._external)
        self._offboard = Offboard(self._stream)
        self._frame = LocalFrame()
        self._sample_clock = SampleClock()
        self._origin: Origin | None = None
        self._appear_until = time.monotonic() + settings.appear
        self._complaint = "the autopilot's topics have not been looked for"
        self._count = 0
        self._moved = False  # map -> odom, since it was published
        self._new = False  # position, since odometry was published
        self._sampled = 0  # ns, system time at which the newest position was measured
        self._last_reason = ""
        self._authority = Authority(self, "", SINGLE_WRITER_TOPICS)
        self._told = GovernorStatus(self._authority)
        self._descent = Descent()
        self.scheduling = ""  # of this process, in words
        self._px4 = Px4Link(self, namespace, target, self._on_message, own)
        self._refuse_another_release(settings.release)
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

    def _refuse_another_release(self, release: str) -> None:
        ours = release_of(self._px4.versions)
        if ours != release:
            raise UsageError(
                f"px4_msgs belong to {ours or 'a release that is not known'}, config/px4.yaml says {release}",
                "source the px4_msgs of the firmware's release, and name it in config/px4.yaml",
            )
        lacking = {name: lacking_fields(name) for name in self._px4.versions} if release == DEFAULT else {}
        for name, fields in lacking.items():
            if fields:
                raise UsageError(
                    f"{name} of the px4_msgs in use has no field {', '.join(fields)}: it is not of {release}",
                    "source the px4_msgs of the firmware's release",
                )

    # -- in -------------------------------------------------------------------------------------

    def _on_message(self, name: str, message: Any) -> None:
        if name == "VehicleCommandAck":
            self._offboard.on_ack(message)
            return
        if self._external is not None and name in EXTERNAL_OUT:
            self._external.on_message(name, message)
            return
        now = time.monotonic()
        if name == "TimesyncStatus":
            self._sample_clock.on_timesync(message, now)
            return
        self._state.receive(name, message, now)
        if name == "VehicleLocalPosition":
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

    # -- steps ----------------------------------------------------------------------------------

    def _step(self) -> None:
        now = time.monotonic()
        self._stream.mode, self._stream.height = self._told.mode, self._told.height
        self._stream.text = self._told.text
        self._px4.send(self._offboard.step(now))
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
        transforms += mount_transforms(self._vehicle, load_vehicle(), stamp)
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
        if not self._state.is_fresh("BatteryStatus", now):
            return  # what is old must not be told as new
        status = self._state.newest("BatteryStatus")
        unknown = math.nan
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
        """Once a second: are the topics there? A firmware of another release is refused, by name."""
        lacks = self._px4.lacks()
        self._complaint = self._px4.explain(lacks) if lacks else ""
        if any(lack.instead for lack in lacks) and not self._state.armed:
            raise UsageError(self._complaint, "use the px4_msgs of the firmware's release")
        if lacks and time.monotonic() > self._appear_until:
            self.get_logger().error(self._complaint, throttle_duration_sec=10.0)
        level, text = DiagnosticStatus.OK, "obeying safe commands"
        if lacks:
            level, text = DiagnosticStatus.ERROR, self._complaint
        elif not self._stream.engaged:
            level, text = DiagnosticStatus.WARN, f"not in offboard: {self._stream.advice}"
        running: Manoeuvre | None = self._offboard.running
        values = {
            "mode": mode_name(self._state.nav_state),
            "armed": self._state.armed,
            "failsafe": self._state.failsafe,
            "manoeuvre": running.name if running is not None else "",
            "clock": "synchronised" if self._sample_clock.is_synchronised(time.monotonic()) else "by arrival",
            "resets": self._frame.resets,
            "heading resets": self._frame.heading_resets,
            "scheduling": self.scheduling,
        }
        self._diagnostics.publish([Finding(f"vehicle {self._vehicle}", level, text, values)])

    def close(self) -> None:
        """Leaves a vehicle that was in this bridge's mode in hold: PX4 would take its failsafe a second later."""
        if not self._stream.engaged or not self.context.ok():
            return
        stand = Output(setpoint=velocity_setpoint(np.zeros(3), 0.0), commands=(MODE_HOLD,))
        for _ in range(PARTING):  # nobody is left to see whether it was heard
            self._px4.send(stand)
            time.sleep(1.0 / RATE)
        self.get_logger().warning("left in hold, armed: ./esar px4 land lands it")


def main() -> int:
    """Entry point of the executable."""

    def make() -> list[Px4BridgeNode]:
        node = Px4BridgeNode()
        node.scheduling = use_realtime_scheduling()
        return [node]

    return run(make)


if __name__ == "__main__":
    raise SystemExit(main())
