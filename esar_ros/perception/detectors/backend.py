"""The interface of every clue detector and the registry from which one is chosen by name.

A backend turns images into 2D detections and has no access to the map. Backends are created by name, so that a heavy
one is imported only when it is used. Another package adds one by naming a factory in the entry-point group
`esar_ros.detectors`: a callable that takes parameters (a mapping) and returns a `DetectorBackend`; its attributes
`eligible` and `about`, if it has them, are those of `register`. What is eligible by a property, or not said of the
factory, is read from what it returns.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.errors import UsageError, first_line, suggest
from esar_ros.mission.system.plugins import load_plugin, plugins, refuse_taken


@dataclass(frozen=True)
class Detection2D:
    """One object in one image. The box is (x, y, width, height) in px, x and y its upper left corner."""

    kind: str  # one of mission.clues.KINDS
    score: float  # 0..1
    box: tuple[int, int, int, int]
    text: str  # what a person would call it
    mask: NDArray[np.bool_] | None = None  # (height, width) of the box: which of its pixels are the object's

    @property
    def pixels(self) -> int:
        """Number of the object's visible pixels; 0 when no mask is known."""
        return 0 if self.mask is None else int(np.count_nonzero(self.mask))


@runtime_checkable
class DetectorBackend(Protocol):
    """Detector of objects in images."""

    @property
    def name(self) -> str:
        """Registry name, written into results."""

    @property
    def eligible(self) -> bool:
        """False when it uses ground truth: results made with it stand outside the comparison."""

    @property
    def prompts(self) -> Mapping[str, str]:
        """Classes it detects: words of the detector -> kind of mission.clues.KINDS as which each counts."""

    def set_prompts(self, prompts: Mapping[str, str]) -> None:
        """Look for these from the next image on.

        Raises UsageError when the backend cannot, and then goes on as before.
        """

    def detect(self, frames: Sequence[CameraFrame]) -> list[list[Detection2D]]:
        """Detections of each frame, in the frames' order."""


Parameters = Mapping[str, Any]
Factory = Callable[[Parameters], DetectorBackend]
About = Callable[[Parameters], dict[str, str]]


@dataclass(frozen=True)
class _Entry:
    factory: Factory
    eligible: bool | None  # None: as what it makes says
    about: About | None


GROUP = "esar_ros.detectors"

# Modules that register a backend when imported, by the backend's name.
_MODULES = {
    "segmentation_oracle": "esar_ros.perception.detectors.segmentation_oracle",
    "esar_yolo": "esar_ros.perception.detectors.yolo_file",
    "onnx": "esar_ros.perception.detectors.yolo_file",
    "openvino": "esar_ros.perception.detectors.yolo_file",
    "yolo_world": "esar_ros.perception.detectors.yolo_world",
}
_ENTRIES: dict[str, _Entry] = {}
_SAID: dict[tuple[str, str], bool] = {}  # by name and parameters: whether what was made is eligible
_CALLS, _VALUES = ("detect", "set_prompts"), ("name", "eligible", "prompts")  # of DetectorBackend


def register(name: str, eligible: bool = True, about: About | None = None) -> Callable[[Factory], Factory]:
    """Decorator: registers a factory (parameters -> backend) under a name.

    eligible: it uses no ground truth. about: what identifies it in results beside its name, without loading a network.
    """

    def add(factory: Factory) -> Factory:
        if name in _ENTRIES:
            raise ValueError(f"two detector backends are named '{name}'")
        _ENTRIES[name] = _Entry(factory, eligible, about)
        return factory

    return add


def names() -> tuple[str, ...]:
    """Names of all backends, sorted."""
    return tuple(sorted({*_MODULES, *_ENTRIES, *plugins(GROUP)}))


def create(name: str, parameters: Parameters | None = None) -> DetectorBackend:
    """A backend by name with its own parameters.

    Raises UsageError on an unknown name, a bad parameter, and where another package's cannot be made or is not whole.
    """
    factory = _entry(name).factory
    if name in _MODULES:
        return factory(parameters or {})
    point = plugins(GROUP).get(name)
    called = f"detector '{name}'" if point is None else f"detector '{name}' ({point.value})"
    try:
        made = factory(parameters or {})
        lacks = [one for one in _VALUES if not hasattr(made, one)]
        lacks += [one for one in _CALLS if not callable(getattr(made, one, None))]
    except UsageError:
        raise
    except Exception as error:  # whatever another package raises
        said = f"{type(error).__name__}: {first_line(error)}"
        raise UsageError(f"{called} cannot be made of its parameters, a mapping: {said}", "mend it") from error
    if lacks or inspect.isclass(made):
        what = "it is a class" if inspect.isclass(made) else f"it has no {', '.join(lacks)}"
        raise UsageError(f"{called} is no detector: {what}", "write what docs/how-to/backends.md names")
    return made


def is_eligible(name: str, parameters: Parameters | None = None) -> bool:
    """Returns whether results made with a backend take part in the comparison.

    Raises UsageError on an unknown name, or where it has to be made and cannot be.
    """
    stated, which = _entry(name).eligible, (name, repr(sorted((parameters or {}).items())))
    if stated is None and which not in _SAID:
        _SAID[which] = bool(create(name, parameters).eligible)
    return _SAID[which] if stated is None else stated


def about(name: str, parameters: Parameters | None = None) -> dict[str, str]:
    """Returns a backend's entries in a result: its name, and the identity of its network if any. Raises UsageError."""
    entry = _entry(name)
    return {"backend": name, **(entry.about(parameters or {}) if entry.about is not None else {})}


def defect(frame: CameraFrame) -> str:
    """Returns why a frame is malformed as a detector's input (types, shapes); empty when it is well formed."""
    height, width = frame.rgb.shape[:2] if frame.rgb.ndim == 3 else (0, 0)
    if frame.rgb.ndim != 3 or frame.rgb.shape[2] != 3 or frame.rgb.dtype != np.uint8:
        return f"the picture is {frame.rgb.dtype} {frame.rgb.shape}, not uint8 (H, W, 3)"
    if not height or not width:
        return f"the picture has {width}x{height} pixels"
    if frame.depth.shape != (height, width):
        return f"depth has {frame.depth.shape[::-1]} pixels and the picture {(width, height)}"
    model = frame.model
    if not (math.isfinite(model.fx + model.fy + model.cx + model.cy) and model.fx > 0.0 and model.fy > 0.0):
        return "its camera_info says no focal length: calibrate the camera"
    if (model.width, model.height) != (width, height):
        return f"its camera_info is of {model.width}x{model.height} pixels and the picture has {width}x{height}"
    return ""


def _entry(name: str) -> _Entry:
    if name not in names():
        raise UsageError(f"unknown detector '{name}'", suggest(name, names()))
    refuse_taken(name, GROUP, _MODULES, "detector")
    point = plugins(GROUP).get(name)
    if name not in _ENTRIES and point is not None:
        factory = load_plugin(point, "detector")
        if not callable(factory):
            raise UsageError(f"detector '{name}' ({point.value}) is not callable", "name a factory")
        about, eligible = getattr(factory, "about", None), getattr(factory, "eligible", None)
        _ENTRIES[name] = _Entry(factory, eligible if isinstance(eligible, bool) else None, about)
    elif name not in _ENTRIES:
        import_module(_MODULES[name])
    return _ENTRIES[name]
