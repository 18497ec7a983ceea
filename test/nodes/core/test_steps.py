"""Lockstep on real DDS: a node answers a step once, when it holds exactly that step's inputs."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node

from esar_ros.mission import names
from esar_ros.mission.stamps import nanoseconds
from esar_ros.msg import Heartbeat, Tick
from esar_ros.nodes.core import steps
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.steps import LOCKSTEP, REALTIME, Step, StepNode, to_stamp
from esar_ros.nodes.core.types import message_class

PERIOD = 50_000_000


class Pilot(StepNode):
    """Answers every step with a velocity that encodes which odometry it saw."""

    def __init__(self) -> None:
        super().__init__("pilot")
        self.await_input(names.ODOMETRY)
        self.await_input(names.GOAL, Tick.FRAME)
        self.await_input(names.SAFETY_STATUS, previous=True)
        self.output(names.CMD_VEL)
        self.steps: list[Step] = []
        self.hesitate = False
        self.asked = 0  # times that it hesitated
        self.join()

    def on_step(self, step: Step) -> bool | None:
        if self.hesitate:
            self.asked += 1
            return False
        self.steps.append(step)
        message = TwistStamped()
        message.header.stamp = step.stamp
        message.twist.linear.x = self.inbox(names.ODOMETRY).at(step.ns).pose.pose.position.x
        self.send(names.CMD_VEL, message)
        return None


class Planner(StepNode):
    """Decides without any reader."""

    def __init__(self) -> None:
        super().__init__("planner")
        self.output(names.DECISION)

    def on_step(self, step: Step) -> bool | None:
        return None


class Listener(Node):
    """Reads decisions."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        entry = BY_NAME[names.DECISION]
        self.create_subscription(
            message_class(entry.type), names.DECISION, lambda message: None, PROFILES[entry.quality]
        )


class World(Node):
    """Stands for all the others: sends ticks and inputs, receives the answers."""

    def __init__(self) -> None:
        super().__init__("world")
        self.outputs = {
            name: self.create_publisher(message_class(BY_NAME[name].type), name, PROFILES[BY_NAME[name].quality])
            for name in (names.TICK, names.ODOMETRY, names.GOAL, names.SAFETY_STATUS)
        }
        self.answers: list[tuple[int, float]] = []
        self.beats: list[Heartbeat] = []
        self.create_subscription(TwistStamped, names.CMD_VEL, self.hear, PROFILES[BY_NAME[names.CMD_VEL].quality])
        self.create_subscription(Heartbeat, names.HEARTBEAT, self.beats.append, 50)

    def hear(self, message: TwistStamped) -> None:
        self.answers.append((nanoseconds(message.header.stamp), message.twist.linear.x))

    def tick(self, seq: int, epoch: int = 1, kinds: int = 0, absent: tuple[str, ...] = ()) -> None:
        message = Tick(seq=seq, epoch=epoch, kinds=kinds, period=0.05, absent=list(absent))
        message.header.stamp = to_stamp(seq * PERIOD + PERIOD)
        self.outputs[names.TICK].publish(message)

    def say(self, name: str, seq: int, **fields: Any) -> None:
        message = message_class(BY_NAME[name].type)()
        message.header.stamp = to_stamp(seq * PERIOD + PERIOD)
        if isinstance(message, Odometry):
            message.pose.pose.position.x = float(fields.get("x", seq))
        self.outputs[name].publish(message)


def waits(spin: Any, pilot: Pilot, seq: int, epoch: int = 1) -> bool:
    """Returns whether the tick of a step came, which the pilot took in and did not answer."""

    def came() -> bool:
        tick = pilot._ticks._ticks.get("uav1")
        return tick is not None and (tick.epoch, tick.seq) == (epoch, seq)

    return bool(spin([], came)) and all(step.seq != seq for step in pilot.steps)


@pytest.fixture
def graph(ros: Any) -> Any:
    world, pilot = World(), Pilot()
    matched = ros([world, pilot], lambda: all(p.get_subscription_count() for p in world.outputs.values()))
    assert matched
    return ros, world, pilot


def test_an_answer_waits_for_exactly_the_inputs_of_its_stamp(graph: Any) -> None:
    spin, world, pilot = graph
    world.say(names.ODOMETRY, 6, x=66.0)  # of another step
    assert spin([], lambda: pilot.inbox(names.ODOMETRY).newest is not None)
    world.tick(0)
    assert waits(spin, pilot, 0)
    world.say(names.ODOMETRY, 0, x=7.0)
    assert spin([], lambda: world.answers == [(PERIOD, 7.0)])


def test_frames_also_wait_for_the_frame_inputs(graph: Any) -> None:
    spin, world, pilot = graph
    world.say(names.ODOMETRY, 0)
    assert spin([], lambda: pilot.inbox(names.ODOMETRY).newest is not None)
    world.tick(0, kinds=Tick.FRAME)
    assert waits(spin, pilot, 0)
    world.say(names.GOAL, 0)
    assert spin([], lambda: len(world.answers) == 1)


