"""Site node: fence, ceiling and home of a flight without a mission, around the place where the vehicle stands.

It takes mission_control's place, and so has its name: governor and bridge take a brief from that alone. The map's
origin is that of the autopilot's own local frame. Home is where the vehicle stands before its first flight, and is told
anew where it is carried; of one that is in the air already, the autopilot's home.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.subscription import Subscription

from esar_ros.bridges.px4.settings import load_px4_settings
from esar_ros.bridges.px4.versions import topic, version_of
from esar_ros.geometry.frames import Vector, ned_to_enu
from esar_ros.mission import names
from esar_ros.mission.observation import Brief
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.graph.governor import CEILINGS, FENCES, INDICES
from esar_ros.nodes.messages import convert
from esar_ros.nodes.px4 import messages
from esar_ros.nodes.px4.link import QUALITY

CORNERS = 16  # of the fence
LOOK = 0.2  # s
CARRIED = 2.0  # m, from which home is told anew on the ground: more than a receiver wanders while it settles
HEARD = ("VehicleLocalPosition", "VehicleLandDetected", "HomePosition")


class SiteNode(Node):
    """The writer of the brief where there is no mission: as soon as the vehicle's place is known."""

    def __init__(self, newest: Callable[[str], Any] | None = None) -> None:
        """newest: the newest message of HEARD by its name, as a bridge in this process has it; None: PX4's topics."""
        super().__init__(node_names.MISSION_CONTROL)
        # The governor's fence leaves 30 m around home.
        self._radius = float(declare(self, "fence", 100.0, "m around home that it stays within", *FENCES))
        self._ceiling = float(declare(self, "ceiling", 50.0, "m above the ground below", *CEILINGS))
        self._heard: dict[str, Any] = {}
        self._told: Vector | None = None  # home, as it was said last
        self._newest = newest or self._heard.get
        self._reading = [] if newest is not None else self._topics()
        entry = BY_NAME[names.BRIEF]
        self._out = self.create_publisher(message_class(entry.type), names.BRIEF, PROFILES[entry.quality])

        self._timer = self.create_timer(LOOK, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _topics(self) -> list[Subscription]:
        vehicle = self.get_namespace().rsplit("/", 1)[-1]
        index = int(declare(self, "index", 0, "of the vehicle, from 0, by which PX4 SITL counts", *INDICES))
        address = load_px4_settings().address(vehicle, index)
        space = str(declare(self, "px4_namespace", address.namespace, "of the autopilot's topics"))
        return [self._read(name, space) for name in HEARD]

    def _read(self, name: str, space: str) -> Subscription:
        kind = messages.message_class(name)
        path = topic(name, version_of(kind), space, True)
        return self.create_subscription(kind, path, lambda message: self._heard.__setitem__(name, message), QUALITY)

    def _look(self) -> None:
        """Says the brief once all is known, again where the vehicle is carried; in flight it reads no more."""
        local, land, home = self._newest("VehicleLocalPosition"), self._newest("VehicleLandDetected"), self._home()
        if local is None or land is None or home is None or not (local.xy_global and local.z_global):
            return
        if not land.landed:
            self._timer.cancel()
            while self._reading:
                self.destroy_subscription(self._reading.pop())
            if self._told is not None:
                return
        if self._told is not None and float(np.linalg.norm(home - self._told)) <= CARRIED:
            return
        self._told = home
        self._out.publish(convert.brief_message(self._brief(local, home)))
        where = ", ".join(f"{value:.1f}" for value in home)
        self.get_logger().info(f"home is {where} m; fence {self._radius:g} m around it, ceiling {self._ceiling:g} m")

    def _home(self) -> Vector | None:
        """Returns home (m, map) as far as it is known."""
        local, land, home = (self._newest(name) for name in HEARD)
        if local is None or land is None:
            return None
        if land.landed and local.xy_valid and local.z_valid:
            return ned_to_enu([local.x, local.y, local.z])
        if home is not None and home.valid_lpos:
            return ned_to_enu([home.x, home.y, home.z])
        return None

    def _brief(self, local: Any, home: Vector) -> Brief:
        turns = 2.0 * math.pi * np.arange(CORNERS) / CORNERS
        return Brief(
            mission_id="governor", map_id="", prompt="", weather="", wind_speed=math.nan, local_time="", t_max=1e9,
            area=home[:2] + self._radius * np.stack([np.cos(turns), np.sin(turns)], axis=-1),
            ceiling=self._ceiling,
            home=home,
            report_cap=0,
            origin=(float(local.ref_lat), float(local.ref_lon), float(local.ref_alt)),
        )  # fmt: skip
