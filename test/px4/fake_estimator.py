"""The fake autopilot's belief of its place: errors that wander, resets, an origin that is moved, the heading."""

from __future__ import annotations

import math

import numpy as np
from fake_facts import ESTIMATE, ESTIMATE_TIME, EVH, EVV, GROUND_YAW_ERROR, TICK, VELOCITY, VELOCITY_TIME

from esar_ros.geometry.frames import Pose, enu_to_ned, quaternion_from_yaw
from esar_ros.sim.physics.dynamics import Quadrotor


class FakeEstimator:
    """The estimate of a vehicle's motion. Resets count as PX4 counts them."""

    def __init__(self, seed: int) -> None:
        self.eph, self.epv, self.evh, self.evv = 0.29, 0.29, EVH, EVV
        self.jump = np.zeros(3)  # NED, m, by which resets moved the estimate
        self.xy_resets = self.z_resets = self.heading_resets = 0
        self.delta = np.zeros(3)  # of the last reset, as it is told
        self.delta_heading = 0.0
        self.origin_raised = 0.0  # m
        self.aligned = self.heading_good = False  # the heading: in flight alone; once it is good it stays so
        self._error = np.zeros(3)  # m, ENU, of the position
        self._velocity_error = np.zeros(3)  # m/s, ENU
        self._noise = np.random.default_rng(seed)

    def advance(self) -> None:
        """Live for a tick."""
        self._error = self._wandered(self._error, ESTIMATE, ESTIMATE_TIME)
        self._velocity_error = self._wandered(self._velocity_error, VELOCITY, VELOCITY_TIME)

    def _wandered(self, error: np.ndarray, deviation: float, time: float) -> np.ndarray:
        """Returns an error after a tick: an Ornstein-Uhlenbeck process of this deviation and time constant (s)."""
        pushed = deviation * math.sqrt(2.0 * TICK / time) * self._noise.normal(size=3)
        return np.asarray(error * (1.0 - TICK / time) + pushed)

    def position(self, body: Quadrotor) -> np.ndarray:
        """Returns the position (m, NED)."""
        return np.asarray(enu_to_ned(body.position + self._error) + self.jump)

    def velocity(self, body: Quadrotor) -> np.ndarray:
        """Returns the velocity (m/s, NED)."""
        return np.asarray(enu_to_ned(body.velocity + self._velocity_error))

    @property
    def yaw_error(self) -> float:
        """rad, counter-clockwise, of the heading."""
        return 0.0 if self.aligned else GROUND_YAW_ERROR

    def attitude(self, body: Quadrotor) -> np.ndarray:
        """Returns the attitude, ENU and FLU."""
        error = Pose(quaternion=quaternion_from_yaw(self.yaw_error))
        return np.asarray(error.compose(Pose(quaternion=body.quaternion)).quaternion)

    def reset(self, north: float, east: float, down: float = 0.0) -> None:
        """The estimate jumps (m)."""
        self.delta = np.array([north, east, down])
        self.jump = self.jump + self.delta
        self.xy_resets += bool(north or east)
        self.z_resets += bool(down)

    def raise_origin(self, up: float) -> None:
        """The altitude of the origin is moved (m); the step that is told then has the wrong sign."""
        self.reset(0.0, 0.0, up)
        self.origin_raised += up
        self.delta[2] = -up

    def align_heading(self) -> None:
        """The heading is aligned in flight."""
        self.aligned, self.heading_good, self.delta_heading = True, True, GROUND_YAW_ERROR
        self.heading_resets += 1
