"""The card that is written is the card that backends read, and the page states what the card holds."""

import json

import numpy as np
import pytest

from esar_ros.benchmark.detector.assess import figures, goal_figures
from esar_ros.benchmark.detector.calibrate import reliability, thresholds
from esar_ros.benchmark.detector.card import card_of, first_card, write_json, write_page
from esar_ros.benchmark.detector.evaluate import Found, Picture
from esar_ros.benchmark.detector.labels import Label
from esar_ros.mission.clues import KINDS
from esar_ros.mission.resources import resource
from esar_ros.perception.model_card import digest, load_card


@pytest.fixture
def card(tmp_path):
    rng = np.random.default_rng(2)
    pictures = []
    for _ in range(60):
        kind = KINDS[int(rng.integers(len(KINDS)))]
        label = Label(kind, f"{kind}/any", bool(rng.random() < 0.4), (50, 60, 12, 9), 60, 25.0, 40.0, 2.0)
        found = Found(kind, float(rng.uniform(0.3, 1.0)), (50.0, 60.0, 12.0, 9.0))
        pictures.append(Picture("k2", "clear", "day", (label,), (found,)))
    pictures.append(Picture("k2", "clear", "day", (), (Found("tent", 0.95, (5.0, 5.0, 9.0, 9.0)),)))
    network = tmp_path / "net.onnx"
    network.write_bytes(b"weights")
    limits = thresholds(pictures)
    return network, card_of(
        "net", network, {"maps": ["k2"]}, limits, reliability(pictures), {}, figures(pictures, limits),
        goal_figures(pictures),
    )  # fmt: skip


def test_backends_read_the_card(card, tmp_path):
    network, made = card
    path = tmp_path / "net.json"
    write_json(path, made)
    read = load_card(path)
    assert read.classes == KINDS
    assert read.sha256 == digest(network)
    assert all(read.threshold(kind) == made["thresholds"][kind] for kind in KINDS)


def test_a_card_without_measurements_can_be_read(tmp_path):
    write_json(tmp_path / "net.json", first_card("net"))
    assert load_card(tmp_path / "net.json").kinds == {kind: kind for kind in KINDS}


def test_the_page_says_what_was_missed_and_what_was_invented(card, tmp_path):
    _, made = card
    made["goals"]["person 0-30 m"] = {"ap50": 0.1, "goal": 0.85, "met": False}
    write_page(tmp_path / "net.md", made, "About.")
    page = (tmp_path / "net.md").read_text()
    assert "| person 0-30 m | 0.100 | >= 0.85 | missed |" in page
    assert made["test"]["false_per_empty_picture"]["tent"] == 1.0
    assert all(f"| {kind} |" in page for kind in KINDS)


def test_the_shipped_card_belongs_to_the_shipped_network():
    folder = resource("models")
    shipped = json.loads((folder / "esar-clues.json").read_text())
    assert shipped["sha256"] == digest(folder / "esar-clues.onnx")
    assert (folder / "esar-clues.onnx").stat().st_size < 11e6
    assert set(load_card(folder / "esar-clues.json").calibration) <= set(KINDS)
    assert "AFFERO" in (folder / "LICENSE").read_text()[:200]
