"""The weather to come that a brief tells."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from esar_ros.mission.briefing import brief_words, make_brief
from esar_ros.mission.map_files import map_extent
from esar_ros.mission.task import Task, load_task, parse_task
from esar_ros.planning.belief.brief.parser import parse_brief


def changing(*changes: dict[str, Any]) -> Task:
    data = load_task("aotai-first").model_dump(mode="json", by_alias=True)
    return parse_task(json.dumps({**data, "changes": list(changes)}), "here")


FRONT = {"at": 60.0, "over": 90.0, "weather": "heavy_rain", "wind": {"speed": 8.7, "direction": 1.0}}
HIDDEN = {"at": 200.0, "over": 60.0, "weather": "dense_fog", "wind": {"speed": 11.0}, "forecast": False}


def test_a_brief_foretells_what_is_forecast_and_nothing_else() -> None:
    task = changing(FRONT, HIDDEN)
    words = brief_words(task)
    assert words == f"{task.prompt} Forecast: heavy rain and wind of 9 m/s from about 09:20."
    brief = make_brief(task, map_extent("aotai"), "m", 5, np.zeros(3))
    assert brief.prompt == words and brief.wind_speed == 8.7 and brief.weather == "clear"
    assert "fog" not in repr(brief)


def test_without_a_forecast_a_brief_is_the_task_as_it_was() -> None:
    assert brief_words(changing(HIDDEN)) == load_task("aotai-first").prompt
    assert make_brief(changing(HIDDEN), map_extent("aotai"), "m", 5, np.zeros(3)).wind_speed == 2.0


def test_a_forecast_changes_nothing_of_what_is_read_of_the_missing() -> None:
    task = changing(FRONT, {**HIDDEN, "forecast": True})
    told, plain = parse_brief(brief_words(task)), parse_brief(task.prompt)
    assert replace(told, passages=()) == replace(plain, passages=())
    added = told.passages[len(plain.passages) :]
    assert added and all(passage.is_aside for passage in added), "times and speeds are no clue to anybody's place"
