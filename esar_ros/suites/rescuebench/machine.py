"""The task's state machine: two phases and six states, gates, waiting and attempts, doors, time-out; pure.

Source: Wu et al., RescueBench, 2026, section 2.1, and its public code. A step is `command` before the world goes on and
`settle` after it, fed with plain poses of the walker. Positions compared are the interaction position's, the camera's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from esar_ros.geometry.frames import Vector, vector, wrap_angle
from esar_ros.mission.rescue import Animation, Phase, WalkAction
from esar_ros.scoring.rescue import HAND_OVER, HEIGHT, HitCounter, Progress, Rules

WAITING = 30
"""Steps for which the animation is held after a trigger."""
ATTEMPTS = 50
"""Attempts after the waiting, of which the last fails."""
_WIGGLE = 10  # every so many attempts the walker turns
_TURN = 30.0  # degrees asked for then, to the left first
DOOR_DISTANCE = 2.0
"""m from a door within which it is opened."""
DOOR_HEADING = math.radians(35.0)
"""rad between the heading and the direction of the door."""
DOOR_COOL_DOWN = 12
"""Steps from one opening to the next."""
_MOVING = 1e-5  # m/s
ON_STRETCHER = 2.0
"""m in 3D between victim and stretcher at which the world ends an episode."""


class State(str, Enum):
    """States under the names of the public code."""

    TO_VICTIM = "NAVIGATE_TO_INJURED"
    PICKING_UP = "RESCUE_INJURED"
    TO_STRETCHER = "NAVIGATE_TO_STRETCHER"
    PUTTING_DOWN = "PLACE_ON_STRETCHER"
    CONFIRMING = "WAIT_ENV_CONFIRM"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"


class Failure(str, Enum):
    """Reasons under the names of the public code."""

    NONE = ""
    TIMEOUT_SEARCH = "TIMEOUT_PHASE1"
    TIMEOUT_RETURN = "TIMEOUT_PHASE2"
    CARRY = "CARRY_FAILED"
    DROP = "DROP_FAILED"
    OUT_OF_RANGE = "DROP_OUT_OF_RANGE"
    ENDED_BY_WORLD = "ENV_TERM_INCOMPLETE"


class Interaction(str, Enum):
    """Division of work: the task's machine or the agent picks up, puts down and opens doors."""

    ACTIVE = "active"  # the machine, where the agent walks into a gate
    PASSTHROUGH = "passthrough"  # the agent


@dataclass(frozen=True)
class Gates:
    """Level distances, m, below which something happens in the active mode, and what of a drop counts."""

    pick_up: float
    put_down: float
    hand_over: float  # m at which a drop counts
    own_drop: bool  # an agent's own drop counts that ends the episode in its step


GATES = {
    Rules.CODE: Gates(1.0, 2.0, HAND_OVER, own_drop=False),  # of its command line; its class has others
    Rules.PAPER: Gates(1.5, 1.5, 1.5, own_drop=True),  # without a gate of height, of which the code's is kept
}


@dataclass(frozen=True, eq=False)
class WalkerState:
    """The walker between two steps; map frame."""

    position: Vector  # (3,) m, of the camera
    yaw: float  # rad
    carrying: bool


@dataclass(frozen=True)
class PhaseFigures:
    """Figures of one phase."""

    seconds: float
    steps: int
    collisions: int


