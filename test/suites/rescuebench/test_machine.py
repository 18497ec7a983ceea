"""The task's state machine: its gates, waiting, attempts, doors and ends, and what holds of every episode."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.rescue import Animation, Head, Phase, WalkAction
from esar_ros.scoring.rescue import Rules, stage_scores
from esar_ros.suites.rescuebench.machine import (
    ATTEMPTS,
    GATES,
    WAITING,
    Failure,
    Interaction,
    State,
    TaskMachine,
    WalkerState,
    lies_on_stretcher,
)
from helpers.rescue_toy import SECONDS, Toy, a_toy, wish

VICTIM, STRETCHER = (10.0, 0.0, 0.0), (-10.0, 0.0, 0.0)
AHEAD = WalkAction(1.0, 5.0, Head.UP, Animation.JUMP)


def at(x: float, y: float = 0.0, z: float = 0.0, yaw: float = 0.0, carrying: bool = False) -> WalkerState:
    return WalkerState(np.array([x, y, z]), yaw, carrying)


def machine(
    start: WalkerState | None = None,
    interaction: Interaction = Interaction.ACTIVE,
    rules: Rules = Rules.CODE,
    doors: tuple[tuple[float, float, float], ...] = (),
    time_limit: float = 100.0,
) -> TaskMachine:
    return TaskMachine(VICTIM, STRETCHER, start or at(0.0), time_limit, GATES[rules], interaction, doors)


def carried(drop_at: float) -> TaskMachine:
    """A machine whose walker carries and has just been told to put down at x = drop_at."""
    made = machine()
    made.command(AHEAD, at(5.0), 0.0)
    made.settle(at(9.5, carrying=True))
    made.command(AHEAD, at(9.5, carrying=True), 1.0)
    made.settle(at(drop_at, carrying=True))
    made.command(AHEAD, at(drop_at, carrying=True), 2.0)
    return made


@pytest.mark.parametrize(
    ("rules", "gap", "height", "picks"),
    [
        (Rules.CODE, 0.999, 0.0, True),
        (Rules.CODE, 1.0, 0.0, False),
        (Rules.CODE, 0.5, 2.199, True),
        (Rules.CODE, 0.5, 2.2, False),
        (Rules.CODE, 0.5, -2.2, False),
        (Rules.PAPER, 1.499, 0.0, True),
        (Rules.PAPER, 1.5, 0.0, False),
    ],
)
def test_the_gate_of_picking_up(rules: Rules, gap: float, height: float, picks: bool) -> None:
    made = machine(rules=rules)
    done = made.command(AHEAD, at(10.0 - gap, z=height), 0.0)
    if picks:
        assert (made.state, done) == (State.PICKING_UP, WalkAction(0.0, 0.0, Head.UP, Animation.CARRY))
    else:
        # The agent's own animation never takes effect in the active mode.
        assert (made.state, done) == (State.TO_VICTIM, WalkAction(1.0, 5.0, Head.UP))


@pytest.mark.parametrize(
    ("rules", "gap", "drops"),
    [(Rules.CODE, 1.999, True), (Rules.CODE, 2.0, False), (Rules.PAPER, 1.499, True), (Rules.PAPER, 1.5, False)],
)
def test_the_gate_of_putting_down(rules: Rules, gap: float, drops: bool) -> None:
    made = machine(rules=rules)
    made.command(AHEAD, at(0.0, carrying=True), 0.0)
    assert (made.state, made.phase) == (State.TO_STRETCHER, Phase.FIND_STRETCHER)
    done = made.command(AHEAD, at(-10.0 + gap, carrying=True), 1.0)
    assert (made.state is State.PUTTING_DOWN) is drops
    assert done.animation is (Animation.DROP if drops else Animation.STAND)


def test_waiting_and_attempts_after_a_trigger() -> None:
    """The animation is held for 30 steps, then tried 49 times, every tenth with a turn; the 50th attempt fails."""
    made = machine()
    here = at(9.5)
    made.command(AHEAD, here, 0.0)
    held = [made.command(AHEAD, here, 0.0) for _ in range(WAITING)]
    assert set(held) == {WalkAction(animation=Animation.CARRY)}
    tried = [made.command(AHEAD, here, 0.0) for _ in range(ATTEMPTS - 1)]
    assert {action.animation for action in tried} == {Animation.CARRY}
    turns = {number: action.angle for number, action in enumerate(tried, 1) if action.angle}
    assert turns == {10: 30.0, 20: -30.0, 30: 30.0, 40: -30.0}
    assert all(action.speed == 0.0 and action.head is Head.UP for action in tried)
    assert made.state is State.PICKING_UP
    assert made.command(AHEAD, here, 0.0) == AHEAD
    assert made.settle(here) and (made.state, made.failure) == (State.FAILED, Failure.CARRY)


def test_a_pick_is_noticed_after_the_waiting_alone() -> None:
    made = machine()
    made.command(AHEAD, at(9.5), 0.0)
    for _ in range(WAITING):
        made.command(AHEAD, at(9.5, carrying=True), 0.0)
        assert made.state is State.PICKING_UP
    assert made.command(AHEAD, at(9.5, carrying=True), 7.0) == AHEAD
    assert made.state is State.TO_STRETCHER
    search, back = made.phases(10.0)
    assert (search.steps, search.seconds, back.seconds) == (WAITING + 2, 7.0, 3.0)


def test_the_world_ends_a_drop_inside_the_gate_as_completed() -> None:
    made = carried(drop_at=-8.5)
    assert made.state is State.PUTTING_DOWN
    assert made.settle(at(-8.5), ended_by_world=True)
    assert (made.state, made.failure, made.dropped) == (State.COMPLETED, Failure.NONE, True)
    assert made.progress.handed_over


def test_the_world_ends_a_drop_outside_the_gate_as_incomplete() -> None:
    made = carried(drop_at=-8.5)
    assert made.settle(at(-7.5), ended_by_world=True)
    assert (made.state, made.failure) == (State.PUTTING_DOWN, Failure.ENDED_BY_WORLD)
    assert not made.progress.handed_over and made.over


def test_a_drop_that_the_world_does_not_end_is_confirmed_after_the_waiting() -> None:
    made = carried(drop_at=-8.5)
    for _ in range(WAITING):
        assert not made.settle(at(-8.5))
        made.command(AHEAD, at(-8.5), 3.0)
    assert not made.settle(at(-8.5))
    made.command(AHEAD, at(-8.5), 4.0)
    assert made.state is State.CONFIRMING
    assert made.settle(at(-8.5)) and made.state is State.COMPLETED


def test_passthrough_leaves_the_action_and_follows_what_is_carried() -> None:
    for place, state, failure in (
        (-8.5, State.COMPLETED, Failure.NONE),
        (-7.9, State.FAILED, Failure.OUT_OF_RANGE),
    ):
        made = machine(interaction=Interaction.PASSTHROUGH)
        for here in (at(0.0), at(9.5), at(9.5, carrying=True), at(place, carrying=True)):
            assert made.command(AHEAD, here, 0.0) == AHEAD
            assert not made.settle(here)
        made.command(AHEAD, at(place), 0.0)  # put down since
        assert made.settle(at(0.0))  # where the next step leads does not count
        assert (made.state, made.failure) == (state, failure)


def test_a_time_out_names_its_phase_and_is_seen_after_the_step() -> None:
    searching = machine(time_limit=3.0)
    searching.command(AHEAD, at(0.0), 3.0)
    assert not searching.settle(at(0.0))  # not yet beyond
    searching.command(AHEAD, at(0.0), 3.01)
    assert not searching.over
    assert searching.settle(at(0.0)) and searching.failure is Failure.TIMEOUT_SEARCH
    returning = machine(time_limit=3.0)
    returning.command(AHEAD, at(9.5, carrying=True), 4.0)
    assert returning.settle(at(9.5, carrying=True)) and returning.failure is Failure.TIMEOUT_RETURN
    with pytest.raises(RuntimeError, match="over"):
        returning.command(AHEAD, at(0.0), 5.0)


def test_collisions_stand_in_their_phase() -> None:
    made = machine()
    for carrying in (False, True):
        for _ in range(7):
            made.command(AHEAD, at(0.0, carrying=carrying), 0.0)
            made.settle(at(0.0, carrying=carrying), hit=True)
    search, back = made.phases(1.0)
    assert (search.collisions, back.collisions, made.collisions) == (2, 1, 3)


@pytest.mark.parametrize(
    ("door", "yaw", "speed", "opens"),
    [
        ((2.0, 0.0, 0.0), 0.0, 1.0, True),
        ((2.01, 0.0, 0.0), 0.0, 1.0, False),
        ((0.0, 1.0, 0.0), math.radians(56.0), 1.0, True),
        ((0.0, 1.0, 0.0), math.radians(54.0), 1.0, False),
        ((-1.0, 0.0, 0.0), math.pi - 0.01, 1.0, True),
        ((1.0, 0.0, 0.0), 0.0, 0.0, False),
        ((1.0, 0.0, 0.0), 0.0, -1.0, False),
        ((1.0, 0.0, 9.0), 0.0, 1.0, True),
    ],
)
def test_a_door_ahead_is_opened(door: tuple[float, float, float], yaw: float, speed: float, opens: bool) -> None:
    made = machine(doors=((50.0, 50.0, 0.0), door))
    done = made.command(WalkAction(speed), at(0.0, yaw=yaw), 0.0)
    assert done == (WalkAction(animation=Animation.OPEN_DOOR) if opens else WalkAction(speed))


def test_only_the_nearest_door_is_looked_at_and_not_again_for_twelve_steps() -> None:
    made = machine(doors=((1.0, 0.0, 0.0), (-0.5, 0.0, 0.0)))
    assert made.command(WalkAction(1.0), at(0.0), 0.0).animation is Animation.STAND  # the nearer is behind
    made = machine(doors=((1.0, 0.0, 0.0),))
    opened = [made.command(WalkAction(1.0), at(0.0), 0.0).animation is Animation.OPEN_DOOR for _ in range(25)]
    assert [number for number, opens in enumerate(opened) if opens] == [0, 12, 24]


def test_truth_is_withheld_unless_asked_for() -> None:
    made = machine()
    assert made.target(truth=False) is None
    assert made.target(truth=True) == pytest.approx(VICTIM)
    made.command(AHEAD, at(0.0, carrying=True), 0.0)
    assert made.target(truth=False) is None
    assert made.target(truth=True) == pytest.approx(STRETCHER)
    made.settle(at(0.0, carrying=True))
    made.command(AHEAD, at(-9.0, carrying=True), 0.0)
    made.settle(at(-9.0), ended_by_world=True)
    assert made.target(truth=True) is None


def test_the_world_ends_where_nobody_carries_a_victim_near_the_stretcher() -> None:
    assert lies_on_stretcher((1.9, 0.0, 0.0), (0.0, 0.0, 0.0), carried=False)
    assert not lies_on_stretcher((1.9, 0.0, 0.0), (0.0, 0.0, 0.0), carried=True)
    assert not lies_on_stretcher((1.5, 0.0, 1.5), (0.0, 0.0, 0.0), carried=False)  # 3D


def episode(toy: Toy, made: TaskMachine, hands: bool, limit: int) -> Iterator[WalkAction]:
    """Walks an episode to its end; yields what is carried out."""
    for number in count():
        goal = toy.stretcher if toy.carrying else toy.victim
        action = made.command(wish(toy, goal, hands), toy.walker, number * SECONDS)
        yield action
        toy.step(action)
        if made.settle(toy.walker, toy.hit, toy.ended):
            return
        assert number <= limit + 1


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(Interaction), st.sampled_from(Rules))
def test_what_holds_of_every_episode(seed: int, interaction: Interaction, rules: Rules) -> None:
    toy = a_toy(seed)
    limit = random.Random(seed).choice((20, 200))
    made = TaskMachine(toy.victim, toy.stretcher, toy.walker, float(limit), GATES[rules], interaction)
    for action in episode(toy, made, interaction is Interaction.PASSTHROUGH, limit):
        if interaction is Interaction.ACTIVE and action.animation is not Animation.STAND:
            assert made.state in (State.PICKING_UP, State.PUTTING_DOWN, State.TO_STRETCHER, State.CONFIRMING,
                                  State.FAILED)  # fmt: skip
    assert made.over
    assert (made.state is State.COMPLETED) == made.progress.handed_over
    assert (made.state is State.COMPLETED) == (made.failure is Failure.NONE)
    record = made.progress.record(0, 0, made.steps * SECONDS, made.steps, made.progress.handed_over)
    if record.completed:
        assert stage_scores(record, Rules.CODE).total == 100.0
    search, back = made.phases(made.steps * SECONDS)
    assert search.steps + back.steps == made.steps
    assert search.collisions + back.collisions == made.collisions
    assert search.seconds + back.seconds == pytest.approx(made.steps * SECONDS)
