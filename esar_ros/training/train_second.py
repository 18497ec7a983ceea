"""Training and export of the second stage: convolutions over crops of known size, joined with the box's numbers."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError
from esar_ros.perception.detectors.second_stage import CHANNELS, OWN_FEATURES, SIDE
from esar_ros.training.examples import IGNORED, NOTHING, Examples
from esar_ros.training.train import OPSET, torch_with

EPOCHS = 24
_BATCH = 128
_WIDTHS = (24, 56, 96)  # of the convolutions, each of which halves a crop
_KNOWN = 128  # numbers that are told of a crop
_PLACED = 2.0  # weight of where an object lies against what it is
_KNEE = 0.1  # of the smooth L1 loss of that
_RATE = 0.002  # AdamW's, greatest; up over a tenth of the steps, then down by a cosine
_SMOOTHED = 0.05  # of each label is spread over all classes: labels of few pixels are doubtful
_RARER = 0.5  # power of a class's share by which rare ones weigh more
_LIGHT, _SHADE = 0.25, 0.06  # augmentation: deviation of the logarithm of a crop's brightness, and of each colour's
_TURNED = 0.5  # share of crops whose hues are turned about the grey axis, but
_COLOURED = ("campfire", "signal_flare", "light")  # for these, which are told by their colour


def train_second(
    examples: Examples,
    out: Path,
    epochs: int = EPOCHS,
    seed: int = 0,
    threads: int = 1,
    device: str = "cpu",
    tell: Callable[[str], None] = print,
) -> Path:
    """Train, or go on after the last whole epoch of an earlier call with the same examples, epochs and seed.

    Returns the weights. Raises UsageError.
    """
    if not len(examples.targets) or len(np.unique(examples.targets)) < 2:
        raise UsageError(
            "the second stage has nothing to tell apart", "draw more scenes: esar train-detector --share 1"
        )
    torch = torch_with(threads)
    torch.manual_seed(seed)
    out.mkdir(parents=True, exist_ok=True)
    last, task = out / "second.pt", _digest(examples, epochs, seed)
    network = network_of(torch).to(device)
    steps = epochs * math.ceil(len(examples.targets) / _BATCH)
    optimiser = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, _RATE, total_steps=steps, pct_start=0.1)
    done = 0
    if last.exists():
        state = torch.load(last, map_location=device, weights_only=True)
        if state.get("task") == task:
            network.load_state_dict(state["network"])
            optimiser.load_state_dict(state["optimiser"])
            schedule.load_state_dict(state["schedule"])
            done = int(state["epochs"])
    counts = np.bincount(examples.targets[examples.targets != IGNORED], minlength=NOTHING + 1)
    weights = np.where(counts > 0, (counts.max() / np.maximum(counts, 1)) ** _RARER, 0.0)
    loss_of = torch.nn.CrossEntropyLoss(
        torch.tensor(weights, dtype=torch.float32, device=device), label_smoothing=_SMOOTHED, ignore_index=IGNORED
    )
    targets, numbers = torch.from_numpy(examples.targets), torch.from_numpy(examples.features)
    shifts = torch.from_numpy(examples.shifts)
    turned = torch.from_numpy(~np.isin(examples.targets, [KINDS.index(kind) for kind in _COLOURED]))
    for epoch in range(done, epochs):
        network.train()
        torch.manual_seed(seed * 1000 + epoch)  # of what is dropped out: a run that goes on is as if never ended
        chance = torch.Generator().manual_seed(seed * 1000 + epoch)
        order = torch.randperm(len(targets), generator=chance)
        total = 0.0
        for chosen in order.split(_BATCH):
            if len(chosen) < 2 or not (targets[chosen] != IGNORED).any():  # one alone has no deviation, none no loss
                continue
            images = torch.from_numpy(examples.crops[chosen.numpy()]).float()
            images, placed = _varied(torch, images, shifts[chosen], turned[chosen], chance)
            logits, moved = network(images.to(device), numbers[chosen].to(device))
            known = torch.isfinite(placed[:, 0])
            far = torch.nn.functional.smooth_l1_loss(
                moved[known.to(device)], placed[known].to(device), reduction="sum", beta=_KNEE
            )
            loss = loss_of(logits, targets[chosen].to(device)) + _PLACED * far / len(chosen)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += float(loss.detach()) * len(chosen)
        state = {"network": network.state_dict(), "optimiser": optimiser.state_dict(),
                 "schedule": schedule.state_dict(), "epochs": epoch + 1, "task": task}  # fmt: skip
        torch.save(state, out / "second.part")
        os.replace(out / "second.part", last)
        tell(f"second stage: epoch {epoch + 1} of {epochs}, loss {total / len(targets):.3f}")
    return last


def _digest(examples: Examples, epochs: int, seed: int) -> str:
    """Of what is trained on and how long: another first stage or data set makes as many examples by chance."""
    about = f"{epochs} {seed}".encode()
    return hashlib.sha256(about + examples.targets.tobytes() + examples.features.tobytes()).hexdigest()


def export_second(weights: Path, file: Path) -> None:
    """Write it as ONNX for any number of crops, with probabilities and shifts as output."""
    torch = torch_with(1)
    network = network_of(torch)
    network.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True)["network"])
    whole = torch.nn.Module()
    whole.network = network

    def forward(images: Any, numbers: Any) -> tuple[Any, Any]:
        logits, moved = network(images, numbers)
        return logits.softmax(1), moved

    whole.forward = forward
    whole.eval()
    blank = torch.zeros(2, CHANNELS, SIDE, SIDE), torch.zeros(2, OWN_FEATURES + len(KINDS))
    taken, given = ["crops", "features"], ["probabilities", "shifts"]
    torch.onnx.export(
        whole, blank, str(file), input_names=taken, output_names=given, opset_version=OPSET, dynamo=False,
        dynamic_axes={name: {0: "n"} for name in (*taken, *given)},
    )  # fmt: skip


def network_of(torch: Any) -> Any:
    """Untrained, of torch's random numbers."""
    nn = torch.nn

    def block(inside: int, outside: int) -> list[Any]:
        return [nn.Conv2d(inside, outside, 3, 2, 1, bias=False), nn.BatchNorm2d(outside), nn.ReLU()]

    class Network(nn.Module):  # type: ignore[misc, name-defined]  # torch is imported only here
        """Logits (N, classes + 1) and shifts (N, 4) from crops and numbers."""

        def __init__(self) -> None:
            super().__init__()
            both = zip((CHANNELS, *_WIDTHS), _WIDTHS, strict=False)
            self.look = nn.Sequential(
                *(layer for inside, outside in both for layer in block(inside, outside)), nn.Flatten(), nn.Dropout(0.3),
                nn.Linear(_WIDTHS[-1] * (SIDE // 2 ** len(_WIDTHS)) ** 2, _KNOWN),
            )  # fmt: skip
            self.level = nn.BatchNorm1d(OWN_FEATURES + len(KINDS))
            joined = _KNOWN + OWN_FEATURES + len(KINDS)
            self.judge = nn.Sequential(nn.Linear(joined, 96), nn.ReLU(), nn.Dropout(0.2), nn.Linear(96, NOTHING + 1))
            self.place = nn.Sequential(nn.Linear(joined, 64), nn.ReLU(), nn.Linear(64, 4))

        def forward(self, images: Any, numbers: Any) -> tuple[Any, Any]:
            known = torch.cat([self.look(images), self.level(numbers)], 1)
            return self.judge(known), self.place(known)

    return Network()


def _varied(torch: Any, images: Any, shifts: Any, turned: Any, chance: Any) -> tuple[Any, Any]:
    """Half of them mirrored, with their shifts (N, 4); all in a little other light; some that may be, in other hues."""
    count = len(images)
    mirrored = torch.rand(count, generator=chance) < 0.5
    images = torch.where(mirrored[:, None, None, None], images.flip(3), images)
    shifts = torch.where(mirrored[:, None], shifts * torch.tensor([-1.0, 1.0, 1.0, 1.0]), shifts)
    light = torch.randn(count, 1, 1, 1, 1, generator=chance) * _LIGHT
    shade = torch.randn(count, 1, 3, 1, 1, generator=chance) * _SHADE
    parts = images.view(count, CHANNELS // 4, 4, SIDE, SIDE)
    turned = turned & (torch.rand(count, generator=chance) < _TURNED)
    angle = torch.where(turned, (2.0 * torch.rand(count, generator=chance) - 1.0) * math.pi, 0.0)
    colour = torch.einsum("ncd,nkdhw->nkchw", _about_grey(torch, angle), parts[:, :, :3])
    colour = (colour * (light + shade).exp()).clamp(0.0, 1.0)
    return torch.cat([colour, parts[:, :, 3:]], 2).view(images.shape), shifts


def _about_grey(torch: Any, angle: Any) -> Any:
    """Rotations (N, 3, 3) of colours about the axis of the greys, by Rodrigues' formula."""
    cos, sin = angle.cos()[:, None, None], angle.sin()[:, None, None]
    cross = torch.tensor([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]]) / math.sqrt(3.0)
    return cos * torch.eye(3) + sin * cross + (1.0 - cos) / 3.0
