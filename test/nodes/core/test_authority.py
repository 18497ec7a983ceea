"""One writer a topic, known by its node's name: what is judged, and on real DDS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped, TwistStamped
from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.msg import SafetyStatus
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.authority import (
    GHOST,
    UNNAMED,
    Authority,
    Endpoint,
    Writers,
    places_vehicle,
    why_not_obeyed,
)
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.steps import StepNode
from esar_ros.nodes.messages.convert import is_mode

SAFE = "/uav1/cmd_vel_safe"
GOVERNOR = Endpoint(b"1", node_names.SAFETY_GOVERNOR, "/uav1")


def writers() -> Writers:
    return Writers(SAFE, (node_names.SAFETY_GOVERNOR,), ("/uav1", "/"))


def test_the_one_writer_and_none_are_no_matter() -> None:
    assert writers().complaint([GOVERNOR], 5.0) == "" and writers().complaint([], 5.0) == ""


@pytest.mark.parametrize(
    "other",
    [Endpoint(b"2", "teleop", "/uav1"), Endpoint(b"2", node_names.SAFETY_GOVERNOR, "/uav2")],
    ids=["another name", "another vehicle's"],
)
def test_a_stranger_is_named_at_once_beside_the_writer_or_alone(other: Endpoint) -> None:
    for found in ([GOVERNOR, other], [other]):
        said = writers().complaint(found, 0.0)
        assert SAFE in said and f"{other.namespace}/{other.node}" in said


def test_a_name_that_is_not_told_yet_has_time_and_no_more() -> None:
    known, unnamed = writers(), Endpoint(b"2", "_NODE_NAME_UNKNOWN_", "_NODE_NAMESPACE_UNKNOWN_")
    assert known.complaint([GOVERNOR, unnamed], 10.0) == ""
    assert known.complaint([GOVERNOR, unnamed], 10.1 + UNNAMED) != ""


def test_a_killed_process_may_be_announced_for_a_while_beside_its_successor() -> None:
    known, again = writers(), replace(GOVERNOR, id=b"2")
    known.complaint([GOVERNOR], 0.0)
    assert known.complaint([GOVERNOR, again], 100.0) == ""
    assert writers().complaint([again], 120.0) == ""
    assert known.complaint([GOVERNOR, again], 100.1 + GHOST) != "", "both live"


def test_set_points_in_another_frame_or_of_another_time_are_not_obeyed() -> None:
    def command(frame: str, ns: int) -> TwistStamped:
        message = TwistStamped()
        message.header.frame_id, message.header.stamp = frame, Time(sec=ns // 10**9, nanosec=ns % 10**9)
        return message

    now, oldest = 100 * 10**9, 400_000_000
    for frame in ("", names.MAP):
        assert why_not_obeyed(command(frame, now - oldest), now, oldest) == ""
    assert "base_link" in why_not_obeyed(command("uav1/base_link", now), now, oldest)
    for ns in (0, now - oldest - 1, now + 10**9):
        assert "old" in why_not_obeyed(command(names.MAP, ns), now, oldest)


def transforms(*frames: tuple[str, str]) -> TFMessage:
    """A message of transforms from a parent to a child frame each."""
    message = TFMessage()
    for parent, child in frames:
        message.transforms.append(TransformStamped(child_frame_id=child))
        message.transforms[-1].header.frame_id = parent
    return message


def test_the_model_that_rviz_shows_is_no_other_mission() -> None:
    joints = ElementTree.parse(resource("urdf/vehicle.urdf")).getroot().findall("joint")
    links = [[str(joint.find(end).get("link")) for end in ("parent", "child")] for joint in joints]  # type: ignore[union-attr]
    # As robot_state_publisher sends the fixed joints, by frame_prefix.
    model = [(f"uav1/{parent}", f"uav1/{child}") for parent, child in links]
    assert ("uav1/base_link", names.camera_frame("uav1", "front")) in model
    assert not places_vehicle(transforms(*model)) and not places_vehicle(transforms((names.MAP, "uav1/odom")))
    assert not places_vehicle(transforms(*model, ("uav1/odom", "uav1/base_link"), (names.MAP, "ugv/odom")))
    assert places_vehicle(transforms((names.MAP, "uav1/odom"), *model))


def test_a_mode_that_nobody_knows_is_none() -> None:
    assert is_mode(SafetyStatus.MODE_NORMAL) and is_mode(SafetyStatus.MODE_TERMINATE)
    assert not any(map(is_mode, (SafetyStatus.MODE_UNKNOWN, 8, 200, 255)))


def test_on_the_graph_a_second_publisher_is_seen_and_its_end_too(ros: Any) -> None:
    entry = BY_NAME[names.CMD_VEL_SAFE]
    bridge, governor = Node("bridge"), Node(node_names.SAFETY_GOVERNOR, namespace="/uav1")
    authority = Authority(bridge, "uav1", (names.CMD_VEL_SAFE,))
    governor.create_publisher(TwistStamped, names.CMD_VEL_SAFE, PROFILES[entry.quality])
    assert ros([bridge, governor], lambda: [one.node for one in authority._found(SAFE)] == [node_names.SAFETY_GOVERNOR])
    authority.look()
    assert not authority.complaint
    stranger = Node("teleop", namespace="/uav1")
    publisher = stranger.create_publisher(TwistStamped, names.CMD_VEL_SAFE, PROFILES[entry.quality])
    assert ros([stranger], lambda: "/uav1/teleop" in authority.complaint)
    stranger.destroy_publisher(publisher)
    assert ros([], lambda: not authority.complaint)


class Pilot(StepNode):
    def __init__(self) -> None:
        super().__init__("pilot")
        self.join()

    def on_step(self, step: Any) -> None:
        return None


def test_a_second_graph_in_one_domain_is_refused_in_a_line_and_the_first_goes_on(ros: Any) -> None:
    first = Pilot()
    assert ros([first], lambda: first.alone, 10.0)
    second = Pilot()
    with pytest.raises(UsageError, match=r"another pilot lives in / on ROS domain \d+.*ROS_DOMAIN_ID"):
        ros([second], lambda: second.alone, 20.0)
    assert first.alone and not second.alone
