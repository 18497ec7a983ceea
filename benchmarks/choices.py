"""Choices of methods: how often a method's own term decides, among how many, and how far off its track lies.

`python benchmarks/choices.py [--planners semexp,vlfm_labels] [--tasks dev] [--limit 2] [--seconds 300] [--page]`.
Each method flies the start of each task in the engine, `fbe` first. A choice is changed by the method's own term when
without it another one would have been made in the same state: for the methods on the map the frontier that is
nearest, for `apex` the move by exploration alone, for the others that ask a model the first free way. Methods that
ask a model ask the scripted one (docs/reference/models.md): they show that answers decide, not what a model would
answer. Exit code 1 when a method's own term changed less than half of its choices. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from page import Table, add_page, write_page

from esar_ros.benchmark.engine.episode import VEHICLE, fly_episode
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
        kept = method._maps.attraction.values.copy()
        method._maps.attraction.values.fill(0.0)
        rewards = method.rewards(observation)
        method._maps.attraction.values[:] = kept
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


def flown(planner: str, task: Task, choices: Choices) -> np.ndarray:
    """Returns the track (N, 3) of a flight, in the order of time. Raises UsageError when the method fails."""
    with noted(choices):
        flight = fly_episode(ESARBENCH, task, planner, task.seed, RunConditions(preset="fast", detector=DETECTOR))
    if flight.error is not None:
        raise UsageError(f"{planner}: {flight.error}", "mend the method")
    track = flight.track[VEHICLE]
    return np.stack([track["x"], track["y"], track["z"]], axis=1)


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


def main() -> int:
    """Flies, prints and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--planners", default="", help="with commas; without: all that can be created here")
    parser.add_argument("--tasks", default="dev", help="a set of tasks: dev, mini, demo, ...")
    parser.add_argument("--limit", type=int, default=2, help="of its first tasks")
    parser.add_argument("--seconds", type=float, default=300.0, help="simulated seconds a flight")
    add_page(parser)
    arguments = parser.parse_args()
    tasks = [
        task.model_copy(update={"t_max": min(task.t_max, arguments.seconds)})
        for task in map(load_task, task_set(arguments.tasks)[: arguments.limit])
    ]
    planners = [name for name in arguments.planners.split(",") if name] or all_planners()
    first = [flown(FIRST, task, Choices()) for task in tasks]
    figures: dict[str, dict[str, float]] = {}
    row = "{:<22}{:>9}{:>16}{:>12}{:>14}{:>14}"
    print(row.format("method", "choices", "own term, %", "among", "apart, m", "at most, m"))
    for name in planners:
        choices, mean, most = Choices(), [], []
        for task, track in zip(tasks, first, strict=True):
            own = flown(name, task, choices)
            length = min(len(own), len(track))
            apart = np.linalg.norm(own[:length, :2] - track[:length, :2], axis=1)
            mean.append(float(apart.mean()))
            most.append(float(apart.max()))
        one = figures[name] = {
            "choices": len(choices.changed),
            "own_term": round(100.0 * float(np.mean(choices.changed)), 1) if choices.changed else math.nan,
            "among": round(float(np.mean(choices.among)), 1) if choices.among else math.nan,
            "apart": round(float(np.mean(mean)), 1),
            "apart_most": round(max(most), 1),
        }
        print(row.format(name, *one.values()), flush=True)
    met = {name: not one["own_term"] < LEAST for name, one in figures.items()}
    print(json.dumps({"benchmark": "choices", "figures": figures, "goals": {"own_term": LEAST}, "met": met}))
    if arguments.page:
        about = (
            "Each method flew the start of the tasks with ideal detection. A choice is changed by the method's own "
            "term when without it another would have been made in the same state: the nearest frontier, for `apex` the "
            "move by exploration alone, for the others the first free way. Methods that ask a model ask the scripted "
            f"one, which says nothing about a real model. Goal: at least {LEAST:g} % of the choices."
        )
        heads = ("method", "choices", "changed by its own term, %", "frontiers or actions a choice",
                 f"mean distance to `{FIRST}`'s track, m", "greatest, m", "goal")  # fmt: skip
        rows = [(f"`{name}`", *one.values(), "met" if met[name] else "**missed**") for name, one in figures.items()]
        conditions = {"tasks": ", ".join(task.id for task in tasks), "seconds": arguments.seconds, "preset": "fast"}
        write_page(__file__, "What decides", about, conditions, [Table(heads, rows)])
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
