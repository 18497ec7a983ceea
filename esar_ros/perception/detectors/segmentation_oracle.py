"""Detector that reads the simulator's object ids: an upper bound for debugging, never eligible.

It sees only what could be seen: an object counts from a stated number of visible pixels on,
and those hidden behind others are not in the id image. Weather and darkness do not trouble it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.settings_file import StrictModel
from esar_ros.perception.detectors.backend import Detection2D, register
from esar_ros.perception.settings import parse

REFERENCE_PIXELS = 640 * 480  # image size that min_pixels refers to


class OracleSettings(StrictModel):
    """Parameters of the segmentation oracle."""

    objects: dict[int, tuple[str, str]] = Field(
        default_factory=dict, description="object id in the picture -> (kind, what a person would call it)"
    )
    min_pixels: float = Field(default=6.0, gt=0, description="least visible pixels of an object in a 640x480 picture")


@register("segmentation_oracle", eligible=False)
class SegmentationOracle:
    """Detections from the id image and the simulator's table of objects."""

    name = "segmentation_oracle"
    eligible = False

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        settings = parse(OracleSettings, parameters, "detector backend segmentation_oracle")
        self._min_pixels = settings.min_pixels
        self._objects: dict[int, tuple[str, str]] = {}
        self.set_objects(settings.objects)
        self._prompts = {kind.replace("_", " "): kind for kind in KINDS}

    @property
    def prompts(self) -> Mapping[str, str]:
        """Kinds it names, in words."""
        return self._prompts

    def set_prompts(self, prompts: Mapping[str, str]) -> None:
        """Name only these kinds. Raises UsageError on a kind that does not exist."""
        _check_kinds(prompts.values(), "prompts")
        self._prompts = dict(prompts)

    def set_objects(self, objects: Mapping[int, tuple[str, str]]) -> None:
        """Replace the table object id (1..255) -> (kind, description). Raises UsageError."""
        _check_kinds((kind for kind, _ in objects.values()), "objects")
        for identity in objects:
            if not 0 < identity < 256:
                raise UsageError(f"segmentation_oracle, objects: id {identity}", "ids are 1 to 255, 0 is the ground")
        self._objects = dict(objects)

    def detect(self, frames: Sequence[CameraFrame]) -> list[list[Detection2D]]:
        """Detections of each frame; score 1. Raises UsageError on a frame without object ids."""
        return [self._detect(frame) for frame in frames]

    def _detect(self, frame: CameraFrame) -> list[Detection2D]:
        ids = frame.segmentation
        if ids is None:
            raise UsageError(
                f"segmentation_oracle: camera {frame.camera} has no object ids",
                "use it with the embedded simulator, or choose another detector backend",
            )
        counts = np.bincount(ids.reshape(-1), minlength=256)
        # One pixel alone could be an artefact of the rasteriser.
        minimum = max(2, math.ceil(self._min_pixels * ids.size / REFERENCE_PIXELS))
        wanted = set(self._prompts.values())
        found = []
        for identity in np.flatnonzero(counts >= minimum):
            kind, text = self._objects.get(int(identity), ("", ""))
            if kind in wanted:
                box, mask = _box_and_mask(ids, int(identity))
                found.append(Detection2D(kind, 1.0, box, text, mask))
        return found


def _box_and_mask(ids: NDArray[np.uint8], identity: int) -> tuple[tuple[int, int, int, int], NDArray[np.bool_]]:
    hit = ids == identity
    rows = np.flatnonzero(hit.any(axis=1))
    columns = np.flatnonzero(hit.any(axis=0))
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    left, right = int(columns[0]), int(columns[-1]) + 1
    return (left, top, right - left, bottom - top), hit[top:bottom, left:right].copy()


def _check_kinds(kinds: Any, where: str) -> None:
    unknown = sorted(set(kinds) - set(KINDS))
    if unknown:
        raise UsageError(f"segmentation_oracle, {where}: no kind '{unknown[0]}'", suggest(str(unknown[0]), KINDS))
