"""Power and energy of flight from a scenario's own numbers: momentum theory for rotors, a drag polar for wings.

The paper's equations 6 to 9 are not readable in its copies; exponents and constants here are ours. Power of rotors is
P_hover + k_drag v^3 + payload (W), power being force times speed.
"""

from __future__ import annotations

import math

from esar_ros.suites.uavbench.scenarios.scene import Scene
from esar_ros.suites.uavbench.scenarios.taxonomy import Family

AIR_DENSITY = 1.225  # kg/m^3
GRAVITY = 9.80665  # m/s^2
OSWALD = 0.8  # span efficiency; the files have none
CLIMB_EFFICIENCY = 0.6
STALL_MARGIN = 1.3  # a wing flies at least this many times its stall speed
FUEL_WH_PER_L = 1800.0  # shaft work: 8,900 Wh/L of petrol in a small engine of a fifth


def ideal_hover_power(mass: float, disk_area: float) -> float:
    """Returns the least power (W) by which a rotor without losses holds a mass (kg); disk area in m^2."""
    return (mass * GRAVITY) ** 1.5 / math.sqrt(2.0 * AIR_DENSITY * disk_area)


def stall_speed(mass: float, wing_area: float, cl_max: float) -> float:
    """Returns the speed (m/s) below which a wing does not carry a mass (kg)."""
    return math.sqrt(2.0 * mass * GRAVITY / (AIR_DENSITY * wing_area * cl_max))


def cruise(scene: Scene) -> tuple[float, float]:
    """Returns the speed (m/s) that needs least energy a metre and the power there (W, payloads included)."""
    if scene.family is Family.ROTOR:
        constant, k = (
            scene["/uav/battery_model/hover_power_W"] + scene.payload_power,
            scene["/uav/battery_model/k_drag"],
        )
        best = (constant / (2.0 * k)) ** (1.0 / 3.0) if k > 0.0 else scene.max_speed
        speed = min(best, scene.max_speed)
        return speed, constant + k * speed**3
    # Least drag of a polar cd0 + cl^2 / (pi A e) is where both parts are equal.
    area, cd0 = scene["/uav/aero/wing_area_m2"], scene["/uav/aero/cd0"]
    induced = 1.0 / (math.pi * scene["/uav/aero/aspect_ratio"] * OSWALD)
    weight = scene["/uav/mass_kg"] * GRAVITY
    best = math.sqrt(2.0 * weight / (AIR_DENSITY * area * math.sqrt(cd0 / induced)))
    slowest = STALL_MARGIN * scene["/uav/aero/stall_speed_mps"]
    speed = min(max(best, slowest), scene.max_speed)
    pressure = 0.5 * AIR_DENSITY * speed**2
    drag = pressure * area * cd0 + induced * weight**2 / (pressure * area)
    return speed, drag * speed / scene["/uav/aero/prop_efficiency"] + scene.payload_power


def route_energy(scene: Scene) -> float:
    """Returns the energy (Wh) of the route: cruise, climbs, and the transitions of hybrids."""
    speed, power = cruise(scene)
    climbs = sum(max(0.0, b[2] - a[2]) for a, b in zip(scene.route, scene.route[1:], strict=False))
    joules = power * scene.length / speed + scene["/uav/mass_kg"] * GRAVITY * climbs / CLIMB_EFFICIENCY
    if scene.family is Family.HYBRID:
        profile = scene.get("/mission/transition_profile", {})
        joules += scene["/uav/battery_model/hover_power_W"] * sum(
            profile.get(key, 0.0) for key in ("vtol_to_ff_t_s", "ff_to_vtol_t_s")
        )
    return float(joules / 3600.0)


def energy_on_board(scene: Scene) -> float:
    """Returns the energy (Wh) of the sources that the vehicle flies on: battery, and the work that fuel gives."""
    source, whole = scene["/uav/energy_source"], 0.0
    if source != "fuel":
        whole += scene["/uav/battery_Wh"]
    if source != "battery":
        whole += FUEL_WH_PER_L * scene["/uav/fuel_L"]
    return float(whole)


def usable_energy(scene: Scene) -> float:
    """Returns the energy (Wh) on board less the reserve."""
    return float(energy_on_board(scene) * (1.0 - scene["/uav/reserve_fraction"]))


def energy_share(scene: Scene) -> float:
    """Returns the share of the usable energy that the route takes; infinite where there is none."""
    usable = usable_energy(scene)
    return route_energy(scene) / usable if usable > 0.0 else math.inf
