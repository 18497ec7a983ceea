"""Pictures that have no depth by nature: people by a network of their own, the rest by the first, nothing halved."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.errors import UsageError
from esar_ros.perception.detectors import backend
from esar_ros.perception.detectors.model_card import ReliabilityCurve
from esar_ros.perception.detectors.picture_stage import has_depth, on_scale, slices
from helpers.tiny_onnx import bright_tent, write_detector

PART: dict[str, Any] = {"file": "people.onnx", "word": "person", "threshold": 0.4}
CARD = {"schema": "esar-detector/1", "name": "tiny", "classes": ["tent", "person"]}


def one_person(path: Path, score: float = 0.6) -> Path:
    """A network that sees a person in every picture, 10 px wide and 20 high about (30, 40)."""
    base = np.array([[[30.0], [40.0], [10.0], [20.0], [score]]], np.float32)
    return write_detector(path, base, np.zeros_like(base))


def chain(folder: Path, part: dict[str, Any], **parameters: Any) -> backend.DetectorBackend:
    one_person(folder / "people.onnx")
    model = bright_tent(folder / "tiny.onnx")
    model.with_suffix(".json").write_text(json.dumps(CARD | {"pictures": part}))
    return backend.create("onnx", {"model": str(model), **parameters})


def photograph(frame: CameraFrame, depth: float = np.nan) -> CameraFrame:
    return replace(frame, rgb=np.full((480, 640, 3), 204, np.uint8), depth=np.full((480, 640), depth, np.float32))


def test_people_come_from_the_network_for_pictures_where_there_is_no_depth(
    tmp_path: Path, down_frame: CameraFrame
) -> None:
    detector = chain(tmp_path, PART)
    (blind,), (seen,) = detector.detect([photograph(down_frame)]), detector.detect([photograph(down_frame, 30.0)])
    assert [(d.kind, d.box) for d in blind] == [("tent", (80, 50, 40, 20)), ("person", (25, 30, 10, 20))]
    assert [d.kind for d in seen] == ["tent"], "with depth the chain is the one it was"
    assert [d.score for d in blind] == pytest.approx([0.8, 0.6], abs=1e-3), "nothing is halved"
    (without,) = chain(tmp_path, PART, pictures=False).detect([photograph(down_frame)])
    assert [d.kind for d in without] == ["tent"]
    (strict,) = chain(tmp_path, PART | {"threshold": 0.7}).detect([photograph(down_frame)])
    assert [d.kind for d in strict] == ["tent"]


def test_boxes_grow_about_their_middles(tmp_path: Path, down_frame: CameraFrame) -> None:
    (found,) = chain(tmp_path, PART | {"growth": 1.4}).detect([photograph(down_frame)])
    assert [d.box for d in found if d.kind == "person"] == [(23, 26, 14, 28)]


def test_small_pictures_are_enlarged_and_large_ones_sliced(tmp_path: Path, down_frame: CameraFrame) -> None:
    (found,) = chain(tmp_path, PART | {"short": 960, "scale": 2.0}).detect([photograph(down_frame)])
    assert [d.box for d in found if d.kind == "person"] == [(13, 15, 5, 10)], "in the picture's own pixels"
    (cheaper,) = chain(tmp_path, PART | {"short": 960, "scale": 2.0}, scale=0.5).detect([photograph(down_frame)])
    assert [d.box for d in cheaper if d.kind == "person"] == [(25, 30, 10, 20)], "half of the enlargement"
    (sliced,) = chain(tmp_path, PART | {"slice": 352, "overlap": 64}).detect([photograph(down_frame)])
    assert sorted(d.box for d in sliced if d.kind == "person") == [
        (25, 30, 10, 20), (25, 158, 10, 20), (313, 30, 10, 20), (313, 158, 10, 20),
    ]  # fmt: skip


def test_slices_cover_a_picture_and_none_is_larger_than_asked() -> None:
    picture = np.arange(90 * 130 * 3, dtype=np.int64).reshape(90, 130, 3).astype(np.uint8)
    shown = np.zeros((90, 130), dtype=bool)
    for top, left, part in slices(picture, 50, 10):
        assert part.shape[0] <= 50 and part.shape[1] <= 50
        assert np.array_equal(part, picture[top : top + 50, left : left + 50])
        shown[top : top + part.shape[0], left : left + part.shape[1]] = True
    assert shown.all()


def test_depth_beyond_reach_is_depth(down_frame: CameraFrame) -> None:
    assert has_depth(photograph(down_frame, np.inf)) and not has_depth(photograph(down_frame))


def test_scores_of_two_networks_mean_the_same_on_one_scale() -> None:
    own = ReliabilityCurve(score=(0.2, 0.6), probability=(0.1, 0.5))
    told = ReliabilityCurve(score=(0.1, 0.9), probability=(0.1, 0.9))
    assert on_scale(np.array([0.2, 0.4, 0.6]), own, told) == pytest.approx([0.1, 0.3, 0.5], abs=2e-3)
    level = ReliabilityCurve(score=(0.2, 0.6), probability=(0.5, 0.5))
    assert (np.diff(on_scale(np.array([0.2, 0.3, 0.6, 0.9]), level, told)) > 0.0).all(), "level curves keep the order"
    assert on_scale(np.array([0.3]), None, told) == 0.3


def test_results_name_the_network_for_pictures(tmp_path: Path) -> None:
    chain(tmp_path, PART)
    model = {"model": str(tmp_path / "tiny.onnx")}
    assert len(backend.about("onnx", model)["pictures"]) == 64
    assert "pictures" not in backend.about("onnx", {**model, "pictures": False})


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({**PART, "word": "yeti"}, "none of the classes"),
        ({**PART, "slice": 128, "overlap": 128}, "smaller than their overlap"),
        ({**PART, "file": "gone.onnx"}, "no network for pictures"),
        ({**PART, "sha256": "0" * 64}, "not the file"),
    ],
)
def test_a_card_that_cannot_be_used_is_told_in_one_line(tmp_path: Path, part: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        chain(tmp_path, part)
    assert "\n" not in str(caught.value)
