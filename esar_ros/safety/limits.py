"""The limits of the governor with unit, range and meaning; read from config/safety.yaml, fixed in flight."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, load_settings
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.safety import braking

GROUP = "limits"  # of the parameters that hold them: limits.<key>
TOUCH_DOWN_FROM = 5.0  # m above seen ground, from which a touch-down may begin
ON_GROUND = 1.0  # m: a vehicle that says it has landed has a surface within
STANDING = 0.5  # m/s: and is no faster, the drift of its odometry included


class Limits(StrictModel):
    """The limits, each explained in config/safety.yaml. Frozen: a limit cannot be loosened in flight."""

    # Motion
    speed_horizontal: float = Field(6.0, gt=0, le=25, description="m/s, maximum horizontal speed")
    speed_up: float = Field(3.0, gt=0, le=10, description="m/s, maximum climb")
    speed_down: float = Field(2.0, gt=0, le=10, description="m/s, maximum descent")
    acceleration: float = Field(3.0, gt=0, le=10, description="m/s^2, fastest change of a command, slowing apart")
    jerk: float = Field(20.0, gt=0, le=1000, description="m/s^3, growth of a gain in speed")
    yaw_rate: float = Field(1.0, gt=0, le=4, description="rad/s, maximum turn rate")
    speed_night: float = Field(5.0, gt=0, le=25, description="m/s, maximum between 18 and 6 h local time")
    speed_poor_sight: float = Field(4.0, gt=0, le=25, description="m/s, maximum in fog, dust and heavy weather")
    # Braking model
    deceleration: float = Field(2.5, gt=0, le=10, description="m/s^2, braking achieved in any wind flown in")
    latency: float = Field(0.35, ge=0, le=2, description="s, from an event in the world to the vehicle braking")
    tau: float = Field(0.0, ge=0, le=5, description="s, time constant of the vehicle's velocity response")
    # Obstacles
    body_radius: float = Field(0.5, gt=0, le=5, description="m, sphere that holds the airframe; nearer is a breach")
    obstacle_margin: float = Field(1.5, ge=0, le=20, description="m, kept beyond the body radius")
    push_deadband: float = Field(0.3, ge=0, le=5, description="m, depth inside the margin from which to back off")
    push_speed: float = Field(0.8, ge=0, le=3, description="m/s, fastest backing off from an obstacle or the fence")
    # Unknown space
    speed_unseen_up: float = Field(0.5, gt=0, le=5, description="m/s, climb into air no sensor has seen")
    own_radius: float = Field(1.0, gt=0, le=5, description="m, own swept volume, free by assumption")
    speed_without_map: float = Field(2.0, ge=0, le=25, description="m/s, maximum speed by ranges alone")
    # Height
    floor: float = Field(3.0, ge=0, le=100, description="m above the surface below, save at take-off and landing")
    floor_deadband: float = Field(0.3, ge=0, le=5, description="m below the floor from which the vehicle climbs back")
    floor_climb: float = Field(1.0, gt=0, le=3, description="m/s, climb back above the floor")
    column_radius: float = Field(1.5, gt=0, le=10, description="m, take-off column around the take-off spot")
    ceiling_margin: float = Field(10.0, ge=0, le=100, description="m above the ceiling that count as a breach")
    ground_slope: float = Field(1.0, ge=0, le=5, description="m/m, ground out of sight falls no steeper than this")
    # Fence
    fence_margin: float = Field(5.0, ge=0, le=200, description="m kept inside the fence")
    sea_ceiling: float = Field(10000.0, ge=-500, le=20000, description="m above sea level, never higher")
    # Other vehicles
    separation: float = Field(5.0, gt=0, le=200, description="m, kept between vehicles")
    traffic_age: float = Field(1.0, gt=0, le=30, description="s, older report of a vehicle: it is silent")
    layer_spacing: float = Field(10.0, gt=0, le=200, description="m, between the layers of two vehicles' heights")
    # Estimator
    deviation_slow: float = Field(2.0, gt=0, le=50, description="m, standard deviation of position: slower beyond")
    deviation_hold: float = Field(5.0, gt=0, le=100, description="m, standard deviation of position: hold beyond")
    slip_hold: float = Field(2.0, gt=0, le=50, description="m, position moved otherwise than its velocity: hold")
    slip_memory: float = Field(2.0, gt=0, le=30, description="s, time constant after which a slip is forgotten")
    drift_hold: float = Field(5.0, gt=0, le=100, description="m, the same of a slip that is forgotten slowly: hold")
    drift_memory: float = Field(60.0, gt=0, le=600, description="s, time constant of the slow one")
    scan_repeat: float = Field(
        1.0, gt=0, le=20, description="m flown, or turned 5 m away, while ranges repeat bit by bit: hold"
    )
    # Wind
    wind_limit: float = Field(12.0, gt=0, le=40, description="m/s, mean wind as forecast: no take-off, return beyond")
    blown_slow: float = Field(0.6, gt=0, le=10, description="m/s, of velocity that nobody commanded: slower beyond")
    blown_return: float = Field(1.2, gt=0, le=20, description="m/s, of velocity that nobody commanded: return beyond")
    # Ages
    odometry_age: float = Field(0.2, gt=0, le=5, description="s, older odometry: hold")
    command_age: float = Field(0.2, gt=0, le=5, description="s, older commands are never passed on")
    ranges_age: float = Field(0.25, gt=0, le=5, description="s, older ranges: hold")
    map_age: float = Field(2.5, gt=0, le=30, description="s, older local map: not used, slow")
    heartbeat_age: float = Field(0.4, gt=0, le=10, description="s wall, silent producer of commands: hold")
    future: float = Field(0.02, ge=0, le=1, description="s, a stamp farther ahead of the clock is a fault")
    # Clock and release
    clock_gap: float = Field(1.0, gt=0, le=10, description="s, a longer step of the clock is a jump")
    clock_settle: float = Field(0.5, ge=0, le=10, description="s, hold after a jump")
    release: float = Field(0.3, ge=0, le=10, description="s, all inputs good before a hold ends")
    link_return: float = Field(60.0, gt=0, le=3600, description="s, longer silence: return")
    # Battery and return
    battery_return: float = Field(0.2, ge=0, le=1, description="0..1, charge to return at, however near home")
    battery_land: float = Field(0.07, ge=0, le=1, description="0..1, charge to land at, wherever that is")
    endurance: float = Field(1500.0, gt=0, le=36000, description="s, of a full charge in the worst wind flown in")
    return_speed: float = Field(5.0, gt=0, le=25, description="m/s, on the way home")
    return_height: float = Field(30.0, gt=0, le=500, description="m above ground, on the way home")
    home_radius: float = Field(3.0, gt=0, le=50, description="m, near enough to home to land")
    land_speed: float = Field(0.7, gt=0, le=2, description="m/s, descent to the ground")

    @model_validator(mode="after")
    def _part_layers(self) -> Limits:
        if self.layer_spacing <= self.separation:
            raise ValueError(f"layer_spacing: must be greater than separation, {self.separation:g} m")
        return self

    @property
    def clearance(self) -> float:
        """Distance (m) of the vehicle's centre from obstacles at which it must have stopped."""
        return self.body_radius + self.obstacle_margin

    @property
    def braking_model(self) -> tuple[float, float, float]:
        """The deceleration (m/s^2), latency and tau (s), as the functions of safety/braking.py take them."""
        return self.deceleration, self.latency, self.tau

    def stopping_distance(self, speed: float) -> float:
        """Returns the distance (m) to standstill from speed (m/s)."""
        return float(braking.stopping_distance(speed, *self.braking_model))

    def allowed_speed(self, distance: float) -> float:
        """Returns the greatest speed (m/s) that stops within distance (m)."""
        return float(braking.allowed_speed(distance, *self.braking_model))

    def closing_speed(self, distance: float, closing: float) -> float:
        """Returns the greatest speed (m/s) to command towards something at distance (m), while closing on it (m/s)."""
        return float(braking.closing_speed(distance, closing, *self.braking_model))


def load_limits(path: Path | None = None) -> Limits:
    """Returns the limits of a YAML file, by default the package's own.

    Raises UsageError, also where the package's own hold less of the airframe than config/vehicle.yaml says there is.
    """
    source = path or resource("config/safety.yaml")
    limits = load_settings(Limits, source, "limits")
    if path is None and (radius := load_vehicle().body.radius) > limits.body_radius:
        raise UsageError(
            f"{source}, key body_radius: {limits.body_radius:g} m, the vehicle's body.radius is {radius:g} m",
            "raise it at least so far (config/vehicle.yaml has the other)",
        )
    return limits


def changed_text(message: Any) -> str:
    """Returns the limits of a safety/limits message, as a JSON object."""
    told = {p.name.removeprefix(f"{GROUP}."): float(p.value.double_value) for p in message.new_parameters}
    return json.dumps(told, sort_keys=True)
