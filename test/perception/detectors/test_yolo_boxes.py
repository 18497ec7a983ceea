"""Pictures in and boxes out of a YOLO."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.errors import UsageError
from esar_ros.perception.detectors.yolo_boxes import (
    GREY,
    Letterbox,
    RawBoxes,
    check_output,
    decode,
    letterbox,
    pixel_box,
    suppress,
)

SIDES = st.integers(1, 200)


@given(SIDES, SIDES, st.sampled_from([None, (64, 96), (96, 64)]))
@settings(deadline=None, max_examples=50)
def test_the_whole_picture_lies_in_the_input(height: int, width: int, size: tuple[int, int] | None) -> None:
    image = letterbox(np.full((height, width, 3), 255, np.uint8), size, stride=16)
    rows, columns = image.tensor.shape[2:]
    assert (rows, columns) == size if size else (rows % 16, columns % 16) == (0, 0)
    inner = image.tensor[0, 0] == 1.0
    assert inner.sum() == max(1, round(height * image.scale)) * max(1, round(width * image.scale))
    assert inner[0, 0] and np.all(image.tensor[0, 0][~inner] == np.float32(GREY / 255.0))


def test_colours_keep_their_order_and_range() -> None:
    rgb = np.zeros((32, 32, 3), np.uint8)
    rgb[..., 0], rgb[..., 2] = 255, 51
    tensor = letterbox(rgb, None).tensor
    assert tensor.dtype == np.float32 and tensor.flags.c_contiguous
    assert tensor[0, :, 5, 5] == pytest.approx([1.0, 0.0, 0.2])


def in_image(scale: float = 1.0) -> Letterbox:
    return Letterbox(np.zeros((1, 3, 64, 64), np.float32), scale)


def test_of_the_classes_asked_for_the_surest_names_the_box() -> None:
    output = np.zeros((1, 4 + 3, 5), np.float32)
    output[0, :, 0] = 32, 32, 16, 8, 0.9, 0.6, 0.4
    everything = decode(output, in_image(), np.array([0.5, 0.5, 0.5]))
    assert everything.classes.tolist() == [0] and everything.corners.tolist() == [[24, 28, 40, 36]]
    some = decode(output, in_image(0.5), np.array([np.inf, 0.5, 0.5]))
    assert some.classes.tolist() == [1] and some.corners.tolist() == [[48, 56, 80, 72]]
    assert len(decode(output, in_image(), np.array([np.inf, np.inf, 0.5])).scores) == 0


def test_boxes_that_are_no_numbers_are_left_out() -> None:
    output = np.full((1, 6, 3), 0.9, np.float32)
    output[0, 2, 1], output[0, 4, 2] = np.nan, np.nan
    assert len(decode(output, in_image(), np.array([0.5, np.inf])).scores) == 1


def test_of_boxes_over_each_other_the_surest_stays() -> None:
    corners = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [0, 0, 10, 10], [30, 30, 40, 40]], float)
    boxes = RawBoxes(corners, np.array([0.5, 0.9, 0.7, 0.6]), np.array([0, 0, 1, 0]), np.zeros((4, 2)))
    assert suppress(boxes, 0.5, agnostic=False).scores.tolist() == [0.9, 0.7, 0.6]
    assert suppress(boxes, 0.5, agnostic=True).scores.tolist() == [0.9, 0.6]
    nothing = RawBoxes(corners[:0], np.zeros(0), np.zeros(0, np.int64), np.zeros((0, 2)))
    assert len(suppress(nothing, 0.5, agnostic=False).scores) == 0


NEAR = st.floats(-300, 300)


@given(NEAR, NEAR, st.floats(0.01, 300), st.floats(0.01, 300))
@settings(deadline=None)
def test_boxes_lie_within_the_picture(left: float, top: float, width: float, height: float) -> None:
    box = pixel_box(np.array([left, top, left + width, top + height]), (48, 64))
    if box is None:
        assert left + width < 0.5 or top + height < 0.5 or left >= 63.5 or top >= 47.5
        return
    x, y, across, down = box
    assert 0 <= x < x + across <= 64 and 0 <= y < y + down <= 48


@pytest.mark.parametrize("shape", [(1, 17, 6300), (1, 300, 6), (1, 17, 5)])
def test_outputs_of_a_detector(shape: tuple[int, ...]) -> None:
    check_output(shape, 13, "net")


@pytest.mark.parametrize("shape", [(1, 1000), (1, 16, 6300), (2, 17, 100), (1, 300, 7)])
def test_outputs_of_something_else(shape: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="net"):
        check_output(shape, 13, "net")
