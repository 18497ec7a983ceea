"""Pixel labels of detections."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.layers.object_labels import LABELS, SeenObject, object_labels
from esar_ros.mapping.mapper import Mapper
from esar_ros.mission.clues import KINDS

MODEL = CameraModel.from_horizontal_fov(64, 48, np.pi / 2)
AHEAD = Pose(np.array([1.0, 2.0, 3.0]), quaternion_from_rotation(optical_rotation(0.0, 0.0)))


def view(depth: np.ndarray) -> CameraFrame:
    return CameraFrame("front", MODEL, AHEAD, depth.astype(np.float32))


def thing(box: tuple[int, int, int, int], away: float, label: int = 1) -> SeenObject:
    """Straight ahead (map x) of the camera."""
    return SeenObject(box, AHEAD.position + [away, 0.0, 0.0], label)


def test_every_kind_has_a_label() -> None:
    assert sorted(LABELS.values()) == list(range(1, 1 + len(KINDS)))


def test_ground_in_the_box_is_not_the_object() -> None:
    depth = np.full((48, 64), 30.0)
    depth[20:26, 30:34] = 10.0
    depth[21, 31], depth[22, 32] = np.nan, np.inf
    labels = object_labels(view(depth), [thing((28, 18, 8, 10), 10.0, 3)])
    wanted = np.zeros((48, 64), np.uint8)
    wanted[20:26, 30:34] = 3
    wanted[21, 31] = wanted[22, 32] = 0
    np.testing.assert_array_equal(labels, wanted)


def test_the_nearer_of_two_that_overlap_is_seen_in_either_order() -> None:
    depth = np.full((48, 64), 10.4)
    two = [thing((10, 10, 10, 10), 10.0, 1), thing((15, 15, 10, 10), 10.8, 2)]
    one = object_labels(view(depth), two)
    np.testing.assert_array_equal(one, object_labels(view(depth), two[::-1]))
    assert one[16, 16] == 1 and one[22, 22] == 2 and one[12, 12] == 1


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_labels_lie_in_their_boxes_and_at_their_depth(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    depth = rng.uniform(1.0, 60.0, (48, 64))
    x, y = data.draw(st.integers(-20, 80)), data.draw(st.integers(-20, 60))
    width, height = data.draw(st.integers(0, 40)), data.draw(st.integers(0, 40))
    away = data.draw(st.floats(1.0, 60.0))
    labels = object_labels(view(depth), [thing((x, y, width, height), away)])
    rows, columns = np.nonzero(labels)
    assert ((columns >= x) & (columns < x + width) & (rows >= y) & (rows < y + height)).all()
    reach = max(0.5, 0.5 * max(width, height) * away / MODEL.fx)
    assert (np.abs(depth[rows, columns] - away) <= reach + 1e-4).all()


def test_the_mapper_paints_them_and_refuses_nonsense() -> None:
    mapper = Mapper(1.0, 120.0, 120.0)
    assert mapper.paint_objects(view(np.full((48, 64), 10.0)), [thing((0, 0, 64, 48), 10.0)]) == "", "no area yet"
    mapper.set_area(np.array([[-40.0, -40.0], [40.0, -40.0], [40.0, 40.0], [-40.0, 40.0]]), np.zeros(3))
    depth = np.full((48, 64), 10.0)
    assert mapper.paint_objects(view(depth), [thing((30, 20, 4, 4), 10.0, LABELS["rope"])]) == ""
    cells, edge, (left, bottom) = mapper.class_image()
    row, column = np.argwhere(cells >= 0)[0]
    assert cells[row, column] == LABELS["rope"]
    assert abs(left + (column + 0.5) * edge - 11.0) <= edge and abs(bottom + (row + 0.5) * edge - 2.0) <= edge
    assert "camera" in mapper.paint_objects(view(depth[:10]), [thing((30, 20, 4, 4), 10.0)])
    assert "label" in mapper.paint_objects(view(depth), [thing((30, 20, 4, 4), 10.0, 99)])
    with pytest.raises(MapInputError):
        object_labels(view(depth), [thing((30, 20, 4, 4), 10.0, 0)])
