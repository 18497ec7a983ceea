"""PX4 bridge node: one vehicle's PX4, over the topics of its uXRCE-DDS agent.

What it shares with the bridges of other autopilots is in nodes/px4/vehicle_bridge.py.
"""

from __future__ import annotations

import random
import time
from typing import Any

from esar_ros.bridges.px4.external import ExternalMode
from esar_ros.bridges.px4.offboard import Offboard
from esar_ros.bridges.px4.settings import load_px4_settings
from esar_ros.bridges.px4.state import Px4State
from esar_ros.bridges.px4.stream import Output, Stream
from esar_ros.bridges.px4.versions import DEFAULT, EXTERNAL_OUT, release_of
from esar_ros.mission.errors import UsageError
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.realtime_scheduling import use_realtime_scheduling
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.px4.link import Px4Link
from esar_ros.nodes.px4.messages import lacking_fields
from esar_ros.nodes.px4.vehicle_bridge import VehicleBridge


class Px4BridgeNode(VehicleBridge):
    """A vehicle that flies PX4."""

    def __init__(self) -> None:
        super().__init__(node_names.PX4_BRIDGE)

    def _make(self) -> Offboard:
        settings = load_px4_settings()
        address = settings.address(self._vehicle, self._index)
        namespace = str(declare(self, "px4_namespace", address.namespace, "of the autopilot's topics"))
        target = int(
            declare(self, "target_system", address.system_id, "the autopilot's MAV_SYS_ID", minimum=1, maximum=255)
        )
        about = "what it flies safe commands in: PX4's offboard, or a mode of this bridge's own that it registers"
        own = declare(self, "mode", settings.mode, about, choices=("offboard", "external")) == "external"
        self._appear_until = time.monotonic() + settings.appear
        self._external = ExternalMode(random.SystemRandom().getrandbits(63)) if own else None
        made = Offboard(Stream(Px4State(target), settings.timing, self._external))
        self._px4 = Px4Link(self, namespace, target, self._on_message, own)
        self._refuse_another_release(settings.release)
        return made

    def _send(self, output: Output) -> None:
        self._px4.send(output)

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
            self._on_position(message, now)

    def _lacks(self) -> str:
        """Are the topics there? A firmware of another release is refused, by name."""
        lacks = self._px4.lacks()
        complaint = self._px4.explain(lacks) if lacks else ""
        if any(lack.instead for lack in lacks) and not self._state.armed:
            raise UsageError(complaint, "use the px4_msgs of the firmware's release")
        if lacks and time.monotonic() > self._appear_until:
            self.get_logger().error(complaint, throttle_duration_sec=10.0)
        return complaint

    def _more(self) -> dict[str, Any]:
        return {"clock": "synchronised" if self._sample_clock.is_synchronised(time.monotonic()) else "by arrival"}


def main() -> int:
    """Entry point of the executable."""

    def make() -> list[Px4BridgeNode]:
        node = Px4BridgeNode()
        node.scheduling = use_realtime_scheduling()
        return [node]

    return run(make)


if __name__ == "__main__":
    raise SystemExit(main())
