"""Scenarios in the air: a flight as planned, and what each thing that goes wrong does to it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose
from esar_ros.geometry.occupancy_window import FREE, OCCUPIED
from esar_ros.mission.modes import Reason
from esar_ros.suites.uavbench.scenarios.flights import flight
from esar_ros.suites.uavbench.scenarios.flights.agreement import agreement_of
from esar_ros.suites.uavbench.scenarios.flights.air import Survey, Wind
from esar_ros.suites.uavbench.scenarios.flights.failing import Faults
from esar_ros.suites.uavbench.scenarios.flights.flight import Options, fly, try_to_fly
from esar_ros.suites.uavbench.scenarios.flights.outcome import Ending, Watch, level, metrics
from esar_ros.suites.uavbench.scenarios.flights.vehicle import set_up
from esar_ros.suites.uavbench.scenarios.generate import scenario
from esar_ros.suites.uavbench.scenarios.scene import Scene
from helpers.scenarios import GONE, example, patched

SHORT = {
    "/spawn/xyz": [100, 200, 0],
    "/mission/waypoints": [[112, 206, 14], [124, 206, 16], [130, 212, 15]],
    "/faults": [],
    "/comms": GONE,
}


def short(patch: dict[str, Any] | None = None) -> Scene:
    return Scene(patched(patched(example(), SHORT), patch or {}))


@pytest.fixture(scope="module")
def flown() -> dict[str, Any]:
    return fly(short(), Options())


def test_a_flight_as_planned(flown: dict[str, Any]) -> None:
    assert (flown["status"], flown["outcome_level"]) == ("flown", 0)
    assert flown["waypoints"] == {"reached": 3, "of": 3} and flown["metrics"]["mission_success"]
    assert flown["capped"] == ["speed 8.3 m/s of 15"] and "phenomenon rain" in flown["unmodelled"]
    used = example()["uav"]["battery_Wh"] - flown["metrics"]["battery_ending_Wh"]
    hover = 266.0 * flown["seconds"] / 3600.0
    assert 0.8 * hover < used < 3.0 * hover


def test_two_runs_are_equal_to_the_bit(flown: dict[str, Any]) -> None:
    assert json.dumps(fly(short(), Options())) == json.dumps(flown)


def test_a_motor_that_fails_ends_the_flight() -> None:
    fault = {"t_s": 2.0, "type": "motor_failure", "duration_s": 0, "severity": 0.8}
    result = fly(short({"/faults": [fault]}), Options())
    assert result["outcome_level"] == 3 and result["metrics"]["collisions"] == 1
    assert result["faults_reached"] == ["motor_failure"]


def test_wings_are_not_flown_unless_asked() -> None:
    result = fly(Scene(example("coastal_patrol_crosswind")), Options())
    assert result["status"] == "not_flown" and "--as-multirotor" in result["why"]


def test_what_fails_costs_one_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    def burst(scene: Scene) -> None:
        raise ArithmeticError("boom")

    assert try_to_fly(short({"/mission/time_budget_s": GONE}), Options())["status"] == "not_flown"
    monkeypatch.setattr(flight, "set_up", burst)
    assert try_to_fly(short(), Options())["why"] == "ArithmeticError: boom"


# -- outcome by truth ---------------------------------------------------------------------------------


END = Ending(reached=3, seconds=40.0, energy_left=200.0, charge=0.8, crashed=False, outage=0.0)


def watched(*moments: tuple[float, list[float]], patch: dict[str, Any] | None = None) -> Watch:
    watch = Watch(short(patch))
    for t, place in moments:
        watch.look(t, place, [0.0, 0.0, 0.0])
    return watch


def test_levels_of_outcomes() -> None:
    assert level(watched((0.0, [100, 200, 20])), END) == 0
    slowed = watched((0.0, [100, 200, 20]))
    slowed.intervened(Reason.ACCELERATION)
    assert level(slowed, END) == 0
    slowed.intervened(Reason.FENCE)
    assert level(slowed, END) == 1
    for place, name in (([-1.0, 200, 20], "geofence_breach"), ([100, 200, 81.0], "altitude_violation")):
        watch = watched((0.0, place))
        assert metrics(watch, END)[name] and level(watch, END) == 2
    assert level(watched((0.0, [300, 120, 20])), END) == 2, "inside a zone"
    for end in (replace(END, reached=2), replace(END, seconds=301.0), replace(END, charge=0.2)):
        assert level(watched((0.0, [100, 200, 20])), end) == 2
    for end in (replace(END, crashed=True), replace(END, charge=0.0)):
        assert level(watched((0.0, [100, 200, 20])), end) == 3


def test_a_vehicle_that_lands_may_be_below_the_band() -> None:
    for landing in (True, False):
        watch = watched((0.0, [100, 200, 20]))
        watch.look(1.0, [100, 200, 5.0], [0.0, 0.0, -1.0], landing)
        assert watch.violation is not landing


def test_separation_and_time_to_collision() -> None:
    other = [{"type": "uav", "spawn": [130, 200, 20], "speed_mps": 5, "heading_deg": 270}]
    watch = watched((0.0, [100, 200, 20]), (1.0, [100, 200, 20]), patch={"/traffic": other})
    found = metrics(watch, END)
    assert found["daa_min_separation_m"] == pytest.approx(25.0, abs=1e-3)
    assert found["daa_min_ttc_s"] == pytest.approx(5.0, abs=1e-3)
    assert not found["daa_breach"] and level(watch, END) == 0
    watch.look(5.9, [100, 200, 20], [0.0, 0.0, 0.0])
    assert metrics(watch, END)["collisions"] == 1 and level(watch, END) == 3


def test_a_moving_zone_is_where_it_has_come_to() -> None:
    watch = watched((0.0, [452, 60, 20]), (60.0, [452, 82, 20]))
    assert watch.nearest_zone == 0.0
    assert watched((0.0, [452, 82, 20])).nearest_zone == pytest.approx(np.hypot(2, 22) - 20, abs=1e-6)


# -- the parts ------------------------------------------------------------------------------------


def test_the_survey_shows_level_ground() -> None:
    survey = Survey.of(40.0, 80.0)
    window = survey.window(np.array([3.3, -7.7, 31.0]), 1.0)
    assert window.state_at([3.3, -7.7, -0.5]) == OCCUPIED and window.state_at([3.3, -7.7, 0.5]) == FREE
    assert window.state_at([41.0, -7.7, 60.0]) == FREE and window.ground_below([3.3, -7.7], 31.0) == 0.0
    pose = Pose(np.array([0.0, 0.0, 31.0]))
    ranges = survey.ranges(pose, pose, 1.0, np.random.default_rng(0)).ranges
    assert ranges.min() == pytest.approx(31.0, abs=0.2) and np.isinf(ranges[-1]).all()


def test_wind_blows_from_where_it_is_said_to_and_gusts_keep_their_strength() -> None:
    calm = {"/environment/weather/gust_mps": 0.0, "/environment/wind_profile": GONE}
    west = Wind(short({**calm, "/environment/weather/wind_dir_deg": 270}), 0)
    assert west.at(0, np.zeros(3), 20.0) == pytest.approx([3.0, 0.0, 0.0])
    profile = [{"alt_m": 0, "wind_mps": 2, "dir_deg": 180}, {"alt_m": 100, "wind_mps": 6, "dir_deg": 180}]
    layered = Wind(short({**calm, "/environment/wind_profile": profile}), 0)
    assert layered.at(0, np.zeros(3), 50.0) == pytest.approx([0.0, 4.0, 0.0])
    gusty = Wind(short({"/environment/weather/gust_mps": 4.0, "/environment/weather/wind_dir_deg": 270}), 0)
    along = np.array([gusty.at(tick, np.zeros(3), 20.0)[0] for tick in range(20_000)])
    assert 2.0 < np.percentile(np.abs(along - along.mean()), 95) < 8.0


def test_zones_become_polygons_that_hold_their_circles() -> None:
    setup = set_up(short())
    (zone,) = setup.site.keep_out
    center = np.array([300.0, 120.0]) - [100.0, 200.0]
    assert (np.linalg.norm(zone - center, axis=1) >= 40.0).all()
    middles = 0.5 * (zone + np.roll(zone, 1, axis=0))
    assert np.linalg.norm(middles - center, axis=1).min() == pytest.approx(40.0)


def test_faults_act_in_their_time() -> None:
    events = [
        {"t_s": 10, "type": "battery_failure", "duration_s": 0, "severity": 0.5},
        {"t_s": 20, "type": "icing", "duration_s": 5, "severity": 1.0},
        {"t_s": 30, "type": "gnss_spoofing", "duration_s": 10, "severity": 0.5},
        {"t_s": 50, "type": "lidar_failure", "duration_s": 5, "severity": 0.2},
        {"t_s": 60, "type": "sensor_failure", "duration_s": 5, "severity": 0.2},
    ]
    scene = short({"/faults": events, "/comms": {"uplink_ok": True, "downlink_ok": True, "loss_windows": [[70, 80]]}})
    faults, drone = Faults(scene, 0), set_up(scene).drone
    for t in np.arange(0.0, 60.0, 0.5):
        faults.apply(drone, float(t), 0.5, 19.6, 266.0)
        assert drone.battery.hover_power == pytest.approx(399.0 if 20 <= t < 25 else 266.0)
    assert drone.battery.charge == pytest.approx(0.5)
    told, _ = faults.estimate(59.0, 59_000_000_000, Pose(), np.zeros(3))
    honest, _ = Faults(short(), 0).estimate(59.0, 59_000_000_000, Pose(), np.zeros(3))
    assert told.pose.position - honest.pose.position == pytest.approx([5.0, 0.0, 0.0])
    assert faults.sees(49.0) and not faults.sees(52.0)
    assert faults.silence(75.0) == 5.0 and faults.silence(85.0) == 0.0
    assert faults.unmodelled == ["sensor_failure"]


def test_jamming_adds_to_the_error_that_odometry_states() -> None:
    plain, jammed = Faults(short(), 0), Faults(short({"/environment/gnss_jam_dbm": -98.5}), 0)
    (one, told), (three, stated) = (f.estimate(9.0, 9_000_000_000, Pose(), np.zeros(3)) for f in (plain, jammed))
    assert three.pose.position == pytest.approx(3.0 * one.pose.position) and stated == pytest.approx(3.0 * told)


# -- agreement --------------------------------------------------------------------------------------


def result(predicted: int, outcome: int, score: float, factors: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "status": "flown",
        "predicted": {"risk_level": predicted, "risk_score": score, "factors": list(factors)},
        "outcome_level": outcome,
        "metrics": {"collisions": 0, "geofence_breach": outcome == 2, "altitude_violation": False},
    }


def test_agreement_by_hand() -> None:
    flights = [result(1, 0, 0.1, ("Rain",)), result(2, 2, 0.5, ("Fog",)), result(3, 3, 0.9), result(3, 0, 0.2)]
    found = agreement_of([*flights, {"status": "not_flown"}])
    assert found["flights"] == {"flown": 4, "not_flown": 1}
    assert found["matrix"] == [[1, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1]]
    assert found["auc_of_risk_score"]["value"] == 1.0
    # Ranks 1, 2, 3.5, 3.5 and 1.5, 3, 4, 1.5.
    assert found["spearman"]["value"] == pytest.approx(1.75 / 4.5, abs=1e-3)
    assert found["spearman"]["low"] <= found["spearman"]["value"] <= found["spearman"]["high"]
    assert found["factors_without_harm"] == ["Rain"] and found["geofence_breaches"] == 1
    nothing = agreement_of([])
    assert nothing["spearman"] is None and nothing["auc_of_risk_score"] is None


@pytest.mark.full
def test_generated_flights_without_faults_break_nothing_that_the_governor_is_told_of() -> None:
    flown, seed = 0, 0
    while flown < 12:
        data = scenario(77, seed)
        seed += 1
        data["faults"] = []
        found = fly(Scene(data), Options())
        if found["status"] == "flown":
            flown += 1
            assert not found["metrics"]["geofence_breach"], data["name"]
            assert not found["metrics"]["altitude_violation"], data["name"]


@pytest.mark.parametrize("speed", [0.0, 20.0, 40.0, 90.0])
@pytest.mark.parametrize("phase", [0.0, 0.3, 0.7])
def test_what_flies_through_the_vehicle_between_two_looks_is_a_collision(speed: float, phase: float) -> None:
    """Head on at a step of 0.05 s: 90 m/s and 15 m/s are 5 m from look to look."""
    meeting = 2.0 + 0.05 * phase
    other = {"spawn": [100 + (15 + speed) * meeting, 200, 20], "heading_deg": 270.0, "speed_mps": speed}
    watch = Watch(short({"/traffic": [other], "/moving_obstacles": GONE}))
    for step in range(100):
        watch.look(0.05 * step, [100 + 15.0 * 0.05 * step, 200, 20], [15.0, 0.0, 0.0])
    assert metrics(watch, END)["collisions"] == 1 and watch.separation == pytest.approx(0.0, abs=1e-6)
