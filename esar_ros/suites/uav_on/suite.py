"""UAV-ON as the runner and the report know it (benchmark.suite.Suite)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from esar_ros.benchmark.report.bench_results import Reader
from esar_ros.benchmark.report.comparison import Layout
from esar_ros.benchmark.runner.job import Job, Plan, Settings
from esar_ros.benchmark.runner.plan import balanced_jobs, check_counts
from esar_ros.benchmark.runner.records import Flown, Status
from esar_ros.benchmark.runner.worker import Episode
from esar_ros.benchmark.suite import Option
from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import Conditions
from esar_ros.scoring.object_goal import TERMS
from esar_ros.suites.uav_on.agents import create, names
from esar_ros.suites.uav_on.conditions import AIRSIM, UavOnConditions, chosen, conditions_of, with_content
from esar_ros.suites.uav_on.scenes import SETS, find_task, task_ids, tasks_of_file
from esar_ros.suites.uav_on.settings import load_suite_settings
from esar_ros.suites.uav_on.worlds.airsim import parse_address

NAME = "uav-on"
_TERMS = ", ".join(f"{terms.name} {terms.near:g} m, {terms.actions}" for terms in TERMS.values())
OPTIONS = (
    Option("poses", "commanded", "poses that are told and scored: commanded, or measured", ("commanded", "measured")),
    Option("depth", "code", "depth images: 100 m in 255 parts as the public code, or metres", ("code", "metres")),
    Option("pose", "simulator", "poses told count from the map's origin, or the start", ("simulator", "relative")),
    Option("terms", UavOnConditions.terms, f"distance of a success, and actions: {_TERMS}", tuple(TERMS)),
    Option("world", "embedded", "what is flown in: embedded, or a server of AirSim's interface", ("embedded", AIRSIM)),
    Option("scenes", "", "of --world airsim: a scene server, or a simulator with one open", metavar="HOST:PORT"),
    Option("step-time", f"{UavOnConditions.step_time:g}", "s that a step may take (default 25)", metavar="S"),
)


class UavOn:
    """Object-goal navigation by a drone."""

    name = NAME
    options = OPTIONS
    sets: Sequence[str] = tuple(SETS)
    default_planner = "random"
    conditions: type[Conditions] = UavOnConditions

    @property
    def planners(self) -> Sequence[str]:
        """Names of all agents."""
        return names()

    def task_set(self, name: str) -> Sequence[str]:
        """Returns the ids of a set's tasks in the order in which they are flown."""
        return task_ids(name)

    def task_file(self, path: str) -> Sequence[str]:
        """Returns the names of the tasks of a file of episodes. Raises UsageError."""
        return tasks_of_file(path)

    def plan(self, tasks: Sequence[str], planners: Sequence[str], seeds: int, options: Mapping[str, str]) -> Plan:
        """Returns the episodes of a benchmark. Raises UsageError."""
        check_counts(planners, seeds)
        own, settings = chosen(options), load_suite_settings()
        agents = [create(planner, settings) for planner in planners]
        if own.server:
            parse_address(own.server)
        told = [agent.name for agent in agents if own.world == AIRSIM and not agent.eligible]
        if told:
            raise UsageError(f"planner {told[0]} uses ground truth", "a server of AirSim's interface tells none")
        found = [find_task(task, own.world == AIRSIM) for task in tasks]
        given = [task for name, task in zip(tasks, found, strict=True) if "#" in name]  # of a file, not of ours
        if given and own.world != AIRSIM:
            from esar_ros.suites.uav_on.worlds.embedded import check_starts

            check_starts(given, settings)
        digests = tuple(task.digest for task in found)
        conditions = tuple(
            with_content(own, planner, agent, found) for planner, agent in zip(planners, agents, strict=True)
        )
        plan = Settings(self.name, tuple(tasks), digests, tuple(planners), seeds, conditions)
        jobs = balanced_jobs(plan, [task.id for task in found], [0] * len(found))
        test_tasks = sum(task.scene.split == "test" for task in found)
        at_once = 1 if own.world == AIRSIM else None  # whoever asks last has the scenes
        return Plan(plan, jobs, test_tasks, dict.fromkeys(tasks, TERMS[own.terms].actions * own.step_time), at_once)

    def maps(self, jobs: Sequence[Job]) -> Sequence[str]:
        """Returns the ids of the maps that the jobs are flown on."""
        return sorted({find_task(job.task).scene.map for job in jobs if conditions_of(job).world != AIRSIM})

    def episode(self) -> Episode:
        """Returns what a worker flies with."""
        from esar_ros.suites.uav_on.episode import UavOnEpisode

        return UavOnEpisode()

    def failed(self, job: Job, status: Status, reason: str, wall: float) -> Flown:
        """Returns what is recorded of an episode that could not be flown to its end."""
        from esar_ros.suites.uav_on.episode import failed

        return failed(job, status, reason, wall)

    def reader(self, judge: str | None = None) -> Reader[Any]:
        """Returns what reads a record. Raises UsageError: the suite knows no reports, so no judge of them."""
        from esar_ros.suites.uav_on.records import read_record
        from esar_ros.suites.uav_on.result import GoalResult

        if judge is not None:
            raise UsageError(f"--judge {judge}: suite {self.name} has no reports to judge", "leave it out")
        return Reader(GoalResult, read_record)

    def layout(self) -> Layout:
        """Returns how its results are shown."""
        from esar_ros.suites.uav_on.tables import LAYOUT

        return LAYOUT


UAV_ON = UavOn()
