"""A person on foot: a capsule that walks, climbs steps, slides along walls, falls and jumps; the same every time.

Its speeds and turns are those of the public human tracks of RescueBench (Wu et al., 2026). Whether it carries somebody
makes no difference to how it walks.
"""

from __future__ import annotations

import math

import numpy as np

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, Vector, quaternion_from_rotation, quaternion_from_yaw
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import FASTEST, SHARPEST, TURN_RATE, Animation, Head, WalkAction
from esar_ros.sim.walking.contacts import HALF_HEIGHT, STEP_HEIGHT, freed, moved
from esar_ros.sim.world.raycast import NO_HIT
from esar_ros.sim.world.world import World

TICK = 0.02  # s
CROUCHED = 1.2  # m, height of the capsule then
_EYE, _EYE_CROUCHED = 1.6, 1.05  # m above the foot
_AHEAD = 0.2  # m, of the eye before the axis
_LOOK = math.radians(30.0)  # of a head turned up or down
_TURN_RATE = math.radians(TURN_RATE)  # rad/s by degree of an action's angle
_RAMP = 0.15  # s from rest to the greatest speed, and to the greatest turn
_SPEED_STEP, _TURN_STEP = FASTEST * TICK / _RAMP, _TURN_RATE * SHARPEST * TICK / _RAMP
_JUMP = 4.2  # m/s, upwards
_GRAVITY = 9.81  # m/s^2


class Walker:
    """One walker in a world. Time passes in `advance` alone."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.place((0.0, 0.0, 0.0), 0.0)

    def place(self, foot: tuple[float, float, float], yaw: float) -> None:
        """Put the walker somewhere at rest; it falls from there if it stands on nothing.

        foot: m, map frame; yaw: rad. Raises UsageError where that is no place at all.
        """
        if not all(math.isfinite(value) for value in (*foot, yaw)):
            raise UsageError(f"a walker at {foot}, {yaw}: no place", "give finite numbers")
        self._x, self._y, self._foot = (float(value) for value in foot)
        self._yaw = float(yaw)
        self._speed = self._turn = self._rise = 0.0
        self._airborne = True
        self._crouched = False
        self._met = NO_HIT
        self._ticks = 0
        self.action = WalkAction()

    @property
    def seconds(self) -> float:
        """Walked since it was placed, s."""
        return self._ticks * TICK

    @property
    def foot(self) -> Vector:
        """Returns the lowest point of its capsule, (3,) m."""
        return np.array([self._x, self._y, self._foot])

    @property
    def yaw(self) -> float:
        """Returns its heading, rad."""
        return self._yaw

    @property
    def pose(self) -> Pose:
        """Returns the pose (FLU) of its middle: what the game calls the actor's."""
        return Pose(self.foot + [0.0, 0.0, HALF_HEIGHT], quaternion_from_yaw(self._yaw))

    @property
    def eye(self) -> Vector:
        """Returns the position of its camera, (3,) m: what distances to victims and stretchers are measured from."""
        up = _EYE_CROUCHED if self._crouched else _EYE
        ahead = _AHEAD * np.array([math.cos(self._yaw), math.sin(self._yaw)])
        return np.array([self._x + ahead[0], self._y + ahead[1], self._foot + up])

    @property
    def camera(self) -> Pose:
        """Returns the pose of its camera's optical frame, the head raised or lowered by the action in force."""
        pitch = {Head.NONE: 0.0, Head.UP: _LOOK, Head.DOWN: -_LOOK}[self.action.head]
        return Pose(self.eye, quaternion_from_rotation(optical_rotation(self._yaw, pitch)))

    def advance(self, seconds: float) -> None:
        """Walk by `action`, clipped to what takes effect, for a time in whole ticks of TICK."""
        scene = self._world.collision_scene()
        for _ in range(round(seconds / TICK)):
            self._tick(scene)

    def take_hit(self) -> str | None:
        """Returns the name of what it walked against since the last question, None for nothing."""
        met, self._met = self._met, NO_HIT
        return None if met == NO_HIT else self._world.name_of(met)

    def _tick(self, scene: tuple[object, ...]) -> None:
        action = self.action.clipped()
        self._ticks += 1
        self._turn = _towards(self._turn, _TURN_RATE * action.angle, _TURN_STEP)
        self._speed = _towards(self._speed, action.speed, _SPEED_STEP)
        self._yaw = math.remainder(self._yaw + self._turn * TICK, math.tau)
        crouch = action.animation is Animation.CROUCH
        if crouch or (self._crouched and self._can_rise(scene)):
            self._crouched = crouch
        if action.animation is Animation.JUMP and not self._airborne and not self._crouched:
            self._airborne, self._rise = True, _JUMP
        if self._airborne:
            self._rise -= _GRAVITY * TICK
        height = CROUCHED if self._crouched else 2.0 * HALF_HEIGHT
        before = self._foot
        self._x, self._y, self._foot, stands, met = moved(
            scene,
            self._x,
            self._y,
            self._foot,
            self._speed * math.cos(self._yaw) * TICK,
            self._speed * math.sin(self._yaw) * TICK,
            self._rise * TICK if self._airborne else math.nan,
            height,
        )
        if self._airborne and self._rise > 0.0 and self._foot <= before:
            self._rise = 0.0  # the head is at a ceiling
        self._airborne = not stands
        if stands:
            self._rise = 0.0
        if met != NO_HIT:
            self._met = int(met)

    def _can_rise(self, scene: tuple[object, ...]) -> bool:
        return bool(freed(scene, self._x, self._y, self._foot, STEP_HEIGHT, 2.0 * HALF_HEIGHT)[2])


def _towards(value: float, goal: float, step: float) -> float:
    return value + min(max(goal - value, -step), step)
