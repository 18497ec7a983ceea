"""ardupilot_bridge on DDS and a real MAVLink link, against the fake ArduCopter: what every bridge promises."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from helpers.bridge_graph import BridgeGraph, started_with

pytest.importorskip("pymavlink")


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Graph(BridgeGraph):
    """Bridge, vehicle, and a governor that publishes at 50 Hz."""

    def __init__(self) -> None:
        from copter_link import CopterLink
        from fake_copter import FakeCopter

        from esar_ros.bridges.px4.stream import Timing
        from esar_ros.nodes.ardupilot_bridge import ArdupilotBridgeNode

        port = free_port()
        self.fake = FakeCopter()
        with started_with("/uav1", {"link": f"udpin:127.0.0.1:{port}"}):
            bridge = ArdupilotBridgeNode()
        # On a busy machine this process stutters; what 0.2 s mean is tested without ROS.
        bridge._stream.timing = Timing(fresh=1.0, stream=0.3, comebacks=1000)
        self.copter = CopterLink(self.fake, port)
        super().__init__(bridge, "/uav1", self.fake.origin, lambda: -float(self.fake.place[2]))
        self.spin((self.bridge,), (self.user, self.control))

    def close(self) -> None:
        super().close()
        self.bridge.close()
        self.copter.close()

    def wait(self, until: Callable[[], bool], seconds: float = 20.0) -> bool:
        return super().wait(until, seconds)

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


def test_what_was_said_before_a_link_broke_is_not_told_to_who_places_home(graph: Graph) -> None:
    """A person may have taken off meanwhile."""
    assert graph.wait(lambda: graph.bridge.newest("VehicleLandDetected") is not None)
    graph.fake.speaks = False
    assert graph.wait(lambda: graph.bridge.newest("VehicleLandDetected") is None)
    assert graph.bridge.newest("VehicleStatus") is None and graph.bridge.newest("HomePosition") is not None


def test_a_second_bridge_of_the_same_vehicle_ends_before_it_says_anything(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a link of its own, too; by PX4's topics it would command what the first flies into hold."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor

    from esar_ros.mission.errors import UsageError
    from esar_ros.nodes.ardupilot_bridge import ArdupilotBridgeNode

    assert graph.wait(lambda: bool(graph.heard.get("vehicle_state")))
    with started_with("/uav1", {"link": f"udpin:127.0.0.1:{free_port()}"}):
        second = ArdupilotBridgeNode()
    sent: list[Any] = []
    monkeypatch.setattr(second, "_send", sent.append)
    executor = SingleThreadedExecutor()
    executor.add_node(second)
    limit = time.monotonic() + 10.0
    with pytest.raises(UsageError, match="another ardupilot_bridge lives in /uav1"):
        while rclpy.ok() and time.monotonic() < limit:
            executor.spin_once(0.1)
    assert not sent
    executor.remove_node(second)
    second.close()
    second.destroy_node()
    heard = len(graph.heard["vehicle_state"])
    assert graph.wait(lambda: len(graph.heard["vehicle_state"]) > heard + 10), "the first goes on"


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
        ),
        45.0,  # said before the vehicle is met it is not heard, and said again after 30 s
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
