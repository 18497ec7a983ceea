"""The detector a person chose: NAME or NAME:FILE, with the parameters that config/detector.yaml gives the name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from esar_ros.mission.errors import UsageError
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.detectors import backend
from esar_ros.perception.detectors.backend import DetectorBackend
from esar_ros.perception.settings import DetectorSettings, load_detector_settings

_THERMAL = "onnx"  # backend of the thermal network
READERS = {".onnx": "onnx", ".xml": "openvino", ".pt": "yolo_world"}  # of a network's file, by its ending


def parted(choice: str, settings: DetectorSettings | None = None) -> tuple[str, Mapping[str, Any]]:
    """Backend's name and parameters of a choice. Raises UsageError."""
    settings = settings or load_detector_settings()
    name, _, file = choice.partition(":")
    if (reader := READERS.get(Path(name).suffix)) is not None:
        raise UsageError(f"detector '{choice}' is a file", f"say what reads it: --detector {reader}:{choice}")
    parameters = dict(settings.backends.get(name, {}))
    if file:
        if name not in READERS.values():
            raise UsageError(f"detector {name} takes no file", "leave out what follows the colon")
        parameters["model"] = file
    return name, parameters


def absolute(choice: str) -> str:
    """The choice with its file's whole path, for processes that may run elsewhere."""
    name, _, file = choice.partition(":")
    return f"{name}:{Path(file).resolve()}" if file and Path(file).exists() else choice


def create_chosen(choice: str, settings: DetectorSettings | None = None) -> DetectorBackend:
    """The backend, loaded. Raises UsageError."""
    return backend.create(*parted(choice, settings))


def create_thermal(choice: str, settings: DetectorSettings | None = None) -> DetectorBackend | None:
    """Returns what looks at the thermal camera's images, loaded; None: the rig has none, or truth is read instead.

    Raises UsageError.
    """
    if not (load_vehicle().thermal.mounted and chosen_is_eligible(choice)):
        return None
    return backend.create(_THERMAL, (settings or load_detector_settings()).thermal)


def about_chosen(choice: str) -> dict[str, str]:
    """Returns the chosen detector's entries in a result; no network is loaded. Raises UsageError."""
    about = backend.about(*parted(choice))
    if load_vehicle().thermal.mounted and chosen_is_eligible(choice):
        own = backend.about(_THERMAL, load_detector_settings().thermal)
        about |= {f"thermal_{key}": own[key] for key in ("model", "digest", "card")}
    return about


def chosen_is_eligible(choice: str) -> bool:
    """Returns whether the chosen detector uses no ground truth. Raises UsageError."""
    return backend.is_eligible(*parted(choice))
