"""Power and energy beside numbers worked out by hand."""

from __future__ import annotations

import math

import pytest

from esar_ros.suites.uavbench.scenarios.energy import cruise
from esar_ros.suites.uavbench.scenarios.scene import Scene
from helpers.scenarios import example, patched

WING = {
    "/uav/mass_kg": 10.0,
    "/uav/payloads": [],
    "/uav/aero": {
        "wing_area_m2": 0.5,
        "aspect_ratio": 8.0,
        "cl_max": 2.0,
        "cd0": 0.03,
        "prop_efficiency": 0.7,
        "stall_speed_mps": 12.7,
    },
}


def test_a_wing_cruises_where_drag_is_least_of_a_polar_with_an_oswald_factor_of_0_8() -> None:
    lift = math.sqrt(0.03 * math.pi * 8.0 * 0.8)  # induced drag equals that without lift
    speed = math.sqrt(2.0 * 98.0665 / (1.225 * 0.5 * lift))
    drag = 98.0665 * (0.03 + 0.03) / lift
    assert 1.3 * 12.7 < speed < 32.0
    found, power = cruise(Scene(patched(example("coastal_patrol_crosswind"), WING)))
    assert (found, power) == (pytest.approx(speed), pytest.approx(drag * speed / 0.7))


def test_a_wing_that_is_slow_at_its_best_keeps_its_distance_from_stall() -> None:
    scene = Scene(patched(example("coastal_patrol_crosswind"), {**WING, "/uav/aero/stall_speed_mps": 18.0}))
    speed, power = cruise(scene)
    pressure = 0.5 * 1.225 * 23.4**2
    induced = 98.0665**2 / (pressure * 0.5 * math.pi * 8.0 * 0.8)
    assert speed == pytest.approx(1.3 * 18.0)
    assert power == pytest.approx((pressure * 0.5 * 0.03 + induced) * 23.4 / 0.7)
