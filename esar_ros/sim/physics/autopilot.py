"""Motion commands of AirSim's multirotor interface, as set-points for the cascade.

Everything here is ENU, rad, s. A motion steers until it has an outcome; a new one pre-empts it
(outcome False); without one the vehicle holds its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.sim.physics.dynamics import ATTITUDE, DEFAULTS, GRAVITY, VELOCITY, SetPoint

BRAKING = 2.0  # m/s^2, planned deceleration in front of a goal
POSITION_GAIN = 1.0  # 1/s, unless a client sets another
REACHED = 0.2  # m
STILL = 0.3  # m/s
TAKEOFF_HEIGHT = 3.0  # m, as AirSim
TAKEOFF_SPEED = 1.5  # m/s
HOLD_SPEED = 3.0  # m/s, at most, back to the place held


class Flier(Protocol):
    """State of the vehicle available to a motion."""

    @property
    def position(self) -> Vector: ...

    @property
    def velocity(self) -> Vector: ...

    @property
    def yaw(self) -> float: ...

    @property
    def grounded(self) -> bool: ...

    @property
    def position_gain(self) -> float:
        """1/s, speed a metre of distance to a goal."""
        ...

    def height(self) -> float:
        """m above ground."""
        ...


class Turn(Enum):
    """Kind of yaw command."""

    RATE = 1
    ANGLE = 2
    FORWARD = 3  # along the way, plus an angle


@dataclass(frozen=True)
class Heading:
    """Yaw command: rad/s for RATE, rad for ANGLE, an offset in rad for FORWARD."""

    turn: Turn = Turn.RATE
    value: float = 0.0

    def apply(self, setpoint: SetPoint, flier: Flier) -> SetPoint:
        """Fill in the yaw of a set-point."""
        if self.turn is Turn.RATE:
            setpoint.yaw, setpoint.yaw_is_rate = self.value, True
            return setpoint
        setpoint.yaw, setpoint.yaw_is_rate = self.value, False
        if self.turn is Turn.FORWARD:
            vx, vy = setpoint.values[0], setpoint.values[1]
            moving = math.hypot(vx, vy) > STILL
            setpoint.yaw = math.atan2(vy, vx) + self.value if moving else flier.yaw
        return setpoint


class Motion(Protocol):
    """One command. steer() answers a set-point while running, else the outcome."""

    def steer(self, flier: Flier, now: float) -> SetPoint | bool: ...


def toward(flier: Flier, goal: Vector, speed: float) -> Vector:
    """Velocity (m/s) that reaches a point and stops there."""
    gap = goal - flier.position
    distance = float(np.linalg.norm(gap))
    if distance < 1e-9:
        return np.zeros(3)
    return gap * (min(speed, flier.position_gain * distance, math.sqrt(2.0 * BRAKING * distance)) / distance)


@dataclass
class Hold:
    """Stop, then stay; the motion of a vehicle without a command. Never ends."""

    goal: Vector | None = None
    yaw: float | None = None

    def steer(self, flier: Flier, now: float) -> SetPoint:
        """Brake first: the place to hold is where the vehicle came to rest."""
        if self.yaw is None:
            self.yaw = flier.yaw
        if self.goal is None:
            if float(np.linalg.norm(flier.velocity)) > STILL:
                return SetPoint(yaw=self.yaw, yaw_is_rate=False)
            self.goal = flier.position.copy()
        return SetPoint(values=toward(flier, self.goal, HOLD_SPEED), yaw=self.yaw, yaw_is_rate=False)


@dataclass
class Fly:
    """Hold a set-point for a time; z, when given, is held instead of a vertical velocity."""

    mode: int
    values: Vector
    heading: Heading
    until: float  # s, simulation time
    z: float | None = None

    def steer(self, flier: Flier, now: float) -> SetPoint | bool:
        """True once the time is over."""
        if now >= self.until:
            return True
        values = self.values.copy()
        if self.z is not None:
            climb = max(-3.0, min(3.0, 1.5 * (self.z - flier.position[2])))
            if self.mode in (VELOCITY, ATTITUDE):
                values[2] = climb
            else:
                lift = GRAVITY + 3.0 * (climb - flier.velocity[2])
                values[2] = max(0.0, min(1.0, lift / DEFAULTS.thrust))
        return self.heading.apply(SetPoint(self.mode, values), flier)


@dataclass
class Path:
    """Fly along straight legs, the first from where the vehicle is."""

    points: list[Vector]
    speed: float
    heading: Heading
    deadline: float
    lookahead: float = -1.0  # m; negative: by speed
    _legs: NDArray[np.float64] | None = None
    _lengths: NDArray[np.float64] | None = None
    _travelled: float = 0.0

    def steer(self, flier: Flier, now: float) -> SetPoint | bool:
        """True at the end of the last leg, False when the time is over."""
        if self._legs is None or self._lengths is None:
            self._legs = np.array([flier.position.copy(), *self.points])
            self._lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(self._legs, axis=0), axis=1))])
        end = float(self._lengths[-1])
        self._travelled = self._progress(flier.position)
        gap = float(np.linalg.norm(self._legs[-1] - flier.position))
        left = end - self._travelled + (gap if self._travelled >= end - REACHED else 0.0)
        if gap < REACHED and left < 2 * REACHED and float(np.linalg.norm(flier.velocity)) < STILL:
            return True
        if now >= self.deadline:
            return False
        ahead = self.lookahead if self.lookahead > 0.0 else max(1.0, self.speed)
        carrot = self._point(self._travelled + ahead)
        direction = carrot - flier.position
        distance = max(float(np.linalg.norm(direction)), 1e-9)
        speed = min(self.speed, flier.position_gain * left, math.sqrt(2.0 * BRAKING * left))
        return self.heading.apply(SetPoint(values=direction * (speed / distance)), flier)

    @property
    def goal(self) -> Vector:
        """The last point of the path."""
        return self.points[-1]

    def _point(self, along: float) -> Vector:
        assert self._legs is not None and self._lengths is not None
        return np.array([np.interp(along, self._lengths, self._legs[:, k]) for k in range(3)])

    def _progress(self, position: Vector) -> float:
        """Distance along the path of the nearest point that is not behind, on this leg or the next."""
        assert self._legs is not None and self._lengths is not None
        best, best_gap = self._travelled, math.inf
        first = int(np.searchsorted(self._lengths, self._travelled, side="right")) - 1
        for leg in range(max(first, 0), min(first + 2, len(self._legs) - 1)):
            start, segment = self._legs[leg], self._legs[leg + 1] - self._legs[leg]
            length = float(self._lengths[leg + 1] - self._lengths[leg])
            share = float(np.dot(position - start, segment)) / length**2 if length > 0.0 else 1.0
            share = min(1.0, max(0.0, share))
            gap = float(np.linalg.norm(start + share * segment - position))
            if gap < best_gap - 1e-9:
                best, best_gap = float(self._lengths[leg]) + share * length, gap
        return max(best, self._travelled)


@dataclass
class GoTo:
    """Fly straight to a point and stay there."""

    goal: Vector
    speed: float
    heading: Heading
    deadline: float

    def steer(self, flier: Flier, now: float) -> SetPoint | bool:
        """True when there and slow, False when the time is over."""
        near = float(np.linalg.norm(self.goal - flier.position)) < REACHED
        if near and float(np.linalg.norm(flier.velocity)) < STILL:
            return True
        if now >= self.deadline:
            return False
        return self.heading.apply(SetPoint(values=toward(flier, self.goal, self.speed)), flier)


@dataclass
class Rotate:
    """Turn to a heading on the spot."""

    yaw: float
    margin: float  # rad
    deadline: float
    _hold: Hold = field(default_factory=Hold)

    def steer(self, flier: Flier, now: float) -> SetPoint | bool:
        """True when within the margin, False when the time is over."""
        if abs(math.remainder(self.yaw - flier.yaw, math.tau)) < self.margin:
            return True
        if now >= self.deadline:
            return False
        self._hold.yaw = self.yaw
        return self._hold.steer(flier, now)


@dataclass
class Spin:
    """Turn at a rate on the spot for a time."""

    rate: float
    until: float
    _hold: Hold = field(default_factory=Hold)

    def steer(self, flier: Flier, now: float) -> SetPoint | bool:
        """True once the time is over."""
        if now >= self.until:
            return True
        setpoint = self._hold.steer(flier, now)
        setpoint.yaw, setpoint.yaw_is_rate = self.rate, True
        return setpoint


@dataclass
class Land:
    """Descend until the ground carries the vehicle, slower when near."""

    deadline: float
    _spot: Vector | None = None
    _yaw: float = 0.0

    def steer(self, flier: Flier, now: float) -> SetPoint | bool:
        """True once landed, False when the time is over."""
        if flier.grounded:
            return True
        if now >= self.deadline:
            return False
        if self._spot is None:
            self._spot, self._yaw = flier.position.copy(), flier.yaw
        values = toward(flier, np.array([self._spot[0], self._spot[1], flier.position[2]]), HOLD_SPEED)
        values[2] = -min(2.0, max(0.4, 0.5 * flier.height()))
        return SetPoint(values=values, yaw=self._yaw, yaw_is_rate=False)


class Autopilot:
    """Runs one motion at a time and reports to its caller how it ended."""

    def __init__(self) -> None:
        self._motion: Motion | None = None
        self._done: Callable[[bool], None] | None = None
        self._hold = Hold()

    def start(self, motion: Motion, done: Callable[[bool], None]) -> None:
        """Begin a motion; the running one ends with False."""
        self._finish(False)
        self._motion, self._done = motion, done

    def cancel(self) -> None:
        """End the running motion with False and hold where the vehicle comes to rest."""
        self._finish(False)

    def hold(self) -> None:
        """Forget every command and the place held."""
        self._finish(False)
        self._hold = Hold()

    def think(self, flier: Flier, now: float) -> SetPoint:
        """Set-point for the next control step."""
        if self._motion is not None:
            answer = self._motion.steer(flier, now)
            if isinstance(answer, SetPoint):
                return answer
            goal = getattr(self._motion, "goal", None) if answer else None
            self._finish(answer)
            self._hold = Hold(goal)
        return self._hold.steer(flier, now)

    def _finish(self, outcome: bool) -> None:
        done, self._motion, self._done = self._done, None, None
        self._hold = Hold()
        if done is not None:
            done(outcome)