class TaskMachine:
    """One episode's states, progress and collisions."""

    def __init__(
        self,
        victim: ArrayLike,
        stretcher: ArrayLike,
        start: WalkerState,
        time_limit: float,
        gates: Gates = GATES[Rules.CODE],
        interaction: Interaction = Interaction.ACTIVE,
        doors: Sequence[ArrayLike] = (),
    ) -> None:
        """victim, stretcher, doors: positions (3,) m; time_limit: s."""
        self._victim, self._stretcher = vector(victim), vector(stretcher)
        self._time_limit, self._gates, self._interaction = time_limit, gates, interaction
        self._doors = np.array([vector(door) for door in doors]).reshape(-1, 3)
        self.progress = Progress(victim, stretcher, start.position, gates.hand_over)
        self.state, self.failure = State.TO_VICTIM, Failure.NONE
        self.steps = 0
        self.dropped = False  # nobody is carried any more
        self.ended_by_world = False
        self._hits = HitCounter()
        self._search_hits = 0
        self._picked_step = 0  # 0: not yet
        self._picked_time = 0.0  # s
        self._now = 0.0  # s, when the step began
        self._waiting = self._attempts = 0
        self._last_door = -DOOR_COOL_DOWN

    @property
    def phase(self) -> Phase:
        """Phase as the agent is told it; a finished episode is in the second."""
        searching = self.state in (State.TO_VICTIM, State.PICKING_UP)
        return Phase.FIND_INJURED if searching else Phase.FIND_STRETCHER

    @property
    def over(self) -> bool:
        """True once the episode has ended."""
        return self.ended_by_world or self.state in (State.COMPLETED, State.FAILED)

    @property
    def returning(self) -> bool:
        """True once the pick was noticed."""
        return self._picked_step > 0

    @property
    def collisions(self) -> int:
        """Collisions of the episode."""
        return self._hits.count

    def target(self, truth: bool) -> Vector | None:
        """Returns where what is sought is, (3,) m, to one that is given ground truth; None to others."""
        if not truth:
            return None
        if self.state in (State.TO_VICTIM, State.PICKING_UP):
            return self._victim
        return self._stretcher if self.state in (State.TO_STRETCHER, State.PUTTING_DOWN) else None

    def command(self, wanted: WalkAction, walker: WalkerState, now: float) -> WalkAction:
        """Returns the action that is carried out of the one that an agent wants; now: s since the start."""
        if self.over:
            raise RuntimeError("a command to an episode that is over")
        self.steps += 1
        self._now = now
        if self._interaction is Interaction.PASSTHROUGH:
            self._watch(walker)
            return wanted
        return self._act(wanted, walker)

    def settle(self, walker: WalkerState, hit: bool = False, ended_by_world: bool = False) -> bool:
        """Takes in what a step has led to; returns whether the episode is over.

        hit: something was walked against; ended_by_world: the world says that the victim lies on the stretcher.
        """
        self.progress.update(walker.position, walker.carrying)
        if self.state is State.CONFIRMING and not self.progress.confirm(walker.position):
            self._fail(Failure.OUT_OF_RANGE)
            return True
        if self._hits.update(hit):
            self._search_hits += self.phase is Phase.FIND_INJURED
        if self.progress.handed_over:
            self.state = State.COMPLETED
        elif self._now > self._time_limit:
            searching = self.phase is Phase.FIND_INJURED
            self._fail(Failure.TIMEOUT_SEARCH if searching else Failure.TIMEOUT_RETURN)
        elif ended_by_world:
            self._end(walker)
        return self.over

    def phases(self, seconds: float) -> tuple[PhaseFigures, PhaseFigures]:
        """Returns the figures of both phases of an episode that took so many s."""
        collisions = self.collisions - self._search_hits
        if not self.returning:
            return PhaseFigures(seconds, self.steps, self._search_hits), PhaseFigures(0.0, 0, collisions)
        search = PhaseFigures(self._picked_time, self._picked_step, self._search_hits)
        return search, PhaseFigures(seconds - self._picked_time, self.steps - self._picked_step, collisions)

    def _end(self, walker: WalkerState) -> None:
        """Ends the episode as the world did: completed where the victim was being put down inside the gate.

        The public code notices what an agent does by itself a step later. The world has ended the episode by then.
        """
        self.ended_by_world = True
        own = self._gates.own_drop and self.state is State.TO_STRETCHER
        if self.progress.picked and (own or self.state in (State.PUTTING_DOWN, State.CONFIRMING)):
            self.progress.put_down(walker.position)
            if self.progress.confirm(walker.position):
                self.state, self.failure, self.dropped = State.COMPLETED, Failure.NONE, True
                return
        self.failure = self.failure or Failure.ENDED_BY_WORLD

    def _watch(self, walker: WalkerState) -> None:
        """Follows what the agent does by what is carried."""
        if self.state is State.TO_VICTIM and walker.carrying:
            self._begin_return()
        elif self.state is State.TO_STRETCHER and not walker.carrying:
            self.state, self.dropped = State.CONFIRMING, True
            self.progress.put_down(walker.position)
            self.progress.confirm(walker.position)

    def _act(self, wanted: WalkAction, walker: WalkerState) -> WalkAction:
        """Returns the action of the active mode, and changes the state."""
        if self.state is State.TO_VICTIM:
            if walker.carrying:
                self._begin_return()
            elif self._within(self._victim, self._gates.pick_up, walker):
                return self._trigger(State.PICKING_UP, wanted, Animation.CARRY)
            elif self._opens_door(wanted, walker):
                return wanted.standing(Animation.OPEN_DOOR)
            return _walking(wanted)
        if self.state is State.TO_STRETCHER:
            if self._within(self._stretcher, self._gates.put_down, walker):
                self.progress.put_down(walker.position)
                return self._trigger(State.PUTTING_DOWN, wanted, Animation.DROP)
            if self._opens_door(wanted, walker):
                return wanted.standing(Animation.OPEN_DOOR)
            return _walking(wanted)
        if self.state is State.PICKING_UP:
            if self._waiting == 0 and walker.carrying:
                self._begin_return()
                return wanted
            return self._try_again(wanted, Animation.CARRY, Failure.CARRY)
        if self._waiting == 0 and not walker.carrying:  # putting down
            self.state, self.dropped = State.CONFIRMING, True
            return wanted
        return self._try_again(wanted, Animation.DROP, Failure.DROP)

    def _trigger(self, state: State, wanted: WalkAction, animation: Animation) -> WalkAction:
        self.state, self._attempts, self._waiting = state, 0, WAITING
        return wanted.standing(animation)

    def _try_again(self, wanted: WalkAction, animation: Animation, failure: Failure) -> WalkAction:
        """Returns the animation while waiting for it, then attempts of it."""
        if self._waiting > 0:
            self._waiting -= 1
            return WalkAction(animation=animation)
        self._attempts += 1
        if self._attempts >= ATTEMPTS:
            self._fail(failure)
            return wanted
        if self._attempts % _WIGGLE:
            return wanted.standing(animation)
        return wanted.standing(animation, _TURN if self._attempts % (2 * _WIGGLE) else -_TURN)

    def _begin_return(self) -> None:
        self.state = State.TO_STRETCHER
        self._picked_step, self._picked_time = self.steps, self._now

    def _fail(self, failure: Failure) -> None:
        self.state, self.failure = State.FAILED, failure

    def _within(self, target: Vector, distance: float, walker: WalkerState) -> bool:
        gap = walker.position - target
        return math.hypot(gap[0], gap[1]) < distance and abs(float(gap[2])) < HEIGHT

    def _opens_door(self, wanted: WalkAction, walker: WalkerState) -> bool:
        """Returns whether the nearest door is to be opened, and notes when it is."""
        if self.steps - self._last_door < DOOR_COOL_DOWN or wanted.speed <= _MOVING or not len(self._doors):
            return False
        gaps = self._doors[:, :2] - walker.position[:2]
        x, y = min(gaps.tolist(), key=lambda gap: math.hypot(*gap))
        bearing = math.atan2(y, x) if x or y else walker.yaw
        if math.hypot(x, y) > DOOR_DISTANCE or abs(wrap_angle(bearing - walker.yaw)) > DOOR_HEADING:
            return False
        self._last_door = self.steps
        return True


def _walking(wanted: WalkAction) -> WalkAction:
    """Returns an action without its animation: in the active mode those are the machine's."""
    return WalkAction(wanted.speed, wanted.angle, wanted.head)


def lies_on_stretcher(victim: ArrayLike, stretcher: ArrayLike, carried: bool) -> bool:
    """Returns whether the world ends an episode: nobody carries the victim, who is near the stretcher, (3,) m each."""
    return not carried and math.dist(vector(victim), vector(stretcher)) < ON_STRETCHER
