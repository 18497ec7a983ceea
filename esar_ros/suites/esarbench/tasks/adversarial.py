"""Tasks in which a search's assumptions do not hold: people and clues anywhere, or misleading clues.

`python -m esar_ros.suites.esarbench.tasks.adversarial --out DIR [--tasks dev] [--limit N]` turns tasks into files of
two kinds and a list of them for `esar bench --tasks DIR/tasks.txt`. Map, brief, start, weather and time stay; the brief
is then wrong on purpose, and no figure of such tasks is comparable with those of the benchmark.

- uniform: people and clues lie anywhere on the land around the start, independent of the brief and of each other.
- misleading: people stay where the brief has them, and every clue lies on the other side of the start.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission.errors import UsageError, seed_number
from esar_ros.mission.task import Ground, PlacedClue, Task, Victim, load_task
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.suites.esarbench.tasks import SETS
from esar_ros.suites.esarbench.tasks.files import exit_status, write_tasks
from esar_ros.suites.esarbench.tasks.sets import task_set
from esar_ros.suites.esarbench.tasks.validation import STEEPEST, ground_fault, true_difficulty

REACH = 600.0  # m around the start
_CLEAR = 40.0  # m around the start that stay empty
_STEEPEST = math.radians(40.0)
_TRIES = 2000
_Placed = TypeVar("_Placed", Victim, PlacedClue)


def uniform(task: Task, place: PlaceMap, random: np.random.Generator) -> Task:
    """People and clues anywhere around the start. Raises UsageError where there is no land to lie on."""

    def move(thing: _Placed) -> _Placed:
        return thing.model_copy(update={"position": _anywhere(task, place, random)})

    return _changed(task, place, "uniform", tuple(map(move, task.victims)), tuple(map(move, task.clues)))


def misleading(task: Task, place: PlaceMap, random: np.random.Generator) -> Task:
    """Clues reflected in the start, or anywhere on its far side where no land lies there."""
    start = np.array(task.start.position)

    def turn(clue: PlacedClue) -> PlacedClue:
        offset = np.array(clue.position) - start
        if _is_ground(place, start - offset):
            return clue.model_copy(update={"position": _ground(start - offset)})
        for _ in range(_TRIES):
            at = _anywhere(task, place, random)
            if float((np.array(at) - start) @ offset) <= 0.0:
                return clue.model_copy(update={"position": at})
        raise UsageError(f"task {task.id}: no land on the far side of the start", "choose another task")

    return _changed(task, place, "misleading", task.victims, tuple(map(turn, task.clues)))


KINDS: dict[str, Callable[[Task, PlaceMap, np.random.Generator], Task]] = {"uniform": uniform, "misleading": misleading}


def _changed(
    task: Task, place: PlaceMap, kind: str, victims: tuple[Victim, ...], clues: tuple[PlacedClue, ...]
) -> Task:
    made = task.model_copy(update={"id": f"{task.id}-{kind}", "victims": victims, "clues": clues})
    if not made.is_scored:
        return made
    score, tier = true_difficulty(made, place)
    return made.model_copy(update={"difficulty": score, "tier": tier})


def _anywhere(task: Task, place: PlaceMap, random: np.random.Generator) -> Ground:
    """A place on land, uniform over the disc around the start."""
    for _ in range(_TRIES):
        distance = math.sqrt(random.uniform(_CLEAR**2, REACH**2))
        angle = random.uniform(0.0, 2.0 * math.pi)
        point = np.array(task.start.position) + distance * np.array([math.cos(angle), math.sin(angle)])
        if _is_ground(place, point):
            return _ground(point)
    raise UsageError(f"task {task.id}: no land within {REACH:.0f} m of the start", "choose another task")


def _is_ground(place: PlaceMap, point: Vector) -> bool:
    return not ground_fault(place, _ground(point), STEEPEST) and float(place.slope(point)) <= _STEEPEST


def _ground(point: Vector) -> Ground:
    return round(float(point[0]), 2), round(float(point[1]), 2)


def write(tasks: Sequence[str], out: Path, seed: int = 0) -> list[Path]:
    """Files of all kinds of some tasks, and their list. Raises UsageError."""
    return write_tasks(_changes(tasks, seed), out)


def _changes(tasks: Sequence[str], seed: int) -> Iterator[Task]:
    places: dict[str, PlaceMap] = {}
    for number, task in enumerate(map(load_task, tasks)):
        if task.map not in places:
            places[task.map] = load_map(task.map)
        for turn, change in enumerate(KINDS.values()):
            yield change(task, places[task.map], np.random.default_rng([seed, number, turn]))


def main() -> int:
    """Write the files."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tasks", default="dev", help="a set, or ids with commas")
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--seed", type=seed_number, default=0)
    arguments = parser.parse_args()

    def write_all() -> list[Path]:
        if arguments.limit < 1:
            raise UsageError(f"--limit {arguments.limit}", "give 1 or more")
        ids = task_set(arguments.tasks) if arguments.tasks in SETS else arguments.tasks.split(",")
        return write(ids[: arguments.limit], arguments.out, arguments.seed)

    return exit_status(write_all, arguments.out)


if __name__ == "__main__":
    sys.exit(main())
