"""The second stage's examples: which proposals show what, and that they are taken once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.mission.clues import KINDS
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.detectors.second_stage import CHANNELS, OWN_FEATURES, SIDE, shifted
from esar_ros.perception.detectors.yolo_file import YoloFile
from esar_ros.training.examples import IGNORED, NOTHING, Examples, collect, of_frame
from esar_ros.training.labels import Label
from esar_ros.training.render import _DEPTH_STEPS, _encoded  # a data set is written by hand here
from helpers.tiny_onnx import write_detector

SEEN = [(100, 100, 40, 20), (300, 100, 40, 20), (500, 100, 40, 20), (100, 300, 40, 20)]  # x, y, width, height


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Proposes four boxes in every picture, each as a tent of score 0.6."""
    base = np.zeros((1, 4 + len(KINDS), len(SEEN)), np.float32)
    for n, (x, y, width, height) in enumerate(SEEN):
        base[0, :5, n] = x + width / 2, y + height / 2, width, height, 0.6
    path = write_detector(tmp_path / "four.onnx", base, np.zeros_like(base))
    path.with_suffix(".json").write_text(
        json.dumps({"schema": "esar-detector/1", "name": "four", "classes": list(KINDS), "stride": 16})
    )
    return path


def network(model: Path) -> YoloFile:
    return YoloFile("onnx", {"model": str(model)})


def frame(depth: float = 20.0) -> CameraFrame:
    grey = np.full((480, 640, 3), 90, np.uint8)
    return CameraFrame("front", load_vehicle().image.model, Pose(), np.full((480, 640), depth, np.float32), grey, 0.0)


def label(kind: str, box: tuple[int, int, int, int], pixels: int = 300) -> Label:
    return Label(kind, f"{kind}/any", False, box, pixels, 20.0, 40.0, 2.0)


LABELS = [
    label("person", (102, 100, 40, 20)),  # the first box's
    label("rope", (300, 100, 10, 20)),  # a part of the second's: neither an example of it nor of nothing
    label("tent", (400, 400, 40, 20)),  # that nothing is proposed for
]
PERSON = KINDS.index("person")


def taken(model: Path, seen: CameraFrame, labels: list[Label], scale: float = 1.0, seed: int = 0) -> Examples:
    return of_frame(network(model), seen, labels, scale, np.random.default_rng(seed))


def test_proposals_are_of_what_they_overlap_or_of_nothing(model: Path) -> None:
    made = taken(model, frame(), LABELS)
    assert made.targets.tolist() == [PERSON, NOTHING, NOTHING, PERSON], "the last is the first, moved"
    assert made.crops.shape == (4, CHANNELS, SIDE, SIDE) and made.features.shape == (4, OWN_FEATURES + len(KINDS))
    assert np.exp(made.features[:, 0]) == pytest.approx(20.0)
    assert np.isnan(made.shifts[1:3]).all()
    assert made.shifts[0] == pytest.approx([2 / 40, 0.0, 0.0, 0.0])


def test_the_moved_one_is_seen_where_it_is_and_knows_the_way_back(model: Path) -> None:
    for seed in range(5):
        made = taken(model, frame(), LABELS, seed=seed)
        if len(made.targets) < 4:
            continue  # moved so far that it shows the person no more
        sides = np.exp(made.features[3, 3:5])
        assert not np.allclose(sides, (40.0, 20.0)), "its numbers are of the moved box"
        back = shifted(np.array([[0.0, 0.0, *sides]]), made.shifts[3:].astype(np.float64))[0]
        assert back[2:] - back[:2] == pytest.approx((40.0, 20.0), rel=1e-4)
        assert (np.abs(back[:2] + back[2:] - sides) / 2.0 <= (12.0, 5.0)).all(), "a quarter of a side, and 2 px"
    one, other = (vars(taken(model, frame(), LABELS, seed=3)) for _ in range(2))
    assert all(np.array_equal(value, other[name], equal_nan=True) for name, value in one.items())


