"""ESARBench as the engine, the runner and the report know it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from esar_ros.benchmark.engine.conditions import task_digest, with_content
from esar_ros.benchmark.engine.missions import Deployment
from esar_ros.benchmark.report.bench_results import Reader
from esar_ros.benchmark.report.comparison import Layout
from esar_ros.benchmark.runner.job import Job, Plan, Settings
from esar_ros.benchmark.runner.plan import balanced_jobs, check_counts
from esar_ros.benchmark.runner.records import Flown, Status
from esar_ros.benchmark.runner.worker import Episode
from esar_ros.benchmark.suite import Option
from esar_ros.geometry.frames import Vector
from esar_ros.mission.briefing import make_brief
from esar_ros.mission.clues import segmentation_kinds
from esar_ros.mission.names import DEFAULT_DETECTOR, DEFAULT_PLANNER, DEFAULT_QUALITY, QUALITIES
from esar_ros.mission.observation import Brief
from esar_ros.mission.run_conditions import Conditions, RunConditions
from esar_ros.mission.task import Task, load_task
from esar_ros.perception.detectors.chosen import absolute, create_chosen
from esar_ros.planning.registry import create as create_method
from esar_ros.planning.registry import names
from esar_ros.scoring.judges import make_judge
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.suites.esarbench.deployer import deploy
from esar_ros.suites.esarbench.tasks import SETS, task_set
from esar_ros.suites.esarbench.tasks.validation import load_valid_task

OPTIONS = (
    Option("preset", "paper", "images: paper 640x480, fast 320x240", ("paper", "fast")),
    Option("quality", DEFAULT_QUALITY, f"of the images (default {DEFAULT_QUALITY})", QUALITIES),
    Option("governor", "on", "safety governor (default on)", ("on", "off")),
    Option("odometry", "noisy", "off as an estimator's (default), or true", ("noisy", "true")),
    Option("detector", DEFAULT_DETECTOR, f"clue detector (default {DEFAULT_DETECTOR})", metavar="NAME[:FILE]"),
)


class EsarBench:
    """ESARBench: a suite of missions (benchmark.suite.Suite and benchmark.engine.missions.MissionSuite)."""

    name = "esarbench"
    options = OPTIONS
    sets: Sequence[str] = SETS
    default_planner = DEFAULT_PLANNER
    conditions: type[Conditions] = RunConditions

    @property
    def planners(self) -> Sequence[str]:
        """Names of all methods."""
        return names()

    def task_set(self, name: str) -> Sequence[str]:
        """Returns the ids of a set's tasks in the order in which they are flown."""
        return task_set(name)

    def task_file(self, path: str) -> Sequence[str]:
        """Returns the file itself, which holds one task."""
        return (path,)

    def plan(self, tasks: Sequence[str], planners: Sequence[str], seeds: int, options: Mapping[str, str]) -> Plan:
        """Returns the episodes of a benchmark. Raises UsageError for what cannot be flown."""
        check_counts(planners, seeds)
        methods = [create_method(planner) for planner in planners]
        chosen = {option.name: options.get(option.name, option.default) for option in OPTIONS}
        detector = absolute(chosen["detector"])
        create_chosen(detector)  # wrong weights are refused here, not by every episode
        loaded = [load_valid_task(task) for task in tasks]
        digests = tuple(task_digest(task) for task in loaded)
        odometry = cast(Literal["true", "noisy"], chosen["odometry"])
        governor = chosen["governor"] == "on"
        own = RunConditions(chosen["preset"], governor, odometry, detector, quality=chosen["quality"])
        conditions = tuple(
            with_content(own, planner, method, digests) for planner, method in zip(planners, methods, strict=True)
        )
        settings = Settings(self.name, tuple(tasks), digests, tuple(planners), seeds, conditions)
        jobs = balanced_jobs(settings, [task.id for task in loaded], [task.seed for task in loaded])
        limits = {name: task.t_max for name, task in zip(tasks, loaded, strict=True)}
        return Plan(settings, jobs, sum(task.split == "test" for task in loaded), limits)

    def maps(self, jobs: Sequence[Job]) -> Sequence[str]:
        """Returns the ids of the maps that the jobs are flown on."""
        return sorted({load_task(job.task).map for job in jobs})

    def episode(self) -> Episode:
        """Returns what a worker flies with."""
        from esar_ros.suites.esarbench.episode import EmbeddedEpisode

        return EmbeddedEpisode(self)

    def failed(self, job: Job, status: Status, reason: str, wall: float) -> Flown:
        """Returns what is recorded of an episode that could not be flown to its end."""
        from esar_ros.suites.esarbench.episode import failed

        return failed(job, status, reason, wall)

    def reader(self, judge: str | None = None) -> Reader[Any]:
        """Returns what reads a record; judge: a further judge of reports. Raises UsageError."""
        from esar_ros.scoring.result import Result
        from esar_ros.suites.esarbench.records import read_record

        judges = [make_judge(name) for name in ("label", "offline", *([judge] if judge else []))]
        return Reader(Result, lambda record, folder, where: read_record(record, folder, where, judges))

    def layout(self) -> Layout:
        """Returns how its results are shown."""
        from esar_ros.suites.esarbench.tables import LAYOUT

        return LAYOUT

    def deploy(self, client: Any, task: Task, place: PlaceMap, vehicles: Sequence[str]) -> Deployment:
        """Put a task into a world that stands still. Raises UsageError, AirSimError."""
        return deploy(client, task, place, vehicles, pause=True)

    def brief(self, task: Task, place: PlaceMap, name: str, report_cap: int, home: Vector) -> Brief:
        """Returns the brief of the planner of a vehicle that starts at home (3,) m."""
        return make_brief(task, place, name, report_cap, home)

    def object_kinds(self) -> Mapping[int, tuple[str, str]]:
        """(kind, its words) of every segmentation id that `deploy` may give."""
        return segmentation_kinds()


ESARBENCH = EsarBench()
