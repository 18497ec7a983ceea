"""Registry of detector backends."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.mission.errors import UsageError
from esar_ros.mission.system import plugins
from esar_ros.perception.detectors import backend
from esar_ros.perception.detectors.backend import Detection2D, DetectorBackend


def test_the_oracle_is_known_and_ineligible() -> None:
    oracle = backend.create("segmentation_oracle")
    assert isinstance(oracle, DetectorBackend)
    assert oracle.name == "segmentation_oracle" and not oracle.eligible


def test_unknown_name_lists_the_known() -> None:
    with pytest.raises(UsageError, match=r"unknown detector 'yolo9000'.*segmentation_oracle"):
        backend.create("yolo9000")


def test_a_registered_factory_gets_its_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_ENTRIES", dict(backend._ENTRIES))
    seen: list[Mapping[str, Any]] = []

    def echo(parameters: Mapping[str, Any]) -> DetectorBackend:
        seen.append(parameters)
        return backend.create("segmentation_oracle")

    backend.register("echo")(echo)
    backend.create("echo", {"weights": "file.onnx"})
    assert seen == [{"weights": "file.onnx"}]
    assert "echo" in backend.names()
    with pytest.raises(ValueError, match="two detector backends"):
        backend.register("echo")(echo)


def test_pixels_counts_the_mask() -> None:
    mask = np.array([[True, False], [True, True]])
    assert Detection2D("tent", 1.0, (0, 0, 2, 2), "", mask).pixels == 3
    assert Detection2D("tent", 1.0, (0, 0, 2, 2), "").pixels == 0


class RedBlob:
    """A detector of another package."""

    name, eligible, prompts = "red_blob", True, {"red": "person"}

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.parameters = parameters


def test_other_packages_bring_detectors(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        EntryPoint("red_blob", f"{__name__}:RedBlob", backend.GROUP),
        EntryPoint("onnx", f"{__name__}:RedBlob", backend.GROUP),
        EntryPoint("broken", "esar_no_such_package:Thing", backend.GROUP),
        EntryPoint("number", "math:pi", backend.GROUP),
    ]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points if group == backend.GROUP else [])
    monkeypatch.setattr(backend, "_ENTRIES", dict(backend._ENTRIES))
    assert "red_blob" in backend.names() and backend.is_eligible("red_blob")
    assert isinstance(made := backend.create("red_blob", {"least": 3}), RedBlob) and made.parameters == {"least": 3}
    for name, said in (("onnx", "two detectors"), ("broken", "does not load"), ("number", "is not callable")):
        with pytest.raises(UsageError, match=said):
            backend.create(name)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (CameraModel(64, 48, 0.0, 0.0, 0.0, 0.0), "calibrate the camera"),
        (CameraModel(64, 48, float("nan"), 32.0, 32.0, 24.0), "calibrate the camera"),
        (CameraModel(128, 96, 64.0, 64.0, 64.0, 48.0), "is of 128x96 pixels and the picture has 64x48"),
        (CameraModel(64, 48, 32.0, 32.0, 32.0, 24.0), ""),
    ],
)
def test_a_camera_that_is_not_calibrated_or_another_s_is_a_defect(model: CameraModel, words: str) -> None:
    frame = CameraFrame("front", model, Pose(), np.ones((48, 64), np.float32), np.zeros((48, 64, 3), np.uint8))
    assert words in backend.defect(frame) and bool(words) == bool(backend.defect(frame))
