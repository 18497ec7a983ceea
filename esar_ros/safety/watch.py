"""Monitors inputs over time: ages, the clock, repeated scans, the release of a hold; position against velocity, heading
against rates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose, Vector, magnitude, wrap_angle
from esar_ros.mission.modes import Reason

_HOVERING = 0.3  # m/s: a hovering vehicle, and the drift of its odometry, stay below
_TURNING = 0.2  # rad/s, likewise of its heading
_ARM = 5.0  # m: a turn shifts what is so far away by as much as it would be by flying along the arc
_SLEWED = math.radians(20.0)  # of a heading that turned otherwise than its rates: what is 6 m away is 2 m beside
_SLEW_MEMORY = 10.0  # s, time constant after which that is forgotten; a bias of 1 deg/s comes to half of it
_FASTEST_TURN = 4.0  # rad/s, four times what the governor lets a vehicle turn at
_RATES_HOLD = 0.2  # s for which two rates tell the turn between them
_OPTIMISM = 2.0  # times its stated deviation that a velocity is wrong by: PX4 1.17 in SITL 0.26 m/s, stated as 0.13
_WANDERS = 2.5  # s, time constant of that error, there
_SURE = 4.0  # deviations of a residual that the velocity's error explains
_MOST = 4.0  # times a limit that it may explain: who states more is not believed


def usable(stamp: float, now: float, age: float, future: float) -> bool:
    """Returns whether a stamp (s) is at most age old and at most future ahead of now; a NaN never is."""
    return -future <= now - stamp <= age + 1e-9


def age_text(what: str, stamp: float | None, now: float) -> str:
    """Returns the fault of an input's stamp (s) in words."""
    if stamp is None:
        return f"no {what}"
    if not math.isfinite(stamp):
        return f"{what} has no stamp"
    age = now - stamp
    return f"{what} {age:.2f} s old" if age >= 0.0 else f"{what} from {-age:.2f} s ahead"


@dataclass(frozen=True)
class Clock:
    """The last clock reading and the time until which a jump of the clock is waited out."""

    now: float | None = None  # s
    settle_until: float = -math.inf  # s

    def advance(self, now: float, gap: float, settle: float) -> tuple[Clock, float, bool]:
        """Returns the clock at now, the step (s) since the last reading, and whether it went back or over the gap (s).

        After such a jump the clock settles for `settle` seconds.
        """
        if self.now is None:
            return Clock(now), math.inf, False
        step = now - self.now
        jumped = step < 0.0 or step > gap
        return Clock(now, now + settle if jumped else self.settle_until), step, jumped

    @property
    def settling(self) -> bool:
        """A jump of the clock is being waited out."""
        return self.now is not None and self.now < self.settle_until


@dataclass(frozen=True)
class PositionResidual:
    """The displacement of the position less the integral of the velocity (m), forgotten with a time constant.

    A residual beyond its limit is not forgotten: it lasts until the position has come back. The limit is no less than
    what the stated error of the velocity explains: an Ornstein-Uhlenbeck process of deviation s and time constant c
    that is forgotten with T leaves a residual of deviation s T sqrt(c / (T + c)) (Gelb, "Applied Optimal Estimation",
    1974, section 3.8).
    """

    memory: float  # s, time constant
    limit: float  # m
    vector: Vector = field(default_factory=lambda: np.zeros(3))  # m, map
    variance: float = 0.0  # m^2, of what the velocity's stated error explains

    @property
    def size(self) -> float:
        """Length of the residual (m)."""
        return magnitude(self.vector)

    def exceeds_limit(self) -> bool:
        """Returns whether the position is not where the velocity led."""
        return self.size > self.allowed

    @property
    def allowed(self) -> float:
        """The limit (m), or what the velocity's stated error explains, if that is more."""
        explained = _SURE * math.sqrt(self.variance)
        return max(self.limit, min(explained, _MOST * self.limit))

    def updated(self, residual: Vector, step: float, deviation: float = 0.0) -> PositionResidual:
        """Returns the sum after a step (s) with a residual (3,) (m, map) of its own.

        deviation: m/s, as stated of the velocity; 0 where none is. However large it is, it explains no more than is
        ever allowed, so that one absurd statement is forgotten as soon as any.
        """
        kept = 1.0 if self.exceeds_limit() else math.exp(-step / self.memory)
        stated = _OPTIMISM * deviation * self.memory * math.sqrt(_WANDERS / (self.memory + _WANDERS))
        explained = min(_MOST * self.limit / _SURE, stated) ** 2
        variance = kept**2 * self.variance + (1.0 - kept**2) * explained
        return PositionResidual(self.memory, self.limit, kept * self.vector + residual, variance)


