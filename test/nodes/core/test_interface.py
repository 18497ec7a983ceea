"""The live graph against the table in nodes/core/interface.py: nodes, topics, types, quality of service."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, ListParameters, SetParameters
from rclpy.action import graph as action_graph
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from esar_ros.bridges.airsim.client import AirSimClient, AirSimError
from esar_ros.bridges.airsim.types import image_request
from esar_ros.mission import names
from esar_ros.mission.system.truth_token import VARIABLE
from esar_ros.nodes.core import interface, node_names
from esar_ros.nodes.core.interface import ACTIONS, TOPICS, Topic
from esar_ros.nodes.core.node_names import ANY_NODE
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.types import message_class
from helpers.flight import Flight, write_short_task
from helpers.ros_domain import own_domain

VEHICLE = "uav1"
SPACES = {name: f"/{VEHICLE}" for name in node_names.VEHICLE_PARTICIPANTS} | {
    name: "/" for name in (*node_names.MISSION_PARTICIPANTS, node_names.AIRSIM_BRIDGE)
}


@pytest.fixture(scope="module")
def flight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flight]:
    """A mission that is under way."""
    folder = tmp_path_factory.mktemp("live")
    with own_domain():
        flight = Flight(folder / "out", write_short_task(folder, 300.0), planner="fbe")
        yield flight
        flight.abort()


@pytest.fixture(scope="module")
def observer(flight: Flight) -> Iterator[Any]:
    """A node that watches it, long enough to have found everybody."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("observer", context=context)
    try:
        flight.wait_until(3.0)
        yield node
    finally:
        node.destroy_node()
        context.try_shutdown()


def full_name(topic: Topic) -> str:
    return topic.name if topic.name.startswith("/") else f"/{VEHICLE}/{topic.name}"


def test_every_node_of_the_graph_lives_once(observer: Any) -> None:
    alive = sorted((name, space) for name, space in observer.get_node_names_and_namespaces() if name != "observer")
    assert alive == sorted(SPACES.items())


CARRIED = [topic for topic in TOPICS if f"camera/{names.THERMAL}/" not in topic.name]  # by the shipped vehicle


@pytest.mark.parametrize("topic", CARRIED, ids=lambda topic: topic.name)
def test_a_topic_has_its_writer_type_and_quality(observer: Any, topic: Topic) -> None:
    found = observer.get_publishers_info_by_topic(full_name(topic))
    assert found, f"nobody publishes {full_name(topic)}"
    writers = {info.node_name for info in found}
    if topic.name == names.OPERATOR_ACT:
        assert writers == {
            node_names.AIRSIM_BRIDGE, node_names.SAFETY_GOVERNOR, node_names.CLUE_DETECTOR, node_names.VOXEL_MAPPER,
        }  # fmt: skip
    elif topic.writer == ANY_NODE:
        assert writers <= set(SPACES)
        assert len(writers) >= 8
    else:
        assert writers == {topic.writer}
    wanted = PROFILES[topic.quality]
    for info in found:
        assert info.topic_type == topic.type
        assert info.qos_profile.reliability == wanted.reliability
        assert info.qos_profile.durability == wanted.durability


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_subscriptions_match_their_publishers(observer: Any, topic: Topic) -> None:
    """A reliable reader of a best-effort writer, or a latched one of a volatile writer, would be silent."""
    wanted = PROFILES[topic.quality]
    readers = observer.get_subscriptions_info_by_topic(full_name(topic))
    for info in readers:
        assert info.topic_type == topic.type
        if wanted.reliability == ReliabilityPolicy.BEST_EFFORT:
            assert info.qos_profile.reliability != ReliabilityPolicy.RELIABLE
        if wanted.durability == DurabilityPolicy.VOLATILE:
            assert info.qos_profile.durability != DurabilityPolicy.TRANSIENT_LOCAL
    assert {info.node_name for info in readers} >= set(topic.readers)


def test_nothing_of_ours_is_told_in_a_string() -> None:
    """Whatever has a meaning has a message whose fields say it."""
    assert not [topic.name for topic in TOPICS if topic.type.startswith("std_msgs/")]


