"""Training and export of the embedded default detector; torch and ultralytics are imported only here, when asked for.

The network is a one-stage detector for things of a few pixels: a backbone to stride 16 whose first layers may come from
a trained YOLOv8s, a top-down pyramid, and heads at strides 8 and 16. It trains on crops of native pixels and, being
convolutional, runs on whole frames.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError, install
from esar_ros.perception.detectors.yolo_world import confine_ultralytics
from esar_ros.perception.vision_operators import lend_operators
from esar_ros.training.render import CROP

FROZEN = 4  # first layers that stay as the starting weights have them
OPSET = 17  # ONNX operators that onnxruntime and OpenCV's DNN both read
_GLANCE = 32  # images
_BINS = 8  # of a box side's distribution: sides up to 2 * 7 * 16 px
ARCHITECTURE: dict[str, Any] = {  # ultralytics' language: from, repeats, module, arguments
    "nc": len(KINDS),
    "reg_max": _BINS,
    "end2end": False,
    "depth_multiple": 1.0,
    "width_multiple": 1.0,
    "backbone": [
        [-1, 1, "Conv", [32, 3, 2]],  # 0, stride 2
        [-1, 1, "Conv", [64, 3, 2]],  # 1, stride 4
        [-1, 1, "C2f", [64, True]],
        [-1, 1, "Conv", [128, 3, 2]],  # 3, stride 8
        [-1, 1, "C2f", [128, True]],
        [-1, 1, "Conv", [128, 3, 2]],  # 5, stride 16
        [-1, 1, "C3k2", [128, False]],
        [-1, 1, "SPPF", [128, 5]],
    ],
    "head": [
        [-1, 1, "nn.Upsample", ["None", 2, "nearest"]],
        [[-1, 4], 1, "Concat", [1]],
        [-1, 1, "C3k2", [64, False]],  # 10, stride 8
        [[10, 7], 1, "Detect", ["nc"]],
    ],
}
# Crops are native pixels: nothing is scaled or turned, since a person of three by seven pixels would be blurred away.
AUGMENTATION: dict[str, float] = {
    "mosaic": 0.3, "close_mosaic": 2, "fliplr": 0.5, "hsv_h": 0.006, "hsv_s": 0.25, "hsv_v": 0.25,
    "scale": 0.0, "translate": 0.0, "degrees": 0.0, "shear": 0.0, "perspective": 0.0, "mixup": 0.0, "erasing": 0.0,
}  # fmt: skip


@dataclass(frozen=True)
class Recipe:
    """Duration and hyperparameters of training; `hours` of wall time override `epochs` when above 0."""

    epochs: int = 15
    hours: float = 0.0
    batch: int = 8
    rate: float = 0.001  # AdamW's, falling by a cosine to a fiftieth
    threads: int = 1
    device: str = "cpu"
    seed: int = 0


@dataclass(frozen=True)
class Design:
    """Network in ultralytics' description language, and augmentation of its crops."""

    architecture: Mapping[str, Any]
    augmentation: Mapping[str, float]


SHIPPED = Design(ARCHITECTURE, AUGMENTATION)


def require(*packages: str) -> None:
    """Raises UsageError where one of them is absent."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"training needs {' and '.join(missing)}", install("train"))


def write_data_file(root: Path, maps: Sequence[str]) -> Path:
    """Ultralytics' description of the images of some maps: lists of files, names of classes."""
    folder = root / "train" / "images"
    images = [p for p in sorted(folder.glob("*.png")) if p.name.rsplit("-", 2)[0] in maps]
    if not images:
        raise UsageError(f"{folder}: no pictures of {', '.join(maps)}", "draw them first: esar train-detector")
    # Ultralytics asks for a validation set and looks at it once at the end; ours is looked at by evaluate.py.
    parts = {"train": images, "val": images[:_GLANCE]}
    lists = {split: root / f"{split}-{'-'.join(sorted(maps))}.txt" for split in parts}
    for split, part in parts.items():
        lists[split].write_text("".join(f"{image.resolve()}\n" for image in part))
    path = root / f"data-{'-'.join(sorted(maps))}.yaml"
    data = {"path": str(root.resolve()), **{k: v.name for k, v in lists.items()}, "names": dict(enumerate(KINDS))}
    path.write_text(json.dumps(data))  # JSON is YAML
    return path


