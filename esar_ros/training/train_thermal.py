"""Training and export of the thermal network on a folder of HIT-UAV (Suo et al., Scientific Data 10:227, 2023).

The folder is the data set's own: `normal_json/annotations/{train,val,test}.json` and the pictures beside them. Crops of
native pixels about people are varied as thermal cameras vary: gain, offset, gamma, blur by optics, noise, size.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.errors import UsageError
from esar_ros.perception.detectors.model_card import digest
from esar_ros.training import thermal_network as net
from esar_ros.training.picture_network import read_package
from esar_ros.training.train import OPSET

EPOCHS = 40
CROP = 256  # px
_BATCH = 16
_WARM_UP = 1.0  # epochs in which the rate rises
_RATE = 0.002  # AdamW's, greatest
_KNOWN = 0.2  # share of it in the backbone, which comes from photographs
_SMOOTHED = 0.998  # decay of the averaged weights, which are what is kept
_ABOUT_PERSON = 0.75  # share of crops, in pictures that show some, that are cut about one
_SCALED, _SMALLEST, _LARGEST = 0.4, 0.6, 2.5  # share of crops that are resized, and the range of factors
_TURNED = 0.2  # share turned by a quarter: people lie, too
_VISIBLE = 0.4  # share of a box inside the crop from which it is a label; others are ignored
_CLASS = {0: 0, 1: 1, 2: 2, 3: 1}  # of HIT-UAV's ids: Person, Car, Bicycle, OtherVehicle; DontCare has none

Grey = NDArray[np.uint8]
Boxes = NDArray[np.float32]  # (n, 4): x0, y0, x1, y1, px


@dataclass(frozen=True)
class Picture:
    """One picture with its boxes (n, 4), their classes (n; -1: not to be judged), and what its name says."""

    path: Path
    boxes: Boxes
    classes: NDArray[np.int64]
    night: bool
    altitude: int  # m
    angle: int  # deg, the camera's below the horizon

    def grey(self) -> Grey:
        """The pixels. Raises UsageError."""
        image = cv2.imread(str(self.path), cv2.IMREAD_GRAYSCALE)
        if image is None:
            raise UsageError(f"{self.path}: not a picture", "fetch the data set again")
        return np.asarray(image, np.uint8)


def read_split(folder: Path, split: str) -> list[Picture]:
    """Pictures of train, val or test. Raises UsageError."""
    source = folder / "normal_json" / "annotations" / f"{split}.json"
    try:
        data = json.loads(source.read_text())
        boxes: dict[int, list[list[float]]] = {int(image["id"]): [] for image in data["images"]}
        for entry in data["annotation"]:
            x, y, w, h = entry["bbox"]
            boxes[int(entry["image_id"])].append([x, y, x + w, y + h, _CLASS.get(int(entry["category_id"]), -1)])
        pictures = []
        for image in data["images"]:
            night, altitude, angle = (int(part) for part in image["filename"].split("_")[:3])
            rows = np.array(boxes[int(image["id"])], np.float32).reshape(-1, 5)
            path = folder / "normal_json" / split / image["filename"]
            pictures.append(Picture(path, rows[:, :4], rows[:, 4].astype(np.int64), bool(night), altitude, angle))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{source}: {type(error).__name__}: {error}", "give the folder of HIT-UAV that holds normal_json"
        ) from None
    return pictures


def varied(picture: Picture, image: Grey, chance: np.random.Generator) -> tuple[Grey, Boxes, NDArray[np.int64]]:
    """A crop with its boxes and classes, of -1 where a box is to be ignored."""
    factor = math.exp(chance.uniform(math.log(_SMALLEST), math.log(_LARGEST))) if chance.random() < _SCALED else 1.0
    side = round(CROP / factor)
    height, width = image.shape
    people = np.flatnonzero(picture.classes == 0)
    if len(people) and chance.random() < _ABOUT_PERSON:
        about = picture.boxes[chance.choice(people)]
        middle = (about[:2] + about[2:]) / 2 + chance.uniform(-0.45, 0.45, 2) * side
    else:
        middle = chance.uniform(0, 1, 2) * (width, height)
    x = int(np.clip(middle[0] - side / 2, 0, max(width - side, 0)))
    y = int(np.clip(middle[1] - side / 2, 0, max(height - side, 0)))
    crop = image[y : y + side, x : x + side]
    crop = cv2.resize(crop, (CROP, CROP), interpolation=cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR)
    boxes = (picture.boxes - np.array([x, y, x, y], np.float32)) * np.float32(CROP / side)
    kept = np.clip(boxes, 0, CROP)
    area = np.prod(boxes[:, 2:] - boxes[:, :2], 1)
    shown = np.prod(kept[:, 2:] - kept[:, :2], 1) / np.maximum(area, 1e-6)
    classes = np.where(shown >= _VISIBLE, picture.classes, -1)
    kept, classes = kept[shown > 0.02], classes[shown > 0.02]
    if chance.random() < 0.5:
        crop, kept = crop[:, ::-1], np.stack([CROP - kept[:, 2], kept[:, 1], CROP - kept[:, 0], kept[:, 3]], 1)
    if chance.random() < _TURNED:
        crop, kept = crop.T, kept[:, [1, 0, 3, 2]]
        if chance.random() < 0.5:
            crop, kept = crop[::-1], np.stack([kept[:, 0], CROP - kept[:, 3], kept[:, 2], CROP - kept[:, 1]], 1)
    return _camera(np.ascontiguousarray(crop), chance), kept.astype(np.float32), classes


def _camera(crop: Grey, chance: np.random.Generator) -> Grey:
    """As another camera would show it: gamma, gain and offset, blur, noise."""
    grey = crop.astype(np.float32) / 255.0
    grey = grey ** math.exp(chance.normal(0.0, 0.25))
    grey = (grey - 0.5) * math.exp(chance.normal(0.0, 0.25)) + 0.5 + chance.normal(0.0, 0.08)
    if chance.random() < 0.3:
        grey = cv2.GaussianBlur(grey, (0, 0), chance.uniform(0.3, 1.0))
    if chance.random() < 0.4:
        grey = grey + chance.normal(0.0, chance.uniform(0.0, 0.03), grey.shape).astype(np.float32)
    return np.asarray(np.clip(grey * 255.0, 0, 255), np.uint8)


def train_thermal(
    folder: Path,
    package: Path,
    out: Path,
    epochs: int = EPOCHS,
    seed: int = 0,
    threads: int = 1,
    tell: Callable[[str], None] = print,
) -> Path:
    """Train, or go on after the last whole epoch of an earlier call with the same epochs and seed. Returns weights.

    package: whose NanoDet the backbone begins from. Raises UsageError.
    """
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    out.mkdir(parents=True, exist_ok=True)
    pictures = read_split(folder, "train")
    images = [picture.grey() for picture in pictures]
    network = net.network_of(torch, read_package(package)).to(memory_format=torch.channels_last)
    network.backbone.stem.requires_grad_(False)
    kept = {key: value.clone() for key, value in network.state_dict().items()}
    steps = len(pictures) // _BATCH
    known = [p for p in network.backbone.parameters() if p.requires_grad]
    new = [p for name, p in network.named_parameters() if not name.startswith("backbone")]
    optimiser = torch.optim.AdamW(
        [
            {"params": known, "weight_decay": 0.01, "lr": _KNOWN * _RATE},
            {"params": [p for p in new if p.ndim > 1], "weight_decay": 0.03},
            {"params": [p for p in new if p.ndim <= 1], "weight_decay": 0.0},
        ],
        _RATE,
        fused=True,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _share(step / steps, epochs))
    last, done = out / "thermal.pt", 0
    task = {"epochs": epochs, "seed": seed, "pictures": len(pictures), "package": digest(package)}
    if last.exists():
        state = torch.load(last, map_location="cpu", weights_only=True)
        if state["task"] == task:
            network.load_state_dict(state["network"])
            optimiser.load_state_dict(state["optimiser"])
            schedule.load_state_dict(state["schedule"])
            kept, done = state["kept"], int(state["done"])
    for epoch in range(done, epochs):
        network.train()
        began, total = time.process_time(), 0.0
        for step, (crops, targets) in enumerate(_batches(torch, pictures, images, seed, epoch)):
            with torch.autocast("cpu", torch.bfloat16):
                logits, sides = network(crops)
            loss = net.loss_of(torch, logits, sides, targets)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 10.0)
            optimiser.step()
            schedule.step()
            total += float(loss.detach())
            decay = min(_SMOOTHED, (1 + epoch * steps + step) / (10 + epoch * steps + step))
            for key, value in network.state_dict().items():
                kept[key] = kept[key] * decay + value * (1 - decay) if value.is_floating_point() else value.clone()
        state = {"network": network.state_dict(), "optimiser": optimiser.state_dict(),
                 "schedule": schedule.state_dict(), "kept": kept, "done": epoch + 1, "task": task}  # fmt: skip
        torch.save(state, out / "thermal.part")
        os.replace(out / "thermal.part", last)
        spent = time.process_time() - began
        tell(f"thermal: epoch {epoch + 1} of {epochs}, loss {total / steps:.3f}, {spent:.0f} CPU s")
    return last


def _share(epoch: float, epochs: int) -> float:
    """Share of the greatest rate: up, then down by a cosine."""
    rising = min(_WARM_UP, 0.5 * epochs)
    if epoch < rising:
        return epoch / rising
    return 0.5 * (1.0 + math.cos(math.pi * min(1.0, (epoch - rising) / (epochs - rising))))


def _batches(
    torch: Any, pictures: list[Picture], images: list[Grey], seed: int, epoch: int
) -> Iterator[tuple[Any, list[tuple[Any, Any, Any]]]]:
    """An epoch's crops (N, 1, CROP, CROP) and targets: the same for the same seed and epoch."""
    chance = np.random.default_rng((seed, epoch))
    order = chance.permutation(len(pictures))
    for start in range(0, len(order) - _BATCH + 1, _BATCH):
        crops, targets = [], []
        for n in order[start : start + _BATCH]:
            crop, boxes, classes = varied(pictures[n], images[n], chance)
            crops.append(crop)
            known = classes >= 0
            targets.append(
                (torch.from_numpy(boxes[known]), torch.from_numpy(classes[known]), torch.from_numpy(boxes[~known]))
            )
        batch = torch.from_numpy(np.stack(crops)[:, None]).float() / 255.0
        yield batch.contiguous(memory_format=torch.channels_last), targets


