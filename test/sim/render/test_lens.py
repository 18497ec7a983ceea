"""Traces of lens and sensor in images of high quality."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose
from esar_ros.mission.weather import Weather
from esar_ros.sim.render.lens import finish
from esar_ros.sim.render.views import View
from esar_ros.sim.weather.appearance import CONDITIONS


def finished(image: NDArray[np.uint8], camera: bool, x: float = 0.0) -> NDArray[np.uint8]:
    """An image by day in clear weather, seen from (x, 0, 0)."""
    rgb = image[None].copy()
    view = View.of(Pose(np.array([x, 0.0, 0.0])), image.shape[1], image.shape[0], 1.5)
    finish(rgb, [view], CONDITIONS[Weather.CLEAR], np.ones(3), np.zeros(3), 0.0, 0, 0.0, 0.0, camera)
    return rgb[0]


GREY = np.full((120, 160, 3), 128, dtype=np.uint8)


def test_low_quality_is_left_alone() -> None:
    assert np.array_equal(finished(GREY, camera=False), GREY)


def test_noise_is_faint_and_belongs_to_the_pose() -> None:
    one = finished(GREY, camera=True)
    assert abs(one.mean() - 128.0) < 0.5 and 1.0 < one.std() < 2.0
    assert np.array_equal(one, finished(GREY, camera=True))
    assert not np.array_equal(one, finished(GREY, camera=True, x=1.0))


def test_edges_are_softened_and_contrast_rises() -> None:
    step = np.full_like(GREY, 60)
    step[:, 80:] = 200
    seen = finished(step, camera=True).astype(float).mean(axis=(0, 2))
    assert seen[70] < 60.0 < seen[79] < 128.0 < seen[80] < 200.0 < seen[90]
