"""The cost of methods: CPU time of a decision, and the share of a core that planner and pilot take while they fly.

`python benchmarks/planners.py [--planners belief,fbe] [--seconds 120] [--task ID] [--preset fast]`. Each method flies
the start of a task in the engine, once to load its compiled kernels and once measured. CPU time is of the thread that
decides, so what else runs on the machine counts little. Methods that ask a model ask the scripted one
(docs/reference/models.md), which answers at once; what it takes itself is not in the figures, as a server's time would
not be. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from page import Table, add_page, write_page

from esar_ros.benchmark.engine.episode import fly_episode
from esar_ros.flight.pilot import Pilot
from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import Task, load_task
from esar_ros.planning import registry
from esar_ros.planning.model.settings import SCRIPTED
from esar_ros.planning.session import Session
from esar_ros.suites.esarbench.suite import ESARBENCH

DETECTOR = "segmentation_oracle"  # what is seen is no part of the question, and costs least
GOAL_CORE = 0.30  # share of a core, planner and pilot together


class Meter:
    """A meter that sums the CPU time (s) of a method's calls and leaves the method as it is."""

    def __init__(self, owner: type, name: str) -> None:
        self.owner, self.name, self.times = owner, name, list[float]()
        self._original: Callable[..., Any] = getattr(owner, name)

    def __enter__(self) -> Meter:
        original, times = self._original, self.times

        def timed(*arguments: Any) -> Any:
            began = time.thread_time()
            out = original(*arguments)
            times.append(time.thread_time() - began)
            return out

        setattr(self.owner, self.name, timed)
        return self

    def __exit__(self, *_: object) -> None:
        setattr(self.owner, self.name, self._original)


def measure(planner: str, task: Task, preset: str) -> dict[str, float]:
    """Returns the figures of one method."""
    conditions = RunConditions(preset=preset, detector=DETECTOR)
    fly_episode(ESARBENCH, task.model_copy(update={"t_max": 4.0}), planner, task.seed, conditions)
    with Meter(Session, "reset") as begin, Meter(Session, "decide") as decide, Meter(Pilot, "step") as step:
        flown = fly_episode(ESARBENCH, task, planner, task.seed, conditions)
    if flown.error is not None:
        raise UsageError(f"{planner}: {flown.error}", "mend the method")
    decisions = 1e3 * np.array(decide.times)
    return {
        "decisions": len(decisions),
        "reset_ms": round(1e3 * sum(begin.times), 1),
        "median_ms": round(float(np.median(decisions)), 2),
        "p99_ms": round(float(np.percentile(decisions, 99)), 1),
        "max_ms": round(float(decisions.max()), 1),
        "core": round((sum(decide.times) + sum(step.times)) / flown.simulated, 4),
        "pilot_core": round(sum(step.times) / flown.simulated, 4),
    }


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--planners", default="", help="with commas; without: all that can be created here")
    parser.add_argument("--task", default="aotai-first")
    parser.add_argument("--seconds", type=float, default=120.0, help="simulated seconds a method")
    parser.add_argument("--preset", choices=("fast", "paper"), default="fast")
    add_page(parser)
    arguments = parser.parse_args()
    task = load_task(arguments.task).model_copy(update={"t_max": arguments.seconds})
    named = [name for name in arguments.planners.split(",") if name]
    figures: dict[str, dict[str, float]] = {}
    row = "{:<20}{:>10}{:>10}{:>11}{:>9}{:>9}{:>15}{:>8}"
    print(row.format("CPU", "decisions", "reset ms", "median ms", "p99 ms", "max ms", "planner+pilot", "pilot"))
    for name in named or [f"{name}@{SCRIPTED}" if registry.asks_model(name) else name for name in registry.names()]:
        try:
            registry.create(name)
        except UsageError as error:
            if named:
                raise
            print(f"{name:<20} not run: {error}")
            continue
        one = figures[name] = measure(name, task, arguments.preset)
        shares = (f"{100.0 * one['core']:.1f} %", f"{100.0 * one['pilot_core']:.1f} %")
        print(row.format(name, *(one[key] for key in list(one)[:5]), *shares), flush=True)
    met = {name: one["core"] <= GOAL_CORE for name, one in figures.items()}
    print(json.dumps({"benchmark": "planners", "figures": figures, "goals": {"core": GOAL_CORE}, "met": met}))
    if arguments.page:
        about = (
            "CPU time of the deciding thread in the first seconds of a task, flown in the engine. Methods that ask a "
            "model ask the scripted one: questions with their pictures are in the figures, answers are not. Goal: "
            f"planner and pilot take at most {GOAL_CORE:.0%} of a core."
        )
        heads = ("method", "decisions", "reset ms", "median ms", "p99 ms", "max ms", "planner + pilot, % of a core")
        rows = [
            (
                name,
                *list(one.values())[:5],
                100.0 * one["core"],
                100.0 * one["pilot_core"],
                "met" if met[name] else "**missed**",
            )
            for name, one in sorted(figures.items(), key=lambda item: -item[1]["core"])
        ]
        conditions = {name: getattr(arguments, name) for name in ("task", "seconds", "preset")}
        table = Table((*heads, "pilot alone", "goal"), rows)
        write_page(__file__, "What a decision costs", about, conditions, [table])
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
