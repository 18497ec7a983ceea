"""The card that is written is the card that backends read, and the page states what the card holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.clues import KINDS
from esar_ros.mission.resources import resource
from esar_ros.perception.detectors.model_card import digest, load_card
from esar_ros.training.assess import assess
from esar_ros.training.calibrate import detection_probability, reliability, thresholds
from esar_ros.training.card import Calibration, card_of, first_card, page_of, results, write_json
from esar_ros.training.evaluate import Found, LabelledImage
from esar_ros.training.labels import Label


@pytest.fixture
def card(tmp_path: Path) -> Any:
    rng = np.random.default_rng(2)
    images = []
    for _ in range(60):
        kind = KINDS[int(rng.integers(len(KINDS)))]
        label = Label(kind, f"{kind}/any", bool(rng.random() < 0.4), (50, 60, 12, 9), 60, 25.0, 40.0, 2.0)
        found = Found(kind, float(rng.uniform(0.3, 1.0)), (50.0, 60.0, 12.0, 9.0))
        images.append(LabelledImage("k2", "clear", "day", (label,), (found,)))
    images.append(LabelledImage("k2", "clear", "day", (), (Found("tent", 0.95, (5.0, 5.0, 9.0, 9.0)),)))
    network = tmp_path / "net.onnx"
    network.write_bytes(b"weights")
    second = tmp_path / "net-second.onnx"
    second.write_bytes(b"more weights")
    alone = Calibration(thresholds(images), reliability(images))
    both = Calibration({**alone.thresholds, "tent": 0.96}, alone.curves)
    measured = results(*(assess(images, images[-1:], dict(part.thresholds)) for part in (both, alone)))
    measured["detection_probability"] = detection_probability(images, both.thresholds)
    return network, card_of("net", network, second, {"maps": ["k2"]}, alone, both, measured)


def test_backends_read_the_card(card: Any, tmp_path: Path) -> None:
    network, made = card
    path = tmp_path / "net.json"
    write_json(path, made)
    read = load_card(path)
    assert read.classes == KINDS
    assert read.sha256 == digest(network)
    assert all(read.threshold(kind) == made["thresholds"][kind] for kind in KINDS)
    assert read.second_stage is not None and read.second_stage.file == "net-second.onnx"
    assert read.second_stage.sha256 == digest(network.with_name("net-second.onnx"))
    assert read.second_stage.threshold("tent") == 0.96
    assert read.second_stage.merge == made["second_stage"]["merge"]


def test_a_card_without_measurements_can_be_read(tmp_path: Path) -> None:
    write_json(tmp_path / "net.json", first_card("net"))
    assert load_card(tmp_path / "net.json").kinds == {kind: kind for kind in KINDS}


def test_the_page_says_what_was_missed_and_what_was_invented(card: Any) -> None:
    _, made = card
    made["goals"]["person 0-30 m"] = {"ap50": 0.1, "goal": 0.85, "met": False}
    page = page_of(made, "About.")
    assert "| person 0-30 m | 0.100 | >= 0.85 | missed |" in page
    assert made["network_alone"]["false_on_empty_ground"]["tent"] == 1.0
    assert made["false_on_empty_ground"]["tent"] == 0.0
    rows = {row.split(" | ")[0]: row for row in page.splitlines() if row.startswith(("| network", "| with"))}
    assert rows["| network alone"].endswith("| 1.000 |")
    assert rows["| with second stage"].endswith("| 0.000 |")
    assert all(f"| {kind} |" in page for kind in KINDS)
    assert "A person is told from the score on at which the calibrated probability is 0.25" in page


def test_the_shipped_card_belongs_to_the_shipped_network() -> None:
    folder = resource("models")
    shipped = json.loads((folder / "esar-clues.json").read_text())
    assert shipped["sha256"] == digest(folder / "esar-clues.onnx")
    second = folder / shipped["second_stage"]["file"]
    assert shipped["second_stage"]["sha256"] == digest(second)
    assert sum(file.stat().st_size for file in (folder / "esar-clues.onnx", second)) < 11e6
    assert set(load_card(folder / "esar-clues.json").calibration) <= set(KINDS)
    assert "AFFERO" in (folder / "LICENSE").read_text()[:200]
