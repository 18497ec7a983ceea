"""The inputs of the governor and its answer. Map frame ENU, SI units, stamps in s of one clock."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import FARTHEST, FASTEST, Pose, Vector
from esar_ros.mission.modes import Mode, Reason

_MAX_CELLS = 500_000  # of a range image
_MIN_CELL_SIZE = 1e-3  # rad


@dataclass(frozen=True)
class State:
    """The vehicle's state at a stamp, as odometry, autopilot and battery report it."""

    stamp: float  # s
    pose: Pose  # base_link in map
    velocity: Vector  # (3,) m/s, map
    armed: bool
    landed: bool
    battery: float | None = None  # 0..1, None: not measured
    deviation: float | None = None  # m, greatest standard deviation of the position, None: not stated
    obeyed: bool = True  # the vehicle flies the governor's outputs, not something of its autopilot's own
    rates: Vector | None = None  # (3,) rad/s, base_link, of its gyroscopes; None: not stated
    velocity_deviation: float | None = None  # m/s, greatest standard deviation of the velocity; None: not stated

    @property
    def charge(self) -> float | None:
        """Charge of the battery, 0..1; None: not measured, or impossible."""
        return self.battery if self.battery is not None and 0.0 <= self.battery <= 1.0 else None

    @property
    def flying(self) -> bool:
        """The vehicle is in the air."""
        return self.armed and not self.landed

    def is_finite(self) -> bool:
        """Returns whether all numbers are finite, and position, attitude and velocity possible on Earth."""
        turns = self.rates is None or bool(np.isfinite(self.rates).all())
        moves = self.pose.is_possible() and np.abs(self.velocity).max() < FASTEST
        return bool(np.isfinite(self.stamp) and moves and turns)


@dataclass(frozen=True)
class Command:
    """A velocity set-point of the pilot."""

    stamp: float  # s
    velocity: Vector  # (3,) m/s, map
    yaw_rate: float = 0.0  # rad/s, counter-clockwise


def pass_through(command: Command | None) -> tuple[Vector, float]:
    """Returns velocity and yaw rate of a finite command, else of a hold: the output of a governor that only watches."""
    if command is None or not (np.isfinite(command.velocity).all() and np.isfinite(command.yaw_rate)):
        return np.zeros(3), 0.0
    return command.velocity, command.yaw_rate


@dataclass(frozen=True)
class RangeImageData:
    """The nearest obstacle per direction, as in msg/RangeImage.msg.

    Cell (r, c) looks along elevation_min + (r + 0.5) * elevation_step and azimuth_min + (c + 0.5) *
    azimuth_step in the sensor's FLU frame. +inf: nothing within range_max; NaN: invalid or not covered;
    -inf: nearer than range_min.
    """

    stamp: float  # s, when measured
    pose: Pose  # sensor frame (FLU) in map when measured
    azimuth_min: float  # rad
    azimuth_step: float  # rad, > 0
    elevation_min: float  # rad
    elevation_step: float  # rad, > 0
    range_min: float  # m
    range_max: float  # m
    ranges: NDArray[np.float32]  # (rows, columns) m

    def __post_init__(self) -> None:
        grid = (self.azimuth_min, self.azimuth_step, self.elevation_min, self.elevation_step)
        valid = all(abs(angle) <= 2.0 * math.pi for angle in grid)
        valid = valid and min(self.azimuth_step, self.elevation_step) >= _MIN_CELL_SIZE
        if not (valid and 0.0 <= self.range_min < self.range_max < FARTHEST):
            raise ValueError(f"no range image has grid {grid} and reach {self.range_min}..{self.range_max}")
        if self.ranges.ndim != 2 or not 0 < self.ranges.size <= _MAX_CELLS:
            raise ValueError(f"a range image has rows and columns, got shape {self.ranges.shape}")

    def is_finite(self) -> bool:
        """Returns whether stamp and pose can be used; ranges are judged one by one."""
        return bool(np.isfinite(self.stamp) and self.pose.is_possible())


@dataclass(frozen=True)
class SafeCommand:
    """The governor's answer to a step."""

    velocity: Vector  # (3,) m/s, map
    yaw_rate: float  # rad/s
    mode: Mode
    reasons: tuple[Reason, ...]  # all that applied, most severe first
    text: str  # for people
    changed: bool  # differs from the command
    breach: bool  # outside the hard envelope now
    clearance: float | None  # m to the nearest obstacle known
    stopping_distance: float  # m at present speed
    height: float | None  # m above the surface below
    interventions: int = 0  # steps changed in flight so far

    @property
    def reason(self) -> Reason:
        """The most severe reason, NONE when the command passed unchanged."""
        return self.reasons[0] if self.reasons else Reason.NONE


@dataclass
class Findings:
    """The mode, reasons and texts gathered during one decision."""

    mode: Mode = Mode.NORMAL
    reasons: list[Reason] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def add(self, mode: Mode, reason: Reason, text: str) -> None:
        """Notes a reason; the more severe mode wins."""
        self.mode = max(self.mode, mode)
        self.reasons.append(reason)
        self.texts.append(text)
