"""The fake autopilot on DDS: PX4's topics, message versions and quality of service, in real time.

As a program it flies a vehicle of the embedded simulator: the motion is the fake's, and the simulator's vehicle is
put where it is, so that its cameras see from there.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

sys.path.insert(0, str(Path(__file__).resolve().parent))
from fake_autopilot import FakeAutopilot

from esar_ros.bridges.px4_versions import IN, OUT, topic, version_of
from esar_ros.nodes.px4_messages import message_class

STEP = 0.01  # s


def quality(latched: bool) -> QoSProfile:
    """As PX4's agent makes its writers (latched) and readers."""
    return QoSProfile(
        reliability=ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
        history=HistoryPolicy.KEEP_LAST,
        depth=1 if latched else 10,
    )


def fill(kind: Any, fields: Any) -> Any:
    """A message with those of the fields that it has."""
    known = kind.get_fields_and_field_types()
    return kind(**{name: value for name, value in vars(fields).items() if name in known})


class FakeNode(Node):
    """One autopilot behind its agent. versions: of messages whose version is not the class's, for mismatches."""

    def __init__(self, fake: FakeAutopilot, namespace: str = "", versions: dict[str, int] | None = None) -> None:
        super().__init__(f"fake_{namespace or 'px4'}_agent")
        self.fake, self._started = fake, time.monotonic() - fake.now
        self.stopped = False  # SIGSTOP: neither hears nor speaks
        self._classes = {name: message_class(name) for name in (*OUT, *IN, "HomePosition")}
        given = versions or {}

        def path(name: str, outgoing: bool) -> str:
            return topic(name, given.get(name, version_of(self._classes[name])), namespace, outgoing)

        self._out = {
            name: self.create_publisher(self._classes[name], path(name, True), quality(latched=True))
            for name in (*OUT, "HomePosition")
        }
        for name, hear in zip(IN, (fake.hear_heartbeat, fake.hear_setpoint, fake.hear_command), strict=True):
            self.create_subscription(self._classes[name], path(name, False), hear, quality(latched=False))
        self.create_timer(STEP, self._step, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _step(self) -> None:
        self.fake.advance(time.monotonic() - self._started)
        for name, fields in self.fake.speak():
            self._out[name].publish(fill(self._classes[name], fields))


def main() -> int:
    """Fly in the embedded simulator until told to stop."""
    from esar_ros.bridges.airsim_connect import authorise, connect
    from esar_ros.bridges.airsim_types import from_vector3r
    from esar_ros.geometry.frames import Pose, attitude_enu_flu_to_ned_frd, enu_to_ned, ned_to_enu
    from esar_ros.geometry.geodesy import Origin
    from esar_ros.nodes.runtime import run
    from esar_ros.sim.maps import load_map

    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("--host", "127.0.0.1"), ("--vehicle", "uav1"), ("--map", "aotai"), ("--namespace", "")):
        parser.add_argument(name, default=default)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--system-id", type=int, default=1)
    arguments = parser.parse_args()
    place = load_map(arguments.map)
    client = connect(arguments.host, arguments.port)
    authorise(client)

    class Flying(FakeNode):
        """Waits until the task has put the vehicle somewhere, then takes it."""

        def __init__(self) -> None:
            pose = self._where()
            fake = FakeAutopilot(
                arguments.system_id,
                Origin(*place.origin.to_geodetic([0.0, 0.0, 0.0])),
                tuple(float(v) for v in pose.position),
                pose.yaw,
                lambda x, y: float(place.ground_height([x, y])) + self.stands,
            )
            super().__init__(fake, arguments.namespace)
            self.create_timer(0.05, self._show, clock=Clock(clock_type=ClockType.STEADY_TIME))

        stands = 0.0

        def _where(self) -> Pose:
            from esar_ros.bridges.airsim_types import from_quaternionr
            from esar_ros.geometry.frames import attitude_ned_frd_to_enu_flu

            told = client.call("simGetVehiclePose", arguments.vehicle)
            pose = Pose(
                ned_to_enu(from_vector3r(told["position"])),
                attitude_ned_frd_to_enu_flu(from_quaternionr(told["orientation"])),
            )
            x, y, z = (float(v) for v in pose.position)
            self.stands = z - float(place.ground_height([x, y]))
            return pose

        def _show(self) -> None:
            from esar_ros.bridges.airsim_types import quaternionr, vector3r

            body = self.fake.body
            pose = {
                "position": vector3r(enu_to_ned(body.position)),
                "orientation": quaternionr(attitude_enu_flu_to_ned_frd(body.quaternion)),
            }
            client.call("simSetVehiclePose", pose, True, arguments.vehicle)

    return run(lambda: [Flying()], [sys.argv[0]])


if __name__ == "__main__":
    raise SystemExit(main())
