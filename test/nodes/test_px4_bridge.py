"""px4_bridge on real DDS with real px4_msgs and PX4's quality of service, against the fake autopilot."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from esar_ros.nodes.px4 import messages as px4_messages
from helpers.bridge_graph import BridgeGraph, started_with

# The messages take a minute to build, once; where they are there the tests run with the others.
pytestmark = [] if px4_messages.is_built() else [pytest.mark.full]

OFFBOARD, HOLD, RTL, LAND, EXTERNAL = 14, 4, 5, 18, 23


@pytest.fixture(scope="module", autouse=True)
def messages() -> None:
    px4_messages.ensure()


class Graph(BridgeGraph):
    """Bridge and fake autopilot, and a governor that publishes at 50 Hz."""

    def __init__(self, **autopilot: Any) -> None:
        import rclpy
        from fake_autopilot import FakeAutopilot
        from fake_node import FakeNode

        from esar_ros.bridges.px4.stream import Timing
        from esar_ros.nodes.px4_bridge import Px4BridgeNode

        versions = autopilot.pop("versions", None)
        namespace = autopilot.pop("namespace", "")
        overrides = autopilot.pop("parameters", {})
        external = overrides.get("mode") == "external"
        space = "/" + autopilot.pop("vehicle", "uav1")
        if not rclpy.ok():
            rclpy.init()
        self.fake = FakeAutopilot(**autopilot)
        FakeAutopilot(start=(0.0, 0.0, 5.0)).advance(0.1)  # compiles the dynamics before time counts
        self.agent = FakeNode(self.fake, namespace, versions, external)
        with started_with(space, overrides):
            bridge = Px4BridgeNode()
        # On a busy machine this process's own governor stutters; what 0.2 s mean is tested without ROS.
        bridge._stream.timing = Timing(fresh=0.4)
        super().__init__(bridge, space, self.fake.reference, lambda: float(self.fake.body.position[2]))
        self.spin((self.agent,), (self.bridge,), (self.user,))

    def close(self) -> None:
        import rclpy

        super().close()
        rclpy.try_shutdown()

    def arm(self) -> Graph:
        """Once it is ready; on a busy machine this test's own governor may stutter just then."""
        assert self.wait(lambda: self.state.ready, 20.0), self.state.ready_message
        for _ in range(5):
            result = self.do("arm", arm=True)
            if "no fresh safe command" not in result.error_msg:
                break
        assert (result.error_code, result.armed) == (0, True), result.error_msg
        return self

    def fly(self, height: float = 6.0) -> Graph:
        self.arm()
        self.velocity = (0.0, 0.0, 2.0)
        assert self.wait(lambda: float(self.fake.body.position[2]) > height, 20.0)
        self.velocity = (0.0, 0.0, 0.0)
        return self

    def touch_down(self) -> Any:
        """Result, asked for as soon as the ground is near enough."""
        self.velocity = (0.0, 0.0, -1.0)
        assert self.wait(lambda: float(self.fake.body.position[2]) < 4.5, 30.0)
        self.velocity = (0.0, 0.0, -0.7)
        return self.do("touch_down")

    @property
    def state(self) -> Any:
        from esar_ros.msg import VehicleState

        return (self.heard.get("vehicle_state") or [VehicleState(ready_message="nothing was heard")])[-1]


@pytest.fixture
def make(domain: int) -> Iterator[Callable[..., Graph]]:
    made: list[Graph] = []

    def build(**options: Any) -> Graph:
        made.append(Graph(**options))
        return made[-1]

    yield build
    for graph in made:
        graph.close()


