"""Rate limits, of acceleration and jerk: how much an output may differ from the last one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from esar_ros.geometry.frames import Vector, magnitude
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.inputs import Command, Findings
from esar_ros.safety.limits import Limits

MAX_STEP = 0.2  # s of acceleration allowed at once, however long the step was
_TOLERANCE = 1e-9  # m/s


@dataclass(frozen=True)
class AccelerationLimit:
    """The last command's stamp and how fast the speed was allowed to grow, from which the next one's limits follow."""

    stamp: float | None = None  # s, None: the last step had no command
    speed_rate: float | None = None  # m/s^2, >= 0: increase of the speed

    def limited(
        self, velocity: Vector, base: Vector, command: Command | None, step: float, limits: Limits, findings: Findings
    ) -> tuple[Vector, AccelerationLimit]:
        """Returns the velocity (m/s, map), shortened to what is reached from base within step (s), and the new state.

        base: the last output. Slowing down is not limited. A command stands until the next one, so the change that the
        next one asks for is allowed all the time between the two, up to MAX_STEP.
        """
        stamp = None if command is None else command.stamp
        if stamp is not None and self.stamp is not None:
            step = min(max(step, stamp - self.stamp), MAX_STEP)
        output = self._limit_change(velocity, base, limits.acceleration * step, findings)
        output = self._limit_jerk(output, base, limits.jerk, step, findings)
        if stamp == self.stamp:
            return output, self
        speed_rate = float(np.linalg.norm(output) - np.linalg.norm(base)) / max(step, 1e-9)
        return output, AccelerationLimit(stamp, max(speed_rate, 0.0))

    def _limit_change(self, velocity: Vector, base: Vector, max_change: float, findings: Findings) -> Vector:
        """Returns the share of the velocity that lies within max_change (m/s) of base, or nearest to it.

        A velocity of base's direction that is slower than base is returned unchanged.
        """
        if np.linalg.norm(velocity - base) <= max_change + _TOLERANCE:
            return velocity
        square = float(velocity @ velocity)
        along = float(velocity @ base)
        # The largest share s in 0..1 with |s v - base| <= max_change; the nearest one where there is none.
        inside = along * along - square * (float(base @ base) - max_change * max_change)
        share = (along + math.sqrt(inside)) / square if square > 0.0 and inside > 0.0 else along / max(square, 1e-300)
        share = min(max(share, 0.0), 1.0)
        if share == 1.0 or square == 0.0:
            return velocity
        findings.add(Mode.SLOW, Reason.ACCELERATION, "changing too fast")
        return velocity * share

    def _limit_jerk(self, velocity: Vector, base: Vector, jerk: float, step: float, findings: Findings) -> Vector:
        """Returns the velocity, shortened where its speed grows faster than jerk * step above the last rate."""
        speed = magnitude(velocity)
        max_speed = magnitude(base) + ((self.speed_rate or 0.0) + jerk * step) * step
        if self.speed_rate is None or speed <= max_speed + _TOLERANCE:
            return velocity
        findings.add(Mode.SLOW, Reason.ACCELERATION, "speeding up too fast")
        return velocity * (max_speed / speed)
