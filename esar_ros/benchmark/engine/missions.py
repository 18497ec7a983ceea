"""The engine's interface to a suite of missions: a task put into a world, its brief, and the ids of its objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from esar_ros.geometry.frames import Vector
from esar_ros.mission.observation import Brief
from esar_ros.mission.task import Task
from esar_ros.scoring.truth import TrueClue, TrueVictim
from esar_ros.sim.terrain.maps import PlaceMap


@dataclass(frozen=True)
class Deployment:
    """The ground truth of a mission and the starts of its vehicles, map frame (m)."""

    victims: tuple[TrueVictim, ...]
    clues: tuple[TrueClue, ...]
    starts: dict[str, Vector]  # (3,) of each vehicle
    odom_in_map: dict[str, tuple[float, float, float]]  # origin of each vehicle's AirSim coordinates
    objects: dict[
        str, str
    ]  # name in the simulator of each victim's and clue's id, and of distractors (distractor-0 ...)


class MissionSuite(Protocol):
    """A benchmark whose episodes are missions, as the graph and the engine fly them."""

    def deploy(self, client: Any, task: Task, place: PlaceMap, vehicles: Sequence[str]) -> Deployment:
        """Puts a task into a world that stands still. Raises UsageError and the client's errors."""
        ...

    def brief(self, task: Task, place: PlaceMap, name: str, report_cap: int, home: Vector) -> Brief:
        """Returns the brief of the planner of a vehicle that starts at home (3,) m."""
        ...

    def object_kinds(self) -> Mapping[int, tuple[str, str]]:
        """Returns (kind, its words) of every segmentation id that `deploy` may give."""
        ...
