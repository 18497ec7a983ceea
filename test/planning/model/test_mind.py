"""Thought by the mission's clock, budgets and rests, against a server on the loopback interface."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from esar_ros.mission.errors import UsageError
from esar_ros.mission.observation import Brief
from esar_ros.planning.exchange import CAUTION, Question, Reply, clean, labelled_image
from esar_ros.planning.model.client import ModelClient
from esar_ros.planning.model.log import Log
from esar_ros.planning.model.mind import Mind, Thought
from esar_ros.planning.model.settings import PRESETS, SHIPPED, ModelSettings, resolved
from esar_ros.planning.parameters import MODEL, check, configured
from helpers.chat_server import ChatEndpoint


class Number(BaseModel):
    """A number."""

    value: int


QUESTION = Question("number", "You count.", "How many?", Number)


def sum_of(*batches: int) -> Thought[int]:
    """Ask batches of questions one batch after another; the sum of what was answered."""
    total = 0
    for size in batches:
        replies: Sequence[Reply] = yield [QUESTION] * size
        total += sum(reply.value.value for reply in replies if isinstance(reply.value, Number))
    return total


@pytest.fixture
def mind(chat: ChatEndpoint, brief: Callable[..., Brief]) -> Callable[..., Mind[int]]:
    """Factory of minds that ask the scripted server."""

    def make(**settings: Any) -> Mind[int]:
        given = {"timeout": 2.0, "attempts": 1, "pause": 0.0, **settings}
        made: Mind[int] = Mind(ModelSettings.model_validate(given), "test", ["You count."])
        made.reset(brief())
        return made

    return make


def test_with_the_clock_paused_the_observation_waits(chat: ChatEndpoint, mind: Any, observe: Any) -> None:
    chat.answers(chat.late(0.1, chat.says({"value": 3})))
    thinker = mind()
    thinker.begin(sum_of(2, 1))
    outcome = thinker.poll(observe(5.0))
    assert outcome.value == 9 and outcome.trouble == ""
    assert (outcome.tokens_in, outcome.tokens_out) == (300, 30)
    assert not thinker.busy


def test_results_name_the_model_the_day_and_a_hash_of_all_fixed_words(chat: ChatEndpoint, mind: Any) -> None:
    details = mind().details
    assert details["model"] == "scripted" and details["clock"] == "paused"
    assert details["prompt_sha256"] == hashlib.sha256(f"{CAUTION}\0You count.".encode()).hexdigest()
    assert abs((date.fromisoformat(details["date"]) - datetime.now(timezone.utc).date()).days) <= 1
    [system, _] = QUESTION.messages()
    assert system["content"] == f"You count. {CAUTION}"


def test_questions_of_one_batch_are_asked_at_once(chat: ChatEndpoint, mind: Any, observe: Any) -> None:
    chat.answers(chat.late(0.3, chat.says({"value": 1})))
    thinker = mind()
    began = time.monotonic()
    thinker.begin(sum_of(4))
    assert thinker.poll(observe(0.0)).value == 4
    assert time.monotonic() - began < 0.9


def test_with_the_clock_running_the_answer_comes_when_the_model_has_it(
    chat: ChatEndpoint, mind: Any, observe: Any
) -> None:
    chat.answers(chat.late(0.45, chat.says({"value": 1})))
    thinker = mind(clock="running")
    thinker.begin(sum_of(1))
    stamps = [10.0, 10.1, 10.2, 10.3, 10.4]
    assert [thinker.poll(observe(stamp)) for stamp in stamps] == [None] * 5
    assert thinker.poll(observe(11.0)).value == 1


def test_a_frame_does_not_wait_longer_than_its_own_time(chat: ChatEndpoint, mind: Any, observe: Any) -> None:
    chat.answers(chat.late(1.0, chat.says({"value": 1})))
    thinker = mind(clock="running")
    thinker.begin(sum_of(1))
    began = time.monotonic()
    assert thinker.poll(observe(0.0)) is None and thinker.poll(observe(0.2)) is None
    assert time.monotonic() - began < 0.7


def test_a_running_flight_is_replayed_at_the_same_stamps(
    chat: ChatEndpoint, mind: Any, observe: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.answers(chat.late(0.25, chat.says({"value": 2})))

    def stamp_of_answer(thinker: Mind[int]) -> list[float]:
        out = []
        for start in (0.0, 10.0):
            thinker.begin(sum_of(1, 1))
            stamps = (start + n * 0.1 for n in range(100))
            out.append(next(stamp for stamp in stamps if thinker.poll(observe(stamp)) is not None))
        return out

    recorded = stamp_of_answer(mind(clock="running", log=str(tmp_path)))
    assert all(0.5 <= stamp % 10.0 <= 3.0 for stamp in recorded)
    monkeypatch.delenv("ESAR_MODEL_URL")
    began = time.monotonic()
    assert stamp_of_answer(mind(clock="running", replay=str(tmp_path))) == recorded
    assert time.monotonic() - began < 0.4, "a replay waits for nobody"


def test_a_budget_ends_the_asking_not_the_thinking(chat: ChatEndpoint, mind: Any, observe: Any) -> None:
    chat.answers(chat.says({"value": 1}))
    thinker = mind(budget={"tokens": 200})
    outcomes = []
    for _ in range(4):
        thinker.begin(sum_of(1))
        outcomes.append(thinker.poll(observe(0.0)))
    assert [outcome.value for outcome in outcomes] == [1, 1, 0, 0]
    assert outcomes[2].trouble == "the budget of 200 tokens is spent"
    assert len(chat.requests) == 2


@pytest.mark.parametrize(
    ("budget", "words"), [({"money": 0.5}, "budget of 0.5 is"), ({"seconds": 0.05}, "budget of 0.05 s is")]
)
def test_money_and_seconds_are_budgets_too(chat: ChatEndpoint, budget: dict[str, float], words: str) -> None:
    chat.answers(chat.late(0.1, chat.says({"value": 1})))
    settings = ModelSettings.model_validate(
        {"base_url": chat.url, "name": "m", "price_in": 4000.0, "price_out": 10000.0, "budget": budget}
    )
    client = ModelClient(settings)
    assert client.ask(QUESTION).value == Number(value=1)
    assert words in client.ask(QUESTION).reason


def test_a_price_is_looked_up_and_money_needs_one(chat: ChatEndpoint) -> None:
    table = {"name": "m", "base_url": chat.url, "prices": {"m": [2.0, 8.0]}, "budget": {"money": 0.1}}
    found = resolved(ModelSettings.model_validate(table), "test", {})
    assert (found.price_in, found.price_out) == (2.0, 8.0)
    own = resolved(ModelSettings.model_validate({**table, "price_in": 1.0}), "test", {})
    assert (own.price_in, own.price_out) == (1.0, 0.0), "what is given wins"
    with pytest.raises(UsageError, match=r"planner test, model.budget.money: m has no price: give price_in"):
        resolved(ModelSettings.model_validate({**table, "prices": {}}), "test", {})


def test_a_server_that_counts_no_tokens_is_charged_by_an_estimate(chat: ChatEndpoint, observe: Any, mind: Any) -> None:
    body = {"choices": [{"message": {"content": '{"value": 1}'}}]}
    chat.answers(lambda handler: handler.reply(200, json.dumps(body).encode()))
    thinker = mind(budget={"tokens": 100})  # a question of some 470 bytes
    outcomes = []
    for _ in range(2):
        thinker.begin(sum_of(1))
        outcomes.append(thinker.poll(observe(0.0)))
    assert [outcome.value for outcome in outcomes] == [1, 0] and len(chat.requests) == 1
    assert outcomes[1].trouble == "the budget of 100 tokens is spent, by an estimate: the server does not count"
    assert (outcomes[0].tokens_in, outcomes[0].tokens_out) == (0, 1), "one: that it answered is known"


def test_a_dead_server_is_left_alone_for_a_while(chat: ChatEndpoint, mind: Any, observe: Any) -> None:
    chat.answers(chat.status(500))
    thinker = mind(rest_after=2, rest=30.0)
    troubles = []
    for stamp in (0.0, 1.0, 2.0, 20.0, 32.0):
        thinker.begin(sum_of(1))
        troubles.append(thinker.poll(observe(stamp)).trouble)
    resting = "the model rests after 2 rounds without an answer"
    assert troubles == ["HTTP 500", "HTTP 500", resting, resting, "HTTP 500"]
    assert len(chat.requests) == 3


@pytest.mark.parametrize(("code", "tries"), [(401, 1), (404, 1), (429, 3), (500, 3)])
def test_only_what_may_pass_is_tried_again(chat: ChatEndpoint, code: int, tries: int) -> None:
    chat.answers(chat.status(code))
    pauses: list[float] = []
    settings = ModelSettings(base_url=chat.url, name="m", attempts=3, pause=1.0)
    reply = ModelClient(settings, sleep=pauses.append).ask(QUESTION)
    assert reply.reason == f"HTTP {code}" and len(chat.requests) == tries
    assert all(0.75 * base <= pause <= 1.25 * base for base, pause in zip((1.0, 2.0), pauses, strict=False))
    assert len(pauses) == tries - 1 and not {1.0, 2.0} & set(pauses), "jitter"


def test_reasoning_before_the_answer_is_taken_off(chat: ChatEndpoint) -> None:
    chat.answers(chat.says('<think>hm {"value": 1}</think>\n{"value": 7}'))
    assert ModelClient(ModelSettings(base_url=chat.url, name="m")).ask(QUESTION).value == Number(value=7)


def test_reasoning_may_come_without_its_opening_tag(chat: ChatEndpoint) -> None:
    chat.answers(chat.says('hm {"value": 1}\n</think>\n```json\n{"value": 7}```'))
    assert ModelClient(ModelSettings(base_url=chat.url, name="m")).ask(QUESTION).value == Number(value=7)


def ended(content: str | None, finish: str, **message: Any) -> Any:
    """An answer that ended for a reason of the server's."""
    choice = {"message": {"content": content, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return lambda handler: handler.reply(200, json.dumps({"choices": [choice], "usage": usage}).encode())


@pytest.mark.parametrize("content", ['{"value": ', "", None, "<think>hm"])
def test_an_answer_that_was_cut_is_told_so_and_costs_its_tokens(chat: ChatEndpoint, content: str | None) -> None:
    chat.answers(ended(content, "length"))
    client = ModelClient(ModelSettings(base_url=chat.url, name="m", attempts=2, pause=0.0, max_tokens=16))
    reply = client.ask(QUESTION)
    assert reply.reason == "the model's answer was cut at max_tokens (16)"
    assert (reply.tokens_in, reply.tokens_out) == (200, 20) == (client.spent.tokens_in, client.spent.tokens_out)


def test_a_refusal_costs_its_tokens(chat: ChatEndpoint) -> None:
    chat.answers(ended(None, "stop", refusal="no"))
    reply = ModelClient(ModelSettings(base_url=chat.url, name="m", attempts=1)).ask(QUESTION)
    assert (reply.reason, reply.tokens_in, reply.tokens_out) == ("the model refused", 100, 10)


class Words(BaseModel):
    """Some words."""

    words: str


@pytest.mark.parametrize("content", ['{"words": "tent \ud83d"}', '{"words": "tent \\ud83d"}', '{"words": "tent \ud83d'])
def test_half_an_emoji_ends_no_mission(
    chat: ChatEndpoint, mind: Any, observe: Any, tmp_path: Path, content: str
) -> None:
    chat.answers(ended(content, "length"))

    def thought() -> Thought[str]:
        [reply] = yield [Question("words", "You tell.", "What is there?", Words)]
        return reply.value.words if isinstance(reply.value, Words) else reply.reason

    thinker = mind(log=str(tmp_path))
    thinker.begin(thought())  # type: ignore[arg-type]
    assert thinker.poll(observe(0.0)).value in ("tent \ufffd", "the model's answer was cut at max_tokens (800)")
    (log,) = tmp_path.glob("*.jsonl")
    assert "tent" in log.read_text(encoding="utf-8")
    own = Log(log, False, {})
    own.write(1, (0.0, 0.0), Question("words", "", "half \ud83d", Words), Reply(None, ""), "m")
    assert len(log.read_text(encoding="utf-8").splitlines()) == 1, "what no file holds costs the log, not the mission"


def test_an_answer_of_backticks_and_spaces_costs_no_time(chat: ChatEndpoint) -> None:
    chat.answers(chat.says("```" + " " * 1000 + "x"), chat.says({"value": 7}))
    began = time.process_time()
    reply = ModelClient(ModelSettings(base_url=chat.url, name="m", pause=0.0)).ask(QUESTION)
    assert reply.value == Number(value=7) and time.process_time() - began < 1.0


def test_what_the_server_is_told_of_the_form(chat: ChatEndpoint) -> None:
    chat.answers(chat.says({"value": 7}))
    for structured in ("json_schema", "none"):
        ModelClient(ModelSettings(base_url=chat.url, name="m", structured=structured, extra={"top_k": 1})).ask(QUESTION)
    (_, with_schema), (_, without) = chat.requests
    assert with_schema["response_format"]["json_schema"]["schema"]["required"] == ["value"]
    assert "response_format" not in without and without["top_k"] == 1
    assert '"value"' in chat.prompt_of(without), "the form is told in words as well"


def test_a_preset_fills_in_what_is_not_given() -> None:
    preset = resolved(ModelSettings(preset="qwen3.5-plus"), "test", {})
    assert preset.name == "qwen3.5-plus" and "dashscope" in preset.base_url
    own = resolved(ModelSettings(preset="qwen3.5-plus", base_url="http://a/v1"), "test", {"ESAR_MODEL_NAME": "b"})
    assert (own.base_url, own.name) == ("http://a/v1", "b")
    plain = resolved(ModelSettings(preset="qwen3.5-plus", extra={}), "test", {})
    assert plain.extra == {}, "what is given stays, also where it is the default"
    with pytest.raises(UsageError, match="no model preset 'gpt'"):
        resolved(ModelSettings(preset="gpt"), "test", {})
    with pytest.raises(UsageError, match=r"model\.base_url 'ftp://a'"):
        resolved(ModelSettings(base_url="ftp://a", name="m"), "test", {})
    with pytest.raises(UsageError, match="the key would be sent in clear to a: give an https address"):
        resolved(ModelSettings(base_url="http://a/v1", name="m"), "test", {"ESAR_MODEL_KEY": "sk-x"})
    for key in ("sk-\u0416", "sk-a\rb"):
        with pytest.raises(UsageError, match="ESAR_MODEL_KEY holds a character that is in no key"):
            resolved(ModelSettings(preset="qwen3.5-plus"), "test", {"ESAR_MODEL_KEY": key})
    for url in ("https://", "http:///v1", "http://[::1/v1"):
        with pytest.raises(UsageError, match=r"planner test, model\.base_url '.*' is no http address"):
            resolved(ModelSettings(base_url=url, name="m"), "test", {"ESAR_MODEL_KEY": "sk-x"})
    with pytest.raises(UsageError, match="no recorded answers at /nowhere"):
        resolved(ModelSettings(replay="/nowhere"), "test", {})


def test_the_shipped_file_gives_nothing_that_a_preset_fills_in() -> None:
    shipped = configured("apex", {}, shared=(MODEL,))[MODEL]
    assert {key: shipped[key] for key in SHIPPED} == SHIPPED
    filled = {key for preset in PRESETS.values() for key in preset}
    assert {key for key in filled if key in shipped} <= set(SHIPPED)
    for preset, values in PRESETS.items():
        got = resolved(check(ModelSettings, shipped, "apex"), "apex", {"ESAR_MODEL_PRESET": preset})
        assert {key: getattr(got, key) for key in values} == values


def test_pictures_are_made_smaller_never_larger() -> None:
    image = np.zeros((60, 80, 3), np.uint8)
    assert len(labelled_image("a", image, 40, 85).jpeg) < len(labelled_image("a", image, 640, 85).jpeg) + 200
    assert labelled_image("a", image, 640, 85).sha256 == labelled_image("a", image, 80, 85).sha256
    assert labelled_image("a", image, 40, 85).sha256 != labelled_image("a", image, 80, 85).sha256


def test_a_model_s_words_are_one_clean_line() -> None:
    assert clean("a\n\x1b[31mb\u202e  c") == "a [31mb c"
    assert len(clean("x" * 500)) == 200
