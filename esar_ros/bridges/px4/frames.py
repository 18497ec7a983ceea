"""Between PX4's frames and this project's: NED/FRD there, ENU/FLU here. The only place where PX4's numbers turn.

PX4's local frame begins where its estimator started, at ref_lat, ref_lon, ref_alt; when the estimator jumps it
says by how much. <vehicle>/odom must not jump (REP-105), so the jumps are moved into map -> odom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.frames import (
    Pose,
    Vector,
    attitude_ned_frd_to_enu_flu,
    enu_to_ned,
    frd_to_flu,
    ned_to_enu,
    wrap_angle,
)
from esar_ros.geometry.geodesy import Origin

POSE_NED = 1  # VehicleOdometry.POSE_FRAME_NED
NAN3 = (math.nan, math.nan, math.nan)
UNREPORTED = -1.0  # REP-145
AHEAD = 1.0  # s, over which a velocity's uncertainty counts as one of the position


def yaw_ned_to_enu(yaw: float) -> float:
    """Heading from north clockwise to heading from east counter-clockwise, rad in [-pi, pi); its own inverse."""
    return wrap_angle(math.pi / 2.0 - yaw)


@dataclass(frozen=True)
class VelocitySetpoint:
    """Numbers of a TrajectorySetpoint. Position and acceleration are NaN: zeros would mean 'fly to the origin'."""

    velocity: tuple[float, float, float]  # m/s, NED
    yawspeed: float  # rad/s, clockwise from above
    position: tuple[float, float, float] = NAN3
    acceleration: tuple[float, float, float] = NAN3
    jerk: tuple[float, float, float] = NAN3
    yaw: float = math.nan  # a yaw would be followed beside the rate


def velocity_setpoint(velocity: ArrayLike, yaw_rate: float) -> VelocitySetpoint:
    """Set-point of a velocity (m/s, ENU) and yaw rate (rad/s, counter-clockwise); ValueError unless all is finite."""
    north, east, down = (float(v) + 0.0 for v in enu_to_ned(velocity))
    if not all(map(math.isfinite, (north, east, down, yaw_rate))):
        raise ValueError(f"velocity {velocity!r}, yaw rate {yaw_rate} are not finite")
    return VelocitySetpoint((north, east, down), 0.0 - yaw_rate)


@dataclass(frozen=True)
class Motion:
    """The autopilot's state estimate. Pose in <vehicle>/odom, twist in base_link."""

    pose: Pose
    velocity: Vector  # m/s, FLU body
    angular_velocity: Vector  # rad/s, FLU body
    pose_covariance: NDArray[np.float64]  # (6, 6) m^2, rad^2; first element -1: not known
    velocity_covariance: NDArray[np.float64]  # (3, 3) (m/s)^2, FLU body; likewise


