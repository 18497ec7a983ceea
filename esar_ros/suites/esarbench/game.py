"""A mission of ESARBench as a game (suites.gym): a goal once a second, reports, and what a method is told."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from esar_ros.benchmark.engine.mission import Caller, Mission
from esar_ros.geometry.frames import FARTHEST
from esar_ros.mission.clues import KINDS, PERSON
from esar_ros.mission.decision import Decision, Report, ReportType
from esar_ros.mission.names import CAMERAS, DEFAULT_DETECTOR, PRESETS
from esar_ros.mission.observation import Observation, SeenClue
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.perception.detectors.chosen import about_chosen
from esar_ros.planning.leg import waypoint
from esar_ros.planning.method import VIEWS
from esar_ros.planning.methods.models.strategy_map import MapDrawing
from esar_ros.planning.reporting import shared_settings
from esar_ros.scoring.truth import End
from esar_ros.suites.esarbench.suite import ESARBENCH
from esar_ros.suites.esarbench.tasks.validation import load_valid_task
from esar_ros.suites.gym import Ending
from esar_ros.suites.moment_picture import draw_moment

OBJECTS = 32  # that are told, the surest first
REACH = 50.0  # m, of a goal from the vehicle along east and north
HEIGHTS = (5.0, 120.0)  # m above ground, of a goal
SPEED = 5.0  # m/s


class MissionGame:
    """One task (suites.gym.Game)."""

    def __init__(self, task: str, images: bool = False, detector: str = DEFAULT_DETECTOR) -> None:
        """images: colour and planar depth of the four cameras, 320x240, are told too. Raises UsageError."""
        about_chosen(detector)
        self._task = load_valid_task(task)
        self._images = images
        caller = Caller("gym", needs=frozenset({VIEWS} if images else ()))
        self._mission = Mission(ESARBENCH, RunConditions(preset="fast", detector=detector), caller)
        width, height = PRESETS["fast"]
        far = FARTHEST
        told: dict[str, spaces.Space[Any]] = {
            "pose": spaces.Box(-far, far, (4,), np.float64),
            "velocity": spaces.Box(-far, far, (3,), np.float64),
            "height": spaces.Box(-1.0, far, (1,), np.float64),
            "battery": spaces.Box(0.0, 1.0, (1,), np.float64),
            "elapsed": spaces.Box(0.0, far, (1,), np.float64),
            "pilot": spaces.MultiBinary(3),
            "objects": spaces.Box(-far, far, (OBJECTS, 6), np.float64),
        }
        if images:
            told["colour"] = spaces.Box(0, 255, (len(CAMERAS), height, width, 3), np.uint8)
            told["depth"] = spaces.Box(0.0, np.inf, (len(CAMERAS), height, width), np.float32)
        self.observation_space = spaces.Dict(told)
        low = np.array([-REACH, -REACH, HEIGHTS[0], -math.pi])
        high = np.array([REACH, REACH, HEIGHTS[1], math.pi])
        self.action_space = spaces.Dict(
            {
                "goal": spaces.Box(low, high, dtype=np.float64),
                "report": spaces.Discrete(OBJECTS + 1),
                "stop": spaces.Discrete(2),
            }
        )

    def reset(self, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """See suites.gym.Game."""
        self._seen = self._mission.reset(self._task, seed)
        brief = self._mission.brief
        return self._arrays(), {"prompt": brief.prompt, "t_max": brief.t_max, "area": brief.area, "home": brief.home}

    def step(self, action: dict[str, Any]) -> tuple[dict[str, Any], Ending | None]:
        """See suites.gym.Game; the reward is the mission's RS. A report names an object by its place, from 1."""
        seen, mission = self._seen, self._mission
        east, north, height, yaw = (float(v) for v in action["goal"])
        x, y = seen.pose.position[:2]
        chosen = int(action["report"])
        reports = tuple(_report(clue) for clue in _surest(seen)[chosen - 1 : chosen] if chosen)
        goal = waypoint(x + east, y + north, height, SPEED, yaw)
        self._seen = mission.step(Decision("goal", "as asked", goal, reports, stop=bool(action["stop"])))
        if not mission.ended:
            return self._arrays(), None
        result = mission.result().result
        info = {"end": result.end.value, "error": result.error, "metrics": result.metrics.model_dump()}
        return self._arrays(), Ending(float(result.metrics.rs), result.end is End.TIMEOUT, info)

    def picture(self) -> NDArray[np.uint8]:
        """See suites.gym.Game."""
        seen, brief, mission, settings = self._seen, self._mission.brief, self._mission, shared_settings()
        scene = MapDrawing(
            here=seen.pose.position[:2],
            yaw=seen.pose.yaw,
            home=brief.home[:2],
            track=mission.track,
            area=brief.area,
            candidates=(),
            clues=[clue for clue in _surest(seen) if not settings.is_candidate(clue.kind, clue.probability)],
            grid=mission.grid(),
            belief=None,
        )
        return draw_moment(mission.pictures(), scene)

    def close(self) -> None:
        """See suites.gym.Game."""
        self._mission.close()

    def _arrays(self) -> dict[str, Any]:
        """The observation in the spaces' form: of an object position (m), probability, number of its kind and views."""
        seen = self._seen
        rows = np.zeros((OBJECTS, 6))
        for row, clue in zip(rows, _surest(seen), strict=False):
            row[:] = [*clue.position, clue.probability, KINDS.index(clue.kind), clue.views]
        told: dict[str, Any] = {
            "pose": np.array([*seen.pose.position, seen.pose.yaw]),
            "velocity": np.array(seen.velocity, dtype=np.float64),
            "height": np.array([-1.0 if seen.height is None else seen.height]),
            "battery": np.array([seen.battery]),
            "elapsed": np.array([seen.elapsed]),
            "pilot": np.array([seen.goal_reached, seen.goal_blocked, seen.held_by_safety], dtype=np.int8),
            "objects": rows,
        }
        if self._images:
            told["colour"] = np.stack([seen.views[name].rgb for name in CAMERAS])
            depth = np.stack([seen.views[name].depth for name in CAMERAS])
            told["depth"] = np.maximum(np.nan_to_num(depth, nan=0.0, posinf=np.inf), 0.0).astype(np.float32)
        return told


def _surest(seen: Observation) -> list[SeenClue]:
    """Returns the objects that are told, the surest first."""
    return sorted(seen.clues, key=lambda clue: (-clue.probability, clue.id))[:OBJECTS]


def _report(clue: SeenClue) -> Report:
    kind = ReportType.VICTIM if clue.kind == PERSON else ReportType.CLUE
    return Report(kind, clue.kind, clue.text or clue.kind.replace("_", " "), clue.position.copy(), clue.probability)
