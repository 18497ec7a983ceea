"""Tasks that break a search's expectations: valid, seeded, and wrong in the way that is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from esar_ros.mission.task import Task, load_task
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.suites.esarbench.tasks.adversarial import REACH, misleading, uniform, write
from esar_ros.suites.esarbench.tasks.validation import check_task, ground_of, load_valid_task


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task("aotai-first")


@pytest.fixture(scope="module")
def place() -> PlaceMap:
    return load_map("aotai")


def test_uniform_tasks_have_everything_anywhere_around_the_start(task: Task, place: PlaceMap) -> None:
    start, random = np.array(task.start.position), np.random.default_rng(0)
    made = [uniform(task, place, random) for _ in range(60)]
    places = np.array(
        [v.position for one in made for v in one.victims] + [c.position for one in made for c in one.clues]
    )
    distance = np.linalg.norm(places - start, axis=1)
    assert distance.max() <= REACH + 1.0 and not place.is_water(places).any()
    # Uniform over a disc: half lie beyond 0.71 of its radius.
    assert np.mean(distance > REACH * np.sqrt(0.5)) == pytest.approx(0.5, abs=0.12)
    assert made[0].id == "aotai-first-uniform" and made[0].prompt == task.prompt
    assert len({one.difficulty for one in made}) > 1, "it follows the people"
    for one in made:
        check_task(one, one.id)


@pytest.mark.parametrize("name", ["k2-storm-5-01", "aotai-herbs-2-01"])
def test_nothing_lies_in_bare_rock_or_outside_the_search_area(name: str) -> None:
    task = load_task(name)
    for seed in range(5):
        for change in (uniform, misleading):
            made = change(task, ground_of(task.map), np.random.default_rng(seed))
            check_task(made, made.id)


def test_misleading_clues_lie_on_the_far_side_and_people_where_they_were(task: Task, place: PlaceMap) -> None:
    start, made = np.array(task.start.position), misleading(task, place, np.random.default_rng(0))
    assert made.victims == task.victims and len(made.clues) == len(task.clues)
    for before, after in zip(task.clues, made.clues, strict=True):
        assert (np.array(before.position) - start) @ (np.array(after.position) - start) <= 1e-6
        assert after.model_copy(update={"position": before.position}) == before


def test_files_are_tasks_and_the_same_for_the_same_seed(tmp_path: Path) -> None:
    first, again = (write(["aotai-first"], tmp_path / name, 3) for name in ("a", "b"))
    assert [load_valid_task(str(path)).id for path in first] == ["aotai-first-uniform", "aotai-first-misleading"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert (tmp_path / "a" / "tasks.txt").read_text().splitlines() == [str(path) for path in first]
