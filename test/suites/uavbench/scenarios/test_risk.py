"""Risk labels: their grades, and that worse never lowers them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.suites.uavbench.scenarios.findings import NOTE
from esar_ros.suites.uavbench.scenarios.risk import CATEGORIES, TAGS, label, risk_rules
from esar_ros.suites.uavbench.scenarios.scene import Scene
from esar_ros.suites.uavbench.scenarios.statistics import Statistics, agreement
from esar_ros.suites.uavbench.scenarios.taxonomy import (
    AIRSPACES,
    FAULT_TAGS,
    FAULTS,
    MISSIONS,
    PHENOMENA,
    VEHICLES,
    canonical,
)
from esar_ros.suites.uavbench.scenarios.validate import check
from helpers.scenarios import GONE, example, example_files, patched

CALM = {"/environment/weather/phenomena": [], "/comms/loss_windows": [], "/faults": [], "/traffic": GONE}


def risk(patch: dict[str, Any]) -> dict[str, Any]:
    return label(Scene(patched(patched(example(), CALM), patch)))


@pytest.mark.parametrize(
    ("patch", "level", "tag", "factor"),
    [
        ({}, 1, None, None),
        ({"/environment/weather/wind_mps": 5.0}, 1, "Weather", "Wind"),
        ({"/environment/weather/wind_mps": 7.0}, 2, "Weather", "Wind"),
        ({"/environment/weather/gust_mps": 9.5}, 3, "Weather", "Gusts"),
        ({"/environment/weather/visibility": "poor"}, 2, "Weather", "LowVisibility"),
        ({"/environment/weather/phenomena": ["rain", "hail"]}, 3, "Weather", "Hail"),
        ({"/environment/gnss_jam_dbm": -128.0}, 1, "Navigation", "GPSJamming"),
        ({"/environment/gnss_jam_dbm": -110.0}, 2, "Navigation", "GPSJamming"),
        ({"/environment/gnss_jam_dbm": -90.0}, 3, "Navigation", "GPSJamming"),
        ({"/environment/gnss_multipath": True}, 1, "Navigation", "GNSSMultipath"),
        ({"/comms/uplink_ok": False}, 2, "Navigation", "LinkLoss"),
        ({"/comms/uplink_ok": False, "/comms/downlink_ok": False}, 3, "Navigation", "LinkLoss"),
        ({"/uav/battery_Wh": 10.0}, 2, "Energy", "Energy"),
        ({"/uav/battery_Wh": 5.0}, 3, "Energy", "Energy"),
        ({"/airspace/no_fly_zones/0/center": [300, 165]}, 1, "Collision-Avoidance", "Clearance"),
        ({"/airspace/no_fly_zones/0/center": [300, 215]}, 3, "Collision-Avoidance", "ZoneCrossed"),
        ({"/swarm/enabled": True, "/swarm/size": 4}, 2, "Collision-Avoidance", "Swarm"),
        (
            {"/faults": [{"t_s": 9, "type": "motor_failure", "duration_s": 0, "severity": 0.5}]},
            2,
            "Vehicle",
            "MotorFailure",
        ),
    ],
)
def test_grades(patch: dict[str, Any], level: int, tag: str | None, factor: str | None) -> None:
    found = risk(patch)
    assert (found["risk_level"], found["risk_tag"]) == (level, tag)
    assert found["risk_category"] == CATEGORIES[level - 1]
    assert factor is None or factor in found["factors"]


def test_a_rotor_of_four_that_is_lost_is_the_vehicle_lost() -> None:
    fault = {"/faults": [{"t_s": 9, "type": "motor_failure", "duration_s": 0, "severity": 0.2}]}
    assert risk(fault)["risk_level"] == 1
    assert risk({**fault, "/uav/rotorcraft/rotor_count": 4})["risk_level"] == 3


def test_the_score_is_the_greatest_share_and_reasons_begin_with_the_worst() -> None:
    found = risk({"/environment/weather/visibility": "moderate", "/environment/gnss_jam_dbm": -90.0})
    assert found["risk_score"] == pytest.approx(38.5 / 45.0, abs=1e-4)
    assert [reason["severity"] for reason in found["reasons"]] == [3, 1]


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from([path.stem for path in example_files()]),
    st.sampled_from(["wind_mps", "gust_mps", "battery", "traffic"]),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_worse_never_lowers_level_or_score(name: str, what: str, one: float, other: float) -> None:
    base = example(name)
    mild, bad = sorted((one, other))

    def found(share: float) -> tuple[int, float]:
        if what == "battery":
            patch: dict[str, Any] = {"/uav/battery_Wh": 4.0 + 200.0 * (1.0 - share)}
        elif what == "traffic":  # above the highest waypoint: the lower, the nearer to every leg
            east, north, up = max(base["mission"]["waypoints"], key=lambda waypoint: waypoint[2])
            place = [east, north, up + 200.0 * (1.0 - share)]
            patch = {"/traffic": [{"type": "uav", "spawn": place, "speed_mps": 0, "heading_deg": 0}]}
        else:
            patch = {f"/environment/weather/{what}": 20.0 * share}
        ours = label(Scene(patched(base, patch)))
        return ours["risk_level"], ours["risk_score"]

    for worse, better in zip(found(bad), found(mild), strict=True):
        assert worse >= better


def test_tables_know_every_token() -> None:
    assert set(risk_rules().phenomena) == set(PHENOMENA)
    assert set(FAULT_TAGS) == set(FAULTS) and set(FAULT_TAGS.values()) <= set(TAGS)


def test_no_alias_hides_a_token() -> None:
    for token in (*MISSIONS, *PHENOMENA, *FAULTS, *AIRSPACES, *VEHICLES):
        assert canonical(token) == token


def test_agreement_against_numbers_by_hand() -> None:
    found = agreement([(3, 3), (3, 3), (3, 2), (1, 1)])
    assert found.matrix == [[1, 0, 0], [0, 0, 0], [0, 1, 2]]
    assert (found.accuracy, found.commonest) == (0.75, 0.75)
    assert found.kappa == pytest.approx((0.75 - 0.4375) / (1 - 0.4375))
    assert agreement([(3, 3)]).kappa is None


def test_statistics_count_documents_by_axis_and_finding() -> None:
    statistics = Statistics()
    statistics.add(check(example()))
    statistics.add(check(patched(example(), {"/uav/mass_kg": GONE, "/environment/airspace": GONE})))
    found = statistics.document()
    assert (found["documents"], found["with_errors"]) == (2, 1)
    assert found["axes"]["airspace"] == {"bridge_site": 1, "None": 1}
    assert found["numbers"]["mass_kg"] == {"min": 5.0, "median": 5.0, "max": 5.0}
    assert found["findings"]["S1 error"] == 1 and found["findings"][f"G3 {NOTE}"] == 2
