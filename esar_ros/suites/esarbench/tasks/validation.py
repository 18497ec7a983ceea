"""Is a task sound? What its schema cannot know: the map, the ground under each thing, assets and difficulty."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic import ValidationError

from esar_ros.mission.clues import PERSON
from esar_ros.mission.errors import UsageError, UsageErrors, suggest
from esar_ros.mission.map_files import known_maps
from esar_ros.mission.task import Distractor, PlacedClue, Start, Task, Victim, misnamed, task_from
from esar_ros.mission.task_files import find_task
from esar_ros.scoring.difficulty import difficulty
from esar_ros.sim.assets.meshes import assets
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap, load_map

AREA_MARGIN = 50.0  # m between the search area and the map's edge
STEEPEST = 45.0  # degrees that anything lies on
STEEPEST_START = 20.0  # degrees that a drone takes off from


def load_valid_task(name: str) -> Task:
    """Task by id or file, checked against its map too: who flies it asks for it so.

    Raises UsageError, UsageErrors naming file, key and reason of every fault.
    """
    data, source = find_task(name)
    task: Task | None = None
    faults: list[UsageError] = []
    try:
        task = task_from(data, source)
    except UsageErrors as error:
        faults += error.faults
    if task is not None and (fault := misnamed(task.id, name, source)) is not None:
        faults.append(fault)
    faults += _faults(data, task, source)
    if faults:
        raise UsageErrors(faults)
    assert task is not None
    return task


@lru_cache(maxsize=4)
def ground_of(map_id: str) -> PlaceMap:
    """A map, read once. Raises UsageError."""
    return load_map(map_id)


def check_task(task: Task, source: str) -> None:
    """Raise UsageErrors naming source, key and reason of each fault where a task does not fit its map."""
    faults = list(_faults(task.model_dump(mode="json", by_alias=True), task, source))
    if faults:
        raise UsageErrors(faults)


def _faults(data: Mapping[str, Any], task: Task | None, source: str) -> Iterator[UsageError]:
    """Yields what does not fit the map or the simulator, of all parts that follow the schema.

    data: the task's JSON object; task: the same where all of it follows the schema.
    """
    parts = list(_parts(data))
    for key, asset in _assets(parts):
        if asset not in assets():
            yield UsageError(f"{source}, key {key}: the simulator has no asset {asset}", "see esar_ros.sim.catalogue")
    if not isinstance(data.get("map"), str):
        return
    if data["map"] not in known_maps():
        yield UsageError(f"{source}, key map: unknown map '{data['map']}'", suggest(data["map"], known_maps()))
        return
    place, misplaced = ground_of(data["map"]), False
    for key, part in parts:
        steepest = STEEPEST_START if isinstance(part, Start) else STEEPEST
        if fault := ground_fault(place, part.position, steepest):
            x, y = part.position
            misplaced = True
            yield UsageError(f"{source}, key {key}.position: {x:.1f}, {y:.1f} {fault}", "move it")
    if task is None or misplaced or not task.is_scored:
        return  # difficulty follows from what is to be mended first
    true = true_difficulty(task, place)
    for key, stated, is_ in (("difficulty", task.difficulty, true[0]), ("tier", task.tier, true[1])):
        if stated != is_:
            yield UsageError(f"{source}, key {key}: {stated}, by the scoring matrix it is {is_}", "mend the value")


def true_difficulty(task: Task, place: PlaceMap) -> tuple[int, str]:
    """Score and tier of a task by appendix A."""
    return difficulty(
        distances(task, place), task.weather, task.local_time, [clue.kind for clue in task.clues]
    )  # fmt: skip


def distances(task: Task, place: PlaceMap) -> list[float]:
    """From the start to each victim, m, 3D."""

    def stand(xy: tuple[float, float]) -> np.ndarray:
        return np.array([*xy, float(place.ground_height(np.array(xy)))])

    start = stand(task.start.position)
    return [float(np.linalg.norm(stand(victim.position) - start)) for victim in task.victims]


_Part = Start | Victim | PlacedClue | Distractor
_LISTS: tuple[tuple[str, type[_Part]], ...] = (
    ("victims", Victim),
    ("clues", PlacedClue),
    ("distractors", Distractor),
)


def _parts(data: Mapping[str, Any]) -> Iterator[tuple[str, _Part]]:
    """Yields what is placed, by its key; what does not follow the schema is left out."""
    raw: list[tuple[str, type[_Part], Any]] = [("start", Start, data.get("start"))]
    for key, kind in _LISTS:
        listed = data.get(key)
        raw += [(f"{key}.{n}", kind, one) for n, one in enumerate(listed if isinstance(listed, list) else [])]
    for key, kind, value in raw:
        with suppress(ValidationError, RecursionError):
            yield key, kind.model_validate_json(json.dumps(value), strict=True)


def ground_fault(place: PlaceMap, xy: tuple[float, float], steepest: float) -> str:
    """Returns why nothing may lie at a place (m); empty where it may. steepest: degrees."""
    at = np.array(xy)
    half = place.size / 2
    if not bool(place.contains(at)):
        return f"lies off the map, which ends at {half:.0f} m"
    if float(np.abs(at).max()) > half - AREA_MARGIN:
        return f"lies outside the search area, which ends at {half - AREA_MARGIN:.0f} m"
    if bool(place.is_water(at)):
        return "lies under water"
    if int(place.cover_at(at)) == LandCover.ROCK:
        return "lies in bare rock"
    slope = math.degrees(math.acos(min(1.0, float(place.normal(at)[2]))))
    return f"lies on a slope of {slope:.0f} degrees, more than {steepest:.0f}" if slope > steepest else ""


def _assets(parts: Iterable[tuple[str, _Part]]) -> Iterator[tuple[str, str]]:
    for key, part in parts:
        if isinstance(part, Victim):
            yield f"{key}.variant", f"{PERSON}_{part.pose.value}/{part.variant}".rstrip("/")
        elif isinstance(part, PlacedClue):
            yield f"{key}.variant", f"{part.kind.value}/{part.variant}".rstrip("/")
        elif isinstance(part, Distractor):
            yield f"{key}.asset", part.asset
