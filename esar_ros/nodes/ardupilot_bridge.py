"""ArduPilot bridge node: one ArduCopter over MAVLink, behind the same topics and actions as px4_bridge.

What it shares with that is in nodes/px4/vehicle_bridge.py. It was flown in ArduPilot's SITL, not on a vehicle:
docs/reference/ardupilot.md.
"""

from __future__ import annotations

import time
from typing import Any

from rclpy.node import Node

from esar_ros.bridges.ardupilot.guided import Guided, GuidedStream
from esar_ros.bridges.ardupilot.link import MavlinkLink
from esar_ros.bridges.ardupilot.settings import load_ardupilot_settings
from esar_ros.bridges.ardupilot.state import ArdupilotState
from esar_ros.bridges.px4.stream import Output
from esar_ros.nodes.alone.site import SiteNode
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.realtime_scheduling import use_realtime_scheduling
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.px4.vehicle_bridge import VehicleBridge


class ArdupilotBridgeNode(VehicleBridge):
    """A vehicle that flies ArduCopter."""

    land_command = "./esar px4 land --autopilot ardupilot"

    def __init__(self) -> None:
        super().__init__(node_names.ARDUPILOT_BRIDGE)
        about = "true: it tells fence and home, too, for a flight of the governor without a mission"
        self.tells_site = bool(declare(self, "site", False, about))

    def _make(self) -> Guided:
        settings = load_ardupilot_settings()
        address = settings.address(self._vehicle, self._index)
        link = str(declare(self, "link", address.link, "of the vehicle, as pymavlink takes it"))
        baud = int(declare(self, "baud", settings.baud, "of a serial link", minimum=9600, maximum=4_000_000))
        target = int(
            declare(self, "target_system", address.system_id, "the vehicle's MAVLink system id", minimum=1, maximum=255)
        )
        self._appear_until = time.monotonic() + settings.appear
        self._copter = ArdupilotState(target)
        made = Guided(GuidedStream(self._copter, settings.timing))
        self._link = MavlinkLink(link, baud, target, self._on_message)
        return made

    def newest(self, name: str) -> Any:
        """The newest message of the rules' state by its name; None where there is none, or one that is too old."""
        return self._copter.known(name, time.monotonic())

    def _send(self, output: Output) -> None:
        self._link.send(output, time.monotonic())

    def _read(self) -> None:
        self._link.poll(time.monotonic())

    def _on_message(self, kind: str, message: Any, now: float) -> None:
        answer = self._copter.hear(kind, message, now)
        if answer is not None:
            self._offboard.on_ack(answer)
        elif kind == "LOCAL_POSITION_NED":
            self._on_position(self._copter.newest("VehicleLocalPosition"), now)
        elif kind == "STATUSTEXT":
            self.get_logger().info(f"the vehicle says: {message.text}")

    def _lacks(self) -> str:
        complaint = self._link.complaint(time.monotonic())
        if complaint and time.monotonic() > self._appear_until:
            self.get_logger().error(complaint, throttle_duration_sec=10.0)
        return complaint

    def _more(self) -> dict[str, Any]:
        return {"ArduPilot's mode": self._copter.copter_mode}

    def close(self) -> None:
        """Leaves a vehicle that was in this bridge's mode in hold, and closes the link."""
        super().close()
        self._link.close()


def main() -> int:
    """Entry point of the executable."""

    def make() -> list[Node]:
        node = ArdupilotBridgeNode()
        node.scheduling = use_realtime_scheduling()
        return [node, SiteNode(node.newest)] if node.tells_site else [node]

    return run(make)


if __name__ == "__main__":
    raise SystemExit(main())
