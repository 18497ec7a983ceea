"""Base class of methods that decide step by step: one action is flown to its end, then the next is decided."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.decision import Decision, Goal, GoalType
from esar_ros.mission.observation import Brief, Observation
from esar_ros.planning.depth_view import corridor_clear, surface_points
from esar_ros.planning.discrete import ACTIONS, STOP, ActionSettings, Mover
from esar_ros.planning.flight_words import flight_words, place_words
from esar_ros.planning.leg import Leg, LegState
from esar_ros.planning.method import VIEWS
from esar_ros.planning.model.mind import Mind, Outcome, Thought
from esar_ros.planning.model.settings import ModelSettings
from esar_ros.planning.model.thinker import Thinker
from esar_ros.planning.parameters import check
from esar_ros.planning.reporting import ReportingSettings, ReportPolicy
from esar_ros.planning.sectors import mission_words

CLEARANCE = 3.0  # m around the way of a step that depth must show free


class StepSettings(ActionSettings):
    """Parameters of every step-by-step method."""

    reporting: ReportingSettings = Field(default_factory=ReportingSettings)


class ModelStepSettings(StepSettings):
    """Parameters of a step-by-step method that asks a model."""

    model: ModelSettings = Field(default_factory=ModelSettings)


@dataclass(frozen=True)
class Choice:
    """The next action and why. goal: a waypoint in place of the action's own."""

    action: str
    why: str
    amount: float | None = None  # m or degrees in place of the fixed step
    goal: Goal | None = None
    considered: int = len(ACTIONS)
    trouble: str = ""  # why it is not the model's


