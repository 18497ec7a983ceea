"""RescueBench as the runner and the report know it (benchmark.suite.Suite)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from esar_ros.benchmark.report.bench_results import Reader
from esar_ros.benchmark.report.comparison import Layout
from esar_ros.benchmark.runner.job import Job, Plan, Settings
from esar_ros.benchmark.runner.plan import balanced_jobs, check_counts
from esar_ros.benchmark.runner.records import Flown, Status
from esar_ros.benchmark.runner.worker import Episode
from esar_ros.benchmark.suite import Option
from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import Conditions
from esar_ros.scoring.rescue import Rules
from esar_ros.suites.rescuebench.agents import create, names
from esar_ros.suites.rescuebench.conditions import (
    STAND_INS,
    Clock,
    Population,
    RescueConditions,
    Truth,
    chosen,
    with_content,
)
from esar_ros.suites.rescuebench.machine import Interaction
from esar_ros.suites.rescuebench.sets import SETS, find_task, task_ids, tasks_of_file

NAME = "rescuebench"
OPTIONS = (
    Option("rules", Rules.CODE.value, "gates of picking up and putting down", tuple(rules.value for rules in Rules)),
    Option(
        "interaction",
        Interaction.ACTIVE.value,
        "who picks up, puts down and opens doors: the suite, or the agent",
        tuple(mode.value for mode in Interaction),
    ),
    Option("truth", "none", "ground truth that agents are told, which makes them ineligible", get_args(Truth)),
    Option("clock", "paused", "whether the world waits while an agent thinks", get_args(Clock)),
    Option("population", "none", "who else is there; busy: bystanders and vehicles", get_args(Population)),
)


class RescueBench:
    """Search, carry, return, hand over on foot."""

    name = NAME
    options = OPTIONS
    sets: Sequence[str] = SETS
    default_planner = "random"
    conditions: type[Conditions] = RescueConditions

    @property
    def planners(self) -> Sequence[str]:
        """Names of all agents."""
        return names()

    def task_set(self, name: str) -> Sequence[str]:
        """Returns the ids of a set's tasks in the order in which they are walked."""
        return task_ids(name)

    def task_file(self, path: str) -> Sequence[str]:
        """Returns the names of the tasks of a file of points. Raises UsageError."""
        return tasks_of_file(path)

    def plan(self, tasks: Sequence[str], planners: Sequence[str], seeds: int, options: Mapping[str, str]) -> Plan:
        """Returns the episodes of a benchmark. Raises UsageError."""
        check_counts(planners, seeds)
        found = [find_task(task) for task in tasks]
        digests = tuple(task.digest for task in found)
        own = chosen(options)
        if any(task.checkout for task in found):
            own = replace(own, world=STAND_INS)
        conditions = tuple(with_content(own, digests, create(planner)) for planner in planners)
        plan = Settings(self.name, tuple(tasks), digests, tuple(planners), seeds, conditions)
        jobs = balanced_jobs(plan, [task.id for task in found], [0] * len(found))
        test_tasks = sum(task.split == "test" for task in found)
        limits = {name: task.point.time_limit for name, task in zip(tasks, found, strict=True)}
        return Plan(plan, jobs, test_tasks, limits)

    def maps(self, jobs: Sequence[Job]) -> Sequence[str]:
        """Returns no map: places are made from their names."""
        return ()

    def episode(self) -> Episode:
        """Returns what a worker walks with."""
        from esar_ros.suites.rescuebench.episode import RescueEpisode

        return RescueEpisode()

    def failed(self, job: Job, status: Status, reason: str, wall: float) -> Flown:
        """Returns what is recorded of an episode that could not be walked to its end."""
        from esar_ros.suites.rescuebench.episode import failed

        return failed(job, status, reason, wall)

    def reader(self, judge: str | None = None) -> Reader[Any]:
        """Returns what reads a record. Raises UsageError: the suite knows no reports, so no judge of them."""
        from esar_ros.suites.rescuebench.records import read_record
        from esar_ros.suites.rescuebench.result import RescueResult

        if judge is not None:
            raise UsageError(f"--judge {judge}: suite {self.name} has no reports to judge", "leave it out")
        return Reader(RescueResult, read_record)

    def layout(self) -> Layout:
        """Returns how its results are shown."""
        from esar_ros.suites.rescuebench.tables import LAYOUT

        return LAYOUT


RESCUEBENCH = RescueBench()
