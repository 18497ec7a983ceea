"""The model card: machine-readable beside the network (esar-detector/1), and the same for people to read."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from esar_ros.mission.clues import KINDS
from esar_ros.perception.detectors.model_card import SCHEMA, digest
from esar_ros.training.assess import GOAL_KINDS, GOALS, Assessment
from esar_ros.training.calibrate import FALSE_ALARMS, PRECISION, UNSURE
from esar_ros.training.evaluate import RANGES, SIZES
from esar_ros.training.examples import MERGE, PROPOSAL
from esar_ros.training.labels import MIN_PIXELS
from esar_ros.training.scenes import BANDS

LICENSE = "AGPL-3.0"
NMS_IOU = 0.6
ONE_OBJECT = 0.3  # IoU from which two boxes of a class are one object's, after the second stage has moved them
NO_DEPTH = 0.5  # share of the first stage's score that a box without depth keeps
STRIDE = 16  # px, of the coarsest head
_NONE = "-"


def first_card(name: str, second: Path | None = None) -> dict[str, Any]:
    """Returns the content of a card before anything has been measured. second: its second stage's file."""
    card = {"schema": SCHEMA, "name": name, "file": f"{name}.onnx", "license": LICENSE, "classes": list(KINDS),
            "nms_iou": NMS_IOU, "stride": STRIDE, "reach": BANDS[-1][1]}  # fmt: skip
    if second is not None:
        card["second_stage"] = {"file": second.name, "sha256": digest(second), "proposal": PROPOSAL, "overlap": MERGE,
                                "merge": ONE_OBJECT, "no_depth": NO_DEPTH}  # fmt: skip
    return card


@dataclass(frozen=True)
class Calibration:
    """Calibration of scores: perception.detectors.model_card's tables."""

    thresholds: Mapping[str, float]
    curves: Mapping[str, Any]


def results(both: Assessment, alone: Assessment) -> dict[str, Any]:
    """The card's part that a test set gives: of the network with its second stage, and in brief of it alone."""
    return {
        "goals": {
            f"{kind} {band}": {
                "ap50": both.goals[f"{kind} {band}"],
                "goal": minimum,
                "met": both.goals[f"{kind} {band}"] >= minimum,
            }
            for band, (_, _, minimum) in GOALS.items()
            for kind in GOAL_KINDS
        },
        "test": both.test,
        "false_on_empty_ground": both.false_on_empty_ground,
        "network_alone": {
            "goals": alone.goals,
            "false_on_empty_ground": alone.false_on_empty_ground,
            **{key: alone.test[key] for key in ("ap50_day_fair", "false_per_picture")},
        },
    }


def card_of(
    name: str,
    network: Path,
    second: Path,
    recipe: Mapping[str, Any],
    alone: Calibration,
    both: Calibration,
    measured: Mapping[str, Any],
) -> dict[str, Any]:
    """The whole card. alone, both: of the first stage's scores and of the second's; measured: `results` and more."""
    card = first_card(name, second)
    card["second_stage"] |= {
        "bytes": second.stat().st_size,
        "false_alarms_wanted": FALSE_ALARMS,
        "unsure_person": UNSURE,
        "thresholds": dict(both.thresholds),
        "calibration": dict(both.curves),
    }
    return card | {
        "sha256": digest(network),
        "bytes": network.stat().st_size,
        "recipe": dict(recipe),
        "precision_wanted": PRECISION,
        "thresholds": dict(alone.thresholds),
        "calibration": dict(alone.curves),
        **measured,
    }


def write_json(path: Path, card: Mapping[str, Any]) -> None:
    """As a file beside the network."""
    path.write_text(json.dumps(card, indent=1) + "\n")


def page_of(card: Mapping[str, Any], notes: str) -> str:
    """Returns the card as a page of Markdown. notes: Markdown about recipe and limits, put before the numbers."""
    test = card["test"]
    fair, every = test["ap50_day_fair"], test["ap50"]
    parts = [
        f"# Model card: {card['name']}",
        notes.strip(),
        "## Numbers",
        f"{test['pictures']} whole 640x480 frames of the test events' ground, other seeds than training's, 40 % of the "
        f"looks kept from training. An object counts from {MIN_PIXELS} visible pixels on; AP50 is the area under the "
        "precision-recall curve at IoU 0.5; what cannot be seen for darkness or fog counts as missed.",
        "### Goals (daylight, fair weather)",
        _goals(card["goals"]),
        "### With and without the second stage",
        "The same pictures; each at its own thresholds. Empty ground: other scenes, with distractors alone.",
        _stages(card),
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
        "validation set's detections point at an object of their class and at most "
        f"{1000 * card['second_stage']['false_alarms_wanted']:.0f} in a thousand pictures of empty ground reach it. "
        f"A person is told from the score on at which the calibrated probability is "
        f"{card['second_stage']['unsure_person']}: a planner looks at an unsure one again, and what is reported is "
        "decided by all looks together. "
        "Recall: share of labels within 60 m that are found; false: detections a picture that point at nothing of "
        "their class, in all pictures and in those of the test set without any object "
        f"({test['false_per_empty_picture']['pictures']}).",
        _operating(card),
        "### Probability of detection by range",
        "Share of objects with any visible pixel that one picture of the validation set finds above the thresholds, by "
        "day in fair weather (number of objects): what planners reckon with. The test set's shares stand in the card.",
        _probability(card["detection_probability"]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _goals(goals: Mapping[str, Any]) -> str:
    rows = [[name, f"{g['ap50']:.3f}", f">= {g['goal']}", "met" if g["met"] else "missed"] for name, g in goals.items()]
    return _markdown(["class and range", "AP50", "goal", ""], rows)


def _stages(card: Mapping[str, Any]) -> str:
    def row(name: str, goals: Mapping[str, float], test: Mapping[str, Any], empty: Mapping[str, float]) -> list[str]:
        aps = [f"{goals[f'{kind} {band}']:.3f}" for kind in GOAL_KINDS for band in GOALS]
        alarms = (test["false_per_picture"]["all"], empty["all"])
        return [name, *aps, _number(test["ap50_day_fair"]["all"]["mean"]), *(f"{alarm:.3f}" for alarm in alarms)]

    alone = card["network_alone"]
    head = ["", *(f"{kind} {band}" for kind in GOAL_KINDS for band in GOALS), "mean of classes", "false a picture",
            "false on empty ground"]  # fmt: skip
    both = {name: goal["ap50"] for name, goal in card["goals"].items()}
    return _markdown(head, [
        row("network alone", alone["goals"], alone, alone["false_on_empty_ground"]),
        row("with second stage", both, card["test"], card["false_on_empty_ground"]),
    ])  # fmt: skip


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
        [kind, f"{card['second_stage']['thresholds'][kind]:.2f}", _number(test["recall_at_thresholds"][kind]),
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