@pytest.mark.parametrize(
    ("box", "first"),
    [
        ((100, 100, 40, 8), PERSON),  # IoU 0.4
        ((100, 100, 20, 40), PERSON),  # IoU 1/3
        ((100, 100, 80, 60), IGNORED),  # IoU 1/6, pointed at: an example of where, not of what
        ((110, 100, 5, 5), None),  # IoU 1/32, not pointed at: neither
        ((115, 105, 6, 8), None),  # IoU 0.06, pointed at: neither
        ((0, 0, 5, 5), NOTHING),
    ],
)
def test_a_box_shows_an_object_that_it_can_be_moved_onto(
    model: Path, box: tuple[int, int, int, int], first: int | None
) -> None:
    made = taken(model, frame(), [label("person", box)])
    firsts = [] if first is None else [first]
    assert made.targets[: 3 + len(firsts)].tolist() == [*firsts, *[NOTHING] * 3]
    assert np.isfinite(made.shifts[0]).all() == (first in (PERSON, IGNORED))


def test_labels_fit_a_picture_of_half_their_size(model: Path) -> None:
    halves = [replace(one, box=tuple(2 * side for side in one.box)) for one in LABELS]  # type: ignore[arg-type]
    assert taken(model, frame(), halves, 0.5).targets.tolist() == [PERSON, NOTHING, NOTHING, PERSON]


def test_without_depth_or_proposals_there_are_no_examples(model: Path) -> None:
    blind = taken(model, frame(np.inf), LABELS)
    assert len(blind.targets) == len(blind.crops) == len(blind.features) == len(blind.shifts) == 0
    deaf = network(model)
    deaf.set_prompts({"rope": "rope"})
    assert len(of_frame(deaf, frame(), LABELS, 1.0, np.random.default_rng(0)).targets) == 0


def test_a_splits_examples_are_taken_once_and_by_map(model: Path, tmp_path: Path) -> None:
    folder = _split(tmp_path, "views", "00")
    told: list[int] = []
    first = collect(model, tmp_path, "views", ["k2"], told.append)
    assert len(first.targets) == 4 and told == [1]
    (folder / "images" / "k2-0000-00a.png").unlink()  # kept: not looked at again
    both = collect(model, tmp_path, "views", ["k2", "aotai"], told.append)
    assert len(both.targets) == 8 and len(told) == 2
    assert len(Examples.joined([first, both]).targets) == 12


def test_every_second_frame_is_seen_in_half_size_too_but_small_ones(model: Path, tmp_path: Path) -> None:
    seen = {}
    for split, shot in (("views", "00"), ("views", "01"), ("small-views", "01")):
        _split(tmp_path / shot, split, shot)
        made = collect(model, tmp_path / shot, split, ["k2"], lambda _: None)
        seen[split, shot] = len(made.targets)
    assert seen["views", "00"] == seen["small-views", "01"] == 4
    assert seen["views", "01"] > 4


def _split(root: Path, split: str, shot: str) -> Path:
    """A data set of one picture each of two maps, by hand."""
    folder = root / split
    for part in ("images", "depth", "meta"):
        (folder / part).mkdir(parents=True)
    for scene, map_id in (("k2-0000", "k2"), ("aotai-0000", "aotai")):
        name = f"{scene}-{shot}a"
        grey, depth = np.full((480, 640, 3), 90, np.uint8), np.full((480, 640), 20 * _DEPTH_STEPS, np.uint16)
        (folder / "images" / f"{name}.png").write_bytes(_encoded(name, grey))
        (folder / "depth" / f"{name}.png").write_bytes(_encoded(name, depth))
        image = {"name": name, "camera": "front", "labels": [one.as_json() for one in LABELS]}
        meta = {"map": map_id, "weather": "clear", "light": "day", "pictures": [image]}
        (folder / "meta" / f"{scene}.json").write_text(json.dumps(meta))
    return folder
