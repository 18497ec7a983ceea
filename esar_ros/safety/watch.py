"""Whether inputs can be trusted: age of each, the clock itself, and a hold that lasts until all are good again."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission.modes import Reason

_STANDING = 0.3  # m/s: what a hovering vehicle and the drift of its odometry stay below


def usable(stamp: float, now: float, age: float, future: float) -> bool:
    """Whether a stamp (s) is at most age old and at most future ahead of now; a NaN never is."""
    return -future <= now - stamp <= age + 1e-9


def age_text(what: str, stamp: float | None, now: float) -> str:
    """What is wrong with an input's stamp, for people."""
    if stamp is None:
        return f"no {what}"
    if not math.isfinite(stamp):
        return f"{what} has no stamp"
    age = now - stamp
    return f"{what} {age:.2f} s old" if age >= 0.0 else f"{what} from {-age:.2f} s ahead"


@dataclass(frozen=True)
class Clock:
    """The last time seen and until when a jump of it is waited out."""

    now: float | None = None
    settle_until: float = -math.inf

    def advance(self, now: float, gap: float, settle: float) -> tuple[Clock, float, bool]:
        """Clock at now, step since the last (s), and whether the step jumped back or over more than gap (s)."""
        if self.now is None:
            return Clock(now), math.inf, False
        step = now - self.now
        jumped = step < 0.0 or step > gap
        return Clock(now, now + settle if jumped else self.settle_until), step, jumped

    @property
    def settling(self) -> bool:
        """Whether a jump is still waited out."""
        return self.now is not None and self.now < self.settle_until


@dataclass(frozen=True)
class Slip:
    """By how much the position moved otherwise than the velocity says (m), forgotten with a time constant.

    What exceeds its limit is not forgotten any more: it lasts until the position has come back.
    """

    memory: float  # s
    most: float  # m
    vector: Vector = field(default_factory=lambda: np.zeros(3))

    @property
    def size(self) -> float:
        """m."""
        return float(np.linalg.norm(self.vector))

    def is_beyond(self) -> bool:
        """Whether the position is not where the velocity led."""
        return self.size > self.most

    def grown(self, otherwise: Vector, step: float) -> Slip:
        """After another step (s) in which the position moved so much (m) otherwise."""
        kept = 1.0 if self.is_beyond() else math.exp(-step / self.memory)
        return replace(self, vector=kept * self.vector + otherwise)


@dataclass(frozen=True)
class Motion:
    """Whether the position moves as the velocity says: a jump, a drift, a stuck estimator, a wrong frame do not.

    slips: of a short memory, which sees what moves fast, and of a long one, which sees what creeps.
    """

    stamp: float | None = None  # s
    position: Vector | None = None  # m
    velocity: Vector | None = None  # m/s
    slips: tuple[Slip, ...] = ()
    stuck: float = 0.0  # m that the velocity led while the position repeated bit by bit
    seen: float = -math.inf  # s, stamp of the newest repetition

    @property
    def lost(self) -> Slip | None:
        """The greatest slip beyond its limit; None while the position agrees with the velocity."""
        return max((slip for slip in self.slips if slip.is_beyond()), key=lambda slip: slip.size, default=None)

    def moved(self, stamp: float, position: Vector, velocity: Vector, gap: float) -> Motion:
        """After odometry of a stamp (s).

        A position that repeats while the velocity says that it flies is stuck until it moves again, and then may be
        wherever that velocity could have brought it. So may it after a gap (s) in the odometry; and within reach of one
        gap after a clock was set back, which tells nothing of the time that passed.
        """
        if self.stamp is None or self.position is None or self.velocity is None:
            return replace(self, stamp=stamp, position=position, velocity=velocity)
        step, way = stamp - self.stamp, position - self.position
        speed = float(np.linalg.norm(velocity))
        if step > 0.0 and not way.any() and (speed > _STANDING or self.stuck > 0.0):
            since = max(stamp - max(self.seen, self.stamp), 0.0)
            return replace(self, stuck=self.stuck + speed * since, seen=stamp)
        if -gap <= step <= gap:
            otherwise = way - 0.5 * step * (self.velocity + velocity)
        else:
            reach = self.stuck or max(step, gap) * max(float(np.linalg.norm(self.velocity)), speed)
            otherwise = way * max(0.0, 1.0 - reach / max(float(np.linalg.norm(way)), 1e-9))
        slips = tuple(slip.grown(otherwise, abs(step)) for slip in self.slips)
        return Motion(stamp, position, velocity, slips)


@dataclass(frozen=True)
class Scan:
    """Whether ranges change while the vehicle moves: a sensor that is stuck repeats its last scan under new stamps.

    A sound one never repeats a scan bit by bit while it moves. Where nothing returns there is nothing to repeat: in
    open air every range may be out of reach for as long as one flies. A vehicle that stands may well see the same.
    """

    stamp: float | None = None  # s, of the newest scan
    ranges: NDArray[np.float32] | None = None
    position: Vector | None = None  # m, of the vehicle when it came
    repeated: float = 0.0  # m flown since these ranges came first

    def taken(self, stamp: float, ranges: NDArray[np.float32], position: Vector, speed: float) -> Scan:
        """After a scan (stamp in s) that came while the vehicle was at a position (m) with a speed (m/s)."""
        if stamp == self.stamp:
            return self
        if self.ranges is None or self.position is None or not _repeats(ranges, self.ranges):
            return Scan(stamp, ranges, position)
        way = float(np.linalg.norm(position - self.position)) if speed > _STANDING else 0.0
        return Scan(stamp, ranges, position, self.repeated + way)


def _repeats(ranges: NDArray[np.float32], before: NDArray[np.float32]) -> bool:
    return bool(np.isfinite(ranges).any()) and np.array_equal(ranges, before, equal_nan=True)


@dataclass(frozen=True)
class Hold:
    """A hold ends when all its causes have been absent for the release time."""

    reason: Reason = Reason.NONE
    good_since: float | None = None

    def update(self, cause: Reason, now: float, release: float) -> Hold:
        """Hold after a step with this cause (NONE: all good); its reason is NONE when not holding."""
        if cause is not Reason.NONE:
            return Hold(cause)
        if self.reason is Reason.NONE:
            return self
        since = now if self.good_since is None else self.good_since
        return Hold() if now - since >= release - 1e-9 else replace(self, good_since=since)
