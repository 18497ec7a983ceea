"""Scenarios by rules: valid, even over the axes, and the same from the same seed."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.suites.uavbench.scenarios import generate
from esar_ros.suites.uavbench.scenarios.findings import ERROR
from esar_ros.suites.uavbench.scenarios.generate import scenario, written
from esar_ros.suites.uavbench.scenarios.reading import digest
from esar_ros.suites.uavbench.scenarios.taxonomy import AIRSPACES, MISSIONS, PHENOMENA, VEHICLES
from esar_ros.suites.uavbench.scenarios.validate import validate


def checked(seed: int, number: int) -> dict[str, Any]:
    """Returns a scenario whose bytes have no error, no untrue word and the level that was asked for."""
    data = scenario(seed, number)
    found = validate(written(data)).findings
    assert ERROR not in {finding.severity for finding in found}, (seed, number)
    assert not [finding for finding in found if finding.code in ("D1", "D2", "S7")], (seed, number)
    assert data["label"]["risk_level"] == number % 3 + 1
    return data


def test_scenarios_are_valid_and_told_truly() -> None:
    made = [checked(seed, number) for seed in (0, 1) for number in range(60)]
    assert len({digest(data) for data in made}) == len({data["name"] for data in made}) == 120


def test_the_same_seed_and_number_give_the_same_bytes() -> None:
    assert written(scenario(3, 14)) == written(scenario(3, 14)) != written(scenario(4, 14))
    assert json.loads(written(scenario(3, 14, level=1)))["label"]["risk_level"] == 1


def test_what_cannot_be_made_ends_with_its_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "label", lambda scene: {"risk_level": 0})
    monkeypatch.setattr(generate, "TRIES", 3)
    with pytest.raises(UsageError, match=r"level 2 in 3 tries, the last of \w+, \w+, \w+"):
        scenario(0, 1)


@pytest.mark.full
def test_a_thousand_seeds_are_valid_and_use_every_token() -> None:
    made = [checked(seed, number) for seed in range(1000) for number in range(3)]
    axes = (
        ("mission", MISSIONS, [data["mission"]["type"] for data in made]),
        ("airspace", AIRSPACES, [data["environment"]["airspace"] for data in made]),
        ("vehicle", VEHICLES, [data["uav"]["type"] for data in made]),
        ("weather", PHENOMENA, [t for data in made for t in data["environment"]["weather"]["phenomena"]]),
    )
    for axis, tokens, drawn in axes:
        assert set(drawn) == set(tokens), axis
        assert max(Counter(drawn).values()) < 0.25 * len(made), axis