def test_nobody_is_waited_for_that_reads_what_is_made_on_demand() -> None:
    on_demand = [topic for topic in TOPICS if topic.on_demand]
    assert {names.MAP_POINTS, names.PATH, names.BELIEF} <= {topic.name for topic in on_demand}
    assert not [topic.name for topic in on_demand if topic.readers]


def test_no_topic_is_on_the_graph_that_the_table_does_not_know(observer: Any) -> None:
    known = {full_name(topic) for topic in TOPICS}
    ours = {
        name
        for name, _ in observer.get_topic_names_and_types()
        if "/_action/" not in name
        and not name.endswith("/transition_event")  # of managed nodes
        and name not in ("/rosout", "/parameter_events")
    }
    assert ours <= known


def test_only_the_governor_writes_what_the_bridge_obeys(observer: Any) -> None:
    safe = f"/{VEHICLE}/{names.CMD_VEL_SAFE}"
    writers = [(info.node_name, info.node_namespace) for info in observer.get_publishers_info_by_topic(safe)]
    assert writers == [(node_names.SAFETY_GOVERNOR, f"/{VEHICLE}")]
    obeyed = {
        topic.name
        for topic in TOPICS
        for info in observer.get_subscriptions_info_by_topic(full_name(topic))
        if info.node_name == node_names.AIRSIM_BRIDGE and topic.type == "geometry_msgs/msg/TwistStamped"
    }
    assert obeyed == {names.CMD_VEL_SAFE}


def test_the_bridge_serves_the_actions(observer: Any) -> None:
    served = dict(action_graph.get_action_names_and_types(observer))
    for name, kind in ACTIONS.items():
        assert served[f"/{VEHICLE}/{name}"] == [kind]


def test_everything_lives_in_the_vehicle_s_namespace_but_what_ros_has_globally(observer: Any) -> None:
    allowed = {names.CLOCK, names.TF, names.TF_STATIC, names.DIAGNOSTICS}
    assert {topic.name for topic in TOPICS if topic.name.startswith("/")} == allowed


def test_a_planner_s_process_cannot_read_the_truth(flight: Flight) -> None:
    """No token in its environment, and without one the simulator refuses every truth call."""
    flight.wait_until(3.0)
    planner = flight.supervisor.pid("uav1-planner")
    environment = Path(f"/proc/{planner}/environ").read_bytes().split(b"\0")
    tokens = [entry.partition(b"=")[2] for entry in environment if entry.startswith(VARIABLE.encode())]
    assert tokens == [b""]
    knowing = [flight.supervisor.pid(label) for label in ("simulator", "referee_recorder", "uav1-sensing")]
    secret = flight.token.encode()
    assert not any(
        secret in Path(f"/proc/{pid}/{what}").read_bytes() for pid in knowing for what in ("environ", "cmdline")
    )
    with AirSimClient("127.0.0.1", flight.options.port) as client:
        calls: list[tuple[Any, ...]] = [
            ("simListSceneObjects", ".*"),
            ("simGetObjectPose", "esar_object_"),
            ("simGetSegmentationObjectID", "esar_object_"),
            ("simGetImages", [image_request("front", 5, True)], "uav1", False),
            ("simSpawnObject", "x", "tent", {}, {}, False, False),
            ("esarAuthorize", "guess"),
        ]
        for call in calls:
            with pytest.raises(AirSimError):
                assert client.call(*call) is None


# --- Diagnostics, parameters and lifecycle of the live nodes ---------------------------------------------------------

NODES = sorted(f"{space.rstrip('/')}/{name}" for name, space in SPACES.items())
MANAGED = (node_names.CLUE_DETECTOR, node_names.VOXEL_MAPPER, node_names.SAFETY_GOVERNOR)
# Parameters that every rclpy node has, and those that are meant to be changed in flight.
OF_RCLPY = ("use_sim_time", "start_type_description_service")
CHANGEABLE = {
    f"/{VEHICLE}/{node_names.VOXEL_MAPPER}": {"map_file"},
    f"/{node_names.AIRSIM_BRIDGE}": {"paused", "speed"},
}


