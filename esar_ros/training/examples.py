"""Training examples of the second stage: the network's own proposals on whole frames, the wrong ones above all.

A proposal is an example of the object whose label it overlaps by IoU 0.3: the box can be moved onto it. One that
overlaps less, but has its middle in the label, is an example of position, not of class. A proposal that touches no
label is an example of background; what lies between is left out. Each that shows an object is added once more, moved
and scaled at random, so that the position of an object in its box is learnt from more than the first stage's own
habits. Labels themselves are no examples: the first stage's scores for them would have to be invented, and would reveal
which examples are labels. Every second frame is processed in half its size, too, as missions of 320x240 do.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.clues import KINDS
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.detectors.engines import Tensor
from esar_ros.perception.detectors.model_card import digest
from esar_ros.perception.detectors.second_stage import (
    CHANNELS,
    OWN_FEATURES,
    SIDE,
    box_depths,
    crops,
    features,
    shifted,
    shifts_between,
)
from esar_ros.perception.detectors.yolo_boxes import RawBoxes
from esar_ros.perception.detectors.yolo_file import YoloFile
from esar_ros.training.assess import frame_of
from esar_ros.training.evaluate import overlaps
from esar_ros.training.labels import Label
from esar_ros.training.render import read_meta
from esar_ros.training.scenes import SPLITS

PROPOSAL = 0.02  # raw score from which the second stage looks at a box
MERGE = 0.6  # IoU from which two boxes of any class are one proposal
NOTHING = len(KINDS)  # the class of what is none of them
IGNORED = -100  # the class of a box that shows too little of its object to be told by it: torch leaves it out
_PARTLY = 0.3  # IoU from which a proposal shows what an object is
_TOUCH = 0.1  # IoU from which one that points at an object shows it, and up to which one that does not shows nothing
_MOVED, _SCALED = 0.25, 0.25  # by chance: greatest move, in sides, and deviation of a side's logarithm
_NONE, _BETWEEN = -1, -2  # in place of a label's index: of nothing; neither of an object nor of nothing


@dataclass(frozen=True)
class Examples:
    """N proposals as the second stage sees them (perception.detectors.second_stage), and what they show."""

    crops: NDArray[np.float16]  # (N, CHANNELS, SIDE, SIDE)
    features: Tensor  # (N, OWN_FEATURES + classes)
    targets: NDArray[np.int64]  # (N,) index into KINDS, NOTHING or IGNORED
    shifts: Tensor  # (N, 4) from the box onto the object; NaN where it shows nothing

    @staticmethod
    def joined(parts: Sequence[Examples]) -> Examples:
        """All of them; none at all is no error."""
        blank = Examples(
            np.zeros((0, CHANNELS, SIDE, SIDE), np.float16),
            np.zeros((0, OWN_FEATURES + len(KINDS)), np.float32),
            np.zeros(0, np.int64),
            np.zeros((0, 4), np.float32),
        )
        columns = [field.name for field in fields(Examples)]
        return Examples(*(np.concatenate([getattr(part, name) for part in (blank, *parts)]) for name in columns))


def collect(model: Path, root: Path, split: str, maps: Sequence[str], tell: Callable[[int], None] = print) -> Examples:
    """Examples of a split's images of some maps, kept beside the data by scene and network. Raises UsageError."""
    folder = root / split / f"proposals-{digest(model)[:12]}"
    folder.mkdir(exist_ok=True)
    by_scene: dict[str, list[dict[str, object]]] = {}
    for entry in read_meta(root, split):
        if entry["map"] in maps:
            by_scene.setdefault(entry["name"].rsplit("-", 1)[0], []).append(entry)
    network = YoloFile("onnx", {"model": str(model), "second_stage": False})
    parts = []
    for count, (scene, entries) in enumerate(sorted(by_scene.items())):
        path = folder / f"{scene}.npz"
        if not path.exists():
            _write(path, Examples.joined([e for entry in entries for e in _of_image(network, root, split, entry)]))
            tell(count + 1)
        with np.load(path) as kept:
            parts.append(Examples(**kept))
    return Examples.joined(parts)


