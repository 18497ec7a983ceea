"""Choices of methods: how often a method's own term decides, among how many, and how far off its track lies.

`python benchmarks/choices.py [--planners semexp,vlfm_labels] [--tasks dev] [--limit 10] [--seconds 300] [--page]`.
Each method flies the start of each task in the engine, `fbe` first. What is left to fly is told before, and the same
command goes on where it was ended. A choice is changed by the method's own term when without it another one would have
been made in the same state: for the methods on the map the frontier that is nearest, for `apex` the move by exploration
alone, for the others that ask a model the first free way. Methods that ask a model ask the scripted one
(docs/reference/models.md): they show that answers decide, not what a model would answer. Exit code 1 when a method's
own term changed less than half of its choices or it had fewer than four to choose from. The last line is JSON.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from page import Table, add_page, end_with, measured_code, write_page

from esar_ros.benchmark.engine.episode import fly_episode
from esar_ros.benchmark.engine.mission import VEHICLE
from esar_ros.benchmark.runner.store import Files, Store
from esar_ros.geometry.frames import wrap_angle
from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import Task, load_task
from esar_ros.planning import registry
from esar_ros.planning.discrete import STOP
from esar_ros.planning.methods.maps.map_method import MapMethod, closeness
from esar_ros.planning.methods.models.action_method import ActionMethod
from esar_ros.planning.methods.models.apex import MOVES, Apex
from esar_ros.planning.model.settings import SCRIPTED
from esar_ros.suites.esarbench.suite import ESARBENCH
from esar_ros.suites.esarbench.tasks.sets import task_set

DETECTOR = "segmentation_oracle"  # what is seen is no part of the question
FIRST = "fbe"  # whose track the others are compared with
LEAST = 50.0  # per cent of the choices that a method's own term should change
LEAST_AMONG = 4.0  # frontiers or actions a choice, on average
CPU = 0.2  # CPU-seconds a simulated second, until one is flown
FILES = Files("choices.json", "esar-choices/1", "flights.jsonl", "esar-choices-flight/1")
SAME_PLACE, SAME_HEADING = 2.0, math.radians(10.0)  # m, rad: two choices that lead to the same


class Choices:
    """Choices of a flight: among how many, and whether the method's own term changed each."""

    def __init__(self) -> None:
        self.among: list[int] = []
        self.changed: list[bool] = []


def frontier_choice(method: MapMethod, observation: Any, grid: Any, choices: Choices) -> None:
    """Notes the frontier that a map method is about to choose, and whether it is not merely the nearest."""
    if method.object_target(observation) is not None:
        return
    frontiers = method.frontiers(observation, grid)
    passable = method._walk.passable(grid)
    own = next(iter(method.targets(observation, grid, passable)), None)
    if own is None or not frontiers:
        return
    nearest = max(frontiers, key=lambda frontier: closeness(frontier.position, observation))
    choices.among.append(len(frontiers))
    choices.changed.append(float(np.linalg.norm(own.position[:2] - nearest.position)) > SAME_PLACE)


def action_choice(method: ActionMethod, choice: Any, observation: Any, choices: Choices) -> None:
    """Notes an action, and whether it leads elsewhere than the one without the method's own term."""
    choices.among.append(choice.considered)
    if choice.action == STOP:
        choices.changed.append(True)
        return
    if isinstance(method, Apex):
        assert method._maps is not None
        kept, last = method._maps.attraction.values.copy(), method._last
        method._maps.attraction.values.fill(0.0)
        method._last = method._before
        rewards = method.rewards(observation)
        method._maps.attraction.values[:], method._last = kept, last
        action, amount = MOVES[max(MOVES, key=lambda move: rewards[move])]
        bare = method._mover.goal(action, observation, amount)
    else:
        bare = method._mover.goal(method.fallback(observation, "").action, observation)
    own = choice.goal or method._mover.goal(choice.action, observation, choice.amount)
    apart = float(np.linalg.norm(own.position - bare.position))
    turned = 0.0 if own.yaw is None or bare.yaw is None else abs(wrap_angle(own.yaw - bare.yaw))
    choices.changed.append(apart > SAME_PLACE or turned > SAME_HEADING)


