"""Rotations and rigid poses, and the two conversions between aviation and ROS frames.

World: ENU (x east, y north, z up), REP-103. Body: FLU (x forward, y left, z up). Camera:
optical (x right, y down, z forward). NED and FRD appear only here and in the bridges.
Quaternions are (w, x, y, z), unit norm, and rotate body vectors into the world.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from transforms3d import euler

Vector = NDArray[np.float64]

IDENTITY_QUATERNION = (1.0, 0.0, 0.0, 0.0)

# NED <-> ENU swaps x and y and flips z; FRD <-> FLU flips y and z. Both are their own inverse.
_EAST_NORTH_UP = np.array([1, 0, 2])
_UP_FLIPPED = np.array([1.0, 1.0, -1.0])
_LEFT_UP_FLIPPED = np.array([1.0, -1.0, -1.0])
_HALF = math.sqrt(0.5)
FARTHEST = 1e7  # m, from a map's origin: nothing on Earth is farther
FASTEST = 1e3  # m/s, of a vehicle
_UNIT = 0.1  # by which a rotation's norm may be off: what was rounded, not what was never set
_LEVEL = 1e-12  # horizontal part of a nose that points nowhere on the map


def vector(values: ArrayLike) -> Vector:
    """Return three finite-or-not numbers as float64 of shape (3,)."""
    out = np.asarray(values, dtype=np.float64)
    if out.shape != (3,):
        raise ValueError(f"a vector has three components, got shape {out.shape}")
    return out


def magnitude(values: NDArray[np.float64]) -> float:
    """Length of a vector, with the bits of np.linalg.norm, which takes twice as long for three numbers."""
    flat = values.ravel()
    return math.sqrt(flat.dot(flat))


def wrap_angle(angle: float) -> float:
    """Angle in rad, wrapped into [-pi, pi)."""
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


def quaternion_from_yaw(yaw: float) -> Vector:
    """Level attitude heading yaw (rad, 0 = east, counter-clockwise)."""
    return np.array([math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)])


def quaternion_from_rpy(roll: float, pitch: float, yaw: float) -> Vector:
    """Fixed-axis roll, pitch, yaw in rad (ROS convention)."""
    return np.asarray(euler.euler2quat(roll, pitch, yaw, "sxyz"), dtype=np.float64)


def yaw_from_quaternion(quaternion: ArrayLike) -> float:
    """Heading in rad, 0 = east, counter-clockwise; 0 for a nose straight up or down."""
    w, x, y, z = _unit(quaternion)
    east, north = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z)
    return math.atan2(north, east) if math.hypot(east, north) > _LEVEL else 0.0


def rotation_from_quaternion(quaternion: ArrayLike) -> NDArray[np.float64]:
    """3x3 matrix; the quaternion need not be normalised but must not be zero or non-finite."""
    w, x, y, z = _unit(quaternion)
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def quaternion_from_rotation(rotation: ArrayLike) -> Vector:
    """(w, x, y, z) with w >= 0 of a proper 3x3 rotation (Shepperd, J. Guidance and Control 1, 1978)."""
    (a, b, c), (d, e, f), (g, h, i) = np.asarray(rotation, dtype=np.float64).tolist()
    trace = a + e + i
    maximum = max(trace, a, e, i)
    if maximum == trace:
        q = (1.0 + trace, h - f, c - g, d - b)
    elif maximum == a:
        q = (h - f, 1.0 + a - e - i, b + d, c + g)
    elif maximum == e:
        q = (c - g, b + d, 1.0 - a + e - i, f + h)
    else:
        q = (d - b, c + g, f + h, 1.0 - a - e + i)
    w, x, y, z = _unit(q)
    return np.array([w, x, y, z] if w >= 0.0 else [-w, -x, -y, -z])


def _unit(quaternion: ArrayLike) -> tuple[float, float, float, float]:
    """Four numbers of norm 1. Plain floats: a vehicle's few rotations are not worth an array's overhead."""
    w, x, y, z = np.asarray(quaternion, dtype=np.float64).tolist()
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    if not math.isfinite(norm) or norm < 1e-9:
        raise ValueError(f"not a rotation: quaternion {[w, x, y, z]}")
    return w / norm, x / norm, y / norm, z / norm


def is_rotation(quaternion: ArrayLike) -> bool:
    """Returns whether a quaternion (4,) is a rotation: finite and of norm 1, up to rounding."""
    numbers = np.asarray(quaternion, dtype=np.float64)
    return bool(np.abs(numbers).max() < 2.0 and abs(magnitude(numbers) - 1.0) <= _UNIT)


def ned_to_enu(values: ArrayLike) -> Vector:
    """World vector(s) of shape (..., 3) from NED to ENU; the same call converts back."""
    return np.asarray(values, dtype=np.float64)[..., _EAST_NORTH_UP] * _UP_FLIPPED


enu_to_ned = ned_to_enu


def frd_to_flu(values: ArrayLike) -> Vector:
    """Body vector(s) of shape (..., 3) from FRD to FLU; the same call converts back."""
    return np.asarray(values, dtype=np.float64) * _LEFT_UP_FLIPPED


flu_to_frd = frd_to_flu


def attitude_ned_frd_to_enu_flu(quaternion: ArrayLike) -> Vector:
    """Attitude (w, x, y, z) that rotates FRD into NED, as one that rotates FLU into ENU, with w >= 0."""
    w, x, y, z = _unit(quaternion)
    # Half a turn about (1, 1, 0) / sqrt(2), then the attitude, then half a turn about x.
    q = (_HALF * (w + z), _HALF * (x + y), _HALF * (x - y), _HALF * (w - z))
    return np.array(q if q[0] >= 0.0 else [-v for v in q])


# Both half turns are their own inverse, so the way back is the same product.
attitude_enu_flu_to_ned_frd = attitude_ned_frd_to_enu_flu


@dataclass(frozen=True)
class Pose:
    """Position (m) and attitude of a frame in its parent."""

    position: Vector = field(default_factory=lambda: np.zeros(3))
    quaternion: Vector = field(default_factory=lambda: np.array(IDENTITY_QUATERNION))

    @cached_property
    def rotation(self) -> NDArray[np.float64]:
        """3x3, columns are this frame's axes in the parent; made when first asked for, and nobody writes into it."""
        return rotation_from_quaternion(self.quaternion)

    @property
    def yaw(self) -> float:
        """Heading in rad."""
        return yaw_from_quaternion(self.quaternion)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """4x4 homogeneous transform from this frame to the parent."""
        m = np.eye(4)
        m[:3, :3] = self.rotation
        m[:3, 3] = self.position
        return m

    def apply(self, points: ArrayLike) -> NDArray[np.float64]:
        """Points (..., 3) of this frame, expressed in the parent."""
        return np.asarray(points, dtype=np.float64) @ self.rotation.T + self.position

    def compose(self, child: Pose) -> Pose:
        """Pose of a child of this frame, expressed in this frame's parent."""
        w, x, y, z = np.asarray(self.quaternion, dtype=np.float64).tolist()
        cw, cx, cy, cz = np.asarray(child.quaternion, dtype=np.float64).tolist()
        turned = np.array(
            [
                w * cw - x * cx - y * cy - z * cz,
                w * cx + x * cw + y * cz - z * cy,
                w * cy + y * cw + z * cx - x * cz,
                w * cz + z * cw + x * cy - y * cx,
            ]
        )
        return Pose(self.apply(child.position), turned)

    def inverse(self) -> Pose:
        """Pose of the parent in this frame."""
        rotation = self.rotation
        return Pose(-(rotation.T @ self.position), quaternion_from_rotation(rotation.T))

    def is_finite(self) -> bool:
        """Returns whether every component of position and quaternion is finite."""
        return bool(np.isfinite(self.position).all() and np.isfinite(self.quaternion).all())

    def is_possible(self) -> bool:
        """Returns whether the position lies on Earth and the quaternion is a rotation; False for NaN."""
        return bool(np.abs(self.position).max() < FARTHEST) and is_rotation(self.quaternion)

    def __eq__(self, other: Any) -> bool:
        return (
            isinstance(other, Pose)
            and bool(np.array_equal(self.position, other.position))
            and bool(np.array_equal(self.quaternion, other.quaternion))
        )

    __hash__ = None  # type: ignore[assignment]


def motion_in_parent(frame: Pose, pose: Pose, body_velocity: Vector) -> tuple[Pose, Vector]:
    """Returns pose and velocity (m/s) in a frame's parent of a body known by its pose and its own velocity in that
    frame.

    body_velocity: along the body's axes, as in nav_msgs/Odometry. All numbers returned are NaN when any input is
    implausible: a quaternion that is no rotation, a position off Earth, a speed beyond FASTEST.
    """
    if not (frame.is_possible() and pose.is_possible() and np.abs(body_velocity).max() < FASTEST):
        return Pose(np.full(3, np.nan), np.full(4, np.nan)), np.full(3, np.nan)
    moved = frame.compose(pose)
    return moved, moved.rotation @ body_velocity


def covariance_in_parent(frame: Pose, covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """(6, 6) of a pose (position m^2, rotation rad^2), about the parent's axes in place of the frame's."""
    turn = np.kron(np.eye(2), frame.rotation)
    return np.asarray(turn @ covariance @ turn.T)
