"""Frames placed at a stamp: chains, times between, and what is not known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from esar_ros.bags.frame_tree import MAX_GAP, FrameTree
from esar_ros.geometry.frames import Pose, quaternion_from_yaw

SECOND = 1_000_000_000


def at(x: float, yaw: float = 0.0) -> Pose:
    return Pose(np.array([x, 0.0, 0.0]), quaternion_from_yaw(yaw))


@pytest.fixture
def tree() -> FrameTree:
    tree = FrameTree()
    tree.add("base_link", "camera", at(1.0), None)
    tree.add("map", "odom", at(100.0, math.pi / 2), None)
    for tenths in (4, 0, 8):  # in no order
        tree.add("odom", "base_link", at(float(tenths), 0.1 * tenths), tenths * SECOND // 10)
    tree.add("earth", "map", at(5.0), None)
    return tree


def test_a_frame_is_led_back_to_the_map_and_no_further(tree: FrameTree) -> None:
    assert tree.root("/camera") == "map" and tree.root("earth") == "earth" and tree.root("unheard") == "unheard"
    pose = tree.pose("camera", 0)
    assert pose is not None and np.allclose(pose.position, [100.0, 1.0, 0.0]) and math.isclose(pose.yaw, math.pi / 2)


def test_between_two_stamps_a_frame_has_gone_a_part_of_the_way(tree: FrameTree) -> None:
    pose = tree.pose("base_link", SECOND // 10)
    assert pose is not None and np.allclose(pose.position, [100.0, 1.0, 0.0])
    assert math.isclose(pose.yaw, math.pi / 2 + 0.1, abs_tol=1e-3)


def test_a_turn_through_half_a_circle_takes_the_short_way() -> None:
    tree = FrameTree()
    tree.add("map", "base_link", at(0.0, math.pi - 0.1), 0)
    far = at(0.0, -math.pi + 0.1)
    tree.add("map", "base_link", Pose(far.position, -far.quaternion), SECOND // 10)
    pose = tree.pose("base_link", SECOND // 20)
    assert pose is not None and math.isclose(abs(pose.yaw), math.pi, abs_tol=1e-6)


def test_nothing_is_said_of_times_that_are_far_from_any_pose(tree: FrameTree) -> None:
    end = 8 * SECOND // 10
    assert tree.pose("camera", end + MAX_GAP // 2) is not None
    assert tree.pose("camera", end + MAX_GAP // 2 + 1) is None
    tree.add("odom", "base_link", at(0.0), end + MAX_GAP + 1)
    assert tree.pose("camera", end + MAX_GAP // 2) is None


def test_two_estimates_of_one_frame_are_not_mixed(tree: FrameTree) -> None:
    other = FrameTree()
    other.add("odom", "base_link", at(77.0), SECOND // 10)
    other.add("base_link", "lidar", at(3.0), 0)
    tree.fill(other)
    pose, lidar = tree.pose("base_link", SECOND // 10), tree.pose("lidar", 0)
    assert pose is not None and np.allclose(pose.position, [100.0, 1.0, 0.0])
    assert lidar is not None and np.allclose(lidar.position, [100.0, 3.0, 0.0])


def test_impossible_poses_and_circles_are_passed_over() -> None:
    tree = FrameTree()
    tree.add("map", "odom", Pose(np.full(3, np.nan)), None)
    tree.add("b", "a", at(1.0), None)
    tree.add("a", "b", at(1.0), None)
    assert tree.root("odom") == "odom" and tree.root("a") in ("a", "b")
