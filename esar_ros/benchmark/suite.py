"""The interface of a suite, the tasks and rules of one benchmark, to the runner, the report and the command line.

A new suite is a folder in `suites/` with an object of this interface, which `suites/__init__.py` lists in `_SUITES`, or
another package's object under the entry point `esar_ros.suites` (examples/my_suite). A suite of missions that the graph
and the engine fly also has the interface `MissionSuite` of `engine/missions.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from esar_ros.benchmark.report.bench_results import Reader
from esar_ros.benchmark.report.comparison import Layout
from esar_ros.benchmark.runner.job import Job, Plan
from esar_ros.benchmark.runner.plan import TaskSets
from esar_ros.benchmark.runner.records import Flown, Status
from esar_ros.benchmark.runner.worker import Episode
from esar_ros.mission.run_conditions import Conditions


@dataclass(frozen=True)
class Option:
    """A suite-specific option of `esar bench`: a choice of conditions."""

    name: str
    default: str
    about: str
    choices: tuple[str, ...] = ()
    metavar: str | None = None


class Suite(TaskSets, Protocol):
    """A benchmark: its tasks, the conditions they are flown under, one episode, and how results are shown."""

    @property
    def name(self) -> str:
        """The name by which --suite takes it."""
        ...

    @property
    def options(self) -> Sequence[Option]:
        """The suite-specific options."""
        ...

    @property
    def planners(self) -> Sequence[str]:
        """Names of all methods that can fly it."""
        ...

    @property
    def default_planner(self) -> str:
        """The method that is flown where none is named."""
        ...

    @property
    def conditions(self) -> type[Conditions]:
        """The type of its conditions."""
        ...

    def plan(self, tasks: Sequence[str], planners: Sequence[str], seeds: int, options: Mapping[str, str]) -> Plan:
        """Returns the episodes of a benchmark. Raises UsageError for what cannot be flown."""
        ...

    def maps(self, jobs: Sequence[Job]) -> Sequence[str]:
        """Returns the ids of the maps that the jobs are flown on."""
        ...

    def episode(self) -> Episode:
        """Returns what a worker flies with; it travels to the worker's process."""
        ...

    def failed(self, job: Job, status: Status, reason: str, wall: float) -> Flown:
        """Returns what is recorded of an episode that could not be flown to its end."""
        ...

    def reader(self, judge: str | None) -> Reader[Any]:
        """Returns what reads a record for tables.

        judge: a further judge of reports, None: those that need nothing. Raises UsageError.
        """
        ...

    def layout(self) -> Layout:
        """Returns how its results are shown."""
        ...
