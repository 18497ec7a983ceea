"""Motion of the fake autopilot: the wish of each mode, and how its vehicle follows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from fake_facts import (
    ALIGN_HEIGHT,
    CREEP,
    CREEP_FOR,
    DESCEND,
    EXTERNAL,
    HOLD,
    LAND,
    OFFBOARD,
    OVERRIDE,
    REVERSING,
    RTL,
    STANDS,
    TAKE_OFF,
    TERMINATION,
    TICK,
)

from esar_ros.geometry.frames import Pose, enu_to_ned, ned_to_enu, quaternion_from_yaw
from esar_ros.sim.physics.dynamics import SetPoint

if TYPE_CHECKING:
    from fake_autopilot import FakeAutopilot


def fly(fake: FakeAutopilot) -> None:
    body = fake.body
    floor = fake.ground(float(body.position[0]), float(body.position[1]))
    if not fake.armed or fake.nav_state == TERMINATION:
        if body.position[2] <= floor + 0.02:
            body.rest(Pose(np.array([body.position[0], body.position[1], floor]), quaternion_from_yaw(body.yaw)))
            fake.changed = fake.changed or not fake.landed
            fake.landed = True
        else:
            body.fall(np.zeros(3), round(TICK / 0.002))
        return
    velocity, yaw_rate = _wanted(fake)
    lifts = fake.nav_state in (OFFBOARD, TAKE_OFF)  # set-points lift it in no other mode
    if fake.landed and (velocity[2] <= 0.05 or not lifts):
        body.rest(Pose(np.array([body.position[0], body.position[1], floor]), quaternion_from_yaw(body.yaw)))
        return
    body.advance(SetPoint(values=velocity, yaw=yaw_rate).as_array(), np.zeros(3), round(TICK / 0.002))
    fake.charge = max(0.0, fake.charge - TICK / 1500.0)
    if body.position[2] <= floor and velocity[2] <= 0.0:
        body.rest(Pose(np.array([body.position[0], body.position[1], floor]), quaternion_from_yaw(body.yaw)))
        if not fake.landed:
            fake.landed, fake.touched_at, fake.changed = True, fake.now, True
            fake.estimator.aligned = False
    elif body.position[2] > floor + 0.1 and fake.landed:
        fake.landed, fake.flown, fake.changed = False, True, True
    if not fake.estimator.aligned and not fake.landed and body.position[2] > floor + ALIGN_HEIGHT:
        fake.estimator.align_heading()
    body.position[2] = max(float(body.position[2]), floor)


def _wanted(fake: FakeAutopilot) -> tuple[np.ndarray, float]:
    """Velocity (ENU) and yaw rate that the present mode flies."""
    given = fake.setpoint
    if fake.nav_state in (OFFBOARD, EXTERNAL):
        return _of_setpoint(fake, given) if given is not None else (np.zeros(3), 0.0)
    if given is not None and fake.now - fake.setpoint_at < OVERRIDE:
        return _of_setpoint(fake, given)  # no mode keeps them out
    if fake.nav_state in (LAND, DESCEND):
        return np.array([0.0, 0.0, -0.7]), 0.0
    if fake.nav_state == TAKE_OFF:
        left = fake.take_off_to - float(fake.body.position[2])
        if left < 0.3:
            fake.intention = HOLD
            fake.set_mode(HOLD)
        away = np.zeros(2) if fake.take_off_over is None else fake.take_off_over - fake.body.position[:2]
        level = away * min(1.0, 5.0 / max(1e-6, math.hypot(away[0], away[1])))
        return np.array([*level, float(np.clip(left, 0.3, 1.5))]), 0.0
    if fake.nav_state == RTL and fake.home is not None:
        return _homeward(fake), 0.0
    if fake.landed:
        return np.zeros(3), 0.0
    if fake.hold_at is None and float(np.linalg.norm(fake.body.velocity)) > STANDS:
        return np.zeros(3), 0.0
    if fake.hold_at is None:
        fake.hold_at = fake.body.position.copy()
    return np.clip(0.9 * (fake.hold_at - fake.body.position), -3.0, 3.0), 0.0


def _homeward(fake: FakeAutopilot) -> np.ndarray:
    assert fake.home is not None
    away = fake.home - fake.body.position
    if math.hypot(away[0], away[1]) < 1.0:
        return np.array([0.0, 0.0, -0.7])
    climb = np.clip(fake.home[2] + 30.0 - fake.body.position[2], -1.0, 1.5)
    level = away[:2] * min(1.0, 5.0 / max(1e-6, math.hypot(away[0], away[1])))
    return np.array([*(level if climb < 1.0 else np.zeros(2)), climb])


def _of_setpoint(fake: FakeAutopilot, message: Any) -> tuple[np.ndarray, float]:
    """Every number that is not NaN is used, whatever the flags say."""
    velocity = np.array([float(v) for v in message.velocity])
    position = np.array([float(v) for v in message.position])
    estimate = enu_to_ned(fake.body.position) + fake.estimator.jump
    towards = np.clip(0.95 * (position - estimate), -12.0, 12.0)
    mixed = np.where(np.isnan(position), 0.0, towards) + np.where(np.isnan(velocity), 0.0, velocity)
    yaw_rate = 0.0 if math.isnan(message.yawspeed) else -float(message.yawspeed)
    wanted, moving = _creeping(fake, ned_to_enu(mixed)), fake.body.velocity
    if not fake.landed and wanted @ moving < 0.0 and float(np.linalg.norm(moving)) > REVERSING:
        wanted = np.zeros(3)
    return wanted, yaw_rate


def _creeping(fake: FakeAutopilot, wanted: np.ndarray) -> np.ndarray:
    """Returns a velocity (m/s, ENU) that is asked for: a stop in flight ends later than its lag says."""
    speed = float(np.linalg.norm(fake.body.velocity))
    if fake.landed or wanted.any():
        fake.stopping = None
    elif fake.stopping is None:
        fake.stopping = fake.now, fake.body.velocity / max(speed, STANDS)
    if fake.stopping is None or fake.now - fake.stopping[0] > CREEP_FOR:
        return wanted
    return CREEP * fake.stopping[1]
