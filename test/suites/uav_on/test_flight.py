"""The loop of an episode in a world of pure geometry: poses, ends, what an agent is told, and agents that misbehave."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import StepAction, StepKind, StepObservation
from esar_ros.scoring.object_goal import TERMS
from esar_ros.suites.uav_on.conditions import UavOnConditions
from esar_ros.suites.uav_on.flight import FlownEpisode, StepFlight, fly
from helpers.steps import SETTINGS, GeometricWorld, Scripted, go, object_goal_episode

MOVING = [kind for kind in StepKind if kind is not StepKind.STOP]


def flown(actions: Any, world: GeometricWorld | None = None, **chosen: Any) -> tuple[FlownEpisode, Scripted]:
    agent = actions if isinstance(actions, Scripted) else Scripted(actions)
    made = world or GeometricWorld()
    return fly(made, object_goal_episode(), "park-7", agent, 5, UavOnConditions(**chosen), SETTINGS), agent


@given(st.lists(st.tuples(st.sampled_from(MOVING), st.floats(0.0, 1000.0)), max_size=20))
@settings(max_examples=40, deadline=None)
def test_commanded_poses_do_not_depend_on_where_the_vehicle_is(steps: list[tuple[StepKind, float]]) -> None:
    world = GeometricWorld(off=0.3)
    episode, _ = flown([*(StepAction(kind, size) for kind, size in steps), go("stop")], world)
    x, y, z, yaw = 0.0, 0.0, 10.0, 0.0
    for frame, (kind, size) in zip(episode.frames[1:], steps, strict=True):
        yaw += math.radians(size) * ((kind is StepKind.TURN_LEFT) - (kind is StepKind.TURN_RIGHT))
        course = yaw + math.radians(90.0) * ((kind is StepKind.LEFT) - (kind is StepKind.RIGHT))
        if kind in (StepKind.FORWARD, StepKind.LEFT, StepKind.RIGHT):
            x, y = x + size * math.cos(course), y + size * math.sin(course)
        z += size * ((kind is StepKind.UP) - (kind is StepKind.DOWN))
        assert frame.commanded.position == pytest.approx([x, y, z], abs=1e-6)
        assert frame.measured.position == pytest.approx(frame.commanded.position + 0.3)


def test_sizes_that_are_not_given_are_the_fixed_ones() -> None:
    episode, _ = flown([go(kind.value) for kind in MOVING] + [go("stop")])
    assert [frame.size for frame in episode.frames[1:]] == [5.0, 5.0, 5.0, 2.0, 2.0, 15.0, 15.0]


def test_a_stop_ends_it_without_a_frame_and_its_contact_counts() -> None:
    for touches in (False, True):
        world = GeometricWorld()
        world.hover_touches = touches
        episode, _ = flown([go("forward"), go("stop")], world)
        assert (len(episode.frames), episode.stopped, episode.contact_at_stop) == (2, True, touches)
        assert world.hovered == 1 and not episode.frames[-1].contact


def test_a_contact_ends_it() -> None:
    world = GeometricWorld(lambda position: bool(position[0] > 9.0))
    episode, agent = flown([go("forward")] * 9, world)
    assert [frame.contact for frame in episode.frames] == [False, False, True]
    assert not episode.stopped and episode.error is None and len(agent.seen) == 2


def test_the_150th_action_ends_it_and_may_be_a_stop() -> None:
    episode, agent = flown(lambda observation: go("turn_left"))
    assert (len(episode.frames), episode.stopped, len(agent.seen)) == (151, False, 150)
    episode, _ = flown(lambda observation: go("stop" if observation.number == 149 else "turn_left"))
    assert (len(episode.frames), episode.stopped) == (150, True)


def test_an_episode_that_is_over_takes_no_action() -> None:
    flight = StepFlight(GeometricWorld(), object_goal_episode(), "park-7", UavOnConditions(), SETTINGS)
    with pytest.raises(RuntimeError, match="call reset"):
        flight.step(go("forward"))
    flight.reset()
    flight.step(go("stop"))
    with pytest.raises(RuntimeError, match="call reset"):
        flight.step(go("forward"))
    flight.reset()
    assert not flight.over


def test_touching_while_it_settles_does_not_count_and_a_start_must_be_free(monkeypatch: pytest.MonkeyPatch) -> None:
    world = GeometricWorld()
    world._touched = True
    monkeypatch.setattr(world, "place", lambda pose: world.touched())
    episode, _ = flown([go("forward"), go("stop")], world)
    assert not episode.frames[1].contact
    with pytest.raises(UsageError, match="episode 7 of park: its start is not free"):
        flown([go("stop")], GeometricWorld(lambda position: True))


def test_an_agent_is_told_its_task_and_nothing_of_the_target() -> None:
    _, agent = flown([go("stop")])
    task = agent.task
    assert task is not None and agent.seed == 5
    assert (task.id, task.half_side, task.max_actions, task.goal.name) == ("park-7", 50.0, 150, "Bench")
    assert task.start.position == pytest.approx([0.0, 0.0, 10.0])
    assert "30.0" not in repr(vars(task)) and not hasattr(task, "targets")


def test_terms_say_how_many_actions_there_are() -> None:
    for terms in TERMS.values():
        episode, agent = flown([go("turn_left")] * terms.actions, terms=terms.name)
        assert agent.task is not None and (agent.task.max_actions, agent.task.near) == (terms.actions, terms.near)
        assert not episode.stopped and episode.error is None and len(episode.frames) == terms.actions + 1


def test_which_poses_are_told_is_a_condition() -> None:
    actions = [go("forward"), go("turn_left", 90.0), go("forward"), go("stop")]
    for poses, off in (("commanded", 0.0), ("measured", 0.25)):
        _, agent = flown(actions, GeometricWorld(off=0.25), poses=poses)
        told = agent.seen[-1].pose
        assert told.position == pytest.approx([5.0 + off, 5.0 + off, 10.0 + off])
        assert told.yaw == pytest.approx(90.0)


@pytest.mark.parametrize("pitch", [0.0, 20.0])
def test_relative_poses_count_from_the_start_and_so_do_cameras(pitch: float) -> None:
    """Along the map's axes: the box around the start that agents are told lies along them."""
    half = math.radians(pitch) / 2.0
    level_start = Pose(np.array([100.0, 50.0, 20.0]), quaternion_from_yaw(math.radians(90.0)))
    start = level_start.compose(Pose(quaternion=np.array([math.cos(half), 0.0, math.sin(half), 0.0])))
    agent = Scripted([go("forward"), go("left"), go("up"), go("stop")])
    conditions = UavOnConditions(pose="relative")
    fly(GeometricWorld(), object_goal_episode(start=start), "park-7", agent, 5, conditions, SETTINGS)
    assert agent.task is not None and agent.task.start.position == pytest.approx(np.zeros(3), abs=1e-9)
    assert [observation.pose.position.round(6).tolist() for observation in agent.seen] == [
        [0, 0, 0], [0, 5, 0], [-5, 5, 0], [-5, 5, 2],
    ]  # fmt: skip
    assert agent.seen[-1].pose.yaw == pytest.approx(90.0)
    if not pitch:
        assert agent.seen[-1].views.poses["front"].position == pytest.approx([-5.0, 6.0, 2.0])