def train(data: Path, out: Path, recipe: Recipe, start: Path | None = None, design: Design = SHIPPED) -> Path:
    """Train, or go on where an earlier call with the same data, recipe, start and design was ended; refuse another.

    Returns the weights (.pt).

    start: a checkpoint of a YOLOv8s, whose first layers are taken, or of an earlier training, which is taken whole and
        trained on: a pickle, so trust its source. Raises UsageError.
    """
    torch = torch_with(recipe.threads)
    from ultralytics import YOLO

    out.mkdir(parents=True, exist_ok=True)
    last, begun, done = out / "run" / "weights" / "last.pt", out / "begun", out / "done"
    task, held = _digest(data, recipe, start, design), done if done.exists() else begun
    if (done.exists() or last.exists()) and (not held.exists() or held.read_text().strip() != task):
        raise UsageError(
            f"{out} holds a network of another recipe, start or data set", "delete it, or give another --out"
        )
    if done.exists():
        return last
    begun.write_text(f"{task}\n")
    if last.exists():
        YOLO(str(last)).train(resume=True)
    else:
        model = out / "clues.yaml"
        model.write_text(json.dumps(design.architecture))
        first = YOLO(str(model), task="detect")
        frozen = 0
        if start is not None:
            _take_over(torch, first.model, start)
            frozen = FROZEN
        first.save(str(out / "start.pt"))
        YOLO(str(out / "start.pt")).train(
            data=str(data), project=str(out.resolve()), name="run", exist_ok=True, device=recipe.device,
            imgsz=CROP, batch=recipe.batch, nbs=recipe.batch, workers=0, cache="ram", seed=recipe.seed,
            epochs=recipe.epochs, time=recipe.hours or None, freeze=frozen or None, amp=False,
            optimizer="AdamW", lr0=recipe.rate, lrf=0.02, cos_lr=True, warmup_epochs=1.0, warmup_bias_lr=0.001,
            val=False, plots=False, save_period=1, **design.augmentation,
        )  # fmt: skip
    done.write_text(f"{task}\n")
    return last


def _digest(data: Path, recipe: Recipe, start: Path | None, design: Design) -> str:
    """Of all that decides what is learned: the pictures' names and lengths, the recipe, the start and the design."""
    hyperparameters = {key: value for key, value in asdict(recipe).items() if key not in ("threads", "device")}
    pictures = [Path(line) for line in (data.parent / json.loads(data.read_text())["train"]).read_text().splitlines()]
    about = [hyperparameters, asdict(design), [[picture.name, picture.stat().st_size] for picture in pictures]]
    made = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    if start is not None and start.is_file():  # where it is not, taking it over says so
        made.update(start.read_bytes())
    return made.hexdigest()


def export(weights: Path, file: Path) -> None:
    """Write the network as ONNX for images of any size whose sides are multiples of 16 px."""
    torch = torch_with(1)
    from ultralytics import YOLO

    class Expectation(torch.nn.Module):  # type: ignore[misc, name-defined]  # torch is imported only here
        """Mean of each box side's distribution; ultralytics' own softmax over it takes a tenth of the run time."""

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("bins", torch.arange(_BINS, dtype=torch.float32).view(1, 1, _BINS, 1))

        def forward(self, logits: Any) -> Any:
            weights = logits.view(logits.shape[0], 4, _BINS, -1).exp()
            return (weights * self.bins).sum(2) / weights.sum(2)

    file.parent.mkdir(parents=True, exist_ok=True)
    network = YOLO(str(weights))
    network.model.model[-1].dfl = Expectation()
    made = network.export(format="onnx", imgsz=(480, 640), opset=OPSET, dynamic=True, simplify=False)
    os.replace(made, file)


def torch_with(threads: int) -> Any:
    """Returns torch with `threads` threads, and keeps ultralytics from the network and from the home folder."""
    require("torch", "ultralytics")
    confine_ultralytics()
    import torch

    torch.set_num_threads(threads)
    lend_operators()  # ultralytics imports torchvision, and needs the operator that merges boxes
    return torch


def _take_over(torch: Any, network: Any, start: Path) -> None:
    """Copy layers 0 to 4 of a YOLOv8s, or all of a network like this one; a YOLOv8s's second bottleneck is left out."""
    try:
        checkpoint = torch.load(start, map_location="cpu", weights_only=False)
        source = (checkpoint.get("ema") or checkpoint["model"]).float().state_dict()
    except (OSError, EOFError, KeyError, AttributeError, RuntimeError, ImportError, pickle.UnpicklingError) as error:
        raise UsageError(f"starting weights {start}: {error}", "give an ultralytics YOLOv8s checkpoint") from None
    own = network.state_dict()
    if {key: value.shape for key, value in source.items()} == {key: value.shape for key, value in own.items()}:
        network.load_state_dict(source)
        return
    taken = {}
    for key, value in own.items():
        if int(key.split(".")[1]) > 4:
            continue
        given = source.get(key)
        if given is not None and given.shape != value.shape and key == "model.4.cv2.conv.weight":
            given = given[:, : value.shape[1]]
        if given is None or given.shape != value.shape:
            raise UsageError(f"starting weights {start}: {key} does not fit", "give an ultralytics YOLOv8s checkpoint")
        taken[key] = given
    network.load_state_dict(own | taken)
