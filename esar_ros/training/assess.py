"""A model on the labelled images of a split: what it finds, and the figures its card and the benchmark state."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.mission.clues import KINDS
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.mission.weather import Weather, WeatherFamily
from esar_ros.perception.detectors.backend import DetectorBackend, create
from esar_ros.perception.detectors.model_card import digest
from esar_ros.training.calibrate import detection_probability
from esar_ros.training.evaluate import (
    Found,
    LabelledImage,
    average_precision,
    by_image,
    false_per_image,
    in_range,
    judge,
    table,
)
from esar_ros.training.labels import MIN_PIXELS, Label
from esar_ros.training.render import read_frame, read_meta

FLOOR = 0.02  # raw score below which a detection is not even looked at
FAR = 60.0  # m, within which conditions are compared
GOALS = {"0-30 m": (0.0, 30.0, 0.85), "0-60 m": (0.0, 60.0, 0.6)}  # AP50 of people and tents, by day in fair weather
GOAL_KINDS = ("person", "tent")


def look(
    model: Path,
    root: Path,
    split: str,
    maps: Sequence[str],
    engine: str = "onnx",
    tell: Callable[[int], None] = print,
    second: Path | None = None,
) -> list[LabelledImage]:
    """Returns what a model (.onnx, its card beside it) finds in a split's images of some maps. Cached beside the data.

    second: its second stage, which its card must name; None: the network alone. tell: called with the number of images
    processed so far. Raises UsageError.
    """
    meta = [entry for entry in read_meta(root, split) if entry["map"] in maps]
    which = digest(model)[:12] + (f"-{digest(second)[:12]}" if second is not None else "")
    kept = root / f"found-{split}-{engine}-{which}.json"
    floors = dict.fromkeys(KINDS, FLOOR)
    known: dict[str, list[Any]] = json.loads(kept.read_text()) if kept.exists() else {}
    backend: DetectorBackend | None = None
    images = []
    for count, entry in enumerate(meta):
        name = entry["name"]
        if name not in known:
            backend = backend or create(
                engine, {"model": str(model), "thresholds": floors, "second_stage": second is not None}
            )
            known[name] = _found(backend, root, split, name)
            if count % 100 == 99:
                tell(count + 1)
        labels = tuple(Label.of_json(label) for label in entry["labels"])
        found = tuple(Found(kind, score, (x, y, w, h)) for kind, score, (x, y, w, h) in known[name])
        images.append(LabelledImage(entry["map"], entry["weather"], entry["light"], labels, found))
    if backend is not None:
        kept.write_text(json.dumps(known))
    return images


def figures(images: Sequence[LabelledImage], thresholds: dict[str, float]) -> dict[str, Any]:
    """All that is stated of a model: AP in bands and conditions, false detections, probability of detection."""
    empty = [p for p in images if not p.labels]
    fair = [p for p in images if is_fair_day(p)]
    return {
        "pictures": len(images),
        "ap50": table(images),
        "ap50_day_fair": table(fair),
        "ap_pointing_day_fair": table(fair, pointing=True),
        f"ap50_by_weather_within_{FAR:.0f}_m": by_image(images, lambda p: Weather(p.weather).family.value, FAR),
        f"ap50_by_light_within_{FAR:.0f}_m": by_image(images, lambda p: p.light, FAR),
        f"ap50_by_map_within_{FAR:.0f}_m": by_image(images, lambda p: p.map, FAR),
        "looks": _looks(images),
        "recall_at_thresholds": _recall(images, thresholds),
        "false_per_picture": false_per_image(images, thresholds),
        "false_per_empty_picture": {"pictures": len(empty)} | false_per_image(empty, thresholds),
        "detection_probability": detection_probability(images, thresholds),
    }


def goal_figures(images: Sequence[LabelledImage]) -> dict[str, float]:
    """AP50 of people and tents by day in fair weather within the goals' ranges, by "<kind> <band>"."""
    fair = [p for p in images if is_fair_day(p)]
    verdicts = judge(fair)
    out = {}
    for band, (low, high, _) in GOALS.items():
        for kind in GOAL_KINDS:
            out[f"{kind} {band}"] = round(average_precision(fair, verdicts, kind, *in_range(low, high))[0], 3)
    return out


@dataclass(frozen=True)
class Assessment:
    """Figures of a detector on a test set: its goals' AP50, all figures, and false detections an image of ground on
    which distractors stand alone (by class, and "all")."""

    goals: dict[str, float]
    test: dict[str, Any]
    false_on_empty_ground: dict[str, float]


def assess(images: Sequence[LabelledImage], empty: Sequence[LabelledImage], thresholds: dict[str, float]) -> Assessment:
    """Assesses a detector by its results on a test set and on empty ground."""
    return Assessment(goal_figures(images), figures(images, thresholds), false_per_image(empty, thresholds))


def is_fair_day(image: LabelledImage) -> bool:
    """Returns whether it was taken by day in fair weather."""
    return image.light == "day" and Weather(image.weather).family is WeatherFamily.FAIR


def frame_of(root: Path, split: str, name: str) -> CameraFrame:
    """A split's whole frame as a detector gets it; its place is of no matter. Raises UsageError."""
    rgb, depth = read_frame(root, split, name)
    height, width = depth.shape
    return CameraFrame("front", load_vehicle().with_image_size(width, height).image.model, Pose(), depth, rgb, 0.0)


def _found(backend: DetectorBackend, root: Path, split: str, name: str) -> list[Any]:
    (found,) = backend.detect([frame_of(root, split, name)])
    return [(one.kind, round(one.score, 4), list(one.box)) for one in found]


def _looks(images: Sequence[LabelledImage]) -> dict[str, Any]:
    """AP50 within FAR of looks that were trained on and of those kept from it; false detections count in both."""
    verdicts = judge(images)
    low_high = in_range(0.0, FAR)
    out = {}
    for name, held_out in (("trained on", False), ("kept from training", True)):

        def own(label: Label, held_out: bool = held_out) -> bool:
            return label.held_out is held_out and low_high[0](label)

        rows = {kind: average_precision(images, verdicts, kind, own, low_high[1]) for kind in KINDS}
        out[name] = {
            "ap": {kind: None if np.isnan(ap) else round(ap, 3) for kind, (ap, _) in rows.items()},
            "labels": {kind: count for kind, (_, count) in rows.items()},
        }
    return out


def _recall(images: Sequence[LabelledImage], thresholds: dict[str, float]) -> dict[str, float | None]:
    """Share of labels within FAR and of enough pixels that a detection above its threshold points at, by class."""
    hits = dict.fromkeys(KINDS, 0)
    for v in judge(images, pointing=True):
        if v.label is not None and not v.ignored and v.label.range < FAR and v.score >= thresholds[v.kind]:
            hits[v.kind] += 1
    wanted = {
        kind: sum(
            label.kind == kind and label.pixels >= MIN_PIXELS and label.range < FAR
            for p in images
            for label in p.labels
        )
        for kind in KINDS
    }
    return {kind: round(hits[kind] / wanted[kind], 3) if wanted[kind] else None for kind in KINDS}
