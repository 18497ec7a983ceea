"""Labels are the ids' pixels, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.clues import KINDS
from esar_ros.training.labels import MIN_PIXELS, Label, Thing, labels_of, wanted, yolo_lines

TENT = Thing("tent", "tent/orange", False, (3.0, 4.0, 0.0))


def _image(height: int = 60, width: int = 80, ground: int = 90) -> Any:
    return np.zeros((height, width), dtype=np.uint8), np.full((height, width, 3), ground, dtype=np.uint8)


@settings(deadline=None)
@given(
    st.integers(0, 70), st.integers(0, 50), st.integers(1, 30), st.integers(1, 30), st.integers(0, 255)
)  # a rectangle, cut by the picture's edge, in any grey
def test_boxes_and_pixel_counts_are_those_of_the_ids(x: Any, y: Any, w: Any, h: Any, grey: Any) -> None:
    ids, rgb = _image()
    ids[y : y + h, x : x + w] = 7
    rgb[ids == 7] = grey
    (label,) = labels_of(ids, rgb, {7: TENT}, np.array([0.0, 0.0, 12.0]))
    assert label.box == (x, y, min(w, 80 - x), min(h, 60 - y))
    assert label.pixels == int((ids == 7).sum())
    assert label.range == 13.0
    assert label.contrast == abs(grey - 90)


def test_ids_of_no_clue_are_not_labelled() -> None:
    ids, rgb = _image()
    ids[5:20, 5:20] = 9
    assert labels_of(ids, rgb, {7: TENT}, np.zeros(3)) == ()


def _label(pixels: int = 20, contrast: float = 30.0, noise: float = 5.0) -> Any:
    return Label("tent", "tent/orange", False, (8, 6, 4, 2), pixels, 20.0, contrast, noise)


def test_training_leaves_out_what_cannot_be_seen() -> None:
    assert wanted(_label())
    assert not wanted(_label(pixels=MIN_PIXELS - 1))
    assert not wanted(_label(contrast=2.0))
    # Seven grey levels are plain on a smooth slope and nothing in a night picture's noise.
    assert wanted(_label(pixels=9, contrast=7.0, noise=1.0))
    assert not wanted(_label(pixels=9, contrast=7.0, noise=10.0))


def test_the_text_is_class_centre_and_size_in_shares() -> None:
    number, *shares = yolo_lines([_label()], 80, 60).split()
    assert KINDS[int(number)] == "tent"
    assert [float(share) for share in shares] == pytest.approx([10 / 80, 7 / 60, 4 / 80, 2 / 60], abs=1e-6)


def test_a_label_survives_its_meta_file() -> None:
    assert Label.of_json(_label().as_json()) == _label()
