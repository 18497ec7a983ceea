"""A run against a server that answers, rambles, fails, hangs and dies with us: every question is answered once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from esar_ros.app.cli import main
from esar_ros.benchmark.runner.store import read_contents
from esar_ros.mission.chat import ChatServer, Completion, NoAnswer
from esar_ros.mission.errors import UsageError
from esar_ros.planning.model.settings import Budget, ModelSettings
from esar_ros.suites.uavbench.mcq import asking
from esar_ros.suites.uavbench.mcq.asking import Asker, model_settings
from esar_ros.suites.uavbench.mcq.item import LETTERS
from esar_ros.suites.uavbench.mcq.protocol import PROTOCOLS
from esar_ros.suites.uavbench.mcq.run import FILES, Progress, RunSettings, jobs_of, open_run, read_run, run, settings_of
from helpers.chat_server import ChatEndpoint, cut, late, prompt_of, says, status
from helpers.questions import make_item, make_items, write_items
from helpers.strict_servers import newest_openai

ESAR = PROTOCOLS["esar"]
MODEL = ModelSettings(base_url="http://127.0.0.1:1/v1", name="stub", pause=0.0)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatEndpoint]:
    server = ChatEndpoint()
    for name in list(os.environ):
        if name.startswith("ESAR_MODEL_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ESAR_MODEL_URL", server.url)
    monkeypatch.setenv("ESAR_MODEL_NAME", "stub")
    yield server
    server.close()


def letter_of(body: dict[str, Any]) -> str:
    """The stub's answer follows from the prompt alone."""
    return LETTERS[sum(prompt_of(body).encode()) % len(LETTERS)]


def steady(body: dict[str, Any]) -> Any:
    return says(f"Answer: {letter_of(body)}")


def plain(folder: Path) -> list[dict[str, Any]]:
    """Answers without what depends on the clock."""
    answers = read_contents(folder, FILES).records
    return [{key: value for key, value in one.items() if key != "timing"} for one in answers]


class Scripted:
    """A server in this process: says the same to the same prompt; fails at the questions whose words it holds."""

    def __init__(self, *bad: str, error: NoAnswer | None = None) -> None:
        self.bad, self.asked, self.error = bad, 0, error or NoAnswer("HTTP 500")

    def complete(self, body: Any) -> Completion:
        self.asked += 1
        if any(word in prompt_of(body) for word in self.bad):
            raise self.error
        return Completion(f"Answer: {letter_of(body)}", 100, 10, "stop", "stub-1")


def ask_all(folder: Path, items: list[Any], server: Scripted, prices: ModelSettings = MODEL, **how: Any) -> Any:
    jobs = jobs_of(items, how.get("orders", 1))
    store = open_run(folder, settings_of(items, ESAR, how.get("orders", 1), prices), items)
    try:
        asker = Asker(server, prices, ESAR, sleep=lambda _: None)
        return run(jobs, store, asker.ask, ESAR, prices, how.get("workers", 3), lambda _: None)
    finally:
        store.close()


# --- Kinds of answers ---------------------------------------------------------------------------------------------


def test_every_kind_of_answer_is_read_for_what_it_is(tmp_path: Path, endpoint: ChatEndpoint) -> None:
    kinds = {
        "B": says("B"),
        "prose": says("I would rather hold."),
        "think": says("<think>Answer: A</think>Answer: C"),
        "empty": says(""),
        "nothing": says(None),
        "refusal": says(None, refusal="no"),
    }
    items = [make_item(i, question=f"Is it {kind}, or what?") for i, kind in enumerate(kinds)]
    endpoint.script = lambda body: next(answer for kind, answer in kinds.items() if f"Is it {kind}," in prompt_of(body))
    path = write_items(tmp_path / "q.jsonl", items)
    assert main(["mcq", "run", str(path), "--out", str(tmp_path / "out"), "--workers", "2"]) == 0
    found = {one["item"]: (one["outcome"], one["pick"]) for one in plain(tmp_path / "out")}
    assert found == {
        "q00000": ("answered", "B"),
        "q00001": ("unparsed", None),
        "q00002": ("answered", "C"),
        "q00003": ("unparsed", None),
        "q00004": ("unparsed", None),
        "q00005": ("unparsed", None),
    }


