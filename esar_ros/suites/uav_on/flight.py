"""One episode, step by step: an agent's action becomes the next commanded pose, the world flies there, contacts count.

Source: Xiao et al., UAV-ON, 2025, section 3, and its public code: each commanded pose follows from the last commanded
one, not from where the vehicle is; an episode ends with a stop, a contact (the ground's too) or its last action.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from esar_ros.geometry.frames import Pose
from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import (
    ObjectGoalEpisode,
    StepAction,
    StepKind,
    StepObservation,
    StepPose,
    StepTask,
    StepViews,
)
from esar_ros.planning.agent_call import AgentError, Draw, StepCalls, stack_trace
from esar_ros.planning.method import details_of
from esar_ros.planning.steps.agent import Accountable, StepAgent
from esar_ros.scoring.object_goal import TERMS
from esar_ros.suites.uav_on.conditions import UavOnConditions
from esar_ros.suites.uav_on.settings import SuiteSettings


@dataclass(frozen=True)
class Look:
    """The form in which images are given to an agent."""

    depth: str  # as in UavOnConditions
    truth: bool  # labels may be asked for


class StepWorld(Protocol):
    """A world with one vehicle that is told where to be. Time passes in its calls alone."""

    @property
    def seconds(self) -> float:
        """Simulated so far, s."""
        ...

    @property
    def measured(self) -> Pose:
        """The vehicle's pose (FLU) in the map."""
        ...

    def is_free(self, pose: Pose) -> bool:
        """Returns whether the vehicle would touch nothing at a pose."""
        ...

    def place(self, pose: Pose) -> None:
        """Put the vehicle into the air and let it settle; touching meanwhile does not count."""
        ...

    def fly(self, target: StepPose, seconds: float) -> None:
        """Fly to a pose until it is reached, something is touched or a time (s) is over, then hover."""
        ...

    def hover(self) -> None:
        """Stay for the time of a stop."""
        ...

    def touched(self) -> bool:
        """Returns whether anything was touched since the last question."""
        ...

    def images(self, told: Pose, look: Look, draw: Draw) -> StepViews:
        """Images where the vehicle is; told: its pose as the agent is told it."""
        ...


@dataclass(frozen=True)
class FlownFrame:
    """Frame t: the poses (FLU in the map) after action t; frame 0 is the start."""

    kind: StepKind | None
    size: float  # m or degrees
    contact: bool
    commanded: Pose
    measured: Pose


@dataclass
class FlownEpisode:
    """An episode as it was flown."""

    frames: list[FlownFrame]
    stopped: bool = False
    contact_at_stop: bool = False
    error: str | None = None  # what the agent failed with
    trace: str = ""  # where
    seconds: float = 0.0  # simulated
    details: dict[str, str] = field(default_factory=dict)  # see planning.method.HasDetails
    account: dict[str, int] = field(default_factory=dict)  # see planning.steps.agent.Accountable


def not_free(episode: ObjectGoalEpisode) -> UsageError:
    """Returns what is said of an episode that starts inside something."""
    return UsageError(f"episode {episode.id} of {episode.scene}: its start is not free", "mend start_pose")


