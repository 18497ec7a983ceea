"""The interface of every clue detector and the registry they are chosen from.

A backend turns pictures into 2D detections and knows nothing of the map. Backends are
created by name, so that a heavy one is imported only when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose
from esar_ros.mission.errors import UsageError


@dataclass(frozen=True)
class CameraFrame:
    """One camera's picture, its depth and the pose both were taken at; arrays are read-only by agreement."""

    camera: str
    model: CameraModel
    pose: Pose  # optical frame in map, at stamp
    rgb: NDArray[np.uint8]  # (H, W, 3)
    depth: NDArray[np.float32]  # (H, W) planar m; +inf nothing in range, NaN invalid, -inf too near
    stamp: float  # s
    segmentation: NDArray[np.uint8] | None = None  # (H, W) object ids, simulators only


@dataclass(frozen=True)
class Detection2D:
    """One object in one picture. The box is (x, y, width, height) in px, x and y its least corner."""

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
    """What finds objects in pictures."""

    @property
    def name(self) -> str:
        """Registry name, written into results."""

    @property
    def eligible(self) -> bool:
        """False when it uses ground truth: results made with it stand outside the comparison."""

    @property
    def prompts(self) -> Mapping[str, str]:
        """What it looks for: words of the detector -> kind of mission.clues.KINDS they count as."""

    def set_prompts(self, prompts: Mapping[str, str]) -> None:
        """Look for these from the next picture on.

        Raises UsageError when the backend cannot, and then goes on as before.
        """

    def detect(self, frames: Sequence[CameraFrame]) -> list[list[Detection2D]]:
        """Detections of each frame, in the frames' order."""


Factory = Callable[[Mapping[str, Any]], DetectorBackend]

# Modules that register a backend when imported, by the backend's name.
_MODULES = {"segmentation_oracle": "esar_ros.perception.segmentation_oracle"}
_FACTORIES: dict[str, Factory] = {}


def register(name: str) -> Callable[[Factory], Factory]:
    """Decorator: make a factory (parameters -> backend) known under a name."""

    def add(factory: Factory) -> Factory:
        if name in _FACTORIES:
            raise ValueError(f"two detector backends are named '{name}'")
        _FACTORIES[name] = factory
        return factory

    return add


def names() -> tuple[str, ...]:
    """Names of all backends, sorted."""
    return tuple(sorted({*_MODULES, *_FACTORIES}))


def create(name: str, parameters: Mapping[str, Any] | None = None) -> DetectorBackend:
    """A backend by name with its own parameters. Raises UsageError on an unknown name or a bad parameter."""
    if name not in names():
        raise UsageError(f"unknown detector backend '{name}'", f"known: {', '.join(names())}")
    if name not in _FACTORIES:
        import_module(_MODULES[name])
    return _FACTORIES[name](parameters or {})
