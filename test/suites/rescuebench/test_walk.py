"""An episode step by step in a flat world of points: what agents are told, what they cause, and how it ends."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose, Vector
from esar_ros.mission.rescue import (
    Animation,
    PersonReport,
    Phase,
    RescuePoint,
    StandingPose,
    WalkAction,
    WalkObservation,
    WalkTask,
    WalkView,
)
from esar_ros.planning.agent_call import Draw
from esar_ros.planning.walk.air_ground import Look
from esar_ros.scoring.rescue import Rules, code_scores
from esar_ros.suites.rescuebench.conditions import RescueConditions
from esar_ros.suites.rescuebench.machine import GATES, Failure, Interaction, State, WalkerState
from esar_ros.suites.rescuebench.walk import WalkedEpisode, walk
from helpers.rescue_toy import Toy
from helpers.rescuebench import a_point

CONDITIONS = RescueConditions(step=1.0)


class FlatWorld:
    """The toy as a world (walk.WalkWorld), in which hands always work."""

    doors: tuple[Vector, ...] = ()

    def set_up(self, point: RescuePoint) -> None:
        victim, stretcher = point.victim.position, point.stretcher.position
        self.toy = Toy(random.Random(0), victim, stretcher, point.start.position, point.start.yaw, luck=1.0)

    @property
    def walker(self) -> WalkerState:
        return self.toy.walker

    @property
    def body(self) -> StandingPose:
        return StandingPose(self.toy.position, self.toy.yaw)

    @property
    def victim(self) -> Vector:
        return self.toy.victim

    @property
    def stretcher(self) -> Vector:
        return self.toy.stretcher

    @property
    def ended(self) -> bool:
        return self.toy.ended

    def step(self, action: WalkAction, seconds: float) -> bool:
        self.toy.step(action)
        return False

    def view(self, draw: Draw) -> WalkView:
        return View(draw)  # type: ignore[return-value]

    def air_view(self, pose: Pose, draw: Draw) -> WalkView:
        raise AssertionError("nobody looks")


class View:
    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    @property
    def colour(self) -> object:
        def fail() -> object:
            raise OSError("no graphics")

        return self._draw(fail)


class Agent:
    """Walks to a goal that it is told or knows; keeps what it saw."""

    name = "test"
    eligible = True

    def __init__(self, act: Callable[[WalkObservation], WalkAction]) -> None:
        self._act = act
        self.seen: list[WalkObservation] = []

    def reset(self, task: WalkTask, seed: int) -> None:
        self.task, self.seed = task, seed

    def act(self, observation: WalkObservation) -> WalkAction:
        self.seen.append(observation)
        return self._act(observation)


def towards(goal: Vector, observation: WalkObservation, animation: Animation = Animation.STAND) -> WalkAction:
    x, y = (goal - observation.pose.position)[:2]
    off = math.degrees(math.remainder(math.atan2(y, x) - observation.pose.yaw, math.tau)) / 2.8
    return WalkAction(1.0 if abs(off) < 10.0 else 0.0, off, animation=animation)


def knowing(observation: WalkObservation) -> WalkAction:
    """The action of one who knows the point."""
    point = a_point()
    searching = observation.phase is Phase.FIND_INJURED
    goal = point.victim if searching else point.stretcher
    near = math.dist(goal.position[:2], observation.pose.position[:2]) < 1.5
    hands = Animation.CARRY if searching else Animation.DROP
    return towards(goal.position, observation, hands if near else Animation.STAND)


def walked(agent: Agent, conditions: RescueConditions = CONDITIONS) -> WalkedEpisode:
    return walk(FlatWorld(), a_point(), "L1-0", agent, 7, conditions)


@pytest.mark.parametrize("rules", Rules, ids=lambda rules: rules.value)
@pytest.mark.parametrize("interaction", Interaction, ids=lambda mode: mode.value)
def test_one_who_knows_the_way_hands_over(interaction: Interaction, rules: Rules) -> None:
    agent = Agent(knowing)
    found = walked(agent, RescueConditions(rules, interaction, step=1.0))
    machine = found.machine
    assert found.error is None and machine.ended_by_world
    if interaction is Interaction.PASSTHROUGH and rules is Rules.CODE:
        # The world has ended the episode before the public code notices the drop.
        assert (machine.state, machine.failure) == (State.TO_STRETCHER, Failure.ENDED_BY_WORLD)
        assert code_scores(machine.progress.record(0, 0, 1.0, 1, False)).total == 100.0
    else:
        assert (machine.state, machine.failure) == (State.COMPLETED, Failure.NONE)
        assert machine.progress.handed_over and machine.dropped
    assert len(found.frames) == machine.steps + 1 == len(agent.seen) + 1
    assert found.seconds == float(machine.steps)
    assert [seen.seconds for seen in agent.seen] == [float(number) for number in range(machine.steps)]
    assert (agent.task.id, agent.task.step, agent.task.pick_up, agent.seed) == ("L1-0", 1.0, GATES[rules].pick_up, 7)
    assert agent.seen[-1].carrying and not agent.seen[0].carrying


def test_truth_is_told_only_where_the_conditions_say_so() -> None:
    withheld = Agent(knowing)
    walked(withheld)
    assert all(seen.target is None for seen in withheld.seen)
    told = Agent(lambda observation: towards(observation.target, observation))  # type: ignore[arg-type]
    found = walked(told, RescueConditions(step=1.0, truth="target_pose"))
    assert found.machine.state is State.COMPLETED
    targets = {tuple(seen.target.tolist()) for seen in told.seen if seen.target is not None}
    assert targets == {tuple(a_point().victim.position.tolist()), tuple(a_point().stretcher.position.tolist())}


def test_a_drone_flies_while_the_victim_is_sought_and_its_reports_come_once() -> None:
    class Scout:
        def __init__(self) -> None:
            self.times: list[float] = []

        def reset(self, start: StandingPose) -> None:
            self.start = start

        def fly(self, seconds: float, look: Look) -> tuple[PersonReport, ...]:
            self.times.append(seconds)
            return (PersonReport(seconds, np.zeros(3), np.eye(3)),) if seconds == 2.0 else ()

    agent = Agent(knowing)
    agent.scout = scout = Scout()  # type: ignore[attr-defined]
    assert walked(agent).machine.state is State.COMPLETED
    assert scout.start.position.tolist() == a_point().start.position.tolist()
    searching = [seen.seconds for seen in agent.seen if seen.phase is Phase.FIND_INJURED]
    assert scout.times == searching and len(searching) < len(agent.seen)
    assert [seen.seconds for seen in agent.seen if seen.reports] == [2.0]


def test_with_the_clock_running_the_last_action_goes_on_while_the_agent_thinks() -> None:
    """The agent takes 0.5 s for each answer: it walks into what it saw half a second before."""
    world, clock, done = FlatWorld(), [0.0], []
    step = world.step

    def noted(action: WalkAction, seconds: float) -> bool:
        done.append((action.speed, round(seconds, 6)))
        return step(action, seconds)

    def act(observation: WalkObservation) -> WalkAction:
        clock[0] += 0.49
        if observation.number == 2:
            raise KeyError("enough")
        return WalkAction(1.0 - 0.5 * observation.number)

    world.step = noted  # type: ignore[method-assign]
    conditions = RescueConditions(clock="running")
    found = walk(world, a_point(), "L1-0", Agent(act), 0, conditions, now=lambda: clock[0])
    assert done == [(0.0, 0.5), (1.0, 0.02), (1.0, 0.5), (0.5, 0.02)]
    assert found.seconds == pytest.approx(1.04) and found.machine.steps == 2


def test_with_the_clock_running_who_never_answers_is_out_of_time() -> None:
    clock = [0.0]

    def act(observation: WalkObservation) -> WalkAction:
        clock[0] += 1e6
        return WalkAction()

    found = walk(FlatWorld(), a_point(), "L1-0", Agent(act), 0, RescueConditions(clock="running"), now=lambda: clock[0])
    assert (found.machine.failure, found.machine.steps) == (Failure.TIMEOUT_SEARCH, 1)
    assert found.seconds < 200.0


def test_time_runs_out_with_the_steps() -> None:
    found = walked(Agent(lambda observation: WalkAction()))
    assert (found.machine.failure, found.machine.steps) == (Failure.TIMEOUT_SEARCH, 182)
    assert not found.machine.progress.picked


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("left", "no action"),
        (WalkAction(math.nan), "no number"),
        (WalkAction(0.0, math.nan), "no number"),
        (WalkAction(head=7), "7 is not a valid Head"),  # type: ignore[arg-type]
        (WalkAction(animation="jump"), "'jump' is not a valid Animation"),  # type: ignore[arg-type]
    ],
)
def test_an_answer_that_is_no_action_is_the_agents_error(answer: object, words: str) -> None:
    found = walked(Agent(lambda observation: answer))  # type: ignore[arg-type, return-value]
    assert found.error is not None and words in found.error and words in found.trace
    assert not found.machine.over and len(found.frames) == 1


def test_an_agents_exception_ends_the_episode_where_it_stands() -> None:
    def act(observation: WalkObservation) -> WalkAction:
        if observation.number == 3:
            raise KeyError("lost")
        return WalkAction(1.0)

    found = walked(Agent(act))
    line = act.__code__.co_firstlineno + 2
    assert found.error == f"KeyError: 'lost' (test/suites/rescuebench/test_walk.py, line {line})"
    assert found.machine.steps == 3


def test_what_is_asked_for_beyond_the_limits_is_clipped() -> None:
    found = walked(Agent(lambda observation: WalkAction(5.0, -400.0)))
    assert found.frames[1].action == WalkAction(1.0, -30.0)


def test_what_an_agent_says_an_episode_cost_is_recorded() -> None:
    class Counting(Agent):
        @property
        def account(self) -> dict[str, int]:
            return {"questions": len(self.seen)}

    found = walked(Counting(knowing))
    assert found.account == {"questions": found.machine.steps}
    assert walked(Agent(knowing)).account == {}


def test_a_failure_to_draw_is_not_the_agents() -> None:
    def act(observation: WalkObservation) -> WalkAction:
        try:
            observation.view.colour  # noqa: B018
        except Exception:
            pytest.fail("the agent was given somebody else's failure")
        return WalkAction()

    with pytest.raises(OSError, match="no graphics"):
        walked(Agent(act))


def test_the_agent_has_the_word_only_while_it_is_asked() -> None:
    words: list[bool] = []
    walk(FlatWorld(), a_point(), "L1-0", Agent(knowing), 0, CONDITIONS, words.append)
    assert words[::2] == [True] * (len(words) // 2) and words[1::2] == [False] * (len(words) // 2)
    assert np.all(np.diff(words[:4]))
