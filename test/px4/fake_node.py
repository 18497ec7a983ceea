"""The fake autopilot on DDS: PX4's topics, message versions and quality of service, in real time.

As a program it flies a vehicle of the embedded simulator: the motion is the fake's, and the simulator's vehicle is
put where it is, so that its cameras see from there.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np
import rclpy
from fake_autopilot import FakeAutopilot
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from esar_ros.bridges.airsim.connect import authorise, connect
from esar_ros.bridges.airsim.frames import VehicleFrame
from esar_ros.bridges.airsim.types import from_quaternionr, from_vector3r, quaternionr, vector3r
from esar_ros.bridges.px4.versions import EXTERNAL_IN, EXTERNAL_OUT, IN, OPTIONAL_OUT, OUT, topic, version_of
from esar_ros.geometry.frames import (
    attitude_enu_flu_to_ned_frd,
    attitude_ned_frd_to_enu_flu,
    enu_to_ned,
    ned_to_enu,
    yaw_from_quaternion,
)
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission import names
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.types import message_class as message_type
from esar_ros.nodes.px4.messages import message_class
from esar_ros.sim.terrain.maps import load_map

STEP = 0.01  # s
SHOW = 0.05  # s between two poses given to the simulator


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
    """One autopilot behind its agent.

    versions: of messages whose version is not the class's, for mismatches. external: also with the topics of external
    modes; what the autopilot says to these stays unheard otherwise.
    """

    def __init__(
        self,
        fake: FakeAutopilot,
        namespace: str = "",
        versions: dict[str, int] | None = None,
        external: bool = False,
    ) -> None:
        super().__init__(f"fake_{namespace or 'px4'}_agent")
        self.fake, self._started = fake, time.monotonic() - fake.now
        self.fake.clock_offset = time.time() - fake.now  # UXRCE_DDS_SYNCT 1
        told = (*OUT, *OPTIONAL_OUT, "HomePosition", *(EXTERNAL_OUT if external else ()))
        heard = dict(zip(IN, (fake.hear_heartbeat, fake.hear_setpoint, fake.hear_command), strict=True))
        if external:
            heard |= zip(EXTERNAL_IN, (fake.hear_registration, fake.hear_answer, fake.hear_control), strict=True)
        self._classes = {name: message_class(name) for name in (*told, *heard)}
        given = versions or {}

        def path(name: str, outgoing: bool) -> str:
            return topic(name, given.get(name, version_of(self._classes[name])), namespace, outgoing)

        self._out = {
            name: self.create_publisher(self._classes[name], path(name, True), quality(latched=True)) for name in told
        }
        for name, hear in heard.items():
            self.create_subscription(self._classes[name], path(name, False), hear, quality(latched=False))
        self.create_timer(STEP, self._step, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _step(self) -> None:
        self.fake.advance(time.monotonic() - self._started)
        for name, fields in self.fake.speak():
            if name in self._out:
                self._out[name].publish(fill(self._classes[name], fields))


def wait_for_brief(vehicle: str) -> None:
    """Return once the referee has placed everything, the vehicle among it."""
    waiting = rclpy.create_node("fake_waits_for_the_brief")
    heard: list[Any] = []
    entry = BY_NAME[names.BRIEF]
    waiting.create_subscription(
        message_type(entry.type), f"/{vehicle}/{names.BRIEF}", heard.append, PROFILES[entry.quality]
    )
    while rclpy.ok() and not heard:
        rclpy.spin_once(waiting, timeout_sec=0.1)
    waiting.destroy_node()


class FlyingNode(FakeNode):
    """Flies a simulator's vehicle: the motion is the fake's, the place on the map and the ground the simulator's."""

    def __init__(self, client: Any, vehicle: str, map_id: str, system_id: int, namespace: str) -> None:
        self._client, self._vehicle = client, vehicle
        place = load_map(map_id)
        offset = np.array(VehicleFrame.of_settings(client.call("getSettingsString"), vehicle).offset)
        told = client.call("simGetVehiclePose", vehicle)
        start = ned_to_enu(from_vector3r(told["position"]))
        attitude = attitude_ned_frd_to_enu_flu(from_quaternionr(told["orientation"]))

        def surface(x: float, y: float) -> float:
            return float(place.ground_height([x + offset[0], y + offset[1]])) - float(offset[2])

        stands = float(start[2]) - surface(float(start[0]), float(start[1]))
        FakeAutopilot(start=(0.0, 0.0, 5.0)).advance(0.1)  # compiles the dynamics before time counts
        fake = FakeAutopilot(
            system_id,
            Origin(*place.origin.to_geodetic(offset)),
            (float(start[0]), float(start[1]), float(start[2])),
            yaw_from_quaternion(attitude),
            lambda x, y: surface(x, y) + stands,
        )
        super().__init__(fake, namespace)
        self.create_timer(SHOW, self._show, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _show(self) -> None:
        """Put the simulator's vehicle where the fake's is, for its cameras and LiDAR."""
        body = self.fake.body
        x, y, z = (float(v) for v in enu_to_ned(body.position))
        attitude = [float(v) for v in attitude_enu_flu_to_ned_frd(body.quaternion)]
        pose = {"position": vector3r((x, y, z)), "orientation": quaternionr(attitude)}
        self._client.call("simSetVehiclePose", pose, True, self._vehicle)


def main() -> int:
    """Fly in the embedded simulator until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("--host", "127.0.0.1"), ("--vehicle", "uav1"), ("--map", "aotai"), ("--namespace", "")):
        parser.add_argument(name, default=default)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--system-id", type=int, default=1)
    arguments = parser.parse_args()

    def make() -> list[Node]:
        wait_for_brief(arguments.vehicle)
        client = connect(arguments.host, arguments.port)
        authorise(client)
        return [FlyingNode(client, arguments.vehicle, arguments.map, arguments.system_id, arguments.namespace)]

    return run(make, [sys.argv[0]])


if __name__ == "__main__":
    raise SystemExit(main())