@pytest.mark.full
def test_a_flight_from_arming_to_the_ground_with_the_dangers_on_the_way(make: Callable[..., Graph]) -> None:
    graph = make().fly()
    fake, bridge = graph.fake, graph.bridge._offboard
    assert graph.wait(lambda: graph.state.offboard and graph.state.armed)
    # It follows, and says so in this project's frames.
    graph.velocity = (2.0, 0.0, 0.0)
    assert graph.wait(lambda: abs(float(fake.body.velocity[0]) - 2.0) < 0.35)
    odometry = graph.heard["odometry"][-1]
    assert odometry.pose.pose.position.x == pytest.approx(float(fake.body.position[0]), abs=0.5)
    assert odometry.pose.covariance[0] == pytest.approx(fake.estimator.eph**2 + fake.estimator.evh**2, rel=0.01)
    static = graph.heard["tf_static"] if "tf_static" in graph.heard else graph.heard["/tf_static"]
    assert static[-1].transforms[0].transform.translation.z == pytest.approx(5.0, abs=1e-3)
    # The governor falls silent (dangers 1, 2, 3).
    graph.velocity, died = None, time.monotonic()
    assert graph.wait(lambda: fake.nav_state == HOLD, 2.0)
    assert time.monotonic() - died < 0.9, "PX4 itself would need a second"
    # It speaks again: the bridge comes back from its own hold, not at the first command.
    graph.velocity, spoke = (2.0, 0.0, 0.0), time.monotonic()
    assert graph.wait(lambda: bridge.stream.engaged, 10.0), bridge.stream.advice
    assert time.monotonic() - spoke > 2.0
    assert graph.wait(lambda: graph.state.offboard and graph.state.ready)
    # From a person's hold it does not.
    assert graph.do("manoeuvre", manoeuvre=3).error_code == 0
    time.sleep(4.0)
    assert fake.nav_state == HOLD and not bridge.stream.engaged
    result = graph.do("manoeuvre", manoeuvre=2)
    assert (result.error_code, result.nav_state) == (0, OFFBOARD), result.error_msg
    # The agent is started again (danger 6).
    fake.restart_agent()
    assert graph.wait(lambda: fake.nav_state == RTL, 3.0)
    assert graph.wait(lambda: fake.linked, 12.0)
    time.sleep(1.0)
    assert fake.nav_state == RTL and "silent" in bridge.stream.left_because
    assert graph.do("manoeuvre", manoeuvre=3).error_code == 0
    # Down by safe commands, disarmed, and out of offboard (danger 5).
    assert graph.do("touch_down").error_code, "it does not fly safe commands"
    assert graph.do("manoeuvre", manoeuvre=2).error_code == 0
    result = graph.touch_down()
    assert (result.error_code, result.landed) == (0, True), result.error_msg
    assert graph.wait(lambda: not graph.state.armed)
    assert graph.wait(lambda: fake.nav_state == fake.intention == HOLD, 5.0)
    assert graph.error is None


@pytest.mark.full
def test_a_bridge_that_ends_in_order_leaves_the_vehicle_in_hold(make: Callable[..., Graph]) -> None:
    graph = make().fly()
    graph.bridge.close()
    assert graph.wait(lambda: graph.fake.nav_state == graph.fake.intention == HOLD, 2.0)
    assert graph.fake.armed and not graph.fake.failsafe