def _of_image(network: YoloFile, root: Path, split: str, entry: dict[str, object]) -> list[Examples]:
    name = str(entry["name"])
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    frame = frame_of(root, split, name)
    labels = [Label.of_json(label) for label in entry["labels"]]  # type: ignore[attr-defined]  # read from JSON
    taken = [of_frame(network, frame, labels, 1.0, rng)]
    if not SPLITS[split].small and int(name.rsplit("-", 1)[1].rstrip("ab")) % 2 == 1:
        taken.append(of_frame(network, _half(frame), labels, 0.5, rng))
    return taken


def of_frame(
    network: YoloFile, frame: CameraFrame, labels: Sequence[Label], scale: float, rng: np.random.Generator
) -> Examples:
    """Examples of one frame. scale: its px per px of the labels' boxes; rng: by which boxes are moved."""
    boxes = np.array([label.box for label in labels], dtype=np.float64).reshape(-1, 4) * scale
    kinds = [KINDS.index(label.kind) for label in labels]
    found = network.propose(frame, PROPOSAL, MERGE)
    shown = _shown(found.corners, boxes)
    objects = found[shown >= 0]
    count = len(objects.scores)
    chance = np.hstack([rng.uniform(-_MOVED, _MOVED, (count, 2)), rng.normal(0.0, _SCALED, (count, 2))])
    moved = replace(objects, corners=shifted(objects.corners, chance))
    still = _shown(moved.corners, boxes)
    still = np.where(still == shown[shown >= 0], still, _BETWEEN)
    return Examples.joined([_seen(found, shown, boxes, kinds, frame), _seen(moved, still, boxes, kinds, frame)])


def _shown(corners: NDArray[np.float64], boxes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Returns the label, by index into boxes (M, 4) x, y, width, height, that each proposal (N, 4) shows: (N,).

    _NONE where it shows none, _BETWEEN where the overlap is too small to decide.
    """
    shown = np.full(len(corners), _NONE)
    if not len(boxes):
        return shown
    for n, proposal in enumerate(corners):
        agreement = _agreement(proposal, boxes)
        inside = (proposal[:2] + proposal[2:]) / 2.0 - boxes[:, :2]
        points = ((inside >= 0.0) & (inside <= boxes[:, 2:])).all(axis=1)
        pointed = np.where(points, agreement, 0.0)
        if agreement.max() >= _PARTLY:
            shown[n] = agreement.argmax()
        elif pointed.max() >= _TOUCH:
            shown[n] = pointed.argmax()
        elif points.any() or agreement.max() >= _TOUCH:
            shown[n] = _BETWEEN
    return shown


def _agreement(proposal: NDArray[np.float64], boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """IoU (M,) of a proposal's corners with labels' boxes (M, 4)."""
    left, top, right, bottom = proposal
    return overlaps((left, top, right - left, bottom - top), boxes)


def _seen(
    proposals: RawBoxes, shown: NDArray[np.int64], boxes: NDArray[np.float64], kinds: Sequence[int], frame: CameraFrame
) -> Examples:
    """Those that show a label's object or nothing, and have depth."""
    depths = box_depths(proposals, frame)
    kept = np.isfinite(depths) & (shown != _BETWEEN)
    proposals, depths, shown = proposals[kept], depths[kept], shown[kept]
    if not len(depths):
        return Examples.joined([])
    objects = shown >= 0
    targets = np.array([
        NOTHING if one == _NONE else kinds[one] if _agreement(corners, boxes)[one] >= _PARTLY else IGNORED
        for one, corners in zip(shown, proposals.corners, strict=True)
    ])  # fmt: skip
    shifts = np.full((len(shown), 4), np.nan)
    wanted = np.hstack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]])[shown[objects]]
    shifts[objects] = shifts_between(proposals.corners[objects], wanted)
    seen = crops(proposals, depths, frame), features(proposals, depths, frame)
    return Examples(seen[0].astype(np.float16), seen[1], targets, shifts.astype(np.float32))


def _half(frame: CameraFrame) -> CameraFrame:
    """As a camera of half as many pixels a side sees it."""
    height, width = (side // 2 for side in frame.rgb.shape[:2])
    rgb = np.asarray(cv2.resize(frame.rgb, (width, height), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    model = load_vehicle().with_image_size(width, height).image.model
    return replace(frame, model=model, rgb=rgb, depth=np.ascontiguousarray(frame.depth[::2, ::2]))


def _write(path: Path, examples: Examples) -> None:
    """Whole or not at all."""
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez_compressed(file, **vars(examples))
    os.replace(part, path)
