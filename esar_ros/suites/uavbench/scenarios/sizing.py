"""Vehicles sized backwards from physics: payload, mass, disk or wing, power; the battery follows from the route."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from esar_ros.suites.uavbench.scenarios.energy import (
    FUEL_WH_PER_L,
    GRAVITY,
    ideal_hover_power,
    route_energy,
    stall_speed,
)
from esar_ros.suites.uavbench.scenarios.scene import Scene
from esar_ros.suites.uavbench.scenarios.taxonomy import FAMILIES

_MERIT = (0.6, 0.75)  # figure of merit of the rotors
_DISK_LOADING = (30.0, 80.0)  # N/m^2
_WING_LOADING = (40.0, 140.0)  # N/m^2
_MOST_PAYLOAD = 0.3  # of the mass
_MASS: dict[str, tuple[float, float]] = {  # kg
    "quadrotor": (1.5, 6.0), "hexacopter": (3.0, 10.0), "octocopter": (6.0, 18.0), "heavy_lift": (15.0, 60.0),
    "swarm_drone": (1.2, 2.5), "helicopter": (10.0, 80.0), "fixed_wing": (3.0, 25.0), "glider": (3.0, 12.0),
    "solar_wing": (5.0, 30.0), "haps": (40.0, 120.0), "amphibious": (6.0, 25.0), "vtol_tiltrotor": (5.0, 30.0),
    "convertiplane": (8.0, 40.0),
}  # fmt: skip
_ROTORS = {"quadrotor": 4, "hexacopter": 6, "octocopter": 8, "heavy_lift": 8, "swarm_drone": 4, "helicopter": 1}
_FUELLED = frozenset({"helicopter", "heavy_lift", "amphibious", "convertiplane"})


class _Payload(NamedTuple):
    type: str
    category: str
    mass: float  # kg
    power: float  # W
    drag_area: float  # m^2
    mount: str


_PAYLOADS = (
    _Payload("rgb_camera", "imaging_optical", 0.3, 6.0, 0.005, "gimbal"),
    _Payload("thermal_camera", "imaging_thermal", 0.35, 7.0, 0.005, "gimbal"),
    _Payload("lidar", "imaging_advanced", 1.0, 20.0, 0.01, "belly"),
    _Payload("radio_repeater", "comms_relay", 0.7, 12.0, 0.006, "top"),
    _Payload("gas_sensor", "infra_oil_gas", 0.6, 10.0, 0.008, "nose"),
    _Payload("parcel", "delivery_package", 1.5, 0.0, 0.02, "bay"),
    _Payload("medical_box", "delivery_medical", 2.0, 4.0, 0.02, "bay"),
    _Payload("life_raft", "public_safety_sar", 6.0, 0.0, 0.05, "tether"),
)


def vehicle(random: Random, kind: str) -> dict[str, Any]:
    """Returns the vehicle of a type, without what it flies on (`fill`)."""
    family = FAMILIES[kind]
    mass = round(random.uniform(*_MASS[kind]), 1)
    payloads, left = [], _MOST_PAYLOAD * mass
    for payload in random.sample(_PAYLOADS, random.randint(0, 2)):
        if payload.mass <= left:
            left -= payload.mass
            payloads.append(
                {
                    "type": payload.type,
                    "category": payload.category,
                    "mass_kg": payload.mass,
                    "power_W": payload.power,
                    "drag_cdA": payload.drag_area,
                    "mount": payload.mount,
                }
            )
    made: dict[str, Any] = {
        "type": kind,
        "mass_kg": mass,
        "battery_Wh": 0.0,
        "fuel_L": 0.0,
        "energy_source": random.choice(("fuel", "hybrid")) if kind in _FUELLED and random.random() < 0.5 else "battery",
        "max_speed_mps": round(random.uniform(10.0, 22.0), 1),
        "max_tilt_deg": random.choice((25, 30, 35, 45)),
        "reserve_fraction": random.choice((0.15, 0.2, 0.25, 0.3)),
        "payloads": payloads,
    }
    disk = mass * GRAVITY / random.uniform(*_DISK_LOADING)
    hover = ideal_hover_power(mass, disk) / random.uniform(*_MERIT)
    made["battery_model"] = {
        "hover_power_W": round(hover, 1),
        "k_drag": round(0.012 * mass ** (2.0 / 3.0) * random.uniform(0.8, 1.3), 4),  # frontal areas grow so
        "k_manoeuvre": round(0.1 * hover, 1),
    }
    if family.hovers:
        made["rotorcraft"] = {
            "rotor_count": _ROTORS.get(kind) or random.choice((2, 4)),
            "disk_area_m2": round(disk, 4),
            "max_climb_mps": round(random.uniform(2.5, 6.0), 1),
            "hover_ceiling_m": random.choice((1500, 2500, 3500)),
        }
    if family.has_wing:
        wing, lift = round(mass * GRAVITY / random.uniform(*_WING_LOADING), 3), round(random.uniform(1.2, 1.6), 2)
        stall = round(stall_speed(mass, wing, lift), 1)
        made["aero"] = {
            "wing_area_m2": wing,
            "aspect_ratio": round(random.uniform(6.0, 20.0), 1),
            "cl_max": lift,
            "cd0": round(random.uniform(0.02, 0.05), 3),
            "prop_efficiency": round(random.uniform(0.6, 0.8), 2),
            "stall_speed_mps": stall,
        }
        made["max_speed_mps"] = round(stall * random.uniform(1.9, 2.8), 1)
    made["sensors"] = {
        "gnss": True,
        "imu": True,
        "magnetometer": random.random() < 0.9,
        "barometer": True,
        "lidar": random.random() < 0.4,
        "radar": random.random() < 0.2,
        "camera_rgb": True,
        "camera_thermal": random.random() < 0.5,
    }
    return made


def fill(data: dict[str, Any], share: float) -> None:
    """Gives a scenario's vehicle the energy of which its route takes a share."""
    uav = data["uav"]
    whole = route_energy(Scene(data)) / (share * (1.0 - uav["reserve_fraction"]))
    if uav["energy_source"] == "battery":
        uav["battery_Wh"] = round(whole + 0.05, 1)
    elif uav["energy_source"] == "fuel":
        uav["fuel_L"] = round(whole / FUEL_WH_PER_L + 0.0005, 3)
    else:
        uav["battery_Wh"] = round(0.3 * whole + 0.05, 1)
        uav["fuel_L"] = round(0.7 * whole / FUEL_WH_PER_L + 0.0005, 3)
