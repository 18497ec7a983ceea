"""The pinhole camera: known pixels, and projecting what was back-projected."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.camera import CameraModel, optical_rotation

VGA = CameraModel.from_horizontal_fov(640, 480, math.pi / 2)
MODELS = st.builds(
    CameraModel.from_horizontal_fov,
    st.integers(1, 1000),
    st.integers(1, 1000),
    st.floats(0.2, 2.8),
)
SHARES = st.floats(0.0, 0.999)


def test_ninety_degrees_see_as_far_aside_as_ahead() -> None:
    assert (VGA.fx, VGA.fy, VGA.cx, VGA.cy) == pytest.approx((320.0, 320.0, 320.0, 240.0))
    pixels, inside = VGA.project([[-0.9999, 0.0, 1.0], [0.9999, 0.0, 1.0], [1.0001, 0.0, 1.0]])
    np.testing.assert_allclose(pixels[:, 0], [0.032, 639.968, 640.032], atol=1e-9)
    assert inside.tolist() == [True, True, False]


def test_the_matrix_projects_as_project_does() -> None:
    point = np.array([0.3, -0.2, 2.0])
    u, v, w = VGA.matrix @ point
    np.testing.assert_allclose(VGA.project(point)[0], [u / w, v / w])


@settings(deadline=None)
@given(MODELS, SHARES, SHARES, st.floats(0.01, 500.0))
def test_what_is_back_projected_projects_to_its_pixel(model: CameraModel, u: float, v: float, depth: float) -> None:
    pixel = np.array([u * model.width, v * model.height])
    point = model.back_project(pixel, depth)
    assert point[2] == depth
    back, inside = model.project(point)
    np.testing.assert_allclose(back, pixel, atol=1e-6)
    assert inside or min(pixel) < 1e-6


@settings(deadline=None)
@given(MODELS)
def test_rays_go_through_the_centres_of_pixels(model: CameraModel) -> None:
    rays = model.rays()
    assert rays.shape == (model.height, model.width, 3)
    rows, columns = np.array([0, model.height - 1, model.height // 2]), np.array([0, model.width - 1, model.width // 3])
    pixels, inside = model.project(rays[rows, columns])
    np.testing.assert_allclose(pixels, np.stack([columns + 0.5, rows + 0.5], axis=-1), atol=1e-6)
    assert inside.all()


def test_rays_agree_with_back_projection() -> None:
    pixels = np.stack(np.meshgrid(np.arange(640) + 0.5, np.arange(480) + 0.5), axis=-1)
    np.testing.assert_allclose(VGA.rays(), VGA.back_project(pixels, np.ones((480, 640))), atol=1e-12)


@pytest.mark.parametrize("z", [0.0, -1.0, -1e-9, math.nan, -math.inf])
def test_nothing_behind_the_camera_is_in_the_picture(z: float) -> None:
    pixels, inside = VGA.project([0.0, 0.0, z])
    assert not inside
    assert np.isfinite(pixels).all()


def test_the_picture_s_edges_belong_to_it_on_one_side() -> None:
    corners = VGA.back_project([[0.0, 0.0], [640.0, 100.0], [100.0, 480.0]], np.ones(3))
    assert VGA.project(corners)[1].tolist() == [True, False, False]


@settings(deadline=None)
@given(st.integers(1, 500), st.integers(1, 500), st.floats(0.2, 2.8), st.sampled_from([0.5, 2.0, 3.0]))
def test_half_the_resolution_is_the_same_camera(width: int, height: int, fov: float, factor: float) -> None:
    model = CameraModel.from_horizontal_fov(2 * width, 2 * height, fov)
    other = model.scaled(factor)
    assert (other.width, other.height) == (model.width * factor, model.height * factor)
    point = np.array([0.1, -0.05, 1.0])
    np.testing.assert_allclose(other.project(point)[0], model.project(point)[0] * factor, rtol=1e-9)


@pytest.mark.parametrize(
    ("width", "height", "fov"), [(0, 480, 1.5), (640, -1, 1.5), (640, 480, 0.0), (640, 480, math.pi)]
)
def test_cameras_that_cannot_be_are_refused(width: int, height: int, fov: float) -> None:
    with pytest.raises(ValueError, match="no camera"):
        CameraModel.from_horizontal_fov(width, height, fov)


@pytest.mark.parametrize(
    ("yaw_deg", "pitch_deg", "forward", "right", "down"),
    [
        (0, 0, (1, 0, 0), (0, -1, 0), (0, 0, -1)),
        (90, 0, (0, 1, 0), (1, 0, 0), (0, 0, -1)),
        (-90, 0, (0, -1, 0), (-1, 0, 0), (0, 0, -1)),
        (0, -90, (0, 0, -1), (0, -1, 0), (-1, 0, 0)),
        (0, 90, (0, 0, 1), (0, -1, 0), (1, 0, 0)),
    ],
)
def test_where_a_mounted_camera_looks(
    yaw_deg: int, pitch_deg: int, forward: tuple[int, ...], right: tuple[int, ...], down: tuple[int, ...]
) -> None:
    rotation = optical_rotation(math.radians(yaw_deg), math.radians(pitch_deg))
    np.testing.assert_allclose(rotation, np.array([right, down, forward], dtype=float).T, atol=1e-12)


@settings(deadline=None)
@given(st.floats(-3.2, 3.2), st.floats(-1.6, 1.6))
def test_a_mount_is_a_rotation_without_roll(yaw: float, pitch: float) -> None:
    rotation = optical_rotation(yaw, pitch)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(rotation) == pytest.approx(1.0)
    assert rotation[2, 0] == pytest.approx(0.0, abs=1e-12)  # the picture's rows are level
    assert rotation[2, 2] == pytest.approx(math.sin(pitch), abs=1e-12)
