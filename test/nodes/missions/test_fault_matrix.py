"""The live graph under injected faults: it holds in time, nothing is touched, the mission is scored."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from esar_ros.mission import names
from esar_ros.mission.modes import Mode
from esar_ros.nodes.core.node_names import PILOT
from esar_ros.scoring.bag import read_bag

ROOT = Path(__file__).resolve().parents[3]
SHORT = ("freeze_ranges", "nan_command", "tf_gap", "drop_odometry_at_pilot")


@pytest.fixture(scope="module")
def matrix() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("fault_matrix", ROOT / "benchmarks" / "faults.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def check(flown: Any) -> None:
    assert flown.end == "timeout"
    assert flown.collisions == 0
    assert flown.readable
    assert not [o for o in flown.outcomes if not o.met]


def test_every_example_has_an_expectation_and_a_slot(matrix: ModuleType) -> None:
    assert set(matrix.EXPECTED) == set(matrix.examples())
    for pace in ("lockstep", "realtime"):
        missions = list(matrix.pack(sorted(matrix.examples()), pace))
        cases = [case for mission in missions for case in mission]
        assert {case.name for case in cases} == {n for n, f in matrix.examples().items() if matrix.flies_in(f, pace)}
        for mission in missions:
            assert all(one.end <= other.at for one, other in pairwise(mission))


def test_four_faults_in_one_mission_are_noticed_and_survived(matrix: ModuleType, tmp_path: Path, domain: int) -> None:
    (cases,) = matrix.pack(SHORT, "lockstep", 2.0, 2.5)
    flown = matrix.fly(cases, "lockstep", tmp_path)
    check(flown)
    assert flown.same_score
    assert flown.restarted == []
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert "faults were injected" in result["ineligible_reasons"]
    held = {outcome.name: outcome.detection for outcome in flown.outcomes}
    # Steps of 50 ms, limits on age as in config/safety.yaml: the same on every machine.
    assert held == {"freeze_ranges": 0.2, "nan_command": 0.0, "tf_gap": 0.0, "drop_odometry_at_pilot": 0.0}
    record = read_bag(tmp_path / "bag")
    last = record.rows(matrix.VEHICLE, names.SAFETY_STATUS)[-1]
    assert last.mode == Mode.NORMAL  # flies on after the last one
    assert PILOT not in flown.restarted


@pytest.mark.full
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("pace", ["lockstep", "realtime"])
def test_the_whole_matrix(matrix: ModuleType, tmp_path: Path, domain: int, pace: str) -> None:
    known = sorted(matrix.examples())
    for number, cases in enumerate(matrix.pack(known, pace)):
        flown = matrix.fly(cases, pace, tmp_path / str(number))
        assert flown.collisions == 0, flown
        assert flown.readable and flown.same_score, flown
        assert [o for o in flown.outcomes if not o.met] == []
