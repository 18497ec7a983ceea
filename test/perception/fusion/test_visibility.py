"""Visibility of places in an image."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.perception.fusion.visibility import unobstructed


def shows(frame: CameraFrame, place: tuple[float, float, float], farthest: float = 100.0) -> bool:
    return bool(unobstructed(frame, np.array([place]), np.array([farthest]))[0])


def test_a_place_on_the_ground_below_is_shown(down_frame: CameraFrame) -> None:
    assert shows(down_frame, (5.0, 7.0, 0.0))
    assert shows(down_frame, (20.0, 0.0, 0.5))


@pytest.mark.parametrize("place", [(5.0, 7.0, 60.0), (60.0, 7.0, 0.0), (5.0, 36.5, 0.0)])
def test_behind_the_camera_outside_and_at_the_edge_it_is_not(
    down_frame: CameraFrame, place: tuple[float, float, float]
) -> None:
    assert not shows(down_frame, place)


def test_farther_than_it_was_ever_seen_from_it_is_not(down_frame: CameraFrame) -> None:
    assert not shows(down_frame, (5.0, 7.0, 0.0), farthest=29.0)


@pytest.mark.parametrize(("depth", "shown"), [(20.0, False), (28.0, True), (np.nan, False), (np.inf, True)])
def test_what_lies_before_it_hides_it(down_frame: CameraFrame, depth: float, shown: bool) -> None:
    frame = replace(down_frame, depth=np.full_like(down_frame.depth, depth))
    assert shows(frame, (5.0, 7.0, 0.0)) is shown


def test_no_places_no_answer(down_frame: CameraFrame) -> None:
    assert unobstructed(down_frame, np.zeros((0, 3)), np.zeros(0)).shape == (0,)
