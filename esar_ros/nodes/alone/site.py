"""Site node: fence, ceiling and home of a flight without a mission, around the place where the vehicle stands.

It takes mission_control's place, and so has its name: governor and bridge take a brief from that alone. The map's
origin is that of the autopilot's own local frame. Home is where the vehicle stands before a flight, and is told anew
where it is carried, or disarmed at another place; of one that is in the air already, the autopilot's home.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.subscription import Subscription

from esar_ros.bridges.px4.settings import load_px4_settings
from esar_ros.bridges.px4.state import ARMED, Px4State
from esar_ros.bridges.px4.versions import topic, version_of
from esar_ros.geometry.frames import Vector, ned_to_enu
from esar_ros.geometry.geodesy import Origin
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
HEARD = ("VehicleLocalPosition", "VehicleLandDetected", "HomePosition", "VehicleStatus")
IN_FLIGHT = ("VehicleLandDetected", "VehicleStatus")  # the slow ones, by which the end of a flight is seen


class SiteNode(Node):
    """The writer of the brief where there is no mission: as soon as the vehicle's place is known."""

    def __init__(self, newest: Callable[[str], Any] | None = None) -> None:
        """newest: the newest message of HEARD by its name, as a bridge in this process has it; None: PX4's topics.

        It has none that is too old: once a link is back, what it said before tells nothing of where the vehicle is.
        """
        super().__init__(node_names.MISSION_CONTROL)
        # The governor's fence leaves 30 m around home.
        self._radius = float(declare(self, "fence", 100.0, "m around home that it stays within", *FENCES))
        self._ceiling = float(declare(self, "ceiling", 50.0, "m above the ground below", *CEILINGS))
        self._heard = Px4State(0)
        self._told: tuple[Origin, Vector] | None = None  # the map, and home in it, as they were said last
        self._newest = newest or (lambda name: self._heard.known(name, time.monotonic()))
        self._space = "" if newest is not None else self._topics_of()
        self._reading: dict[str, Subscription] = {}
        self._is_reader = newest is None
        self._read(HEARD)
        entry = BY_NAME[names.BRIEF]
        self._out = self.create_publisher(message_class(entry.type), names.BRIEF, PROFILES[entry.quality])

        self.create_timer(LOOK, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _topics_of(self) -> str:
        """Returns the namespace of the autopilot's topics."""
        vehicle = self.get_namespace().rsplit("/", 1)[-1]
        index = int(declare(self, "index", 0, "of the vehicle, from 0, by which PX4 SITL counts", *INDICES))
        address = load_px4_settings().address(vehicle, index)
        return str(declare(self, "px4_namespace", address.namespace, "of the autopilot's topics"))

    def _read(self, wanted: tuple[str, ...]) -> None:
        """Reads these of the autopilot's topics, and no others: in flight the quick ones would cost for nothing."""
        if not self._is_reader:
            return
        for name in set(self._reading) - set(wanted):
            self.destroy_subscription(self._reading.pop(name))
            self._heard.forget(name)
        for name in wanted:
            if name not in self._reading:
                kind = messages.message_class(name)
                path = topic(name, version_of(kind), self._space, True)
                take = lambda message, name=name: self._heard.receive(name, message, time.monotonic())  # noqa: E731
                self._reading[name] = self.create_subscription(kind, path, take, QUALITY)

    def _look(self) -> None:
        """Says the brief once all is known, and again where the vehicle stands disarmed at another place."""
        stands = self._stands()
        self._read(HEARD if self._told is None or stands else IN_FLIGHT)
        local, home = self._newest("VehicleLocalPosition"), self._home()
        if local is None or home is None or not (local.xy_global and local.z_global):
            self._tell_of_no_home(home)
            return
        origin = Origin(float(local.ref_lat), float(local.ref_lon), float(local.ref_alt))
        # An autopilot that is started again elsewhere is at 0 of a local frame of another origin.
        if self._told is not None and (not stands or self._is_told(origin, home)):
            return
        self._told = origin, home
        self._out.publish(convert.brief_message(self._brief(local, home)))
        where = ", ".join(f"{value:.1f}" for value in home)
        self.get_logger().info(f"home is {where} m; fence {self._radius:g} m around it, ceiling {self._ceiling:g} m")

    def _tell_of_no_home(self, home: Vector | None) -> None:
        """Says what a flight waits for that was begun before this process: PX4 tells its home when that is set."""
        land = self._newest("VehicleLandDetected")
        if self._told is None and home is None and land is not None and not land.landed:
            words = "in the air, and the autopilot has not told its home since this process began: the governor holds"
            cure = "set home at a ground station, or land it there"
            self.get_logger().warning(f"{words}; {cure}", throttle_duration_sec=10.0)

    def _stands(self) -> bool:
        """Returns whether a flight is over, or has not begun: what stands armed may be in the middle of one."""
        land, status = self._newest("VehicleLandDetected"), self._newest("VehicleStatus")
        return land is not None and status is not None and bool(land.landed) and int(status.arming_state) != ARMED

    def _is_told(self, origin: Origin, home: Vector) -> bool:
        """Returns whether home (m, in a map of this origin) is where it was said to be."""
        assert self._told is not None
        map_, told = self._told
        return float(np.linalg.norm(map_.to_enu(*origin.to_geodetic(home)) - told)) <= CARRIED

    def _home(self) -> Vector | None:
        """Returns home (m, map) as far as it is known."""
        local, land, home = (self._newest(name) for name in HEARD[:3])
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
