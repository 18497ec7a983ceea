"""Scenarios for tests: the shipped examples, changed by JSON pointer."""

from __future__ import annotations

import copy
import json
import math
import random
from functools import cache
from pathlib import Path
from typing import Any

from esar_ros.mission.resources import resource
from esar_ros.suites.uavbench.scenarios.scene import Scene

GONE = object()  # as a patch's value: the key is taken away


def example_files() -> list[Path]:
    return sorted(resource("config/scenarios/examples").glob("*.json"))


@cache
def _example(name: str) -> str:
    return (resource("config/scenarios/examples") / f"{name}.json").read_text(encoding="utf-8")


def example(name: str = "bridge_inspection_rain") -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(_example(name))
    return loaded


def patched(scenario: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """Returns a copy with the values at JSON pointers put in, or taken away; "-" appends to a list."""
    made = copy.deepcopy(scenario)
    for pointer, value in patch.items():
        *path, last = (part.replace("~1", "/") for part in pointer.split("/")[1:])
        holder: Any = made
        for key in path:
            holder = holder[int(key)] if isinstance(holder, list) else holder[key]
        if value is GONE:
            del holder[last]
        elif isinstance(holder, list):
            holder[len(holder) if last == "-" else int(last) : len(holder) if last == "-" else int(last) + 1] = [value]
        else:
            holder[last] = value
    return made


def moved(scenario: dict[str, Any], east: float, north: float, turn_deg: float) -> dict[str, Any]:
    """Returns the whole scene turned counter-clockwise about the origin, then shifted (m)."""
    made, angle = copy.deepcopy(scenario), math.radians(turn_deg)
    cos, sin = math.cos(angle), math.sin(angle)

    def turn(p: list[float], by: tuple[float, float] = (0.0, 0.0)) -> None:
        p[0], p[1] = cos * p[0] - sin * p[1] + by[0], sin * p[0] + cos * p[1] + by[1]

    places = [made["spawn"]["xyz"], *made["mission"]["waypoints"], *made["airspace"]["geofence"][0]["points"]]
    for key in ("preferred_sites", "emergency_sites"):
        places += made.get("landing", {}).get(key, [])
    for key in ("no_fly_zones", "no_fly_zones_dynamic"):
        places += [zone["center"] for zone in made["airspace"].get(key, [])]
    if "runway" in made["airspace"]:
        places.append(made["airspace"]["runway"]["threshold"])
    places += [other["spawn"] for other in made.get("traffic", [])]
    places += [ball["center"] for ball in made.get("moving_obstacles", [])]
    for place in places:
        turn(place, (east, north))
    for zone in made["airspace"].get("no_fly_zones_dynamic", []):
        turn(zone["vel_xy"])
    for ball in made.get("moving_obstacles", []):
        turn(ball["vel"])
    for other in made.get("traffic", []):
        other["heading_deg"] = (other["heading_deg"] - turn_deg) % 360.0
    weather = made["environment"]["weather"]
    weather["wind_dir_deg"] = (weather["wind_dir_deg"] - turn_deg) % 360.0
    return made


def varied(seed: int) -> Scene:
    """An example with other masses, powers, winds, points and traffic."""
    rng = random.Random(seed)

    def point(low: float = 10.0) -> list[float]:
        return [round(rng.uniform(0, 600), 1), round(rng.uniform(0, 400), 1), round(rng.uniform(low, 80), 1)]

    other = {"type": "uav", "spawn": point(), "speed_mps": rng.randint(3, 15), "heading_deg": rng.randint(0, 359)}
    changed = {
        "/name": f"varied_{seed}",
        "/uav/mass_kg": round(rng.uniform(3, 25), 2),
        "/uav/battery_Wh": rng.randint(20, 90),
        "/uav/reserve_fraction": round(rng.uniform(0.15, 0.4), 2),
        "/environment/weather/wind_mps": round(rng.uniform(1, 5), 1),
        "/environment/weather/wind_dir_deg": rng.randint(0, 359),
        "/environment/weather/gust_mps": round(rng.uniform(0.5, 3), 1),
        "/spawn/xyz": point(),
        "/mission/waypoints": [point() for _ in range(rng.randint(3, 6))],
        "/traffic": [other],
    }
    name = "coastal_patrol_crosswind" if seed % 4 == 0 else "bridge_inspection_rain"
    if seed % 4:
        changed |= {
            "/uav/battery_model/hover_power_W": rng.randint(120, 700),
            "/uav/battery_model/k_drag": round(rng.uniform(0.05, 0.3), 3),
        }
    return Scene(patched(example(name), changed))
