"""AirSim's NED and FRD to and from the map's ENU and FLU, with a vehicle's offset.

AirSim counts a vehicle's positions from where its settings place it, in NED metres of the map's
origin; objects and settings count from the origin itself.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from esar_ros.bridges.airsim.types import quaternionr, vector3r
from esar_ros.geometry.frames import (
    Pose,
    Vector,
    attitude_enu_flu_to_ned_frd,
    enu_to_ned,
    ned_to_enu,
    vector,
)


@dataclass(frozen=True)
class VehicleFrame:
    """Origin of a vehicle's AirSim coordinates; the default is the map's origin."""

    offset: Vector = field(default_factory=lambda: np.zeros(3))  # m, ENU, map frame

    @staticmethod
    def of_settings(settings: str, vehicle: str) -> VehicleFrame:
        """Read X, Y, Z of a vehicle from getSettingsString's answer; zero where it names none."""
        own: Any = (json.loads(settings) if settings else {}).get("Vehicles", {}).get(vehicle, {})
        return VehicleFrame(ned_to_enu([float(own.get(axis, 0.0)) for axis in "XYZ"]))

    def position_in_map(self, ned: ArrayLike) -> Vector:
        """Map-frame point of the vehicle's NED."""
        return ned_to_enu(vector(ned)) + self.offset

    def position_to_airsim(self, enu: ArrayLike) -> Vector:
        """The vehicle's NED of a map-frame point."""
        return enu_to_ned(vector(enu) - self.offset)

    def pose_to_airsim(self, pose: Pose) -> dict[str, Any]:
        """AirSim's Pose of a map-frame FLU pose."""
        return {
            "position": vector3r(self.position_to_airsim(pose.position)),
            "orientation": quaternionr(attitude_enu_flu_to_ned_frd(pose.quaternion)),
        }


def yaw_rate_to_airsim(rate: float) -> float:
    """Degrees a second clockwise of rad/s counter-clockwise."""
    return -math.degrees(rate)
