"""Detectors on real photographs of people: recall at the threshold, AP50, pointing, false alarms, by size.

`python benchmarks/real_pictures.py FOLDER [--detector NAME:FILE] [--page]`. FOLDER holds pictures and boxes.json
(schema real-people/1: in "images" each has "file", "people" as [x1, y1, x2, y2] px and "clip"). Photographs have no
depth: the shipped chain finds people in them by its network for pictures. Beside it stand what it did without that
network, its first network alone, and networks of others that --detector names, which see slices of --slice px. All look
at the pictures twice: A with a short side of 480 px (854x480 of 16:9), B as they are. Intervals (95 %) are of resampled
clips, since pictures of one clip are near copies of each other. --calibrate chooses threshold and reliability of a
network for pictures on them. With --page the figures of A also go into
models/esar-clues-real.json, which doctor and mission read. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from page import Table, add_page, end_with, shown, write_page

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.detectors.backend import DetectorBackend, create
from esar_ros.perception.detectors.chosen import parted
from esar_ros.perception.detectors.model_card import PictureStageCard, digest, load_card
from esar_ros.perception.detectors.picture_stage import PictureStage, slices
from esar_ros.perception.detectors.real_pictures import FILE, RealPictures
from esar_ros.perception.detectors.yolo_detector import YoloDetector
from esar_ros.perception.detectors.yolo_file import SHIPPED
from esar_ros.perception.pod_curves import PHOTOGRAPHS, PodCurve, measured_curve, write_curve
from esar_ros.training.assess import FLOOR
from esar_ros.training.calibrate import reliability
from esar_ros.training.card import write_json
from esar_ros.training.evaluate import Found, LabelledImage, area_under, judge, overlaps, sizes_found
from esar_ros.training.labels import Label

SCHEMA, PERSON = "real-people/1", "person"
ROUNDS, SEED = 2000, 0
Scored = list[tuple[float, bool]]  # scores, and whether each is right
CHAIN = "shipped chain, without depth"
ROWS: dict[str, dict[str, Any]] = {  # parameters of the shipped detector
    CHAIN: {},
    "the same without its network for pictures": {"pictures": False},
    "its first network alone": {"pictures": False, "second_stage": False},
}
SHORT = 480  # px, of a picture's short side at scale A
OVERLAP = 64  # px between the slices that others see
SHARED = 0.5  # IoU from which boxes of two slices are of one person
GROWTH = 1.25  # of boxes: between people who frame tightly, whose boxes need none, and loosely, who need 1.5
FALSE_WANTED = 0.3  # people a picture, at the threshold of the network for pictures
PEOPLE = "esar-people.onnx"
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


def scaled(entries: Sequence[dict[str, Any]], short: int) -> list[dict[str, Any]]:
    """Returns entries whose pictures have a short side of so many px, with their labels."""
    out = []
    for entry in entries:
        rgb = entry["rgb"]
        factor = short / min(rgb.shape[:2])
        size = round(rgb.shape[1] * factor), round(rgb.shape[0] * factor)
        smooth = cv2.INTER_AREA if factor < 1.0 else cv2.INTER_LINEAR
        labels = tuple(_label(np.array(box, dtype=np.float64) * factor) for box in entry["people"])
        out.append(entry | {"rgb": np.ascontiguousarray(cv2.resize(rgb, size, interpolation=smooth)), "labels": labels})
    return out


def seen(entries: Sequence[dict[str, Any]], backend: DetectorBackend, side: int = 0) -> list[LabelledImage]:
    """Returns the people that a detector finds in the pictures, without depth; in slices of a side (px) where given."""
    images = []
    for entry in entries:
        rgb, people = entry["rgb"], []
        for top, left, part in slices(rgb, side or max(rgb.shape), min(OVERLAP, side // 4)):
            height, width = part.shape[:2]
            model = load_vehicle().with_image_size(width, height).image.model
            depth = np.full((height, width), np.nan, dtype=np.float32)
            (found,) = backend.detect([CameraFrame("front", model, Pose(), depth, part, 0.0)])
            people += [
                Found(one.kind, one.score, (one.box[0] + left, one.box[1] + top, *one.box[2:]))
                for one in found if one.kind == PERSON
            ]  # fmt: skip
        images.append(LabelledImage("", "", "", entry["labels"], tuple(_once(people) if side else people)))
    return images


def from_score(image: LabelledImage, least: float) -> LabelledImage:
    """Returns a picture with what was found from a score on."""
    return replace(image, found=tuple(one for one in image.found if one.score >= least))


def _once(found: Sequence[Found]) -> list[Found]:
    """Returns what several slices show, each person once: the surest."""
    kept: list[Found] = []
    for one in sorted(found, key=lambda each: -each.score):
        if not kept or overlaps(one.box, np.array([other.box for other in kept])).max() < SHARED:
            kept.append(one)
    return kept


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


def calibrate(network: Path, views: Sequence[Sequence[dict[str, Any]]]) -> dict[str, Any]:
    """Puts a network for pictures into models/ with its threshold and reliability on these pictures, and returns its
    part of the card. The threshold is the least score with at most FALSE_WANTED false people a picture."""
    shipped = resource("models") / SHIPPED.replace(".onnx", ".json")
    card = json.loads(shipped.read_text(encoding="utf-8"))
    file = shipped.with_name(PEOPLE)
    if network.resolve() != file.resolve():
        shutil.copyfile(network, file)
    part: dict[str, Any] = {"file": file.name, "sha256": digest(file), "license": "Apache-2.0", "word": PERSON}
    part |= {"threshold": FLOOR, "scale": 2.0, "short": 960, "growth": GROWTH}
    stage = PictureStage(file, PictureStageCard(**part), 1)
    images = []
    for entry in (entry for view in views for entry in view):
        boxes = stage.find(entry["rgb"], FLOOR)
        sides = np.hstack([boxes.corners[:, :2], boxes.corners[:, 2:] - boxes.corners[:, :2]]).tolist()
        found = tuple(Found(PERSON, float(s), tuple(box)) for s, box in zip(boxes.scores, sides, strict=True))
        images.append(LabelledImage("", "", "", entry["labels"], found))
    false = sorted((v.score for v in judge(images, pointing=True) if v.label is None), reverse=True)
    allowed = int(FALSE_WANTED * len(images))
    part["threshold"] = round(false[allowed] + 1e-3, 3) if len(false) > allowed else FLOOR
    # Bins hold equally many detections, most of which are far below the threshold and would leave one bin above it.
    upper = [from_score(image, part["threshold"] / 2.0) for image in images]
    card["pictures"] = part | {"bytes": file.stat().st_size, "calibration": reliability(upper)[PERSON]}
    write_json(shipped, card)
    return dict(card["pictures"])


def main() -> int:
    """Measures, prints a table and the JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="pictures with boxes.json")
    add_page(parser)
    parser.add_argument("--detector", action="append", default=[], metavar="NAME:FILE", help="of others; repeatable")
    parser.add_argument("--slice", type=int, default=512, metavar="PX", help="that others see (default %(default)s)")
    parser.add_argument("--calibrate", type=Path, metavar="FILE", help="put this network for pictures into models/")
    arguments = parser.parse_args()
    entries = read_pictures(arguments.folder)
    clips = [str(entry.get("clip", entry["file"])) for entry in entries]
    people = sum(len(entry["labels"]) for entry in entries)
    views = {"A": scaled(entries, SHORT), "B": entries}
    if arguments.calibrate is not None:
        print(json.dumps(calibrate(arguments.calibrate, list(views.values()))), flush=True)
    choices: list[tuple[str, str, Mapping[str, Any], int]]
    choices = [(name, "esar_yolo", parameters, 0) for name, parameters in ROWS.items()]
    choices += [(Path(choice).stem, *parted(choice), arguments.slice) for choice in arguments.detector]
    rows: list[list[str]] = []
    measured: dict[str, dict[str, Any]] = {}
    found: list[tuple[float, bool, str]] = []
    scenes: list[list[Any]] = []
    for name, backend, parameters, side in choices:
        loud = create(backend, parameters)
        if not isinstance(loud, YoloDetector):
            raise UsageError(f"detector {name} gives no scores to compare", "name a network's file")
        quiet = create(backend, {**parameters, "thresholds": dict.fromkeys(loud.prompts, FLOOR)})
        for view, pictured in views.items():
            scored = seen(pictured, quiet, side)
            told = [from_score(image, loud.told_from(PERSON)) for image in scored]
            pictures = [judged(one, other) for one, other in zip(told, scored, strict=True)]
            figures = {figure: round(value, 3) for figure, value in figures_of(pictures).items()}
            intervals = intervals_of(clips, pictures)
            measured[f"{name}, {view}"] = {"figures": figures, "intervals": intervals}
            cells = (f"{figures[f]:.3f} [{', '.join(f'{v:.3f}' for v in intervals[f])}]" for f in FIGURES)
            rows.append([name, view, *cells])
            print("; ".join(rows[-1]), flush=True)
            if name == CHAIN:
                found += sizes_found(told, clips)
                scenes += by_scene(entries, pictures, view)
    shares = measured_curve(found)
    print(json.dumps({"benchmark": "real_pictures", "pictures": len(entries), "people": people, **measured}))
    if arguments.page:
        _write(entries, clips, people, rows, measured, shares, scenes)
    return 0


