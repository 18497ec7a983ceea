"""Faults as signals to real processes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from esar_ros.faults.schedule import Schedule
from esar_ros.mission.errors import UsageError
from esar_ros.nodes.graph.mission import MissionOptions, NodeSpec, mission_graph
from esar_ros.nodes.graph.process_faults import ProcessFaults
from esar_ros.nodes.graph.progress import PREFIX

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


class Shop:
    """Stands for the supervisor: one sleeping process a label."""

    def __init__(self, *labels: str) -> None:
        self.running = {label: subprocess.Popen(SLEEP) for label in labels}

    def pid(self, label: str) -> int | None:
        return self.running[label].pid if label in self.running else None

    def state(self, label: str) -> str:
        """R or S: runs; T: stopped; Z: dead."""
        return Path(f"/proc/{self.running[label].pid}/stat").read_text().rsplit(")", 1)[1].split()[0]

    def close(self) -> None:
        for popen in self.running.values():
            popen.kill()
            popen.wait()


@pytest.fixture
def shop() -> Iterator[Shop]:
    made = Shop("simulator", "uav1-pilot", "uav2-pilot")
    yield made
    made.close()


SPECS = [NodeSpec("simulator", ros=False), NodeSpec("pilot", "/uav1"), NodeSpec("pilot", "/uav2")]


def faults(*listed: dict[str, Any], realtime: bool = False) -> ProcessFaults:
    return ProcessFaults(Schedule.model_validate({"faults": listed}), SPECS, realtime)


def until(condition: Callable[[], bool]) -> bool:
    limit = time.monotonic() + 5.0
    while time.monotonic() < limit and not condition():
        time.sleep(0.01)
    return condition()


def tell(one: ProcessFaults, elapsed: float, phase: str = "search") -> None:
    one.on_line(f'{PREFIX}{{"phase": "{phase}", "elapsed": {elapsed}}}')


def test_a_kill_waits_for_its_time_and_takes_the_right_process(shop: Shop) -> None:
    one = faults({"kind": "kill", "process": "pilot", "vehicle": "uav2", "at": 3.0})
    for elapsed, phase in ((9.0, "join"), (2.9, "search")):
        tell(one, elapsed, phase)
        one.strike(shop)
        assert not one.strikes
    one.on_line("not for us")
    tell(one, 3.0)
    one.strike(shop)
    assert until(lambda: shop.state("uav2-pilot") == "Z")
    assert shop.state("uav1-pilot") != "Z"
    assert [(s.label, s.kind, s.time) for s in one.strikes] == [("uav2-pilot", "kill", 3.0)]
    one.strike(shop)
    assert len(one.strikes) == 1


def test_a_stopped_process_goes_on_after_its_time(shop: Shop) -> None:
    one = faults({"kind": "rpc_hang", "at": 3.0, "for": 0.2})
    tell(one, 4.0)
    one.strike(shop)
    assert until(lambda: shop.state("simulator") == "T")

    def goes_on() -> bool:
        one.strike(shop)
        return shop.state("simulator") != "T"

    assert until(goes_on)


def test_a_stopped_process_goes_on_when_the_mission_is_ended(shop: Shop) -> None:
    one = faults({"kind": "stop", "process": "pilot", "at": 3.0, "for": 60.0})
    tell(one, 4.0)
    one.strike(shop)
    assert until(lambda: shop.state("uav1-pilot") == shop.state("uav2-pilot") == "T")
    one.release()
    assert until(lambda: "T" not in (shop.state("uav1-pilot"), shop.state("uav2-pilot")))


def test_in_real_time_the_clock_goes_on_between_two_lines(shop: Shop) -> None:
    live, still = (faults({"kind": "kill", "process": "pilot", "at": 3.0}, realtime=r) for r in (True, False))
    assert live.now() is None
    for one in (live, still):
        tell(one, 2.0)
    time.sleep(0.05)
    assert still.now() == 2.0
    assert 2.04 < (live.now() or 0.0) < 3.0


def test_a_process_that_is_being_started_again_is_struck_later(shop: Shop) -> None:
    one = faults({"kind": "kill", "process": "simulator", "at": 3.0})
    popen = shop.running.pop("simulator")
    tell(one, 4.0)
    one.strike(shop)
    assert not one.strikes
    shop.running["simulator"] = popen
    one.strike(shop)
    assert len(one.strikes) == 1


@pytest.mark.parametrize(
    ("fault", "options", "words"),
    [
        (
            "kind: kill, process: sensing, at: 5, vehicle: uav1",
            {"vehicles": ("uav1", "uav2")},
            "'sensing' of uav1 alone",
        ),
        ("kind: kill, process: airsim_bridge, at: 5, vehicle: uav1", {}, "'airsim_bridge' of uav1 alone"),
        ("kind: rpc_hang, at: 5, for: 2", {"world": "airsim"}, "'simulator'"),
        ("kind: kill, process: sensing, at: 5", {"sensing": "separate"}, "'sensing': its processes are .*voxel_mapper"),
    ],
)
def test_a_process_that_this_mission_has_not_is_refused(
    tmp_path: Path, fault: str, options: dict[str, Any], words: str
) -> None:
    path = tmp_path / "faults.yaml"
    path.write_text(f"faults:\n  - {{kind: kill, process: pilot, at: 3}}\n  - {{{fault}}}\n", encoding="utf-8")
    mission = MissionOptions(fault=str(path), detector="none", **options)
    with pytest.raises(UsageError, match=f"faults.yaml, key faults.1: this mission has no process {words}"):
        ProcessFaults.of(mission, mission_graph(mission))


def test_a_mission_without_a_schedule_has_no_process_faults() -> None:
    assert ProcessFaults.of(MissionOptions(map="aotai"), SPECS) is None
