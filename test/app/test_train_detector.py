"""`esar train-detector`: what cannot work is told in one line before anything is drawn."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, NoReturn

import pytest

from esar_ros.app import train_detector
from esar_ros.mission.errors import UsageError


@pytest.fixture(autouse=True)
def nothing_is_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def draw(*_: Any) -> NoReturn:
        raise AssertionError("something was drawn")

    monkeypatch.setattr(train_detector, "render_split", draw)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--left-out", "moon"], "moon"),
        (["--maps", "k2,mars"], "mars"),
        (["--maps", "k2", "--left-out", "k2"], "no map is left"),
        (["--epochs", "many"], "many"),
        (["--cpu", "--gpu"], "not allowed"),
    ],
)
def test_bad_arguments(arguments: Any, words: Any) -> None:
    with pytest.raises(UsageError, match=words):
        train_detector.main(arguments)


@pytest.mark.parametrize("package", ["torch", "ultralytics", "onnx"])
def test_without_a_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, package: Any) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(UsageError, match=r"esar_ros\[train\]"):
        train_detector.main(["--maps", "k2"])


@pytest.mark.parametrize(("flags", "device"), [([], "cpu"), (["--cpu"], "cpu"), (["--gpu"], "cuda:0")])
def test_both_stages_train_on_the_device_that_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, flags: Any, device: Any
) -> None:
    """By torch's own name of it: it knows no device '0'."""
    asked = []

    def first(_data: Any, out: Any, recipe: Any, _start: Any) -> Any:
        asked.append(recipe.device)
        out.mkdir()
        (out / "last.pt").touch()
        return out / "last.pt"

    monkeypatch.setattr(train_detector, "render_split", lambda *_: iter(()))
    monkeypatch.setattr(train_detector, "require", lambda *_: None)
    monkeypatch.setattr(train_detector, "write_data_file", lambda *_: tmp_path / "data.yaml")
    monkeypatch.setattr(train_detector, "train", first)
    monkeypatch.setattr(train_detector, "export", lambda *_: None)
    monkeypatch.setattr(train_detector, "_calibration_images", lambda *_: [])
    monkeypatch.setattr(train_detector, "quantise", lambda *_: None)
    monkeypatch.setattr(train_detector, "collect", lambda *_: None)
    monkeypatch.setattr(train_detector.Examples, "joined", lambda _: None)
    monkeypatch.setattr(train_detector, "train_second", lambda *_, device, **__: asked.append(device))
    monkeypatch.setattr(train_detector, "export_second", lambda *_: None)
    folders = ["--data", str(tmp_path), "--out", str(tmp_path / "out")]
    assert train_detector.main(["--until", "second", *folders, *flags]) == 0
    assert asked == [device, device]


def test_the_map_left_out_is_tested_on_and_not_drawn_for_training(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drawn = []

    def draw(_root: Any, split: Any, maps: Any, *_: Any) -> Any:
        drawn.append((split, tuple(maps)))
        return iter(())

    monkeypatch.setattr(train_detector, "render_split", draw)
    assert train_detector.main(["--left-out", "k2", "--until", "data", "--data", str(tmp_path)]) == 0
    learnt = ("aotai", "dapeng", "lop_nur")
    assert [(split, tuple(sorted(maps))) for split, maps in drawn] == [
        ("train", learnt), ("val", learnt), ("test", ("k2",)),
        ("views", learnt), ("empty", learnt), ("empty-val", learnt), ("empty-test", ("k2",)),
        ("flights", learnt), ("flights-val", learnt), ("small-views", learnt), ("small-empty", learnt),
        ("small-flights", learnt), ("small-flights-val", learnt), ("small-val", learnt),
    ]  # fmt: skip


def test_it_says_first_what_it_costs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(train_detector, "render_split", lambda *_: iter(()))
    monkeypatch.setattr(train_detector, "SCENES", {name: (10, 20) for name in train_detector.SCENES})
    assert train_detector.main(["--maps", "k2,aotai", "--until", "data", "--data", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "about 14 CPU minutes to draw 5600 pictures; what is there already is kept\n"
    assert train_detector._cost(train_detector.SCENES, ["k2"], ["k2"], 3, 3) == (
        "about 7 CPU minutes to draw 2800 pictures, 0 for 3 epochs (or what --hours says), 3 for the second stage; "
        "what is there already is kept"
    )


def test_a_card_says_what_its_network_has_seen() -> None:
    assert "Licence" in train_detector._about(("k2", "aotai"), ("k2", "aotai"))
    measured = train_detector._about(("aotai", "lop_nur"), ("k2",))
    assert "not to be flown" in measured and "aotai, lop_nur alone, and tested on k2" in measured
    assert "all four maps" not in measured


def test_a_card_counts_the_scenes_that_were_drawn(tmp_path: Path) -> None:
    """Whatever this call's --share says: pictures of earlier ones are learned from, too."""
    for split, names in (("train", ("k2-0000", "k2-0001", "aotai-0000")), ("test", ("k2-0000", "aotai-0000"))):
        (tmp_path / split / "meta").mkdir(parents=True)
        for name in names:
            (tmp_path / split / "meta" / f"{name}.json").touch()
    counted = train_detector._scenes(tmp_path, ("aotai",), ("k2",))
    assert (counted["train"], counted["test"], counted["views"]) == (1, 1, 0)
