"""Training and export of the second stage; what it learns, where torch is installed."""

from pathlib import Path

import numpy as np
import pytest

from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError
from esar_ros.perception.detectors.engines import load_session
from esar_ros.perception.detectors.second_stage import CHANNELS, OWN_FEATURES, SIDE
from esar_ros.training.examples import NOTHING, Examples
from esar_ros.training.train_second import _about_grey, _varied, export_second, network_of, train_second

COUNT = 256
SHIFT = (0.0, 0.5, 0.3, -0.3)  # mirroring leaves it as it is


def examples(seed: int = 0) -> Examples:
    """Half of them bright and a person half a box below, half dark and nothing; their numbers say nothing."""
    rng = np.random.default_rng(seed)
    bright = rng.random(COUNT) < 0.5
    crops = rng.normal(0.0, 0.05, (COUNT, CHANNELS, SIDE, SIDE)) + np.where(bright, 0.8, 0.2)[:, None, None, None]
    numbers = rng.normal(size=(COUNT, OWN_FEATURES + len(KINDS)))
    return Examples(
        np.clip(crops, 0.0, 1.0).astype(np.float16),
        numbers.astype(np.float32),
        np.where(bright, KINDS.index("person"), NOTHING),
        np.where(bright[:, None], np.array(SHIFT), np.nan).astype(np.float32),
    )


def test_nothing_to_tell_apart_is_told_before_torch_is_asked_for(tmp_path: Path) -> None:
    alike = Examples(*(part[:2] for part in vars(examples()).values()))
    alike.targets[:] = NOTHING
    for none in (alike, Examples.joined([])):
        with pytest.raises(UsageError, match="nothing to tell apart"):
            train_second(none, tmp_path)


def test_what_is_mirrored_lies_on_the_other_side_and_turned_hues_keep_greys() -> None:
    torch = pytest.importorskip("torch")
    chance = torch.Generator().manual_seed(1)
    grey = torch.full((64, CHANNELS, SIDE, SIDE), 0.5)
    grey[:, :, :, : SIDE // 2] = 0.25
    shifts = torch.tensor([[0.3, 0.2, 0.1, -0.1]]).repeat(64, 1)
    seen, moved = _varied(torch, grey, shifts, torch.ones(64, dtype=torch.bool), chance)
    mirrored = seen[:, 3, 0, 0] > seen[:, 3, 0, -1]  # of depth
    assert 0 < mirrored.sum() < 64
    assert torch.equal(moved[:, 0], torch.where(mirrored, -0.3, 0.3)) and torch.equal(moved[:, 1:], shifts[:, 1:])
    assert _about_grey(torch, torch.tensor([2.0 * np.pi / 3.0])) @ torch.tensor([1.0, 0.0, 0.0]) == pytest.approx(
        np.array([[0.0, 1.0, 0.0]]), abs=1e-6
    ), "a third of a turn makes red green"
    turned = _about_grey(torch, torch.linspace(-3.0, 3.0, 7))
    assert (turned @ torch.ones(3)).numpy() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.full
def test_it_learns_goes_on_and_the_file_answers_as_torch_does(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("ultralytics")
    told: list[str] = []
    whole = train_second(examples(), tmp_path / "whole", epochs=8, tell=told.append)
    assert len(told) == 8

    def give_up(line: str) -> None:
        if "epoch 2 of 8" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_second(examples(), tmp_path / "parts", epochs=8, tell=give_up)
    rest: list[str] = []
    parts = train_second(examples(), tmp_path / "parts", epochs=8, tell=rest.append)
    assert [line.split(",")[0] for line in rest] == [line.split(",")[0] for line in told[2:]]
    assert train_second(examples(), tmp_path / "parts", epochs=8, tell=rest.append) == parts and len(rest) == 6
    import torch

    first, second = (torch.load(weights, weights_only=True)["network"] for weights in (whole, parts))
    assert all(torch.equal(value, second[name]) for name, value in first.items()), "as if it had not been ended"
    train_second(examples(seed=2), tmp_path / "parts", epochs=8, tell=rest.append)
    assert len(rest) == 14, "as many examples, but others: it begins anew"
    one_over = Examples(*(part[:129] for part in vars(examples()).values()))
    train_second(one_over, tmp_path / "one over", epochs=1, tell=rest.append)

    export_second(whole, tmp_path / "second.onnx")
    session = load_session(tmp_path / "second.onnx", 1)
    seen = examples(seed=1)
    inputs = {"crops": seen.crops.astype(np.float32), "features": seen.features}
    answers, shifts = session.run(["probabilities", "shifts"], inputs)
    right = answers.argmax(axis=1) == seen.targets
    assert right.mean() > 0.9
    network = network_of(torch)
    network.load_state_dict(first)
    network.eval()
    with torch.no_grad():
        scores, moved = network(*(torch.from_numpy(value) for value in inputs.values()))
    assert answers == pytest.approx(scores.softmax(1).numpy(), abs=1e-5)
    assert shifts == pytest.approx(moved.numpy(), abs=1e-5)
    people = shifts[seen.targets != NOTHING]
    assert np.abs(people - SHIFT).mean() < 0.75 * np.abs(SHIFT).mean(), "it learns where they are, too"
    assert answers.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
