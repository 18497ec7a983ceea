"""`esar tasks`: sets as lists, a picture of a task, and the numbers of figure 4."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from esar_ros.app.cli import main
from esar_ros.mission.task import load_task
from esar_ros.suites.esarbench.tasks import task_set


def test_list_prints_a_set_in_its_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "list", "--set", "mini", "--ids"]) == 0
    assert tuple(capsys.readouterr().out.split()) == task_set("mini")
    assert main(["tasks", "list", "--set", "demo"]) == 0
    assert "aotai-pair" in capsys.readouterr().out


def test_show_tells_a_task_and_draws_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "deep" / "task.png"
    assert main(["tasks", "show", "k2-serac-3-04", "--png", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "k2-serac-3-04" in out and "clue-1" in out
    with Image.open(picture) as image:
        assert len(image.getcolors(1 << 21) or []) > 1000


def test_show_reads_a_task_s_words_as_no_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = load_task("aotai-first").model_dump(mode="json", by_alias=True)
    task["prompt"] += " He calls himself [/red]."
    task["victims"][0]["name"] = "[bold]Wu"
    task["clues"][0]["description"] = "[/b] tent"
    path = tmp_path / "aotai-first.json"
    path.write_text(json.dumps(task), encoding="utf-8")
    assert main(["tasks", "show", str(path), "--png", str(tmp_path / "task.png")]) == 0
    out = capsys.readouterr().out
    assert all(words in out for words in ("[/red]", "[bold]Wu", "[/b] tent"))


@pytest.mark.parametrize("verb", [["show", "k2-serac-3-04"], ["stats", "--set", "mini"]])
@pytest.mark.parametrize("name", ["x.foo", "file/x.png"])
def test_a_picture_that_cannot_be_written_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: list[str], name: str
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["tasks", *verb, "--png", str(tmp_path / name)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot write" in line and "--png" in line


def test_show_tells_what_changes_and_what_the_brief_says_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = str(Path(__file__).parents[2] / "examples/tasks/front_at_dusk.json")
    assert main(["tasks", "show", task, "--png", str(tmp_path / "task.png")]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "150 to 390 s: heavy_rain, wind 9 m/s (foretold)" in out and "600 to 750 s: fog" in out
    assert "(unannounced)" in out and "heavy rain and wind of 9 m/s from about 18:20" in out


def test_stats_have_the_figures_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers, picture = tmp_path / "stats.json", tmp_path / "stats.png"
    assert main(["tasks", "stats", "--json", str(numbers), "--png", str(picture)]) == 0
    data = json.loads(numbers.read_text())
    assert (data["tasks"], data["events"], data["snapshots"]) == (600, 12, 60)
    assert sum(data["tiers"].values()) == 600
    assert data["distance_quartiles_m"] == sorted(data["distance_quartiles_m"])
    assert picture.stat().st_size > 20_000
    assert "116.6" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["frobnicate"], ["list", "--set", "train"], ["show", "no-such-task-1-01"]])
def test_bad_usage_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", *arguments]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
