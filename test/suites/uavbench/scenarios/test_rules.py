"""Each rule is tripped by one change to a sound scenario, and no other rule is."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from esar_ros.suites.uavbench.scenarios.findings import ERROR, NOTE, WARNING
from esar_ros.suites.uavbench.scenarios.rules import RULES
from esar_ros.suites.uavbench.scenarios.scene import Broken, Scene
from esar_ros.suites.uavbench.scenarios.validate import check
from helpers.scenarios import GONE, example, patched

BRIDGE, COAST = "bridge_inspection_rain", "coastal_patrol_crosswind"
PLATFORM = "battery_emergency_platform_fog"  # rotors with a wing
FENCE = "/airspace/geofence/0/points"
FOUR = [[120, 240, 30], [260, 250, 40], [400, 260, 40], [520, 280, 30]]


class Case(NamedTuple):
    rule: str  # name of the check, or the code of a rule of the schema
    code: str
    severity: str
    pointer: str
    patch: dict[str, Any]
    base: str = BRIDGE


CASES = [
    Case("S1", "S1", ERROR, "/seed", {"/seed": GONE}),
    Case("S1", "S1", ERROR, "/uav/mass_kg", {"/uav/mass_kg": GONE}),
    Case("S2", "S2", ERROR, "/uav/mass_kg", {"/uav/mass_kg": "5"}),
    Case("S2", "S2", ERROR, "/uav/max_tilt_deg", {"/uav/max_tilt_deg": True}),
    Case("S2", "S2", ERROR, "/seed", {"/seed": 7.5}),
    Case("S2", "S2", ERROR, "/airspace/no_fly_zones", {"/airspace/no_fly_zones": {}}),
    Case("S3", "S3", ERROR, "/uav/mass_kg", {"/uav/mass_kg": -5.2}),
    Case("S3", "S3", ERROR, "/mission/waypoints", {"/mission/waypoints": FOUR[:2]}),
    Case("S3", "S3", ERROR, "/name", {"/name": "a\nb"}),
    Case("S4", "S4", ERROR, "/uav/type", {"/uav/type": "hexcopter"}),
    Case("S7", "S7", NOTE, "/uav/max_sped_mps", {"/uav/max_sped_mps": 3}),
    Case("S7", "S7", NOTE, "/uav~1mass_kg", {"/uav~1mass_kg": 3}),
    Case("rate", "S3", ERROR, "/sim", {"/sim/policy_frequency": 51}),
    Case("band_order", "S3", ERROR, "/airspace", {"/airspace/altitude_agl_min_m": 90}),
    Case("zone_order", "S3", ERROR, "/airspace/no_fly_zones/0", {"/airspace/no_fly_zones/0/floor_m": 80}),
    Case("window_order", "S3", ERROR, "/comms/loss_windows/0", {"/comms/loss_windows/0": [110, 100]}),
    Case("profile_order", "S3", ERROR, "/environment/wind_profile/1/alt_m", {"/environment/wind_profile/1/alt_m": 0}),
    Case("sources", "S3", ERROR, "/uav/battery_Wh", {"/uav/battery_Wh": 0}),
    Case("sources", "S3", ERROR, "/uav/fuel_L", {"/uav/energy_source": "hybrid"}),
    Case("together", "S5", ERROR, "", {"/environment/airspace": "warehouse_indoor"}),
    Case("together", "S5", ERROR, "", {"/mission/type": "satellite_link_relay"}),
    Case("controls", "S5", ERROR, "/controls", {"/controls/actions": ["hold", "fwd", "down"]}),
    Case("controls", "S5", ERROR, "/controls", {"/controls": {"mode": "continuous", "actions": ["throttle"]}}),
    Case("controls", "S5", ERROR, "/controls", {"/controls/mode": "discrete"}, COAST),
    Case("blocks", "S5", ERROR, "/uav/rotorcraft", {"/uav/rotorcraft": GONE}),
    Case("blocks", "S5", ERROR, "/uav/aero", {"/uav/aero": GONE}, COAST),
    Case("runway", "S5", ERROR, "/airspace/runway", {"/airspace/runway": GONE}, COAST),
    Case("runway", "S5", ERROR, "/mission/runway_required", {"/mission/runway_required": False}, COAST),
    Case("pattern", "S5", ERROR, "/mission/loiter_radius_m", {"/mission/pattern": "orbit"}),
    Case("link", "S5", WARNING, "/comms", {"/comms/uplink_ok": False}),
    Case(
        "clear_sky",
        "S5",
        WARNING,
        "/environment/weather/phenomena",
        {"/environment/weather/phenomena": ["rain", "clear"]},
    ),
    Case("length", "S6", ERROR, "/sim/duration_steps", {"/sim/duration_steps": 14000}),
    Case("faults_in_time", "S6", ERROR, "/faults/0", {"/faults/0/t_s": 590}),
    Case("windows_in_time", "S6", ERROR, "/comms/loss_windows/0", {"/comms/loss_windows/0": [590, 610]}),
    Case("fence", "G1", ERROR, "/airspace/geofence/0", {FENCE: [[0, 0], [600, 400], [600, 0], [0, 400]]}),
    Case("fence", "G1", ERROR, "/airspace/geofence/0", {FENCE: [[0, 0], [600, 400], [300, 200]]}),
    Case("inside_fence", "G2", ERROR, "/landing/emergency_sites/0", {"/landing/emergency_sites/0": [500, 400.1, 0]}),
    Case("inside_fence", "G2", ERROR, "/mission/waypoints/3", {"/mission/waypoints/3": [601, 280, 30]}),
    Case("inside_band", "G3", ERROR, "/mission/waypoints/0", {"/mission/waypoints/0": [120, 240, 9]}),
    Case("inside_band", "G3", ERROR, "/spawn/xyz", {"/spawn/xyz": [60, 200, 5]}),
    Case("sites_below_band", "G3", ERROR, "/landing/preferred_sites", {"/landing/preferred_sites": [[60, 220, 90]]}),
    Case("outside_zones", "G4", ERROR, "/landing/emergency_sites/0", {"/landing/emergency_sites/0": [300, 130, 0]}),
    Case("legs_clear", "G5", ERROR, "/mission/waypoints/2", {"/airspace/no_fly_zones/0/center": [330, 225]}),
    Case(
        "meetings",
        "G6",
        WARNING,
        "/mission/waypoints/3",
        {"/moving_obstacles/0/center": [520, 280, 30], "/moving_obstacles/0/vel": [0, 0, 0]},
    ),
    Case(
        "legs_inside",
        "G7",
        ERROR,
        "/mission/waypoints/2",
        {FENCE: [[0, 0], [600, 0], [600, 400], [350, 400], [330, 240], [310, 400], [0, 400]]},
    ),
    Case("hover", "P1", ERROR, "/uav/battery_model/hover_power_W", {"/uav/battery_model/hover_power_W": 160}),
    Case("hover", "P1", WARNING, "/uav/battery_model/hover_power_W", {"/uav/battery_model/hover_power_W": 190}),
    Case("stall", "P2", WARNING, "/uav/aero/stall_speed_mps", {"/uav/aero/stall_speed_mps": 8.0}, COAST),
    Case("stall", "P2", ERROR, "/uav", {"/uav/max_speed_mps": 15.0}, COAST),
    Case("stall", "P2", WARNING, "/uav/aero/stall_speed_mps", {"/uav/aero/stall_speed_mps": 6.0}, PLATFORM),
    Case("energy", "P3", ERROR, "/uav", {"/uav/battery_Wh": 5}),
    Case("energy", "P3", WARNING, "/uav", {"/uav/battery_Wh": 8.5}),
    Case("time", "P4", ERROR, "/mission/waypoints", {"/mission/time_budget_s": 31}),
    Case("wind", "P5", ERROR, "/environment/weather", {"/environment/weather/wind_mps": 12.5}),
    Case(
        "wind",
        "P5",
        WARNING,
        "/environment/weather",
        {"/environment/weather/wind_mps": 9, "/environment/weather/gust_mps": 6.5},
    ),
    Case("load", "P5", ERROR, "/uav/payloads", {"/uav/payloads/0/mass_kg": 3.1}),
    Case("load", "P5", ERROR, "/uav/payloads", {"/_hints": {"payload_rules": {"max_total_payload_mass_kg": 0.3}}}),
    Case(
        "apart_at_start", "F1", ERROR, "/traffic/0", {"/traffic/0/spawn": [60, 180, 0], "/traffic/0/heading_deg": 180}
    ),
    Case(
        "swarm_apart",
        "F1",
        ERROR,
        "/swarm/inter_uav_sep_min_m",
        {"/swarm/enabled": True, "/swarm/size": 3, "/swarm/inter_uav_sep_min_m": 24},
    ),
    Case(
        "time_to_collision",
        "F2",
        ERROR,
        "/traffic/0",
        {"/traffic/0/spawn": [126, 250, 30], "/traffic/0/heading_deg": 225},
    ),
    *(
        Case("time_to_collision", "F2", ERROR, "/traffic/0", {"/traffic/0": {"type": "uav", **other}})
        for other in (
            {"spawn": [97, 159, 20], "speed_mps": 17, "heading_deg": 320},  # met at half speed, not at the greatest
            {"spawn": [124, 163, 40], "speed_mps": 12, "heading_deg": 325},  # at 8.2 m/s, neither at 7.5 nor at 15
            {"spawn": [184, 281, 30], "speed_mps": 7, "heading_deg": 215},  # on the second leg
        )
    ),
    Case("instant_failure", "F3", WARNING, "/faults/0/t_s", {"/faults/0/t_s": 0.5}),
    Case(
        "instant_failure",
        "F3",
        ERROR,
        "/faults/0/t_s",
        {"/faults/0": {"t_s": 0.5, "type": "motor_failure", "duration_s": 0, "severity": 1}},
    ),
    Case("numbers_told", "D1", NOTE, "/description/text", {"/description/text": "It flies at 17 m/s in the rain."}),
    Case("degenerate", "D1", WARNING, "/description/text", {"/description/text": "The bridge is wet. " + "The " * 60}),
    Case("hazards_told", "D1", NOTE, "/name", {"/name": "battery_emergency_at_the_bridge"}),
    Case("labelled", "D2", NOTE, "/label/risk_level", {"/label/risk_level": 3}),
    Case("tagged", "D2", NOTE, "/benchmark_tags/1", {"/benchmark_tags": ["Bridge", "HighRisk"]}),
]
# A change to what a scenario is makes its own words and label untrue; that is no other rule tripped.
WORDS = {"D1", "D2"}


def found(scenario: dict[str, Any], profile: str = "strict") -> set[tuple[str, str, str]]:
    return {(f.code, f.severity, f.pointer) for f in check(scenario, profile).findings}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}-{case.severity}{case.pointer}")
def test_one_change_trips_its_rule_and_no_other(case: Case) -> None:
    base = example(case.base)
    new = found(patched(base, case.patch)) - found(base)
    if case.code not in WORDS:
        new = {finding for finding in new if finding[0] not in WORDS}
        if case.rule == "meetings":
            assert len(new) == 1  # which waypoint the obstacle is met at follows from the route
    assert new == {(case.code, case.severity, case.pointer)}


def test_every_rule_has_a_case() -> None:
    rules = {rule.check.__name__ if rule.check else rule.code for rule in RULES if rule.stage != "reading"}
    assert {case.rule for case in CASES} == rules


def test_the_table_says_of_each_rule_its_code_and_what_holds() -> None:
    for rule in RULES:
        assert rule.code[0] in "JSGPFD" and rule.code[1:].isdigit()
        assert rule.text.endswith(".") and len(rule.text) > 10, rule


def test_the_examples_are_sound() -> None:
    for name in (BRIDGE, COAST):
        assert {severity for _, severity, _ in found(example(name))} <= {NOTE}


def test_one_mistake_is_told_once() -> None:
    inside = patched(example(), {"/mission/waypoints/1": [300, 120, 40]})
    assert {code for code, severity, _ in found(inside) if severity == ERROR} == {"G4"}
    away = patched(example(), {"/mission/waypoints/1": [300, 700, 40], "/airspace/altitude_agl_max_m": "high"})
    errors = {(code, pointer) for code, severity, pointer in found(away) if severity == ERROR}
    assert errors == {("S2", "/airspace/altitude_agl_max_m"), ("G2", "/mission/waypoints/1")}


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([[0, 0], [600, 400], [600, 0], [0, 400]], "crosses itself at (300, 200): the edges (0, 0) to (600, 400) and"),
        ([[0, 0], [600, 0], [600, 400], [300, 0], [0, 400]], "touches itself at (300, 0): the edges (0, 0) to"),
        ([[0, 0], [9, 0], [9, 9]], "encloses less than 100 m^2"),
    ],
)
def test_a_fence_is_told_what_is_wrong_with_it(points: Any, words: str) -> None:
    (finding,) = (f for f in check(patched(example(), {FENCE: points})).findings if f.code == "G1")
    assert finding.text.startswith(words)


def test_a_wing_that_is_not_needed_is_held_to_its_stall_speed_in_warnings() -> None:
    base = example(PLATFORM)
    new = found(patched(base, {"/uav/aero/stall_speed_mps": 30})) - found(base)
    assert new == {("P2", WARNING, "/uav"), ("P2", WARNING, "/uav/aero/stall_speed_mps")}


def test_a_slash_in_a_key_is_a_character_and_no_path() -> None:
    """Unknown keys are kept (the form is open), and pointers escape the slash (RFC 6901)."""
    scenario = patched(example(), {"/uav/mass_kg": GONE})
    scenario["uav/mass_kg"] = 5.0
    scenario["uav"]["a/b"] = 1
    told = {f.pointer: f for f in check(scenario).findings if f.code in ("S1", "S7")}
    assert {p: (f.code, f.severity) for p, f in told.items()} == {
        "/uav/mass_kg": ("S1", ERROR),
        "/uav~1mass_kg": ("S7", NOTE),
        "/uav/a~1b": ("S7", NOTE),
    }
    assert "no way into" in told["/uav~1mass_kg"].text and '"uav"' in told["/uav~1mass_kg"].text


def test_either_sense_of_turning_and_a_repeated_corner_are_the_same_fence() -> None:
    base = example()
    corners = base["airspace"]["geofence"][0]["points"]
    for points in (corners[::-1], [*corners, corners[0]], [corners[0], corners[0], *corners[1:]]):
        assert found(patched(base, {FENCE: points})) == found(base)


def test_the_edge_of_the_fence_counts_as_inside() -> None:
    assert found(patched(example(), {"/mission/waypoints/3": [600, 280, 30]})) == found(example())


def test_eleven_contradictions_are_each_told_and_the_file_still_loads() -> None:
    scenario = example("battery_emergency_platform_fog")
    assert {(code, pointer) for code, _, pointer in found(scenario)} == {
        ("S1", "/seed"),
        ("S6", "/sim/duration_steps"),
        ("S6", "/faults/0"),
        ("S6", "/comms/loss_windows/0"),
        ("G6", "/mission/waypoints/1"),
        ("P1", "/uav/battery_model/hover_power_W"),
        ("S5", "/uav/aero"),
        ("D1", "/name"),
        ("D1", "/description/text"),
        ("S5", "/comms"),
        ("G3", "/landing/emergency_sites"),
        ("G3", "/landing/preferred_sites"),
        ("D2", "/label/factors"),
    }
    (length,) = (f for f in check(scenario).findings if f.pointer == "/sim/duration_steps")
    assert "the route takes 38.47 s" in length.text
    assert ERROR not in {severity for _, severity, _ in found(scenario, "public")}


@pytest.mark.parametrize(
    ("patch", "code", "severity"),
    [
        ({"/uav/mass_kg": 2700.0, "/uav/rotorcraft/disk_area_m2": 1600.0}, "S3", WARNING),
        ({"/uav/mass_kg": 1e12}, "S3", ERROR),
        ({"/mission/waypoints": [*FOUR, *FOUR]}, "S3", WARNING),
        ({"/environment/airspace": "moon"}, "S4", NOTE),
        ({"/controls": GONE}, "S1", WARNING),
        ({"/uav/mass_kg": GONE}, "S1", ERROR),
        ({"/uav/mass_kg": 0}, "S3", ERROR),
    ],
)
def test_public_forgives_what_released_files_have(patch: dict[str, Any], code: str, severity: str) -> None:
    base = example()
    new = found(patched(base, patch), "public") - found(base, "public")
    assert {s for c, s, _ in new if c == code} == {severity}


def test_a_single_vehicle_is_no_swarm() -> None:
    swarm = {"/benchmark_tags": ["SingleUAV"], "/swarm/enabled": True, "/swarm/size": 2}
    assert ("D2", NOTE, "/benchmark_tags/0") in found(patched(example(), swarm))


def test_a_broken_part_is_not_used() -> None:
    scene = Scene(example(), ["/mission/waypoints/1/2", "/uav/type"])
    for pointer in ("/mission/waypoints", "/mission", "/uav/type", ""):
        with pytest.raises(Broken):
            scene.get(pointer)
    assert scene.get("/uav/mass_kg") == 5.0 and scene.get("/nowhere/at/all") is None
