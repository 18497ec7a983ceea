"""ESARBench as the engine and the runner know it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from esar_ros.benchmark.engine.suite import Deployment
from esar_ros.geometry.frames import Vector
from esar_ros.mission.observation import Brief
from esar_ros.mission.task import Task
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.suites.esarbench.brief import make_brief
from esar_ros.suites.esarbench.deployer import deploy, segmentation_kinds
from esar_ros.suites.esarbench.tasks import SETS, task_set


class EsarBench:
    """ESARBench: esar_ros.benchmark.engine.suite.Suite."""

    @property
    def sets(self) -> Sequence[str]:
        """Names of its sets of tasks."""
        return SETS

    def task_set(self, name: str) -> Sequence[str]:
        """Ids of a set's tasks in the order in which they are flown."""
        return task_set(name)

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
