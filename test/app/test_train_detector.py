"""`esar train-detector`: what cannot work is told in one line before anything is drawn."""

import importlib.util

import pytest

from esar_ros.app import train_detector
from esar_ros.mission.errors import UsageError


@pytest.fixture(autouse=True)
def nothing_is_drawn(monkeypatch, tmp_path):
    def draw(*_):
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
def test_bad_arguments(arguments, words):
    with pytest.raises(UsageError, match=words):
        train_detector.main(arguments)


def test_without_torch_it_says_what_to_install(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else found(name))
    with pytest.raises(UsageError, match=r"esar_ros\[train\]"):
        train_detector.main(["--maps", "k2"])


def test_the_map_left_out_is_tested_on_and_not_drawn_for_training(monkeypatch, tmp_path):
    drawn = []

    def draw(_root, split, maps, *_):
        drawn.append((split, tuple(maps)))
        return iter(())

    monkeypatch.setattr(train_detector, "render_split", draw)
    assert train_detector.main(["--left-out", "k2", "--until", "data", "--data", str(tmp_path)]) == 0
    learnt = ("aotai", "dapeng", "lop_nur")
    assert [(split, tuple(sorted(maps))) for split, maps in drawn] == [
        ("train", learnt), ("val", learnt), ("test", ("k2",)),
        ("views", learnt), ("empty", learnt), ("empty-val", learnt), ("empty-test", ("k2",)),
    ]  # fmt: skip