def test_the_request_is_the_protocol_s(tmp_path: Path, endpoint: ChatEndpoint) -> None:
    endpoint.script = steady
    path = write_items(tmp_path / "q.jsonl", [make_item()])
    for protocol, tokens in (("paper", 16), ("esar", 1024)):
        assert main(["mcq", "run", str(path), "--out", str(tmp_path / protocol), "--protocol", protocol]) == 0
        body = endpoint.requests[-1][1]
        assert (body["max_tokens"], body["temperature"], body["top_p"], body["model"]) == (tokens, 0.0, 1.0, "stub")


@pytest.mark.parametrize(
    ("flags", "shown", "said"),
    [
        ([], ("DESCRIPTION:\n", "QUESTION:\n", "OPTIONS:\n"), ""),
        (["--without", "description"], ("QUESTION:\n", "OPTIONS:\n"), " without description"),
        (["--without", "question"], ("DESCRIPTION:\n", "OPTIONS:\n"), " without question"),
        (["--without", "question", "--without", "description"], ("OPTIONS:\n",), " without description, question"),
    ],
)
def test_what_is_left_out_is_not_shown_and_is_a_setting(
    tmp_path: Path,
    endpoint: ChatEndpoint,
    capsys: pytest.CaptureFixture[str],
    flags: list[str],
    shown: tuple[str, ...],
    said: str,
) -> None:
    endpoint.script = steady
    item = make_item()
    path = write_items(tmp_path / "q.jsonl", [item])
    assert main(["mcq", "run", str(path), "--out", str(tmp_path / "out"), *flags]) == 0
    prompt = prompt_of(endpoint.requests[-1][1])
    for head, text in (("DESCRIPTION:\n", item.description), ("QUESTION:\n", item.question), ("OPTIONS:\n", "A- ")):
        assert (head in prompt) == (text in prompt) == (head in shown)
    assert f"1 questions{said}, put to stub" in capsys.readouterr().out
    assert read_run(tmp_path / "out").settings.without == said.removeprefix(" without ")
    other = [] if flags else ["--without", "question"]
    assert main(["mcq", "run", str(path), "--out", str(tmp_path / "out"), *other]) == 2
    assert "without: " in capsys.readouterr().err and len(endpoint.requests) == 1


@pytest.mark.parametrize("fault", [status(429), status(500), cut], ids=["429", "500", "cut off"])
def test_a_server_that_fails_now_and_then_is_asked_again(endpoint: ChatEndpoint, fault: Any) -> None:
    endpoint.answers(fault, fault, says("Answer: B"))
    pauses: list[float] = []
    answer = Asker(ChatServer(endpoint.url), MODEL, ESAR, sleep=pauses.append).ask(make_item(), range(7))
    assert answer.completion.text == "Answer: B" and answer.attempts == 3
    assert len(pauses) == 2
    endpoint.answers(fault)
    with pytest.raises(NoAnswer):
        Asker(ChatServer(endpoint.url), MODEL, ESAR, sleep=pauses.append).ask(make_item(), range(7))
    assert len(pauses) == 2 + ESAR.attempts - 1


def test_a_server_that_refuses_fields_is_asked_in_its_dialect_and_the_report_says_so(
    tmp_path: Path, endpoint: ChatEndpoint
) -> None:
    def script(body: dict[str, Any]) -> Any:
        refusal = newest_openai(body)
        if refusal is None:
            return steady(body)
        return lambda handler: handler.reply(refusal[0], json.dumps(refusal[1]).encode())

    endpoint.script = script
    path, out = write_items(tmp_path / "q.jsonl", make_items(10)), str(tmp_path / "out")
    assert main(["mcq", "run", str(path), "--out", out, "--workers", "1"]) == 0
    changes = ["max_completion_tokens", "without temperature", "without top_p"]
    assert [one["changes"] for one in plain(tmp_path / "out")] == [changes] * 10
    taken = [body for _, body in endpoint.requests if newest_openai(body) is None]
    assert {body["max_completion_tokens"] for body in taken} == {ESAR.max_tokens} and len(taken) == 10
    assert len(endpoint.requests) == 10 + len(changes), "what one question has learnt the next begins with"
    assert main(["mcq", "report", out]) == 0
    overall = (tmp_path / "out" / "report" / "mcq_overall.md").read_text()
    assert f"did not take the protocol's request; changed: {', '.join(changes)}" in overall


