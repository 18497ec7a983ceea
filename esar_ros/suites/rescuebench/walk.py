"""One episode, step by step: an agent's action goes through the task's state machine, the world goes on for a step.

Source: Wu et al., RescueBench, 2026, and its public code. With the clock paused the world waits while an agent thinks,
and a step is a fixed time. With the clock running the last action stays in force for as long as the agent takes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from esar_ros.geometry.frames import Pose, Vector
from esar_ros.mission.rescue import (
    Animation,
    Head,
    PersonReport,
    Phase,
    RescuePoint,
    StandingPose,
    WalkAction,
    WalkObservation,
    WalkTask,
    WalkView,
)
from esar_ros.planning.agent_call import AgentError, Draw, StepCalls, stack_trace
from esar_ros.planning.steps.agent import Accountable
from esar_ros.planning.walk.agent import WalkAgent
from esar_ros.planning.walk.air_ground import Accompanied
from esar_ros.sim.walking.walker import TICK
from esar_ros.suites.rescuebench.conditions import RescueConditions
from esar_ros.suites.rescuebench.machine import GATES, TaskMachine, WalkerState


class WalkWorld(Protocol):
    """A world with one walker. Time passes in `step` alone."""

    @property
    def walker(self) -> WalkerState:
        """The walker as the task's rules see it: by its camera."""
        ...

    @property
    def body(self) -> StandingPose:
        """The middle of the walker's body."""
        ...

    @property
    def victim(self) -> Vector:
        """The victim's position, (3,) m."""
        ...

    @property
    def stretcher(self) -> Vector:
        """The stretcher's position, (3,) m."""
        ...

    @property
    def doors(self) -> tuple[Vector, ...]:
        """Positions of all doors, (3,) m each."""
        ...

    @property
    def ended(self) -> bool:
        """True when the victim lies on the stretcher and nobody carries them."""
        ...

    def set_up(self, point: RescuePoint) -> None:
        """Put everything of a task in its place and let the walker settle. Raises UsageError."""
        ...

    def step(self, action: WalkAction, seconds: float) -> bool:
        """Let the walker do an action for a time; returns whether it walked against something."""
        ...

    def view(self, draw: Draw) -> WalkView:
        """The image through the walker's eye."""
        ...

    def air_view(self, pose: Pose, draw: Draw) -> WalkView:
        """The image of a drone's camera whose optical frame has this pose in the map."""
        ...


@dataclass(frozen=True, eq=False)
class WalkedFrame:
    """Frame t: the body after action t; frame 0 is the start."""

    action: WalkAction | None  # as it was carried out
    body: StandingPose


@dataclass
class WalkedEpisode:
    """An episode as it was walked."""

    machine: TaskMachine
    frames: list[WalkedFrame]
    seconds: float = 0.0  # simulated
    account: dict[str, int] = field(default_factory=dict)  # see planning.steps.agent.Accountable
    error: str | None = None  # what the agent failed with
    trace: str = field(default="", repr=False)  # where


def walk(
    world: WalkWorld,
    point: RescuePoint,
    id: str,
    agent: WalkAgent,
    seed: int,
    conditions: RescueConditions,
    in_agent: Callable[[bool], None] = lambda inside: None,
    now: Callable[[], float] = time.monotonic,
) -> WalkedEpisode:
    """Walks an episode to its end. Raises UsageError for what cannot be walked.

    id: what the agent is told of the task's name; in_agent: called with True before and False after each call of it;
    now: s, by which a running clock measures how long the agent takes, with the drawing of what it looks at.
    """
    world.set_up(point)
    calls, gates, truth = StepCalls(in_agent), GATES[conditions.rules], conditions.truth == "target_pose"
    machine = TaskMachine(
        world.victim, world.stretcher, world.walker, point.time_limit, gates, conditions.interaction, world.doors
    )
    walked = WalkedEpisode(machine, [WalkedFrame(None, world.body)])
    task = WalkTask(
        id, point.level, point.description, point.time_limit, conditions.step, gates.pick_up, gates.put_down
    )

    scout = agent.scout if isinstance(agent, Accompanied) else None

    def reports() -> tuple[PersonReport, ...]:
        assert scout is not None
        if machine.phase is not Phase.FIND_INJURED:
            return ()
        return scout.fly(walked.seconds, lambda pose: world.air_view(pose, calls.draw))

    def observe() -> WalkObservation:
        return WalkObservation(
            machine.steps,
            walked.seconds,
            machine.phase,
            world.walker.carrying,
            world.body,
            world.view(calls.draw),
            machine.target(truth),
            () if scout is None else calls.ask(reports),
        )

    running, action = conditions.clock == "running", WalkAction()
    try:
        calls.ask(lambda: agent.reset(task, seed))
        if scout is not None:
            calls.ask(lambda: scout.reset(world.body))
        while not machine.over:
            asked, observation = now(), observe()
            wanted = calls.ask(lambda: _checked(agent.act(observation)))  # noqa: B023
            hit = False
            if running:
                thought = min(_whole_ticks(now() - asked), task.time_limit + TICK)  # who never answers is out of time
                hit = world.step(action, thought)
                walked.seconds += thought
            action = machine.command(wanted, world.walker, walked.seconds)
            hit |= world.step(action, TICK if running else conditions.step)
            walked.seconds = walked.seconds + TICK if running else machine.steps * conditions.step
            walked.frames.append(WalkedFrame(action, world.body))
            machine.settle(world.walker, hit, world.ended)
        if isinstance(agent, Accountable):
            walked.account = calls.ask(lambda: {str(key): int(value) for key, value in agent.account.items()})
    except AgentError as failure:
        walked.error, walked.trace = str(failure), stack_trace(failure)
    return walked


def _whole_ticks(seconds: float) -> float:
    return math.ceil(seconds / TICK) * TICK


def _checked(action: Any) -> WalkAction:
    """Returns an agent's answer with what takes effect of it. Raises ValueError unless it is an action."""
    if not isinstance(action, WalkAction):
        raise ValueError(f"its answer is no action: {repr(action)[:100]}")
    clipped = action.clipped()
    if clipped.speed != clipped.speed or clipped.angle != clipped.angle:
        raise ValueError("its speed or its angle is no number")
    return WalkAction(float(clipped.speed), float(clipped.angle), Head(clipped.head), Animation(clipped.animation))
