"""Detectors from exported files, in both engines: what they find, and what is told of files that are wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.errors import UsageError
from esar_ros.perception.detectors import backend
from esar_ros.perception.detectors.backend import DetectorBackend
from esar_ros.perception.fusion.evidence import Calibrated, Reliability
from helpers.tiny_onnx import bright_tent, write_detector

CARD = {"schema": "esar-detector/1", "name": "tiny", "classes": ["tent", "person"]}
ENGINES = ["onnx", "openvino"]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "openvino":
        pytest.importorskip("openvino", reason="extra openvino is not installed")
    return str(request.param)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A tiny detector with its card."""
    path = bright_tent(tmp_path / "tiny.onnx")
    path.with_suffix(".json").write_text(json.dumps(CARD))
    return path


def loaded(name: str, model: Path, **parameters: Any) -> DetectorBackend:
    return backend.create(name, {"model": str(model), **parameters})


def lit(frame: CameraFrame, value: int, size: tuple[int, int] = (480, 640)) -> CameraFrame:
    return replace(frame, rgb=np.full((*size, 3), value, np.uint8), depth=np.full(size, 30.0, np.float32))


def test_a_bright_picture_shows_the_tent(engine: str, model: Path, down_frame: CameraFrame) -> None:
    detector = loaded(engine, model)
    assert isinstance(detector, DetectorBackend) and detector.eligible and detector.name == engine
    bright, dark = detector.detect([lit(down_frame, 204), lit(down_frame, 26)])
    assert [(d.kind, d.text, d.box) for d in bright] == [("tent", "tent", (80, 50, 40, 20))]
    assert bright[0].score == pytest.approx(0.8, abs=1e-3)
    assert dark == []


def test_a_network_of_fixed_size_sees_the_whole_picture(engine: str, tmp_path: Path, down_frame: CameraFrame) -> None:
    model = bright_tent(tmp_path / "fixed.onnx", shape=(1, 3, 240, 320))
    (tmp_path / "fixed.txt").write_text("tent\nperson\n")
    (found,) = loaded(engine, model).detect([lit(down_frame, 255)])
    assert found[0].box == (160, 100, 80, 40), "boxes are in the picture's pixels, not the network's"


def test_what_lies_beyond_the_networks_reach_is_not_looked_at(model: Path, down_frame: CameraFrame) -> None:
    model.with_suffix(".json").write_text(json.dumps(CARD | {"reach": 50.0}))
    detector = loaded("onnx", model)
    frame = lit(down_frame, 255)
    depth = frame.depth.copy()
    depth[:200], depth[:, :300] = np.inf, 80.0
    dark_sky = frame.rgb.copy()
    dark_sky[:150] = 0
    (corner,) = detector.detect([replace(frame, rgb=dark_sky, depth=depth)])
    assert [d.box for d in corner] == [(256 + 80, 160 + 50, 40, 20)], "of what is looked at, but in the whole picture"
    assert corner[0].score == pytest.approx(1.0), "the dark sky was not looked at"
    assert detector.detect([replace(frame, depth=np.full_like(depth, np.inf))]) == [[]]
    assert len(detector.detect([replace(frame, depth=np.full_like(depth, np.nan))])[0]) == 1, "a failed depth camera"


def test_thresholds_and_calibration_come_from_the_card(engine: str, model: Path, down_frame: CameraFrame) -> None:
    card = CARD | {
        "thresholds": {"tent": 0.7},
        "calibration": {"tent": {"score": [0.5, 1.0], "probability": [0.2, 0.6]}},
        "texts": {"tent": "a tent"},
    }
    model.with_suffix(".json").write_text(json.dumps(card))
    detector = loaded(engine, model)
    assert detector.detect([lit(down_frame, 170)]) == [[]]
    (found,) = detector.detect([lit(down_frame, 204)])
    assert found[0].score == pytest.approx(0.8, abs=1e-3) and found[0].text == "a tent"
    assert isinstance(detector, Calibrated)
    assert Reliability(detector.reliability).probability("tent", 0.8) == pytest.approx(0.2 + 0.4 * 0.6)
    assert loaded(engine, model, thresholds={"tent": 0.5}).detect([lit(down_frame, 170)])[0]


def test_prompts_choose_among_the_classes(engine: str, model: Path, down_frame: CameraFrame) -> None:
    detector = loaded(engine, model)
    assert detector.prompts == {"tent": "tent", "person": "person"}
    detector.set_prompts({"tent": "sleeping_bag"})
    assert detector.detect([lit(down_frame, 255)])[0][0].kind == "sleeping_bag"
    for bad, words in (({"yeti": "person"}, "no class 'yeti'"), ({"tent": "yurt"}, "known kinds"), ({}, "nothing to")):
        with pytest.raises(UsageError, match=words):
            detector.set_prompts(bad)
    assert detector.prompts == {"tent": "sleeping_bag"}, "it goes on as before"
    detector.set_prompts({"person": "person"})
    assert detector.detect([lit(down_frame, 255)]) == [[]]


def test_a_word_keeps_its_reliability_whatever_it_counts_as(model: Path) -> None:
    curve = {"score": [0.5], "probability": [0.3]}
    model.with_suffix(".json").write_text(json.dumps(CARD | {"calibration": {"tent": curve}}))
    detector = loaded("onnx", model, prompts={"tent": "backpack"})
    assert isinstance(detector, Calibrated) and detector.reliability == {"backpack": [(0.5, 0.3)]}
    detector.set_prompts({"tent": "rope", "person": "person"})
    assert detector.reliability == {"rope": [(0.5, 0.3)]}


