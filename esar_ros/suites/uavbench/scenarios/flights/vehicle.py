"""A scenario's vehicle in the simulator, and the limits under which governor and pilot fly it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from esar_ros.flight.limits import PilotLimits, load_pilot_limits
from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission.errors import UsageError
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.safety.limits import Limits, load_limits
from esar_ros.safety.site import Site
from esar_ros.sim.physics.drone import CLEARANCE, Drone
from esar_ros.sim.physics.dynamics import DEFAULTS, GRAVITY
from esar_ros.suites.uavbench.scenarios.energy import energy_on_board
from esar_ros.suites.uavbench.scenarios.flights.air import LevelGround
from esar_ros.suites.uavbench.scenarios.scene import Scene

FASTEST = 25.0  # m/s, the limits' own range
_FARTHEST = 200.0  # m, separation
_FLOOR = (1.0, 90.0)  # m
_TILT_IN_USE = 0.7  # share of the greatest tilt's pull that steady flight may take
_BELOW_CEILING = 1.0  # m kept
_HOME_HEIGHT = 30.0  # m, of a return, where the band allows it
_SIDES = 32  # of the polygon around a zone
_PILOT = 0.85  # of the governor's speeds, so that it is normally not touched


@dataclass(frozen=True)
class Setup:
    """Everything that a flight is set up with."""

    drone: Drone
    limits: Limits
    pilot: PilotLimits
    site: Site
    capped: tuple[str, ...]  # what was capped, in words


def set_up(scene: Scene) -> Setup:
    """Returns the vehicle at rest below its spawn. The flight's origin is the spawn's place on the ground.

    Raises UsageError for what the governor cannot be given.
    """
    capped = []
    speed = min(scene.max_speed, FASTEST, _sustained(scene))
    if speed < scene.max_speed:
        capped.append(f"speed {speed:.1f} m/s of {scene.max_speed:g}")
    low, high = scene.band
    floor = min(max(low, _FLOOR[0]), _FLOOR[1])
    if floor != low:
        capped.append(f"floor {floor:g} m of {low:g}")
    separation = min(scene.separation, _FARTHEST)
    if separation != scene.separation:
        capped.append(f"separation {separation:g} m of {scene.separation:g}")
    energy, power = energy_on_board(scene), scene["/uav/battery_model/hover_power_W"] + scene.payload_power
    climb = min(float(scene.get("/uav/rotorcraft/max_climb_mps", 3.0)), 4.0)
    reserve = float(scene["/uav/reserve_fraction"])
    home_height = min(_HOME_HEIGHT, max(floor + 1.0, 0.5 * (low + high)))
    limits = load_limits().model_copy(
        update={
            "speed_horizontal": speed,
            "speed_up": climb,
            "speed_unseen_up": climb,
            "floor": floor,
            "separation": separation,
            "battery_return": reserve,
            "battery_land": 0.5 * reserve,
            "return_height": home_height,
            "return_speed": _PILOT * speed,
            "endurance": min(36000.0, max(1.0, energy / power * 3600.0)),
        }
    )
    pilot = load_pilot_limits()
    pilot = pilot.model_copy(
        update={
            "speed": _PILOT * speed,
            "speed_up": _PILOT * climb,
            "take_off_speed": min(2.0, _PILOT * climb),
            "take_off_height": floor + 3.0,
            "return_height": home_height,
        }
    )
    body = load_vehicle().body.model_copy(
        update={"mass": scene["/uav/mass_kg"], "hover_power": power, "battery_energy": max(energy, 1e-3)}
    )
    yaw = math.radians(90.0 - scene["/spawn/yaw_deg"])
    start = Pose(np.array([0.0, 0.0, body.radius + CLEARANCE]), quaternion_from_yaw(yaw))
    drone = Drone("scenario", start, np.zeros(3), body, LevelGround())
    tilt = math.radians(scene["/uav/max_tilt_deg"])
    drone.body.limits = drone.body.limits._replace(tilt=tilt)
    return Setup(drone, limits, pilot, _site(scene, high), tuple(capped))


def _site(scene: Scene, high: float) -> Site:
    corners = np.array(scene.fence, dtype=np.float64) - scene.spawn[:2]
    around = 2.0 * math.pi * np.arange(_SIDES) / _SIDES
    unit = np.column_stack([np.cos(around), np.sin(around)]) / math.cos(math.pi / _SIDES)  # around the circle
    zones = tuple(np.array(z.center) - scene.spawn[:2] + z.radius * unit for z in scene.zones)
    if not high > _BELOW_CEILING:
        raise UsageError(f"the altitude band ends at {high:g} m", "give it room to fly")
    return Site(corners, high - _BELOW_CEILING, np.zeros(3), zones)


def _sustained(scene: Scene) -> float:
    """Returns the ground speed (m/s) that the simulated airframe keeps against the wind at its greatest tilt."""
    pull = _TILT_IN_USE * GRAVITY * math.tan(math.radians(scene["/uav/max_tilt_deg"]))
    linear, quadratic = DEFAULTS.drag_linear, DEFAULTS.drag_quadratic
    air = (-linear + math.sqrt(linear**2 + 4.0 * quadratic * pull)) / (2.0 * quadratic)
    profile = [layer["wind_mps"] for layer in scene.get("/environment/wind_profile", ())]
    wind = max([scene["/environment/weather/wind_mps"], *profile]) + scene["/environment/weather/gust_mps"]
    return float(max(2.0, air - wind))
