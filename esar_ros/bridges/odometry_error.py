"""Error of a position and attitude estimate: slow, smooth and the same for one seed and stamp.

A satellite and inertial estimator (PX4's EKF2) is right to about a metre, wanders slowly, and its velocity is the
derivative of its position to within some cm/s. So each axis is a second-order Gauss-Markov process x'' + 2 w x' + w^2 x
= noise (Gelb, "Applied Optimal Estimation", 1974, section 2.2), stationary with deviation sigma in x and w sigma in x'.
It is drawn on a grid in time, so that a restarted bridge continues with the same error.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose, Vector, magnitude, quaternion_from_rotation
from esar_ros.mission.vehicle import OdometryErrorSpec

GRID = 50_000_000  # ns between draws
AXES = 6  # east, north, up (m), then rotation about them (rad)


@dataclass(frozen=True)
class Estimate:
    """A vehicle's pose and velocity as an estimator would give them."""

    pose: Pose
    velocity: Vector  # m/s


class OdometryError:
    """Error of one vehicle's estimator."""

    def __init__(self, spec: OdometryErrorSpec, seed: int, vehicle: str) -> None:
        """seed, vehicle: choose the error; other seeds and vehicles err independently."""
        self._sigma = np.array(
            [spec.horizontal, spec.horizontal, spec.vertical]
            + [math.radians(spec.tilt_deg)] * 2
            + [math.radians(spec.heading_deg)]
        )
        frequency = np.array([1.0 / spec.position_time] * 3 + [1.0 / spec.attitude_time] * 3)
        self._transition, self._root = _discrete(frequency, GRID * 1e-9)
        digest = hashlib.sha256(f"odometry/{seed}/{vehicle}".encode()).digest()
        self._seed = int.from_bytes(digest[:8], "little")
        self._frequency = frequency
        self._restart()

    def _restart(self) -> None:
        self._random = np.random.Generator(np.random.PCG64(self._seed))
        first = self._random.standard_normal((AXES, 2))
        first[:, 1] *= self._frequency
        self._index = 0
        self._state = first  # (AXES, 2) value and rate in units of sigma, at _index
        self._next = self._advanced(first)

    def _advanced(self, state: NDArray[np.float64]) -> NDArray[np.float64]:
        noise = self._random.standard_normal((AXES, 2))
        moved = np.einsum("aij,aj->ai", self._transition, state) + np.einsum("aij,aj->ai", self._root, noise)
        return np.asarray(moved)

    def at(self, ns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Error (6,) at a stamp, m and rad about the axes of the odometry frame, and its rate (6,) a second."""
        index, rest = divmod(max(ns, 0), GRID)
        if index < self._index:
            self._restart()  # the clock was set back
        while self._index < index:
            self._state, self._next = self._next, self._advanced(self._next)
            self._index += 1
        share = rest / GRID
        value, rate = ((1.0 - share) * self._state + share * self._next).T
        return self._sigma * value, self._sigma * rate

    def estimate(self, ns: int, pose: Pose, velocity: Vector) -> Estimate:
        """The estimate of a true pose and velocity (m/s) in the odometry frame."""
        error, rate = self.at(ns)
        return Estimate(
            Pose(
                pose.position + error[:3],
                quaternion_from_rotation(_rotation(error[3:]) @ pose.rotation),
            ),
            velocity + rate[:3],
        )

    @property
    def pose_covariance(self) -> NDArray[np.float64]:
        """(6, 6) m^2 and rad^2: x, y, z, rotation about x, y, z."""
        return np.diag(self._sigma**2)

    @property
    def velocity_covariance(self) -> NDArray[np.float64]:
        """(3, 3) (m/s)^2."""
        return np.diag((self._sigma * self._frequency)[:3] ** 2)


def _discrete(frequency: NDArray[np.float64], dt: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Exact transition (N, 2, 2) over dt, and a root of the noise's covariance that keeps the process stationary."""
    w = frequency
    fading = np.exp(-w * dt)
    transition = np.empty((len(w), 2, 2))
    transition[:, 0, 0] = fading * (1.0 + w * dt)
    transition[:, 0, 1] = fading * dt
    transition[:, 1, 0] = -fading * w * w * dt
    transition[:, 1, 1] = fading * (1.0 - w * dt)
    stationary = np.zeros_like(transition)
    stationary[:, 0, 0] = 1.0
    stationary[:, 1, 1] = w * w
    noise = stationary - transition @ stationary @ transition.transpose(0, 2, 1)
    # The covariance's smaller eigenvalue is of the order (w dt)^3 of the greater: a symmetric root bears rounding.
    values, vectors = np.linalg.eigh(noise)
    root = vectors * np.sqrt(np.clip(values, 0.0, None))[:, None, :]
    return transition, root


def _rotation(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rodrigues' formula: rotation matrix of a rotation vector (3,), rad."""
    angle = magnitude(vector)
    if angle < 1e-12:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * cross @ cross)
