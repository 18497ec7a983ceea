"""The shipped examples that fly, beside their golden results. To write them anew: python THIS_FILE."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from esar_ros.suites.uavbench.scenarios.flights.flight import Options, fly
from esar_ros.suites.uavbench.scenarios.scene import Scene
from helpers.full import mostly_full
from helpers.scenarios import example

GOLDEN = Path(__file__).with_name("golden_flights.json")
# The first two are the quickest.
NAMES = (
    "mapping_industrial_plant_octocopter",
    "battery_emergency_platform_fog",
    "survey_urban_canyon_heavy_lift",
    "bridge_inspection_rain",
    "waypoint_survey_jungle_swarm_drone",
    "firefighting_drop_bridge_site_quadrotor",
    "package_delivery_desert_helicopter",
)


def flown(name: str) -> dict[str, Any]:
    """Returns the result of an example's flight as a file holds it."""
    result: dict[str, Any] = json.loads(json.dumps(fly(Scene(example(name)), Options())))
    return result


@pytest.mark.parametrize("name", mostly_full(NAMES, default=2))
def test_an_example_flies_as_it_did(name: str) -> None:
    assert flown(name) == json.loads(GOLDEN.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: flown(name) for name in NAMES}, indent=1) + "\n", encoding="utf-8")
