"""Back-projection of detections with covariance."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, quaternion_from_rotation, quaternion_from_rpy, rotation_from_quaternion
from esar_ros.perception.detectors.backend import Detection2D
from esar_ros.perception.fusion.localisation import localise
from esar_ros.perception.settings import LocalisationSettings

SETTINGS = LocalisationSettings()


def box(x: int, y: int, width: int, height: int, mask: NDArray[np.bool_] | None = None) -> Detection2D:
    return Detection2D("tent", 0.9, (x, y, width, height), "tent", mask)


def placed(detection: Detection2D, frame: CameraFrame) -> tuple[np.ndarray, np.ndarray]:
    """Position and covariance of a detection that has depth."""
    seen = localise(detection, frame, SETTINGS)
    assert seen.position is not None and seen.covariance is not None
    return seen.position, seen.covariance


def test_object_under_the_camera_lies_under_the_camera(down_frame: CameraFrame) -> None:
    seen = localise(box(318, 238, 4, 4), down_frame, SETTINGS)
    assert seen.position is not None
    np.testing.assert_allclose(seen.position, [5.0, 7.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(seen.bearing, [0.0, 0.0, -1.0], atol=1e-12)
    assert seen.view_range == pytest.approx(30.0)


def test_the_pose_is_as_uncertain_as_odometry_states(down_frame: CameraFrame) -> None:
    stated = np.diag([4.0, 1.0, 9.0, 0.01, 0.02, 0.03])
    stated[0, 1] = stated[1, 0] = 0.5
    seen = localise(box(318, 238, 4, 4), replace(down_frame, pose_covariance=stated), SETTINGS)
    np.testing.assert_array_equal(seen.pose_covariance, stated)


def test_axes_that_odometry_does_not_state_are_as_the_settings_assume(down_frame: CameraFrame) -> None:
    stated = np.diag([-1.0, 0.0, 9.0, 0.0, 0.0, 0.03])
    seen = localise(box(318, 238, 4, 4), replace(down_frame, pose_covariance=stated), SETTINGS)
    assumed = SETTINGS.pose.covariance.diagonal()
    np.testing.assert_array_equal(seen.pose_covariance, np.diag([*assumed[:2], 9.0, *assumed[3:5], 0.03]))


def test_picture_axes_are_map_axes(down_frame: CameraFrame) -> None:
    """Top of the picture is east, its left is north."""
    np.testing.assert_allclose(placed(box(318, 78, 4, 4), down_frame)[0], [20.0, 7.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(placed(box(158, 238, 4, 4), down_frame)[0], [5.0, 22.0, 0.0], atol=1e-9)


def test_mask_keeps_ground_out(down_frame: CameraFrame) -> None:
    """A pole's own pixels, not the ground around it, give the range, and its pixels the direction."""
    down_frame.depth[230:250, 320] = 20.0
    mask = np.zeros((20, 40), bool)
    mask[:, 20] = True
    position, _ = placed(box(300, 230, 40, 20, mask), down_frame)
    assert position[2] == pytest.approx(10.0)
    assert position[1] == pytest.approx(7.0 - 0.5 * 20 / 320)


def test_box_without_mask_takes_the_near_cluster(down_frame: CameraFrame) -> None:
    """An upright object in front of far ground: half of the box is background."""
    down_frame.depth[200:240, 300:310] = 18.0
    position, _ = placed(box(300, 200, 20, 40), down_frame)
    assert position[2] == pytest.approx(12.0)


def test_outliers_in_the_mask_are_trimmed(down_frame: CameraFrame) -> None:
    down_frame.depth[238, 318] = 2.0
    down_frame.depth[241, 321] = 119.0
    seen = localise(box(316, 236, 8, 8, np.ones((8, 8), bool)), down_frame, SETTINGS)
    assert seen.position is not None and seen.noise is not None
    assert seen.position[2] == pytest.approx(0.0, abs=1e-6)
    assert np.sqrt(seen.noise[2, 2]) < 0.5


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 0.0, -3.0])
def test_without_depth_there_is_a_bearing(down_frame: CameraFrame, value: Any) -> None:
    down_frame.depth[:] = value
    seen = localise(box(318, 238, 4, 4), down_frame, SETTINGS)
    assert seen.position is None and seen.covariance is None and seen.view_range is None
    np.testing.assert_allclose(seen.bearing, [0.0, 0.0, -1.0], atol=1e-12)


def test_a_box_without_depth_says_how_large_it_is_unless_the_edge_cuts_it(down_frame: CameraFrame) -> None:
    blind = replace(down_frame, depth=np.full_like(down_frame.depth, np.nan))
    seen = localise(box(310, 230, 20, 20), blind, SETTINGS)
    assert 30.0 * seen.side == pytest.approx(30.0 * 20.0 / blind.model.fx, rel=1e-3)
    assert localise(box(0, 230, 20, 20), blind, SETTINGS).side == 0.0


