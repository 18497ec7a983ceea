"""Task files: what is valid loads unchanged, what is not is named by file, key and reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.clues import ClueKind, VictimPose
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.mission.task import TASK_DIRECTORY, PlacedClue, Victim, load_task, parse_task
from esar_ros.mission.task_files import LARGEST
from esar_ros.mission.weather import Weather

SHIPPED = sorted(resource(TASK_DIRECTORY).glob("*.json"))


def plain() -> dict[str, Any]:
    """A small valid task."""
    return {
        "schema": "esar-task/1",
        "id": "meadow-1",
        "map": "aotai",
        "event": "lost",
        "snapshot": "morning",
        "split": "dev",
        "seed": 5,
        "prompt": "A hiker in a red jacket has been missing since yesterday evening.",
        "local_time": "2021-07-03T09:20:00",
        "weather": "light_rain",
        "start": {"position": [0.0, 0.0], "yaw": 1.0},
        "t_max": 300.0,
        "victims": [{"id": "v1", "name": "Li", "position": [10.0, -20.0], "pose": "sitting"}],
        "clues": [{"id": "c1", "kind": "tent", "description": "orange tent", "position": [5.0, 6.0]}],
        "difficulty": 2,
        "tier": "simple",
    }


def test_a_task_is_what_was_written() -> None:
    task = parse_task(json.dumps(plain()), "here")
    assert task.id == "meadow-1"
    assert task.weather is Weather.LIGHT_RAIN
    assert task.victims[0].pose is VictimPose.SITTING
    assert task.victims[0].position == (10.0, -20.0)
    assert task.clues[0].kind is ClueKind.TENT
    assert task.wind.speed == 0.0
    assert task.local_time.isoformat() == "2021-07-03T09:20:00"


@pytest.mark.parametrize("zone", ["Z", "+08:00"])
def test_a_clock_with_a_zone_is_refused(zone: str) -> None:
    """Everything that reads it takes it for the place's own clock, by which night falls."""
    with pytest.raises(UsageError, match="key local_time: has a zone, give the place's own clock") as refused:
        parse_task(json.dumps(plain() | {"local_time": f"2021-10-03T01:20:00{zone}"}), "here")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("of", "like"), [("victims", "victims"), ("clues", "clues"), ("clues", "victims")])
def test_an_id_used_twice_is_refused(of: str, like: str) -> None:
    data = plain()
    data[of].append({**data[of][0], "id": data[like][0]["id"]})
    with pytest.raises(UsageError, match=f"key {of}: the id '{data[like][0]['id']}' is used twice"):
        parse_task(json.dumps(data), "here")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "task.json"
    path.write_text(json.dumps(plain()).ljust(LARGEST), encoding="utf-8")
    assert load_task(str(path)).id == "meadow-1"
    path.write_text(json.dumps(plain()).ljust(LARGEST + 1), encoding="utf-8")
    with pytest.raises(UsageError, match=r"at most 1\.0 MB are read"):
        load_task(str(path))


def test_its_objects_are_people_then_clues() -> None:
    task = load_task("aotai-first")
    things: list[Victim | PlacedClue] = [*task.victims, *task.clues]
    assert [kind for kind, _ in task.objects] == ["person", *(clue.kind.value for clue in task.clues)]
    assert [place for _, place in task.objects] == [thing.position for thing in things]


def test_writing_and_reading_changes_nothing() -> None:
    task = parse_task(json.dumps(plain()), "here")
    assert parse_task(task.model_dump_json(by_alias=True), "there") == task


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_tasks_are_valid_and_named_like_their_files(path: Path) -> None:
    task = load_task(path.stem)
    assert task.id == path.stem
    assert task == load_task(str(path))
    things: list[Victim | PlacedClue] = [*task.victims, *task.clues]
    assert len({thing.id for thing in things}) == len(things)
    # The brief gives no coordinates away.
    for thing in things:
        assert not any(f"{value:.0f}" in task.prompt.split() for value in thing.position if abs(value) >= 100)


