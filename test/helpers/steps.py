"""Shared by tests of step-by-step agents: a task, views of a given depth, and a world that is pure geometry."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission.names import CAMERAS
from esar_ros.mission.object_goal import (
    ObjectGoal,
    ObjectGoalEpisode,
    StepAction,
    StepKind,
    StepObservation,
    StepPose,
    StepTask,
)
from esar_ros.suites.uav_on.settings import load_suite_settings

SETTINGS = load_suite_settings()
GOAL = ObjectGoal("Bench", "mid(2.5*2.0=5.0 squares)", "A bench of grey planks.")
SIDE = 32  # px


def level(x: float = 0.0, y: float = 0.0, z: float = 10.0, yaw: float = 0.0) -> StepPose:
    """A level pose; yaw in degrees."""
    return StepPose.of(Pose(np.array([x, y, z]), quaternion_from_yaw(math.radians(yaw))))


def step_task(start: StepPose | None = None, **more: Any) -> StepTask:
    task = StepTask("park-7", GOAL, start or level(), half_side=50.0, max_actions=150, sizes=SETTINGS.sizes, near=20.0)
    return replace(task, **more)


@dataclass
class FlatViews:
    """Views of the same depth (m along the rays) everywhere, by camera or for all, and of one grey."""

    at: Pose = field(default_factory=Pose)
    depths: Mapping[str, float] | float = 100.0
    labels: Mapping[str, Mapping[str, int]] = field(default_factory=lambda: {name: {} for name in CAMERAS})
    drawn: list[str] = field(default_factory=list)

    @property
    def model(self) -> CameraModel:
        return CameraModel.from_horizontal_fov(SIDE, SIDE, math.radians(SETTINGS.fov_deg))

    @property
    def poses(self) -> Mapping[str, Pose]:
        return {name: self.at.compose(mount.pose) for name, mount in SETTINGS.cameras.items()}

    @property
    def colour(self) -> Mapping[str, NDArray[np.uint8]]:
        self.drawn.append("colour")
        return {name: np.full((2 * SIDE, 2 * SIDE, 3), 90, dtype=np.uint8) for name in CAMERAS}

    @property
    def depth(self) -> Mapping[str, NDArray[np.float32]]:
        self.drawn.append("depth")
        depths = self.depths if isinstance(self.depths, Mapping) else dict.fromkeys(CAMERAS, self.depths)
        return {name: np.full((SIDE, SIDE), depths.get(name, 100.0), dtype=np.float32) for name in CAMERAS}


def seen(number: int = 0, pose: StepPose | None = None, **views: Any) -> StepObservation:
    """An observation at a pose."""
    at = pose or level()
    return StepObservation(number, at, FlatViews(at.pose, **views))


class GeometricWorld:
    """A world without physics: the vehicle is wherever it is told to be, off by a little; contacts are asked for."""

    def __init__(self, touching: Callable[[np.ndarray], bool] = lambda position: False, off: float = 0.0) -> None:
        self.touching, self.off = touching, off
        self.seconds = 0.0
        self.measured = Pose()
        self.placed: list[Pose] = []
        self.flown: list[StepPose] = []
        self.hovered = 0
        self.hover_touches = False
        self.views: list[FlatViews] = []
        self._touched = False

    def is_free(self, pose: Pose) -> bool:
        return not self.touching(pose.position)

    def place(self, pose: Pose) -> None:
        self.placed.append(pose)
        self.measured = pose

    def fly(self, target: StepPose, seconds: float) -> None:
        self.flown.append(target)
        self.seconds += min(seconds, 5.0)
        self.measured = Pose(target.position + self.off, target.pose.quaternion)
        self._touched = self._touched or self.touching(target.position)

    def hover(self) -> None:
        self.hovered += 1
        self.seconds += 1.0
        self._touched = self._touched or self.hover_touches

    def touched(self) -> bool:
        touched, self._touched = self._touched, False
        return touched

    def images(self, told: Pose, look: Any, draw: Any) -> Any:
        self.views.append(FlatViews(told))
        return self.views[-1]


class Scripted:
    """Takes the actions of a list, or what a function answers to an observation."""

    name = "scripted"
    eligible = True

    def __init__(self, actions: Any) -> None:
        self._actions = actions
        self.seen: list[StepObservation] = []
        self.task: StepTask | None = None

    def reset(self, task: StepTask, seed: int) -> None:
        self.task, self.seed = task, seed

    def act(self, observation: StepObservation) -> Any:
        self.seen.append(observation)
        return self._actions(observation) if callable(self._actions) else self._actions[observation.number]


def go(kind: str, size: float | None = None) -> StepAction:
    return StepAction(StepKind(kind), size)


def object_goal_episode(**more: Any) -> ObjectGoalEpisode:
    """Start at the origin 10 m up, heading east; the target 30 m east."""
    episode = ObjectGoalEpisode(
        id="7", scene="park", start=level().pose, goal=GOAL, targets=np.array([[30.0, 0.0, 0.5]]),
        shortest=40.0, straight=float(np.hypot(30.0, 9.5)),
    )  # fmt: skip
    return replace(episode, **more)
