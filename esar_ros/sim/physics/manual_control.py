"""Motions in which a hand flies: the motors one by one, and a remote control's sticks. ENU, rad, s."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.sim.physics.autopilot import Flier, Heading, Hold
from esar_ros.sim.physics.dynamics import MOTORS, SetPoint

STICK_AGE = 0.1  # s, older sticks are not obeyed, as AirSim


@dataclass
class Motors:
    """Set the motors' duties 0..1 for a time: front right, rear left, front left, rear right. Nothing balances."""

    duties: tuple[float, float, float, float]
    until: float

    def steer(self, flier: Flier, now: float) -> SetPoint | bool:
        """True once the time is over."""
        if now >= self.until:
            return True
        return SetPoint(MOTORS, np.array(self.duties[:3]), self.duties[3])


@dataclass(frozen=True)
class Stick:
    """A remote control's sticks, as the client sent them; stamp 0 never grows old (s)."""

    roll: float = 0.0
    pitch: float = 0.0
    yaw: float = 0.0
    throttle: float = 0.0
    stamp: float = 0.0
    valid: bool = False


@dataclass
class Manual:
    """Fly as the sticks say, relative to the heading at the start; without fresh sticks: hold."""

    stick: Callable[[], Stick]
    full: Vector  # m/s forward and left, and m upward, per unit of pitch, roll and throttle
    yaw: float  # rad, the heading that roll and pitch refer to
    heading: Heading
    turn: float  # rad of heading, or rad/s, per unit of yaw
    until: float
    _hold: Hold = field(default_factory=Hold)

    def steer(self, flier: Flier, now: float) -> SetPoint | bool:
        """True once the time is over."""
        if now >= self.until:
            return True
        stick = self.stick()
        if not stick.valid or (stick.stamp > 0.0 and now - stick.stamp > STICK_AGE):
            return self._hold.steer(flier, now)
        self._hold = Hold()
        ahead, left, climb = self.full * [stick.pitch, stick.roll, stick.throttle]
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        climb = max(-3.0, min(3.0, 1.5 * climb))
        values = np.array([cos * ahead - sin * left, sin * ahead + cos * left, climb])
        heading = Heading(self.heading.turn, self.heading.value + self.turn * stick.yaw)
        return heading.apply(SetPoint(values=values), flier)