def test_a_previous_input_is_awaited_from_the_second_step_on(graph: Any) -> None:
    spin, world, pilot = graph
    world.say(names.ODOMETRY, 0)
    world.tick(0)
    assert spin([], lambda: len(world.answers) == 1)
    world.say(names.ODOMETRY, 1)
    assert spin([], lambda: pilot.inbox(names.ODOMETRY).at(2 * PERIOD) is not None)
    world.tick(1)
    assert waits(spin, pilot, 1)
    world.say(names.SAFETY_STATUS, 0)
    assert spin([], lambda: len(world.answers) == 2)


def test_the_absent_are_not_waited_for_and_a_new_epoch_asks_again(graph: Any) -> None:
    spin, world, pilot = graph
    world.say(names.ODOMETRY, 0)
    assert spin([], lambda: pilot.inbox(names.ODOMETRY).newest is not None)
    world.tick(0, epoch=1, kinds=Tick.FRAME)
    assert waits(spin, pilot, 0)
    world.tick(0, epoch=2, kinds=Tick.FRAME, absent=("planner",))
    assert spin([], lambda: len(world.answers) == 1)
    assert pilot.steps[0].absent == {"planner"}
    # The same step asked once more: the same answer again, computed once.
    world.tick(0, epoch=3, kinds=Tick.FRAME, absent=("planner",))
    assert spin([], lambda: len(world.answers) == 2)
    assert world.answers[0] == world.answers[1]
    assert len(pilot.steps) == 1


def test_a_node_that_is_not_admitted_yet_does_not_answer(graph: Any) -> None:
    spin, world, pilot = graph
    world.say(names.ODOMETRY, 0)
    assert spin([], lambda: pilot.inbox(names.ODOMETRY).newest is not None)
    world.tick(0, epoch=1, absent=("pilot",))
    assert waits(spin, pilot, 0)
    world.say(names.ODOMETRY, 1)
    world.tick(1, epoch=2)
    assert spin([], lambda: len(world.answers) == 1)


def test_a_joining_producer_is_not_asked_for_the_step_it_missed(graph: Any) -> None:
    spin, world, _ = graph
    world.say(names.ODOMETRY, 0)
    world.tick(0, epoch=1, absent=("safety_governor",))
    assert spin([], lambda: len(world.answers) == 1)
    world.say(names.ODOMETRY, 1)
    world.tick(1, epoch=2)  # the governor is back, but said nothing at step 0
    assert spin([], lambda: len(world.answers) == 2)


def test_a_node_may_answer_later(graph: Any) -> None:
    spin, world, pilot = graph
    pilot.hesitate = True
    world.say(names.ODOMETRY, 0)
    world.tick(0)
    assert spin([], lambda: pilot.asked > 0)
    assert not pilot.steps
    pilot.hesitate = False
    pilot.retry()
    assert spin([], lambda: len(world.answers) == 1)


def test_heartbeats_come_from_a_thread_of_their_own_and_tell_the_last_frame_answered(
    graph: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    spin, world, pilot = graph
    assert spin([], lambda: len(world.beats) > 2)
    beats = threading.Semaphore(0)
    publish = pilot._heartbeats[0].publish

    def send(message: Heartbeat) -> None:
        publish(message)
        beats.release()

    monkeypatch.setattr(pilot._heartbeats[0], "publish", send)
    assert all(beats.acquire(timeout=15.0) for _ in range(8)), "the executor does nothing meanwhile"
    world.say(names.ODOMETRY, 0)
    world.say(names.GOAL, 0)
    world.tick(0, kinds=Tick.FRAME)
    assert spin([], lambda: nanoseconds(world.beats[-1].answered) == PERIOD)
    assert len({beat.boot_id for beat in world.beats}) == 1


UNHEARD = "waiting for pilot, recorder, referee to read /planner/decision"


@pytest.mark.parametrize(("pace", "said"), [(LOCKSTEP, UNHEARD), (REALTIME, "taking part")])
def test_only_lockstep_needs_every_reader(ros: Any, monkeypatch: pytest.MonkeyPatch, pace: str, said: str) -> None:
    """A real vehicle's graph has no referee."""
    real = steps.declare
    monkeypatch.setattr(steps, "declare", lambda n, name, *a, **k: pace if name == "pace" else real(n, name, *a, **k))
    planner = Planner()
    assert planner._diagnose()[0].message == said
    planner.destroy_node()


def test_a_node_waits_for_readers_by_name_whoever_listens_beside_them(ros: Any) -> None:
    planner = Planner()
    try:
        strangers = [Listener(f"rosbag2_recorder_{number}") for number in range(3)]
        decision = planner.publisher(names.DECISION)
        assert ros(strangers, lambda: decision.get_subscription_count() == 3)
        assert planner._diagnose()[0].message == UNHEARD
        pilot = Listener("pilot")
        assert ros([pilot], lambda: planner._diagnose()[0].message == UNHEARD.replace("pilot, ", ""))
        others = [Listener("referee"), Listener("recorder")]
        assert ros(others, lambda: planner._diagnose()[0].message == "taking part")
    finally:
        planner.destroy_node()


def test_a_node_that_cannot_say_how_it_is_is_not_dead(graph: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    spin, world, pilot = graph

    def fail() -> list[Any]:
        raise OSError("the folder is gone")

    monkeypatch.setattr(pilot, "diagnose", fail)
    monkeypatch.setattr(pilot._diagnostics, "due", lambda: True)
    assert spin([], lambda: True)
    before = len(world.beats)
    assert spin([], lambda: len(world.beats) > before + 5)