class StepFlight:
    """Flies one episode by actions: `reset`, then a `step` for every action until it is `over`."""

    def __init__(
        self,
        world: StepWorld,
        episode: ObjectGoalEpisode,
        id: str,
        conditions: UavOnConditions,
        settings: SuiteSettings,
        truth: bool = False,
        draw: Draw = lambda draw: draw(),
    ) -> None:
        """id: what is told of the task's name; truth: labels may be asked for; draw: draws an image."""
        self._world, self._episode, self._id = world, episode, id
        self._conditions, self._settings = conditions, settings
        self._look, self._draw = Look(conditions.depth, truth), draw
        self._terms = TERMS[conditions.terms]
        self.over = True

    def reset(self) -> StepObservation:
        """Begins the episode and returns what is seen at its start. Raises UsageError for what cannot be flown."""
        self.over = True  # until all of what follows has come about
        world, episode = self._world, self._episode
        start = self._commanded = StepPose.of(episode.start)
        if not world.is_free(start.pose):
            raise not_free(episode)
        world.place(start.pose)
        self.flown = FlownEpisode([FlownFrame(None, 0.0, False, start.pose, world.measured)])
        # Axes stay the map's, tilted start or not: the box lies along them, and up is up.
        self._frame = Pose(-start.position) if self._conditions.pose == "relative" else Pose()
        self.task = StepTask(
            self._id,
            episode.goal,
            StepPose.of(self._frame.compose(start.pose)),
            self._settings.half_side,
            self._terms.actions,
            MappingProxyType(self._settings.sizes),
            self._terms.near,
        )
        seen = self._observe()
        self.over = False
        return seen

    def step(self, action: StepAction) -> StepObservation:
        """Flies an action and returns what is seen then.

        Raises ValueError for what is no action, RuntimeError when no episode is under way.
        """
        if self.over:
            raise RuntimeError("no episode is under way: call reset")
        world, flown = self._world, self.flown
        action = checked(action, self._settings.largest)
        if action.kind is StepKind.STOP:
            world.hover()
            flown.stopped, flown.contact_at_stop, self.over = True, world.touched(), True
        else:
            size = self.task.size(action)
            self._commanded = self._commanded.after(action.kind, size)
            world.fly(self._commanded, self._conditions.step_time)
            contact = world.touched()
            flown.frames.append(FlownFrame(action.kind, size, contact, self._commanded.pose, world.measured))
            self.over = contact or len(flown.frames) > self._terms.actions
        flown.seconds = world.seconds
        return self._observe()

    def _observe(self) -> StepObservation:
        pose = self._commanded.pose if self._conditions.poses == "commanded" else self._world.measured
        told = self._frame.compose(pose)
        views = self._world.images(told, self._look, self._draw)
        return StepObservation(len(self.flown.frames) - 1, StepPose.of(told), views)


def fly(
    world: StepWorld,
    episode: ObjectGoalEpisode,
    id: str,
    agent: StepAgent,
    seed: int,
    conditions: UavOnConditions,
    settings: SuiteSettings,
    in_agent: Callable[[bool], None] = lambda inside: None,
    truth: bool = False,
) -> FlownEpisode:
    """Flies an agent through an episode (see StepFlight). Raises UsageError for what cannot be flown.

    in_agent: called with True before and False after each call of the agent.
    """
    calls = StepCalls(in_agent)
    flight = StepFlight(world, episode, id, conditions, settings, truth, calls.draw)
    seen = flight.reset()
    flown = flight.flown
    try:
        calls.ask(lambda: agent.reset(flight.task, seed))
        flown.details = calls.ask(lambda: _details(agent))
        while not flight.over:
            action = calls.ask(lambda: checked(agent.act(seen), settings.largest))  # noqa: B023
            seen = flight.step(action)
        flown.account = calls.ask(lambda: _account(agent))
    except AgentError as failure:
        flown.error, flown.trace = str(failure), stack_trace(failure)
    flown.seconds = world.seconds
    return flown


def checked(action: Any, largest: float) -> StepAction:
    """Returns an agent's answer, its size as a float. Raises ValueError unless it is an action of a possible size."""
    if not isinstance(action, StepAction) or not isinstance(action.kind, StepKind):
        raise ValueError(f"its answer is no action: {repr(action)[:100]}")
    if action.size is None:
        return action
    size = float(action.size)
    if not 0.0 <= size <= largest:
        raise ValueError(f"{action.kind.value} of {size:g}, not between 0 and {largest:g}")
    return StepAction(action.kind, size)


def _details(agent: StepAgent) -> dict[str, str]:
    """Returns the details that results give of an agent beside its name; the day is in no result."""
    return {str(key): str(value) for key, value in details_of(agent).items() if key != "date"}


def _account(agent: StepAgent) -> dict[str, int]:
    account = dict(agent.account) if isinstance(agent, Accountable) else {}
    return {str(key): int(value) for key, value in account.items()}
