"""Is a task sound? What its schema cannot know: the map, the ground under each thing, assets and difficulty."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from esar_ros.mission.clues import PERSON
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.task import Task, task_from
from esar_ros.mission.task_files import find_task
from esar_ros.scoring.difficulty import difficulty
from esar_ros.sim.assets.meshes import assets
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap, known_maps, load_map

AREA_MARGIN = 50.0  # m between the search area and the map's edge
STEEPEST = 45.0  # degrees that anything lies on
STEEPEST_START = 20.0  # degrees that a drone takes off from


def load_valid_task(name: str) -> Task:
    """Task by id or file, checked against its map too. Raises UsageError naming file, key and reason."""
    data, source = find_task(name)
    task = task_from(data, source)
    check_task(task, source)
    return task


@lru_cache(maxsize=4)
def ground_of(map_id: str) -> PlaceMap:
    """A map, read once. Raises UsageError."""
    return load_map(map_id)


def check_task(task: Task, source: str) -> None:
    """Raise UsageError naming source, key and reason where a task does not fit its map."""
    if task.map not in known_maps():
        raise UsageError(f"{source}, key map: unknown map '{task.map}'", suggest(task.map, known_maps()))
    place = ground_of(task.map)
    for key, xy, steepest in _spots(task):
        if fault := _ground_fault(place, xy, steepest):
            raise UsageError(f"{source}, key {key}: {xy[0]:.1f}, {xy[1]:.1f} {fault}", "move it")
    for key, asset in _assets(task):
        if asset not in assets():
            raise UsageError(f"{source}, key {key}: the simulator has no asset {asset}", "see esar_ros.sim.catalogue")
    true = true_difficulty(task, place)
    for key, stated, is_ in (("difficulty", task.difficulty, true[0]), ("tier", task.tier, true[1])):
        if stated != is_:
            raise UsageError(f"{source}, key {key}: {stated}, by the scoring matrix it is {is_}", "mend the value")


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


def _spots(task: Task) -> Iterator[tuple[str, tuple[float, float], float]]:
    yield "start.position", task.start.position, STEEPEST_START
    for n, victim in enumerate(task.victims):
        yield f"victims.{n}.position", victim.position, STEEPEST
    for n, clue in enumerate(task.clues):
        yield f"clues.{n}.position", clue.position, STEEPEST
    for n, thing in enumerate(task.distractors):
        yield f"distractors.{n}.position", thing.position, STEEPEST


def _ground_fault(place: PlaceMap, xy: tuple[float, float], steepest: float) -> str:
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


def _assets(task: Task) -> Iterator[tuple[str, str]]:
    for n, victim in enumerate(task.victims):
        yield f"victims.{n}.variant", f"{PERSON}_{victim.pose.value}/{victim.variant}".rstrip("/")
    for n, clue in enumerate(task.clues):
        yield f"clues.{n}.variant", f"{clue.kind.value}/{clue.variant}".rstrip("/")
    for n, thing in enumerate(task.distractors):
        yield f"distractors.{n}.asset", thing.asset
