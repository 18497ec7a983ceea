"""An episode of UAV-ON as a game (suites.gym): the eight actions in fixed sizes, images and pose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from esar_ros.geometry.frames import FARTHEST
from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import CAMERAS
from esar_ros.mission.object_goal import StepAction, StepKind
from esar_ros.planning.methods.models.strategy_map import MapDrawing
from esar_ros.scoring.object_goal import GoalOutcome
from esar_ros.suites.gym import Ending
from esar_ros.suites.moment_picture import draw_moment
from esar_ros.suites.uav_on.conditions import UavOnConditions
from esar_ros.suites.uav_on.flight import StepFlight
from esar_ros.suites.uav_on.result import make_goal_result
from esar_ros.suites.uav_on.scenes import find_task
from esar_ros.suites.uav_on.settings import load_suite_settings
from esar_ros.suites.uav_on.worlds.embedded import EmbeddedWorld, OpenScene

IMAGES = ("colour", "depth")
ACTIONS = tuple(StepKind)  # by number


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

    def reset(self, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """See suites.gym.Game. Nothing in an episode is drawn by lot: the seed changes nothing."""
        if self._opened is None:
            self._opened = OpenScene(self._task.scene, self._settings)
        episode, world = self._task.entry.episode, EmbeddedWorld(self._opened)
        self._flight = StepFlight(world, episode, self._task.id, UavOnConditions(), self._settings)
        self._seen = self._flight.reset()
        goal = episode.goal
        info = {"task": self._task.id, "name": goal.name, "size": goal.size, "description": goal.description}
        return self._arrays(), info

    def step(self, action: Any) -> tuple[dict[str, Any], Ending | None]:
        """See suites.gym.Game; the reward is 1 of a success under the public code's rules, else 0."""
        flight = self._flight
        self._seen = flight.step(StepAction(ACTIONS[int(action)]))
        if not flight.over:
            return self._arrays(), None
        assert self._opened is not None
        result = make_goal_result(self._task, flight.flown, UavOnConditions(), True, self._opened.map_digest)
        info = {"end": result.end, "outcome": result.outcome.value}
        success = float(result.outcome is GoalOutcome.SUCCESS)
        return self._arrays(), Ending(success, result.end == "step_limit", info)

    def picture(self) -> NDArray[np.uint8]:
        """See suites.gym.Game."""
        pose, task = self._seen.pose.pose, self._flight.task
        track = np.array([frame.commanded.position[:2] for frame in self._flight.flown.frames])
        scene = MapDrawing(
            here=pose.position[:2],
            yaw=pose.yaw,
            home=track[0],
            track=track,
            area=track[0] + task.half_side * np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]),
            candidates=(),
            clues=(),
            grid=None,
            belief=None,
        )
        colour: Any = self._seen.views.colour
        return draw_moment(dict(zip(CAMERAS, colour.values(), strict=True)), scene)

    def close(self) -> None:
        """See suites.gym.Game."""
        if self._opened is not None:
            self._opened.close()
        self._opened = None

    def _arrays(self) -> dict[str, Any]:
        pose = self._seen.pose
        arrays: dict[str, Any] = {"pose": np.array([*pose.position, pose.yaw])}
        for name in self._images:
            arrays[name] = np.stack(list(getattr(self._seen.views, name).values()))
        return arrays
