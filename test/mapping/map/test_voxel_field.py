"""Coarse fields: what APEX keeps about space, as layers beside one occupancy map."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.map.voxel_field import VoxelField
from esar_ros.mapping.map.voxel_map import VoxelMap

MODEL = CameraModel.from_horizontal_fov(80, 60, np.pi / 2)


def apex_field() -> Any:
    return VoxelField((-100.0, -100.0, -5.0), (100.0, 100.0, 45.0))


def test_attraction_is_the_best_that_was_said() -> None:
    field = apex_field()
    assert field.values.shape == (40, 40, 10)
    field.raise_to([[12.0, 3.0, 6.0], [13.0, 4.0, 7.0], [500.0, 0.0, 0.0]], [0.4, 0.9, 1.0])
    field.raise_to([[12.0, 3.0, 6.0]], 0.2)
    assert field.value_at([[11.0, 1.0, 5.5]])[0] == np.float32(0.9)
    assert field.values.sum() == np.float32(0.9) and np.isnan(field.value_at([[500.0, 0.0, 0.0]])[0])


def test_the_prism_ahead_is_as_wide_as_it_is_deep() -> None:
    field = apex_field()
    place = np.array([3.0, -4.0, 20.0])
    for yaw in (0.0, np.pi / 2, -2.0):
        index, distance = field.in_prism(place, yaw, 30.0, 10.0)
        offset = field.lower + (index + 0.5) * field.edge - place
        ahead = offset[:, :2] @ [np.cos(yaw), np.sin(yaw)]
        aside = offset[:, :2] @ [-np.sin(yaw), np.cos(yaw)]
        np.testing.assert_allclose(distance, np.linalg.norm(offset, axis=1))
        assert (np.abs(aside) <= ahead).all() and (ahead <= 30.0).all() and (np.abs(offset[:, 2]) <= 10.0).all()
        volume = 30.0 * 30.0 * 20.0 / 5.0**3
        assert 0.75 * volume < len(index) < 1.25 * volume
    assert len(field.in_prism(np.array([0.0, 0.0, 90.0]), 0.0, 30.0, 10.0)[0]) == 0, "above the field"


def test_a_box_that_moves_keeps_what_it_still_covers() -> None:
    field = apex_field()
    inside, left_behind = np.array([[12.0, 3.0, 6.0]]), np.array([[-90.0, 0.0, 6.0]])
    field.raise_to(np.concatenate([inside, left_behind]), 0.7)
    field.shift(np.array([4, -2, 1]))
    assert field.lower.tolist() == [-80.0, -110.0, 0.0] and field.values.shape == (40, 40, 10)
    assert field.value_at(inside)[0] == np.float32(0.7) and np.isnan(field.value_at(left_behind)[0])
    assert field.values.sum() == np.float32(0.7)
    field.shift(np.array([100, 0, 0]))
    assert field.values.sum() == 0.0, "nothing is left of it"


def test_exploration_grows_in_the_prism_ahead(look: Any) -> None:
    field = apex_field()
    pose = look((0.0, 0.0, 20.0), 0.0, 0.0)
    index, distance = field.in_view(MODEL, pose, 30.0)
    field.add(index, 0.5 * (1.0 - distance / 30.0))
    centers = field.lower + (index + 0.5) * field.edge
    assert len(index) and (centers[:, 0] > 0).all() and (np.abs(centers[:, 1]) <= centers[:, 0] + 1e-9).all()
    np.testing.assert_allclose(np.linalg.norm(centers - pose.position, axis=1), distance)
    assert (distance <= 30.0).all() and 0.0 < field.values.max() < 0.5
    wall = np.full((60, 80), 12.0, np.float32)
    near, _ = field.in_view(MODEL, pose, 30.0, wall)
    assert {tuple(i) for i in near} < {tuple(i) for i in index}
    assert (field.lower[0] + (near[:, 0] + 0.5) * field.edge <= 17.0).all()
    assert len(field.in_view(MODEL, look((5000.0, 0.0, 0.0), 0.0, 0.0), 30.0)[0]) == 0


def test_obstacles_are_those_of_the_map(look: Any) -> None:
    voxel_map, field = VoxelMap(1.0, (-64, -64, -16), (64, 64, 48)), apex_field()
    voxel_map.integrate_frame(
        [CameraFrame("front", MODEL, look((0.0, 0.0, 20.0), 0.0, 0.0), np.full((60, 80), 20.0, np.float32))], 60.0
    )
    blocked = field.obstacles(voxel_map)
    points = voxel_map.occupied_points()
    index, inside = field.index_of(points)
    assert blocked[tuple(index[inside].T)].all() and blocked.sum() == len(np.unique(index[inside], axis=0)) > 0


@pytest.mark.parametrize(
    "bad", [((0, 0, 0), (1, 1, 1), 5.0), ((0, 0, 0), (np.inf, 9, 9), 5.0), ((0,) * 3, (9,) * 3, 0.0)]
)
def test_impossible_fields_are_refused(bad: Any) -> None:
    with pytest.raises(MapInputError):
        VoxelField(*bad)
    with pytest.raises(MapInputError):
        apex_field().raise_to([[0.0, 0.0, 0.0]], np.nan)
