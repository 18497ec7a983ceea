"""Training and export of the second stage: convolutions over crops of known size, joined with the box's numbers."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.benchmark.detector.examples import NOTHING, Examples
from esar_ros.benchmark.detector.train import OPSET, torch_with
from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError
from esar_ros.perception.second_stage import CHANNELS, OWN_FEATURES, SIDE

EPOCHS = 30
_BATCH = 128
_RATE = 0.002  # AdamW's, greatest; up over a tenth of the steps, then down by a cosine
_SMOOTHED = 0.05  # of each label is spread over all classes: labels of few pixels are doubtful
_RARER = 0.5  # power of a class's share by which rare ones weigh more
_LIGHT, _SHADE = 0.25, 0.06  # augmentation: deviation of the logarithm of a crop's brightness, and of each colour's


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
    counts = np.bincount(examples.targets, minlength=NOTHING + 1)
    weights = np.where(counts > 0, (counts.max() / np.maximum(counts, 1)) ** _RARER, 0.0)
    loss_of = torch.nn.CrossEntropyLoss(
        torch.tensor(weights, dtype=torch.float32, device=device), label_smoothing=_SMOOTHED
    )
    targets, numbers = torch.from_numpy(examples.targets), torch.from_numpy(examples.features)
    for epoch in range(done, epochs):
        network.train()
        torch.manual_seed(seed * 1000 + epoch)  # of what is dropped out: a run that goes on is as if never ended
        chance = torch.Generator().manual_seed(seed * 1000 + epoch)
        order = torch.randperm(len(targets), generator=chance)
        total = 0.0
        for chosen in order.split(_BATCH):
            if len(chosen) < 2:  # of one alone batch normalisation knows no deviation
                continue
            pictures = torch.from_numpy(examples.crops[chosen.numpy()]).float()
            seen = network(_varied(torch, pictures, chance).to(device), numbers[chosen].to(device))
            loss = loss_of(seen, targets[chosen].to(device))
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
    """Write it as ONNX for any number of crops, with probabilities as output."""
    torch = torch_with(1)
    network = network_of(torch)
    network.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True)["network"])
    whole = torch.nn.Module()
    whole.network = network
    whole.forward = lambda pictures, numbers: network(pictures, numbers).softmax(1)
    whole.eval()
    blank = torch.zeros(2, CHANNELS, SIDE, SIDE), torch.zeros(2, OWN_FEATURES + len(KINDS))
    names = ["crops", "features"]
    torch.onnx.export(
        whole, blank, str(file), input_names=names, output_names=["probabilities"], opset_version=OPSET, dynamo=False,
        dynamic_axes={name: {0: "n"} for name in (*names, "probabilities")},
    )  # fmt: skip


def network_of(torch: Any) -> Any:
    """Untrained, of torch's random numbers."""
    nn = torch.nn

    def block(inside: int, outside: int) -> list[Any]:
        return [nn.Conv2d(inside, outside, 3, 2, 1, bias=False), nn.BatchNorm2d(outside), nn.ReLU()]

    class Network(nn.Module):  # type: ignore[misc, name-defined]  # torch is imported only here
        """Logits (N, classes + 1) from crops and numbers."""

        def __init__(self) -> None:
            super().__init__()
            self.look = nn.Sequential(
                *block(CHANNELS, 24), *block(24, 48), *block(48, 64), nn.Flatten(), nn.Dropout(0.3),
                nn.Linear(64 * (SIDE // 8) ** 2, 64),
            )  # fmt: skip
            self.level = nn.BatchNorm1d(OWN_FEATURES + len(KINDS))
            self.judge = nn.Sequential(
                nn.Linear(64 + OWN_FEATURES + len(KINDS), 96), nn.ReLU(), nn.Dropout(0.2), nn.Linear(96, NOTHING + 1)
            )

        def forward(self, pictures: Any, numbers: Any) -> Any:
            return self.judge(torch.cat([self.look(pictures), self.level(numbers)], 1))

    return Network()


def _varied(torch: Any, pictures: Any, chance: Any) -> Any:
    """Half of them mirrored, all in a little other light."""
    count = len(pictures)
    mirrored = torch.rand(count, generator=chance) < 0.5
    pictures = torch.where(mirrored[:, None, None, None], pictures.flip(3), pictures)
    light = torch.randn(count, 1, 1, 1, 1, generator=chance) * _LIGHT
    shade = torch.randn(count, 1, 3, 1, 1, generator=chance) * _SHADE
    parts = pictures.view(count, CHANNELS // 4, 4, SIDE, SIDE)
    colour = (parts[:, :, :3] * (light + shade).exp()).clamp(0.0, 1.0)
    return torch.cat([colour, parts[:, :, 3:]], 2).view(pictures.shape)