@dataclass(frozen=True)
class MotionConsistency:
    """The comparison of position and velocity, which a jump, a drift, a stuck estimator or a wrong frame fails.

    residuals: one of a short memory, which shows what moves fast, and one of a long memory, which shows what creeps.
    """

    stamp: float | None = None  # s
    position: Vector | None = None  # m, map
    velocity: Vector | None = None  # m/s, map
    residuals: tuple[PositionResidual, ...] = ()
    stuck_distance: float = 0.0  # m, integral of the speed while the position repeats bit by bit
    repeated_at: float = -math.inf  # s, stamp of the newest repetition

    @property
    def exceeded(self) -> PositionResidual | None:
        """The largest residual beyond its limit; None while the position agrees with the velocity."""
        beyond = (residual for residual in self.residuals if residual.exceeds_limit())
        return max(beyond, key=lambda residual: residual.size, default=None)

    def updated(
        self, stamp: float, position: Vector, velocity: Vector, gap: float, deviation: float = 0.0
    ) -> MotionConsistency:
        """Returns the comparison after odometry of a stamp (s); deviation (m/s) is what it states of its velocity.

        A position that repeats while the velocity is not zero is stuck until it moves again; the vehicle may then be
        wherever that velocity could have brought it. The same holds after a gap (s) in the odometry. After a clock was
        set back, by an unknown time, the vehicle may be within reach of one gap.
        """
        if self.stamp is None or self.position is None or self.velocity is None:
            return replace(self, stamp=stamp, position=position, velocity=velocity)
        step, moved = stamp - self.stamp, position - self.position
        speed = magnitude(velocity)
        if step > 0.0 and not moved.any() and (speed > _HOVERING or self.stuck_distance > 0.0):
            since = max(stamp - max(self.repeated_at, self.stamp), 0.0)
            return replace(self, stuck_distance=self.stuck_distance + speed * since, repeated_at=stamp)
        if -gap <= step <= gap:
            residual = moved - 0.5 * step * (self.velocity + velocity)
        else:
            reach = self.stuck_distance or max(step, gap) * max(magnitude(self.velocity), speed)
            residual = moved * max(0.0, 1.0 - reach / max(magnitude(moved), 1e-9))
        residuals = tuple(each.updated(residual, abs(step), deviation) for each in self.residuals)
        return MotionConsistency(stamp, position, velocity, residuals)


