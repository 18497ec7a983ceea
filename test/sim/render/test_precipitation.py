"""Drops, flakes and sand that fall before a camera, in images of high quality."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.sim.render.precipitation import draw_fall
from esar_ros.sim.render.views import View
from esar_ros.sim.weather.appearance import Falling

SIZE = 320, 240
LEVEL = View.of(Pose(np.zeros(3), quaternion_from_rotation(optical_rotation(0.0, 0.0))), *SIZE, 1.2)  # it looks east


def fallen(
    falling: Falling = Falling.RAIN,
    density: float = 1.0,
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0),
    motion: tuple[float, float, float] = (0.0, 0.0, 0.0),
    depth: float = np.inf,
) -> NDArray[np.float64]:
    """Grey levels that what falls adds to a dark image."""
    image = np.full((SIZE[1], SIZE[0], 3), 60, dtype=np.uint8)
    scene = np.full(image.shape[:2], depth, dtype=np.float32)
    haze = np.full(3, 200.0)
    rng = np.random.default_rng(3)
    draw_fall(image, scene, LEVEL, falling, density, haze, np.array(wind), np.array(motion), rng)
    return image[..., 0].astype(np.float64) - 60.0


def lean(added: NDArray[np.float64]) -> float:
    """Angle of streaks from the vertical, deg, by the structure tensor: positive where they lean to the left below."""
    down, right = np.gradient(added)
    return float(np.degrees(0.5 * np.arctan2(2.0 * (right * down).sum(), (right**2 - down**2).sum())))


@pytest.mark.parametrize("falling", [Falling.RAIN, Falling.SNOW, Falling.SAND])
def test_the_denser_it_falls_the_more_is_seen(falling: Falling) -> None:
    none, some, much = (fallen(falling, density).sum() for density in (0.0, 0.3, 1.0))
    assert none == 0.0 < 2.0 * some < much


def test_streaks_lie_along_the_velocity_relative_to_the_camera() -> None:
    calm, blown, moved = fallen(), fallen(wind=(0.0, 5.0, 0.0)), fallen(motion=(0.0, -5.0, 0.0))
    assert abs(lean(calm)) < 3.0 and abs(lean(blown)) > 25.0
    assert np.array_equal(blown, moved), "whether air or camera moves"
    carried = fallen(wind=(0.0, 5.0, 0.0), motion=(0.0, 5.0, 0.0))
    assert np.array_equal(calm, carried)


def test_nothing_falls_behind_what_is_seen() -> None:
    near, middle, far = (fallen(Falling.SNOW, depth=depth).sum() for depth in (0.1, 2.0, 50.0))
    assert near == 0.0 < middle < far


def test_a_generator_has_one_image() -> None:
    assert np.array_equal(fallen(Falling.SNOW), fallen(Falling.SNOW))


def test_flakes_are_of_several_sizes() -> None:
    areas = cv2.connectedComponentsWithStats((fallen(Falling.SNOW) > 12.0).astype(np.uint8))[2][1:, cv2.CC_STAT_AREA]
    assert len(areas) > 80 and areas.max() > 15 * np.median(areas)
