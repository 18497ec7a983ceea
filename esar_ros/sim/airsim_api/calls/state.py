"""Vehicle state: pose, kinematics, collision, battery, rotors."""

from __future__ import annotations

from typing import Any

import numpy as np

from esar_ros.geometry.frames import enu_to_ned, frd_to_flu, ned_to_enu
from esar_ros.sim.airsim_api.api import Context, Session, method
from esar_ros.sim.airsim_api.values import (
    ApiError,
    geo_point_dict,
    kinematics_dict,
    ned_dict,
    pose_dict,
    pose_from,
    text,
    vector3,
)
from esar_ros.sim.physics.drone import Drone
from esar_ros.sim.physics.dynamics import GRAVITY
from esar_ros.sim.physics.simulation import VEHICLE_ID_BASE
from esar_ros.sim.sensors.instruments import air_density, air_temperature, pressure_at
from esar_ros.sim.settings import NAME_CURE, VehicleSettings, is_name

LANDED, FLYING = 0, 1
ROTORS = 4


class StateApi:
    """Calls that read a vehicle's state or place it. Positions count from the vehicle's settings offset."""

    def __init__(self, context: Context) -> None:
        self._context = context

    @method("getMultirotorState")
    def state(self, session: Session, vehicle: Any = "") -> dict[str, Any]:
        drone = self._context.drone(vehicle)
        ready = drone.battery.charge > 0.0
        return {
            "collision": self._collision(session, drone),
            "kinematics_estimated": kinematics_dict(drone),
            "gps_location": geo_point_dict(self._context.origin.to_geodetic(drone.position)),
            "timestamp": self._context.simulation.clock.now_ns,
            "landed_state": LANDED if drone.grounded else FLYING,
            "rc_data": _rc(drone),
            "ready": ready,
            "ready_message": "" if ready else "the battery is empty",
            "can_arm": ready,
        }

    @method("simGetVehiclePose")
    def pose(self, session: Session, vehicle: Any = "") -> dict[str, Any]:
        drone = self._context.drone(vehicle)
        return pose_dict(drone.body.pose, drone.offset)

    @method("simSetVehiclePose")
    def set_pose(self, session: Session, pose: Any, ignore_collision: Any, vehicle: Any = "") -> None:
        drone = self._context.drone(vehicle)
        drone.place(pose_from(pose, "pose", drone.offset))

    @method("simGetGroundTruthKinematics")
    def kinematics(self, session: Session, vehicle: Any = "") -> dict[str, Any]:
        return kinematics_dict(self._context.drone(vehicle)) | {"timestamp": self._context.simulation.clock.now_ns}

    @method("simSetKinematics")
    def set_kinematics(self, session: Session, state: Any, ignore_collision: Any, vehicle: Any = "") -> None:
        drone = self._context.drone(vehicle)
        drone.place(pose_from(state, "state", drone.offset))
        if not drone.grounded:
            drone.velocity[:] = ned_to_enu(vector3(state.get("linear_velocity"), "state.linear_velocity"))
            drone.body.rates[:] = frd_to_flu(vector3(state.get("angular_velocity"), "state.angular_velocity"))

    @method("simGetGroundTruthEnvironment")
    def environment(self, session: Session, vehicle: Any = "") -> dict[str, Any]:
        drone = self._context.drone(vehicle)
        geodetic = self._context.origin.to_geodetic(drone.position)
        return {
            "position": ned_dict(drone.position, drone.offset),
            "geo_point": geo_point_dict(geodetic),
            "gravity": ned_dict(np.array([0.0, 0.0, -GRAVITY])),
            "air_pressure": pressure_at(geodetic[2]),
            "temperature": air_temperature(geodetic[2]),
            "air_density": air_density(geodetic[2]),
        }

    @method("simGetCollisionInfo")
    def collision(self, session: Session, vehicle: Any = "") -> dict[str, Any]:
        """has_collided says whether it happened since this connection last asked."""
        drone = self._context.drone(vehicle)
        answer = self._collision(session, drone)
        session.collisions_read[drone.name] = drone.collision.count
        return answer

    @method("getRotorStates")
    def rotors(self, session: Session, vehicle: Any = "") -> dict[str, Any]:
        """Equal shares of the collective thrust (N); torque (N m) and speed (rad/s) by simple proportion."""
        drone = self._context.drone(vehicle)
        thrust = drone.body.thrust * drone.airframe.mass / ROTORS if drone.armed else 0.0
        speed = 600.0 * (drone.body.thrust / GRAVITY) ** 0.5 if drone.armed else 0.0
        rotor = {"thrust": thrust, "torque_scaler": 0.016 * thrust, "speed": speed}
        return {"rotors": [dict(rotor) for _ in range(ROTORS)], "timestamp": self._context.simulation.clock.now_ns}

    @method("esarGetBattery")
    def battery(self, session: Session, vehicle: Any = "") -> dict[str, float]:
        """Charge 0..1, V, A, W: AirSim has no battery."""
        battery = self._context.drone(vehicle).battery
        return {
            "charge": battery.charge,
            "voltage": battery.voltage,
            "current": battery.current,
            "power": battery.power,
        }

    @method("simAddVehicle")
    def add(self, session: Session, name: Any, kind: Any, pose: Any, pawn: Any = "") -> bool:
        """Another multirotor of the first one's make; its coordinates count from where it is put."""
        name = text(name, "vehicle_name")
        if not name or name in self._context.simulation.drones or text(kind, "vehicle_type").lower() != "simpleflight":
            return False
        if not is_name(name):
            raise ApiError(f"{name!r:.60} is no vehicle's name; {NAME_CURE}")
        if len(self._context.simulation.drones) >= 16:
            raise ApiError("there are 16 vehicles already")
        start = pose_from(pose, "pose")
        first = self._context.settings.vehicles[0]
        x, y, z = enu_to_ned(start.position)
        settings = VehicleSettings(name, float(x), float(y), float(z), 0.0, first.cameras, first.sensors)
        airframe = next(iter(self._context.simulation.drones.values())).airframe
        self._context.add(settings, Drone(name, start, start.position.copy(), airframe, self._context.world))
        return True

    def _collision(self, session: Session, drone: Drone) -> dict[str, Any]:
        hit = drone.collision
        name, number_ = "", hit.object_id
        if hit.count:
            name = self._name(hit.object_id)
            if not self._context.may_see_truth(session):
                name, number_ = "obstacle", -1
        return {
            "has_collided": hit.count > session.collisions_read.get(drone.name, 0),
            "normal": ned_dict(hit.normal),
            "impact_point": ned_dict(hit.point, drone.offset) if hit.count else ned_dict(hit.point),
            "position": ned_dict(hit.position, drone.offset) if hit.count else ned_dict(hit.position),
            "penetration_depth": hit.depth,
            "time_stamp": hit.stamp_ns,
            "object_name": name,
            "object_id": number_,
        }

    def _name(self, object_id: int) -> str:
        names = list(self._context.simulation.drones)
        if VEHICLE_ID_BASE <= object_id < VEHICLE_ID_BASE + len(names):
            return names[object_id - VEHICLE_ID_BASE]
        return str(self._context.world.name_of(object_id))


def _rc(drone: Drone) -> dict[str, Any]:
    """The sticks as moveByRC last set them."""
    stick = drone.stick
    return {
        "timestamp": round(stick.stamp * 1e9),
        "pitch": stick.pitch,
        "roll": stick.roll,
        "throttle": stick.throttle,
        "yaw": stick.yaw,
        "left_z": 0.0,
        "right_z": 0.0,
        "switches": 0,
        "vendor_id": "",
        "is_initialized": stick.valid,
        "is_valid": stick.valid,
    }