def by_scene(entries: Sequence[dict[str, Any]], pictures: Sequence[Judged], view: str) -> list[list[Any]]:
    """Returns a row for the pictures of each scene that shows somebody: scene, scale, people, figures."""
    rows: list[list[Any]] = []
    for scene in sorted({str(entry.get("scene", "")) for entry in entries}):
        own = [one for one, entry in zip(pictures, entries, strict=True) if str(entry.get("scene", "")) == scene]
        if people := sum(one.people for one in own):
            figures = figures_of(own)
            rows.append([scene, view, people, *(shown(round(figures[name], 3)) for name in FIGURES)])
    return rows


def _write(
    entries: Sequence[dict[str, Any]],
    clips: Sequence[str],
    people: int,
    rows: Sequence[Sequence[str]],
    measured: dict[str, dict[str, Any]],
    shares: PodCurve,
    scenes: Sequence[Sequence[Any]],
) -> None:
    """Writes the page, and for programs the shipped chain's figures and the shares by size."""
    columns = ("", "scale", "recall at its threshold", "AP50", "AP by pointing", "false people a picture")
    about = (
        f"What detectors find of the {people} people on {len(entries)} real photographs from drones of "
        f"{len(set(clips))} clips (mountains, shores, a campus seen straight down), which are not part of this project "
        "and were never trained on; the shipped network for pictures, its threshold and its reliability were chosen on "
        "them. Scale A: a short side of 480 px; B: as they are, mostly 1280x720. Right is what points at a person "
        "(recall, pointing, false people) or overlaps by IoU 0.5 (AP50). Some boxes are loose, and people who sit may "
        "be unlabelled. There is no depth."
    )
    conditions = {"pictures": len(entries), "people": people, "clips": len(set(clips)), "resamples": ROUNDS}
    sizes = [
        [f"{low:g} to {high:g}", shown(share), f"{interval[0]:.2f} to {interval[1]:.2f}", count]
        for low, high, share, interval, count in shares.rows
    ]
    by_size = Table(
        ("root of the box, px", "recall", "95 %", "people"), sizes, "Shipped chain by size, A and B together"
    )
    parts = Table(("scene", "scale", "people", *columns[2:]), scenes, "Shipped chain by scene")
    write_page(__file__, "Detectors on real photographs", about, conditions, [Table(columns, rows), parts, by_size])
    shipped = measured[f"{CHAIN}, A"]
    stage = load_card(resource("models") / SHIPPED.replace(".onnx", ".json")).pictures
    record = RealPictures(
        sha256=digest(resource("models") / SHIPPED),
        pictures_sha256="" if stage is None else digest(resource("models") / stage.file),
        pictures=len(entries),
        people=people,
        recall_interval=shipped["intervals"]["recall"],
        **shipped["figures"],
    )
    (resource("models") / Path(FILE).name).write_text(
        record.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8"
    )
    write_curve(PHOTOGRAPHS, shares)


if __name__ == "__main__":
    end_with(main)
