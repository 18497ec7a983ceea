"""A search of one's own: its words, map and start become a task of which nothing is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from esar_ros.mission.errors import UsageError, UsageErrors
from esar_ros.mission.map_files import map_extent
from esar_ros.mission.task import load_task, parse_task
from esar_ros.sim.terrain.maps import load_map
from esar_ros.suites.esarbench.own_search import own_task

WORDS = "Anna, 8, in a blue jacket, was last seen 200 m north of the start and may have gone east."


def test_words_become_a_task_that_lists_nothing() -> None:
    task = own_task(WORDS, "aotai", "33.9512,107.7498", 600.0, "embedded")
    assert not task.is_scored
    assert (task.prompt, task.map, task.t_max, task.local_time.hour) == (WORDS, "aotai", 600.0, 12)
    assert task.victims == () and task.clues == ()
    latitude, longitude, _ = map_extent("aotai").origin.to_geodetic((*task.start.position, 0.0))
    assert (latitude, longitude) == pytest.approx((33.9512, 107.7498), abs=1e-6)
    assert parse_task(task.model_dump_json(by_alias=True), "again") == task


def test_a_file_is_read_and_gives_the_task_its_name(tmp_path: Path) -> None:
    file = tmp_path / "Lost Child, 3rd day.txt"
    file.write_text(WORDS + "\n", encoding="utf-8")
    task = own_task(str(file), "aotai", "", 60.0, "px4")
    assert task.id == "field-lost-child-3rd-day" and task.prompt == WORDS
    assert task.start.position == (0.0, 0.0)


@pytest.mark.parametrize(
    ("brief", "map_id", "start", "told"),
    [
        (WORDS, "", "", "--brief without --map"),
        (WORDS, "aotay", "", "did you mean aotai"),
        (WORDS, "aotai", "33.95", "LAT,LON"),
        (WORDS, "aotai", "nan,107.75", "LAT,LON"),
        (WORDS, "aotai", "34.2,107.75", "lies off map aotai"),
        ("nowhere/brief.txt", "aotai", "", "no file of that name"),
        ("too short", "aotai", "", "prompt"),
        (WORDS, "aotai", "33.9589,107.75", "outside the search area"),
    ],
)
def test_what_cannot_be_flown_is_told(brief: str, map_id: str, start: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        own_task(brief, map_id, start, 60.0, "embedded")


@pytest.mark.parametrize("words", [WORDS, "Ж" * 200 + ". " + WORDS, "\0" + WORDS])
def test_what_is_no_file_s_name_is_the_words(words: str) -> None:
    assert own_task(words, "aotai", "", 60.0, "embedded").prompt == words


@pytest.mark.parametrize("change", [{"split": "field"}, {"victims": []}, {"clues": []}])
def test_a_task_lists_what_is_to_be_found_unless_nobody_knows(change: dict[str, object]) -> None:
    content = load_task("aotai-first").model_dump(mode="json", by_alias=True) | change
    with pytest.raises(UsageErrors, match="lists nothing"):
        parse_task(json.dumps(content), "test")


@pytest.mark.parametrize("map_id", ["aotai", "lop_nur", "standin_park"])
def test_a_map_s_file_says_what_the_map_covers(map_id: str) -> None:
    extent, place = map_extent(map_id), load_map(map_id)
    assert (extent.size, extent.origin) == (place.size, place.origin)