def test_a_flight_in_a_mode_of_its_own(make: Callable[..., Graph]) -> None:
    graph = make(parameters={"mode": "external"}).fly()
    fake, stream = graph.fake, graph.bridge._stream
    assert fake.external_name == b"esar_ros" and fake.nav_state == EXTERNAL
    assert not fake.heartbeat_times, "offboard's heartbeat has no place here"
    assert set(fake.controls) == {(EXTERNAL, True)}
    assert graph.wait(lambda: graph.state.offboard and not graph.state.holding)
    graph.velocity = (2.0, 0.0, 0.0)
    assert graph.wait(lambda: abs(float(fake.body.velocity[0]) - 2.0) < 0.35)
    # The governor falls silent: hold before PX4 misses an answer, and no way back by itself.
    graph.velocity, died = None, time.monotonic()
    assert graph.wait(lambda: fake.nav_state == HOLD, 2.0)
    assert time.monotonic() - died < 0.9, "PX4 itself would need 1.2 s"
    assert graph.wait(lambda: not fake.answers[-1][1], 2.0), "it cannot run"
    graph.velocity = (2.0, 0.0, 0.0)
    assert graph.wait(lambda: fake.answers[-1][1], 2.0), "it could run"
    assert fake.nav_state == HOLD and not stream.engaged
    result = graph.do("manoeuvre", manoeuvre=2)
    assert (result.error_code, result.nav_state) == (0, EXTERNAL), result.error_msg
    # PX4 forgets: its failsafe; registered again, where COM_MODE_ARM_CHK lets it, and asked by nobody.
    fake.registers_armed = True
    fake.forget_modes()
    assert graph.wait(lambda: fake.nav_state == RTL, 3.0)
    assert graph.wait(lambda: bool(fake.external_name), 10.0), "registered again"
    time.sleep(1.0)
    assert fake.nav_state in (RTL, HOLD) and not stream.engaged
    assert graph.do("manoeuvre", manoeuvre=2).error_code == 0
    result = graph.touch_down()
    assert (result.error_code, result.landed) == (0, True), result.error_msg
    assert graph.error is None


def test_arming_is_refused_with_the_reason(make: Callable[..., Graph]) -> None:
    graph = make()
    graph.fake.preflight_ok = False
    assert graph.wait(lambda: "pre-flight checks fail" in graph.state.ready_message, 15.0), graph.state.ready_message
    result = graph.do("arm", arm=True)
    assert result.error_code == graph.kinds["arm"].Result.REFUSED_NOT_READY
    assert "pre-flight checks fail" in result.error_msg
    assert not graph.fake.commands or all(m.command != 400 for _, m in graph.fake.commands)


def test_a_vehicle_s_namespace_and_system(make: Callable[..., Graph]) -> None:
    parameters = {"px4_namespace": "px4_3", "target_system": 4}
    graph = make(namespace="px4_3", system_id=4, parameters=parameters)
    graph.arm()
    assert {int(m.target_system) for _, m in graph.fake.commands} == {4}


