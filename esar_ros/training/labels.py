"""Labels of an image's objects from the simulator's exact ids: boxes, visible pixels, contrast."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.clues import KINDS

MIN_PIXELS = 6  # visible pixels from which an object counts; fewer are neither wanted nor wrong
MIN_CONTRAST = 4.0  # grey levels against the surroundings from which a training label is kept
_SIGNIFICANT = 3.0  # standard errors of the object's mean colour that the contrast must exceed, too
_RING = 3  # px about an object that count as its surroundings
_KERNEL = np.ones((2 * _RING + 1, 2 * _RING + 1), dtype=np.uint8)


@dataclass(frozen=True)
class Thing:
    """Properties of an object beside its pixels."""

    kind: str
    asset: str
    held_out: bool
    position: tuple[float, float, float]  # m, map frame


@dataclass(frozen=True)
class Label:
    """One object in one image."""

    kind: str
    asset: str
    held_out: bool  # a look that the training set never shows
    box: tuple[int, int, int, int]  # x, y, width, height (px) of its visible pixels
    pixels: int  # visible
    range: float  # m from the camera
    contrast: float  # grey levels, greatest over the channels, of its mean colour against a ring about it
    noise: float  # grey levels, standard deviation in that ring: texture and the camera's noise

    def as_json(self) -> dict[str, Any]:
        """For the meta file."""
        return asdict(self) | {"box": list(self.box)}

    @staticmethod
    def of_json(data: Mapping[str, Any]) -> Label:
        """Of a meta file's object."""
        return Label(**{**data, "box": tuple(data["box"])})


def labels_of(
    ids: NDArray[np.uint8], rgb: NDArray[np.uint8], things: Mapping[int, Thing], eye: NDArray[np.float64]
) -> tuple[Label, ...]:
    """Every object with at least one pixel, by id: ids (H, W), rgb (H, W, 3), things by id, camera position (3,) m."""
    counts = np.bincount(ids.reshape(-1), minlength=256)
    found = []
    for number in np.flatnonzero(counts):
        thing = things.get(int(number))
        if thing is None:
            continue
        rows, columns = np.nonzero(ids == number)
        top, left = int(rows.min()), int(columns.min())
        box = (left, top, int(columns.max()) + 1 - left, int(rows.max()) + 1 - top)
        away = float(np.linalg.norm(np.array(thing.position) - eye))
        contrast, noise = _contrast(ids, rgb, int(number), box)
        found.append(
            Label(
                thing.kind,
                thing.asset,
                thing.held_out,
                box,
                int(counts[number]),
                round(away, 2),
                round(contrast, 1),
                round(noise, 1),
            )
        )
    return tuple(found)


def wanted(label: Label) -> bool:
    """Returns whether a training set labels it: enough pixels, and significant contrast to its surroundings."""
    error = label.noise / math.sqrt(max(label.pixels, 1))
    return label.pixels >= MIN_PIXELS and label.contrast >= max(MIN_CONTRAST, _SIGNIFICANT * error)


def yolo_lines(labels: Sequence[Label], width: int, height: int) -> str:
    """Ultralytics' text: class, centre and size of each box as shares of the image's sides."""
    lines = []
    for label in labels:
        x, y, w, h = label.box
        numbers = ((x + w / 2) / width, (y + h / 2) / height, w / width, h / height)
        lines.append(f"{KINDS.index(label.kind)} " + " ".join(f"{number:.6f}" for number in numbers))
    return "".join(f"{line}\n" for line in lines)


def _contrast(
    ids: NDArray[np.uint8], rgb: NDArray[np.uint8], number: int, box: tuple[int, int, int, int]
) -> tuple[float, float]:
    """Of the channel with the greatest difference: that, and the standard deviation in the ring."""
    x, y, w, h = box
    rows = slice(max(0, y - _RING), y + h + _RING)
    columns = slice(max(0, x - _RING), x + w + _RING)
    near, colours = ids[rows, columns], rgb[rows, columns].astype(np.float64)
    own = near == number
    ring = (cv2.dilate(own.astype(np.uint8), _KERNEL) > 0) & (near == 0)
    if not ring.any():
        return 255.0, 0.0  # it fills the image, or others hide its surroundings
    difference = np.abs(colours[own].mean(axis=0) - colours[ring].mean(axis=0))
    channel = int(np.argmax(difference))
    return float(difference[channel]), float(colours[ring][:, channel].std())
