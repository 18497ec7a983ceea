"""Calibration of a detector's scores: reliability curves, thresholds, and the probability of detection by range."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import curve_fit

from esar_ros.mission.clues import KINDS, PERSON
from esar_ros.mission.weather import Weather, WeatherFamily
from esar_ros.training.evaluate import LabelledImage, judge

PRECISION = 0.7  # of all detections at and above a class's threshold, on the validation set
FALSE_ALARMS = 0.005  # a class and image of ground without objects: at most so many at and above the threshold
UNSURE = 0.25  # calibrated probability from which a person is told: a planner flies there and looks again, and what is
# reported is decided later, by the evidence of several looks and a prior measured in flight
LOWEST, HIGHEST = 0.10, 0.75  # thresholds stay within
RANGE_EDGES = (0, 10, 20, 30, 40, 50, 60, 80, 100, 120)  # m, of the bins of detection's probability
_BINS = 10  # of a reliability curve, each with as many detections
_MIN_DETECTIONS = 12  # detections a bin needs


def reliability(images: Sequence[LabelledImage]) -> dict[str, dict[str, list[float]]]:
    """By class: share of detections that point at an object of their class, over raw scores, never falling.

    Bins of equally many detections, made to rise by pooling neighbours that fall (Zadrozny and Elkan, KDD 2002).
    """
    verdicts = [v for v in judge(images, pointing=True) if not v.ignored]
    curves = {}
    for kind in KINDS:
        own = sorted((v.score, v.label is not None) for v in verdicts if v.kind == kind)
        if len(own) < _MIN_DETECTIONS:
            continue
        parts = np.array_split(np.array(own, dtype=np.float64), max(1, min(_BINS, len(own) // _MIN_DETECTIONS)))
        points = _pooled([(float(p[:, 0].mean()), float(p[:, 1].mean()), len(p)) for p in parts])
        rising: dict[float, float] = {}
        for score, share in points:
            rising[round(score, 4)] = round(share, 4)
        curves[kind] = {"score": list(rising), "probability": list(rising.values())}
    return curves


def thresholds(
    images: Sequence[LabelledImage], empty: Sequence[LabelledImage] = (), precision: float = PRECISION
) -> dict[str, float]:
    """By class: the minimum score from which on the wanted share of detections is right, within LOWEST and HIGHEST.

    empty: images without objects, where at most FALSE_ALARMS an image may reach it; this wins over HIGHEST.
    """
    verdicts = [v for v in judge(images, pointing=True) if not v.ignored]
    allowed = int(FALSE_ALARMS * len(empty))
    found = {}
    for kind in KINDS:
        own = sorted(((v.score, v.label is not None) for v in verdicts if v.kind == kind), reverse=True)
        right = np.cumsum([hit for _, hit in own])
        share = right / np.arange(1, len(own) + 1)
        enough = np.flatnonzero((share >= precision) & (np.arange(len(own)) >= 5))
        minimum = own[int(enough[-1])][0] if len(enough) else HIGHEST
        found[kind] = round(min(max(minimum, LOWEST), HIGHEST), 3)
        alarms = sorted((f.score for image in empty for f in image.found if f.kind == kind), reverse=True)
        if len(alarms) > allowed:
            found[kind] = round(min(max(found[kind], alarms[allowed] + 1e-3), 0.999), 3)
    return found


def of_second_stage(
    images: Sequence[LabelledImage], empty: Sequence[LabelledImage]
) -> tuple[dict[str, float], dict[str, dict[str, list[float]]]]:
    """Thresholds and reliability curves of a second stage; alarms on empty ground count.

    A person's threshold is the score at which its curve reaches UNSURE.
    """
    limits, curves = thresholds(images, empty), reliability([*images, *empty])
    if PERSON in curves:
        limits[PERSON] = min_score(curves[PERSON])
    return limits, curves


def min_score(curve: Mapping[str, Sequence[float]], probability: float = UNSURE) -> float:
    """Score, within LOWEST and HIGHEST, from which a reliability curve reaches a probability."""
    score = float(np.interp(probability, curve["probability"], curve["score"]))
    return round(min(max(score, LOWEST), HIGHEST), 3)


def detection_probability(images: Sequence[LabelledImage], limits: Mapping[str, float]) -> dict[str, Any]:
    """Share of objects with any visible pixel that one image finds, by range; for people, all clues, and each class.

    "day" is daylight in fair weather, "dark" night in any weather; "fit" is the belief planner's curve, best / (1 +
    exp((range - half) / softness)), for the day's people and clues.
    """
    seen: dict[str, list[tuple[float, bool, str]]] = {kind: [] for kind in KINDS}
    hits = {
        (v.image, v.label) for v in judge(images, pointing=True) if v.label is not None and v.score >= limits[v.kind]
    }
    for index, image in enumerate(images):
        fair = Weather(image.weather).family is WeatherFamily.FAIR
        when = "dark" if image.light == "night" else "day" if fair and image.light == "day" else "other"
        for label in image.labels:
            seen[label.kind].append((label.range, (index, label) in hits, when))
    clues = [row for kind in KINDS if kind != PERSON for row in seen[kind]]
    out: dict[str, Any] = {"range_edges": list(RANGE_EDGES), "by_kind": {}, "fit": {}}
    for name, rows in (*seen.items(), ("clues", clues)):
        out["by_kind"][name] = {
            "day": _shares([(r, hit) for r, hit, when in rows if when == "day"]),
            "dark": _shares([(r, hit) for r, hit, when in rows if when == "dark"]),
            "all": _shares([(r, hit) for r, hit, _ in rows]),
        }
    for name, rows in ((PERSON, seen[PERSON]), ("clues", clues)):
        out["fit"][name] = _fitted([(r, hit) for r, hit, when in rows if when == "day"])
    return out


def _shares(rows: Sequence[tuple[float, bool]]) -> dict[str, list[float | None] | list[int]]:
    """Share found and number of objects of each bin of ranges."""
    bins = [[hit for r, hit in rows if low <= r < high] for low, high in itertools.pairwise(RANGE_EDGES)]
    return {
        "probability": [round(float(np.mean(hits)), 3) if hits else None for hits in bins],
        "objects": [len(hits) for hits in bins],
    }


def _fitted(rows: Sequence[tuple[float, bool]]) -> dict[str, float] | None:
    """best, half (m) and softness (m); None where there is too little to fit."""
    if len(rows) < 30:
        return None
    r, hit = np.array([row[0] for row in rows]), np.array([row[1] for row in rows], dtype=np.float64)

    def curve(r: Any, best: float, half: float, softness: float) -> Any:
        return best / (1.0 + np.exp(np.clip((r - half) / softness, -50.0, 50.0)))

    try:
        (best, half, softness), _ = curve_fit(
            curve, r, hit, p0=(0.9, 40.0, 8.0), bounds=((0.0, 0.0, 1.0), (1.0, 200.0, 60.0))
        )
    except (RuntimeError, ValueError):
        return None
    values = {"best": float(best), "half": float(half), "softness": float(softness)}
    return {key: round(value, 3) for key, value in values.items() if math.isfinite(value)}


def _pooled(points: Sequence[tuple[float, float, int]]) -> list[tuple[float, float]]:
    """(score, share) with shares that never fall: neighbours that do become their mean."""
    blocks: list[list[tuple[float, float, int]]] = []
    for point in points:
        blocks.append([point])
        while len(blocks) > 1 and _share(blocks[-2]) >= _share(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    return [(sum(s * n for s, _, n in block) / sum(n for *_, n in block), _share(block)) for block in blocks]


def _share(block: Sequence[tuple[float, float, int]]) -> float:
    return sum(share * n for _, share, n in block) / sum(n for *_, n in block)