@dataclass(frozen=True)
class HeadingResidual:
    """The turn of the heading less the integral of its rates (rad), forgotten with a time constant.

    A compass that is suddenly wrong turns all ranges with it. A residual beyond its limit lasts until the heading is
    back. Odometry that repeated bit by bit says nothing of the turning meanwhile: when it moves again, what its rates
    led to counts no more than after a gap.
    """

    stamp: float | None = None  # s
    rotation: NDArray[np.float64] | None = None  # (3, 3) base_link in map
    rate: float | None = None  # rad/s about the map's z; None: not stated
    angle: float = 0.0  # rad, within half a turn
    moved: HeadingResidual | None = None  # before the odometry repeated; None while it does not

    def exceeds_limit(self) -> bool:
        """Returns whether the heading is not where the rates led."""
        return abs(self.angle) > _SLEWED

    def updated(self, stamp: float, pose: Pose, rates: Vector | None) -> HeadingResidual:
        """Returns the residual after odometry of a stamp (s), with rates (3,) (rad/s, base_link) where they are stated.

        Without rates, or after a while without odometry, the vehicle may have turned as fast as any does.
        """
        rotation = pose.rotation
        rate = None if rates is None else float(rotation[2] @ rates)
        after = self._after(stamp, rotation, rate)
        if rate and rate == self.rate and self.rotation is not None and np.array_equal(rotation, self.rotation):
            return replace(after, moved=self.moved or self)
        if self.moved is not None and after.exceeds_limit():
            return self.moved._after(stamp, rotation, rate)
        return after

    def _after(self, stamp: float, rotation: NDArray[np.float64], rate: float | None) -> HeadingResidual:
        """Returns the residual after the step to a stamp (s), rotation and rate (rad/s)."""
        if self.stamp is None or self.rotation is None:
            return HeadingResidual(stamp, rotation, rate)
        step = stamp - self.stamp
        turned = rotation @ self.rotation.T
        turn = math.atan2(turned[1, 0] - turned[0, 1], turned[0, 0] + turned[1, 1])
        if rate is not None and self.rate is not None and abs(step) <= _RATES_HOLD:
            turn -= 0.5 * (rate + self.rate) * step
        else:
            turn = math.copysign(max(abs(turn) - _FASTEST_TURN * abs(step), 0.0), turn)
        kept = 1.0 if self.exceeds_limit() else math.exp(-abs(step) / _SLEW_MEMORY)
        return HeadingResidual(stamp, rotation, rate, wrap_angle(kept * self.angle + turn))


@dataclass(frozen=True)
class ScanRepetition:
    """The distance moved while a range sensor repeats its last scan under new stamps: a sensor that is stuck.

    A healthy sensor never repeats a scan bit by bit while it moves or turns. A scan without any echo is not counted: in
    open air every range may be out of reach for as long as the vehicle flies. A vehicle that hovers may well measure
    the same.
    """

    stamp: float | None = None  # s, of the newest scan
    ranges: NDArray[np.float32] | None = None  # m
    pose: Pose | None = None  # the vehicle's in the map, when the scan came
    repeated: float = 0.0  # m moved since these ranges came first, turns as arcs

    def updated(self, stamp: float, ranges: NDArray[np.float32], pose: Pose, speed: float) -> ScanRepetition:
        """Returns the state after a scan (stamp in s) that came at a pose (map) and a speed (m/s)."""
        if stamp == self.stamp:
            return self
        if self.stamp is None or self.ranges is None or self.pose is None or not _repeats(ranges, self.ranges):
            return ScanRepetition(stamp, ranges, pose)
        distance = magnitude(pose.position - self.pose.position) if speed > _HOVERING else 0.0
        turn = abs(wrap_angle(pose.yaw - self.pose.yaw))
        arc = _ARM * turn if turn > _TURNING * (stamp - self.stamp) else 0.0
        return ScanRepetition(stamp, ranges, pose, self.repeated + distance + arc)

    def repeats(self, stamp: float, ranges: NDArray[np.float32]) -> bool:
        """Returns whether the sensor was stuck already, or another scan (stamp in s) is the last one again.

        This needs neither pose nor speed, and so tells less: a vehicle that hovers may well measure the same.
        """
        again = self.ranges is not None and stamp != self.stamp and _repeats(ranges, self.ranges)
        return again or self.repeated > 0.0


def _repeats(ranges: NDArray[np.float32], previous: NDArray[np.float32]) -> bool:
    """Returns whether a scan with an echo equals the previous one bit by bit."""
    return bool(np.isfinite(ranges).any()) and np.array_equal(ranges, previous, equal_nan=True)


@dataclass(frozen=True)
class Hold:
    """A hold that ends when all its causes have been absent for the release time."""

    reason: Reason = Reason.NONE
    clear_since: float | None = None  # s

    def updated(self, cause: Reason, now: float, release: float) -> Hold:
        """Returns the hold after a step with this cause (NONE: clear); its reason is NONE where it has ended."""
        if cause is not Reason.NONE:
            return Hold(cause)
        if self.reason is Reason.NONE:
            return self
        since = now if self.clear_since is None else self.clear_since
        return Hold() if now - since >= release - 1e-9 else replace(self, clear_since=since)