BAD = [
    go("forward", -1.0), go("up", math.nan), go("left", math.inf), go("forward", 1000.5), None, "forward",
    StepAction("forward", 5.0), StepAction(StepKind.FORWARD, "far"), 7,  # type: ignore[arg-type]
]  # fmt: skip


@pytest.mark.parametrize("answer", BAD, ids=repr)
def test_an_impossible_action_is_the_agent_s_error(answer: Any) -> None:
    world = GeometricWorld()
    episode, _ = flown([go("forward"), answer], world)
    assert episode.error is not None and len(episode.frames) == 2 == len(world.flown) + 1
    assert not episode.stopped and "Traceback" in episode.trace


@pytest.mark.parametrize("size", [0.0, 1000.0, np.float32(3.0), True])
def test_other_sizes_are_flown(size: Any) -> None:
    episode, _ = flown([StepAction(StepKind.FORWARD, size), go("stop")])
    assert episode.error is None and episode.frames[1].size == float(size)


class Hostile(Scripted):
    """Fails in a way of its own at the second action, or changes what it is shown."""

    def __init__(self, deed: Any) -> None:
        super().__init__(lambda observation: self._at(observation, deed))

    @staticmethod
    def _at(observation: StepObservation, deed: Any) -> StepAction:
        if observation.number == 1:
            deed(observation)
        return go("stop" if observation.number == 3 else "forward")


