"""Registry of detector backends."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
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
from esar_ros.perception.detectors.chosen import chosen_is_eligible
from esar_ros.perception.detectors.model_card import load_card


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

    def set_prompts(self, prompts: Mapping[str, str]) -> None:
        """Nothing to set."""

    def detect(self, frames: Any) -> Any:
        """Nothing."""
        return [[] for _ in frames]


class Peeks(RedBlob):
    """As the protocol writes it: a property, which only an object answers."""

    @property
    def eligible(self) -> bool:  # type: ignore[override]
        return bool(self.parameters.get("honest", False))


class Raises(RedBlob):
    def __init__(self, parameters: Mapping[str, Any]) -> None:
        raise FileNotFoundError("weights.bin is not there\nat all")


class WithoutParameters(RedBlob):
    def __init__(self) -> None:
        super().__init__({})


class Blind(RedBlob):
    detect = None  # type: ignore[assignment]


def own(monkeypatch: pytest.MonkeyPatch, **named: str) -> None:
    points = [EntryPoint(name, f"{__name__}:{what}", backend.GROUP) for name, what in named.items()]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points if group == backend.GROUP else [])
    monkeypatch.setattr(backend, "_ENTRIES", dict(backend._ENTRIES))
    monkeypatch.setattr(backend, "_SAID", {})


def made(parameters: Mapping[str, Any]) -> Any:
    """A factory that says nothing of itself."""
    return Peeks(parameters)


def test_what_is_made_says_whether_it_is_eligible_where_its_factory_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    own(monkeypatch, peeks="Peeks", made="made", red_blob="RedBlob")
    assert not backend.is_eligible("peeks") and not chosen_is_eligible("made")
    assert backend.is_eligible("peeks", {"honest": True}) and backend.is_eligible("red_blob")
    assert backend.is_eligible("esar_yolo") and not backend.is_eligible("segmentation_oracle"), "nothing is loaded"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("Raises", "cannot be made of its parameters, a mapping: FileNotFoundError: weights.bin is not there: mend it"),
        ("WithoutParameters", "cannot be made of its parameters, a mapping: TypeError"),
        ("Blind", "is no detector: it has no detect: write what"),
    ],
)
def test_a_detector_that_is_none_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, what: str, said: str) -> None:
    own(monkeypatch, mine=what)
    with pytest.raises(UsageError, match=f"detector 'mine' .*{what}.* ({said})") as refused:
        backend.create("mine")
    assert "\n" not in str(refused.value)


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


@pytest.mark.parametrize("name", ["classes.txt", "card.json"])
def test_a_mark_of_windows_before_the_classes_is_no_class(tmp_path: Path, name: str) -> None:
    content = "person\r\ntent\r\n" if name.endswith(".txt") else '{"name": "n", "classes": ["person", "tent"]}'
    (tmp_path / name).write_text(f"\ufeff{content}", encoding="utf-8")
    assert load_card(tmp_path / name).kinds == {"person": "person", "tent": "tent"}


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
