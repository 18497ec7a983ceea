"""The data set on disk: same seed, same bytes; drawn once; labels that fit its pictures."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import PRESETS
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.training.assess import frame_of
from esar_ros.training.labels import Label, wanted
from esar_ros.training.render import CROP, SMALL, read_frame, read_meta, render_split

SCENES, SHOTS = 2, 3


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pytest.importorskip("moderngl")
    root = tmp_path_factory.mktemp("data")
    return root, list(render_split(root, "train", ("k2",), SCENES, SHOTS))


def _bytes(root: Any) -> Any:
    return {path.relative_to(root): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_one_seed_one_data_set_and_an_ended_run_goes_on(drawn: Any, tmp_path: Path) -> None:
    root, scenes = drawn
    assert [name for name, _ in scenes] == ["k2-0000", "k2-0001"]
    first = list(render_split(tmp_path, "train", ("k2",), 1, SHOTS))  # ended after one scene
    rest = list(render_split(tmp_path, "train", ("k2",), SCENES, SHOTS))
    assert first + rest == scenes
    assert _bytes(tmp_path) == _bytes(root)
    assert list(render_split(tmp_path, "train", ("k2",), SCENES, SHOTS)) == []


def test_a_folder_of_another_seed_is_refused(drawn: Any, tmp_path: Path) -> None:
    root, _ = drawn
    shutil.copytree(root, tmp_path / "other")
    with pytest.raises(UsageError, match="seed 2026; this is"):
        list(render_split(tmp_path / "other", "train", ("k2",), SCENES, SHOTS, seed=1))


def test_pictures_labels_and_meta_tell_the_same(drawn: Any) -> None:
    root, _ = drawn
    pictures = read_meta(root, "train")
    assert pictures
    assert any(picture["labels"] for picture in pictures)
    for picture in pictures:
        image = cv2.imread(str(root / "train" / "images" / f"{picture['name']}.png"))
        assert image.shape == (CROP, CROP, 3)
        labels = [Label.of_json(label) for label in picture["labels"]]
        lines = (root / "train" / "labels" / f"{picture['name']}.txt").read_text().splitlines()
        assert len(lines) == sum(wanted(label) for label in labels)
        for line in lines:
            x, y, w, h = (float(part) for part in line.split()[1:])
            assert 0.0 <= x - w / 2 + 1e-5
            assert x + w / 2 <= 1.0 + 1e-5
            assert 0.0 <= y - h / 2 + 1e-5
            assert y + h / 2 <= 1.0 + 1e-5
        for label in labels:
            assert 1 <= label.pixels <= label.box[2] * label.box[3]


def test_whole_frames_keep_their_depth(tmp_path: Path) -> None:
    pytest.importorskip("moderngl")
    ((scene, count),) = render_split(tmp_path, "empty-val", ("k2",), 1, 2)
    assert (scene, count) == ("k2-0000", 2)
    folder = tmp_path / "empty-val"
    for picture in read_meta(tmp_path, "empty-val"):
        assert picture["labels"] == []
        rgb, depth = read_frame(tmp_path, "empty-val", picture["name"])
        assert rgb.shape == (480, 640, 3) and depth.shape == (480, 640) and depth.dtype == np.float32
        near = depth[np.isfinite(depth)]
        assert near.size > 0.2 * depth.size and 0.5 < near.min() and near.max() <= load_vehicle().image.depth_max
        again = cv2.imread(str(folder / "images" / f"{picture['name']}.png"))[..., ::-1]
        assert np.array_equal(rgb, again)
    (folder / "depth" / "k2-0000-01a.png").unlink()
    with pytest.raises(UsageError, match="k2-0000-01a has no picture or no depth"):
        read_frame(tmp_path, "empty-val", "k2-0000-01a")


def test_small_frames_are_of_the_size_that_fast_missions_fly() -> None:
    assert SMALL == PRESETS["fast"]


@pytest.mark.full
def test_a_small_flight_has_small_frames_of_nothing(tmp_path: Path) -> None:
    pytest.importorskip("moderngl")
    assert [scene for scene in render_split(tmp_path, "small-flights-val", ("k2",), 1, 2)] == [("k2-0000", 2)]
    for picture in read_meta(tmp_path, "small-flights-val"):
        assert picture["labels"] == []
        frame = frame_of(tmp_path, "small-flights-val", picture["name"])
        assert frame.rgb.shape == (240, 320, 3) and frame.depth.shape == (240, 320)
        assert (frame.model.width, frame.model.height) == SMALL


def test_a_folder_without_pictures_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no pictures"):
        read_meta(tmp_path, "train")


def test_meta_says_under_which_sky(drawn: Any) -> None:
    root, _ = drawn
    meta = json.loads((root / "train" / "meta" / "k2-0000.json").read_text())
    assert {"seed", "map", "weather", "light", "local_time", "pictures"} <= set(meta)
    assert np.isfinite([label["range"] for p in meta["pictures"] for label in p["labels"]]).all()
