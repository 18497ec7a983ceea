"""Managed participants as a lifecycle manager sees them: its calls over DDS, and what becomes of the steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from lifecycle_msgs.msg import Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState
from rclpy.node import Node
from rclpy.parameter import Parameter

from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.stamps import nanoseconds
from esar_ros.msg import Heartbeat, Tick
from esar_ros.nodes.core import lifecycle
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.stamps import to_stamp
from esar_ros.nodes.core.steps import Step

Spin = Callable[..., bool]
CONFIGURE, CLEANUP = Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_CLEANUP
ACTIVATE, DEACTIVATE = Transition.TRANSITION_ACTIVATE, Transition.TRANSITION_DEACTIVATE


class Managed(lifecycle.ManagedStepNode):
    """Does what it is told, and notes it."""

    def __init__(self) -> None:
        super().__init__("managed")
        self.did: list[str] = []
        self.trouble = self.reason = ""
        self.join()

    def configure(self) -> None:
        if self.trouble:
            raise UsageError(self.trouble, "mend it")
        self.did.append("configure")

    def clean_up(self) -> None:
        self.did.append("clean_up")

    def why_not_leave(self) -> str:
        return self.reason

    def on_step(self, step: Step) -> bool | None:
        self.did.append(f"step {step.seq}, {'active' if self.active else 'inactive'}")
        return None


def vars_of(beat: Heartbeat) -> dict[str, Any]:
    return {"ready": beat.ready, "waiting_for": beat.waiting_for, "answered": nanoseconds(beat.answered)}


class Manager:
    """The calls of a lifecycle manager, and what it hears."""

    def __init__(self, spin: Spin, world: Node, node: Managed) -> None:
        self.spin, self.world, self.node = spin, world, node
        self.events: list[TransitionEvent] = []
        self.beats: list[Heartbeat] = []
        world.create_subscription(TransitionEvent, "/uav1/managed/transition_event", self.events.append, 10)
        quality = PROFILES[BY_NAME[names.HEARTBEAT].quality]
        world.create_subscription(Heartbeat, f"/uav1/{names.HEARTBEAT}", self.beats.append, quality)
        self._ticks = world.create_publisher(Tick, f"/uav1/{names.TICK}", quality)
        self._clients: dict[str, Any] = {}
        spin([world, node], lambda: True)

    def call(self, kind: Any, name: str, request: Any) -> Any:
        client = self._clients.get(name)
        if client is None:
            client = self._clients[name] = self.world.create_client(kind, f"/uav1/managed/{name}")
        assert self.spin([], client.service_is_ready)
        future = client.call_async(request)
        assert self.spin([], future.done), "the node is gone"
        return future.result()

    def change(self, number: int = 0, label: str = "") -> bool:
        request = ChangeState.Request(transition=Transition(id=number, label=label))
        return bool(self.call(ChangeState, "change_state", request).success)

    @property
    def state(self) -> str:
        return str(self.call(GetState, "get_state", GetState.Request()).current_state.label)

    def tick(self, number: int) -> None:
        assert self.spin([], lambda: self._ticks.get_subscription_count() > 0)
        tick = Tick(seq=number, epoch=1, kinds=Tick.FRAME, period=0.05)
        tick.header.stamp = to_stamp(number * 1_000_000_000)
        self._ticks.publish(tick)

    def says(self, **fields: Any) -> bool:
        """Returns whether heartbeats come to say so: those sent before may still be on their way."""
        return self.spin([], lambda: any(vars_of(beat) | fields == vars_of(beat) for beat in self.beats[-1:]))


@pytest.fixture
def make(ros: Spin, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Manager]:
    init = Node.__init__

    def make_manager(**parameters: Any) -> Manager:
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        world = Node("world")
        with monkeypatch.context() as patch:
            patch.setattr(
                "rclpy.node.Node.__init__",
                lambda self, name, **options: init(self, name, namespace="/uav1", parameter_overrides=overrides),
            )
            return Manager(ros, world, Managed())

    return make_manager


def test_by_default_it_comes_up_by_itself(make: Callable[..., Manager]) -> None:
    manager = make()
    assert manager.node.active and manager.node.did == ["configure"]
    assert manager.state == "active" and manager.says(ready=True)
    ways = manager.call(GetAvailableTransitions, "get_available_transitions", GetAvailableTransitions.Request())
    assert sorted(way.transition.label for way in ways.available_transitions) == ["deactivate", "shutdown"]
    ways = manager.call(GetAvailableTransitions, "get_transition_graph", GetAvailableTransitions.Request())
    assert {"configure", "cleanup", "activate"} <= {way.transition.label for way in ways.available_transitions}


def test_what_a_manager_does_at_start_and_end(make: Callable[..., Manager], monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls of nav2's manager: each node configured, then activated; deactivated, cleaned up, shut down."""
    manager = make(autostart=False)
    acts: list[str] = []
    monkeypatch.setattr(manager.node._operator_log, "record", acts.append)
    assert manager.state == "unconfigured" and manager.says(waiting_for="its configuration", ready=False)
    assert manager.change(CONFIGURE) and manager.state == "inactive"
    assert manager.says(waiting_for="its activation", ready=False)
    assert manager.change(ACTIVATE) and manager.state == "active" and manager.says(ready=True)
    assert not acts, "to bring a node up is no intervention"
    for number, state in (
        (DEACTIVATE, "inactive"),
        (CLEANUP, "unconfigured"),
        (Transition.TRANSITION_UNCONFIGURED_SHUTDOWN, "finalized"),
    ):
        assert manager.change(number) and manager.state == state
    assert manager.node.did == ["configure", "clean_up"]
    assert acts == ["now inactive", "now unconfigured"]
    assert manager.spin([], lambda: len(manager.events) >= 10), "each begins and ends"
    assert manager.events[-1].goal_state.label == "finalized"


