"""Detections from object ids."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.errors import UsageError
from esar_ros.perception.detectors.segmentation_oracle import SegmentationOracle

TABLE = {7: ("tent", "red tent"), 9: ("person", "man in a blue jacket")}


@pytest.fixture
def oracle() -> SegmentationOracle:
    return SegmentationOracle({"objects": TABLE})


def ids(frame: CameraFrame) -> np.ndarray:
    assert frame.segmentation is not None
    return frame.segmentation


def test_box_mask_kind_and_text(oracle: SegmentationOracle, down_frame: CameraFrame) -> None:
    ids(down_frame)[100:104, 200:206] = 7
    ids(down_frame)[100, 200] = 0
    (found,) = oracle.detect([down_frame])
    assert [d.kind for d in found] == ["tent"]
    detection = found[0]
    assert detection.box == (200, 100, 6, 4)
    assert detection.text == "red tent"
    assert detection.pixels == 23 and detection.mask is not None and not detection.mask[0, 0]
    assert detection.score == 1.0


@pytest.mark.parametrize(("pixels", "seen"), [(5, 0), (6, 1)])
def test_needs_the_stated_number_of_visible_pixels(
    oracle: SegmentationOracle, down_frame: CameraFrame, pixels: Any, seen: Any
) -> None:
    ids(down_frame)[10, 10 : 10 + pixels] = 9
    assert len(oracle.detect([down_frame])[0]) == seen


def test_the_least_number_of_pixels_follows_the_picture_size(
    oracle: SegmentationOracle, down_frame: CameraFrame
) -> None:
    small = replace(down_frame, segmentation=np.zeros((240, 320), np.uint8))
    ids(small)[10, 10:12] = 9
    assert len(oracle.detect([small])[0]) == 1
    ids(small)[10, 10] = 0
    assert oracle.detect([small]) == [[]]


def test_ids_outside_the_table_are_scenery(oracle: SegmentationOracle, down_frame: CameraFrame) -> None:
    ids(down_frame)[:] = 3
    assert oracle.detect([down_frame]) == [[]]


def test_one_list_a_frame_in_order(oracle: SegmentationOracle, down_frame: CameraFrame) -> None:
    other = replace(down_frame, camera="front", segmentation=np.full((480, 640), 9, np.uint8))
    assert [[d.kind for d in found] for found in oracle.detect([down_frame, other])] == [[], ["person"]]
    assert oracle.detect([]) == []


def test_prompts_restrict_what_it_names(oracle: SegmentationOracle, down_frame: CameraFrame) -> None:
    ids(down_frame)[:100] = 7
    ids(down_frame)[100:] = 9
    oracle.set_prompts({"human being": "person"})
    assert [d.kind for d in oracle.detect([down_frame])[0]] == ["person"]
    with pytest.raises(UsageError, match="no kind 'ufo'"):
        oracle.set_prompts({"saucer": "ufo"})
    assert oracle.prompts == {"human being": "person"}


@pytest.mark.parametrize("table", [{0: ("tent", "")}, {256: ("tent", "")}, {1: ("castle", "")}])
def test_refuses_a_bad_table(table: Any) -> None:
    with pytest.raises(UsageError, match="segmentation_oracle, objects"):
        SegmentationOracle({"objects": table})


def test_refuses_an_unknown_parameter() -> None:
    with pytest.raises(UsageError, match="key weights"):
        SegmentationOracle({"weights": "a.pt"})


def test_a_frame_without_ids_is_an_error(oracle: SegmentationOracle, down_frame: CameraFrame) -> None:
    with pytest.raises(UsageError, match="camera down has no object ids"):
        oracle.detect([replace(down_frame, segmentation=None)])