@pytest.fixture(scope="module")
def spin(observer: Any) -> Callable[..., bool]:
    """spin(until, seconds): handle what the observer receives until it is true."""
    executor = SingleThreadedExecutor(context=observer.context)
    executor.add_node(observer)

    def turn(until: Callable[[], Any], seconds: float = 20.0) -> bool:
        limit = time.monotonic() + seconds
        while time.monotonic() < limit and not until():
            executor.spin_once(timeout_sec=0.05)
        return bool(until())

    return turn


@pytest.fixture(scope="module")
def call(observer: Any, spin: Callable[..., bool]) -> Callable[..., Any]:
    """call(type, name, request): the answer of a service."""
    clients: dict[str, Any] = {}

    def ask(kind: Any, name: str, request: Any) -> Any:
        client = clients.setdefault(name, observer.create_client(kind, name))
        assert spin(client.service_is_ready), f"nobody serves {name}"
        answer = client.call_async(request)
        assert spin(answer.done), f"no answer from {name}"
        return answer.result()

    return ask


@pytest.fixture(scope="module")
def diagnostics(observer: Any, spin: Callable[..., bool]) -> dict[str, list[DiagnosticStatus]]:
    """Statuses by node, of some seconds."""
    heard: list[DiagnosticArray] = []
    entry = interface.BY_NAME[names.DIAGNOSTICS]
    observer.create_subscription(DiagnosticArray, entry.name, heard.append, PROFILES[entry.quality])
    by_node: dict[str, list[DiagnosticStatus]] = {}

    def all_spoke() -> bool:
        by_node.clear()
        for array in heard:
            for status in array.status:
                by_node.setdefault("/" + status.name.split(": ")[0], []).append(status)
        return all(len(by_node.get(node, ())) >= 2 for node in NODES)

    assert spin(all_spoke, 30.0), f"silent: {sorted(set(NODES) - set(by_node))}"
    return by_node


@pytest.mark.parametrize("node", NODES)
def test_every_node_tells_how_it_is(diagnostics: dict[str, list[DiagnosticStatus]], node: str) -> None:
    """As diagnostic_updater's names and levels (REP-107)."""
    for status in diagnostics[node]:
        name, separator, what = status.name.partition(": ")
        assert f"/{name}" == node and separator and what
        assert status.level in (
            DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR, DiagnosticStatus.STALE
        )  # fmt: skip
        assert status.message
        assert status.hardware_id == (VEHICLE if node.startswith(f"/{VEHICLE}/") else "mission")
        keys = [value.key for value in status.values]
        assert len(keys) == len(set(keys))


def test_a_healthy_mission_reports_no_error(diagnostics: dict[str, list[DiagnosticStatus]]) -> None:
    bad = [
        s.name + ": " + s.message for all_ in diagnostics.values() for s in all_ if s.level == DiagnosticStatus.ERROR
    ]
    assert not bad


@pytest.mark.parametrize("node", NODES)
def test_parameters_are_described_bounded_and_fixed_in_flight(call: Callable[..., Any], node: str) -> None:
    listed = call(ListParameters, f"{node}/list_parameters", ListParameters.Request()).result.names
    own = [name for name in listed if name not in OF_RCLPY and not name.startswith("qos_overrides.")]
    assert own
    described = call(DescribeParameters, f"{node}/describe_parameters", DescribeParameters.Request(names=own))
    for descriptor in described.descriptors:
        where = f"{node} {descriptor.name}"
        assert descriptor.description, where
        assert descriptor.type != ParameterType.PARAMETER_NOT_SET, where
        if descriptor.type == ParameterType.PARAMETER_INTEGER:
            assert descriptor.integer_range, where
        if descriptor.type == ParameterType.PARAMETER_DOUBLE:
            assert descriptor.floating_point_range, where
        assert descriptor.read_only != (descriptor.name in CHANGEABLE.get(node, set())), where


def test_nothing_of_the_governor_can_be_changed_in_flight(call: Callable[..., Any]) -> None:
    node = f"/{VEHICLE}/{node_names.SAFETY_GOVERNOR}"
    off = Parameter(name="enabled", value=ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=False))
    answer = call(SetParameters, f"{node}/set_parameters", SetParameters.Request(parameters=[off]))
    assert not answer.results[0].successful and "read-only" in answer.results[0].reason


