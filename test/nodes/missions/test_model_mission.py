"""Whole missions on the live graph with methods that ask a model: a real HTTP server on loopback, with its faults."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.chat_server import SECRET, ChatEndpoint, late, says, troubled
from helpers.flight import Flight, write_short_task

REASONS = ("the model's answer is no JSON", "the model's JSON does not fit", "the model refused", "HTTP 500",
           "connection lost")  # fmt: skip
METHODS = ("belief_model", "mllm", "pure_mllm", "navgpt", "unigoal", "spf", "apex", "aoa_f", "aoa_v")


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatEndpoint]:
    server = ChatEndpoint()
    for name, value in (("URL", server.url), ("NAME", "scripted"), ("KEY", SECRET)):
        monkeypatch.setenv(f"ESAR_MODEL_{name}", value)
    yield server
    server.close()


@pytest.mark.full
@pytest.mark.parametrize("planner", METHODS)
def test_a_mission_goes_on_whatever_its_server_does(
    endpoint: ChatEndpoint, domain: int, tmp_path: Path, planner: str
) -> None:
    endpoint.script = troubled()
    flight = Flight(tmp_path / "out", write_short_task(tmp_path, 24.0), planner=planner)
    try:
        result = flight.finish()
    finally:
        flight.abort()
    assert result["end"] in ("timeout", "stop") and result["metrics"]["path_length"] > 5.0
    assert result["planner_details"]["model"] == "scripted" and result["timing"]["tokens_in"] > 0
    assert any(why.removeprefix("partly: ").startswith(REASONS) for why in result["planner_troubles"])
    assert len(endpoint.requests) >= 1
    written = "".join(path.read_text(errors="replace") for path in (tmp_path / "out").rglob("*.log"))
    assert SECRET not in written and SECRET not in str(result)


@pytest.mark.full
def test_the_vehicle_flies_on_while_an_answer_takes_seven_minutes(
    endpoint: ChatEndpoint, domain: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ESAR_MODEL_CLOCK", "running")
    endpoint.answers(late(420.0, says({"ranking": [1], "reason": "too late"})))
    flight = Flight(tmp_path / "out", write_short_task(tmp_path, 24.0), planner="mllm")
    try:
        result = flight.finish()
    finally:
        flight.abort()
    assert result["end"] in ("timeout", "stop") and result["metrics"]["path_length"] > 10.0
