"""AirSim's values: NED/FRD dictionaries to and from the simulator's ENU/FLU numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from esar_ros.geometry.frames import Pose, Vector, flu_to_frd, frd_to_flu, ned_to_enu
from esar_ros.sim.physics.drone import Drone

_HALF = math.sqrt(0.5)


class ApiError(Exception):
    """A call that cannot be answered; its text goes to the client."""


def number(value: Any, name: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ApiError(f"{name} must be a finite number, is {value!r:.40}")
    return float(value)


def duration(value: Any, name: str) -> float:
    """Seconds, not negative; AirSim's own default for "no limit" is 3e38."""
    seconds = number(value, name)
    if seconds < 0.0:
        raise ApiError(f"{name} must not be negative, is {seconds:g}")
    return seconds


def text(value: Any, name: str) -> str:
    """Text of a bearable length."""
    if not isinstance(value, str) or len(value) > 512:
        raise ApiError(f"{name} must be text of at most 512 characters")
    return value


def fields(value: Any, keys: tuple[str, ...], name: str) -> list[float]:
    """The named finite numbers of a dictionary."""
    if not isinstance(value, dict):
        raise ApiError(f"{name} must be an object with {', '.join(keys)}")
    return [number(value.get(key), f"{name}.{key}") for key in keys]


def vector3(value: Any, name: str) -> Vector:
    """A Vector3r as it is, (3,)."""
    return np.array(fields(value, ("x_val", "y_val", "z_val"), name))


def attitude(w: float, x: float, y: float, z: float) -> Vector:
    """FRD-in-NED attitude of a FLU-in-ENU one, and the other way round (it is its own inverse)."""
    return np.array([_HALF * (w + z), _HALF * (x + y), _HALF * (x - y), _HALF * (w - z)])


def pose_from(value: Any, name: str, offset: Vector | None = None) -> Pose:
    """Map-frame FLU pose of a Pose counted from an ENU offset."""
    position, quaternion = _pose(value, name)
    enu = ned_to_enu(position)
    return Pose(enu if offset is None else enu + offset, attitude(*quaternion))


def mount_from(value: Any, name: str) -> Pose:
    """FLU pose in base_link of a Pose that is FRD in FRD."""
    position, (w, x, y, z) = _pose(value, name)
    return Pose(frd_to_flu(position), np.array([w, x, -y, -z]))


def _pose(value: Any, name: str) -> tuple[Vector, Vector]:
    """Position and unit quaternion as they are."""
    if not isinstance(value, dict):
        raise ApiError(f"{name} must be an object with position and orientation")
    position = vector3(value.get("position"), f"{name}.position")
    keys = ("w_val", "x_val", "y_val", "z_val")
    quaternion = np.array(fields(value.get("orientation"), keys, f"{name}.orientation"))
    norm = float(np.linalg.norm(quaternion))
    if norm < 1e-6:
        raise ApiError(f"{name}.orientation is not a rotation")
    return position, quaternion / norm


def vector3_dict(values: Vector) -> dict[str, float]:
    """A Vector3r of three numbers as they are."""
    x, y, z = (float(v) for v in values)
    return {"x_val": x, "y_val": y, "z_val": z}


def ned_dict(enu: Vector, offset: Vector | None = None) -> dict[str, float]:
    """A Vector3r of a map-frame point or vector, counted from an ENU offset."""
    x, y, z = (float(v) for v in (enu if offset is None else enu - offset))
    return {"x_val": y, "y_val": x, "z_val": -z}


def quaternion_dict(flu_in_enu: Vector) -> dict[str, float]:
    """A Quaternionr of an attitude."""
    w, x, y, z = (float(v) for v in attitude(*flu_in_enu))
    return {"w_val": w, "x_val": x, "y_val": y, "z_val": z}


def pose_dict(pose: Pose, offset: Vector | None = None) -> dict[str, Any]:
    """A Pose counted from an ENU offset."""
    return {"position": ned_dict(pose.position, offset), "orientation": quaternion_dict(pose.quaternion)}


def nan_pose_dict() -> dict[str, Any]:
    """Returns AirSim's answer for an object that does not exist."""
    nan = math.nan
    return {
        "position": vector3_dict(np.full(3, nan)),
        "orientation": {"w_val": nan, "x_val": nan, "y_val": nan, "z_val": nan},
    }


def kinematics_dict(drone: Drone) -> dict[str, Any]:
    """KinematicsState: world NED, rates and angular acceleration FRD."""
    body = drone.body
    return {
        "position": ned_dict(body.position, drone.offset),
        "orientation": quaternion_dict(body.quaternion),
        "linear_velocity": ned_dict(body.velocity),
        "angular_velocity": vector3_dict(flu_to_frd(body.rates)),
        "linear_acceleration": ned_dict(body.acceleration),
        "angular_acceleration": vector3_dict(flu_to_frd(body.angular_acceleration)),
    }


def geo_point_dict(geodetic: tuple[float, float, float]) -> dict[str, float]:
    """A GeoPoint of degrees and metres."""
    return dict(zip(("latitude", "longitude", "altitude"), geodetic, strict=True))


def yaw_enu(yaw_ned: float) -> float:
    """Heading: 0 = north, clockwise to 0 = east, counter-clockwise; its own inverse (rad)."""
    return math.pi / 2.0 - yaw_ned
