"""One episode, step by step: an agent's action becomes the next commanded pose, the world flies there, contacts count.

Source: Xiao et al., UAV-ON, 2025, section 3, and its public code: each commanded pose follows from the last commanded
one, not from where the vehicle is; an episode ends with a stop, a contact (the ground's too) or 150 actions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from esar_ros.benchmark.engine.agent import AgentError, Draw, StepCalls, stack_trace
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
from esar_ros.planning.method import Detailed
from esar_ros.planning.steps.agent import Accountable, StepAgent
from esar_ros.scoring.object_goal import MAX_ACTIONS
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
    details: dict[str, str] = field(default_factory=dict)  # see planning.method.Detailed
    account: dict[str, int] = field(default_factory=dict)  # see planning.steps.agent.Accountable


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
    """Flies an episode to its end. Raises UsageError for what cannot be flown.

    id: what the agent is told of the task's name; in_agent: called with True before and False after each call of it;
    truth: it may ask for labels.
    """
    calls, look = StepCalls(in_agent), Look(conditions.depth, truth)
    start = commanded = StepPose.of(episode.start)
    if not world.is_free(start.pose):
        raise UsageError(f"episode {episode.id} of {episode.scene}: its start is not free", "mend start_pose")
    world.place(start.pose)
    flown = FlownEpisode([FlownFrame(None, 0.0, False, start.pose, world.measured)])
    # Axes stay the map's, tilted start or not: the box lies along them, and up is up.
    frame = Pose(-start.position) if conditions.pose == "relative" else Pose()
    task = StepTask(
        id,
        episode.goal,
        StepPose.of(frame.compose(start.pose)),
        settings.half_side,
        MAX_ACTIONS,
        MappingProxyType(settings.sizes),
    )

    def observe(number: int) -> StepObservation:
        pose = commanded.pose if conditions.poses == "commanded" else world.measured
        told = frame.compose(pose)
        return StepObservation(number, StepPose.of(told), world.images(told, look, calls.draw))

    try:
        calls.ask(lambda: agent.reset(task, seed))
        flown.details = calls.ask(lambda: _details(agent))
        for number in range(MAX_ACTIONS):
            observation = observe(number)
            action = calls.ask(lambda: _checked(agent.act(observation), settings.largest))  # noqa: B023
            if action.kind is StepKind.STOP:
                world.hover()
                flown.stopped, flown.contact_at_stop = True, world.touched()
                break
            size = task.size(action)
            commanded = commanded.after(action.kind, size)
            world.fly(commanded, conditions.step_time)
            flown.frames.append(FlownFrame(action.kind, size, world.touched(), commanded.pose, world.measured))
            if flown.frames[-1].contact:
                break
        flown.account = calls.ask(lambda: _account(agent))
    except AgentError as failure:
        flown.error, flown.trace = str(failure), stack_trace(failure)
    flown.seconds = world.seconds
    return flown


def _checked(action: Any, largest: float) -> StepAction:
    """An agent's answer, its size as a float. Raises ValueError unless it is an action of a possible size."""
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
    details = dict(agent.details) if isinstance(agent, Detailed) else {}
    return {str(key): str(value) for key, value in details.items() if key != "date"}


def _account(agent: StepAgent) -> dict[str, int]:
    account = dict(agent.account) if isinstance(agent, Accountable) else {}
    return {str(key): int(value) for key, value in account.items()}
