"""Velocity commands of a planner that knows nothing of this package: their axes, and until when they count.

Pure: takes numbers and times (s, steady clock) and returns velocities in the map (m/s, ENU).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission import names

BODY, MAP = "body", "map"
AXES = (BODY, MAP)  # of a command: forward, left, up (REP-103); east, north, up
_BODY_FRAMES = (names.BASE_LINK, "base_footprint", "base_stabilized")
_MAP_FRAMES = (names.MAP, names.ODOM)


def axes_of(frame_id: str, default: str) -> str | None:
    """Returns the axes of a command in a frame, whatever the vehicle's prefix; None for a frame that is not known.

    default: the axes of an empty frame_id. Only the heading turns body axes into the map: tilt does not.
    """
    if not frame_id:
        return default
    frame = frame_id.strip("/").rpartition("/")[2]
    if frame in _BODY_FRAMES:
        return BODY
    return MAP if frame in _MAP_FRAMES else None


@dataclass(frozen=True)
class _Given:
    velocity: Vector  # m/s, along its axes
    yaw_rate: float  # rad/s, counter-clockwise
    axes: str
    since: float  # s, when it was given: by its stamp, else its arrival


class ForeignCommand:
    """The newest command, until nothing has repeated it for `timeout` seconds."""

    def __init__(self, timeout: float, axes: str) -> None:
        """axes: one of AXES, of commands that state no frame."""
        self.timeout, self._axes = timeout, axes
        self._given: _Given | None = None
        self.refused = ""  # why the newest command was not taken; empty: it was

    def take(self, velocity: Vector, yaw_rate: float, now: float, frame_id: str = "", age: float = 0.0) -> None:
        """Takes in a command that came at now. age: s by its stamp, 0 where it has none.

        One that is refused takes the place of the one before: the planner wants that no more.
        """
        axes = axes_of(frame_id, self._axes)
        self.refused = ""
        if axes is None:
            known = ", ".join((*_BODY_FRAMES, *_MAP_FRAMES))
            self.refused = f"a command in frame {frame_id}, of which only {known} are known"
        elif not (np.isfinite(velocity).all() and math.isfinite(yaw_rate)):
            self.refused = "a command that is not finite"
        elif abs(age) > self.timeout:
            when = f"{age:.2f} s old" if age > 0.0 else f"{-age:.2f} s ahead"
            self.refused = f"a command {when} by its stamp: synchronise the planner's clock, or send no stamp"
        self._given = None if self.refused or axes is None else _Given(velocity, yaw_rate, axes, now - max(age, 0.0))

    def at(self, now: float, yaw: float) -> tuple[Vector, float] | None:
        """Returns velocity (m/s, map) and yaw rate (rad/s) at a heading (rad); None where no command counts."""
        given = self._given
        if given is None or now - given.since > self.timeout:
            return None
        if given.axes == MAP:
            return given.velocity, given.yaw_rate
        (x, y, z), cos, sin = given.velocity, math.cos(yaw), math.sin(yaw)
        return np.array([cos * x - sin * y, sin * x + cos * y, z]), given.yaw_rate

    def silence(self, now: float) -> float:
        """Returns the s since the newest command that was taken; inf before the first."""
        return math.inf if self._given is None else now - self._given.since
