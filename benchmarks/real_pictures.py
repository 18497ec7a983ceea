"""The shipped detector on real photographs of people: recall at its threshold, AP50, pointing, false alarms.

`python benchmarks/real_pictures.py FOLDER [--page]`. FOLDER holds pictures and boxes.json (schema real-people/1: in
"images" each has "file", "people" as [x1, y1, x2, y2] px and "clip"). Photographs have no depth, so the second stage,
which needs it, is not asked: the chain is the first network with half of its score, and beside it stands that network
alone. Intervals (95 %) are of resampled clips, since pictures of one clip are near copies of each other. Nothing is
trained or tuned on them. With --page they also go into models/esar-clues-real.json, which doctor and mission
read. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from page import Table, add_page, end_with, shown, write_page

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.detectors.backend import create
from esar_ros.perception.detectors.model_card import digest
from esar_ros.perception.detectors.real_pictures import FILE, RealPictures
from esar_ros.perception.detectors.yolo_file import SHIPPED
from esar_ros.training.assess import FLOOR
from esar_ros.training.evaluate import Found, LabelledImage, area_under, judge
from esar_ros.training.labels import Label

SCHEMA, PERSON = "real-people/1", "person"
ROUNDS, SEED = 2000, 0
Scored = list[tuple[float, bool]]  # scores, and whether each is right
ROWS = {"shipped chain, without depth": True, "its network alone": False}  # whether the second stage belongs to it
FIGURES = ("recall", "ap50", "ap_pointing", "false_per_picture")


def read_pictures(folder: Path) -> list[dict[str, Any]]:
    """Returns the entries of a folder's boxes.json, each with its picture read. Raises UsageError."""
    listed = folder / "boxes.json"
    try:
        document = json.loads(listed.read_text(encoding="utf-8"))
        entries = [dict(entry) for entry in document["images"]] if document["schema"] == SCHEMA else []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"cannot read {listed}: {error}", f"give a folder of pictures with boxes.json ({SCHEMA})"
        ) from None
    if not entries:
        raise UsageError(f"{listed} lists no pictures of schema {SCHEMA}", "give the schema, and pictures under images")
    for entry in entries:
        path = folder / str(entry.get("file"))
        picture = cv2.imread(str(path))
        if picture is None:
            raise UsageError(f"{path} is no picture that can be read", f"mend {listed}")
        entry["rgb"] = np.ascontiguousarray(picture[:, :, ::-1])
        try:
            boxes = np.array(entry["people"], dtype=np.float64).reshape(-1, 4)
        except (KeyError, ValueError, TypeError):
            raise UsageError(f"{listed}, {entry['file']}: people are no boxes", "give [x1, y1, x2, y2] px") from None
        entry["labels"] = tuple(_label(box) for box in boxes.tolist())
    return entries


def _label(box: Sequence[float]) -> Label:
    """Returns a person's label; pictures say nothing of its range and contrast."""
    x, y, width, height = (round(v) for v in (box[0], box[1], box[2] - box[0], box[3] - box[1]))
    return Label(PERSON, PERSON, False, (x, y, width, height), width * height, 0.0, 0.0, 0.0)


def seen(entries: Sequence[dict[str, Any]], parameters: dict[str, Any]) -> list[LabelledImage]:
    """Returns what the shipped detector finds in the pictures, without depth."""
    backend, images = create("esar_yolo", parameters), []
    for entry in entries:
        rgb = entry["rgb"]
        height, width = rgb.shape[:2]
        model = load_vehicle().with_image_size(width, height).image.model
        depth = np.full((height, width), np.nan, dtype=np.float32)
        (found,) = backend.detect([CameraFrame("front", model, Pose(), depth, rgb, 0.0)])
        people = tuple(Found(one.kind, one.score, one.box) for one in found if one.kind == PERSON)
        images.append(LabelledImage("", "", "", entry["labels"], people))
    return images


@dataclass(frozen=True)
class Judged:
    """One picture: its people, what is told of them at the threshold, and scores with what is right from FLOOR on."""

    people: int
    right: int
    false: int
    by_overlap: Scored
    by_pointing: Scored


