"""Ctrl-C at any moment: an end within seconds, no process, no shared memory, and what was flown can be scored."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Esar = Callable[..., Any]
WITHIN = 15.0  # s from the signal to the end


def fly(esar: Esar, out: Path) -> Any:
    return esar("mission", "--planner", "zigzag", "--preset", "fast", "--out", str(out))


def interrupted(command: Any) -> Any:
    """Ctrl-C, and what holds whenever it comes."""
    command.send(signal.SIGINT)
    ended = command.end(60.0)
    assert ended.code == 130, command.said()
    assert ended.seconds < WITHIN
    assert command.processes() == []
    assert command.left_behind() == set()
    assert ended.one_line().startswith("Interrupted")
    return ended


def test_in_flight_what_was_flown_is_scored(esar: Esar, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = fly(esar, out)
    command.wait_for("Searching")
    ended = interrupted(command)
    assert len(command.held) > 10  # the graph did use shared memory
    assert str(out.name) in ended.err
    scored = esar("score", str(out / "bag"), "--json", str(tmp_path / "again.json")).end()
    assert scored.code == 0, scored.err
    for path in (out / "result.json", tmp_path / "again.json"):
        result = json.loads(path.read_text(encoding="utf-8"))
        assert result["schema"] == "esar-result/1"
        assert result["end"] == "aborted"
        assert not result["eligible"]
        assert result["metrics"]["elapsed"] > 1.0


@pytest.mark.full
@pytest.mark.parametrize("seconds", [0.0, 0.5, 1.0, 2.0, 3.0])
def test_during_the_start_only_logs_are_left(esar: Esar, tmp_path: Path, seconds: float) -> None:
    command = fly(esar, tmp_path / "out")
    command.wait_for("Mission ")
    time.sleep(seconds)
    interrupted(command)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["logs"]


@pytest.mark.full
def test_while_nodes_join_only_logs_are_left(esar: Esar, tmp_path: Path) -> None:
    command = fly(esar, tmp_path / "out")
    command.wait_for("Nodes joining")
    interrupted(command)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["logs"]


@pytest.mark.full
def test_impatience_changes_nothing(esar: Esar, tmp_path: Path) -> None:
    command = fly(esar, tmp_path / "out")
    command.wait_for("Searching")
    for _ in range(5):
        command.process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    interrupted(command)
    assert (tmp_path / "out" / "result.json").is_file()


@pytest.mark.full
def test_a_request_to_terminate_is_the_same(esar: Esar, tmp_path: Path) -> None:
    command = fly(esar, tmp_path / "out")
    command.wait_for("Searching")
    command.send(signal.SIGTERM)
    assert command.end(60.0).code == 130
    assert command.processes() == []
    assert command.left_behind() == set()
    assert (tmp_path / "out" / "result.json").is_file()


@pytest.mark.full
def test_killed_outright_its_processes_die_and_the_next_start_sweeps(esar: Esar, tmp_path: Path) -> None:
    command = fly(esar, tmp_path / "out")
    command.wait_for("Searching")
    command.send(signal.SIGKILL)
    command.end()
    limit = time.monotonic() + 5.0
    while command.processes() and time.monotonic() < limit:
        time.sleep(0.1)
    assert command.processes() == []
    assert command.left_behind(), "killed processes leave segments, or this test shows nothing"
    following = fly(esar, tmp_path / "next")
    following.wait_for("Nodes joining")
    assert command.left_behind() == set()
    interrupted(following)
    # The bag was cut off in flight: readable, but without the truth that a mission's end puts in.
    scored = esar("score", str(tmp_path / "out" / "bag")).end()
    assert scored.code == 2
    assert "truncated" in scored.one_line() and "--truth FILE" in scored.one_line()
