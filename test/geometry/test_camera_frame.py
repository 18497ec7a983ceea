"""Frames before and after they are placed in the map, and as methods see them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.camera_frame import CameraFrame, FrameSet
from esar_ros.geometry.frames import Pose, quaternion_from_rotation, quaternion_from_yaw

COVARIANCE = np.diag([4.0, 1.0, 9.0, 0.01, 0.02, 0.03])


@pytest.fixture
def taken() -> FrameSet:
    """The frames that a bridge gives: a camera ahead and one below, in base_link."""
    model, shape = CameraModel.from_horizontal_fov(4, 3, 1.5), (3, 4)
    frames = [
        CameraFrame(name, model, Pose(np.array(at), quaternion_from_rotation(optical_rotation(0.0, pitch))),
                    np.full(shape, 9.0, np.float32), np.zeros((*shape, 3), np.uint8), 1.0, np.ones(shape, np.uint8))
        for name, at, pitch in (("front", [0.2, 0.0, 0.0], 0.0), ("down", [0.0, 0.0, -0.1], -math.pi / 2))
    ]  # fmt: skip
    return FrameSet(1_000_000_000, tuple(frames))


def test_frames_are_placed_by_the_pose_of_the_vehicle(taken: FrameSet) -> None:
    base = Pose(np.array([1.0, 2.0, 3.0]), quaternion_from_yaw(math.pi / 2))
    placed = taken.placed(2_500_000_000, base, COVARIANCE)
    front, down = placed.frames
    assert placed.ns == 2_500_000_000 and [frame.camera for frame in placed.frames] == ["front", "down"]
    np.testing.assert_allclose(front.pose.position, [1.0, 2.2, 3.0], atol=1e-12)
    np.testing.assert_allclose(front.pose.rotation[:, 2], [0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(down.pose.position, [1.0, 2.0, 2.9], atol=1e-12)
    np.testing.assert_allclose(down.pose.rotation[:, 2], [0.0, 0.0, -1.0], atol=1e-12)
    for before, frame in zip(taken.frames, placed.frames, strict=True):
        assert frame.stamp == 2.5 and frame.pose_covariance is COVARIANCE
        assert np.shares_memory(frame.depth, before.depth) and np.shares_memory(frame.rgb, before.rgb)
        assert np.shares_memory(frame.segmentation, before.segmentation)


def test_nobody_can_write_into_placed_frames(taken: FrameSet) -> None:
    for frame in taken.placed(1, Pose(), None).frames:
        for array in (frame.depth, frame.rgb, frame.segmentation):
            assert array is not None
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    for frame in taken.frames:  # they are still their giver's own
        frame.depth[0] = 0.0


def test_methods_see_no_object_ids(taken: FrameSet) -> None:
    views = taken.views()
    assert list(views) == ["front", "down"]
    assert all(view.segmentation is None for view in views.values())
    assert all(views[frame.camera].depth is frame.depth for frame in taken.frames)
    assert replace(views["front"], segmentation=taken.frames[0].segmentation) == taken.frames[0]
