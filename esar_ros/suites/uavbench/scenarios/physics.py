"""Checks P: hover power, stall, energy, time, wind and load."""

from __future__ import annotations

import math

from esar_ros.suites.uavbench.scenarios.constraints import Told
from esar_ros.suites.uavbench.scenarios.energy import (
    STALL_MARGIN,
    ideal_hover_power,
    route_energy,
    stall_speed,
    usable_energy,
)
from esar_ros.suites.uavbench.scenarios.findings import ERROR, WARNING
from esar_ros.suites.uavbench.scenarios.scene import Scene

MERIT = (0.2, 0.85)  # of rotors that are built
STALL_OFF = 0.25
NEARLY_ALL = 0.8  # of the usable energy
WIND_SHARE = 0.8  # of the greatest speed
PAYLOAD_SHARE = 0.6  # of the mass


def hover(scene: Scene) -> Told:
    """P1: hover power is no less than momentum theory allows, and that of a rotor that can be built."""
    if not scene.family.hovers:
        return
    power = scene["/uav/battery_model/hover_power_W"]
    ideal = ideal_hover_power(scene["/uav/mass_kg"], scene["/uav/rotorcraft/disk_area_m2"])
    pointer, merit = "/uav/battery_model/hover_power_W", ideal / power
    if merit > 1.0:
        yield ERROR, pointer, f"{power:g} W is below the {ideal:.0f} W that a rotor without losses needs"
    elif not MERIT[0] <= merit <= MERIT[1]:
        yield (
            WARNING,
            pointer,
            f"{power:g} W is a figure of merit of {merit:.2f}; rotors reach {MERIT[0]} to {MERIT[1]}",
        )


def stall(scene: Scene) -> Told:
    """P2: the stall speed of a wing fits mass and wing, and the vehicle flies well above it (rotors: warnings)."""
    if not scene.family.has_wing and scene.get("/uav/aero") is None:
        return
    stated = scene["/uav/aero/stall_speed_mps"]
    found = stall_speed(scene["/uav/mass_kg"], scene["/uav/aero/wing_area_m2"], scene["/uav/aero/cl_max"])
    if abs(stated - found) > STALL_OFF * found:
        yield WARNING, "/uav/aero/stall_speed_mps", f"{stated:g} m/s, where mass and wing give {found:.1f}"
    if scene.max_speed < STALL_MARGIN * stated:
        yield (
            ERROR if scene.family.has_wing else WARNING,
            "/uav",
            f"max_speed_mps {scene.max_speed:g} must be {STALL_MARGIN} times the stall speed {stated:g}",
        )


def energy(scene: Scene) -> Told:
    """P3: the route takes less energy than there is above the reserve."""
    needed, usable = route_energy(scene), usable_energy(scene)
    if not usable > 0.0:
        return  # S3
    if needed > usable:
        yield ERROR, "/uav", f"the route takes {needed:.4g} Wh, more than the {usable:.4g} Wh above the reserve"
    elif needed > NEARLY_ALL * usable:
        yield WARNING, "/uav", f"the route takes {needed:.4g} of the {usable:.4g} Wh above the reserve"


def time(scene: Scene) -> Told:
    """P4: the route can be flown within the time budget."""
    takes, budget = scene.length / scene.max_speed, scene["/mission/time_budget_s"]
    if takes > budget:
        yield ERROR, "/mission/waypoints", f"takes {takes:.4g} s at greatest speed, time_budget_s is {budget:g}"


def wind(scene: Scene) -> Told:
    """P5: the vehicle is faster than the wind."""
    mean, gust = scene["/environment/weather/wind_mps"], scene["/environment/weather/gust_mps"]
    if mean >= WIND_SHARE * scene.max_speed:
        yield ERROR, "/environment/weather", f"wind {mean:g} m/s, max_speed_mps {scene.max_speed:g}: it is blown away"
    elif mean + gust >= scene.max_speed:
        yield WARNING, "/environment/weather", f"gusts to {mean + gust:g} m/s, max_speed_mps {scene.max_speed:g}"


def load(scene: Scene) -> Told:
    """P5: payloads weigh no more than the vehicle carries, or the file's own hint says."""
    hint = scene.get("/_hints/payload_rules/max_total_payload_mass_kg")
    most = PAYLOAD_SHARE * scene["/uav/mass_kg"]
    if type(hint) in (int, float) and math.isfinite(hint):
        most = min(most, hint)
    if scene.payload_mass > most + 1e-9:
        yield ERROR, "/uav/payloads", f"weigh {scene.payload_mass:g} kg, more than {most:g} kg"
