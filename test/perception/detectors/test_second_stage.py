"""The second look at each box: what it is shown, what it decides, and what is told of files that are wrong."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.perception.detectors import backend
from esar_ros.perception.detectors.model_card import SecondStageCard, digest
from esar_ros.perception.detectors.second_stage import (
    CHANNELS,
    EXTENTS,
    OWN_FEATURES,
    SIDE,
    SecondStage,
    box_depths,
    crops,
    features,
    shifted,
    shifts_between,
)
from esar_ros.perception.detectors.yolo_boxes import RawBoxes
from esar_ros.perception.detectors.yolo_file import YoloFile
from helpers.tiny_onnx import bright_tent, write_detector, write_second_stage

CLASSES = ["tent", "person"]
CARD = {"schema": "esar-detector/1", "name": "tiny", "classes": CLASSES, "thresholds": {"tent": 0.3, "person": 0.3}}
ABOUT = {"file": "tiny-second.onnx", "proposal": 0.1, "overlap": 0.6, "merge": 0.4, "no_depth": 0.5}
BOX = (80, 50, 40, 20)  # of bright_tent


def boxes(*corners: tuple[float, float, float, float], classes: int = 2) -> RawBoxes:
    table = np.full((len(corners), classes), 0.2)
    return RawBoxes(np.array(corners, float), np.full(len(corners), 0.2), np.zeros(len(corners), np.int64), table)


@pytest.fixture
def frame(down_frame: CameraFrame) -> CameraFrame:
    """A bright picture of flat ground 30 m away."""
    return replace(down_frame, rgb=np.full((480, 640, 3), 204, np.uint8))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A detector that calls its one box a tent, and a second stage that calls what is wider than 3 m a tent, else a
    person."""
    path = bright_tent(tmp_path / "tiny.onnx")
    slope = np.zeros((OWN_FEATURES + 2, 3), np.float32)
    slope[1, 0], slope[1, 1] = 8.0, -8.0  # the logarithm of the width in metres
    write_second_stage(tmp_path / "tiny-second.onnx", slope, np.array([-8.8, 8.8, 0.0], np.float32))
    _write_card(path)
    return path


def _write_card(model: Path, **more: Any) -> None:
    model.with_suffix(".json").write_text(json.dumps(CARD | {"second_stage": ABOUT | more}))


def found(model: Path, frame: CameraFrame, **parameters: Any) -> list[tuple[str, float]]:
    (seen,) = backend.create("onnx", {"model": str(model), **parameters}).detect([frame])
    assert all(detection.box == BOX for detection in seen), "a shift of nothing leaves a box where it is"
    return [(detection.kind, round(detection.score, 2)) for detection in seen]


def at(frame: CameraFrame, depth: float) -> CameraFrame:
    return replace(frame, depth=np.full((480, 640), depth, np.float32))


def test_depth_decides_between_a_tent_and_what_looks_like_one(model: Path, frame: CameraFrame) -> None:
    (far,), (near,) = found(model, at(frame, 40.0)), found(model, at(frame, 10.0))
    assert far[0] == "tent" and far[1] > 0.9, "40 px at 40 m are 5 m"
    assert near[0] == "person" and near[1] > 0.9, "40 px at 10 m are 1.25 m"


def test_a_box_is_moved_onto_what_it_shows(model: Path, frame: CameraFrame) -> None:
    slope, offset = np.zeros((OWN_FEATURES + 2, 3), np.float32), np.array([5.0, 0.0, 0.0], np.float32)
    shift = (0.25, -0.5, math.log(2.0), math.log(0.5))  # of 40 x 20 px about (100, 60)
    write_second_stage(model.with_name("tiny-second.onnx"), slope, offset, shift)
    (seen,) = backend.create("onnx", {"model": str(model)}).detect([frame])
    assert [detection.box for detection in seen] == [(70, 45, 80, 10)]
    (blind,) = backend.create("onnx", {"model": str(model)}).detect([at(frame, np.nan)])
    assert [detection.box for detection in blind] == [BOX], "without depth there is no second look"


