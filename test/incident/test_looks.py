"""Attitudes of looks: to a rotation and back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.geometry.camera import CameraModel
from esar_ros.incident.features import Mover, Track
from esar_ros.incident.looks import BY_COURSE, Look, along, angles, attitude


@given(st.floats(0.0, 359.9), st.floats(-89.9, 30.0), st.floats(-80.0, 80.0))
def test_angles_come_back_from_their_rotation(yaw: float, pitch: float, roll: float) -> None:
    rotation = attitude(yaw, pitch, roll)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(attitude(*angles(rotation)), rotation, atol=1e-6)


@pytest.mark.parametrize(
    ("yaw", "pitch", "forward", "right"),
    [(0.0, 0.0, (0, 1, 0), (1, 0, 0)), (90.0, 0.0, (1, 0, 0), (0, -1, 0)), (90.0, -90.0, (0, 0, -1), (0, -1, 0))],
)
def test_yaw_is_clockwise_from_north_and_pitch_above_the_horizon(
    yaw: float, pitch: float, forward: tuple[int, ...], right: tuple[int, ...]
) -> None:
    rotation = Look("a", 34.0, 107.0, yaw=yaw, pitch=pitch).rotation()
    assert rotation is not None
    np.testing.assert_allclose(rotation[:, 2], forward, atol=1e-12)
    np.testing.assert_allclose(rotation[:, 0], right, atol=1e-12)


def test_rolled_clockwise_the_right_side_sinks() -> None:
    assert attitude(0.0, 0.0, 20.0)[2, 0] == pytest.approx(-np.sin(np.radians(20.0)))


def test_straight_down_the_yaw_is_where_the_top_points() -> None:
    assert angles(attitude(213.0, -90.0, 0.0)) == pytest.approx((213.0, -90.0, 0.0))


def test_along_a_track_a_camera_looks_ahead_every_two_seconds() -> None:
    seconds = np.arange(21.0)
    latitude = 34.0 + 1e-5 * np.minimum(seconds, 10.0) * 5.0  # 5.5 m/s to the north, then it hovers
    track = Track("flight", Mover.DRONE, latitude, np.full(21, 107.0), np.full(21, 900.0), seconds)
    model = CameraModel.from_horizontal_fov(1920, 1080, 1.2)
    looks = list(along(track, -45.0, model))
    assert [look.time for look in looks] == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert all(abs(((look.yaw or 0.0) + 180.0) % 360.0 - 180.0) < 0.1 and look.pitch == -45.0 for look in looks)
    assert all(look.altitude == 900.0 and look.errors.yaw == BY_COURSE for look in looks)
    assert len(list(along(track, -90.0, model))) == 10, "straight down it need not fly anywhere"
    unknown = np.full(21, np.nan)
    assert list(along(replace(track, time=unknown), -45.0, model)) == []
    assert list(along(replace(track, altitude=unknown), -45.0, model)) == []
