"""Scenarios by rules, offline: the axes are drawn, the vehicle is sized, and what would break a rule is drawn again.

A scenario depends on the seed and its number alone. Each is made towards a risk level: one factor is drawn at its
severity and the others no worse, and what the label says otherwise is drawn again, as is what a rule finds to be wrong.
"""

from __future__ import annotations

import itertools
import json
import math
from random import Random
from typing import Any

from esar_ros.mission.errors import UsageError
from esar_ros.suites.uavbench.scenarios.constraints import AXES_OF_STICKS, forbidding
from esar_ros.suites.uavbench.scenarios.describe import describe
from esar_ros.suites.uavbench.scenarios.geometry import segment_distance, timed
from esar_ros.suites.uavbench.scenarios.risk import LEVELS, label, risk_rules
from esar_ros.suites.uavbench.scenarios.sizing import fill, vehicle
from esar_ros.suites.uavbench.scenarios.taxonomy import (
    AIRSPACES,
    FAMILIES,
    FAULTS,
    INDOORS,
    METRICS,
    MISSIONS,
    NEEDS_RUNWAY,
    PHENOMENA,
    VEHICLES,
    Family,
)
from esar_ros.suites.uavbench.scenarios.validate import check

TRIES = 200
_DT = 0.02  # s
_MOVES = ("hold", "fwd", "back", "left", "right", "up", "down", "yaw_left", "yaw_right")
_DRIVERS = ("wind", "sight", "phenomena", "jam", "link", "fault", "fault", "traffic", "energy")
_WIND = {1: (0.05, 0.45), 2: (0.5, 0.75), 3: (0.81, 0.97)}  # (wind + gust) / greatest speed
_SIGHT = {1: ("good", "moderate"), 2: ("low", "poor"), 3: ("very_low",)}
_JAM = {1: (-145.0, -114.0), 2: (-113.0, -99.0), 3: (-98.0, -60.0)}  # dBm
_FAULT = {1: (0.05, 0.3), 2: (0.35, 0.65), 3: (0.7, 1.0)}  # severity
_NEAR = {1: (2.2, 6.0), 2: (0.4, 0.9), 3: (0.01, 0.1)}  # separations, closest approach of traffic
_ENERGY = {1: (0.1, 0.45), 2: (0.81, 0.95), 3: (0.1, 0.45)}  # share of the usable energy


def scenario(seed: int, number: int, level: int | None = None) -> dict[str, Any]:
    """Returns a scenario that is valid in profile strict. Raises UsageError where 200 tries make none.

    level: risk level; None: one of the three in turn.
    """
    random = Random(f"esar-scenario/{seed}/{number}")
    wanted = LEVELS[number % len(LEVELS)] if level is None else level
    for _ in range(TRIES):
        data = _draw(random, wanted)
        checked = check(data)
        if checked.has_error or checked.scene is None:
            continue
        found = label(checked.scene)
        if found["risk_level"] == wanted:
            data["description"] = {"text": describe(checked.scene)}
            data["label"] = found
            return data
    axes = f"{data['uav']['type']}, {data['mission']['type']}, {data['environment']['airspace']}"
    raise UsageError(f"no valid scenario of level {wanted} in {TRIES} tries, the last of {axes}", "take another seed")


def written(data: dict[str, Any]) -> bytes:
    """Returns the bytes of a scenario's file."""
    return (json.dumps(data, indent=1) + "\n").encode()


def _draw(random: Random, level: int) -> dict[str, Any]:
    """Returns a scenario that most rules hold for by construction."""
    kind, mission, airspace, phenomena, driver = _axes(random, level)
    family, uav = FAMILIES[kind], vehicle(random, kind)
    inside = airspace in INDOORS
    separation = random.choice((5, 8)) if inside else random.choice((15, 20, 25, 40))
    data: dict[str, Any] = {
        "name": f"{mission}_{airspace}_{kind}_{random.getrandbits(48):012x}",
        "seed": random.randrange(2**31),
        "sim": {"dt": _DT, "duration_steps": 1, "policy_frequency": random.choice((10, 20, 50))},
        "uav": uav,
        "environment": _environment(random, level, driver, airspace, phenomena, uav["max_speed_mps"]),
        "airspace": {},
        "daa": {"sep_threshold_m": separation, "ttc_threshold_s": random.choice((5, 8, 10))},
        "metrics": list(METRICS),
    }
    _place(random, data, family, mission, inside)
    _control(random, data, family)
    _time(random, data)
    budget = float(data["mission"]["time_budget_s"])
    data["faults"] = _faults(random, level, driver, budget)
    data["comms"] = _comms(random, level, driver, budget)
    data["traffic"] = _traffic(random, level, driver, data)
    data["swarm"] = _swarm(random, level, kind, separation)
    share = _ENERGY[level] if driver == "energy" else _ENERGY[1]
    fill(data, random.uniform(*share))
    return data