def test_a_server_that_hangs_is_an_error_of_the_server(endpoint: ChatEndpoint) -> None:
    endpoint.script = lambda _: late(2.0, says("Answer: B"))
    asker = Asker(ChatServer(endpoint.url, timeout=0.1), MODEL, ESAR, sleep=lambda _: None)
    with pytest.raises(NoAnswer, match="no answer within"):
        asker.ask(make_item(), range(7))


def test_a_failing_server_gives_no_wrong_answers_and_is_asked_again_at_the_next_start(tmp_path: Path) -> None:
    items = make_items(30)
    server = Scripted(items[4].question, items[17].question)
    progress = ask_all(tmp_path / "out", items, server)
    assert (progress.done, progress.failed, progress.ended) == (28, 2, "")
    assert len(plain(tmp_path / "out")) == 28
    progress = ask_all(tmp_path / "out", items, Scripted())
    assert (progress.done, progress.asked, progress.failed) == (30, 2, 0)


def test_a_question_that_the_server_refuses_for_good_stops_no_others(tmp_path: Path) -> None:
    items = make_items(30)
    server = Scripted(items[0].question, error=NoAnswer("HTTP 400", False, 400))
    progress = ask_all(tmp_path / "out", items, server)
    assert (progress.done, progress.failed, progress.ended) == (29, 1, "")


def test_a_dead_server_is_given_up(tmp_path: Path, endpoint: ChatEndpoint, capsys: pytest.CaptureFixture[str]) -> None:
    endpoint.script = lambda _: status(401)
    path = write_items(tmp_path / "q.jsonl", make_items(40))
    assert main(["mcq", "run", str(path), "--out", str(tmp_path / "out")]) == 1
    assert "HTTP 401" in capsys.readouterr().err
    assert len(endpoint.requests) < 10


# --- Settings -----------------------------------------------------------------------------------------------------


def test_other_settings_are_refused(tmp_path: Path) -> None:
    items = make_items(4)
    ask_all(tmp_path / "out", items, Scripted())
    for other, words in (
        (settings_of(items[:3], ESAR, 1, MODEL), "items differ"),
        (settings_of(items, PROTOCOLS["paper"], 1, MODEL), "protocol: 'paper' here, 'esar' there"),
        (settings_of(items, ESAR, 2, MODEL), "orders: 2 here, 1 there"),
        (settings_of(items, ESAR, 1, MODEL.model_copy(update={"name": "b"})), "model: 'b' here"),
    ):
        with pytest.raises(UsageError, match=words):
            open_run(tmp_path / "out", other, items)


def test_changed_answers_and_questions_are_noticed(tmp_path: Path) -> None:
    items = make_items(4)
    ask_all(tmp_path / "out", items, Scripted())
    assert len(read_run(tmp_path / "out").answers) == 4
    path = tmp_path / "out" / "answers.jsonl"
    whole = path.read_text()
    path.write_text(whole.replace('"correct":false', '"correct":true'))
    with pytest.raises(UsageError, match="content was changed"):
        read_run(tmp_path / "out")
    path.write_text(whole)
    write_items(tmp_path / "out" / "items.jsonl", items[:3])
    with pytest.raises(UsageError, match="was changed since it was asked"):
        read_run(tmp_path / "out")


