"""One vehicle of an AirSim server in ROS frames: its state read, its velocity commanded.

AirSim counts a vehicle's positions in NED from where its settings place it; that point, with axes east,
north, up, is this project's <vehicle>/odom frame.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from esar_ros.bridges.airsim.client import AirSimConnectionError, AirSimError, Caller
from esar_ros.bridges.airsim.frames import VehicleFrame, yaw_rate_to_airsim
from esar_ros.bridges.airsim.types import from_quaternionr, from_vector3r, yaw_mode
from esar_ros.geometry.frames import Pose, Vector, attitude_ned_frd_to_enu_flu, frd_to_flu, ned_to_enu

MAX_DEGREE_OF_FREEDOM = 0  # AirSim's DrivetrainType: heading independent of the way


@dataclass(frozen=True)
class VehicleReading:
    """State at one time. Pose in <vehicle>/odom; velocity ENU, rates FLU."""

    ns: int
    pose: Pose
    velocity: Vector  # m/s, ENU
    angular_velocity: Vector  # rad/s, FLU body
    landed: bool
    armed: bool
    offboard: bool
    ready: bool
    ready_message: str
    collided: bool
    collision_ns: int
    collision_normal: Vector  # ENU
    collision_depth: float  # m
    collision_object: str


@dataclass(frozen=True)
class BatteryReading:
    """Charge 0..1, V and A drawn."""

    charge: float
    voltage: float
    current: float


@dataclass(frozen=True)
class ImuReading:
    """Attitude FLU in ENU (w, x, y, z), rad/s and m/s^2 in FLU; at rest +g on z."""

    attitude: Vector
    angular_velocity: Vector
    linear_acceleration: Vector


class AirSimVehicle:
    """State and commands of one vehicle. Raises AirSimError where the server refuses."""

    def __init__(self, client: Caller, name: str) -> None:
        self.name = name
        self._client = client
        self._armed = False
        self._offboard = False
        self._has_battery = True
        # AirSim does not tell whether a vehicle is armed. One in the air is, whoever armed it.
        self._armed = not self.read().landed  # refuses an unknown vehicle here, by name
        try:
            self.odom_in_map = Pose(VehicleFrame.of_settings(client.call("getSettingsString"), name).offset)
        except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            raise AirSimError(f"the server's settings cannot be read: {str(error)[:160]}") from None

    def take_control(self) -> None:
        """Make the autopilot obey this client's set-points."""
        if not self._offboard:
            self._client.call("enableApiControl", True, self.name)
            self._offboard = bool(self._client.call("isApiControlEnabled", self.name))

    def arm(self, wanted: bool) -> bool:
        """Arm or disarm; whether the autopilot says it did."""
        if wanted:
            self.take_control()
        done = bool(self._client.call("armDisarm", wanted, self.name))
        self._armed = wanted if done else self._armed
        return done

    def send_velocity(self, velocity: Vector, yaw_rate: float, seconds: float) -> None:
        """Velocity set-point (m/s, ENU) and yaw rate (rad/s, counter-clockwise), valid for so long.

        Sent without waiting: AirSim answers motions only when they end.
        """
        x, y, z = (float(v) for v in ned_to_enu(velocity))
        turning = yaw_mode(yaw_rate_to_airsim(yaw_rate), is_rate=True)
        self._client.notify("moveByVelocity", x, y, z, seconds, MAX_DEGREE_OF_FREEDOM, turning, self.name)

    def read(self) -> VehicleReading:
        """The vehicle's state now."""
        state: dict[str, Any] = self._client.call("getMultirotorState", self.name)
        moving = state["kinematics_estimated"]
        collision = state["collision"]
        landed = int(state["landed_state"]) == 0
        return VehicleReading(
            ns=int(state["timestamp"]),
            pose=Pose(
                ned_to_enu(from_vector3r(moving["position"])),
                attitude_ned_frd_to_enu_flu(from_quaternionr(moving["orientation"])),
            ),
            velocity=ned_to_enu(from_vector3r(moving["linear_velocity"])),
            angular_velocity=frd_to_flu(from_vector3r(moving["angular_velocity"])),
            landed=landed,
            # AirSim's state does not tell; its answer to armDisarm does.
            armed=self._armed,
            offboard=self._offboard,
            ready=bool(state.get("ready", True)),
            ready_message=str(state.get("ready_message", "")),
            collided=bool(collision["has_collided"]),
            collision_ns=int(collision["time_stamp"]),
            collision_normal=ned_to_enu(from_vector3r(collision["normal"])),
            collision_depth=float(collision["penetration_depth"]),
            collision_object=str(collision["object_name"]),
        )

    def read_battery(self) -> BatteryReading:
        """Battery; AirSim itself has none, so a server without the extension is always full."""
        if self._has_battery:
            try:
                response = self._client.call("esarGetBattery", self.name)
                return BatteryReading(float(response["charge"]), float(response["voltage"]), float(response["current"]))
            except AirSimConnectionError:
                raise  # which says nothing of what the server has
            except AirSimError:
                self._has_battery = False
        return BatteryReading(1.0, math.nan, math.nan)

    def read_imu(self) -> ImuReading:
        """Inertial measurement."""
        response = self._client.call("getImuData", "", self.name)
        return ImuReading(
            attitude_ned_frd_to_enu_flu(from_quaternionr(response["orientation"])),
            frd_to_flu(from_vector3r(response["angular_velocity"])),
            frd_to_flu(from_vector3r(response["linear_acceleration"])),
        )

    def read_gps(self) -> tuple[float, float, float]:
        """Latitude, longitude (deg) and altitude (m)."""
        point = self._client.call("getGpsData", "", self.name)["gnss"]["geo_point"]
        return float(point["latitude"]), float(point["longitude"]), float(point["altitude"])

    def read_pressure(self) -> float:
        """Static pressure, Pa."""
        return float(self._client.call("getBarometerData", "", self.name)["pressure"])
