"""Viewers on real DDS: when the viewer subscribes, what it hands on, what it sends; and Foxglove's bridge."""

from __future__ import annotations

import json
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rclpy
from nav_msgs.msg import Odometry
from rclpy.node import Node

from esar_ros.mission import names
from esar_ros.msg import MissionState, Report, StandingOrder
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.types import message_class
from esar_ros.srv import Order, Sighting

Spin = Callable[..., bool]


class Shown:
    """A view that remembers."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, str, Any]] = []
        self.refused: list[tuple[str, str]] = []
        self.looking: frozenset[str] = frozenset()

    def take(self, vehicle: str, topic: str, message: Any) -> None:
        self.taken.append((vehicle, topic, message))

    def take_clock(self, paused: bool, speed: float) -> None: ...

    def take_refusal(self, vehicle: str, why: str) -> None:
        self.refused.append((vehicle, why))

    def wanted(self) -> frozenset[str]:
        return self.looking

    def topics(self) -> set[str]:
        return {topic for _, topic, _ in self.taken}


class Mission:
    """A node that publishes what a mission would."""

    def __init__(self) -> None:
        self.node = rclpy.create_node("mission")
        self._publishers: dict[str, Any] = {}
        self.state = self.publisher(names.MISSION_STATE)
        self.odometry = self.publisher(names.ODOMETRY)
        self.camera = self.publisher(names.camera_compressed("front"))

    def publisher(self, topic: str) -> Any:
        entry = BY_NAME[topic]
        kind = message_class(entry.type)
        self._publishers[topic] = self.node.create_publisher(kind, f"uav1/{topic}", PROFILES[entry.quality])
        return self._publishers[topic]

    def heard(self, topic: str, into: list[Any]) -> None:
        entry = BY_NAME[topic]
        kind = message_class(entry.type)
        self.node.create_subscription(kind, f"uav1/{topic}", into.append, PROFILES[entry.quality])

    def fly(self, x: float) -> None:
        message = Odometry()
        message.header.stamp.sec = 12
        message.pose.pose.position.x = x
        self.odometry.publish(message)


@pytest.fixture
def mission(ros: Spin) -> Mission:
    return Mission()


@pytest.fixture
def viewer(ros: Spin) -> Iterator[Any]:
    from esar_ros.nodes.viewer import ViewerNode

    node = ViewerNode()
    yield node


def readers(mission: Mission, publisher: Any) -> int:
    return int(publisher.get_subscription_count())


def test_it_subscribes_when_the_mission_runs_and_somebody_looks(ros: Spin, mission: Mission, viewer: Any) -> None:
    shown = Shown()
    viewer.show(shown, lambda: None)
    shown.looking = frozenset({"uav1"})
    nodes: list[Node] = [mission.node, viewer]
    mission.state.publish(MissionState(phase=MissionState.PREPARING))
    assert ros(nodes, lambda: names.MISSION_STATE in shown.topics())
    ros(nodes, lambda: False, 1.0)
    assert readers(mission, mission.odometry) == 0, "before the first step it must not be counted as a reader"
    shown.looking = frozenset()
    mission.state.publish(MissionState(phase=MissionState.RUNNING))
    ros(nodes, lambda: False, 1.0)
    assert readers(mission, mission.odometry) == readers(mission, mission.camera) == 0, "nobody looks"
    shown.looking = frozenset({"uav1"})
    assert ros(nodes, lambda: min(readers(mission, mission.odometry), readers(mission, mission.camera)) == 1)
    for x in range(20):
        mission.fly(float(x))
    assert ros(nodes, lambda: any(t == names.ODOMETRY and m.pose.pose.position.x == 19.0 for _, t, m in shown.taken))
    assert sum(topic == names.ODOMETRY for _, topic, _ in shown.taken) < 20, "only the newest are read"
    shown.looking = frozenset()
    assert ros(nodes, lambda: readers(mission, mission.odometry) + readers(mission, mission.camera) == 0)


def test_reports_made_before_anybody_watched_are_shown(ros: Spin, mission: Mission, viewer: Any) -> None:
    reports = mission.publisher(names.REPORTS)
    for number in range(1, 31):
        reports.publish(Report(seq=number))
    mission.state.publish(MissionState(phase=MissionState.RUNNING))
    shown = Shown()
    viewer.show(shown, lambda: None)
    nodes: list[Node] = [mission.node, viewer]
    assert ros(nodes, lambda: sum(topic == names.REPORTS for _, topic, _ in shown.taken) == 30)
    assert [m.seq for _, topic, m in shown.taken if topic == names.REPORTS] == list(range(1, 31))


def test_orders_and_reports_go_into_the_graph_and_an_order_is_repeated(
    ros: Spin, mission: Mission, viewer: Any
) -> None:
    viewer.show(Shown(), lambda: None)
    orders: list[int] = []
    reports: list[Any] = []

    def obey(request: Order.Request, response: Order.Response) -> Order.Response:
        orders.append(request.order)
        response.success = True
        return response

    def note(request: Sighting.Request, response: Sighting.Response) -> Sighting.Response:
        reports.append(request.report)
        response.success = True
        return response

    mission.node.create_service(Order, "uav1/pilot/order", obey)
    mission.node.create_service(Sighting, "uav1/planner/sighting", note)
    nodes: list[Node] = [mission.node, viewer]
    clients = viewer._order_clients["uav1"], viewer._sighting_clients["uav1"]
    assert ros(nodes, lambda: all(client.service_is_ready() for client in clients))
    viewer.order("uav1", "hold")
    viewer.report("uav1", "person", True, "red jacket", (1.0, 2.0, 3.0))
    assert ros(nodes, lambda: len(orders) >= 2 and len(reports) == 1), "a pilot that starts again hears it too"
    assert set(orders) == {Order.Request.ORDER_HOLD}
    assert (reports[0].type, reports[0].kind, reports[0].position.z) == (Report.VICTIM, "person", 3.0)
    viewer.order("uav1", "search")
    assert ros(nodes, lambda: orders[-1] == Order.Request.ORDER_SEARCH)
    count = len(orders)
    ros(nodes, lambda: False, 1.5)
    assert len(orders) == count


def test_an_order_of_another_tool_ends_the_page_s(ros: Spin, mission: Mission, viewer: Any) -> None:
    viewer.show(Shown(), lambda: None)
    orders: list[int] = []
    standing = mission.publisher(names.OPERATOR_ORDER)

    def obey(request: Order.Request, response: Order.Response) -> Order.Response:
        orders.append(request.order)
        standing.publish(StandingOrder(order=request.order))
        response.success = True
        return response

    mission.node.create_service(Order, "uav1/pilot/order", obey)
    nodes: list[Node] = [mission.node, viewer]
    assert ros(nodes, lambda: viewer._order_clients["uav1"].service_is_ready() and readers(mission, standing) == 1)
    viewer.order("uav1", "hold")
    assert ros(nodes, lambda: len(orders) >= 2)
    standing.publish(StandingOrder(order=Order.Request.ORDER_SEARCH))  # a terminal's, which the pilot obeys
    ros(nodes, lambda: False, 0.5)
    count = len(orders)
    ros(nodes, lambda: False, 2.5)
    assert len(orders) == count, "the vehicle is the planner's again"
    standing.publish(StandingOrder(order=Order.Request.ORDER_RETURN))
    assert ros(nodes, lambda: orders[-1] == Order.Request.ORDER_RETURN), "a pilot that starts again hears it too"


def test_a_request_that_is_refused_or_heard_by_nobody_is_told_to_the_view(
    ros: Spin, mission: Mission, viewer: Any
) -> None:
    def refuse(request: Sighting.Request, response: Sighting.Response) -> Sighting.Response:
        response.message = "not reported: the mission has ended"
        return response

    shown = Shown()
    viewer.show(shown, lambda: None)
    mission.node.create_service(Sighting, "uav1/planner/sighting", refuse)
    nodes: list[Node] = [mission.node, viewer]
    assert ros(nodes, viewer._sighting_clients["uav1"].service_is_ready)
    viewer.report("uav1", "person", True, "red jacket", (1.0, 2.0, 3.0))
    assert ros(nodes, lambda: shown.refused == [("uav1", "not reported: the mission has ended")])
    viewer.order("uav1", "search")
    assert ros(nodes, lambda: len(shown.refused) == 2)
    assert shown.refused[1] == ("uav1", "uav1/pilot/order is not there")


def test_foxglove_is_told_the_topics_and_gets_the_bytes(ros: Spin, mission: Mission) -> None:
    pytest.importorskip("foxglove")
    client = pytest.importorskip("websockets.sync.client")
    from esar_ros.nodes.tools.foxglove_bridge import FoxgloveBridgeNode

    bridge = FoxgloveBridgeNode()
    nodes: list[Node] = [mission.node, bridge]
    channels: dict[str, Any] = {}
    got: list[bytes] = []
    flying = threading.Event()

    def talk() -> None:
        address = f"ws://127.0.0.1:{bridge.address_port}"
        with client.connect(address, subprotocols=["foxglove.sdk.v1"], max_size=None) as socket:
            limit = time.monotonic() + 20.0
            while not got and time.monotonic() < limit:
                try:
                    told = socket.recv(timeout=0.2)
                except TimeoutError:
                    continue
                if isinstance(told, bytes):
                    if told[0] == 1:  # message data: subscription id, log time, payload
                        got.append(told)
                    continue
                words = json.loads(told)
                if words["op"] == "advertise":
                    channels.update({channel["topic"]: channel for channel in words["channels"]})
                    if "/uav1/odometry" in channels and not flying.is_set():
                        wanted = {"id": 77, "channelId": channels["/uav1/odometry"]["id"]}
                        socket.send(json.dumps({"op": "subscribe", "subscriptions": [wanted]}))
                        flying.set()

    mission.state.publish(MissionState(phase=MissionState.RUNNING))
    reader = threading.Thread(target=talk)
    reader.start()
    try:
        assert ros(nodes, lambda: readers(mission, mission.odometry) == 1, 20.0)
        assert readers(mission, mission.camera) == 0, "nobody asked for it"

        def arrived() -> bool:
            mission.fly(4.5)
            return bool(got)

        assert ros(nodes, arrived, 20.0)
        reader.join(20.0)
        assert ros(nodes, lambda: readers(mission, mission.odometry) == 0, 20.0)
    finally:
        reader.join(25.0)
        bridge.close()
    channel = channels["/uav1/odometry"]
    assert (channel["encoding"], channel["schemaName"], channel["schemaEncoding"]) == (
        "cdr",
        "nav_msgs/msg/Odometry",
        "ros2msg",
    )
    assert "MSG: geometry_msgs/PoseWithCovariance" in channel["schema"]
    assert {"/tf", "/tf_static", "/uav1/belief", "/uav1/safety/status"} <= set(channels)
    subscription, log_time = struct.unpack_from("<IQ", got[0], 1)
    assert (subscription, log_time) == (77, 12_000_000_000)
    from rclpy.serialization import deserialize_message

    assert deserialize_message(got[0][13:], Odometry).pose.pose.position.x == 4.5