def _axes(random: Random, level: int) -> tuple[str, str, str, list[str], str]:
    """Returns vehicle, mission, airspace, phenomena and the factor that makes the level, which go together."""
    grade = risk_rules().phenomena
    while True:
        kind, mission, airspace = random.choice(VEHICLES), random.choice(MISSIONS), random.choice(AIRSPACES)
        driver = random.choice(_DRIVERS)
        if driver == "phenomena":
            phenomena = [random.choice([token for token in PHENOMENA if grade[token] == level])]
        else:
            calm = [token for token in PHENOMENA if grade[token] <= level]
            phenomena = [random.choice(calm)] if random.random() < 0.6 else []
        if forbidding(FAMILIES[kind], kind, airspace, mission, phenomena) is None:
            return kind, mission, airspace, phenomena, driver


def _environment(
    random: Random, level: int, driver: str, airspace: str, phenomena: list[str], fastest: float
) -> dict[str, Any]:
    total = random.uniform(*_WIND[level if driver == "wind" else 1]) * fastest
    gust = min(10.0, total * random.uniform(0.1, 0.4))
    if airspace in INDOORS:
        total = gust = 0.0
    found: dict[str, Any] = {
        "airspace": airspace,
        "weather": {
            "wind_mps": round(min(20.0, total - gust), 1),
            "wind_dir_deg": random.randrange(360),
            "gust_mps": round(gust, 1),
            "visibility": random.choice(_SIGHT[level if driver == "sight" else 1]),
            "phenomena": phenomena,
        },
        "gnss_multipath": random.random() < 0.2,
        "em_interference": random.random() < 0.2,
    }
    if driver == "jam" or random.random() < 0.2:
        found["gnss_jam_dbm"] = round(random.uniform(*_JAM[level if driver == "jam" else 1]))
    return found


def _place(random: Random, data: dict[str, Any], family: Family, mission: str, inside: bool) -> None:
    """Puts fence, band, spawn, route and zones into a scenario."""
    fastest, separation = data["uav"]["max_speed_mps"], data["daa"]["sep_threshold_m"]
    if inside:
        reach, low, high = random.uniform(60.0, 120.0), 1, random.randint(8, 20)
    elif family.has_wing:
        reach = fastest * random.uniform(30.0, 60.0)
        low = random.choice((40, 60, 100))
        high = low + random.randint(80, 300)
    else:
        reach, low = random.uniform(150.0, 450.0), random.choice((5, 10, 15))
        high = low + random.randint(40, 110)
    corners = random.randint(4, 8)
    turn = random.uniform(0.0, 2.0 * math.pi)
    fence = []
    for k in range(corners):
        angle = turn + 2.0 * math.pi * (k + random.uniform(-0.2, 0.2)) / corners
        far = reach * random.uniform(0.85, 1.15)
        fence.append([round(far * math.cos(angle), 1), round(far * math.sin(angle), 1)])
    inner = 0.5 * reach  # within the fence, whichever corners were drawn

    def spot() -> list[float]:
        far, angle = inner * math.sqrt(random.random()), random.uniform(0.0, 2.0 * math.pi)
        return [round(far * math.cos(angle), 1), round(far * math.sin(angle), 1)]

    start = spot()
    route: list[list[float]] = [[*start, 0.0]]
    for _ in range(random.randint(3, 6)):
        while math.dist(route[-1][:2], (xy := spot())) < 0.25 * inner:
            pass
        route.append([*xy, round(random.uniform(low + 1.0, high - 1.0), 1)])
    zones = []
    for _ in range(random.randint(0, 3)):
        center, clear = spot(), separation * random.uniform(1.1, 4.0)
        legs = itertools.pairwise(route)
        room = min(segment_distance(center, a, b) for a, b in legs) - clear
        if room > 5.0:
            radius = round(random.uniform(0.5, 1.0) * room, 1)
            zones.append({"type": "cylinder", "center": center, "radius_m": radius, "floor_m": 0, "ceiling_m": high})
    data["airspace"] = {
        "altitude_agl_min_m": low,
        "altitude_agl_max_m": high,
        "geofence": [{"type": "polygon", "points": fence}],
        "no_fly_zones": zones,
    }
    data["spawn"] = {"xyz": route[0], "yaw_deg": random.randrange(360)}
    data["landing"] = {"preferred_sites": [[*start, 0]], "emergency_sites": [[*route[-1][:2], 0]]}
    pattern = random.choice(("corridor", "grid", "spiral", "custom", "orbit"))
    data["mission"] = {"type": mission, "waypoints": route[1:], "pattern": pattern}
    if pattern == "orbit":
        data["mission"]["loiter_radius_m"] = round(0.1 * reach)
    needs = data["uav"]["type"] in NEEDS_RUNWAY or (mission == "runway_touch_and_go")
    data["mission"]["runway_required"] = needs
    if needs:
        data["airspace"]["runway"] = {"threshold": start, "heading_deg": random.randrange(360), "length_m": 300}
    if family is Family.HYBRID:
        data["mission"]["transition_profile"] = {"vtol_to_ff_t_s": 6, "ff_to_vtol_t_s": 8}


