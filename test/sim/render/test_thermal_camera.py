"""The thermal camera's greys: warm is bright, gain follows the scene, one pose has one picture."""

from __future__ import annotations

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose
from esar_ros.sim.render.thermal_camera import thermal_picture

SIDE = 96


def scene(ground: float, spread: float, body: float) -> np.ndarray:
    """Ground (deg C) that varies by a deviation, with a body of 10 by 16 px at its middle."""
    celsius = ground + spread * np.random.default_rng(1).standard_normal((SIDE, SIDE)).astype(np.float32)
    celsius[40:56, 43:53] = body
    return celsius.astype(np.float32)


@pytest.mark.parametrize("ground", [-30.0, 5.0, 40.0])
def test_ground_is_grey_and_a_warmer_body_is_white_at_any_temperature(ground: float) -> None:
    grey = thermal_picture(scene(ground, 0.5, ground + 8.0), Pose(), 0, 1.0)
    assert 110 <= np.median(grey) <= 140
    assert grey[42:54, 45:51].mean() > 220
    colder = thermal_picture(scene(ground, 0.5, ground - 8.0), Pose(), 0, 1.0)
    assert colder[42:54, 45:51].mean() < 30


def test_gain_is_bounded_so_that_even_ground_stays_even() -> None:
    grey = thermal_picture(np.full((SIDE, SIDE), 10.0, np.float32), Pose(), 0, 1.0)
    assert 0.3 < grey.std() < 4.0, "noise shows, and no more"


def test_a_fire_is_white_and_leaves_the_rest_its_greys() -> None:
    without = thermal_picture(scene(5.0, 0.5, 9.0), Pose(), 0, 1.0)
    celsius = scene(5.0, 0.5, 9.0)
    celsius[:3, :3] = 800.0
    grey = thermal_picture(celsius, Pose(), 0, 1.0)
    assert grey[0, 0] == 251
    assert abs(float(grey[60:].mean()) - float(without[60:].mean())) < 3.0


def test_a_picture_is_a_function_of_pose_seed_and_time() -> None:
    celsius = scene(5.0, 0.5, 9.0)
    one = thermal_picture(celsius, Pose(), 3, 2.0)
    assert np.array_equal(one, thermal_picture(celsius, Pose(), 3, 2.0))
    for other in (
        thermal_picture(celsius, Pose(np.array([1.0, 0.0, 0.0])), 3, 2.0),
        thermal_picture(celsius, Pose(), 4, 2.0),
        thermal_picture(celsius, Pose(), 3, 2.5),
    ):
        assert not np.array_equal(one, other)
