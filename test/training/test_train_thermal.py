"""The thermal network's data, loss and figures; pictures are drawn here."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from esar_ros.app.train_detector import main
from esar_ros.mission.errors import UsageError
from esar_ros.training import thermal_network as net
from esar_ros.training import train_thermal
from esar_ros.training.evaluate import Found, LabelledImage
from esar_ros.training.labels import Label
from esar_ros.training.make_thermal import figures, page_of
from esar_ros.training.train_thermal import CROP, Picture, read_split, varied

BOXES = [[300, 200, 12, 20], [340, 260, 24, 14]]


def folder_of(root: Path) -> Path:
    """A data set of one picture with two people, a car and something not to be judged."""
    image = np.full((512, 640), 90, np.uint8)
    for x, y, w, h in BOXES:
        image[y : y + h, x : x + w] = 240
    (root / "normal_json" / "train").mkdir(parents=True)
    (root / "normal_json" / "annotations").mkdir()
    cv2.imwrite(str(root / "normal_json" / "train" / "1_60_90_0_00001.jpg"), image)
    people = [{"image_id": 7, "bbox": box, "category_id": 0} for box in BOXES]
    others = [{"image_id": 7, "bbox": [10, 10, 40, 30], "category_id": kind} for kind in (1, 4)]
    data = {"images": [{"id": 7, "filename": "1_60_90_0_00001.jpg"}], "annotation": people + others}
    (root / "normal_json" / "annotations" / "train.json").write_text(json.dumps(data))
    return root


def test_a_split_is_read_with_what_its_names_say(tmp_path: Path) -> None:
    (picture,) = read_split(folder_of(tmp_path), "train")
    assert (picture.night, picture.altitude, picture.angle) == (True, 60, 90)
    assert picture.boxes[0].tolist() == [300, 200, 312, 220]
    assert picture.classes.tolist() == [0, 0, 1, -1]
    assert picture.grey().shape == (512, 640)


def test_a_folder_that_is_no_data_set_is_told_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match=r"val\.json.*HIT-UAV"):
        read_split(folder_of(tmp_path), "val")
    pytest.importorskip("torch")
    with pytest.raises(UsageError, match=r"train\.json"):
        main(["--thermal", str(tmp_path / "absent"), "--package", "a.tgz", "--out", str(tmp_path / "out")])
    with pytest.raises(UsageError, match="no weights to begin with"):
        main(["--thermal", str(tmp_path), "--out", str(tmp_path / "out")])


def test_crops_keep_boxes_on_their_people(tmp_path: Path) -> None:
    (picture,) = read_split(folder_of(tmp_path), "train")
    image, sizes = picture.grey(), set()
    for seed in range(60):
        crop, boxes, classes = varied(picture, image, np.random.default_rng(seed))
        assert crop.shape == (CROP, CROP) and crop.dtype == np.uint8
        for box in boxes[classes == 0]:
            x0, y0, x1, y1 = (round(float(v)) for v in box)
            assert 0 <= x0 < x1 <= CROP and 0 <= y0 < y1 <= CROP
            sizes.add((x1 - x0) * (y1 - y0))
            inside = crop[y0 + 1 : y1 - 1, x0 + 1 : x1 - 1]
            assert inside.size == 0 or inside.mean() > np.median(crop) + 20
    assert len(sizes) > 10, "sizes vary"


def test_figures_count_overlap_and_pointing() -> None:
    labels = tuple(
        Label("person", "person", False, box, 240, 0.0, 0.0, 0.0) for box in ((10, 10, 12, 20), (60, 60, 12, 20))
    )
    found = (
        Found("person", 0.9, (10, 10, 12, 20)),
        Found("person", 0.8, (64, 68, 5, 5)),  # points at the second, and does not overlap it enough
        Found("person", 0.7, (200, 200, 10, 10)),
    )
    got = figures([LabelledImage("", "", "night", labels, found)], 0.5)
    assert (got["recall"], got["recall_pointing"], got["ap50"]) == (0.5, 1.0, 0.5)
    assert got["precision"] == pytest.approx(0.333) and got["false_per_picture"] == 2.0


def test_the_network_learns_where_somebody_stands() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    network = net.network_of(torch)  # its backbone, of no weights, learns as slowly here as where it has some
    pictures = torch.full((2, 1, 64, 64), 0.3)
    pictures[:, :, 20:40, 24:36] = 0.9
    box, kind = torch.tensor([[24.0, 20.0, 36.0, 40.0]]), torch.tensor([0])
    targets = [(box, kind, torch.zeros(0, 4))] * 2
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3)
    losses = []
    for _ in range(30):
        logits, sides = network(pictures)
        loss = net.loss_of(torch, logits, sides, targets)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.5 * losses[0]
    logits, sides = network(pictures)
    best = int(logits[0, 0].argmax())
    y, x = best // 16, best % 16
    assert 20 <= (y + 0.5) * net.STRIDE <= 40 and 24 <= (x + 0.5) * net.STRIDE <= 36
    left, top, right, bottom = (float(v) * net.STRIDE for v in sides[0, :, y, x].detach())
    assert left + right == pytest.approx(12.0, abs=4.0) and top + bottom == pytest.approx(20.0, abs=5.0)


def test_boxes_not_to_be_judged_cost_nothing() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    logits, sides = torch.zeros(1, 3, 8, 8), torch.ones(1, 4, 8, 8)
    none, whole = torch.zeros(0, 4), torch.tensor([[0.0, 0.0, 32.0, 32.0]])
    empty = (none, torch.zeros(0, dtype=torch.long), none)
    ignored = (none, torch.zeros(0, dtype=torch.long), whole)
    assert float(net.loss_of(torch, logits, sides, [empty])) > 0.0
    assert float(net.loss_of(torch, logits, sides, [ignored])) == 0.0


def test_a_picture_that_is_none_is_told(tmp_path: Path) -> None:
    bad = Picture(tmp_path / "none.jpg", np.zeros((0, 4), np.float32), np.zeros(0, np.int64), False, 60, 90)
    with pytest.raises(UsageError, match=r"none\.jpg"):
        bad.grey()


@pytest.mark.parametrize("epochs", [1, 40])
def test_the_rate_rises_then_falls_to_nothing(epochs: int) -> None:
    shares = [train_thermal._share(step / 10.0, epochs) for step in range(10 * epochs + 1)]
    top = int(np.argmax(shares))
    assert shares[0] == 0.0 and shares[top] == pytest.approx(1.0) and shares[-1] == pytest.approx(0.0)
    assert all(later >= earlier for earlier, later in itertools.pairwise(shares[: top + 1]))
    assert all(later <= earlier for earlier, later in itertools.pairwise(shares[top:]))


def test_a_card_of_a_network_that_tells_of_nobody_says_so() -> None:
    labels = (Label("person", "person", False, (10, 10, 12, 20), 240, 0.0, 0.0, 0.0),)
    test = figures([LabelledImage("", "", "night", labels, (Found("person", 0.3, (10, 10, 12, 20)),))], 0.9)
    made = {"data": "HIT-UAV", "start": "", "epochs": 2, "seed": 0, "crop": CROP}
    card = {"name": "a", "file": "a.onnx", "attribution": "", "stride": 32, "nms_iou": 0.5, "made": made, "test": test}
    assert "precision unknown" in page_of(card | {"thresholds": {"person": 0.9}})