@contextmanager
def noted(choices: Choices) -> Iterator[None]:
    """Notes the choices of the methods that act meanwhile, and leaves them as they are."""
    choose, carry_out = MapMethod._choose, ActionMethod._carry_out

    def choosing(self: MapMethod, observation: Any, grid: Any, before: str) -> Any:
        frontier_choice(self, observation, grid, choices)
        return choose(self, observation, grid, before)

    def carrying_out(self: ActionMethod, outcome: Any, observation: Any, before: str) -> Any:
        action_choice(self, outcome.value, observation, choices)
        return carry_out(self, outcome, observation, before)

    MapMethod._choose, ActionMethod._carry_out = choosing, carrying_out  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        MapMethod._choose, ActionMethod._carry_out = choose, carry_out  # type: ignore[method-assign]


@dataclass(frozen=True)
class Settings:
    """Length of the flights of a folder, and the code that flew them."""

    seconds: float
    code: str

    @property
    def hash(self) -> str:
        """Hexadecimal SHA-256 of the settings."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()

    def difference(self, other: dict[str, Any]) -> str:
        """Returns in words the first setting that differs in a manifest's settings; empty where none does."""
        differing = (key for key, value in asdict(self).items() if value != other.get(key))
        return next((f"{key}: {getattr(self, key)!r} here, {other.get(key)!r} there" for key in differing), "")


def flight_of(planner: str, task: Task) -> dict[str, Any]:
    """Flies; returns the choices, and the track in whole decimetres. Raises UsageError when the method fails."""
    choices, began = Choices(), time.process_time()
    with noted(choices):
        flight = fly_episode(ESARBENCH, task, planner, task.seed, RunConditions(preset="fast", detector=DETECTOR))
    if flight.error is not None:
        raise UsageError(f"{planner}: {flight.error}", "mend the method")
    track = flight.track[VEHICLE]
    places = np.stack([track["x"], track["y"]], axis=1)
    return {
        "among": choices.among,
        "changed": [bool(one) for one in choices.changed],
        "track": np.rint(10.0 * places).astype(int).tolist(),
        "simulated": flight.simulated,
        "cpu": time.process_time() - began,
    }


