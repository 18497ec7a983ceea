"""A whole mission in world px4: the graph as it is, moved by the fake autopilot, drawn by the embedded simulator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from esar_ros.nodes.graph.mission import PX4, TRUTH_DETECTOR, MissionOptions
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
