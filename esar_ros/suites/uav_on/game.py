"""An episode of UAV-ON as a game (suites.gym): the eight actions in fixed sizes, images and pose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from esar_ros.geometry.frames import FARTHEST
from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import StepAction, StepKind, StepObservation, StepPose, StepTask
from esar_ros.scoring.object_goal import GoalOutcome
from esar_ros.suites.uav_on.conditions import UavOnConditions
from esar_ros.suites.uav_on.flight import Look, fly
from esar_ros.suites.uav_on.result import make_goal_result
from esar_ros.suites.uav_on.scenes import find_task
from esar_ros.suites.uav_on.settings import load_suite_settings
from esar_ros.suites.uav_on.worlds.embedded import EmbeddedWorld, OpenScene

IMAGES = ("colour", "depth")
ACTIONS = tuple(StepKind)  # by number


@dataclass(frozen=True)
class GoalEnding:
    """See suites.gym.Ending; the reward is 1 of a success under the public code's rules, else 0."""

    observation: dict[str, Any]
    reward: float
    truncated: bool
    info: dict[str, Any]


class StepGame:
    """One task (suites.gym.Game)."""

    def __init__(self, task: str, images: Sequence[str] = IMAGES) -> None:
        """images: what is drawn for every observation, of colour and depth. Raises UsageError."""
        if not set(images) <= set(IMAGES):
            raise UsageError(f"images {', '.join(images)}", f"some of {', '.join(IMAGES)}, or none")
        self._task, self._settings, self._images = find_task(task), load_suite_settings(), tuple(images)
        self._opened: OpenScene | None = None
        cameras, colour, depth = len(self._settings.cameras), self._settings.colour, self._settings.depth
        drawn: dict[str, spaces.Space[Any]] = {
            "colour": spaces.Box(0, 255, (cameras, colour, colour, 3), np.uint8),
            "depth": spaces.Box(0.0, self._settings.depth_range, (cameras, depth, depth), np.float32),
        }
        far = np.array([FARTHEST] * 3 + [180.0])
        self.observation_space = spaces.Dict(
            {"pose": spaces.Box(-far, far, dtype=np.float64)} | {name: drawn[name] for name in self._images}
        )
        self.action_space = spaces.Discrete(len(ACTIONS))

    @property
    def info(self) -> dict[str, Any]:
        """The object's words."""
        goal = self._task.entry.episode.goal
        return {"task": self._task.id, "name": goal.name, "size": goal.size, "description": goal.description}

    def fly(self, seed: int, ask: Callable[[Any], Any]) -> GoalEnding:
        """See suites.gym.Game. Nothing in an episode is drawn by lot: the seed changes nothing."""
        if self._opened is None:
            self._opened = OpenScene(self._task.scene, self._settings)
        world, conditions = EmbeddedWorld(self._opened), UavOnConditions()
        caller = _Caller(lambda observation: ask(self._arrays(observation)))
        flown = fly(world, self._task.entry.episode, self._task.id, caller, seed, conditions, self._settings)
        result = make_goal_result(self._task, flown, conditions.poses, True, self._opened.map_digest)
        told = flown.frames[-1].commanded
        views = world.images(told, Look(conditions.depth, False), lambda draw: draw())
        last = self._arrays(StepObservation(len(flown.frames) - 1, StepPose.of(told), views))
        success = result.outcome is GoalOutcome.SUCCESS
        info = {"end": result.end, "outcome": result.outcome.value}
        return GoalEnding(last, float(success), result.end == "step_limit", info)

    def close(self) -> None:
        """See suites.gym.Game."""
        if self._opened is not None:
            self._opened.close()
        self._opened = None

    def _arrays(self, observation: StepObservation) -> dict[str, Any]:
        pose = observation.pose
        arrays: dict[str, Any] = {"pose": np.array([*pose.position, pose.yaw])}
        for name in self._images:
            arrays[name] = np.stack(list(getattr(observation.views, name).values()))
        return arrays


class _Caller:
    """The agent that is whoever calls."""

    name = "gym"
    eligible = True

    def __init__(self, ask: Callable[[StepObservation], Any]) -> None:
        self._ask = ask

    def reset(self, task: StepTask, seed: int) -> None:
        """Nothing to do."""

    def act(self, observation: StepObservation) -> StepAction:
        """Ask."""
        return StepAction(ACTIONS[int(self._ask(observation))])
