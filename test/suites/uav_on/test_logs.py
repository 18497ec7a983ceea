"""Logs in the authors' layout: read, written, read again; hostile and half-written ones."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.object_goal import (
    UAV_ON,
    Ending,
    NavigationRecord,
    Rules,
    final_distance,
    navigation_record,
    oracle_succeeded,
    path_efficiency,
    path_flown,
    succeeded,
)
from esar_ros.suites.uav_on.episodes import EpisodeEntry, entry_from
from esar_ros.suites.uav_on.logs import Frame, read_logs, write_flight
from helpers.uav_on_golden import CASES, SCENE, Case, document, lines, write_case, write_cases

STOPPED, CONTACT_AT_STOP, PASSED = CASES[0], CASES[2], CASES[10]
Verdict = tuple[Any, ...]


def verdict(record: NavigationRecord) -> Verdict:
    """Everything that is scored of an episode."""
    judged = [
        (function(record, rules))
        for rules in Rules
        for function in (succeeded, oracle_succeeded, final_distance, path_efficiency, path_flown)
    ]
    return (*judged, record.ending, record.steps, record.size, record.poses)


def entry_of(case: Case, id: int = 0) -> EpisodeEntry:
    return entry_from(document(id, case), "case")


def frames_of(case: Case) -> list[Frame]:
    """The flight of a case in the map frame: NED x is north."""
    return [
        Frame(Pose(np.array([0.0, x, 3.0]), quaternion_from_yaw(np.pi / 2)), number in case.contacts, "forward", 5.0)
        for number, x in enumerate(case.xs)
    ]


# --- Reading --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_hand_made_log_scores_what_the_rules_table_says(case: Case, tmp_path: Path) -> None:
    write_case(tmp_path, 0, case)
    (flight,) = read_logs(tmp_path).flights
    for rules in Rules:
        expected = case.expected(rules.value)
        assert succeeded(flight.record, rules) is expected.success
        assert oracle_succeeded(flight.record, rules) is expected.oracle
        assert final_distance(flight.record, rules) == pytest.approx(expected.dts, abs=1e-12)
        assert path_efficiency(flight.record, rules) == pytest.approx(expected.spl, abs=1e-12)
        assert path_flown(flight.record, rules) == pytest.approx(expected.path, abs=1e-12)
    assert flight.record.ending.value == case.ending
    assert not flight.contradicts_name


def test_contacts_of_stops_that_only_the_name_tells_are_marked(tmp_path: Path) -> None:
    write_cases(tmp_path)
    marked = {int(flight.folder.rsplit("_", 1)[1]) for flight in read_logs(tmp_path).flights if flight.contact_by_name}
    assert marked == {id for id, case in enumerate(CASES) if case.contact_at_stop}


def test_without_the_folders_name_a_log_tells_one_success_more(tmp_path: Path) -> None:
    named = write_case(tmp_path, 0, CONTACT_AT_STOP)
    bare = tmp_path / "bare"
    bare.mkdir()
    named.rename(bare / "task_0")
    (flight,) = read_logs(bare).flights
    assert flight.record.recorded is None
    assert not flight.contact_by_name
    assert succeeded(flight.record, Rules.CODE)


@pytest.mark.parametrize(("case", "name"), [(STOPPED, "oracle"), (CASES[8], "success"), (PASSED, "success")])
def test_a_name_that_the_frames_contradict_decides_and_is_marked(case: Case, name: str, tmp_path: Path) -> None:
    write_case(tmp_path, 0, case, name)
    (flight,) = read_logs(tmp_path).flights
    assert flight.contradicts_name
    assert not flight.contact_by_name
    assert succeeded(flight.record, Rules.CODE) is (name == "success")
    assert oracle_succeeded(flight.record, Rules.CODE)
    assert succeeded(flight.record, Rules.STRICT) is case.strict.success


def test_the_code_s_rules_take_distance_and_path_as_logged_the_others_as_flown(tmp_path: Path) -> None:
    path = write_case(tmp_path, 0, STOPPED) / "log" / "trajectory.jsonl"
    path.write_text(line_with(2, distance_to_end=19.99, move_distance=10.01)())
    (flight,) = read_logs(tmp_path).flights
    assert (final_distance(flight.record, Rules.CODE), path_flown(flight.record, Rules.CODE)) == (19.99, 10.01)
    for rules in (Rules.PAPER, Rules.STRICT):
        assert (final_distance(flight.record, rules), path_flown(flight.record, rules)) == (20.0, 10.0)


@pytest.mark.parametrize("part", [".", "logs", f"logs/{SCENE}", f"logs/{SCENE}/success_{SCENE}.json"])
def test_the_folder_of_the_run_or_a_part_of_it(part: str, tmp_path: Path) -> None:
    write_case(tmp_path, 11, STOPPED)
    write_case(tmp_path, 2, STOPPED)
    flights = read_logs(tmp_path / part).flights
    assert [flight.record.episode for flight in flights] == ["2", "11"]
    assert all(succeeded(flight.record, Rules.CODE) for flight in flights)


@pytest.mark.parametrize("part", ["nowhere", "", "logs/file", "a" * 5000])
def test_a_folder_without_logs_is_one_line(part: str, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "file").touch()
    with pytest.raises(UsageError, match=r"logs/SCENE|cannot read"):
        read_logs(tmp_path / part)


# --- Writing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_flight_is_written_as_the_authors_code_writes_it(case: Case, tmp_path: Path) -> None:
    stopped = case.ending == "stop"
    folder = write_flight(tmp_path / "ours", entry_of(case), frames_of(case), stopped, case.contact_at_stop)
    theirs = write_case(tmp_path / "theirs", 0, case)
    assert folder.relative_to(tmp_path / "ours") == theirs.relative_to(tmp_path / "theirs")
    ours = [json.loads(line) for line in (folder / "log" / "trajectory.jsonl").read_text().splitlines()]
    for line, expected in zip(ours, lines(case), strict=True):
        attitude = line["sensors"]["state"].pop("quaternionr")
        assert attitude == pytest.approx(expected["sensors"]["state"].pop("quaternionr"), abs=1e-12)
        assert list(line) == list(expected)
        assert {**line, "action": None, "steps_size": 0} == {**expected, "action": None, "steps_size": 0}
    description = json.loads((folder / "object_description.json").read_text())
    assert description == document(0, case) | {"esar_poses": "commanded"}


def test_measured_poses_are_read_as_measured(tmp_path: Path) -> None:
    write_flight(tmp_path, entry_of(STOPPED), frames_of(STOPPED), True, poses="measured")
    assert read_logs(tmp_path).flights[0].record.poses == "measured"


coordinates = st.sampled_from([0.0, 10.0, 20.0, -20.0, 20.004, 30.0]) | st.floats(-90.0, 90.0)
points = st.tuples(coordinates, st.sampled_from([0.0, 1.0]) | coordinates, st.sampled_from([0.0]) | coordinates)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_is_written_scores_the_same_when_read(data: st.DataObject) -> None:
    ending = data.draw(st.sampled_from(Ending))
    track = data.draw(st.lists(points, min_size=1, max_size=4))
    if ending is Ending.STEP_LIMIT or data.draw(st.booleans()):
        total = UAV_ON.actions if ending is Ending.STOP else UAV_ON.actions + 1
        track = [track[0]] * (total - len(track)) + track
    stopped = ending is Ending.STOP
    contact_at_stop = stopped and data.draw(st.booleans())
    contacts = [False] * (len(track) - 1) + [ending is Ending.COLLISION]
    targets = data.draw(st.lists(points, min_size=1, max_size=3))
    entry = entry_from(document(0, STOPPED) | {"pose": targets, "size": data.draw(st.sampled_from(["big", "?"]))}, "")
    frames = [Frame(Pose(np.array(point)), hit) for point, hit in zip(track, contacts, strict=True)]
    record = navigation_record(entry.episode, track, contacts, stopped, contact_at_stop)
    with tempfile.TemporaryDirectory() as out:
        write_flight(Path(out), entry, frames, stopped, contact_at_stop)
        (flight,) = read_logs(Path(out)).flights
    assert not flight.contradicts_name
    assert verdict(flight.record) == verdict(record)


# --- Half-written logs ----------------------------------------------------------------------------------------------


def test_a_log_cut_anywhere_in_a_line_is_left_out_and_said(tmp_path: Path) -> None:
    write_case(tmp_path, 1, STOPPED)
    path = write_case(tmp_path, 0, PASSED) / "log" / "trajectory.jsonl"
    text = path.read_text()
    ends = {place for place, letter in enumerate(text) if letter == "\n"} | {
        place + 1 for place in range(len(text)) if text[place] == "\n"
    }
    for cut in sorted(set(range(1, len(text))) - ends)[::7]:
        path.write_text(text[:cut])
        logs = read_logs(tmp_path)
        assert [flight.record.episode for flight in logs.flights] == ["1"]
        assert [reason for _, reason in logs.incomplete] == ["has a trajectory.jsonl whose last line is cut off"]


def test_a_last_line_without_its_newline_is_whole(tmp_path: Path) -> None:
    path = write_case(tmp_path, 0, STOPPED) / "log" / "trajectory.jsonl"
    path.write_text(path.read_text().rstrip("\n"))
    assert len(read_logs(tmp_path).flights) == 1


def hide(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_text("")


def halve(path: Path) -> None:
    path.write_text(path.read_text()[:-20])


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("file", ["log/trajectory.jsonl", "object_description.json"])
@pytest.mark.parametrize("damage", [hide, empty, halve, pipe])
def test_a_flight_that_was_not_written_to_its_end_is_left_out(
    damage: Callable[[Path], None], file: str, tmp_path: Path
) -> None:
    write_case(tmp_path, 1, STOPPED)
    damage(write_case(tmp_path, 0, PASSED) / file)
    logs = read_logs(tmp_path)
    assert [flight.record.episode for flight in logs.flights] == ["1"]
    ((folder, reason),) = logs.incomplete
    assert folder.endswith("task_0")
    assert Path(file).name in reason


def test_nothing_but_half_written_flights_is_one_line(tmp_path: Path) -> None:
    empty(write_case(tmp_path, 0, PASSED) / "object_description.json")
    with pytest.raises(UsageError, match=r"task_0 has an empty object_description\.json"):
        read_logs(tmp_path)


# --- Hostile logs ---------------------------------------------------------------------------------------------------


def line_with(number: int, **changes: Any) -> Callable[[], str]:
    def text() -> str:
        logged = lines(STOPPED)
        logged[number] |= changes
        return "".join(json.dumps(line) + "\n" for line in logged)

    return text


def position(*values: Any) -> dict[str, Any]:
    return {"state": {"position": list(values)}}


HOSTILE: dict[str, tuple[Callable[[], str], str]] = {
    "not JSON": (lambda: "{]\n" + line_with(0)(), "line 1, key the line: Invalid JSON"),
    "blank line": (lambda: line_with(0)().replace("\n", "\n\n", 1), "line 2, key the line: Invalid JSON"),
    "deep": (lambda: "[" * 100_000 + "\n" + line_with(0)(), "line 1, key the line: Invalid JSON"),
    "a list": (lambda: "[1]\n" + line_with(0)(), "line 1, key the line: "),
    "NaN": (line_with(1, sensors=position(0, float("nan"), 0)), "line 2, key sensors.state.position.1"),
    "infinity": (line_with(2, move_distance=float("inf")), "line 3, key move_distance"),
    "negative": (line_with(2, distance_to_end=-1.0), "line 3, key distance_to_end"),
    "huge": (line_with(1, sensors=position(1e300, 0, 0)), "line 2, key sensors.state.position.0"),
    "huge integer": (line_with(1, sensors=position(10**400, 0, 0)), "line 2, key sensors.state.position.0"),
    "text": (line_with(1, sensors=position("30", 0, 0)), "line 2, key sensors.state.position.0"),
    "two numbers": (line_with(1, sensors=position(1, 2)), "line 2, key sensors.state.position"),
    "no sensors": (line_with(1, sensors=None), "line 2, key sensors"),
    "contact as text": (line_with(1, is_collision="no"), "line 2, key is_collision"),
    "frame twice": (line_with(2, frame=1), "line 3, key frame: 1 instead of 2"),
    "frame astray": (line_with(2, frame=10**3000), "line 3, key frame"),
    "too long": (lambda: "{}\n" * (UAV_ON.actions + 2), "151 steps"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_trajectory_is_named_by_file_line_and_key(name: str, tmp_path: Path) -> None:
    text, words = HOSTILE[name]
    path = write_case(tmp_path, 0, STOPPED) / "log" / "trajectory.jsonl"
    path.write_text(text())
    with pytest.raises(UsageError) as caught:
        read_logs(tmp_path)
    message = str(caught.value)
    assert str(path) in message
    assert words in message
    assert "\n" not in message
    assert len(message) < 600


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"null", "key the episode"),
        (b"[]", "key the episode"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\xff{}", "not UTF-8"),
        (b"{}", "key episode_id"),
    ],
)
def test_a_hostile_description_is_one_line(content: bytes, words: str, tmp_path: Path) -> None:
    path = write_case(tmp_path, 0, STOPPED) / "object_description.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=words) as caught:
        read_logs(tmp_path)
    assert str(path) in str(caught.value)


def test_unknown_poses_are_refused(tmp_path: Path) -> None:
    path = write_case(tmp_path, 0, STOPPED) / "object_description.json"
    path.write_text(json.dumps(document(0, STOPPED) | {"esar_poses": ["measured"]}))
    with pytest.raises(UsageError, match="key esar_poses"):
        read_logs(tmp_path)


@pytest.mark.parametrize("file", ["log/trajectory.jsonl", "object_description.json"])
def test_a_file_too_large_is_not_read(file: str, tmp_path: Path) -> None:
    with (write_case(tmp_path, 0, STOPPED) / file).open("wb") as written:
        written.truncate(1 << 40)
    with pytest.raises(UsageError, match="at most"):
        read_logs(tmp_path)


def test_a_link_to_itself_is_no_task(tmp_path: Path) -> None:
    folder = write_case(tmp_path, 0, STOPPED).parent
    (folder / "task_1").symlink_to(folder / "task_1")
    (folder / "task_2").touch()
    assert len(read_logs(tmp_path).flights) == 1


def test_unknown_keys_and_line_endings_are_passed_over(tmp_path: Path) -> None:
    path = write_case(tmp_path, 0, STOPPED) / "log" / "trajectory.jsonl"
    text = line_with(1, imu={"deep": [1]}, sensors=position(25.0, 0.0, -3.0) | {"gps": None})()
    path.write_text(text.replace("\n", "\r\n"))
    assert succeeded(read_logs(tmp_path).flights[0].record, Rules.CODE)
