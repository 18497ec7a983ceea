"""The state that one decision of the governor leaves for the next."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from esar_ros.geometry.frames import Vector
from esar_ros.safety.acceleration import AccelerationLimit
from esar_ros.safety.failsafe import Battery, Latch
from esar_ros.safety.inputs import State
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.station import LastScan, Station
from esar_ros.safety.surroundings.echoes import EchoMonitor
from esar_ros.safety.watch import Clock, HeadingResidual, Hold, MotionConsistency, ScanRepetition
from esar_ros.safety.wind import WindDisturbance


@dataclass(frozen=True)
class Memory:
    """The state of a governor between two decisions, which is never changed: a step makes another one of it."""

    clock: Clock = field(default_factory=Clock)
    hold: Hold = field(default_factory=Hold)
    latch: Latch = field(default_factory=Latch)
    motion: MotionConsistency = field(default_factory=MotionConsistency)
    heading: HeadingResidual = field(default_factory=HeadingResidual)
    scan: ScanRepetition = field(default_factory=ScanRepetition)
    echoes: EchoMonitor = field(default_factory=EchoMonitor)
    wind: WindDisturbance = field(default_factory=WindDisturbance)
    battery: Battery = field(default_factory=Battery)
    acceleration: AccelerationLimit = field(default_factory=AccelerationLimit)
    station: Station = field(default_factory=Station)
    last_scan: LastScan = field(default_factory=LastScan)
    tracked: bool = False  # whether there has been a usable state
    takeoff_column: Vector | None = None  # m, map: take-off spot, until the vehicle is above the floor or leaves it
    rest_position: Vector | None = None  # m, map: where it came to rest on the ground, until it leaves the ground
    last_ground: Vector | None = None  # m, map: point of the ground measured last
    last_output: Vector | None = None  # m/s, map
    landing_aim: Vector | None = None  # m, map: the spot that a landing goes to, since below somebody may be
    backed_off: float = 0.0  # m of backing off by the ranges alone, since the position was known last
    link_lost_since: float | None = None  # s, None while the producer of commands is alive
    deaf_since: float | None = None  # s, None while each vehicle of the team is heard
    interventions: int = 0

    def after(self, state: State, site: Site | None, limits: Limits) -> Memory:
        """Returns the memory after take-off, landing and battery are followed by another state."""
        position = state.pose.position
        column = self.takeoff_column
        if not state.flying:
            column = position.copy()
        elif not self.tracked:
            column = column_at_home(position, site, limits)  # started in the air: perhaps in the middle of a take-off
        elif column is not None:
            left = math.hypot(*(position - column)[:2]) > limits.column_radius
            if left or position[2] - column[2] >= limits.floor:
                column = None
        rest_position = position.copy() if self.rest_position is None else self.rest_position
        battery = self.battery.updated(state, limits.endurance)
        return self.replaced(
            tracked=True,
            takeoff_column=column,
            rest_position=rest_position if state.landed else None,
            last_ground=position.copy() if state.landed else self.last_ground,
            battery=battery.with_drain(state) if state.flying else battery,
            backed_off=0.0,
        )

    def replaced(self, **parts: Any) -> Memory:
        """Returns the memory with other parts, as dataclasses.replace does, which took a tenth of a decision's time."""
        if unknown := parts.keys() - self.__dict__.keys():
            raise TypeError(f"a memory has no {', '.join(unknown)}")
        made = object.__new__(Memory)
        made.__dict__.update(self.__dict__, **parts)
        return made


def column_at_home(position: Vector, site: Site | None, limits: Limits) -> Vector | None:
    """Returns the foot (m, map) of the take-off column above home while a position (m, map) is in it, else None."""
    if site is None:
        return None
    above = position - site.home
    inside = math.hypot(*above[:2]) <= limits.column_radius and above[2] < limits.floor
    return site.home.copy() if inside else None