@dataclass
class LocalFrame:
    """PX4's local frame as <vehicle>/odom: continuous, whatever the estimator's resets do."""

    jump: Vector = field(default_factory=lambda: np.zeros(3))  # m, ENU, of all resets so far
    resets: int = 0
    heading_resets: int = 0
    _counters: tuple[int, int, int] | None = None
    _reference: tuple[float, float, float] | None = None
    _down: float = math.nan  # m, NED, of the last message

    def update(self, local: Any) -> bool:
        """Take in a VehicleLocalPosition. True when map -> odom has changed."""
        before = (self.jump.copy(), self._reference)
        counters = (int(local.xy_reset_counter), int(local.z_reset_counter), int(local.heading_reset_counter))
        if self._counters is not None:
            north, east, down = 0.0, 0.0, 0.0
            if counters[0] != self._counters[0]:
                north, east = float(local.delta_xy[0]), float(local.delta_xy[1])
            if counters[1] != self._counters[1]:
                down = float(local.z) - self._down if self._is_raised(local) else float(local.delta_z)
            self.resets += counters[:2] != self._counters[:2]
            self.heading_resets += counters[2] != self._counters[2]
            moved = ned_to_enu([north, east, down])
            if np.isfinite(moved).all():
                self.jump = self.jump + moved
        self._counters, self._down = counters, float(local.z)
        if local.xy_global and local.z_global:
            self._reference = (float(local.ref_lat), float(local.ref_lon), float(local.ref_alt))
        return not np.array_equal(before[0], self.jump) or before[1] != self._reference

    def _is_raised(self, local: Any) -> bool:
        """Returns whether the origin's altitude has changed: delta_z of PX4 1.17 has the wrong sign then."""
        return self._reference is not None and bool(local.z_global) and float(local.ref_alt) != self._reference[2]

    def odom_in_map(self, origin: Origin) -> Pose | None:
        """Pose of <vehicle>/odom in the map frame with this origin; None before the reference is known."""
        if self._reference is None:
            return None
        return Pose(origin.to_enu(*self._reference) + self.jump)

    def position(self, local: Any) -> Vector:
        """Position (m) of a VehicleLocalPosition in <vehicle>/odom."""
        return ned_to_enu([local.x, local.y, local.z]) - self.jump

    def motion(self, local: Any, odometry: Any) -> Motion | None:
        """Returns pose and twist; None while the autopilot does not estimate them or reports them in another frame.

        Position and velocity are VehicleLocalPosition's, because it reports the resets; attitude and rates are
        VehicleOdometry's.
        """
        numbers = (*odometry.q, *odometry.angular_velocity, local.x, local.y, local.z, local.vx, local.vy, local.vz)
        if int(odometry.pose_frame) != POSE_NED or not all(map(math.isfinite, numbers)):
            return None
        try:
            attitude = attitude_ned_frd_to_enu_flu(odometry.q)
        except ValueError:
            return None
        pose = Pose(self.position(local), attitude)
        rotation = pose.rotation
        velocity = rotation.T @ ned_to_enu([local.vx, local.vy, local.vz])
        return Motion(
            pose,
            velocity,
            frd_to_flu(odometry.angular_velocity),
            pose_covariance(local, odometry),
            _rotated(velocity_covariance(local), rotation),
        )


def pose_covariance(local: Any, odometry: Any) -> NDArray[np.float64]:
    """Returns the covariance (6, 6) from the estimator's health; -1 where unknown.

    eph and epv are standard deviations of the position; evh and evv add what the velocity may be wrong by in a
    second. Dead reckoning, an invalid axis and a number that is no deviation give -1 in all of the position.
    """
    covariance = np.zeros((6, 6))
    health = (local.eph, local.epv, local.evh, local.evv)
    known = (
        local.xy_valid and local.z_valid and local.v_xy_valid and local.v_z_valid and not local.dead_reckoning
        and all(math.isfinite(v) and v >= 0.0 for v in health)
    )  # fmt: skip
    if not known:
        covariance[0, 0] = covariance[1, 1] = covariance[2, 2] = UNREPORTED
    else:
        horizontal = float(local.eph) ** 2 + (AHEAD * float(local.evh)) ** 2
        covariance[0, 0] = covariance[1, 1] = max(horizontal, 1e-6)  # zero would read as 'not stated'
        covariance[2, 2] = max(float(local.epv) ** 2 + (AHEAD * float(local.evv)) ** 2, 1e-6)
    north, east, down = (float(v) if math.isfinite(v) and v >= 0.0 else 0.0 for v in odometry.orientation_variance)
    covariance[3, 3], covariance[4, 4], covariance[5, 5] = east, north, down
    return covariance


def velocity_covariance(local: Any) -> NDArray[np.float64]:
    """(3, 3) (m/s)^2, ENU; -1 first where it is not known."""
    if not (local.v_xy_valid and local.v_z_valid and local.evh >= 0.0 and local.evv >= 0.0):
        return np.diag([UNREPORTED, 0.0, 0.0])
    return np.diag([float(local.evh) ** 2, float(local.evh) ** 2, float(local.evv) ** 2])


def _rotated(covariance: NDArray[np.float64], rotation: NDArray[np.float64]) -> NDArray[np.float64]:
    """A covariance of world axes in body axes; one that is not known stays so."""
    return covariance if covariance[0, 0] < 0.0 else rotation.T @ covariance @ rotation