class ActionMethod(Thinker, ABC):
    """Base: climbs, flies each chosen action to its end, reports, stops. Subclasses think in `deliberate`."""

    name: str
    eligible = True
    needs: frozenset[str] = frozenset({VIEWS})
    asks_model: ClassVar[bool] = True
    settings_type: ClassVar[type[StepSettings]] = ModelStepSettings
    prompts: ClassVar[Sequence[str]] = ()  # all fixed words the model is given

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._settings = check(self.settings_type, parameters, self.name)
        self._policy = ReportPolicy(self._settings.reporting)
        self._mind: Mind[Choice] | None = None
        if isinstance(self._settings, ModelStepSettings):
            self._mind = Mind(self._settings.model, self.name, self.prompts)
            self.name = self._mind.method

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission. Raises UsageError when the brief cannot be worked with."""
        self._brief = brief
        self._mover = Mover(self._settings, brief)
        self._policy.reset(brief.report_cap)
        if self._mind is not None:
            self._mind.reset(brief)
        self._leg: Leg | None = None
        self._actions = 0
        self._refused: str | None = None  # the last action that could not be flown
        self._stopped = False
        self._track: list[Vector] = []  # places (3,) at every observation
        self.prepare()

    def act(self, observation: Observation) -> Decision:
        """Go on with the action under way, or think out the next."""
        return replace(self._decide(observation), reports=self._policy.reports(observation))

    # -- what a method does ---------------------------------------------------------------------

    def prepare(self) -> None:
        """Forget the last mission."""

    def look(self, observation: Observation) -> None:
        """Take in an observation; called once for each."""

    @abstractmethod
    def deliberate(self, observation: Observation) -> Thought[Choice]:
        """Choose the next action; asks the model if necessary."""

    # -- what methods use -----------------------------------------------------------------------

    @property
    def sends_images(self) -> tuple[int, int] | None:
        """Width (px) and quality of images to the model."""
        return self._mind.sends_images if self._mind is not None else None

    def situation(self, observation: Observation) -> str:
        """Returns the brief, and time, place, height, heading and way, as every question begins."""
        home = np.asarray(self._brief.home, dtype=np.float64)
        return f"{mission_words(self._brief)}\n{flight_words(observation, home, self._track)}"

    def place_words(self, observation: Observation) -> str:
        """Returns where the vehicle is, from the start."""
        return place_words(observation.pose.position, np.asarray(self._brief.home, dtype=np.float64))

    def action_words(self) -> str:
        """Returns what each action does."""
        settings = self._settings
        return (
            f"Actions: forward: {settings.step:g} m along the heading; left, right: {settings.step:g} m to that side, "
            f"heading kept; up, down: {settings.climb:g} m; turn_left, turn_right: {settings.turn_deg:g} degrees on "
            "the spot; stop ends the mission."
        )

    def safe_actions(self, observation: Observation) -> list[str]:
        """Actions whose path is inside the area and free as far as the depth images show; turns and stop always."""
        points = surface_points(observation.views.values())
        return [action for action in ACTIONS if self.is_safe(action, observation, points)]

    def is_safe(self, action: str, observation: Observation, points: NDArray[np.float64]) -> bool:
        """One of them; points (N, 3) as of depth_view.surface_points."""
        if action == STOP:
            return self._actions >= self._settings.stop_from_step
        goal = self._mover.goal(action, observation)
        return self.is_path_free(observation, self._end_of(goal, observation), points)

    def is_path_free(self, observation: Observation, end: Vector, points: NDArray[np.float64]) -> bool:
        """Returns whether the segment to a map-frame point (3,) stays inside the area and away from surfaces (N, 3)."""
        start = observation.pose.position
        if float(np.linalg.norm(end - start)) < 0.1:
            return True
        return self._mover.inside(end) and corridor_clear(points, start, end, CLEARANCE)

    def fallback(self, observation: Observation, why: str) -> Choice:
        """Without the model: straight on as long as the path is free, else to the freer side, else turn."""
        safe = [action for action in self.safe_actions(observation) if action != STOP]
        for action in ("forward", "left", "right", "turn_left"):
            if action in safe and action != self._refused:
                return Choice(action, f"fell back ({why}): the first free way", trouble=why)
        return Choice("turn_right", f"fell back ({why}): no way is free", trouble=why)

    # -- the loop -------------------------------------------------------------------------------

    def _end_of(self, goal: Goal, observation: Observation) -> Vector:
        """Returns the map-frame position (3,) of a waypoint above ground, for level ground."""
        ground = 0.0 if observation.height is None else observation.pose.position[2] - observation.height
        same = float(goal.position[2]) == self._mover.height
        z = observation.pose.position[2] if same else ground + goal.position[2]
        return np.array([goal.position[0], goal.position[1], z])

    def _decide(self, observation: Observation) -> Decision:
        if self._stopped:
            return Decision("stop", "stopped before", stop=True)
        self._track.append(observation.pose.position)
        self.look(observation)
        if self._leg is None:
            goal = self._mover.start(observation)
            self._leg = Leg(goal, self._settings.leg)
            return Decision("climb", "to search height", goal=goal, considered=1)
        state = self._leg.state(observation)
        thinking = self._mind is not None and self._mind.busy
        if state is LegState.FLYING and not thinking:
            return Decision("continue", "action under way")
        outcome = self._think(observation)
        if outcome is None:
            return Decision("think", "waiting for the model", thinking=True)
        blocked = f"{state.value}; " if state is LegState.BLOCKED else ""
        return self._carry_out(outcome, observation, blocked)

    def _think(self, observation: Observation) -> Outcome[Choice] | None:
        if self._mind is None:
            thought = self.deliberate(observation)
            try:
                next(thought)
            except StopIteration as end:
                return Outcome(end.value, "", 0, 0)
            raise RuntimeError(f"{self.name} asks a model without having one")
        if not self._mind.busy:
            self._mind.begin(self.deliberate(observation))
        return self._mind.poll(observation)

    def _carry_out(self, outcome: Outcome[Choice], observation: Observation, before: str) -> Decision:
        choice = outcome.value
        why = f"{before}{choice.why}"
        if outcome.trouble and outcome.trouble not in why:
            why = f"{why} [{outcome.trouble}]"
        self._actions += 1

        def decision(action: str, why: str, goal: Goal | None = None, stop: bool = False) -> Decision:
            costs = (choice.considered, outcome.tokens_in, outcome.tokens_out)
            return Decision(action, why, goal, (), stop, *costs, trouble=choice.trouble or outcome.trouble)

        if choice.action == STOP:
            first = self._settings.stop_from_step
            if self._actions <= first:
                return decision("stay", f"{why}; stop is not obeyed in the first {first} actions")
            self._stopped = True
            return decision(STOP, why, Goal(GoalType.HOLD), stop=True)
        goal = choice.goal or self._mover.goal(choice.action, observation, choice.amount)
        if not self._mover.inside(goal.position):
            self._refused = choice.action
            return decision(choice.action, f"{why}; not flown: it leaves the search area")
        self._refused = None
        self._mover.take(goal, observation)
        self._leg = Leg(goal, self._settings.leg)
        return decision(choice.action, why, goal)


def metres(value: float) -> str:
    """A range in words."""
    return "free" if not math.isfinite(value) else f"{value:.0f} m"
