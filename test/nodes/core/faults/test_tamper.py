"""Effects of faults on messages and frames."""

from __future__ import annotations

import math

import numpy as np
import pytest
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import BatteryState

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame, FrameSet
from esar_ros.geometry.frames import Pose
from esar_ros.mission import names
from esar_ros.msg import Clue, Clues, RangeImage
from esar_ros.nodes.core.faults.tamper import FrameTamper, MessageTamper
from esar_ros.nodes.core.steps import to_stamp

PERIOD = 50_000_000  # ns


def test_a_message_is_changed_in_a_copy() -> None:
    tamper = MessageTamper()
    ranges = RangeImage(rows=1, columns=2, range_max=60.0, ranges=[1.5, math.inf])
    ranges.header.stamp = to_stamp(5 * PERIOD)
    assert list(tamper.in_millimetres(ranges).ranges) == [1500.0, math.inf]
    assert np.isnan(tamper.spoiled(ranges).ranges).all()
    assert tamper.stamp(tamper.spoiled(ranges)) == 5 * PERIOD
    assert tamper.stamp(tamper.shifted(ranges, 0.25)) == 10 * PERIOD
    assert tamper.stamp(tamper.shifted(ranges, -9.0)) == 0
    assert list(ranges.ranges) == [1.5, math.inf]
    assert tamper.stamp(ranges) == 5 * PERIOD
    battery = BatteryState(percentage=0.9)
    assert tamper.charged(battery, 0.25).percentage == 0.25
    assert battery.percentage == pytest.approx(0.9)


def test_nested_numbers_are_spoiled_too() -> None:
    spoiled = MessageTamper().spoiled(Clues(clues=[Clue(id=3, kind="tent", probability=0.5)]))
    assert math.isnan(spoiled.clues[0].probability)
    assert math.isnan(spoiled.clues[0].position.x)
    assert spoiled.clues[0].kind == "tent"
    odometry = MessageTamper().spoiled(Odometry())
    assert math.isnan(odometry.pose.pose.orientation.w)
    assert np.isnan(odometry.pose.covariance).all()


def test_a_flip_is_north_east_down() -> None:
    tamper = MessageTamper()
    odometry = Odometry()
    place = odometry.pose.pose.position
    place.x, place.y, place.z = 1.0, 2.0, 3.0  # east, north, up
    odometry.pose.pose.orientation.w = 1.0  # looks east
    body = odometry.twist.twist.linear
    body.x, body.y, body.z = 4.0, 5.0, 6.0  # forward, left, up
    flipped = tamper.flipped(odometry)
    assert [getattr(flipped.pose.pose.position, a) for a in "xyz"] == [2.0, 1.0, -3.0]
    q = flipped.pose.pose.orientation
    assert abs(2.0 * math.atan2(q.z, q.w)) == pytest.approx(math.pi / 2)  # clockwise from north
    assert [getattr(flipped.twist.twist.linear, a) for a in "xyz"] == [4.0, -5.0, -6.0]
    command = TwistStamped()
    command.twist.linear.x, command.twist.linear.z, command.twist.angular.z = 1.0, 2.0, 0.5
    turned = tamper.flipped(command).twist
    assert (turned.linear.x, turned.linear.y, turned.linear.z, turned.angular.z) == (0.0, 1.0, -2.0, -0.5)


def test_a_wrong_heading_leaves_the_velocity_in_the_map_as_it_was() -> None:
    odometry = Odometry()
    odometry.pose.pose.orientation.w = 1.0  # looks east
    odometry.twist.twist.linear.x, odometry.twist.twist.linear.z = 4.0, 1.0  # flies east, and climbs
    turned = MessageTamper().turned(odometry, 90.0)
    q, body = turned.pose.pose.orientation, turned.twist.twist.linear
    assert 2.0 * math.atan2(q.z, q.w) == pytest.approx(math.pi / 2), "looks north"
    assert [body.x, body.y, body.z] == pytest.approx([0.0, -4.0, 1.0]), "flies to its right, which is east"
    assert odometry.pose.pose.orientation.w == 1.0, "in a copy"


def test_pictures_are_changed_in_a_copy() -> None:
    model = CameraModel.from_horizontal_fov(4, 2, 1.5)
    frames = tuple(
        CameraFrame(
            camera, model, Pose(np.zeros(3)), np.full((2, 4), 2.0, np.float32), np.zeros((2, 4, 3), np.uint8), 1.0
        )
        for camera in names.CAMERAS
    )
    whole, tamper = FrameSet(7, frames), FrameTamper()
    assert [f.camera for f in tamper.without_camera(whole, "left").frames] == ["front", "right", "down"]
    assert all((f.depth == 2000.0).all() for f in tamper.in_millimetres(whole).frames)
    assert all(np.isnan(f.depth).all() for f in tamper.spoiled(whole).frames)
    assert all((f.depth == 2.0).all() for f in whole.frames)
    assert tamper.stamp(whole) == 7
    later = tamper.shifted(whole, 2.0)
    assert later.ns == 2_000_000_007 and all(frame.stamp == 3.0 for frame in later.frames)
