"""A whole mission in world px4: the graph as it is, moved by the fake autopilot, drawn by the embedded simulator."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import pytest

from esar_ros.nodes.graph.mission import PX4, TRUTH_DETECTOR, MissionOptions
from esar_ros.scoring.result import write_atomically
from helpers.flight import write_short_task


@pytest.mark.full
@pytest.mark.timeout(900)
def test_a_mission_is_flown_and_scored(tmp_path: Path, domain: int) -> None:
    import fly

    options = MissionOptions(
        task=str(write_short_task(tmp_path, 40.0)), planner="fbe", map="aotai", seed=7, out=str(tmp_path / "out"),
        detector=TRUTH_DETECTOR,
        world=PX4, pace="realtime", preset="fast", port=fly.free_port(), progress=True, log_level="warn",
    )  # fmt: skip
    assert fly.fly(options, patience=600.0) == 0
    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert (result["world"], result["odometry"], result["end"]) == (PX4, "autopilot", "timeout")
    assert result["safety"]["collisions"] == 0
    assert result["metrics"]["path_length"] > 30.0, "it flew"
    assert result["metrics"]["clues_located"] > 0, "it saw"
    log = (tmp_path / "out" / "logs" / "uav1-px4_bridge.log").read_text(encoding="utf-8")
    assert "in offboard, obeying safe commands" in log


@pytest.mark.full
@pytest.mark.timeout(900)
def test_an_incidents_planned_sortie_is_flown_by_the_graph(
    tmp_path: Path, domain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`esar incident fly --world px4`: the options that it gives to `esar mission`, and the flight."""
    pytest.importorskip("pyogrio")
    import fly

    from esar_ros.app import mission
    from esar_ros.app.incident import fly as incident_fly
    from esar_ros.incident.formats import qgc_plan
    from esar_ros.incident.store import Incident
    from helpers.ridge import ridge

    monkeypatch.setenv("ESAR_MAPS", "")
    folder = ridge(tmp_path / "ridge")
    qgc_plan.write(Incident.open(folder).search, folder / "plans")
    parser, words = argparse.ArgumentParser(), argparse.ArgumentParser()
    incident_fly.declare(parser.add_subparsers())
    mission.add_arguments(words)
    given = ["fly", str(folder), "--world", "px4", "--preset", "fast", "--detector", TRUTH_DETECTOR]
    options, task = mission.options_from(words.parse_args(incident_fly.mission_of(parser.parse_args(given))))
    write_atomically(Path(options.task), task.model_dump_json(by_alias=True, indent=1))
    assert fly.fly(replace(options, port=fly.free_port(), progress=True), patience=600.0) == 0
    result = json.loads((folder / "flights" / "first" / "result.json").read_text(encoding="utf-8"))
    assert (result["world"], result["planner"], result["end"]) == (PX4, "route", "stop")
    assert result["safety"]["collisions"] == 0 and result["metrics"]["path_length"] > 60.0
