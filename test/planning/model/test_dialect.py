"""Any server: every asking method gets its answers from servers that refuse fields of a request one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from esar_ros.mission.chat import NoAnswer
from esar_ros.mission.observation import Grid
from esar_ros.planning import registry
from esar_ros.planning.exchange import Form, LabelledImage, Question, payload
from esar_ros.planning.model.client import ModelClient
from esar_ros.planning.model.dialect import Dialect
from esar_ros.planning.model.settings import ModelSettings
from helpers.chat_server import ChatEndpoint
from helpers.strict_servers import lm_studio, newest_openai, strict, vllm_with_gemma

SERVERS = {"openai": newest_openai, "vllm": vllm_with_gemma, "lm_studio": lm_studio}
ASKING = ("pure_mllm", "navgpt", "unigoal", "spf", "apex", "aoa_f", "aoa_v", "belief_model", "mllm")
AT_ONCE = 4  # questions that a method asks at once at most; they learn apart
OWN_FIELD = {"enable_thinking": False}


class Number(Form):
    """A number."""

    value: int


QUESTION = Question("number", "You count.", "How many?", Number, tuple(LabelledImage(n, b"jpeg") for n in "abc"))
STANDARD = payload(QUESTION, ModelSettings(name="m", extra=OWN_FIELD).model_dump())


@pytest.mark.parametrize("server", SERVERS)
def test_no_request_of_any_method_stays_refused(
    chat: ChatEndpoint, brief: Any, observe: Any, look: Any, corridor: Grid, clue: Any, server: str
) -> None:
    for name in ASKING:
        statuses: list[int] = []
        chat.script = strict(SERVERS[server], statuses)
        cheap = {"prior": {"samples": 200}} if name in ("belief_model", "mllm") else {}
        method = registry.create(name, {**cheap, "model": {"attempts": 1, "timeout": 30.0, "extra": OWN_FIELD}})
        method.reset(brief(half=200.0, prompt="A hiker with a tent is missing. He walked 150 m to the east."), 1)
        told = []
        for stamp in range(4):
            seen = {"views": look(), "clues": (clue(),), "grid": corridor, "goal_reached": True}
            told.append(method.act(observe(float(stamp), **seen)).trouble)
        assert statuses.count(200) >= 1 and not any(told), f"{name}: {told}"
        assert statuses.count(400) + statuses.count(422) <= 4 * AT_ONCE, f"{name}: what is learnt is kept"


def test_what_was_learnt_is_not_asked_again_and_the_words_are_logged(
    chat: ChatEndpoint, brief: Any, observe: Any, look: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses: list[int] = []
    chat.script = strict(newest_openai, statuses)
    monkeypatch.setenv("ESAR_MODEL_LOG", str(tmp_path))
    method = registry.create("pure_mllm", {"model": {"attempts": 1, "timeout": 30.0, "extra": OWN_FIELD}})
    method.reset(brief(), 1)
    for stamp in range(5):
        assert not method.act(observe(float(stamp), views=look(), goal_reached=True)).trouble
    assert statuses == [400, 400, 400, 200, 200, 200, 200]
    [log] = tmp_path.glob("*.jsonl")
    first, second = (json.loads(line)["errors"] for line in log.read_text().splitlines()[1:3])
    assert len(first) == 3 and not second
    assert "HTTP 400: " in first[0] and "Use 'max_completion_tokens' instead" in first[0]
    body = chat.requests[-1][1]
    assert set(body) == {"model", "messages", "max_completion_tokens", "response_format"}


def test_the_key_is_taken_out_of_the_server_s_words(chat: ChatEndpoint) -> None:
    chat.answers(chat.status(400))  # its error's words hold the key
    settings = ModelSettings(base_url=chat.url, name="m", attempts=1)
    reply = ModelClient(settings, chat.secret).ask(QUESTION)
    assert reply.reason == "HTTP 400" and all("echo [key]" in words for words in reply.errors)
    assert chat.secret not in str(reply)


def test_a_wrong_answer_is_asked_again_in_the_same_user_turn(chat: ChatEndpoint) -> None:
    chat.answers(chat.says("none"), chat.says({"value": 1}))
    reply = ModelClient(ModelSettings(base_url=chat.url, name="m", pause=0.0)).ask(QUESTION)
    assert reply.value == Number(value=1)
    turns = chat.requests[1][1]["messages"]
    assert [turn["role"] for turn in turns] == ["system", "user"]
    assert "Your last answer was not usable: the model's answer is no JSON." in turns[1]["content"][0]["text"]


@pytest.mark.parametrize(
    ("status", "words", "changes"),
    [
        (400, "", ("without enable_thinking",)),
        (400, '{"detail": [{"loc": ["body", "temperature"], "input": {"max_tokens": 8}}]}', ("without temperature",)),
        (500, "Only user and assistant roles: system role is not supported", ("one turn",)),
        (500, "Internal system failure", None),
        (400, "This model's maximum context length is 4096 tokens", None),
        (400, "this model cannot read an image", None),
        (429, "temperature too high", None),
        (401, "", None),
    ],
)
def test_a_refusal_changes_what_it_names_and_nothing_where_no_change_helps(
    status: int, words: str, changes: tuple[str, ...] | None
) -> None:
    mended = Dialect().mended(STANDARD, QUESTION, NoAnswer("no", False, status, words))
    assert (None if mended is None else mended.changes) == changes


def test_pictures_over_the_limit_are_named_and_left_out() -> None:
    refusal = NoAnswer("no", False, 400, "At most 2 image(s) may be provided in one request.")
    two = Dialect().mended(STANDARD, QUESTION, refusal)
    assert two is not None and two.pictures == 2
    content = two.request(STANDARD, QUESTION)["messages"][1]["content"]
    assert [part["type"] for part in content] == ["text", "text", "image_url", "text", "image_url"]
    assert content[0]["text"].endswith("Not shown: c.") and "How many?" in content[0]["text"]
    assert two.mended(STANDARD, QUESTION, refusal) is None, "the limit is kept to: something else is wrong"


def test_with_no_words_every_change_is_tried_once_and_then_the_server_is_believed() -> None:
    dialect, tried = Dialect(), 0
    while (changed := dialect.mended(STANDARD, QUESTION, NoAnswer("no", False, 422))) is not None:
        dialect, tried = changed, tried + 1
    assert tried == len(dialect.changes) <= 8
    body = dialect.request(STANDARD, QUESTION)
    assert set(body) == {"model", "messages"} and [turn["role"] for turn in body["messages"]] == ["user"]
