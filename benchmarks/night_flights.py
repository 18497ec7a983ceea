"""Missions by night with and without the thermal camera: whom they find, and what they take for a person.

    ./esar exec python benchmarks/night_flights.py [--tasks dev --limit 12] [--seconds 480] [--page]

Every task is flown twice in the episode engine, at 1:20 of its day, with noisy odometry and its own weather: as
`config/vehicle.yaml` has the vehicle, and with the thermal camera mounted. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml
from page import Table, add_page, end_with, write_page
from scipy.stats import binomtest  # type: ignore[import-untyped]

from esar_ros.benchmark.engine.episode import fly_episode
from esar_ros.benchmark.engine.mission import PRESETS
from esar_ros.benchmark.runner.plan import choose_tasks
from esar_ros.mission import vehicle
from esar_ros.mission.resources import resource
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import Task, load_task
from esar_ros.suites.esarbench.suite import ESARBENCH

HOUR, MINUTE = 1, 20
VEHICLE = "config/vehicle.yaml"


@contextmanager
def mounted() -> Iterator[None]:
    """Gives every vehicle that is loaded meanwhile a thermal camera."""
    document = yaml.safe_load(resource(VEHICLE).read_text())
    document["thermal"]["mounted"] = True
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "vehicle.yaml"
        file.write_text(yaml.safe_dump(document))
        with patch.object(vehicle, "resource", lambda name: file if name == VEHICLE else resource(name)):
            yield


@dataclass(frozen=True)
class Night:
    """The outcome of a flight by night."""

    victims: int
    found: int
    last: float | None  # s until the last of them was found
    false: int  # reports of a victim where none is
    causes: tuple[str, ...]  # why the others were not found
    shown: int  # pictures that showed a victim
    cpu: float  # s of the processor


def flown(task: Task, planner: str, preset: str) -> Night:
    """Flies a task and returns what it brought."""
    began = time.process_time()
    flight = fly_episode(ESARBENCH, task, planner, task.seed, RunConditions(preset=preset))
    if flight.error is not None:
        raise RuntimeError(f"{task.id}: {flight.error}")
    victims = flight.result.victims
    ends = [victim.time for victim in victims if victim.found and victim.time is not None]
    return Night(
        len(victims),
        len(ends),
        max(ends, default=None),
        sum(report.type == "victim" and report.verdict == "false" for report in flight.result.reports),
        tuple(victim.cause.value for victim in victims if not victim.found and victim.cause is not None),
        sum(victim.pictures or 0 for victim in victims),
        time.process_time() - began,
    )


def by_night(name: str, seconds: float) -> Task:
    """Returns a task as it is at 1:20 of its day, of at most so many seconds."""
    task = load_task(name)
    when = task.local_time.replace(hour=HOUR, minute=MINUTE)
    return task.model_copy(update={"local_time": when, "t_max": min(task.t_max, seconds)})


def summed(nights: Sequence[Night]) -> list[Any]:
    """Returns the cells of all flights of a vehicle: victims found with the share's interval, and the rest."""
    victims, found = sum(night.victims for night in nights), sum(night.found for night in nights)
    low, high = binomtest(found, victims).proportion_ci(method="wilson")
    causes = Counter(cause.replace("_", " ") for night in nights for cause in night.causes)
    return [
        f"{found} of {victims} [{low:.2f}, {high:.2f}]",
        sum(night.false for night in nights),
        ", ".join(f"{count} {cause}" for cause, count in causes.most_common()) or "-",
        round(sum(night.cpu for night in nights)),
    ]


def main() -> int:
    """Flies, prints the tables and the JSON line."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", default="dev", help="set, file or ids (default %(default)s)")
    parser.add_argument("--limit", type=int, default=12, help="default %(default)s")
    parser.add_argument("--planner", default="belief", help="default %(default)s")
    parser.add_argument("--seconds", type=float, default=480.0, help="of a flight, at most (default %(default)s)")
    parser.add_argument("--preset", choices=tuple(PRESETS), default="fast", help="default %(default)s")
    add_page(parser)
    arguments = parser.parse_args()
    rows: list[list[Any]] = []
    every: dict[str, list[Night]] = {"colour cameras": [], "and the thermal one": []}
    for name in choose_tasks(ESARBENCH, arguments.tasks, arguments.limit):
        task, cells = by_night(name, arguments.seconds), []
        for nights, with_thermal in zip(every.values(), (False, True), strict=True):
            with mounted() if with_thermal else nullcontext():
                nights.append(flown(task, arguments.planner, arguments.preset))
            night = nights[-1]
            last = "" if night.last is None else f" after {night.last:.0f} s"
            cells += [f"{night.found} of {night.victims}{last}", night.false]
        rows.append([name, task.weather.value, *cells])
        print(*rows[-1], sep=" | ", flush=True)
    tables = [
        Table(("vehicle", "victims found [95 %]", "false people", "why others were not", "CPU s"),
              [[name, *summed(nights)] for name, nights in every.items()], "All"),
        Table(("task", "weather", "colours: found", "false people", "with thermal: found", "false people"),
              rows, "By task"),
    ]  # fmt: skip
    for row in tables[0].rows:
        print(*row, sep=" | ")
    figures = {name: [asdict(night) for night in nights] for name, nights in every.items()}
    print(json.dumps({"benchmark": "night_flights", "figures": figures, "goals": {}, "met": {}}))
    if arguments.page:
        about = (
            f"Tasks flown twice in the engine at {HOUR}:{MINUTE} of their day, with noisy odometry and their own "
            "weather: with the four colour cameras alone, and with the thermal camera beside them. A false person is a "
            "report of a victim where none is. Interval: Wilson."
        )
        conditions = {name: getattr(arguments, name) for name in ("tasks", "limit", "planner", "seconds", "preset")}
        write_page(__file__, "Missions by night, with and without the thermal camera", about, conditions, tables)
    return 0


if __name__ == "__main__":
    end_with(main)
