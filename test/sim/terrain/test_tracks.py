"""Tracks find a walker's way; clearings are level and leave the rest alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from esar_ros.sim.terrain.clearings import Clearings, lay_clearings
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.tracks import TrackSpec, lay_track

N, SIZE = 129, 512.0
CELL = SIZE / (N - 1)
inside = st.floats(-240.0, 240.0)


def grid() -> tuple[np.ndarray, np.ndarray]:
    """x and y (m) of the samples."""
    axis = np.linspace(-SIZE / 2, SIZE / 2, N)
    return np.meshgrid(axis, axis)


def length(line: np.ndarray) -> float:
    return float(np.hypot(*np.diff(line, axis=0).T).sum())


@given(a=st.tuples(inside, inside), b=st.tuples(inside, inside))
@settings(deadline=None, max_examples=40)
def test_on_level_ground_a_track_goes_straight(a: tuple[float, float], b: tuple[float, float]) -> None:
    flat, grass = np.zeros((N, N), np.float32), np.zeros((N, N), np.uint8)
    line = lay_track(TrackSpec(via=[a, b]), flat, grass, SIZE)
    direct = float(np.hypot(a[0] - b[0], a[1] - b[1]))
    assert np.hypot(*(line[0] - a)) < 6.0 and np.hypot(*(line[-1] - b)) < 6.0  # way points fall on cells of 8 m
    assert length(line) < 1.05 * direct + 12.0  # sixteen directions cost at most 2.8 %
    assert np.abs(line).max() <= SIZE / 2


def test_a_track_goes_round_a_hill_and_round_water() -> None:
    x, y = grid()
    hill = (90.0 * np.exp(-(x**2 + y**2) / (2.0 * 50.0**2))).astype(np.float32)
    grass = np.zeros((N, N), np.uint8)
    spec = TrackSpec(via=[(-200.0, 3.0), (200.0, 3.0)])
    line = lay_track(spec, hill, grass, SIZE)
    assert np.hypot(*line.T).min() > 60.0 and length(line) < 700.0
    lake = grass.copy()
    lake[np.hypot(x, y) < 100.0] = LandCover.WATER
    around = lay_track(spec, np.zeros((N, N), np.float32), lake, SIZE)
    assert np.hypot(*around.T).min() > 92.0
    straight = lay_track(spec.model_copy(update={"straight": True}), hill, lake, SIZE)
    assert np.abs(straight[:, 1] - 3.0).max() < 1e-9


def test_a_track_needs_two_points_and_a_width() -> None:
    for bad in ({"via": [(0.0, 0.0)]}, {"via": [(0.0, 0.0), (1.0, 1.0)], "width": 0.0}):
        with pytest.raises(ValidationError):
            TrackSpec.model_validate(bad)


@given(x=st.floats(-200.0, 200.0), y=st.floats(-200.0, 200.0), radius=st.floats(8.0, 20.0), tilt=st.floats(0.0, 0.6))
@settings(deadline=None, max_examples=60)
def test_a_clearing_is_level_and_the_rest_stays(x: float, y: float, radius: float, tilt: float) -> None:
    east, north = grid()
    before = (tilt * east + 3.0 * np.sin(north / 23.0)).astype(np.float32)
    heights, cover = before.copy(), np.full((N, N), LandCover.FOREST, np.uint8)
    made = lay_clearings(Clearings(cover="grass", at=[(x, y, radius)]), heights, cover, {}, SIZE)
    away = np.hypot(east - x, north - y)
    if not len(made):  # only what would move the centre is left out here
        assert np.hypot(x, y) <= 2.2 * radius + 2.0
        assert heights.tobytes() == before.tobytes()
        return
    gy, gx = np.gradient(heights, CELL)
    assert np.hypot(gx, gy)[away < radius - CELL].max() < 0.07
    assert (heights == before)[away > 2.2 * radius + 1e-6].all()
    assert (cover[away < radius] == LandCover.GRASS).all() and (cover[away > 1.1 * radius] == LandCover.FOREST).all()


def test_clearings_keep_out_of_water_and_of_each_other() -> None:
    east, _ = grid()
    heights = np.maximum(0.3 * east, 0.0).astype(np.float32)
    cover = np.where(east <= 0.0, LandCover.WATER, LandCover.SAND).astype(np.uint8)
    line = np.array([[100.0, -200.0], [100.0, 200.0]])
    spec = Clearings(cover="grass", at=[(-50.0, 100.0, 10.0), (14.0, 90.0, 10.0)], every=30.0, radius=8.0)
    made = lay_clearings(spec, heights, cover, {"path": line}, SIZE)
    assert {tuple(row) for row in made[:, :2]} >= {(14.0, 90.0)} and (made[:, 0] > 0.0).all()
    gaps = np.hypot(*(made[:, None, :2] - made[None, :, :2]).transpose(2, 0, 1))
    assert gaps[~np.eye(len(made), dtype=bool)].min() > 17.0 and len(made) > 10
    assert (heights[cover == LandCover.WATER] == 0.0).all() and (heights >= 0.0).all()