def _control(random: Random, data: dict[str, Any], family: Family) -> None:
    discrete = family.hovers and random.random() < 0.7
    actions = list(_MOVES) if discrete else sorted(AXES_OF_STICKS)
    data["controls"] = {"mode": "discrete" if discrete else "continuous", "actions": actions}


def _time(random: Random, data: dict[str, Any]) -> None:
    """Gives the route two to four times as long as it takes at greatest speed."""
    route = [data["spawn"]["xyz"], *data["mission"]["waypoints"]]
    takes = timed(route, data["uav"]["max_speed_mps"])[-1].end
    budget = min(7200, max(90, math.ceil(takes * random.uniform(2.0, 4.0) / 10.0) * 10))
    data["mission"]["time_budget_s"] = budget
    data["sim"]["duration_steps"] = round(budget / _DT)


def _faults(random: Random, level: int, driver: str, end: float) -> list[dict[str, Any]]:
    worst = level if driver == "fault" else 1
    if driver != "fault" and random.random() < 0.7:
        return []
    start = round(random.uniform(10.0, 0.6 * end), 1)
    duration = round(random.choice((0.0, random.uniform(5.0, 0.3 * end))), 1)
    severity = round(random.uniform(*_FAULT[worst]), 2)
    return [{"t_s": start, "type": random.choice(FAULTS), "duration_s": duration, "severity": severity}]


def _comms(random: Random, level: int, driver: str, end: float) -> dict[str, Any]:
    down = level if driver == "link" else 1
    found: dict[str, Any] = {"uplink_ok": down < 2, "downlink_ok": down < 3, "rssi_dbm_min": random.randint(-110, -70)}
    if down == 1 and random.random() < 0.3:
        start = round(random.uniform(10.0, 0.7 * end), 1)
        found["loss_windows"] = [[start, round(start + random.uniform(3.0, 0.2 * end), 1)]]
    return found


def _traffic(random: Random, level: int, driver: str, data: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns other vehicles with a drawn closest approach to the route flown at greatest speed."""
    if driver != "traffic" and random.random() < 0.6:
        return []
    fastest, separation = data["uav"]["max_speed_mps"], data["daa"]["sep_threshold_m"]
    motions = timed([data["spawn"]["xyz"], *data["mission"]["waypoints"]], fastest)
    motion, along = random.choice(motions[1:]), random.random()
    when = motion.start + along * (motion.end - motion.start)
    heading, speed = random.uniform(0.0, 360.0), random.uniform(3.0, 12.0)
    sin, cos = math.sin(math.radians(heading)), math.cos(math.radians(heading))
    miss = separation * random.uniform(*_NEAR[level if driver == "traffic" else 1]) * random.choice((-1.0, 1.0))
    own = [motion.a[i] + along * (motion.b[i] - motion.a[i]) for i in range(3)]
    spawn = [own[0] - speed * when * sin + miss * cos, own[1] - speed * when * cos - miss * sin, own[2]]
    place = [round(value, 1) for value in spawn]
    return [{"type": "uav", "spawn": place, "speed_mps": round(speed, 1), "heading_deg": round(heading, 1)}]


def _swarm(random: Random, level: int, kind: str, separation: float) -> dict[str, Any]:
    size = random.randint(2, 6) if kind == "swarm_drone" or random.random() < 0.1 else 1
    roles = ["leader", *["follower"] * (size - 1)] if size > 1 else ["single"]
    least = separation * (2.0 if level == 1 else random.uniform(1.0, 3.0))
    return {"enabled": size > 1, "size": size, "roles": roles, "inter_uav_sep_min_m": round(least + 0.05, 1)}