def test_class_names_in_the_file_stand_in_for_a_card(tmp_path: Path, down_frame: CameraFrame) -> None:
    model = bright_tent(tmp_path / "named.onnx", names="{0: 'tent', 1: 'zebra'}")
    detector = loaded("onnx", model)
    assert detector.prompts == {"tent": "tent"}, "a zebra counts as nothing"
    assert detector.detect([lit(down_frame, 255)])[0][0].kind == "tent"


def test_networks_that_need_no_suppression(engine: str, tmp_path: Path, down_frame: CameraFrame) -> None:
    base = np.zeros((1, 30, 6), np.float32)
    base[0, 0] = 10.0, 20.0, 50.0, 40.0, 0.9, 1.0
    base[0, 1] = 10.0, 20.0, 50.0, 40.0, 0.8, 7.0  # of a class that does not exist
    model = write_detector(tmp_path / "free.onnx", base, np.zeros_like(base))
    (tmp_path / "free.txt").write_text("tent\nperson\n")
    (found,) = loaded(engine, model).detect([lit(down_frame, 100)])
    assert [(d.kind, d.box) for d in found] == [("person", (10, 20, 40, 20))]


def test_an_empty_picture_shows_nothing(engine: str, model: Path, down_frame: CameraFrame) -> None:
    assert loaded(engine, model).detect([lit(down_frame, 0, (0, 0)), lit(down_frame, 255)])[0] == []


def test_two_processes_see_the_same(engine: str, model: Path) -> None:
    code = (
        "import sys, numpy as np; from pathlib import Path\n"
        "from esar_ros.perception.detectors.engines import load_engine\n"
        "picture = np.random.default_rng(1).random((1, 3, 96, 64)).astype(np.float32)\n"
        f"name = {'onnxruntime' if engine == 'onnx' else 'openvino'!r}\n"
        "sys.stdout.buffer.write(load_engine(name, Path(sys.argv[1]), 1).run(picture).tobytes())"
    )
    runs = {
        subprocess.run([sys.executable, "-c", code, str(model)], capture_output=True, check=True).stdout for _ in "ab"
    }
    assert len(runs) == 1 and len(next(iter(runs))) == 6 * 8 * 4


def _corrupt(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _not_a_network(path: Path) -> None:
    path.write_text("<html>404</html>")


def _classifier(path: Path) -> None:
    write_detector(path, np.zeros((1, 1000), np.float32), np.zeros((1, 1000), np.float32))


def _of_grey_images(path: Path) -> None:
    bright_tent(path, shape=(1, 1, 64, 64))


def _of_damaged_weights(path: Path) -> None:
    write_detector(path, np.full((1, 6, 8), np.nan, np.float32), np.zeros((1, 6, 8), np.float32))


def _of_three_classes(path: Path) -> None:
    bright_tent(path, classes=3)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_corrupt, "cannot be loaded"),
        (_empty, "cannot be loaded"),
        (_not_a_network, "cannot be loaded"),
        (_classifier, "gives an array of shape"),
        (_of_grey_images, "no detector of pictures"),
        (_of_damaged_weights, "not finite"),
        (_of_three_classes, "has 3 classes, not 2"),
        (Path.unlink, "there is no model"),
    ],
)
def test_wrong_networks_are_told_in_one_line(
    engine: str, model: Path, damage: Callable[[Path], None], words: str
) -> None:
    damage(model)
    with pytest.raises(UsageError, match=words) as told:
        loaded(engine, model)
    assert "\n" not in str(told.value) and "tiny.onnx" in str(told.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is no model card"),
        ("[]", "model card"),
        (json.dumps(CARD | {"classes": []}), "key classes"),
        (json.dumps(CARD | {"classes": ["tent", "tent"]}), "twice"),
        (json.dumps(CARD | {"schema": "other/1"}), "key schema"),
        (json.dumps(CARD | {"thresholds": {"yak": 0.5}}), "'yak'"),
        (json.dumps(CARD | {"thresholds": {"tent": 7}}), "between 0 and 1"),
        (json.dumps(CARD | {"prompts": {"tent": "house"}}), "house"),
        (json.dumps(CARD | {"calibration": {"tent": {"score": [0.5, 0.4], "probability": [0, 1]}}}), "must rise"),
        (json.dumps(CARD | {"sha256": "0" * 64}), "is not the file"),
    ],
)
def test_wrong_cards_are_told_in_one_line(model: Path, text: str, words: str) -> None:
    model.with_suffix(".json").write_text(text)
    with pytest.raises(UsageError, match=words) as told:
        loaded("onnx", model)
    assert "\n" not in str(told.value)


def test_without_card_or_names_it_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing says which classes.*lone\.json"):
        loaded("onnx", bright_tent(tmp_path / "lone.onnx"))


def test_without_a_model_it_says_how_to_name_one() -> None:
    with pytest.raises(UsageError, match="--detector onnx:FILE"):
        backend.create("onnx")


def test_a_missing_engine_is_told_with_its_cure(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(UsageError, match=r"\./esar exec pip install 'esar_ros\[openvino\]'"):
        loaded("openvino", model)


def test_what_a_result_says_of_it(model: Path) -> None:
    about = backend.about("onnx", {"model": str(model)})
    assert about["backend"] == "onnx" and about["model"] == "tiny.onnx" and len(about["digest"]) == 64
    assert about["engine"].startswith("onnxruntime ")
    model.with_suffix(".json").write_text(json.dumps(CARD | {"thresholds": {"tent": 0.9}}))
    assert backend.about("onnx", {"model": str(model)})["card"] != about["card"], "thresholds decide results too"
    bright_tent(model, classes=3)
    assert backend.about("onnx", {"model": str(model)})["digest"] != about["digest"]