@pytest.mark.parametrize("name", sorted(plain()))
def test_every_key_is_needed(name: str) -> None:
    task = plain()
    del task[name]
    with pytest.raises(UsageError, match=f"^here, key {name}: Field required") as refusal:
        parse_task(json.dumps(task), "here")
    assert "esar-task/1" in str(refusal.value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "esar-task/2"),
        (("id",), "Has Blanks"),
        (("id",), "../escape"),
        (("seed",), -1),
        (("seed",), "five"),
        (("prompt",), "Find him."),
        (("local_time",), "noon"),
        (("weather",), "drizzle"),
        (("split",), "train"),
        (("t_max",), 0.0),
        (("t_max",), 7200.1),
        (("t_max",), float("nan")),
        (("t_max",), float("inf")),
        (("start", "yaw"), 7.0),
        (("start", "position"), [1.0]),
        (("start", "position"), [1.0, 2.0, 3.0]),
        (("victims",), []),
        (("clues",), []),
        (("victims", 0, "pose"), "dancing"),
        (("clues", 0, "kind"), "spaceship"),
        (("clues", 0, "colour"), "red"),
        (("tier",), "impossible"),
        (("unknown",), 1),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(path: tuple[str | int, ...], value: Any) -> None:
    task = plain()
    place: Any = task
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    with pytest.raises(UsageError) as refusal:
        parse_task(json.dumps(task), "here")
    text = str(refusal.value)
    assert text.startswith(f"here, key {'.'.join(map(str, path))}")
    assert "\n" not in text


@pytest.mark.parametrize(("text", "line"), [("", 1), ("{\n", 2), ('{\n "id": meadow\n}', 2), ("[1,]", 1)])
def test_what_is_not_json_is_named_by_its_line(text: str, line: int) -> None:
    with pytest.raises(UsageError, match=f"^here, line {line}: not JSON"):
        parse_task(text, "here")


@pytest.mark.parametrize("text", ["[]", "3", "null", '"task"'])
def test_json_that_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^here, key the task"):
        parse_task(text, "here")


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_a_task_or_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_task(text, "here")


def test_an_unknown_id_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError) as refusal:
        load_task("nowhere")
    assert all(path.stem in str(refusal.value) for path in SHIPPED)


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read task"):
        load_task(str(tmp_path / "none.json"))
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot read task"):
        load_task(str(binary))
    with pytest.raises(UsageError, match="cannot read task"):
        load_task(f"{tmp_path}/")


def test_a_task_cannot_be_changed() -> None:
    task = parse_task(json.dumps(plain()), "here")
    with pytest.raises(ValueError, match="frozen"):
        task.seed = 9  # type: ignore[misc]


def with_changes(*changes: dict[str, Any]) -> dict[str, Any]:
    return {**plain(), "changes": list(changes)}


FRONT = {"at": 60.0, "over": 90.0, "weather": "heavy_rain", "wind": {"speed": 9.0, "direction": 1.0}}


def test_a_task_whose_weather_stays_has_no_key_of_changes() -> None:
    task = parse_task(json.dumps(plain()), "here")
    assert "changes" not in task.model_dump() and "changes" not in task.model_dump_json(by_alias=True)
    changing = parse_task(json.dumps(with_changes(FRONT)), "here")
    assert parse_task(changing.model_dump_json(by_alias=True), "again") == changing
    assert changing.changes[0].forecast and changing.changes[0].end == 150.0


@pytest.mark.parametrize(
    ("changes", "key", "why"),
    [
        ([{"at": 5.0, "over": 60.0}], "changes.0", "changes nothing"),
        ([{**FRONT, "over": 5.0}], "changes.0.over", "greater than or equal to 10"),
        ([{**FRONT, "at": -1.0}], "changes.0.at", "greater than or equal to 0"),
        ([{**FRONT, "weather": "drizzle"}], "changes.0.weather", "should be"),
        ([{**FRONT, "wind": {"speed": 50.0}}], "changes.0.wind.speed", "less than or equal to 40"),
        ([{**FRONT, "speed": 1.0}], "changes.0.speed", "not permitted"),
        ([FRONT, {**FRONT, "at": 149.0}], "changes", "change 1 begins at 149 s, the one before it ends at 150 s"),
        ([{**FRONT, "at": 211.0}], "changes", "the last change ends at 301 s, the mission at 300 s"),
        ([{"at": 20.0 * k, "over": 10.0, "weather": "fog"} for k in range(13)], "changes", "at most 12"),
    ],
)
def test_a_bad_schedule_is_refused_by_key_and_reason(changes: list[Any], key: str, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_task(json.dumps(with_changes(*changes)), "here")
    assert f"here, key {key}: " in str(refused.value) and why in str(refused.value)
    assert "\n" not in str(refused.value)
