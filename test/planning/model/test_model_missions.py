"""Whole short missions on the engine with a model on the loopback interface: with faults, and replayed without it."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from esar_ros.benchmark.engine.episode import fly_episode
from esar_ros.benchmark.engine.mission import EpisodeResult
from esar_ros.benchmark.report.scorecard import terminal_table
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import load_task
from esar_ros.sim.terrain.maps import load_map
from esar_ros.suites.esarbench.suite import ESARBENCH
from helpers.chat_server import ChatEndpoint

TASK = load_task("aotai-first").model_copy(update={"t_max": 22.0})
FAST = RunConditions(preset="fast", detector="segmentation_oracle")
GOOD: dict[str, Any] = {
    "pure_mllm": {"action": "forward", "reason": "open ground"},
    "apex": {"objects": [{"name": "a path", "score": 0.9, "camera": "front", "box": [400, 500, 600, 700]}]},
}


def flown(planner: str) -> EpisodeResult:
    return fly_episode(ESARBENCH, TASK, planner, 3, FAST, load_map(TASK.map))


@pytest.mark.parametrize("planner", ["pure_mllm", pytest.param("apex", marks=pytest.mark.full)])
def test_a_mission_flies_on_the_model_s_answers_and_is_replayed(
    chat: ChatEndpoint, planner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.answers(chat.status(500), chat.cut, chat.says("no JSON"), chat.says(GOOD[planner]))
    monkeypatch.setenv("ESAR_MODEL_LOG", str(tmp_path))
    first = flown(planner)
    assert first.error is None and first.result.end.value == "timeout"
    assert first.result.planner_details["model"] == "scripted" and first.result.clock == "paused"
    assert first.result.metrics.path_length > 5.0
    assert first.result.timing.tokens_in > 0
    assert first.result.planner_troubles == {"the model's answer is no JSON": 1}, "of the last attempt"
    assert chat.secret not in first.result.model_dump_json()
    asked = len(chat.requests)
    monkeypatch.delenv("ESAR_MODEL_LOG")
    monkeypatch.delenv("ESAR_MODEL_URL")
    monkeypatch.setenv("ESAR_MODEL_REPLAY", str(tmp_path))
    again = flown(planner)
    drop = {"timing", "planner_details"}
    assert again.result.model_dump(exclude=drop) == first.result.model_dump(exclude=drop)
    assert again.track == first.track
    assert len(chat.requests) == asked and again.result.planner_details["answers"] == "replayed"


def test_a_model_of_which_no_answer_could_be_used_is_the_first_that_a_result_says(chat: ChatEndpoint) -> None:
    chat.answers(chat.says("no JSON"))
    result = flown("pure_mllm").result
    assert result.trouble.startswith("0 of ") and "answers of the model could be used: the model" in result.trouble
    assert not result.eligible and "no answer of the model could be used" in result.ineligible_reasons
    shown = StringIO()
    Console(file=shown, width=120).print(terminal_table(result))
    assert result.trouble in shown.getvalue()


@pytest.mark.full
def test_a_mission_whose_server_is_dead_goes_on(chat: ChatEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    chat.close()
    flight = flown("pure_mllm")
    assert flight.error is None and flight.result.end.value == "timeout"
    assert flight.result.metrics.path_length > 5.0
