"""Detector metrics on labelled images: average precision by class, size, range, weather, light; false alarms.

A detection is right when it overlaps a label of its class by IoU >= 0.5 (VOC's measure; area under the precision-recall
curve made monotone, Everingham et al., IJCV 88, 2010). Objects of fewer than MIN_PIXELS visible pixels are neither
wanted nor wrong. In bands, what lies outside is neither, as in COCO's areas; a false detection belongs to the band that
the nearest object of its image lies in, or to all where nothing stands there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.clues import KINDS, PERSON
from esar_ros.training.labels import MIN_PIXELS, Label

OVERLAP = 0.5
NEAR = 2.0  # px about a label's box within which a detection's centre points at the object
RANGES: dict[str, tuple[float, float]] = {"0-30 m": (0.0, 30.0), "30-60 m": (30.0, 60.0), "60-120 m": (60.0, 120.0)}
SIZES: dict[str, tuple[float, float]] = {
    "6-15 px": (6, 16), "16-63 px": (16, 64), "64-255 px": (64, 256), "256 px and more": (256, np.inf),
}  # fmt: skip
_FILLED = 0.55  # of its box that an object covers, roughly: a false detection's size


@dataclass(frozen=True)
class Found:
    """One detection: kind, score 0..1, box x, y, width, height (px)."""

    kind: str
    score: float
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class LabelledImage:
    """A labelled image and what a detector found in it."""

    map: str
    weather: str
    light: str
    labels: tuple[Label, ...]
    found: tuple[Found, ...]


@dataclass(frozen=True)
class Verdict:
    """A detection with what it was: label None is a false one; it then has the size and range of where it lies."""

    kind: str
    score: float
    image: int
    label: Label | None
    ignored: bool  # it shows something too small to count
    range: float | None
    pixels: float


def judge(images: Sequence[LabelledImage], pointing: bool = False) -> list[Verdict]:
    """Every detection's verdict, surest first in each image and class; a label is found once.

    pointing: right is what points at the object (its centre within NEAR px of the label's box), which is what a
    position needs; else what overlaps by OVERLAP.
    """
    return [verdict for index, image in enumerate(images) for verdict in _judge(index, image, pointing)]


def _judge(index: int, image: LabelledImage, pointing: bool) -> Iterable[Verdict]:
    taken: set[int] = set()
    order = sorted(image.found, key=lambda found: -found.score)
    boxes = np.array([label.box for label in image.labels], dtype=np.float64).reshape(-1, 4)
    for found in order:
        agreement = _pointed(found.box, boxes) if pointing else overlaps(found.box, boxes)
        min_overlap = 1.0 if pointing else OVERLAP
        best: int | None = None
        for n in np.argsort(-agreement, kind="stable"):
            label = image.labels[n]
            if agreement[n] >= min_overlap and label.kind == found.kind and n not in taken:
                best = int(n)
                break
        if best is not None:
            taken.add(best)
            label = image.labels[best]
            small = label.pixels < MIN_PIXELS
            yield Verdict(found.kind, found.score, index, label, small, label.range, label.pixels)
            continue
        # Of something too small to count a box is not to be had exactly: pointing at it is enough to be forgiven.
        near = _pointed(found.box, boxes) >= 1.0
        forgiven = any(
            near[n] and label.kind == found.kind and label.pixels < MIN_PIXELS for n, label in enumerate(image.labels)
        )
        pixels = _FILLED * found.box[2] * found.box[3]
        yield Verdict(found.kind, found.score, index, None, forgiven, _range_near(found.box, image.labels), pixels)


def sizes_found(
    images: Sequence[LabelledImage], groups: Sequence[str], threshold: float = 0.0, kind: str = PERSON
) -> list[tuple[float, bool, str]]:
    """Returns of each object of a kind the root of its box (px), whether a detection from the threshold on points
    there, and its image's group: what perception.pod_curves makes a curve of."""
    found = []
    for image, group in zip(images, groups, strict=True):
        told = judge([image], pointing=True)
        right = [v.label for v in told if v.label is not None and v.kind == kind and v.score >= threshold]
        for label in (one for one in image.labels if one.kind == kind and one.pixels >= MIN_PIXELS):
            hit = label in right
            if hit:
                right.remove(label)
            found.append((math.sqrt(label.box[2] * label.box[3]), hit, group))
    return found


def average_precision(
    images: Sequence[LabelledImage],
    verdicts: Sequence[Verdict],
    kind: str,
    of_label: Callable[[Label], bool] = lambda _: True,
    of_false: Callable[[Verdict], bool] = lambda _: True,
    of_image: Callable[[LabelledImage], bool] = lambda _: True,
) -> tuple[float, int]:
    """(AP, number of labels) of a class within a band; NaN without labels."""
    inside = [of_image(image) for image in images]
    wanted = sum(
        label.kind == kind and label.pixels >= MIN_PIXELS and of_label(label)
        for image, ok in zip(images, inside, strict=True)
        if ok
        for label in image.labels
    )
    rows = []
    for verdict in verdicts:
        if verdict.kind != kind or verdict.ignored or not inside[verdict.image]:
            continue
        if verdict.label is None:
            if of_false(verdict):
                rows.append((verdict.score, False))
        elif of_label(verdict.label):
            rows.append((verdict.score, True))
    if not wanted:
        return float("nan"), 0
    return area_under(np.array([s for s, _ in rows]), np.array([r for _, r in rows], dtype=bool), wanted), wanted


def area_under(scores: NDArray[np.float64], right: NDArray[np.bool_], wanted: int) -> float:
    """Area under the precision-recall curve, precision made to fall: detections by score, `wanted` objects in all."""
    if not len(scores):
        return 0.0
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(right[order])
    precision = hits / np.arange(1, len(order) + 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    return float(np.sum(envelope * right[order]) / wanted)


def in_range(low: float, high: float) -> tuple[Callable[[Label], bool], Callable[[Verdict], bool]]:
    """Tests of labels and false detections for a band of ranges, m."""
    return (lambda label: low <= label.range < high), (lambda v: v.range is None or low <= v.range < high)


def of_size(low: float, high: float) -> tuple[Callable[[Label], bool], Callable[[Verdict], bool]]:
    """Tests of labels and false detections for a band of visible pixels."""
    return (lambda label: low <= label.pixels < high), (lambda v: low <= v.pixels < high)


def table(images: Sequence[LabelledImage], pointing: bool = False) -> dict[str, dict[str, Any]]:
    """AP by class and column: all, ranges, sizes; "labels" has how many objects each rests on; "mean" over classes."""
    verdicts = judge(images, pointing)
    columns: dict[str, dict[str, Any]] = {"all": {}}
    columns |= {name: dict(zip(("of_label", "of_false"), in_range(*b), strict=True)) for name, b in RANGES.items()}
    columns |= {name: dict(zip(("of_label", "of_false"), of_size(*b), strict=True)) for name, b in SIZES.items()}
    out: dict[str, dict[str, Any]] = {}
    for column, tests in columns.items():
        rows = {kind: average_precision(images, verdicts, kind, **tests) for kind in KINDS}
        out[column] = {
            "ap": {kind: _rounded(ap) for kind, (ap, _) in rows.items()},
            "labels": {kind: count for kind, (_, count) in rows.items()},
            "mean": _mean(ap for ap, _ in rows.values()),
        }
    return out


def by_image(
    images: Sequence[LabelledImage], key: Callable[[LabelledImage], str], far: float
) -> dict[str, dict[str, Any]]:
    """AP within `far` m by what an image's conditions are called."""
    verdicts = judge(images)
    of_label, of_false = in_range(0.0, far)
    out = {}
    for name in sorted({key(image) for image in images}):
        rows = {
            kind: average_precision(images, verdicts, kind, of_label, of_false, partial(_is_called, key, name))
            for kind in KINDS
        }
        out[name] = {
            "ap": {kind: _rounded(ap) for kind, (ap, _) in rows.items()},
            "labels": {kind: count for kind, (_, count) in rows.items()},
            "mean": _mean(ap for ap, _ in rows.values()),
        }
    return out


def false_per_image(images: Sequence[LabelledImage], thresholds: dict[str, float]) -> dict[str, float]:
    """Detections above their class's threshold that point at nothing of their class, an image; by class, and "all"."""
    counts = dict.fromkeys(KINDS, 0)
    for verdict in judge(images, pointing=True):
        if verdict.label is None and not verdict.ignored and verdict.score >= thresholds[verdict.kind]:
            counts[verdict.kind] += 1
    shares = {kind: round(count / max(len(images), 1), 4) for kind, count in counts.items()}
    return shares | {"all": round(sum(counts.values()) / max(len(images), 1), 4)}


def overlaps(box: Sequence[float], boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """IoU (N,) of a box x, y, width, height with others (N, 4)."""
    x, y, w, h = box
    left, top = np.maximum(boxes[:, 0], x), np.maximum(boxes[:, 1], y)
    right = np.minimum(boxes[:, 0] + boxes[:, 2], x + w)
    bottom = np.minimum(boxes[:, 1] + boxes[:, 3], y + h)
    common = np.maximum(right - left, 0.0) * np.maximum(bottom - top, 0.0)
    union = boxes[:, 2] * boxes[:, 3] + w * h - common
    return np.asarray(np.where(union > 0.0, common / np.maximum(union, 1e-12), 0.0))


def _pointed(box: Sequence[float], boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 to 2 (N,) where the box's centre lies within NEAR px of others (N, 4), more the better they overlap; else 0."""
    x, y = box[0] + box[2] / 2.0, box[1] + box[3] / 2.0
    inside = (
        (x >= boxes[:, 0] - NEAR)
        & (x <= boxes[:, 0] + boxes[:, 2] + NEAR)
        & (y >= boxes[:, 1] - NEAR)
        & (y <= boxes[:, 1] + boxes[:, 3] + NEAR)
    )
    return np.asarray(np.where(inside, 1.0 + overlaps(box, boxes), 0.0))


def _range_near(box: Sequence[float], labels: Sequence[Label]) -> float | None:
    if not labels:
        return None
    x, y = box[0] + box[2] / 2.0, box[1] + box[3] / 2.0
    middles = np.array([(label.box[0] + label.box[2] / 2.0, label.box[1] + label.box[3] / 2.0) for label in labels])
    return labels[int(np.argmin(np.hypot(middles[:, 0] - x, middles[:, 1] - y)))].range


def _is_called(key: Callable[[LabelledImage], str], name: str, image: LabelledImage) -> bool:
    return key(image) == name


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else round(value, 3)


def _mean(values: Iterable[float]) -> float | None:
    known = [value for value in values if not np.isnan(value)]
    return round(float(np.mean(known)), 3) if known else None
