"""Risk of a scenario by rules: severities 0 to 3 of each factor, the level, the tag and the reasons.

Source: UAVBench, section III-D: risk is the greater of what hazards and what the environment contribute, and the tag is
the category of what is worst. The thresholds are ours (config/scenarios/risk.yaml). Motor, control and sensor failures
fit none of the paper's four tags, so there is a fifth, Vehicle. What cannot be read is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, load_settings
from esar_ros.suites.uavbench.scenarios.energy import energy_share
from esar_ros.suites.uavbench.scenarios.geometry import clearance
from esar_ros.suites.uavbench.scenarios.scene import Broken, Scene
from esar_ros.suites.uavbench.scenarios.taxonomy import FAULT_TAGS, FEW_ROTORS, canonical

RULES = "esar-risk/1"
LEVELS = (1, 2, 3)
CATEGORIES = ("Low Risk", "Medium Risk", "High Risk")
TAGS = ("Collision-Avoidance", "Vehicle", "Energy", "Navigation", "Weather")  # equals are told by the first
_MOVERS = {"traffic": "Traffic", "moving_obstacles": "MovingObstacle"}
JAM_RANGE = 45.0  # dB over the signal that count as a full share


class RiskRules(StrictModel):
    """Thresholds of severities 1, 2, 3."""

    wind_over_speed: tuple[float, float, float]
    jam_over_signal_db: tuple[float, float, float]
    signal_dbm: float
    energy_share: tuple[float, float, float]
    clearance_over_separation: tuple[float, float]
    contact_m: float
    fault_severity: tuple[float, float, float]
    visibility: dict[str, int]
    phenomena: dict[str, int]


@cache
def risk_rules() -> RiskRules:
    """Returns the thresholds of config/scenarios/risk.yaml."""
    return load_settings(RiskRules, resource("config/scenarios/risk.yaml"), "the rules of risk")


@dataclass(frozen=True)
class Reason:
    """One factor: its severity 0..3 and continuous share 0..1."""

    factor: str
    tag: str
    pointer: str
    severity: int
    share: float
    why: str


def label(scene: Scene) -> dict[str, Any]:
    """Returns the label: the file's three levels, and the paper's tag, score and reasons beside it."""
    reasons = [reason for reason in reasons_of(scene) if reason.severity > 0]
    reasons.sort(key=lambda r: (-r.severity, -r.share, TAGS.index(r.tag), r.pointer, r.factor))
    level = max(1, reasons[0].severity) if reasons else 1
    return {
        "risk_level": level,
        "risk_category": CATEGORIES[level - 1],
        "factors": sorted({reason.factor for reason in reasons}),
        "risk_tag": reasons[0].tag if reasons else None,
        "risk_score": round(max((reason.share for reason in reasons), default=0.0), 4),
        "reasons": [
            {"pointer": reason.pointer, "factor": reason.factor, "severity": reason.severity, "why": reason.why}
            for reason in reasons
        ],
        "rules": RULES,
    }


def reasons_of(scene: Scene) -> list[Reason]:
    """Returns every factor that can be judged, those of severity 0 too."""
    found: list[Reason] = []
    for factor in (_wind, _sight, _phenomena, _gnss, _link, _energy, _route, _swarm, _faults):
        try:
            found += factor(scene)
        except Broken:
            continue
    return found


def _grade(value: float, thresholds: Sequence[float], above: Callable[[float, float], bool] = float.__ge__) -> int:
    """Returns how many thresholds a value reaches."""
    return sum(above(float(value), float(threshold)) for threshold in thresholds)


def _wind(scene: Scene) -> Iterator[Reason]:
    mean, gust = scene["/environment/weather/wind_mps"], scene["/environment/weather/gust_mps"]
    ratio = (mean + gust) / scene.max_speed
    factor = "Gusts" if gust > mean else "Wind"
    why = f"wind and gusts are {ratio:.2f} of the greatest speed"
    severity = _grade(ratio, risk_rules().wind_over_speed)
    yield Reason(factor, "Weather", "/environment/weather", severity, min(ratio, 1.0), why)


def _sight(scene: Scene) -> Iterator[Reason]:
    token = scene["/environment/weather/visibility"]
    severity = risk_rules().visibility.get(canonical(token), 0)
    yield Reason(
        "LowVisibility",
        "Weather",
        "/environment/weather/visibility",
        severity,
        severity / 3.0,
        f"visibility {token}",
    )


def _phenomena(scene: Scene) -> Iterator[Reason]:
    for index, token in enumerate(scene.phenomena):
        severity = risk_rules().phenomena.get(token, 0)
        pointer = f"/environment/weather/phenomena/{index}"
        yield Reason(_camel(token), "Weather", pointer, severity, severity / 3.0, token)


def _gnss(scene: Scene) -> Iterator[Reason]:
    rules = risk_rules()
    jam = scene.get("/environment/gnss_jam_dbm")
    if jam is not None:
        over = jam - rules.signal_dbm
        share = min(1.0, max(0.0, over / JAM_RANGE))
        severity = _grade(over, rules.jam_over_signal_db)
        yield Reason(
            "GPSJamming", "Navigation", "/environment/gnss_jam_dbm", severity, share, f"{over:.1f} dB over the signal"
        )
    for key, factor in (("gnss_multipath", "GNSSMultipath"), ("em_interference", "EMInterference")):
        if scene.get(f"/environment/{key}", False):
            yield Reason(factor, "Navigation", f"/environment/{key}", 1, 1.0 / 3.0, key)


def _link(scene: Scene) -> Iterator[Reason]:
    up, down = scene.get("/comms/uplink_ok", True), scene.get("/comms/downlink_ok", True)
    severity = 3 if not (up or down) else 2 if not up else 1 if not down or scene.get("/comms/loss_windows") else 0
    why = {0: "link whole", 1: "downlink or a window lost", 2: "uplink lost", 3: "both links lost"}[severity]
    yield Reason("LinkLoss", "Navigation", "/comms", severity, severity / 3.0, why)


def _energy(scene: Scene) -> Iterator[Reason]:
    share = energy_share(scene)
    severity = _grade(share, risk_rules().energy_share)
    yield Reason(
        "Energy", "Energy", "/uav", severity, min(share, 1.0), f"the route takes {share:.2f} of what is usable"
    )


def _route(scene: Scene) -> Iterator[Reason]:
    """Clearance of the route to zones, and of the flight at greatest and half speed to what moves."""
    rules, separation = risk_rules(), scene.separation
    far = rules.clearance_over_separation[0] * separation
    legs = list(zip(scene.route, scene.route[1:], strict=False))
    for index, zone in enumerate(scene.zones):
        near = min(clearance(zone, a, b, far) for a, b in legs)
        factor = "Clearance" if near > 0.0 else "ZoneCrossed"
        yield _near(factor, f"/airspace/no_fly_zones/{index}", _nearness(near, separation, rules), near, far)
    nearest: dict[tuple[str, int], float] = {}
    for kind, index, _, _, distance in scene.encounters:
        nearest[kind, index] = min(distance, nearest.get((kind, index), math.inf))
    for (kind, index), near in nearest.items():
        severity = _nearness(near, separation, rules)
        if kind in _MOVERS:
            factor = _MOVERS[kind]
        else:  # a moving zone that is met at one of two speeds is missed at others
            factor, severity = ("Clearance", severity) if near > 0.0 else ("ZoneCrossed", 2)
        yield _near(factor, f"/{kind}/{index}", severity, near, far)


def _nearness(near: float, separation: float, rules: RiskRules) -> int:
    if near < rules.contact_m:
        return 3
    return sum(near < ratio * separation for ratio in rules.clearance_over_separation)


def _near(factor: str, pointer: str, severity: int, near: float, far: float) -> Reason:
    share = min(1.0, max(0.0, 1.0 - max(near, 0.0) / far)) if severity else 0.0
    return Reason(factor, "Collision-Avoidance", pointer, severity, share, f"nearest {max(near, 0.0):.1f} m")


def _swarm(scene: Scene) -> Iterator[Reason]:
    if not scene.get("/swarm/enabled", False) or scene["/swarm/size"] <= 1:
        return
    ratio = scene["/swarm/inter_uav_sep_min_m"] / scene.separation
    severity = 3 if ratio < 1.0 else 2 if ratio < 2.0 else 1
    why = f"{scene['/swarm/size']} vehicles, {ratio:.2f} separations apart"
    yield Reason("Swarm", "Collision-Avoidance", "/swarm", severity, severity / 3.0, why)


def _faults(scene: Scene) -> Iterator[Reason]:
    rotors = scene.get("/uav/rotorcraft/rotor_count", math.inf)
    for index, fault in enumerate(scene.get("/faults", ())):
        kind = canonical(fault["type"])
        severity = _grade(fault["severity"], risk_rules().fault_severity, float.__gt__)
        if kind == "motor_failure" and rotors <= FEW_ROTORS:
            severity = 3
        tag = FAULT_TAGS.get(kind, "Vehicle")
        why = f"{kind} of severity {fault['severity']:g} at {fault['t_s']:g} s"
        yield Reason(_camel(kind), tag, f"/faults/{index}", severity, float(fault["severity"]), why)


def _camel(token: str) -> str:
    return "".join(word.capitalize() for word in token.split("_"))