def test_boxes_that_are_moved_onto_one_object_are_one(tmp_path: Path, frame: CameraFrame) -> None:
    base = np.zeros((1, 6, 8), np.float32)  # two halves of one thing, side by side, and another far from them
    for n, (x, score) in enumerate(((90.0, 0.8), (110.0, 0.7), (400.0, 0.6))):
        base[0, :5, n] = x, 60.0, 20.0, 20.0, score
    model = write_detector(tmp_path / "tiny.onnx", base, np.zeros_like(base))
    slope, offset = np.zeros((OWN_FEATURES + 2, 3), np.float32), np.array([5.0, 0.0, 0.0], np.float32)
    slope[OWN_FEATURES] = 0.1, 0.0, 0.0  # the surer the first stage, the surer the second
    write_second_stage(tmp_path / "tiny-second.onnx", slope, offset, (0.0, 0.0, math.log(3.0), 0.0))
    _write_card(model)
    (seen,) = backend.create("onnx", {"model": str(model)}).detect([frame])
    assert [detection.box for detection in seen] == [(60, 50, 60, 20), (370, 50, 60, 20)]
    _write_card(model, merge=0.51)
    (seen,) = backend.create("onnx", {"model": str(model)}).detect([frame])
    assert len(seen) == 3, "20 of 60 px apart, they agree by a half"


@given(st.lists(st.tuples(*[st.floats(-50.0, 700.0)] * 2, *[st.floats(0.5, 300.0)] * 2), min_size=2, max_size=2))
@settings(deadline=None)
def test_a_shift_between_two_boxes_moves_one_onto_the_other(both: list[tuple[float, float, float, float]]) -> None:
    one, other = (np.array([[x, y, x + width, y + height]]) for x, y, width, height in both)
    shift = shifts_between(one, other)
    sides = one[0, 2:] - one[0, :2]
    moved = shifted(one, shift)
    if np.abs(shift[0, :2]).max() <= 2.0 and np.abs(shift[0, 2:]).max() <= math.log(4.0):
        assert moved == pytest.approx(other, abs=1e-6)
    growth = (moved[0, 2:] - moved[0, :2]) / sides
    assert (growth <= 4.0 + 1e-9).all() and (growth >= 0.25 - 1e-9).all(), "a wild network moves a box only so far"
    assert (np.abs(moved.reshape(2, 2).mean(axis=0) - one.reshape(2, 2).mean(axis=0)) <= 2.0 * sides + 1e-9).all()


def test_the_network_alone_when_that_is_asked_for(model: Path, frame: CameraFrame) -> None:
    assert found(model, at(frame, 10.0), second_stage=False) == [("tent", 0.8)]


def test_a_box_that_the_second_stage_calls_nothing_is_dropped(model: Path, frame: CameraFrame) -> None:
    slope = np.zeros((OWN_FEATURES + 2, 3), np.float32)
    write_second_stage(model.with_name("tiny-second.onnx"), slope, np.array([0.0, 0.0, 6.0], np.float32))
    assert found(model, frame) == []
    (doubtful,) = found(model, frame, thresholds={"tent": 0.001, "person": 0.001})
    assert doubtful[1] < 0.01


@pytest.mark.parametrize("depth", [np.nan, np.inf, 0.0])
def test_without_depth_the_network_alone_decides_and_is_trusted_less(
    model: Path, frame: CameraFrame, depth: float
) -> None:
    assert found(model, at(frame, depth)) == [("tent", 0.4)]
    _write_card(model, no_depth=1.0)
    assert found(model, at(frame, depth)) == [("tent", 0.8)]
    dim = replace(at(frame, depth), rgb=np.full((480, 640, 3), 128, np.uint8))  # scored 0.5
    assert found(model, dim) == [("tent", 0.5)]
    _write_card(model, no_depth=0.5)
    assert found(model, dim) == [], "0.25 is less than the network's own threshold"


def test_what_is_not_looked_for_is_not_called(model: Path, frame: CameraFrame) -> None:
    detector = backend.create("onnx", {"model": str(model)})
    detector.set_prompts({"tent": "tent"})
    assert detector.detect([at(frame, 10.0)]) == [[]]
    assert [d.kind for d in detector.detect([at(frame, 40.0)])[0]] == ["tent"]