def test_deactivated_it_answers_and_cleaned_up_it_leaves_the_steps(make: Callable[..., Manager]) -> None:
    manager = make()
    assert manager.says(ready=True)
    for number, way, did in (
        (1, 0, "step 1, active"),
        (2, DEACTIVATE, "step 2, inactive"),
        (3, ACTIVATE, "step 3, active"),
    ):
        assert not way or manager.change(way)
        manager.tick(number)
        assert manager.spin([], lambda said=did: manager.node.did[-1] == said)
    assert manager.change(DEACTIVATE) and manager.says(ready=True)
    assert manager.change(CLEANUP)
    assert manager.says(ready=False, waiting_for="its configuration", answered=3_000_000_000)
    manager.tick(4)
    due = manager.node._ticks.due
    assert manager.spin([], lambda: getattr(due(), "seq", None) == 4), "the tick came"
    assert manager.node.did[-1] == "clean_up"
    assert manager.change(CONFIGURE) and manager.says(ready=False, waiting_for="its activation"), "nothing to say again"
    assert manager.change(ACTIVATE) and manager.says(ready=True, answered=3_000_000_000)
    manager.tick(5)
    assert manager.spin([], lambda: manager.node.did[-1] == "step 5, active")


@pytest.mark.parametrize("asked", [{"number": CONFIGURE}, {"number": 99}, {"label": "activate"}, {"label": "hover"}])
def test_what_does_not_fit_the_state_is_refused_and_the_node_lives(
    make: Callable[..., Manager], asked: dict[str, Any]
) -> None:
    manager = make()
    assert not manager.change(**asked)
    assert manager.state == "active"


def test_a_node_that_must_stay_refuses_every_way_out(make: Callable[..., Manager]) -> None:
    manager = make()
    manager.node.reason = "it flies"
    assert not any(manager.change(label=label) for label in ("deactivate", "shutdown"))
    assert manager.state == "active"


def test_what_cannot_be_configured_stays_unconfigured(make: Callable[..., Manager]) -> None:
    manager = make(autostart=False)
    manager.node.trouble = "no such file"
    assert not manager.change(CONFIGURE) and manager.state == "unconfigured"
    manager.node.trouble = ""
    assert manager.change(label="configure") and manager.state == "inactive"
