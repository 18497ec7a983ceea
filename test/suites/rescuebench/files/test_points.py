"""Files of points: read into the map frame, and written back."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.suites.rescuebench.files.points import FOLDER, checkout_points, point_document, read_points, write_points
from helpers.rescuebench import a_point, write_checkout

LINE: dict[str, Any] = {
    "env_id": "UnrealRescue-Somewhere", "level": 2, "agent_loc": [100, 200, 90, 0, 90, 0],
    "injured_player_loc": [1000.0, 0.0, 90.0, 0.0, 0.0, 0.0], "injured_agent_id": 4,
    "stretcher_loc": [0, -500, 10, 0, -45.0, 0.0], "ambulance_loc": [0, -800, 0, 0, 180, 0],
    "reference_text": ["A man lies by the wall.", "Another text."], "reference_image_path": ["one.png"], "timeout": 240,
}  # fmt: skip


def write(path: Path, *lines: Any) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
    return path


def test_a_line_is_turned_into_the_map_frame(tmp_path: Path) -> None:
    point = read_points(write(tmp_path / "level_2.jsonl", LINE))[0].point
    assert (point.place, point.level, point.number, point.time_limit) == ("Somewhere", 2, 0, 240.0)
    assert point.start.position.tolist() == [1.0, -2.0, 0.9]
    assert point.start.yaw == pytest.approx(-math.pi / 2)
    assert point.stretcher.position.tolist() == [0.0, 5.0, 0.1]
    assert point.stretcher.yaw == pytest.approx(math.pi / 4)
    assert (point.description, point.appearance) == ("A man lies by the wall.", 4)
    assert point.title == "L3 (level_2) point 0"


def test_what_older_and_multi_agent_files_write_is_read(tmp_path: Path) -> None:
    older = LINE | {"reference_text": "One text.", "injured_agent_id": [7], "env_id": "UnrealRescueMultiAgent-Town"}
    without = {key: value for key, value in LINE.items() if key not in ("reference_text", "injured_agent_id")}
    one, other = (entry.point for entry in read_points(write(tmp_path / "a.jsonl", older, "", without)))
    assert (one.place, one.description, one.appearance) == ("Town", "One text.", 7)
    assert (other.number, other.description, other.appearance) == (1, "", None)


def test_a_file_is_written_back_as_it_was(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", LINE | {"of_ours": {"kept": [1, None]}}, LINE | {"level": 3})
    write_points(tmp_path / "b.jsonl", [entry.document for entry in read_points(path)])
    assert [json.loads(text) for text in (tmp_path / "b.jsonl").read_text().splitlines()] == [
        LINE | {"of_ours": {"kept": [1, None]}},
        LINE | {"level": 3},
    ]


def test_a_point_of_ours_has_the_keys_of_the_format_and_comes_back(tmp_path: Path) -> None:
    point = a_point(1)
    document = point_document(point, "a.png")
    assert document.keys() == LINE.keys()
    write_points(tmp_path / "a.jsonl", [document])
    back = read_points(tmp_path / "a.jsonl")[0].point
    for name in ("start", "victim", "stretcher", "ambulance"):
        ours, theirs = getattr(point, name), getattr(back, name)
        assert theirs.position == pytest.approx(ours.position) and theirs.yaw == pytest.approx(ours.yaw)
    assert (back.description, back.time_limit, back.appearance) == (point.description, 180.0, 4)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"agent_loc": [0, 0, 0, 0, 0]}, "key agent_loc"),
        ({"agent_loc": [0, 0, 0, 0, "north", 0]}, "key agent_loc.4"),
        ({"stretcher_loc": [math.inf, 0, 0, 0, 0, 0]}, "key stretcher_loc.0"),
        ({"level": 5}, "key level"),
        ({"level": "1"}, "key level"),
        ({"env_id": "Somewhere"}, "key env_id"),
        ({"injured_agent_id": 20}, "key injured_agent_id"),
        ({"timeout": 0}, "key timeout"),
        ({"reference_text": []}, "key reference_text"),
    ],
    ids=str,
)
def test_a_bad_line_is_named(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    path = write(tmp_path / "a.jsonl", LINE, LINE | change)
    with pytest.raises(UsageError, match="line 2") as error:
        read_points(path)
    assert words in str(error.value) and str(path) in str(error.value) and "\n" not in str(error.value)


def test_what_is_no_file_of_points_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no point"):
        read_points(write(tmp_path / "a.jsonl", ""))
    with pytest.raises(UsageError, match="line 1, key the line"):
        read_points(write(tmp_path / "a.jsonl", "not json"))
    with pytest.raises(UsageError, match="no file of that name"):
        checkout_points(tmp_path)


def test_a_checkout_is_read_by_level_and_number(tmp_path: Path) -> None:
    found = checkout_points(write_checkout(tmp_path))
    assert list(found) == [(level, 0) for level in range(5)]
    write_points(tmp_path / FOLDER / "level_1.jsonl", [point_document(a_point(2))])
    with pytest.raises(UsageError, match="level 2"):
        checkout_points(tmp_path)
