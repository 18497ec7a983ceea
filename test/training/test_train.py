"""Training and export, where torch is installed: one epoch on a handful of crops."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import cv2
import numpy as np
import pytest
import yaml

from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError
from esar_ros.training.train import (
    ARCHITECTURE,
    AUGMENTATION,
    Design,
    Recipe,
    export,
    torch_with,
    train,
    write_data_file,
)


def _crops(root: Any, count: int = 8) -> None:
    rng = np.random.default_rng(0)
    for part in ("images", "labels"):
        (root / "train" / part).mkdir(parents=True)
    for n in range(count):
        image = rng.integers(0, 255, (256, 256, 3), dtype=np.uint8)
        cv2.imwrite(str(root / "train" / "images" / f"k2-0000-{n:02d}a.png"), image)
        (root / "train" / "labels" / f"k2-0000-{n:02d}a.txt").write_text(f"{n % len(KINDS)} 0.5 0.5 0.1 0.1\n")


@pytest.fixture
def crops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The data file of a handful of crops, where there is something to train with."""
    pytest.importorskip("torch")
    pytest.importorskip("ultralytics")
    monkeypatch.setenv("YOLO_CONFIG_DIR", str(tmp_path / "settings"))
    monkeypatch.chdir(tmp_path)
    _crops(tmp_path)
    return write_data_file(tmp_path, ("k2",))


def test_the_lists_hold_the_pictures_of_the_maps_asked_for(tmp_path: Path) -> None:
    _crops(tmp_path)
    write_data_file(tmp_path, ("k2",))
    assert len((tmp_path / "train-k2.txt").read_text().splitlines()) == 8
    with pytest.raises(UsageError, match="no pictures of aotai"):
        write_data_file(tmp_path, ("aotai",))


def test_a_finished_network_is_returned_for_its_own_recipe_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Trained:
        """In the place of ultralytics' network: writes what it is trained to."""

        def __init__(self, file: str, task: str = "") -> None:
            self.model = None

        def save(self, file: str) -> None:
            pass

        def train(self, seed: int = -1, **_: Any) -> None:
            last.parent.mkdir(parents=True, exist_ok=True)
            last.write_text(f"seed {seed}")

    last = tmp_path / "out" / "run" / "weights" / "last.pt"
    fake = SimpleNamespace(YOLO=Trained)
    monkeypatch.setitem(sys.modules, "ultralytics", fake)
    monkeypatch.setattr("esar_ros.training.train.torch_with", lambda _: None)
    monkeypatch.setattr("esar_ros.training.train._take_over", lambda *_: None)
    _crops(tmp_path)
    data = write_data_file(tmp_path, ("k2",))
    assert train(data, tmp_path / "out", Recipe()).read_text() == "seed 0"
    assert train(data, tmp_path / "out", Recipe(threads=4, device="cuda:0")) == last, "decides nothing"
    (tmp_path / "start.pt").write_bytes(b"weights")
    for recipe, start in ((Recipe(seed=5), None), (Recipe(epochs=60), None), (Recipe(), tmp_path / "start.pt")):
        with pytest.raises(UsageError, match="another recipe, start or data set: delete it, or give another --out"):
            train(data, tmp_path / "out", recipe, start)
    (tmp_path / "out" / "done").unlink()  # ended before its last epoch
    with pytest.raises(UsageError, match="another recipe"):
        train(data, tmp_path / "out", Recipe(rate=0.01))
    assert train(data, tmp_path / "out", Recipe()).read_text() == "seed -1", "gone on with"
    cv2.imwrite(str(tmp_path / "train" / "images" / "k2-0000-00a.png"), np.zeros((256, 256, 3), np.uint8))
    with pytest.raises(UsageError, match="another recipe"):
        train(data, tmp_path / "out", Recipe())


def test_the_network_has_a_score_for_every_kind() -> None:
    assert ARCHITECTURE["nc"] == len(KINDS)


@pytest.mark.full
def test_an_epoch_an_export_and_a_picture_of_any_size(crops: Any, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    weights = train(crops, tmp_path / "out", Recipe(epochs=1, batch=4))
    assert train(crops, tmp_path / "out", Recipe(epochs=1, batch=4)) == weights  # whole: nothing is done again
    export(weights, tmp_path / "net.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    for height, width in ((480, 640), (240, 320)):
        (output,) = session.run(None, {"images": np.zeros((1, 3, height, width), dtype=np.float32)})
        assert output.shape == (1, 4 + len(KINDS), height * width * 5 // 256)  # grids of 8 and 16 px
        assert np.isfinite(output).all()


@pytest.mark.full
def test_another_design_is_what_is_trained(crops: Any, tmp_path: Path) -> None:
    head = [*ARCHITECTURE["head"][:3], [[10], 1, "Detect", ["nc"]]]
    design = Design({**ARCHITECTURE, "head": head}, {**AUGMENTATION, "scale": 0.5})
    weights = train(crops, tmp_path / "out", Recipe(epochs=1, batch=4), design=design)
    from ultralytics import YOLO

    assert YOLO(str(weights)).model.model[-1].stride.tolist() == [8.0]
    assert yaml.safe_load((tmp_path / "out" / "run" / "args.yaml").read_text())["scale"] == 0.5


@pytest.mark.full
def test_training_goes_on_from_the_epoch_it_was_ended_after(
    crops: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch_with(1)
    from ultralytics.models.yolo.detect import DetectionTrainer

    def go() -> Any:
        return train(crops, tmp_path / "out", Recipe(epochs=2, batch=4))

    save = DetectionTrainer.save_model

    def ended(trainer: Any) -> NoReturn:
        save(trainer)
        raise KeyboardInterrupt

    with monkeypatch.context() as once:
        once.setattr(DetectionTrainer, "save_model", ended)
        with pytest.raises(KeyboardInterrupt):
            go()
    go()
    rows = (tmp_path / "out" / "run" / "results.csv").read_text().splitlines()[1:]
    assert [int(row.split(",")[0]) for row in rows] == [1, 2]


@pytest.mark.full
def test_starting_weights_that_are_none_are_refused(crops: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="starting weights"):
        train(crops, tmp_path / "out", Recipe(epochs=1), start=tmp_path / "none.pt")


@pytest.mark.full
def test_an_earlier_training_is_gone_on_from_whole(crops: Any, tmp_path: Path) -> None:
    torch = torch_with(1)
    first = train(crops, tmp_path / "first", Recipe(epochs=1, batch=4))
    train(crops, tmp_path / "second", Recipe(epochs=1, batch=4, rate=1e-9), start=first)
    before, begun = (
        torch.load(path, weights_only=False, map_location="cpu")["model"].float().state_dict()
        for path in (first, tmp_path / "second" / "start.pt")
    )
    assert before.keys() == begun.keys()
    assert all(torch.allclose(before[key].float(), begun[key].float(), atol=1e-3) for key in before)
