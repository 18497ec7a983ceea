"""Rotations and poses: known values, round trips, and the two frame conversions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.frames import (
    Pose,
    attitude_enu_flu_to_ned_frd,
    attitude_ned_frd_to_enu_flu,
    covariance_in_parent,
    flu_to_frd,
    frd_to_flu,
    is_rotation,
    motion_in_parent,
    ned_to_enu,
    quaternion_from_rotation,
    quaternion_from_rpy,
    quaternion_from_yaw,
    rotation_from_quaternion,
    vector,
    wrap_angle,
    yaw_from_quaternion,
)

LENGTHS = st.floats(-2000.0, 2000.0)
VECTORS = st.tuples(LENGTHS, LENGTHS, LENGTHS).map(np.array)
ANGLES = st.floats(-3.1, 3.1)
ROTATIONS = st.tuples(ANGLES, st.floats(-1.5, 1.5), ANGLES).map(lambda rpy: quaternion_from_rpy(*rpy))
POSES = st.builds(Pose, VECTORS, ROTATIONS)

plain = settings(deadline=None)


def same_rotation(a: np.ndarray, b: np.ndarray) -> bool:
    """q and -q are the same."""
    return bool(np.allclose(rotation_from_quaternion(a), rotation_from_quaternion(b), atol=1e-9))


# -- angles and rotations -----------------------------------------------------------------------


@plain
@given(st.floats(-1e4, 1e4))
def test_wrapped_angles_differ_by_whole_turns(angle: float) -> None:
    wrapped = wrap_angle(angle)
    assert -math.pi <= wrapped <= math.pi
    turns = (angle - wrapped) / (2.0 * math.pi)
    assert abs(turns - round(turns)) < 1e-8


@pytest.mark.parametrize(
    ("angle", "wrapped"), [(0.0, 0.0), (math.pi, -math.pi), (-math.pi, -math.pi), (4.0, 4 - 2 * math.pi)]
)
def test_wrapping_known_angles(angle: float, wrapped: float) -> None:
    assert wrap_angle(angle) == pytest.approx(wrapped)


@plain
@given(ANGLES)
def test_a_level_attitude_keeps_its_heading(yaw: float) -> None:
    assert yaw_from_quaternion(quaternion_from_yaw(yaw)) == pytest.approx(yaw, abs=1e-9)
    forward = rotation_from_quaternion(quaternion_from_yaw(yaw)) @ [1.0, 0.0, 0.0]
    np.testing.assert_allclose(forward, [math.cos(yaw), math.sin(yaw), 0.0], atol=1e-9)


def test_pitch_up_is_negative_about_the_left_axis() -> None:
    """FLU: turning about y (left) by a positive angle lowers the nose."""
    nose = rotation_from_quaternion(quaternion_from_rpy(0.0, 0.1, 0.0)) @ [1.0, 0.0, 0.0]
    assert nose[2] == pytest.approx(-math.sin(0.1))


@plain
@given(ROTATIONS, st.floats(0.01, 100.0))
def test_matrices_are_rotations_whatever_the_quaternion_s_length(q: np.ndarray, length: float) -> None:
    rotation = rotation_from_quaternion(q * length)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-9)
    assert np.linalg.det(rotation) == pytest.approx(1.0)
    back = quaternion_from_rotation(rotation)
    assert back[0] >= 0.0
    assert same_rotation(back, q)


@pytest.mark.parametrize("bad", [(0, 0, 0, 0), (math.nan, 0, 0, 1), (math.inf, 0, 0, 0)])
def test_what_is_no_rotation_is_refused(bad: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="not a rotation"):
        rotation_from_quaternion(bad)


@pytest.mark.parametrize("bad", [[], [1.0], [1.0, 2.0], [[1.0, 2.0, 3.0]], 3.0])
def test_a_vector_has_three_components(bad: object) -> None:
    with pytest.raises(ValueError, match="three components"):
        vector(bad)  # type: ignore[arg-type]


# -- NED and FRD --------------------------------------------------------------------------------


def test_the_axes_of_the_worlds() -> None:
    north, east, down = np.eye(3)
    np.testing.assert_array_equal(ned_to_enu(north), [0, 1, 0])
    np.testing.assert_array_equal(ned_to_enu(east), [1, 0, 0])
    np.testing.assert_array_equal(ned_to_enu(down), [0, 0, -1])


def test_the_axes_of_the_bodies() -> None:
    forward, right, down = np.eye(3)
    np.testing.assert_array_equal(frd_to_flu(forward), [1, 0, 0])
    np.testing.assert_array_equal(frd_to_flu(right), [0, -1, 0])
    np.testing.assert_array_equal(frd_to_flu(down), [0, 0, -1])


@plain
@given(VECTORS)
def test_both_conversions_are_their_own_inverse(v: np.ndarray) -> None:
    np.testing.assert_array_equal(ned_to_enu(ned_to_enu(v)), v)
    np.testing.assert_array_equal(flu_to_frd(frd_to_flu(v)), v)


def test_many_vectors_at_once() -> None:
    points = np.arange(24.0).reshape(2, 4, 3)
    for convert in (ned_to_enu, frd_to_flu):
        out = convert(points)
        assert out.shape == points.shape
        np.testing.assert_array_equal(out[1, 2], convert(points[1, 2]))


@pytest.mark.parametrize(
    ("heading", "yaw"), [(0.0, math.pi / 2), (math.pi / 2, 0.0), (math.pi, -math.pi / 2), (-math.pi / 2, math.pi)]
)
def test_a_compass_heading_as_a_yaw(heading: float, yaw: float) -> None:
    """NED counts from north, clockwise; ENU from east, counter-clockwise."""
    enu = attitude_ned_frd_to_enu_flu(quaternion_from_yaw(heading))
    assert wrap_angle(yaw_from_quaternion(enu) - yaw) == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(rotation_from_quaternion(enu) @ [0, 0, 1], [0, 0, 1], atol=1e-9)


@plain
@given(ROTATIONS, VECTORS)
def test_an_attitude_turns_vectors_the_same_in_both_worlds(q_ned: np.ndarray, v_frd: np.ndarray) -> None:
    there = ned_to_enu(rotation_from_quaternion(q_ned) @ v_frd)
    here = rotation_from_quaternion(attitude_ned_frd_to_enu_flu(q_ned)) @ frd_to_flu(v_frd)
    np.testing.assert_allclose(here, there, atol=1e-6)
    assert same_rotation(attitude_enu_flu_to_ned_frd(attitude_ned_frd_to_enu_flu(q_ned)), q_ned)


# -- poses --------------------------------------------------------------------------------------


@plain
@given(POSES, POSES, VECTORS)
def test_composing_is_applying_one_after_the_other(parent: Pose, child: Pose, p: np.ndarray) -> None:
    np.testing.assert_allclose(parent.compose(child).apply(p), parent.apply(child.apply(p)), atol=1e-6)
    np.testing.assert_allclose(parent.compose(child).matrix, parent.matrix @ child.matrix, atol=1e-6)


@plain
@given(POSES, VECTORS)
def test_an_inverse_takes_points_back(pose: Pose, p: np.ndarray) -> None:
    np.testing.assert_allclose(pose.inverse().apply(pose.apply(p)), p, atol=1e-6)
    np.testing.assert_allclose(pose.compose(pose.inverse()).matrix, np.eye(4), atol=1e-6)


def test_a_known_pose() -> None:
    """2 m ahead of a body at (10, 5, 3) that looks north."""
    pose = Pose(np.array([10.0, 5.0, 3.0]), quaternion_from_yaw(math.pi / 2))
    np.testing.assert_allclose(pose.apply([2.0, 0.0, 0.0]), [10.0, 7.0, 3.0], atol=1e-12)
    assert pose.yaw == pytest.approx(math.pi / 2)


def test_applying_to_many_points_is_applying_to_each() -> None:
    pose = Pose(np.array([1.0, 2.0, 3.0]), quaternion_from_rpy(0.1, 0.2, 0.3))
    points = np.random.default_rng(1).normal(size=(3, 4, 3))
    assert pose.apply(points).shape == points.shape
    np.testing.assert_allclose(pose.apply(points)[2, 1], pose.apply(points[2, 1]), atol=1e-12)


def test_equality_is_of_every_number_and_poses_are_no_keys() -> None:
    pose = Pose(np.array([1.0, 2.0, 3.0]))
    assert pose == Pose(np.array([1.0, 2.0, 3.0]))
    assert pose != Pose(np.array([1.0, 2.0, 3.1]))
    assert pose != Pose(np.array([1.0, 2.0, 3.0]), quaternion_from_yaw(0.1))
    assert pose != "pose"
    with pytest.raises(TypeError):
        hash(pose)


def test_a_pose_knows_whether_it_can_be_used() -> None:
    assert Pose().is_finite()
    assert not Pose(np.array([0.0, math.nan, 0.0])).is_finite()
    assert not Pose(np.zeros(3), np.array([math.inf, 0.0, 0.0, 0.0])).is_finite()


def test_two_default_poses_share_no_array() -> None:
    one, other = Pose(), Pose()
    one.position[0] = 5.0
    assert other.position[0] == 0.0


def test_a_covariance_turns_with_its_frame_and_keeps_its_size() -> None:
    frame = Pose(np.array([5.0, 6.0, 7.0]), quaternion_from_rpy(0.0, 0.0, np.pi / 2))
    stated = np.diag([4.0, 1.0, 9.0, 0.01, 0.02, 0.03])
    np.testing.assert_allclose(
        covariance_in_parent(frame, stated), np.diag([1.0, 4.0, 9.0, 0.02, 0.01, 0.03]), atol=1e-12
    )
    np.testing.assert_array_equal(covariance_in_parent(Pose(frame.position), stated), stated)


BAD_MOTIONS = {
    "no rotation": ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
    "too great a rotation": ([0.0, 0.0, 0.0], [1e308, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
    "not on Earth": ([0.0, -1e308, 0.0], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
    "too fast": ([0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1e300]),
    "nowhere": ([math.nan, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
}


@pytest.mark.parametrize(("position", "quaternion", "velocity"), BAD_MOTIONS.values(), ids=list(BAD_MOTIONS))
def test_a_motion_that_cannot_be_is_no_number_at_all(
    position: list[float], quaternion: list[float], velocity: list[float]
) -> None:
    pose, moved = motion_in_parent(Pose(), Pose(np.array(position), np.array(quaternion)), np.array(velocity))
    assert np.isnan(pose.position).all() and np.isnan(pose.quaternion).all() and np.isnan(moved).all()


def test_a_rotation_is_of_norm_one() -> None:
    assert is_rotation([0.70710, 0.0, 0.0, 0.70711]) and not is_rotation([0.5, 0.0, 0.0, 0.5])