def export_thermal(weights: Path, file: Path) -> None:
    """Write the averaged network as ONNX, in the form of a YOLO of one class: RGB / 255, sides multiples of 32 px."""
    import torch

    network = net.network_of(torch)
    network.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True)["kept"])

    class Whole(torch.nn.Module):  # type: ignore[misc]  # torch is imported only here
        """Boxes (N, 5, cells): centre x, y, width, height in px, score of a person."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, images: Any) -> Any:
            logits, sides = self.network(images[:, :1])
            height, width = logits.shape[2], logits.shape[3]
            x = (torch.arange(width) + 0.5).view(1, 1, width)
            y = (torch.arange(height) + 0.5).view(1, height, 1)
            boxes = torch.stack([
                x + (sides[:, 2] - sides[:, 0]) / 2, y + (sides[:, 3] - sides[:, 1]) / 2,
                sides[:, 0] + sides[:, 2], sides[:, 1] + sides[:, 3],
            ], 1) * net.STRIDE  # fmt: skip
            return torch.cat([boxes, logits[:, :1].sigmoid()], 1).flatten(2)

    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    torch.onnx.export(
        Whole().eval(), (torch.zeros(1, 3, 512, 640),), str(part), input_names=["images"], output_names=["output0"],
        opset_version=OPSET, dynamo=False, dynamic_axes={"images": {2: "height", 3: "width"}, "output0": {2: "cells"}},
    )  # fmt: skip
    os.replace(part, file)