def figures_of(flights: Sequence[dict[str, Any]], first: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Returns the row of a method: its flights, one a task, beside those of FIRST by task."""
    changed = [one for flight in flights for one in flight["changed"]]
    among = [one for flight in flights for one in flight["among"]]
    mean, most = [], []
    for flight in flights:
        own, other = (np.array(one["track"], float) / 10.0 for one in (flight, first[flight["task"]]))
        length = min(len(own), len(other))
        apart = np.linalg.norm(own[:length] - other[:length], axis=1)
        mean.append(float(apart.mean()))
        most.append(float(apart.max()))
    return {
        "tasks": len(flights),
        "choices": len(changed),
        "own_term": round(100.0 * float(np.mean(changed)), 1) if changed else math.nan,
        "among": round(float(np.mean(among)), 1) if among else math.nan,
        "apart": round(float(np.mean(mean)), 1),
        "apart_most": round(max(most), 1),
    }


def all_planners() -> list[str]:
    """Returns the methods that can be created here whose choices can be told, those that ask a model scripted."""
    out = []
    for name in registry.names():
        asked = f"{name}@{SCRIPTED}" if registry.asks_model(name) else name
        try:
            method = registry.create(asked)
        except UsageError:
            continue
        if isinstance(method, (MapMethod, ActionMethod)):
            out.append(asked)
    return out


def fly_missing(store: Store, tasks: Sequence[Task], planners: Sequence[str]) -> list[dict[str, Any]]:
    """Tells what is left to fly, flies it task by task, and returns all flights."""
    flights = list(store.earlier)
    jobs = [(task, planner) for task in tasks for planner in planners]
    left = [job for job in jobs if f"{job[0].id} {job[1]}" not in store.done]
    flown = sum(flight["simulated"] for flight in flights)
    rate = sum(flight["cpu"] for flight in flights) / flown if flown else CPU
    hours = sum(task.t_max for task, _ in left) / 3600.0
    print(f"{len(left)} of {len(jobs)} flights left: {hours:.1f} h flown, {rate * hours:.1f} h CPU", flush=True)
    for task, planner in left:
        record = {"schema": FILES.record_schema, "id": f"{task.id} {planner}", "index": len(flights), "task": task.id,
                  "planner": planner, "settings_hash": store.settings_hash, **flight_of(planner, task)}  # fmt: skip
        store.append(record)
        flights.append(record)
    return flights


def main() -> int:
    """Flies what is missing, prints and writes the page."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--planners", default="", help="with commas; without: all that can be created here")
    parser.add_argument("--tasks", default="dev", help="a set of tasks: dev, mini, demo, ...")
    parser.add_argument("--limit", type=int, default=10, help="of its first tasks")
    parser.add_argument("--seconds", type=float, default=300.0, help="simulated seconds a flight")
    parser.add_argument("--out", type=Path, default=Path("out", "choices"), help="folder of the flights")
    add_page(parser)
    arguments = parser.parse_args()
    tasks = [
        task.model_copy(update={"t_max": min(task.t_max, arguments.seconds)})
        for task in map(load_task, task_set(arguments.tasks)[: arguments.limit])
    ]
    planners = [name for name in arguments.planners.split(",") if name] or all_planners()
    store = Store(arguments.out, Settings(arguments.seconds, measured_code()), FILES)
    try:
        every = fly_missing(store, tasks, list(dict.fromkeys([FIRST, *planners])))
    finally:
        store.close()
    flights = [flight for flight in every if flight["task"] in {task.id for task in tasks}]
    first = {flight["task"]: flight for flight in flights if flight["planner"] == FIRST}
    row = "{:<22}{:>7}{:>9}{:>16}{:>12}{:>14}{:>14}"
    print(row.format("method", "tasks", "choices", "own term, %", "among", "apart, m", "at most, m"))
    figures: dict[str, dict[str, float]] = {}
    for name in planners:
        figures[name] = figures_of([flight for flight in flights if flight["planner"] == name], first)
        print(row.format(name, *figures[name].values()))
    met = {name: not (one["own_term"] < LEAST or one["among"] < LEAST_AMONG) for name, one in figures.items()}
    goals = {"own_term": LEAST, "among": LEAST_AMONG}
    print(json.dumps({"benchmark": "choices", "figures": figures, "goals": goals, "met": met}))
    if arguments.page:
        about = (
            "Each method flew the start of the tasks with ideal detection. A choice is changed by the method's own "
            "term when without it another would have been made in the same state: the nearest frontier, for `apex` the "
            "move by exploration alone, for the others the first free way. Methods that ask a model ask the scripted "
            f"one, which says nothing about a real model. Goal: at least {LEAST:g} % of the choices, each among "
            f"{LEAST_AMONG:g} or more."
        )
        heads = ("method", "tasks", "choices", "changed by its own term, %", "frontiers or actions a choice",
                 f"mean distance to `{FIRST}`'s track, m", "greatest, m", "goal")  # fmt: skip
        rows = [(f"`{name}`", *one.values(), "met" if met[name] else "**missed**") for name, one in figures.items()]
        conditions = {"tasks": ", ".join(task.id for task in tasks), "seconds": arguments.seconds, "preset": "fast"}
        write_page(__file__, "What decides", about, conditions, [Table(heads, rows)])
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    end_with(main)