def test_another_model_s_name_is_noticed(tmp_path: Path) -> None:
    items = make_items(4)
    ask_all(tmp_path / "out", items, Scripted())
    path = tmp_path / "out" / "mcq.json"
    manifest = json.loads(path.read_text())
    manifest["settings"]["model"] = "gpt-5"
    path.write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match="settings were changed after the run"):
        read_run(tmp_path / "out")
    manifest["settings_hash"] = RunSettings(**manifest["settings"]).hash
    path.write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match="was answered under other settings"):
        read_run(tmp_path / "out")


def test_without_a_model_it_says_how_to_name_one() -> None:
    with pytest.raises(UsageError, match="no language model is configured"):
        model_settings(environment={})
    with pytest.raises(UsageError, match="scripted"):
        model_settings(environment={"ESAR_MODEL_PRESET": "scripted"})
    found = model_settings("other", {"ESAR_MODEL_URL": "http://localhost:1/v1", "ESAR_MODEL_NAME": "some"})
    assert found.name == "other"


def test_a_mission_s_budget_is_none_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    section = {"base_url": "http://localhost:1/v1", "name": "some", "budget": {"tokens": 5, "money": 1.0}}
    monkeypatch.setattr(asking, "configured", lambda *_, **__: {"model": section})
    assert model_settings(environment={}).budget == Budget()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--orders", "8"], "--orders 8"),
        (["--workers", "0"], "--workers 0"),
        (["--limit", "-1"], "--limit -1"),
        (["--limit", "0"], "--limit 0"),
        (["--without", "options"], "--without"),
        (["--protocol", "paper", "--max-tokens", "99"], "--max-tokens with --protocol paper"),
        (["--budget", "3"], "price_in"),
        (["--local", "smollm2", "--model", "x"], "--local with --model"),
    ],
)
def test_bad_flags_are_one_line(
    tmp_path: Path, endpoint: ChatEndpoint, capsys: pytest.CaptureFixture[str], flags: list[str], words: str
) -> None:
    path = write_items(tmp_path / "q.jsonl", [make_item()])
    assert main(["mcq", "run", str(path), "--out", str(tmp_path / "out"), *flags]) == 2
    assert words in capsys.readouterr().err


def test_the_budget_ends_a_run_that_goes_on_with_more(tmp_path: Path) -> None:
    """Each answer costs 110 tokens: 100 read and 10 written."""
    items = make_items(20)
    paid = MODEL.model_copy(update={"price_in": 1e4, "price_out": 0.0})  # 1 an answer

    def limited(money: float) -> ModelSettings:
        return paid.model_copy(update={"budget": paid.budget.model_copy(update={"money": money})})

    progress = ask_all(tmp_path / "out", items, Scripted(), limited(5.0), workers=1)
    assert progress.done == 5 and "budget of 5" in progress.ended
    progress = ask_all(tmp_path / "out", items, Scripted(), limited(12.0), workers=1)
    assert (progress.done, progress.asked) == (12, 7)
    assert {one["style"] for one in plain(tmp_path / "out")} == set(range(1, 11))


# --- Orders -------------------------------------------------------------------------------------------------------


def test_in_shuffled_orders_the_letter_is_put_back(tmp_path: Path) -> None:
    items = [*make_items(10), make_item(10, options=(*make_item(10).options[:6], "None of the above"))]

    class Knowing:
        """Names the right option's text where it stands now."""

        def complete(self, body: Any) -> Completion:
            shown = prompt_of(body)
            item = next(item for item in items if item.question in shown)
            line = next(line for line in shown.splitlines() if line.endswith(f"- {item.options[item.key]}"))
            return Completion(f"Answer: {line[0]}", 1, 1)

    progress = ask_all(tmp_path / "knows", items, Knowing(), orders=7)  # type: ignore[arg-type]
    assert progress.done == 10 * 7 + 1
    assert set(read_run(tmp_path / "knows").scores.values()) == {1.0}

    class Constant:
        def complete(self, body: Any) -> Completion:
            return Completion("Answer: C", 1, 1)

    ask_all(tmp_path / "constant", items[:10], Constant(), orders=7)  # type: ignore[arg-type]
    assert list(read_run(tmp_path / "constant").scores.values()) == pytest.approx([1 / 7] * 10)


# --- Resume -------------------------------------------------------------------------------------------------------


