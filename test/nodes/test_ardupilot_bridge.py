"""ardupilot_bridge on DDS and a real MAVLink link, against the fake ArduCopter: what every bridge promises."""

from __future__ import annotations

import math
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pymavlink")


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Graph:
    """Bridge, vehicle, and a governor that publishes at 50 Hz."""

    def __init__(self) -> None:
        import rclpy
        from copter_link import CopterLink
        from fake_copter import FakeCopter
        from geometry_msgs.msg import TwistStamped
        from rclpy.action import ActionClient
        from rclpy.clock import Clock, ClockType
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node
        from rclpy.parameter import Parameter

        from esar_ros.action import Arm, Manoeuvre
        from esar_ros.bridges.px4.stream import Timing
        from esar_ros.mission import names
        from esar_ros.msg import Brief, SafetyStatus
        from esar_ros.nodes.ardupilot_bridge import ArdupilotBridgeNode
        from esar_ros.nodes.core.interface import BY_NAME
        from esar_ros.nodes.core.qos import PROFILES
        from esar_ros.nodes.core.types import message_class

        port = free_port()
        self.fake = FakeCopter()
        original, given = Node.__init__, [Parameter("link", value=f"udpin:127.0.0.1:{port}")]
        Node.__init__ = lambda self, name: original(self, name, namespace="/uav1", parameter_overrides=given)  # type: ignore[method-assign]
        try:
            self.bridge = ArdupilotBridgeNode()
        finally:
            Node.__init__ = original  # type: ignore[method-assign]
        # On a busy machine this process stutters; what 0.2 s mean is tested without ROS.
        self.bridge._stream.timing = Timing(fresh=1.0, stream=0.3, comebacks=1000)
        self.copter = CopterLink(self.fake, port)
        self.user = rclpy.create_node("safety_governor", namespace="/uav1")  # whom the bridge obeys
        self.control = rclpy.create_node("mission_control", namespace="/")  # whose brief it takes
        self.velocity: tuple[float, float, float] | None = (0.0, 0.0, 0.0)
        self.heard: dict[str, list[Any]] = {}
        quality = lambda name: PROFILES[BY_NAME[name].quality]  # noqa: E731
        command = self.user.create_publisher(TwistStamped, names.CMD_VEL_SAFE, quality(names.CMD_VEL_SAFE))
        safety = self.user.create_publisher(SafetyStatus, names.SAFETY_STATUS, quality(names.SAFETY_STATUS))
        brief = self.control.create_publisher(Brief, f"/uav1/{names.BRIEF}", quality(names.BRIEF))
        at = self.fake.origin
        below = at.altitude - 5.0
        brief.publish(Brief(origin_latitude=at.latitude, origin_longitude=at.longitude, origin_altitude=below))

        def govern() -> None:
            if self.velocity is None:
                return
            message = TwistStamped()
            message.header.stamp = self.bridge.get_clock().now().to_msg()
            message.twist.linear.x, message.twist.linear.y, message.twist.linear.z = self.velocity
            command.publish(message)
            height = -float(self.fake.place[2])
            safety.publish(SafetyStatus(mode=SafetyStatus.MODE_NORMAL, has_height=True, height=height))

        self.user.create_timer(0.02, govern, clock=Clock(clock_type=ClockType.STEADY_TIME))
        for name in (names.ODOMETRY, names.VEHICLE_STATE, names.BATTERY, names.TF_STATIC):
            self.user.create_subscription(
                message_class(BY_NAME[name].type), name,
                lambda m, n=name: self.heard.setdefault(n, []).append(m), quality(name),
            )  # fmt: skip
        self.kinds = {"arm": Arm, "manoeuvre": Manoeuvre}
        self.clients = {name: ActionClient(self.user, kind, name) for name, kind in self.kinds.items()}
        self._over = threading.Event()
        self._threads = []
        for nodes in ((self.bridge,), (self.user, self.control)):
            executor = SingleThreadedExecutor()
            for node in nodes:
                executor.add_node(node)
            thread = threading.Thread(target=self._spin, args=(executor,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _spin(self, executor: Any) -> None:
        while not self._over.is_set():
            executor.spin_once(timeout_sec=0.05)

    def close(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(5.0)
        self.bridge.close()
        self.copter.close()

    def wait(self, until: Callable[[], bool], seconds: float = 20.0) -> bool:
        limit = time.monotonic() + seconds
        while time.monotonic() < limit and not until():
            time.sleep(0.02)
        return until()

    def do(self, name: str, seconds: float = 60.0, **goal: Any) -> Any:
        client = self.clients[name]
        assert client.wait_for_server(10.0)
        sent = client.send_goal_async(self.kinds[name].Goal(**goal))
        assert self.wait(sent.done, 10.0)
        result = sent.result().get_result_async()
        assert self.wait(result.done, seconds), f"{name} did not end: {self.bridge._offboard.stage}"
        return result.result().result

    def arm(self) -> Graph:
        """Armed and flying safe commands. On a busy machine this process may stutter just then: asked again, then."""
        assert self.wait(lambda: bool(self.heard.get("vehicle_state")) and self.newest("vehicle_state").ready)
        result = self.do("arm", arm=True)
        for _ in range(10):
            if not result.error_code:
                break
            asked = {"arm": True} if not self.fake.armed else {"manoeuvre": 2}
            result = self.do("arm" if "arm" in asked else "manoeuvre", **asked)
        assert not result.error_code and self.fake.armed, result.error_msg
        return self

    def newest(self, name: str) -> Any:
        return self.heard[name][-1]


@pytest.fixture
def graph(domain: int) -> Iterator[Graph]:
    import rclpy

    rclpy.init()
    made = Graph()
    yield made
    made.close()
    rclpy.shutdown()


def test_it_is_armed_flies_safe_commands_holds_without_them_and_lands(graph: Graph) -> None:
    from fake_copter import BRAKE, GUIDED, LAND

    from esar_ros.msg import VehicleState

    graph.arm()
    assert graph.wait(lambda: graph.newest("vehicle_state").offboard and not graph.newest("vehicle_state").holding)
    assert graph.newest("vehicle_state").landed == VehicleState.LANDED_FLYING

    graph.velocity = (2.0, 1.0, 0.0)
    assert graph.wait(lambda: abs(graph.fake.velocity[1] - 2.0) < 0.1 and abs(graph.fake.velocity[0] - 1.0) < 0.1)
    odometry = graph.newest("odometry")
    north, east, down = graph.fake.place
    where = odometry.pose.pose.position
    np.testing.assert_allclose([where.x, where.y, where.z], [east, north, -down], atol=1.0)
    assert odometry.pose.covariance[0] > 0.0
    assert graph.newest("battery").percentage == pytest.approx(0.87)
    placed = [t for m in graph.heard["/tf_static"] for t in m.transforms if t.child_frame_id == "uav1/odom"]
    transform = placed[-1]
    assert transform.transform.translation.z == pytest.approx(5.0, abs=0.05)
    assert math.isclose(transform.transform.translation.x, 0.0, abs_tol=0.05)

    graph.velocity = None
    assert graph.wait(lambda: graph.fake.mode == BRAKE, 10.0)
    assert graph.wait(lambda: graph.newest("vehicle_state").holding)
    graph.velocity = (0.0, 0.0, 0.0)
    assert graph.wait(lambda: graph.fake.mode == GUIDED), "it comes back by itself"

    result = graph.do("manoeuvre", manoeuvre=5)
    assert not result.error_code, result.error_msg
    assert graph.fake.mode == LAND and not graph.fake.armed


def test_checks_that_fail_are_told_and_arming_is_refused(graph: Graph) -> None:
    with graph.copter.lock:
        graph.fake.checks = ["GPS 1: Bad fix"]
    assert graph.wait(
        lambda: (
            bool(graph.heard.get("vehicle_state"))
            and "PreArm: GPS 1: Bad fix" in graph.newest("vehicle_state").ready_message
        )
    )
    result = graph.do("arm", arm=True)
    assert result.error_code and "PreArm: GPS 1: Bad fix" in result.error_msg


def test_a_persons_mode_that_is_none_of_the_graphs_is_told_by_its_name(graph: Graph) -> None:
    from fake_copter import LOITER

    graph.arm()
    with graph.copter.lock:
        graph.fake.set_mode(LOITER)
    assert graph.wait(lambda: "LOITER" in graph.bridge._stream.advice)
    result = graph.do("manoeuvre", manoeuvre=3)  # a person asks for hold, and for the graph again
    assert not result.error_code and result.nav_state == 4
    assert not graph.do("manoeuvre", manoeuvre=2).error_code
