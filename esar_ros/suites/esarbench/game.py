"""A mission of ESARBench as a game (suites.gym): a goal once a second, reports, and what a method is told."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from esar_ros.benchmark.engine.episode import fly_episode
from esar_ros.benchmark.engine.mission import PRESETS
from esar_ros.geometry.frames import FARTHEST
from esar_ros.mission.clues import KINDS, PERSON
from esar_ros.mission.decision import Decision, Report, ReportType
from esar_ros.mission.names import CAMERAS, DEFAULT_DETECTOR
from esar_ros.mission.observation import Brief, Observation, SeenClue
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.perception.detectors.chosen import about_chosen
from esar_ros.planning.leg import waypoint
from esar_ros.planning.method import VIEWS
from esar_ros.scoring.truth import End
from esar_ros.suites.esarbench.suite import ESARBENCH
from esar_ros.suites.esarbench.tasks.validation import load_valid_task

OBJECTS = 32  # that are told, the surest first
REACH = 50.0  # m, of a goal from the vehicle along east and north
HEIGHTS = (5.0, 120.0)  # m above ground, of a goal
SPEED = 5.0  # m/s


@dataclass(frozen=True)
class MissionEnding:
    """See suites.gym.Ending; the reward is the mission's RS."""

    observation: dict[str, Any]
    reward: float
    truncated: bool
    info: dict[str, Any]


class MissionGame:
    """One task (suites.gym.Game)."""

    def __init__(self, task: str, images: bool = False, detector: str = DEFAULT_DETECTOR) -> None:
        """images: colour and planar depth of the four cameras, 320x240, are told too. Raises UsageError."""
        about_chosen(detector)
        self._task = load_valid_task(task)
        self._conditions = RunConditions(preset="fast", detector=detector)
        self._images = images
        self._brief: Brief | None = None
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

    @property
    def info(self) -> dict[str, Any]:
        """The brief."""
        assert self._brief is not None
        brief = self._brief
        return {"prompt": brief.prompt, "t_max": brief.t_max, "area": brief.area, "home": brief.home}

    def fly(self, seed: int, ask: Callable[[Any], Any]) -> MissionEnding:
        """See suites.gym.Game."""
        caller = _Caller(self, ask)
        flown = fly_episode(ESARBENCH, self._task, caller.name, seed, self._conditions, method=caller)
        result = flown.result
        info = {"end": result.end.value, "error": result.error, "metrics": result.metrics.model_dump()}
        last = {name: array.copy() for name, array in caller.last.items()}  # nothing is looked at after the end
        return MissionEnding(last, float(result.metrics.rs), result.end is End.TIMEOUT, info)

    def close(self) -> None:
        """Every mission has given back what it held."""

    def begin(self, brief: Brief) -> None:
        """Keep the brief of the mission that begins."""
        self._brief = brief

    def arrays(self, seen: Observation, objects: list[SeenClue]) -> dict[str, Any]:
        """An observation in the spaces' form: of an object position (m), probability, number of its kind and views."""
        rows = np.zeros((OBJECTS, 6))
        for row, clue in zip(rows, objects, strict=False):
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
            told["colour"] = np.stack([seen.views[name].image for name in CAMERAS])
            depth = np.stack([seen.views[name].depth for name in CAMERAS])
            told["depth"] = np.maximum(np.nan_to_num(depth, nan=0.0, posinf=np.inf), 0.0).astype(np.float32)
        return told

    @property
    def needs(self) -> frozenset[str]:
        """See planning.method.Method."""
        return frozenset({VIEWS}) if self._images else frozenset()


class _Caller:
    """The method that is whoever calls."""

    name = "gym"
    eligible = True

    def __init__(self, game: MissionGame, ask: Callable[[Any], Any]) -> None:
        self._game, self._ask = game, ask
        self.needs = game.needs
        self.last: dict[str, Any] = {}

    def reset(self, brief: Brief, seed: int) -> None:
        """Keep the brief."""
        self._game.begin(brief)

    def act(self, observation: Observation) -> Decision:
        """Ask; a report names an object by its place among those told, from 1."""
        objects = sorted(observation.clues, key=lambda clue: (-clue.probability, clue.id))[:OBJECTS]
        self.last = self._game.arrays(observation, objects)
        action = self._ask(self.last)
        east, north, height, yaw = (float(v) for v in action["goal"])
        x, y = observation.pose.position[:2]
        chosen = int(action["report"])
        reports = tuple(_report(clue) for clue in objects[chosen - 1 : chosen] if chosen)
        return Decision(
            "goal", "as asked", waypoint(x + east, y + north, height, SPEED, yaw), reports, stop=bool(action["stop"])
        )


def _report(clue: SeenClue) -> Report:
    kind = ReportType.VICTIM if clue.kind == PERSON else ReportType.CLUE
    return Report(kind, clue.kind, clue.text or clue.kind.replace("_", " "), clue.position.copy(), clue.probability)