def change(call: Callable[..., Any], node: str, transition: int) -> bool:
    request = ChangeState.Request(transition=Transition(id=transition))
    return bool(call(ChangeState, f"/{VEHICLE}/{node}/change_state", request).success)


def state(call: Callable[..., Any], node: str) -> str:
    return str(call(GetState, f"/{VEHICLE}/{node}/get_state", GetState.Request()).current_state.label)


@pytest.mark.parametrize("node", MANAGED)
def test_managed_nodes_start_active_and_offer_the_way_out(call: Callable[..., Any], node: str) -> None:
    assert state(call, node) == "active"
    request = GetAvailableTransitions.Request()
    ways = call(GetAvailableTransitions, f"/{VEHICLE}/{node}/get_available_transitions", request)
    assert sorted(way.transition.label for way in ways.available_transitions) == ["deactivate", "shutdown"]


def test_the_governor_cannot_be_deactivated_in_flight(observer: Any, spin: Callable[..., bool], call: Any) -> None:
    node = node_names.SAFETY_GOVERNOR
    for transition in (
        Transition.TRANSITION_DEACTIVATE,
        Transition.TRANSITION_CLEANUP,
        Transition.TRANSITION_ACTIVE_SHUTDOWN,
        Transition.TRANSITION_DESTROY,
    ):
        assert not change(call, node, transition)
    request = ChangeState.Request(transition=Transition(label="deactivate"))
    assert not call(ChangeState, f"/{VEHICLE}/{node}/change_state", request).success
    assert state(call, node) == "active"


@pytest.mark.parametrize("node", [node_names.VOXEL_MAPPER, node_names.CLUE_DETECTOR])
def test_a_deactivated_node_goes_on_answering_with_what_it_knew(
    observer: Any, spin: Callable[..., bool], call: Callable[..., Any], node: str
) -> None:
    """Time goes on in lockstep; the map no longer grows, or nothing is detected."""
    heard: list[Any] = []
    entry = interface.BY_NAME[names.MAP_STATUS if node == node_names.VOXEL_MAPPER else names.DETECTIONS]
    subscription = observer.create_subscription(
        message_class(entry.type), full_name(entry), heard.append, PROFILES[entry.quality]
    )

    def taken() -> list[int]:
        return [m.frames if node == node_names.VOXEL_MAPPER else len(m.detections) for m in heard]

    try:
        assert change(call, node, Transition.TRANSITION_DEACTIVATE)
        assert state(call, node) == "inactive"
        assert not change(call, node, Transition.TRANSITION_DEACTIVATE)
        heard.clear()
        assert spin(lambda: len(heard) >= 5, 60.0), "the steps stand still"
        assert len(set(taken()[2:])) == 1
        assert change(call, node, Transition.TRANSITION_ACTIVATE)
        assert state(call, node) == "active"
        if node == node_names.VOXEL_MAPPER:
            before = taken()[-1]
            assert spin(lambda: taken()[-1] > before, 60.0)
    finally:
        observer.destroy_subscription(subscription)


@pytest.mark.parametrize("node", [node_names.VOXEL_MAPPER, node_names.CLUE_DETECTOR])
def test_a_node_that_is_cleaned_up_leaves_the_steps_and_comes_back(
    observer: Any, spin: Callable[..., bool], call: Callable[..., Any], node: str
) -> None:
    """The others go on without it, and the steps count on it again once it is active."""
    ticks: list[Any] = []
    entry = interface.BY_NAME[names.TICK]
    subscription = observer.create_subscription(
        message_class(entry.type), full_name(entry), ticks.append, PROFILES[entry.quality]
    )
    try:
        assert all(change(call, node, n) for n in (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP))
        assert state(call, node) == "unconfigured"
        assert spin(lambda: ticks and list(ticks[-1].absent) == [node], 60.0)
        last = ticks[-1].seq
        assert spin(lambda: ticks[-1].seq > last + 5, 60.0), "the steps stand still"
        assert all(change(call, node, n) for n in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE))
        assert spin(lambda: not ticks[-1].absent, 60.0)
        last = ticks[-1].seq
        assert spin(lambda: ticks[-1].seq > last + 25, 60.0), "the steps stand still"
    finally:
        observer.destroy_subscription(subscription)
