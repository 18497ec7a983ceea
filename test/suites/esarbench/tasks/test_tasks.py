"""Every shipped task stands on walkable ground, is as hard as it says and gives no place away."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from esar_ros.mission.resources import resource
from esar_ros.mission.task import TASK_DIRECTORY, PlacedClue, Task, Victim, load_task
from esar_ros.scoring.difficulty import difficulty
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.sim.assets.meshes import assets
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import load_map

NAMES = sorted(path.stem for path in resource(TASK_DIRECTORY).glob("*.json"))
DEMO = ["aotai-first", "aotai-pair", "aotai-second"]
STEEPEST = 35.0  # degrees one can walk, lie and camp on


def test_the_demo_tasks_are_there() -> None:
    assert set(DEMO) <= set(NAMES)
    assert [len(load_task(name).victims) for name in DEMO] == [1, 2, 1]


def things(task: Task) -> list[Victim | PlacedClue]:
    return [*task.victims, *task.clues]


def places(task: Task) -> dict[str, tuple[float, float]]:
    return {"start": task.start.position} | {thing.id: thing.position for thing in things(task)}


@pytest.mark.parametrize("name", NAMES)
def test_everything_stands_on_dry_walkable_ground(name: str) -> None:
    task = load_task(name)
    ground = load_map(task.map)
    for id, position in places(task).items():
        xy = np.array(position)
        slope = math.degrees(math.acos(float(ground.normal(xy)[2])))
        assert slope < STEEPEST, f"{id} lies on a slope of {slope:.0f} degrees"
        assert LandCover(int(ground.cover_at(xy))) not in (LandCover.WATER, LandCover.ROCK), id
        assert ground.water_level is None or float(ground.ground_height(xy)) > ground.water_level, id
        assert np.abs(xy).max() < ground.size / 2 - 50.0, id


@pytest.mark.parametrize("name", NAMES)
def test_difficulty_and_tier_follow_appendix_a(name: str) -> None:
    task = load_task(name)
    ground = load_map(task.map)

    def stand(xy: tuple[float, float]) -> np.ndarray:
        return np.array([*xy, float(ground.ground_height(np.array(xy)))])

    away = [float(np.linalg.norm(stand(v.position) - stand(task.start.position))) for v in task.victims]
    assert difficulty(away, task.weather, task.local_time, [c.kind for c in task.clues]) == (
        task.difficulty,
        task.tier,
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_object_has_its_asset_and_an_id_of_its_own(name: str) -> None:
    task = load_task(name)
    for victim in task.victims:
        assert f"person_{victim.pose.value}/{victim.variant}".rstrip("/") in assets()
    for clue in task.clues:
        assert f"{clue.kind.value}/{clue.variant}".rstrip("/") in assets()
    ids = [thing.id for thing in things(task)]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", NAMES)
def test_the_prompt_tells_a_story_and_no_coordinates(name: str) -> None:
    task = load_task(name)
    assert not re.search(r"-?\d+\.\d+|\b\d{3,}\s*(m|metres|meters)\b|\bx\s*=", task.prompt)
    assert all(victim.name in task.prompt for victim in task.victims)


@pytest.mark.parametrize("name", NAMES)
def test_a_description_means_its_own_kind_to_the_judge(name: str) -> None:
    judge = OfflineJudge()
    for clue in load_task(name).clues:
        assert judge.kinds(clue.description) == frozenset({clue.kind.value}), clue.description
        assert judge.match(clue.kind.value.replace("_", " "), clue.kind.value, clue.description, clue.kind.value)


@pytest.mark.parametrize("name", DEMO)
def test_demo_tasks_are_short_searches(name: str) -> None:
    task = load_task(name)
    start = np.array(task.start.position)
    away = [float(np.linalg.norm(np.array(thing.position) - start)) for thing in things(task)]
    assert task.t_max == 300.0
    assert len({clue.kind for clue in task.clues}) >= 5
    assert max(away) < 225.0
    assert min(np.linalg.norm(np.array(v.position) - start) for v in task.victims) > 60.0