def test_thresholds_and_reliability_are_the_second_stages_own(model: Path, frame: CameraFrame) -> None:
    _write_card(model, thresholds={"tent": 0.999}, calibration={"tent": {"score": [0.5], "probability": [0.7]}})
    detector = backend.create("onnx", {"model": str(model)})
    assert detector.detect([at(frame, 31.0)]) == [[]]
    assert detector.reliability == {"tent": [(0.5, 0.7)]}  # type: ignore[attr-defined]  # of Calibrated backends
    assert found(model, at(frame, 31.0), thresholds={"tent": 0.2})[0][0] == "tent"


@pytest.mark.parametrize("corners", [(-6.0, -6.0, 4.0, 4.0), (630.0, 470.0, 660.0, 500.0), (0.0, 0.0, 640.0, 480.0)])
def test_beyond_the_pictures_edge_all_is_grey_and_flat(frame: CameraFrame, corners: tuple[float, ...]) -> None:
    one = boxes(corners)  # type: ignore[arg-type]  # four of them
    (crop,) = crops(one, np.array([3.0]), frame)
    assert crop.shape == (CHANNELS, SIDE, SIDE) and crop.dtype == np.float32
    assert np.isfinite(crop).all() and crop[:3].min() >= 0.44 and crop[:3].max() <= 0.81
    if corners[0] != 0.0:
        assert (np.abs(crop[:3] - 114 / 255) < 1e-6).any(), "grey"
        assert (crop[3] == 0.0).any() and crop[3].max() == 1.0, "the ground lies 27 m behind, more than a crop's side"
    assert features(one, np.array([3.0]), frame)[0, 5] == 1.0, "it touches the edge"
    assert features(boxes((300.0, 200.0, 320.0, 230.0)), np.array([3.0]), frame)[0, 5] == 0.0


def test_a_crop_spans_the_same_metres_from_any_distance(frame: CameraFrame) -> None:
    for depth in (10.0, 20.0, 40.0):
        px = frame.model.fx / depth  # a metre
        rgb = np.zeros((480, 640, 3), np.uint8)
        low, high = 320.0 - px / 2.0, 320.0 + px / 2.0
        rgb[:, round(low) : round(high)] = 255  # a post of one metre
        (crop,) = crops(boxes((low, 230.0, high, 250.0)), np.array([depth]), replace(frame, rgb=rgb))
        for scale, extent in enumerate(EXTENTS):
            width = crop[4 * scale, SIDE // 2].sum() / SIDE * extent
            assert width == pytest.approx(1.0, abs=0.2)


def test_depth_is_told_against_the_boxs_own(frame: CameraFrame) -> None:
    depth = np.full((480, 640), 30.0, np.float32)
    depth[:, 320:] = 32.0
    depth[:240, :320] = np.nan
    depth[240:, :316] = 0.0
    (crop,) = crops(boxes((310.0, 230.0, 330.0, 250.0)), np.array([30.0]), replace(frame, depth=depth))
    assert crop[3, SIDE // 2, -1] == pytest.approx(2.0 / EXTENTS[0])
    assert np.isfinite(crop).all() and (crop[3, :, 0] == 0.0).all(), "what has no depth counts as being at the box's"


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.5, 7.0, 119.0]))
def test_whatever_the_picture_every_number_is_finite(seed: int, depth: float) -> None:
    rng = np.random.default_rng(seed)
    far = rng.choice([np.nan, np.inf, 0.0, depth, 2.0 * depth], (48, 64)).astype(np.float32)
    corners = rng.uniform(-20.0, 80.0, (4, 2)).repeat(2, axis=0).reshape(4, 4) + (0.0, 0.0, 9.0, 9.0)
    frame = _small(rng.integers(0, 255, (48, 64, 3), dtype=np.uint8), far)
    raw = replace(boxes(*map(tuple, corners)), table=rng.choice([0.0, 0.5, 1.0], (4, 2)))
    depths = box_depths(raw, frame)
    assert ((depths > 0.0) | np.isnan(depths)).all()
    known = np.full(4, depth)
    assert np.isfinite(features(raw, known, frame)).all()
    assert np.isfinite(crops(raw, known, frame)).all()


