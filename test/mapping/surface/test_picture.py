"""The picture of a surface: what lies where, in its colours."""

from __future__ import annotations

import numpy as np

from esar_ros.mapping.surface.fusion import Mesh
from esar_ros.mapping.surface.picture import BACKGROUND, view_from_above
from helpers.with_open3d import needs_open3d

pytestmark = needs_open3d


def test_west_is_left_and_south_is_near() -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]) * 100.0
    colours = {"south-west": (255, 0, 0), "south-east": (0, 255, 0), "north-east": (0, 0, 255), "north-west": (9, 9, 9)}
    squares = [corners + shift for shift in ([0, 0, 0], [100, 0, 0], [100, 100, 0], [0, 100, 0])]
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.uint32)
    mesh = Mesh(
        np.concatenate(squares),
        np.tile(np.array([0, 0, 1], np.float32), (16, 1)),
        np.repeat(np.array(list(colours.values()), np.uint8), 4, axis=0),
        np.concatenate([triangles + 4 * k for k in range(4)]).astype(np.uint32),
    )
    picture = view_from_above(mesh, 320, 180)
    where = {name: np.argwhere((picture == colour).all(axis=-1)).mean(axis=0) for name, colour in colours.items()}
    assert where["south-west"][1] < where["south-east"][1] and where["north-west"][1] < where["north-east"][1]
    assert where["north-west"][0] < where["south-west"][0] and where["north-east"][0] < where["south-east"][0]
    assert (picture[[0, 0, -1, -1], [0, -1, 0, -1]] == BACKGROUND).all()
    assert 0.3 < (picture != BACKGROUND).any(axis=-1).mean() < 0.95


def test_nothing_is_a_blank_picture() -> None:
    nothing = np.empty((0, 3))
    mesh = Mesh(nothing, nothing.astype(np.float32), nothing.astype(np.uint8), nothing.astype(np.uint32))
    assert (view_from_above(mesh, 32, 18) == BACKGROUND).all()
