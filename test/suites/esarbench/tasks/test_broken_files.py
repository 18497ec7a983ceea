"""Broken task files: a clear line a fault with file, key and reason, quickly and in little memory."""

from __future__ import annotations

import json
import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from esar_ros.app.cli import main
from esar_ros.mission.errors import UsageError
from esar_ros.mission.task_files import find_task
from esar_ros.suites.esarbench.game import MissionGame


def good() -> dict[str, Any]:
    data, _ = find_task("dapeng-zhong-4-01")
    return json.loads(json.dumps(data))


def changed(*path: str | int, to: Any = None, drop: bool = False) -> Callable[[], str]:
    def text() -> str:
        data = good()
        place: Any = data
        for part in path[:-1]:
            place = place[part]
        if drop:
            del place[path[-1]]
        else:
            place[path[-1]] = to
        return json.dumps(data)

    return text


def twice() -> str:
    data = good()
    data["clues"][1]["id"] = data["clues"][0]["id"]
    return json.dumps(data)


def shared_id() -> str:
    data = good()
    data["clues"][1]["id"] = data["victims"][0]["id"]
    return json.dumps(data)


def double_key() -> str:
    return json.dumps(good())[:-1] + ', "seed": 4}'


# name: (text, what the one line must hold)
BROKEN: dict[str, tuple[Callable[[], str], tuple[str, ...]]] = {
    "no-victims": (changed("victims", drop=True), ("key victims", "required")),
    "no-prompt": (changed("prompt", drop=True), ("key prompt", "required")),
    "no-start-yaw": (changed("start", "yaw", drop=True), ("key start.yaw", "required")),
    "empty-victims": (changed("victims", to=[]), ("key victims", "at least 1")),
    "no-clues": (changed("clues", to=[]), ("key clues", "at least 1")),
    "nan-position": (changed("victims", 0, "position", to=[float("nan"), 0.0]), ("victims.0.position.0", "finite")),
    "infinite-start": (changed("start", "position", to=[0.0, float("inf")]), ("start.position.1", "finite")),
    "nan-t-max": (changed("t_max", to=float("nan")), ("key t_max", "finite")),
    "text-for-number": (changed("victims", 0, "position", to=["5", 0.0]), ("victims.0.position.0", "valid number")),
    "three-numbers": (changed("clues", 0, "position", to=[1.0, 2.0, 3.0]), ("clues.0.position", "2 items")),
    "off-the-map": (changed("victims", 0, "position", to=[4000.0, 0.0]), ("victims.0.position", "off the map")),
    "at-the-edge": (changed("clues", 0, "position", to=[990.0, 0.0]), ("clues.0.position", "search area")),
    "unknown-map": (changed("map", to="everest"), ("key map", "unknown map 'everest'", "dapeng")),
    "wrong-map": (changed("map", to="k2"), ("key ",)),
    "under-water": (changed("victims", 0, "position", to=[900.0, 0.0]), ("victims.0.position", "under water")),
    "start-in-water": (changed("start", "position", to=[900.0, -100.0]), ("start.position", "under water")),
    "unknown-weather": (changed("weather", to="hail"), ("key weather", "clear")),
    "wrong-version": (changed("schema", to="esar-task/9"), ("key schema", "esar-task/1")),
    "double-id": (twice, ("key clues", "used twice")),
    "victim-and-clue-share-an-id": (shared_id, ("key clues", "used twice")),
    "double-key": (double_key, ("key seed", "twice")),
    "unknown-key": (changed("colour", to="red"), ("key colour", "not permitted")),
    "unknown-kind": (changed("clues", 0, "kind", to="helicopter"), ("clues.0.kind", "tent")),
    "unknown-variant": (changed("clues", 0, "variant", to="plaid"), ("clues.0.variant", "no asset")),
    "bad-distractor": (changed("distractors", 0, "asset", to="tent/orange"), ("distractors.0.asset", "pattern")),
    "no-date": (changed("local_time", to="noon"), ("key local_time", "datetime")),
    "wrong-difficulty": (changed("difficulty", to=99), ("key difficulty", "99")),
    "escaping-id": (changed("id", to="../../etc"), ("key id", "pattern")),
    "no-object": (lambda: "[1, 2]", ("key the task", "not an object")),
    "empty": (lambda: "", ("line 1", "not JSON")),
    "cut-short": (lambda: json.dumps(good(), indent=1)[:900], ("line", "not JSON")),
    "deep": (lambda: "[" * 200_000, ("nested too deeply",)),
    "long-number": (lambda: '{"seed": ' + "9" * 10_000 + "}", ("broken.json",)),
}


def refuse(path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(["tasks", "validate", str(path)]) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    lines = caught.err.splitlines()
    assert lines and all(str(path) in line and len(line) < 500 for line in lines)
    return lines


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_clear_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make, words = BROKEN[name]
    path = tmp_path / "broken.json"
    path.write_text(make())
    line, *further = refuse(path, capsys)
    assert all(word in line for word in words), line
    assert not further or name == "wrong-map", "one fault, one line"


def test_all_faults_of_a_file_are_told_at_once_and_alike_by_whoever_would_fly_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = good()
    task["t_max"], task["weather"] = -1.0, "hail"
    task["clues"][0]["variant"] = "plaid"
    task["victims"][0]["position"] = [4000.0, 0.0]
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(task))
    told = refuse(path, capsys)
    keys = ["weather", "t_max", "clues.0.variant", "victims.0.position"]
    assert [line.partition(", key ")[2].partition(":")[0] for line in told] == keys
    for command in (["mission", "--task", str(path)], ["bench", "--tasks", str(path), "--out", str(tmp_path / "run")]):
        assert main(command) == 2
        assert capsys.readouterr().err.splitlines() == told
    with pytest.raises(UsageError) as refused:
        MissionGame(str(path))
    assert [f"esar: {line}" for line in str(refused.value).splitlines()] == told
    assert not (tmp_path / "run").exists()


def test_the_file_they_were_made_from_is_sound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "good.json"
    path.write_text(json.dumps(good()))
    assert main(["tasks", "validate", str(path)]) == 0
    assert "dapeng-zhong-4-01 is valid" in capsys.readouterr().out


def test_a_hundred_megabytes_are_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    tracemalloc.start()
    began = time.process_time()
    (line,) = refuse(path, capsys)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "100.0 MB" in line
    assert peak < 20_000_000
    assert time.process_time() - began < 5.0


@pytest.mark.parametrize("what", ["binary", "folder", "fifo", "absent", "device"])
def test_what_is_no_text_file_is_refused(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"{what}.json"
    if what == "binary":
        path.write_bytes(bytes(range(256)) * 40)
    elif what == "folder":
        path.mkdir()
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "device":
        path = Path("/dev/zero")
    assert "cannot read task" in refuse(path, capsys)[0]
