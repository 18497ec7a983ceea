"""The brief read by a model: its reading is flown, the rules' when there is none, and the name and the why say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.planning import registry
from helpers.chat_server import ChatEndpoint

PROMPT = "A hiker is missing. You start at the hut. He left the hut and walked 250 m to the east."
WEST = {
    "missing": 1,
    "start": {"landmark": "the hut", "metres": 0},
    "ways": [{"metres": 250, "bearing": 270, "counts_from": "landmark"}],
}
QUICK = {"timeout": 5.0, "attempts": 1, "pause": 0.0}


@pytest.fixture
def begin(chat: ChatEndpoint, brief: Any) -> Any:
    """Factory: a method that has begun its mission; the model answers as told."""

    def make(*answers: Any, name: str = "belief_model", **model: Any) -> Any:
        chat.answers(*answers)
        method = registry.create(name, {"model": {**QUICK, **model}} if name != "belief" else {})
        method.reset(brief(half=400.0, prompt=PROMPT), 0)
        return method

    return make


def east(method: Any) -> float:
    """Mean of where he is expected, m east."""
    grid = method.people[0].posterior.sum(axis=0)
    return float((grid * method.looks.x).sum() / grid.sum())


def test_the_model_s_reading_is_flown(chat: ChatEndpoint, begin: Any, observe: Any) -> None:
    method = begin(chat.says(WEST))
    assert east(method) > 60.0, "the rules' until it is asked"
    decision = method.act(observe(0.0))
    assert east(method) < -60.0 and decision.goal.position[0] < 0.0
    assert decision.why.endswith("; brief read by the model") and not decision.trouble
    assert (decision.tokens_in, decision.tokens_out) == (100, 10)
    assert method.name == "belief_model" and method.details["brief_reader"] == "scripted" and method.eligible
    method.act(observe(1.0))
    assert len(chat.requests) == 1 and PROMPT in chat.prompt_of(chat.requests[0][1])


def test_without_an_answer_it_is_belief_bit_for_bit(chat: ChatEndpoint, begin: Any, observe: Any) -> None:
    plain, asking = begin(chat.says("He went east."), name="belief"), begin(chat.says("He went east."))
    for stamp in range(3):
        one, other = (method.act(observe(float(stamp))) for method in (plain, asking))
        assert one.action == other.action and (one.goal is None) == (other.goal is None)
        if one.goal is not None:
            assert np.array_equal(one.goal.position, other.goal.position)
        if not stamp:
            assert other.trouble == "the model's answer is no JSON"
            assert other.why == f"{one.why}; brief read by rules, fell back ({other.trouble})"
    assert np.array_equal(plain.people[0].posterior, asking.people[0].posterior) and len(chat.requests) == 1


def test_a_reading_that_comes_later_keeps_what_was_found(
    chat: ChatEndpoint, begin: Any, observe: Any, clue: Any
) -> None:
    two = {**WEST, "missing": 2}
    method = begin(chat.late(0.4, chat.says(two)), clock="running")
    man, pack = clue(1, "person", (150.0, 0.0, 0.0)), clue(2, "backpack", (60.0, 0.0, 0.0))
    first = method.act(observe(0.0, clues=(man, pack)))
    assert first.thinking and len(method.people) == 1
    reported = [report.kind for report in first.reports]
    later = method.act(observe(3.0, (20.0, 0.0, 30.0), clues=(man, pack)))
    assert not later.thinking and later.why.endswith("; brief read by the model") and len(method.people) == 2
    found = [person for person in method.people if person.found is not None]
    assert "person" in reported and len(found) == 1 and found[0].found[0] == 150.0
    assert set(method._clues_in_belief) == {2}


def test_a_flight_is_replayed_with_its_reading(
    chat: ChatEndpoint, begin: Any, observe: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = begin(chat.says(WEST), log=str(tmp_path)).act(observe(0.0))
    monkeypatch.delenv("ESAR_MODEL_URL")
    method = begin(chat.says("not asked"), replay=str(tmp_path))
    again = method.act(observe(0.0))
    assert again.why == first.why and np.array_equal(again.goal.position, first.goal.position)
    assert len(chat.requests) == 1 and method.details["answers"] == "replayed"


def test_the_strategist_has_it_read_first(chat: ChatEndpoint, begin: Any, observe: Any, look: Any) -> None:
    method = begin(chat.says(WEST), chat.says({"ranking": [1], "reason": "west"}), name="mllm")
    decision = method.act(observe(0.0, views=look()))
    assert east(method) < -60.0 and "model's 1 of" in decision.why and decision.tokens_in == 200
    method = begin(chat.status(500), chat.says({"ranking": [1], "reason": "east"}), name="mllm")
    decision = method.act(observe(0.0, views=look()))
    assert decision.trouble == "partly: HTTP 500" and "model's 1 of" in decision.why, "a fault of the one is not hidden"


def test_plain_belief_asks_nobody(chat: ChatEndpoint, begin: Any, observe: Any) -> None:
    method = begin(chat.says(WEST), name="belief")
    method.act(observe(0.0))
    assert not chat.requests and method.details == {"pod_measured_on": "simulator"}, "nothing of a model"


def test_it_is_refused_without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PRESET", "URL", "NAME", "REPLAY"):
        monkeypatch.delenv(f"ESAR_MODEL_{name}", raising=False)
    with pytest.raises(UsageError, match="planner belief_model asks a language model and none is configured"):
        registry.create("belief_model")