def _raise(error: BaseException) -> Any:
    def deed(observation: StepObservation) -> None:
        raise error

    return deed


def _grab(observation: StepObservation) -> None:
    observation.pose.position[0] = 1e6


@pytest.mark.parametrize(
    ("deed", "told"),
    [
        (_raise(KeyError("x")), "KeyError: 'x'"),
        (_raise(SystemExit(3)), "SystemExit: 3"),
        (_raise(RecursionError("deep\nwell")), "RecursionError: deep well"),
        (_grab, "read-only"),
        (lambda observation: sys.exit("bye"), "SystemExit: bye"),
    ],
)
def test_what_an_agent_raises_is_its_own_error_and_what_was_flown_stays(deed: Any, told: str) -> None:
    inside: list[bool] = []
    agent = Hostile(deed)
    episode = fly(
        GeometricWorld(), object_goal_episode(), "park-7", agent, 5, UavOnConditions(), SETTINGS, inside.append
    )
    assert episode.error is not None and told in episode.error and "\n" not in episode.error
    assert len(episode.frames) == 2
    assert inside == [True, False] * (len(inside) // 2), "whoever is inside is told"


class Torn(GeometricWorld):
    """Cannot draw."""

    def images(self, told: Pose, look: Any, draw: Any) -> Any:
        class Views:
            @property
            def depth(self) -> Any:
                def broken() -> None:
                    raise OSError("no graphics")

                return draw(broken)

        return Views()


@pytest.mark.parametrize("caught", [(), Exception, BaseException], ids=repr)
def test_drawing_that_fails_is_not_the_agent_s_error(caught: Any) -> None:
    def act(observation: StepObservation) -> StepAction:
        try:
            return go("up") if observation.views.depth else go("stop")
        except caught:
            return go("stop")

    with pytest.raises(OSError, match="no graphics"):
        flown(act, Torn())


def test_while_images_are_drawn_the_agent_is_not_inside() -> None:
    """Else a renderer that hangs would be the agent's hang."""
    inside: list[bool] = []

    class Drawing(GeometricWorld):
        def images(self, told: Pose, look: Any, draw: Any) -> Any:
            return lambda: draw(lambda: inside.append(inside[-1]))

    def act(observation: StepObservation) -> StepAction:
        observation.views()  # type: ignore[operator]
        return go("stop")

    agent, conditions = Scripted(act), UavOnConditions()
    fly(Drawing(), object_goal_episode(), "park-7", agent, 5, conditions, SETTINGS, inside.append)
    assert [True, False, False, True, False] == inside[4:9], "asked, drawing, drawn, thinking, answered"


def test_an_agent_that_cannot_begin_fails_at_the_start() -> None:
    class Unwilling(Scripted):
        def reset(self, task: Any, seed: int) -> None:
            raise UsageError("no such words", "other words")

    episode, _ = flown(Unwilling([]))
    assert episode.error == "no such words: other words" and len(episode.frames) == 1


def test_details_and_account_are_the_agent_s_and_a_broken_one_is_its_error() -> None:
    agent = Scripted([go("stop")])
    agent.details = {"model": "m", "date": "today"}  # type: ignore[attr-defined]
    agent.account = {"tokens_in": 3}  # type: ignore[attr-defined]
    episode, _ = flown(agent)
    assert (episode.details, episode.account) == ({"model": "m"}, {"tokens_in": 3})
    agent.account = {"tokens_in": "many"}  # type: ignore[attr-defined]
    episode, _ = flown(agent)
    assert episode.error is not None and episode.error.startswith("ValueError")


class Looked(GeometricWorld):
    """Keeps how it was asked for images."""

    def images(self, told: Pose, look: Any, draw: Any) -> Any:
        self.look = look
        return super().images(told, look, draw)


@pytest.mark.parametrize("truth", [True, False])
def test_labels_are_for_whom_the_caller_says(truth: bool) -> None:
    world, agent, conditions = Looked(), Scripted([go("stop")]), UavOnConditions(depth="metres")
    fly(world, object_goal_episode(), "park-7", agent, 5, conditions, SETTINGS, truth=truth)
    assert world.look.truth is truth and world.look.depth == "metres"