def judged(told: LabelledImage, scored: LabelledImage) -> Judged:
    """Returns one picture's detections with what they are: told at the shipped threshold, scored from FLOOR on."""
    verdicts = judge([told], pointing=True)
    right = sum(verdict.label is not None for verdict in verdicts)
    by_overlap, by_pointing = (
        [(verdict.score, verdict.label is not None) for verdict in judge([scored], pointing)]
        for pointing in (False, True)
    )
    return Judged(len(told.labels), right, len(verdicts) - right, by_overlap, by_pointing)


def figures_of(pictures: Sequence[Judged]) -> dict[str, float]:
    """Returns the figures of pictures; NaN where nobody is on them."""
    people = sum(picture.people for picture in pictures)
    if not people:
        return dict.fromkeys(FIGURES, float("nan"))
    return {
        "recall": sum(picture.right for picture in pictures) / people,
        "ap50": _area([one for picture in pictures for one in picture.by_overlap], people),
        "ap_pointing": _area([one for picture in pictures for one in picture.by_pointing], people),
        "false_per_picture": sum(picture.false for picture in pictures) / len(pictures),
    }


def _area(scored: Scored, people: int) -> float:
    scores, right = (np.array([one[n] for one in scored]) for n in (0, 1))
    return area_under(scores, right.astype(np.bool_), people)


def intervals_of(clips: Sequence[str], pictures: Sequence[Judged]) -> dict[str, tuple[float, float]]:
    """Returns the figures' 95 % intervals by resampled clips."""
    names = sorted(set(clips))
    of_clip = {name: [one for one, clip in zip(pictures, clips, strict=True) if clip == name] for name in names}
    random, drawn = np.random.default_rng(SEED), []
    for _ in range(ROUNDS):
        picks = random.integers(len(names), size=len(names))
        drawn.append(figures_of([one for pick in picks for one in of_clip[names[pick]]]))
    found = {}
    for name in FIGURES:
        low, high = np.nanpercentile([one[name] for one in drawn], (2.5, 97.5))
        found[name] = (round(float(low), 3), round(float(high), 3))
    return found


def main() -> int:
    """Measures, prints a table and the JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="pictures with boxes.json")
    add_page(parser)
    arguments = parser.parse_args()
    entries = read_pictures(arguments.folder)
    clips = [str(entry.get("clip", entry["file"])) for entry in entries]
    people = sum(len(entry["labels"]) for entry in entries)
    rows: list[list[str]] = []
    measured: dict[str, dict[str, Any]] = {}
    for name, second in ROWS.items():
        told = seen(entries, {"second_stage": second})
        scored = seen(entries, {"second_stage": second, "thresholds": dict.fromkeys(KINDS, FLOOR)})
        pictures = [judged(one, other) for one, other in zip(told, scored, strict=True)]
        figures = {figure: round(value, 3) for figure, value in figures_of(pictures).items()}
        intervals = intervals_of(clips, pictures)
        measured[name] = {"figures": figures, "intervals": intervals}
        rows.append([name, *(f"{figures[f]:.3f} [{', '.join(f'{v:.3f}' for v in intervals[f])}]" for f in FIGURES)])
    columns = ("", "recall at its threshold", "AP50", "AP by pointing", "false people a picture")
    for row in rows:
        print("; ".join(f"{column} {shown(cell)}" for column, cell in zip(columns, row, strict=True)).strip())
    print(json.dumps({"benchmark": "real_pictures", "pictures": len(entries), "people": people, **measured}))
    if arguments.page:
        about = (
            f"What the shipped detector finds of the {people} people on {len(entries)} real photographs from drones of "
            f"{len(set(clips))} clips (mountains, shores, a campus), which are not part of this project and were never "
            "trained or tuned on. Right is what points at a person (recall, pointing, false people) or overlaps by IoU "
            "0.5 (AP50). Some boxes are loose, and people who sit may be unlabelled. There is no depth, so the second "
            "stage is not asked, as in flight where depth is missing."
        )
        conditions = {"pictures": len(entries), "people": people, "clips": len(set(clips)), "resamples": ROUNDS}
        write_page(__file__, "The detector on real photographs", about, conditions, [Table(columns, rows)])
        shipped = measured[next(iter(ROWS))]
        record = RealPictures(
            sha256=digest(resource("models") / SHIPPED),
            pictures=len(entries),
            people=people,
            recall_interval=shipped["intervals"]["recall"],
            **shipped["figures"],
        )
        (resource("models") / Path(FILE).name).write_text(
            record.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8"
        )
    return 0


if __name__ == "__main__":
    end_with(main)