@pytest.mark.parametrize("corner", [(-5, -5), (635, 475), (-60, 10), (10, -60), (700, 500)])
def test_boxes_over_the_border_do_no_harm(down_frame: CameraFrame, corner: tuple[int, int]) -> None:
    x, y = corner
    seen = localise(box(x, y, 10, 10, np.ones((10, 10), bool)), down_frame, SETTINGS)
    assert np.isfinite(seen.bearing).all()


def test_an_object_cut_by_the_border_is_less_certain(down_frame: CameraFrame) -> None:
    _, whole = placed(box(10, 230, 60, 20), down_frame)
    _, cut = placed(box(0, 230, 60, 20), down_frame)
    assert cut[1, 1] > 4.0 * whole[1, 1]
    assert cut[0, 0] == pytest.approx(whole[0, 0], rel=0.05)


def test_far_is_less_certain_than_near(down_frame: CameraFrame) -> None:
    _, near = placed(box(318, 238, 4, 4), down_frame)
    _, far = placed(box(318, 238, 4, 4), replace(down_frame, depth=down_frame.depth * 3))
    assert (np.diag(far) > np.diag(near)).all()


@settings(deadline=None, max_examples=60)
@given(
    yaw=st.floats(-3.1, 3.1),
    pitch=st.floats(-1.57, 0.5),
    depth=st.floats(1.0, 120.0),
    x=st.integers(1, 600),
    y=st.integers(1, 440),
    masked=st.booleans(),
)
def test_point_reprojects_to_the_box_and_covariance_is_proper(
    yaw: Any, pitch: Any, depth: Any, x: Any, y: Any, masked: Any
) -> None:
    model = CameraModel.from_horizontal_fov(640, 480, math.pi / 2)
    pose = Pose(np.array([10.0, -4.0, 50.0]), quaternion_from_rotation(optical_rotation(yaw, pitch)))
    frame = CameraFrame(
        "front", model, pose, np.full((480, 640), depth, np.float32), np.zeros((480, 640, 3), np.uint8), 0.0
    )
    seen = localise(box(x, y, 20, 10, np.ones((10, 20), bool) if masked else None), frame, SETTINGS)
    assert seen.position is not None and seen.view_range is not None and seen.covariance is not None
    pixel, inside = model.project(pose.inverse().apply(seen.position))
    assert inside
    np.testing.assert_allclose(pixel, [x + 10.0, y + 5.0], atol=1e-6)
    np.testing.assert_allclose(seen.origin + seen.bearing * seen.view_range, seen.position, atol=1e-6)
    np.testing.assert_array_equal(seen.covariance, seen.covariance.T)
    assert np.linalg.eigvalsh(seen.covariance).min() > 0.0


def test_covariance_is_honest_under_its_own_error_model() -> None:
    """Normalised error squared over 400 random views, inside the 99.9 % bounds of chi-square."""
    rng = np.random.default_rng(3)
    model = CameraModel.from_horizontal_fov(640, 480, math.pi / 2)
    total, runs = 0.0, 400
    for _ in range(runs):
        rotation = optical_rotation(rng.uniform(-3, 3), rng.uniform(-1.5, 0.0))
        truth_pose = Pose(rng.uniform(-50, 50, 3), quaternion_from_rotation(rotation))
        depth = rng.uniform(10.0, 100.0)
        pixel = rng.uniform([60, 60], [580, 420])
        truth = truth_pose.apply(model.back_project(pixel, depth))
        # What the detector and the localiser make of it.
        size = 10
        sigma = math.hypot(SETTINGS.pixel_sigma, size * SETTINGS.centre_share)
        x, y = np.rint(pixel + rng.normal(0.0, math.sqrt(sigma**2 - 1.0 / 12.0), 2) - size / 2).astype(int)
        measured = depth + rng.normal(0.0, math.hypot(SETTINGS.depth_sigma, SETTINGS.depth_relative_sigma * depth))
        error = rng.multivariate_normal(np.zeros(6), SETTINGS.pose.covariance)
        tilt = rotation_from_quaternion(quaternion_from_rpy(*error[3:]))
        pose = Pose(truth_pose.position + error[:3], quaternion_from_rotation(tilt @ rotation))
        frame = CameraFrame(
            "front", model, pose, np.full((480, 640), measured, np.float32), np.zeros((1, 1, 3), np.uint8), 0.0
        )
        position, covariance = placed(box(x, y, size, size), frame)
        off = position - truth
        total += float(off @ np.linalg.solve(covariance, off))
    assert chi2.ppf(0.0005, 3 * runs) < total < chi2.ppf(0.9995, 3 * runs)