def kill_again_and_again(folder: Path, count: int, kills: int, endpoint: ChatEndpoint, seed: int) -> None:
    """Asks `count` questions, killed at random moments, then lets it end; the answers are those of a quiet run."""
    items = make_items(count)
    path = write_items(folder / "q.jsonl", items)
    endpoint.script = lambda body: late(0.002, steady(body))
    command = [sys.executable, "-m", "esar_ros.app.cli", "mcq", "run", str(path), "--out", str(folder / "out")]
    rng = random.Random(seed)
    answers = folder / "out" / FILES.records
    killed = 0
    while killed < kills:
        before = answers.stat().st_size if answers.exists() else 0
        process = subprocess.Popen([*command, "--workers", "4"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        until = before + rng.randint(1, max(2, 700 * count // (kills + 1)))
        while process.poll() is None and (not answers.exists() or answers.stat().st_size < until):
            time.sleep(0.001)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        _, errors = process.communicate()
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, errors.decode()
    assert killed == kills, "the run outlived its kills"
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found = plain(folder / "out")
    assert [one["index"] for one in found] == list(range(count))
    assert len((folder / "out" / FILES.records).read_text().splitlines()) == count
    ask_all(folder / "quiet", items, _Like(), MODEL)
    drop = ("settings_hash", "model", "finish")
    quiet = [{key: value for key, value in one.items() if key not in drop} for one in plain(folder / "quiet")]
    assert [{key: value for key, value in one.items() if key not in drop} for one in found] == quiet


class _Like(Scripted):
    """Says in this process what the stub says over HTTP."""


def test_answers_that_came_meanwhile_are_flushed_together_and_none_counts_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = make_items(60)
    store = open_run(tmp_path / "out", settings_of(items, ESAR, 1, MODEL), items)
    answers = tmp_path / "out" / FILES.records
    safe = [0]

    def flush(descriptor: int) -> None:
        time.sleep(0.005)
        safe.append(answers.read_bytes().count(b"\n"))

    def show(progress: Progress) -> None:
        assert progress.done == len(store.done) == safe[-1]

    monkeypatch.setattr("esar_ros.benchmark.runner.store.os.fsync", flush)
    try:
        run(jobs_of(items, 1), store, Asker(Scripted(), MODEL, ESAR).ask, ESAR, MODEL, 8, show)
    finally:
        store.close()
    assert safe[-1] == len(items) and len(safe) < len(items) / 2


@pytest.mark.timeout(600)
def test_a_run_that_is_killed_goes_on_exactly(tmp_path: Path, endpoint: ChatEndpoint) -> None:
    kill_again_and_again(tmp_path, 60, 2, endpoint, 1)


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_two_thousand_questions_killed_ten_times_are_exact(tmp_path: Path, endpoint: ChatEndpoint) -> None:
    kill_again_and_again(tmp_path, 2000, 10, endpoint, 2)


def test_a_torn_line_is_asked_again(tmp_path: Path) -> None:
    items = make_items(10)
    ask_all(tmp_path / "out", items, Scripted())
    whole = plain(tmp_path / "out")
    path = tmp_path / "out" / FILES.records
    path.write_bytes(path.read_bytes()[:-37])
    server = Scripted()
    ask_all(tmp_path / "out", items, server)
    assert server.asked == 1
    assert plain(tmp_path / "out") == whole


def test_the_key_is_sent_and_never_written(
    tmp_path: Path, endpoint: ChatEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ESAR_MODEL_KEY", endpoint.secret)
    endpoint.script = steady
    path = write_items(tmp_path / "q.jsonl", make_items(3))
    assert main(["mcq", "run", str(path), "--out", str(tmp_path / "out")]) == 0
    assert endpoint.requests[0][0]["Authorization"] == f"Bearer {endpoint.secret}"
    assert all(endpoint.secret not in file.read_text() for file in (tmp_path / "out").iterdir())
    manifest = json.loads((tmp_path / "out" / "mcq.json").read_text())
    assert manifest["settings"]["model"] == "stub"
