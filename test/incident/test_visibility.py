"""The ground that looks show: agreement with another caster, ridges that hide, slant ranges and pixels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from esar_ros.geometry.camera import CameraModel
from esar_ros.incident.ground import Ground
from esar_ros.incident.looks import Look
from esar_ros.incident.visibility import STATURE, see
from helpers.hills import LATITUDE, LONGITUDE, hills

MODEL = CameraModel.from_horizontal_fov(640, 480, np.radians(70.0))
REACH = 300.0


def look(yaw: float, pitch: float, roll: float = 0.0) -> Look:
    return Look("a", LATITUDE, LONGITUDE, yaw=yaw, pitch=pitch, roll=roll, model=MODEL)


def otherwise(given: Look, ground: Ground, altitude: float) -> np.ndarray:
    """Cells seen, by dense samples of spline-free interpolation along every line, and the camera's own projection."""
    x, y = ground.to_grid(given.latitude, given.longitude)
    rows, columns = ground.heights.shape
    column, row = np.meshgrid(np.arange(columns), np.arange(rows))
    east, north = ground.west + (column + 0.5) * ground.cell, ground.north - (row + 0.5) * ground.cell
    points = np.stack([east, north, ground.heights + STATURE], axis=-1)
    camera = np.array([x, y, altitude])
    rotation = given.rotation(ground.convergence(given.latitude, given.longitude))
    _, inside = MODEL.project((points - camera) @ rotation)
    inside &= np.linalg.norm(points - camera, axis=-1) <= REACH
    share = np.linspace(0.001, 0.999, 600)
    seen = np.zeros(inside.shape, bool)
    for j, i in np.argwhere(inside):
        line = points[j, i] + share[:, None] * (camera - points[j, i])
        at = [(ground.north - line[:, 1]) / ground.cell - 0.5, (line[:, 0] - ground.west) / ground.cell - 0.5]
        seen[j, i] = (map_coordinates(ground.heights, at, order=1, mode="nearest") <= line[:, 2]).all()
    return seen


@pytest.mark.parametrize(("yaw", "pitch", "roll"), [(0.0, -90.0, 0.0), (40.0, -30.0, 0.0), (200.0, -15.0, 8.0)])
def test_cells_agree_with_another_caster(yaw: float, pitch: float, roll: float) -> None:
    ground = hills(relief=35.0, cell=10.0)
    altitude = ground.height(*ground.to_grid(LATITUDE, LONGITUDE)) + 50.0
    seen = see(look(yaw, pitch, roll), ground, altitude, REACH)
    mine = np.zeros(ground.heights.shape, bool)
    mine[seen.row, seen.column] = True
    other = otherwise(look(yaw, pitch, roll), ground, altitude)
    assert other.sum() > 20
    assert (mine & other).sum() / (mine | other).sum() >= 0.95


def test_a_ridge_hides_what_lies_behind() -> None:
    ground = hills(relief=0.0)
    _, y = ground.to_grid(LATITUDE, LONGITUDE)
    row = int((ground.north - y) / ground.cell)
    ground.heights[row - 13 : row - 10] += 40.0  # 60 m north, as high as the camera
    seen = see(look(0.0, -10.0), ground, 1540.0, REACH)
    assert len(seen.row) > 20
    assert seen.row.min() >= row - 14


def test_straight_down_slant_is_the_height_and_pixels_follow() -> None:
    ground = hills(relief=0.0)
    seen = see(look(0.0, -90.0), ground, 1560.0, REACH)
    nearest = seen.slant.argmin()
    assert seen.slant[nearest] == pytest.approx(60.0 - STATURE, abs=0.2)
    assert seen.sine[nearest] == pytest.approx(1.0, abs=1e-2)
    assert seen.pixels(MODEL.fx, 0.5)[nearest] == pytest.approx(MODEL.fx * 0.5 / 59.6, rel=1e-2)
    assert np.allclose(np.linalg.norm(seen.toward, axis=1), 1.0)
    # As wide as the field of view.
    assert np.ptp(seen.column) * ground.cell == pytest.approx(2 * 60.0 * np.tan(np.radians(35.0)), abs=2 * ground.cell)


def test_what_lies_off_the_model_is_not_seen_and_a_look_without_attitude_shows_nothing_known() -> None:
    ground = hills()
    assert len(see(Look("a", 35.0, 107.0, yaw=0.0, pitch=-90.0, model=MODEL), ground, 1600.0, REACH).row) == 0
    with pytest.raises(ValueError, match="attitude"):
        see(Look("a", LATITUDE, LONGITUDE, model=MODEL), ground, 1600.0, REACH)
