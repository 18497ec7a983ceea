"""The model card: machine-readable beside the network (esar-detector/1), and the same for people to read."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from esar_ros.benchmark.detector.assess import GOAL_KINDS, GOALS
from esar_ros.benchmark.detector.calibrate import PRECISION
from esar_ros.benchmark.detector.evaluate import RANGES, SIZES
from esar_ros.benchmark.detector.labels import MIN_PIXELS
from esar_ros.mission.clues import KINDS
from esar_ros.perception.model_card import SCHEMA, digest

LICENSE = "AGPL-3.0"
NMS_IOU = 0.6
STRIDE = 16  # px, of the coarsest head
_NONE = "-"


def first_card(name: str) -> dict[str, Any]:
    """What a card must say before anything has been measured."""
    return {"schema": SCHEMA, "name": name, "file": f"{name}.onnx", "license": LICENSE, "classes": list(KINDS),
            "nms_iou": NMS_IOU, "stride": STRIDE}  # fmt: skip


def card_of(
    name: str,
    network: Path,
    recipe: Mapping[str, Any],
    thresholds: Mapping[str, float],
    calibration: Mapping[str, Any],
    validation: Mapping[str, Any],
    test: Mapping[str, Any],
    goals: Mapping[str, float],
) -> dict[str, Any]:
    """The whole card."""
    return first_card(name) | {
        "sha256": digest(network),
        "bytes": network.stat().st_size,
        "recipe": dict(recipe),
        "precision_wanted": PRECISION,
        "thresholds": dict(thresholds),
        "calibration": dict(calibration),
        "goals": {
            f"{kind} {band}": {"ap50": goals[f"{kind} {band}"], "goal": least, "met": goals[f"{kind} {band}"] >= least}
            for band, (_, _, least) in GOALS.items()
            for kind in GOAL_KINDS
        },
        "validation": dict(validation),
        "test": dict(test),
        "detection_probability": test["detection_probability"],
    }


def write_json(path: Path, card: Mapping[str, Any]) -> None:
    """As a file beside the network."""
    path.write_text(json.dumps(card, indent=1) + "\n")


def write_page(path: Path, card: Mapping[str, Any], told: str) -> None:
    """The card as a page. told: Markdown about recipe and limits, put before the numbers."""
    test = card["test"]
    fair, every = test["ap50_day_fair"], test["ap50"]
    parts = [
        f"# Model card: {card['name']}",
        told.strip(),
        "## Numbers",
        f"{test['pictures']} whole 640x480 frames of the test events' ground, other seeds than training's, 40 % of the "
        f"looks kept from training. An object counts from {MIN_PIXELS} visible pixels on; AP50 is the area under the "
        "precision-recall curve at IoU 0.5; what cannot be seen for darkness or fog counts as missed.",
        "### Goals (daylight, fair weather)",
        _goals(card["goals"]),
        "### AP50 by class and range, daylight and fair weather",
        _table(fair, ["all", *RANGES]),
        "### AP50 by class and range, all weathers and lights",
        _table(every, ["all", *RANGES]),
        "### AP50 by class and visible pixels, all weathers and lights",
        _table(every, list(SIZES)),
        "### Pointing, daylight and fair weather",
        "AP where a detection is right when its centre lies within 2 px of the object's box: what a position in space "
        "needs, and what small boxes allow.",
        _table(test["ap_pointing_day_fair"], ["all", *RANGES]),
        "### Conditions, AP50 within 60 m",
        _conditions(test, "weather"),
        _conditions(test, "light"),
        _conditions(test, "map"),
        "### Looks, AP50 within 60 m",
        _by_row(test["looks"]),
        "### At the thresholds",
        f"Each class's threshold is the least score from which {100 * card['precision_wanted']:.0f} % of the "
        "validation set's detections point at an object of their class. Recall: share of labels within 60 m that are "
        "found; false: detections a picture that point at nothing of their class, in all pictures and in those without "
        f"any object ({test['false_per_empty_picture']['pictures']}).",
        _operating(card),
        "### Probability of detection by range",
        "Share of objects with any visible pixel that one picture finds, by day in fair weather (number of objects).",
        _probability(card["detection_probability"]),
    ]
    path.write_text("\n\n".join(parts) + "\n")


def _goals(goals: Mapping[str, Any]) -> str:
    rows = [[name, f"{g['ap50']:.3f}", f">= {g['goal']}", "met" if g["met"] else "missed"] for name, g in goals.items()]
    return _markdown(["class and range", "AP50", "goal", ""], rows)


def _table(columns: Mapping[str, Any], names: Sequence[str]) -> str:
    rows = [
        [kind, *(_with_count(columns[name]["ap"][kind], columns[name]["labels"][kind]) for name in names)]
        for kind in KINDS
    ]
    rows.append(["mean", *(_number(columns[name]["mean"]) for name in names)])
    return _markdown(["class", *names], rows)


def _conditions(test: Mapping[str, Any], what: str) -> str:
    (key,) = (key for key in test if key.startswith(f"ap50_by_{what}"))
    return _by_row(test[key], what)


def _by_row(rows: Mapping[str, Any], first: str = "") -> str:
    table = [[name, *(_with_count(row["ap"][k], row["labels"][k]) for k in ("person", "tent")),
              _number(row.get("mean", _mean(row["ap"])))] for name, row in rows.items()]  # fmt: skip
    return _markdown([first, "person", "tent", "mean of classes"], table)


def _operating(card: Mapping[str, Any]) -> str:
    test = card["test"]
    rows = [
        [kind, f"{card['thresholds'][kind]:.2f}", _number(test["recall_at_thresholds"][kind]),
         f"{test['false_per_picture'][kind]:.3f}", f"{test['false_per_empty_picture'][kind]:.3f}"]
        for kind in KINDS
    ]  # fmt: skip
    rows.append(["all", "", "", *(f"{test[k]['all']:.3f}" for k in ("false_per_picture", "false_per_empty_picture"))])
    return _markdown(["class", "threshold", "recall", "false a picture", "false an empty picture"], rows)


def _probability(found: Mapping[str, Any]) -> str:
    edges = found["range_edges"]
    names = [f"{a}-{b} m" for a, b in itertools.pairwise(edges)]
    rows = []
    for kind in (*KINDS, "clues"):
        day = found["by_kind"][kind]["day"]
        rows.append([kind, *(_with_count(p, n) for p, n in zip(day["probability"], day["objects"], strict=True))])
    return _markdown(["class", *names], rows)


def _mean(values: Mapping[str, float | None]) -> float | None:
    known = [value for value in values.values() if value is not None]
    return sum(known) / len(known) if known else None


def _with_count(value: float | None, count: int) -> str:
    return _NONE if value is None else f"{value:.2f} ({count})"


def _number(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2f}"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])
