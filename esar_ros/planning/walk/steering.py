"""Walking along a way, and using the hands at its end: what every agent does that knows where it wants to go."""

from __future__ import annotations

import math

from esar_ros.geometry.frames import Vector, wrap_angle
from esar_ros.mission.rescue import (
    FASTEST,
    SHARPEST,
    TURN_RATE,
    Animation,
    Phase,
    StandingPose,
    WalkAction,
    WalkObservation,
    WalkTask,
)

FLOOR = 1.5
"""m of height between the body's middle and a target on its floor."""
_STRAIGHT = math.radians(25.0)  # rad off the way beyond which it turns on the spot
_INSIDE = 0.8  # share of a gate at which an agent's own hands act


def towards(pose: StandingPose, place: Vector, step: float) -> WalkAction:
    """Returns the action of a step (s) to a place (2,) or (3,) m: on the spot while it lies far off the heading.

    What is nearer than a step is walked to no faster than that takes, so that it is not overshot.
    """
    x, y = place[:2] - pose.position[:2]
    off = wrap_angle(math.atan2(y, x) - pose.yaw)
    angle = math.degrees(off) / (TURN_RATE * step)
    speed = min(FASTEST, math.hypot(x, y) / step) if abs(off) < _STRAIGHT else 0.0
    return WalkAction(speed, min(max(angle, -SHARPEST), SHARPEST))


def hands(observation: WalkObservation, target: Vector, task: WalkTask) -> Animation:
    """Returns what the hands do near a target (3,) m: pick up, put down; without effect in the active mode."""
    if observation.phase is Phase.FIND_INJURED:
        gate, animation = task.pick_up, Animation.CARRY
    else:
        gate, animation = task.put_down, Animation.DROP
    gap = target - observation.pose.position
    near = math.hypot(gap[0], gap[1]) < _INSIDE * gate and abs(gap[2]) < FLOOR
    return animation if near else Animation.STAND