def _small(rgb: NDArray[np.uint8], depth: NDArray[np.float32]) -> CameraFrame:
    from esar_ros.geometry.camera import CameraModel
    from esar_ros.geometry.frames import Pose

    return CameraFrame("front", CameraModel.from_horizontal_fov(64, 48, np.pi / 2), Pose(), depth, rgb, 0.0)


def _halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _of_other_features(path: Path) -> None:
    write_second_stage(path, np.zeros((5, 3), np.float32), np.zeros(3, np.float32))


def _of_other_classes(path: Path) -> None:
    write_second_stage(path, np.zeros((OWN_FEATURES + 2, 9), np.float32), np.zeros(9, np.float32))


def _of_other_shifts(path: Path) -> None:
    write_second_stage(path, np.zeros((OWN_FEATURES + 2, 3), np.float32), np.zeros(3, np.float32), (0.0, 0.0))


def _of_no_numbers(path: Path) -> None:
    write_second_stage(path, np.zeros((OWN_FEATURES + 2, 3), np.float32), np.full(3, np.nan, np.float32))


def _a_detector(path: Path) -> None:
    bright_tent(path)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_halve, "cannot be loaded"),
        (_of_other_features, "fails on a crop"),
        (_of_other_classes, r"shapes \[\(1, 9\), \(1, 4\)\]"),
        (_of_other_shifts, r"shapes \[\(1, 3\), \(1, 2\)\]"),
        (_of_no_numbers, "not finite"),
        (_a_detector, "fails on a crop"),
        (Path.unlink, "which the model card names: put it beside"),
    ],
)
def test_wrong_second_stages_are_told_in_one_line(model: Path, damage: Callable[[Path], None], words: str) -> None:
    damage(model.with_name("tiny-second.onnx"))
    with pytest.raises(UsageError, match=words) as told:
        backend.create("onnx", {"model": str(model)})
    assert "\n" not in str(told.value) and "tiny-second.onnx" in str(told.value)
    assert backend.create("onnx", {"model": str(model), "second_stage": False}).name == "onnx"


def test_a_second_stage_of_another_card_is_refused_and_named_in_results(model: Path) -> None:
    second = digest(model.with_name("tiny-second.onnx"))
    _write_card(model, sha256=second)
    assert backend.about("onnx", {"model": str(model)})["second_stage"] == second
    assert "second_stage" not in backend.about("onnx", {"model": str(model), "second_stage": False})
    _write_card(model, sha256="0" * 64)
    with pytest.raises(UsageError, match="is not the file its model card describes"):
        backend.create("onnx", {"model": str(model)})


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"thresholds": {"yak": 0.5}}, "yak"),
        ({"thresholds": {"tent": 7}}, "between 0 and 1"),
        ({"calibration": {"yak": {"score": [0.5], "probability": [0.5]}}}, "yak"),
        ({"proposal": 0}, "proposal"),
        ({"file": ""}, "file"),
    ],
)
def test_wrong_cards_are_told(model: Path, more: dict[str, Any], words: str) -> None:
    _write_card(model, **more)
    with pytest.raises(UsageError, match=words):
        backend.create("onnx", {"model": str(model)})


def test_the_shipped_one_costs_less_than_half_of_the_network_before_it(frame: CameraFrame) -> None:
    rng = np.random.default_rng(3)
    noisy = replace(frame, rgb=rng.integers(0, 255, (480, 640, 3), dtype=np.uint8))
    network = YoloFile("esar_yolo", {"second_stage": False})
    about = SecondStageCard.model_validate(ABOUT)
    second = SecondStage(resource("models") / "esar-clues-second.onnx", about, len(network.card.classes), 1)
    middles = rng.uniform((10.0, 10.0), (630.0, 470.0), (20, 2))
    twenty = boxes(*map(tuple, np.hstack([middles - 6.0, middles + 6.0])), classes=len(network.card.classes))

    def cost(work: Callable[[], Any]) -> float:
        times = []
        for _ in range(5):
            began = time.process_time()
            work()
            times.append(time.process_time() - began)
        return float(np.median(times))

    alone = cost(lambda: network.detect([noisy]))
    again = cost(lambda: second.judge(twenty, box_depths(twenty, noisy), noisy))
    assert again < 0.5 * alone
