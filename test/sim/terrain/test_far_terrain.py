"""Far terrain: it begins where the map ends, and is finer for images of high quality."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from esar_ros.sim.terrain.far_terrain import COARSE, FINE, PEAKS, Grid, build_far_terrain, far_grid, paint_far_terrain
from esar_ros.sim.terrain.maps import PlaceMap


@pytest.mark.parametrize("grid", [COARSE, FINE, PEAKS])
def test_it_begins_at_the_border_and_ends_at_the_horizon(place: PlaceMap, grid: Grid) -> None:
    made = build_far_terrain(place, grid)
    rows = made.vertices.reshape(len(grid.outward), 4 * grid.along, 6)
    border, last = rows[0], rows[-1]
    assert np.abs(border[:, :2]).max(axis=1) == pytest.approx(place.size / 2)
    assert border[:, 2] == pytest.approx(place.ground_height(border[:, :2]), abs=0.01)
    assert np.abs(last[:, :2]).max(axis=1) == pytest.approx(place.size / 2 + grid.outward[-1])
    assert np.isfinite(made.vertices).all() and (made.vertices[:, 5] >= 0.0).all()
    assert {part.max() < len(made.vertices) for part in made.faces} == {True}


def test_fine_ground_is_rougher_and_keeps_the_tone(place: PlaceMap) -> None:
    slopes = []
    for grid in (dataclasses.replace(FINE, rough=0.0), FINE):
        ring = build_far_terrain(place, grid).vertices.reshape(len(grid.outward), -1, 6)[4]
        rise = np.abs(np.diff(ring[:, 2])) / np.hypot(*np.diff(ring[:, :2], axis=0).T)
        slopes.append(float(rise.mean()))
    assert slopes[1] > 1.05 * slopes[0]
    albedo = np.full((64, 64, 3), 80, dtype=np.uint8)
    tones = [paint_far_terrain(place, albedo, grid) for grid in (COARSE, FINE)]
    assert tones[1].mean(axis=0) == pytest.approx(tones[0].mean(axis=0), rel=0.3)


def test_peaks_are_snow_on_level_ground_and_rock_on_faces(place: PlaceMap) -> None:
    peaks = dataclasses.replace(place, horizon="peaks")
    assert far_grid(peaks, True) is PEAKS and far_grid(place, True) is FINE and far_grid(peaks, False) is COARSE
    albedo = np.full((64, 64, 3), 80, dtype=np.uint8)
    count = 4 * PEAKS.along * len(PEAKS.outward)
    level, faces = (
        paint_far_terrain(peaks, albedo, PEAKS, np.full(count, up, dtype=np.float32))[count // 2 :].mean()
        for up in (0.999, 0.6)
    )
    assert level > 2.0 * faces
