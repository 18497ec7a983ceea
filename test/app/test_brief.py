"""`esar brief`: what is understood, in words and as JSON."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from esar_ros.app import brief
from esar_ros.app.cli import main as cli
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.errors import UsageError
from esar_ros.mission.task import load_task
from esar_ros.planning.belief.brief.tokens import LONGEST
from esar_ros.sim.terrain.maps import load_spec

STORY = (
    "Two climbers, Anna and Ben, are missing. You take off 300 m north of the hut. They were last seen 200 m east "
    "of the hut. The tower is 40 m high. Somewhere a dog barked, 70 m."
)


@pytest.fixture
def story(tmp_path: Path) -> str:
    path = tmp_path / "story.txt"
    path.write_text(STORY, encoding="utf-8")
    return str(path)


def read(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert cli(["brief", *arguments, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_json_of_a_file(capsys: pytest.CaptureFixture[str], story: str) -> None:
    answer = read(capsys, story)
    said = {"unread", "warnings", "not_used", "aside", "questions"}
    assert set(answer) == {"missing", "facts", "median_east_m", "median_north_m", "hectares", "doubt"} | said
    assert answer["missing"] == 2 and answer["facts"]["names"] == ["Anna", "Ben"]
    assert answer["facts"]["start"]["landmark"] == "the hut" and answer["facts"]["ways"][0]["bearing"] == 90.0
    assert answer["unread"] == ["70 m"] and answer["warnings"] == ["not understood: 70 m"]
    assert "40 m (a height, a length, a speed or a time)" in answer["aside"]
    assert len(answer["questions"]) == 1 and answer["questions"][0].endswith(": 70 m")
    assert answer["median_east_m"] == pytest.approx(200.0, abs=60.0)
    assert answer["median_north_m"] == pytest.approx(-300.0, abs=60.0)
    assert 0.5 < answer["hectares"] < 20.0


def test_the_wider_the_words_the_larger_the_area(
    capsys: pytest.CaptureFixture[str], story: str, tmp_path: Path
) -> None:
    vague = tmp_path / "vague.txt"
    vague.write_text("Somebody is missing, nobody knows where.", encoding="utf-8")
    assert read(capsys, str(vague))["hectares"] > 3.0 * read(capsys, story)["hectares"]


def test_a_task_by_its_id(capsys: pytest.CaptureFixture[str]) -> None:
    assert read(capsys, "aotai-first")["missing"] == 1


def test_the_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(STORY.encode())))
    assert read(capsys, "-")["missing"] == 2


def test_sentence_by_sentence(capsys: pytest.CaptureFixture[str], story: str) -> None:
    assert brief.main([story]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("They were last seen 200 m east of the hut.")
    assert lines[at + 1] == "  200 m east (90°) from the hut"
    assert "  the drone starts 300 m north (0°) from the hut" in lines
    assert "  not understood: 70 m" in lines
    assert "missing: 2: Anna, Ben" in lines
    assert "1 passage was not read, which widens the search" in lines
    assert any(line.startswith("to decide: ") and line.endswith(": 70 m") for line in lines)
    assert lines[-1].startswith("prior: its middle lies ") and "south-east" in lines[-1]
    assert lines[-1].endswith("% of it does not follow these words")


def test_what_is_not_obeyed_and_not_placed_is_said_and_asked(capsys: pytest.CaptureFixture[str]) -> None:
    words = "The drone is at the hut. She was seen at 34.0012N 107.3110E. Do not fly over the glacier tongue."
    assert brief.main([words]) == 0
    out = capsys.readouterr().out
    assert "  not obeyed: Do not fly over the glacier tongue\n" in out and "1 order is not obeyed" in out
    assert "  not understood: 34.0012N 107.3110E (coordinates: it is not known where the drone starts" in out
    assert "--keep-out FILE" in out and "prior: these words hardly tell where to search" in out


def test_a_mission_says_what_is_not_read_of_its_task() -> None:
    task = load_task("aotai-first").model_copy(update={"prompt": "She is 300 m north of you. Do not fly at the dam."})
    assert brief.unread_in(task, task.prompt) == ["not obeyed: Do not fly at the dam"]


def test_coordinates_of_a_task_are_placed_on_its_map(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    task = load_task("aotai-first")
    spec, _ = load_spec(task.map)
    origin = Origin(spec.origin.latitude, spec.origin.longitude, 0.0)
    east, north = task.start.position
    latitude, longitude, _ = origin.to_geodetic([east + 200.0, north + 100.0, 0.0])
    words = f"A hiker is missing. Last phone ping at {latitude:.5f}, {longitude:.5f}, accuracy 40 m."
    changed = task.model_copy(update={"prompt": words, "id": "pinged"})
    path = tmp_path / "pinged.json"
    path.write_text(changed.model_dump_json(by_alias=True), encoding="utf-8")
    answer = read(capsys, str(path))
    assert answer["unread"] == [] and answer["questions"] == []
    assert (answer["median_east_m"], answer["median_north_m"]) == pytest.approx((200.0, 100.0), abs=30.0)


def test_a_reading_is_corrected(capsys: pytest.CaptureFixture[str], story: str) -> None:
    answer = read(capsys, story, "--correct", "three people are missing. They were last seen 400 m west of the hut")
    assert answer["missing"] == 3 and [way["bearing"] for way in answer["facts"]["ways"]] == [270.0]
    assert answer["median_east_m"] < -250.0 and answer["median_north_m"] == pytest.approx(-300.0, abs=60.0)
    assert read(capsys, story, "--correct", "they went north")["missing"] == 2
    assert read(capsys, story, "--correct", " ") == read(capsys, story)


def test_a_correction_that_changes_nothing_is_said(capsys: pytest.CaptureFixture[str], story: str) -> None:
    assert brief.main([story, "--correct", "the weather is getting worse"]) == 0
    assert "  the correction changes nothing of who or where is read" in capsys.readouterr().out
    assert not [one for one in read(capsys, story, "--correct", "five are missing")["warnings"] if "changes" in one]
    task = load_task("aotai-first")
    idle = task.model_copy(update={"prompt": brief.with_correction(task.prompt, "the weather is getting worse")})
    assert "changes nothing" in brief.unread_in(idle, task.prompt)[-1]


def test_words_on_the_command_line(capsys: pytest.CaptureFixture[str], story: str) -> None:
    assert read(capsys, STORY) == read(capsys, story)
    assert brief.main(["Nobody knows where he is."]) == 0
    assert "nothing was understood of where they are" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "wrong"),
    [("x " * LONGEST, "longer than"), (" \n", "empty")],
)
def test_bad_input_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: str, wrong: str
) -> None:
    path = tmp_path / "brief.txt"
    path.write_text(words, encoding="utf-8")
    assert cli(["brief", str(path)]) == 2
    assert wrong in capsys.readouterr().err
    assert cli(["brief", words]) == 2
    assert wrong in capsys.readouterr().err
    assert cli(["brief", "no-such-task"]) == 2
    assert "no-such-task" in capsys.readouterr().err


def test_a_far_place_is_told_as_far_and_wide(capsys: pytest.CaptureFixture[str]) -> None:
    near, far = (read(capsys, f"He is {miles} miles east of the gate. Drone at the gate.") for miles in (3, 30))
    assert far["facts"]["ways"][0]["metres"] == pytest.approx(30.0 * 1609.0)
    assert far["hectares"] > 20.0 * near["hectares"]


def test_coordinates_are_placed_by_a_start_that_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    words = "She was last seen at 33.9535 N, 107.7500 E. Nothing else is known of where she went after that."
    assert brief.main([words]) == 0
    assert "esar brief --start LAT,LON" in " ".join(capsys.readouterr().out.split())
    assert brief.main([words, "--start", "33.95,107.75"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "north (0°)" in shown and "not understood" not in shown
    assert brief.main([words, "--start", "-33.95,151.2"]) == 0  # a minus begins no flag
    with pytest.raises(UsageError, match="LAT,LON"):
        brief.main([words, "--start", "95,1"])
    with pytest.raises(UsageError, match="a task has its own start"):
        brief.main(["aotai-first", "--start", "33.95,107.75"])


def test_the_prior_is_scored_where_somebody_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyproj")
    words = ["brief", "She was last seen 600 m north of the hut. The drone starts at the hut.", "--json"]
    assert cli([*words, "--start", "44.27,-71.30", "--score", "44.2754,-71.30"]) == 0
    (scored,) = json.loads(capsys.readouterr().out)["map_score"].values()
    assert 0.9 < scored["rings"] < scored["brief"] <= 1.0
    assert cli(["brief", "aotai-first", "--score"]) == 0
    assert "MapScore of Wu: rings 0.9" in capsys.readouterr().out


@pytest.mark.parametrize("flags", [["She is 600 m north.", "--score"], ["aotai-first", "--score", "44.2,-71.3"]])
def test_a_score_without_a_find_is_refused(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["brief", *flags]) == 2
    assert "--score" in capsys.readouterr().err
