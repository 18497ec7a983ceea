"""`esar models`: what there is, what a file is, and what is told of files and packages that are lacking."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from esar_ros.app.cli import main
from esar_ros.perception.detectors import backend
from esar_ros.perception.text.prompt_table import TABLE, load_table
from helpers.tiny_onnx import bright_tent, write_detector


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ESAR_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("ESAR_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def model(folder: Path) -> Path:
    path = bright_tent(folder / "tiny.onnx")
    path.with_suffix(".txt").write_text("tent\nperson\n")
    return path


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The one line that a command ends with, with exit code 2."""
    assert main(["models", *map(str, words)]) == 2
    told = capsys.readouterr()
    assert told.err.startswith("esar: ") and told.err.count("\n") == 1
    return told.err


def test_every_detector_is_listed_with_what_it_lacks(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["models", "list"]) == 0
    told = capsys.readouterr().out
    for name in backend.names():
        assert f"{name}: " in told
    assert "yolov8s-worldv2.pt from https://docs.ultralytics.com" in told
    assert "--detector onnx:FILE" in told and str(folder / "models") in told
    card = backend.about("esar_yolo")
    shipped = f"model esar-clues.onnx, digest {card['digest'][:12]}, engine {card['engine']}, card {card['card'][:12]}"
    others = f"second_stage {card['second_stage'][:12]}, pictures {card['pictures'][:12]}"
    assert f"esar_yolo: {shipped}, {others}\n" in told
    assert "segmentation_oracle: needs no file\n" in told


def test_a_misspelt_class_is_told_and_other_classes_are_not(capsys: pytest.CaptureFixture[str], model: Path) -> None:
    model.with_suffix(".txt").write_text("tent\npersn\n")
    assert main(["models", "check", str(model)]) == 0
    warned = [line for line in capsys.readouterr().out.splitlines() if line.startswith("!")]
    assert len(warned) == 1 and "'persn' counts as no kind: did you mean person?" in warned[0]
    model.with_suffix(".txt").write_text("tent\ndog\n")
    assert main(["models", "check", str(model)]) == 0
    assert "!" not in capsys.readouterr().out


def test_a_file_whose_classes_are_no_kinds_is_refused_with_those_that_there_are(
    capsys: pytest.CaptureFixture[str], model: Path
) -> None:
    model.with_suffix(".txt").write_text("dog\npersn\n")
    line = refused(capsys, "check", model)
    assert "(dog, persn) is a kind" in line and "'persn' is perhaps person" in line and "the kinds are tent," in line
    model.with_suffix(".txt").unlink()
    line = refused(capsys, "check", model)
    assert "it names none itself" in line and "tiny.txt" in line and "looks for tent, backpack" in line


def test_a_good_file_is_described(capsys: pytest.CaptureFixture[str], model: Path, folder: Path) -> None:
    out = folder / "check.json"
    assert main(["models", "check", str(model), "--json", str(out)]) == 0
    told = capsys.readouterr().out
    assert "tent: tent, person: person" in told and "It never names: backpack" in told
    found = json.loads(out.read_text())
    assert found["backend"] == "onnx" and found["prompts"] == {"tent": "tent", "person": "person"}
    assert len(found["digest"]) == 64 and set(found["cpu_ms"]) == {"640x480", "320x240"}


def test_a_detector_is_checked_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "check", "segmentation_oracle"]) == 0
    assert "eligible     False" in capsys.readouterr().out


def test_bad_files_are_told_in_one_line(capsys: pytest.CaptureFixture[str], model: Path, folder: Path) -> None:
    assert "there is no model /nowhere.onnx" in refused(capsys, "check", "/nowhere.onnx")
    odd = folder / "weights.bin"
    odd.write_bytes(b"1")
    assert "ends in .onnx, .xml or .pt" in refused(capsys, "check", odd)
    words = folder / "words.txt"
    words.write_text("one\ntwo\nthree\n")
    assert "has 2 classes, not 3" in refused(capsys, "check", model, "--card", words)
    lone = write_detector(folder / "lone.onnx", np.zeros((1, 6, 8), np.float32), np.zeros((1, 6, 8), np.float32))
    assert "nothing says which classes" in refused(capsys, "check", lone)
    model.write_bytes(b"\x08")
    assert "cannot be loaded as a network" in refused(capsys, "check", model)
    assert "cannot write" in refused(capsys, "check", "segmentation_oracle", "--json", folder)
    assert "segmentation_oracle reads no card" in refused(capsys, "check", "segmentation_oracle", "--card", words)


def test_lacking_packages_are_told_with_their_extra(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = folder / "weights.pt"
    assert "there are no weights" in refused(capsys, "export", weights)
    assert "there are no CLIP weights" in refused(capsys, "embed", "--weights", weights)
    weights.write_bytes(b"1")
    monkeypatch.setitem(sys.modules, "ultralytics", None)
    monkeypatch.setitem(sys.modules, "open_clip", None)
    assert "./esar exec pip install 'esar_ros[train]'" in refused(capsys, "export", weights)
    assert "./esar exec pip install 'esar_ros[train]'" in refused(capsys, "check", weights)
    assert "./esar exec pip install 'esar_ros[clip]'" in refused(capsys, "embed", "--weights", weights)
    assert "ends in .onnx" in refused(capsys, "export", weights, "--out", folder / "net.xml")


class Encoder:
    """Stands for CLIP: the words' letters as numbers."""

    name = "letters"

    def __init__(self, model: str, weights: str) -> None:
        assert (model, weights) == ("ViT-B-32-quickgelu", "clip.pt")

    def encode(self, words: tuple[str, ...]) -> dict[str, np.ndarray]:
        return {word: np.full(4, ord(word[0]), np.float32) for word in words}


def test_tables_of_words_grow(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("esar_ros.perception.text.clip_encoder.ClipText", Encoder)
    assert main(["models", "embed", "--weights", "clip.pt"]) == 0
    assert main(["models", "embed", "ice axe", "crampons", "--weights", "clip.pt"]) == 0
    words = load_table(folder / "models" / TABLE)
    assert {"trekking pole", "person", "ice axe", "crampons"} < set(words)
    assert words["person"] == pytest.approx([0.5] * 4)
    assert "2 words made, 15 in it" in capsys.readouterr().out