@pytest.mark.full
def test_two_vehicles_do_not_hear_each_other(make: Callable[..., Graph], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by the namespace and system id of its place in the mission: instances 0 and 1 of PX4 SITL."""
    import fake_autopilot
    import fake_facts

    from esar_ros.bridges.px4 import state as px4_state
    from esar_ros.bridges.px4.stream import Timing

    # Six nodes in one process, and nothing here is about time: a slower link, and more patience on both sides.
    for name in ("VehicleOdometry", "VehicleLocalPosition"):
        monkeypatch.setitem(fake_facts.PERIODS, name, 0.05)
        monkeypatch.setitem(px4_state.AGES, name, 3.0)
    monkeypatch.setattr(fake_autopilot, "SIGNAL_LOST", 5.0)
    monkeypatch.setattr(fake_autopilot, "AUTO_DISARM_UNFLOWN", 60.0)  # the second one waits for the first to arm
    graphs = [
        make(vehicle="uav1", system_id=1, parameters={"index": 0}),
        make(vehicle="uav2", namespace="px4_1", system_id=2, parameters={"index": 1}, start=(20.0, 0.0, 0.0)),
    ]
    for graph in graphs:
        graph.bridge._offboard.stream.timing = Timing(fresh=2.0)
    one, two = graphs
    two.arm()
    assert not one.fake.armed and not one.fake.commands, "it was not meant"
    one.arm()
    one.velocity, two.velocity = (0.0, 0.0, 2.0), (0.0, 0.0, 1.0)
    assert one.wait(lambda: min(float(g.fake.body.position[2]) for g in graphs) > 3.0, 20.0)
    assert float(one.fake.body.position[2]) > 1.5 * float(two.fake.body.position[2])
    assert [g.heard["odometry"][-1].header.frame_id for g in graphs] == ["uav1/odom", "uav2/odom"]
    # The first one's governor dies: the second one flies on.
    one.velocity = None
    assert one.wait(lambda: one.fake.nav_state == HOLD, 10.0)
    assert one.wait(lambda: two.state.offboard and not two.state.holding)
    assert [{int(m.target_system) for _, m in g.fake.commands} for g in graphs] == [{1}, {2}]
    assert all(graph.error is None for graph in graphs)


def test_a_firmware_of_another_release_is_refused_by_name(make: Callable[..., Graph]) -> None:
    graph = make(versions={"VehicleStatus": 4, "VehicleCommandAck": 1})
    assert graph.wait(lambda: graph.error is not None, 10.0)
    for words in ("/fmu/out/vehicle_status_v1", "vehicle_status_v4", "firmware is 1.18", "px4_msgs is 1.17"):
        assert words in str(graph.error)


def test_an_estimator_that_does_not_know_is_told_to_the_governor(make: Callable[..., Graph]) -> None:
    graph = make()
    assert graph.wait(lambda: bool(graph.heard.get("odometry")), 15.0)
    graph.fake.estimator.eph = 7.0
    assert graph.wait(lambda: math.isclose(graph.heard["odometry"][-1].pose.covariance[0], 49.01, rel_tol=1e-3))
    graph.fake.dead_reckoning = True
    assert graph.wait(lambda: graph.heard["odometry"][-1].pose.covariance[0] == -1.0)


def test_the_map_stays_where_it_is_while_the_motors_run(make: Callable[..., Graph]) -> None:
    from esar_ros.msg import Brief

    graph = make()
    assert graph.wait(lambda: graph.state.ready, 20.0), graph.state.ready_message
    before = graph.bridge._origin
    assert before is not None
    moved = Brief(origin_latitude=before.latitude + 0.01, origin_longitude=before.longitude, origin_altitude=0.0)
    graph.fake.arm()
    assert graph.wait(lambda: graph.state.armed)
    graph.bridge._on_brief(moved)
    assert graph.bridge._origin == before
    graph.fake.disarm()
    assert graph.wait(lambda: not graph.state.armed)
    graph.bridge._on_brief(moved)
    after = graph.bridge._origin
    assert after is not None and after.latitude == moved.origin_latitude


def test_an_autopilot_that_falls_silent_ends_the_odometry(make: Callable[..., Graph]) -> None:
    graph = make()
    assert graph.wait(lambda: len(graph.heard.get("odometry", [])) > 5, 15.0)
    graph.fake.restart_agent()
    time.sleep(2.0)
    heard = len(graph.heard["odometry"])
    time.sleep(0.5)
    assert len(graph.heard["odometry"]) == heard
    assert not graph.state.ready and "silent" in graph.state.ready_message


def test_odometry_keeps_the_time_of_the_measurement(
    make: Callable[..., Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    import fake_messages

    from esar_ros.mission.stamps import nanoseconds

    graph, delay = make(), 400_000  # us
    said = fake_messages.MESSAGES["VehicleLocalPosition"]

    def measured_before(fake: Any) -> Any:
        message = said(fake)
        message.timestamp_sample = max(message.timestamp - delay, 1)
        return message

    def age_of_newest() -> float:  # us
        return (
            graph.bridge.get_clock().now().nanoseconds - nanoseconds(graph.heard["odometry"][-1].header.stamp)
        ) / 1e3

    assert graph.wait(lambda: bool(graph.heard.get("odometry")) and age_of_newest() < delay, 15.0)
    assert graph.wait(lambda: graph.bridge._sample_clock.is_synchronised(time.monotonic()), 5.0)
    monkeypatch.setitem(fake_messages.MESSAGES, "VehicleLocalPosition", measured_before)
    heard = len(graph.heard["odometry"])
    assert graph.wait(lambda: len(graph.heard["odometry"]) > heard + 20, 15.0)
    for _ in range(20):
        time.sleep(0.01)
        assert age_of_newest() >= delay
