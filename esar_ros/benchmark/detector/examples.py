"""What the second stage learns from: the network's own proposals on whole frames, the wrong ones above all.

A proposal is an example of the object whose label it overlaps by IoU 0.5, of nothing when it touches none; what lies
between is left out. Labels themselves are no examples: the first stage's scores for them would have to be invented,
and would tell which examples are labels. Every second frame is looked at in half its size, too, as missions of 320x240
do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.benchmark.detector.assess import frame_of
from esar_ros.benchmark.detector.evaluate import OVERLAP, overlaps
from esar_ros.benchmark.detector.labels import Label
from esar_ros.benchmark.detector.render import read_meta
from esar_ros.mission.clues import KINDS
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.backend import CameraFrame
from esar_ros.perception.engines import Tensor
from esar_ros.perception.model_card import digest
from esar_ros.perception.second_stage import CHANNELS, OWN_FEATURES, SIDE, box_depths, crops, features
from esar_ros.perception.yolo_file import YoloFile

PROPOSAL = 0.02  # raw score from which the second stage looks at a box
MERGE = 0.6  # IoU from which two boxes of any class are one proposal
NOTHING = len(KINDS)  # the class of what is none of them
_TOUCH = 0.1  # IoU up to which a proposal that does not point at an object shows none


@dataclass(frozen=True)
class Examples:
    """N proposals as the second stage sees them (perception.second_stage), and what they show."""

    crops: NDArray[np.float16]  # (N, CHANNELS, SIDE, SIDE)
    features: Tensor  # (N, OWN_FEATURES + classes)
    targets: NDArray[np.int64]  # (N,) index into KINDS, or NOTHING

    @staticmethod
    def joined(parts: Sequence[Examples]) -> Examples:
        """All of them; none at all is no error."""
        blank = Examples(
            np.zeros((0, CHANNELS, SIDE, SIDE), np.float16),
            np.zeros((0, OWN_FEATURES + len(KINDS)), np.float32),
            np.zeros(0, np.int64),
        )
        all_parts = [blank, *parts]
        return Examples(
            np.concatenate([part.crops for part in all_parts]),
            np.concatenate([part.features for part in all_parts]),
            np.concatenate([part.targets for part in all_parts]),
        )


def collect(model: Path, root: Path, split: str, maps: Sequence[str], tell: Callable[[int], None] = print) -> Examples:
    """Examples of a split's pictures of some maps, kept beside the data by scene and network. Raises UsageError."""
    folder = root / split / f"examples-{digest(model)[:12]}"
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
            _write(path, Examples.joined([e for entry in entries for e in _of_picture(network, root, split, entry)]))
            tell(count + 1)
        with np.load(path) as kept:
            parts.append(Examples(kept["crops"], kept["features"], kept["targets"]))
    return Examples.joined(parts)


def _of_picture(network: YoloFile, root: Path, split: str, entry: dict[str, object]) -> list[Examples]:
    name = str(entry["name"])
    frame = frame_of(root, split, name)
    labels = [Label.of_json(label) for label in entry["labels"]]  # type: ignore[attr-defined]  # read from JSON
    taken = [of_frame(network, frame, labels, 1.0)]
    if int(name.rsplit("-", 1)[1].rstrip("ab")) % 2 == 1:
        taken.append(of_frame(network, _half(frame), labels, 0.5))
    return taken


def of_frame(network: YoloFile, frame: CameraFrame, labels: Sequence[Label], scale: float) -> Examples:
    """Examples of one frame. scale: its px per px of the labels' boxes."""
    found = network.propose(frame, PROPOSAL, MERGE)
    boxes = np.array([label.box for label in labels], dtype=np.float64).reshape(-1, 4) * scale
    kept, targets = [], []
    for n, (left, top, right, bottom) in enumerate(found.corners):
        agreement = overlaps((left, top, right - left, bottom - top), boxes)
        best = int(agreement.argmax()) if len(labels) else -1
        x, y = (left + right) / 2.0, (top + bottom) / 2.0
        points = ((boxes[:, 0] <= x) & (x <= boxes[:, 0] + boxes[:, 2]) & (boxes[:, 1] <= y)
                  & (y <= boxes[:, 1] + boxes[:, 3])).any()  # fmt: skip
        if best >= 0 and agreement[best] >= OVERLAP:
            kept.append(n)
            targets.append(KINDS.index(labels[best].kind))
        elif not points and (best < 0 or agreement[best] < _TOUCH):
            kept.append(n)
            targets.append(NOTHING)
    taken = found[np.array(kept, dtype=np.int64)]
    depths = box_depths(taken, frame)
    known = np.isfinite(depths)
    taken, depths = taken[known], depths[known]
    if not len(depths):
        return Examples.joined([])
    return Examples(
        crops(taken, depths, frame).astype(np.float16), features(taken, depths, frame), np.array(targets)[known]
    )


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
        np.savez_compressed(file, crops=examples.crops, features=examples.features, targets=examples.targets)
    os.replace(part, path)
