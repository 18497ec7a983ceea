"""Draws the detector's data set: scenes as the missions' cameras see them, labels from exact ids. Resumable.

A split lies in <root>/<split>/: images/*.png (crops of native pixels for training, whole frames else), labels/*.txt
in Ultralytics' format, depth/*.png of whole frames (16 bits), meta/<scene>.json with every object's pixels, range,
contrast and the scene's conditions.
A scene's meta file is written last, so that a scene is either whole or drawn again.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.errors import UsageError
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.world.environment import Environment
from esar_ros.sim.world.world import World
from esar_ros.suites.esarbench.deployer import stands_upright
from esar_ros.suites.esarbench.tasks.ground import site as site_of
from esar_ros.training.labels import Label, Thing, labels_of, wanted, yolo_lines
from esar_ros.training.scenes import SEED, SPLITS, Scene, Shot, draw_scene

CROP = 256  # px, side of a training image
SMALL = (320, 240)  # px, of a small split's frames: those of missions with --preset fast
_SCHEMA = "esar-detector-data/2"
_BORDER = 8  # px between a target and its crop's edge, where the frame allows
_SECOND = 0.35  # chance of a second crop about another object
_NEGATIVE = 0.22  # chance that an image without a visible target is kept
_PNG = [cv2.IMWRITE_PNG_COMPRESSION, 3]
_DEPTH_STEPS = 500.0  # a metre, of a depth image; its greatest number means nothing in reach
_NO_DEPTH = 65535


def render_split(
    root: Path, split: str, maps: Sequence[str], scenes: int, shots: int, seed: int = SEED
) -> Iterator[tuple[str, int]]:
    """Draw what is missing of a split: `scenes` a map with `shots` images each. Yields (scene, images) as they end.

    Raises UsageError where the folder holds a data set of another schema or seed, or there is no OpenGL.
    """
    folder = root / split
    for part in ("images", "labels", "depth", "meta"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for known in sorted((folder / "meta").glob("*.json"))[:1]:
        held = json.loads(known.read_text())
        if (held.get("schema"), held.get("seed")) != (_SCHEMA, seed):
            raise UsageError(
                f"{folder} holds a data set {held.get('schema')}, seed {held.get('seed')}; this is {_SCHEMA}, {seed}",
                "delete it, or give another folder (--data)",
            )
    for map_id in maps:
        missing = [n for n in range(scenes) if not (folder / "meta" / f"{map_id}-{n:04d}.json").exists()]
        if missing:
            yield from _render_map(folder, split, map_id, missing, shots, seed)


def read_meta(root: Path, split: str) -> list[dict[str, Any]]:
    """Every image of a split with its scene's conditions, by name. Raises UsageError where there is none."""
    images: list[dict[str, Any]] = []
    for path in sorted((root / split / "meta").glob("*.json")):
        scene = json.loads(path.read_text())
        shared = {key: scene[key] for key in ("map", "weather", "light")}
        images += [shared | entry for entry in scene["pictures"]]
    if not images:
        raise UsageError(f"{root / split}: no pictures of a detector's data set", "draw them: esar train-detector")
    return images


def _render_map(
    folder: Path, split: str, map_id: str, numbers: Sequence[int], shots: int, seed: int
) -> Iterator[tuple[str, int]]:
    rig, site = load_vehicle(), site_of(map_id)
    if SPLITS[split].small:
        rig = rig.with_image_size(*SMALL)
    world = World(site.place, seed)
    image, renderers = rig.image, dict[str, Renderer]()
    try:
        for number in numbers:
            scene = draw_scene(SPLITS[split], site, rig, number, shots, seed)
            if scene.quality not in renderers:
                renderers[scene.quality] = Renderer(
                    world, image.width, image.height, math.radians(image.fov_deg), quality=scene.quality
                )
            rng = np.random.default_rng([seed, SPLITS[split].number, number, 77])
            images = _draw(folder, scene, world, renderers[scene.quality], split == "train", rng)
            meta = {
                "schema": _SCHEMA,
                "seed": seed,
                "scene": scene.id,
                "map": map_id,
                "weather": scene.weather.value,
                "light": scene.light,
                "local_time": scene.local_time.isoformat(),
                "quality": scene.quality,
                "pictures": images,
            }
            _write(folder / "meta" / f"{scene.id}.json", json.dumps(meta, separators=(",", ":")).encode())
            yield scene.id, len(images)
    finally:
        for renderer in renderers.values():
            renderer.close()


def _draw(
    folder: Path, scene: Scene, world: World, renderer: Renderer, crops: bool, rng: np.random.Generator
) -> list[dict[str, Any]]:
    rig = load_vehicle()
    world.environment = Environment(
        weather=scene.weather, local_time=scene.local_time, wind=np.array([*scene.wind, 0.0])
    )
    things: dict[int, Thing] = {}
    by_index: dict[int, int] = {}
    for index, placed in enumerate(scene.things):
        upright = stands_upright(placed.entry.asset)
        pose = (world.ground_pose if upright else world.resting_pose)(placed.xy, placed.yaw)
        thing = world.spawn(f"thing-{index}", placed.entry.asset, pose)
        by_index[index] = thing.id
        if placed.entry.kind != "distractor":
            x, y, z = (float(v) for v in pose.position)
            things[thing.id] = Thing(placed.entry.kind, placed.entry.asset, placed.entry.held_out, (x, y, z))
    images = []
    try:
        for k, shot in enumerate(scene.shots):
            camera = shot.body.compose(rig.cameras[shot.camera].pose)
            frame = renderer.render([camera], shot.time)
            rgb, ids = frame.rgb[0], frame.ids[0]
            parts = _windows(ids, rgb, things, camera.position, shot, by_index, rng) if crops else [(0, 0)]
            side = (CROP, CROP) if crops else ids.shape
            for n, (top, left) in enumerate(parts):
                view = np.s_[top : top + side[0], left : left + side[1]]
                name = f"{scene.id}-{k:02d}{'ab'[n]}"
                labels = labels_of(ids[view], rgb[view], things, camera.position)
                images.append(_save(folder, name, rgb[view], labels, shot))
                if not crops:
                    _write(
                        folder / "depth" / f"{name}.png", _encoded(name, _packed(frame.depth[0], rig.image.depth_max))
                    )
    finally:
        for index in range(len(scene.things)):
            world.destroy(f"thing-{index}")
    return images


def _windows(
    ids: NDArray[np.uint8],
    rgb: NDArray[np.uint8],
    things: dict[int, Thing],
    eye: NDArray[np.float64],
    shot: Shot,
    by_index: dict[int, int],
    rng: np.random.Generator,
) -> list[tuple[int, int]]:
    """Corners (top, left) of the crops worth keeping: about the target, about another object, or of nothing at all."""
    shown = [label for label in labels_of(ids, rgb, things, eye) if wanted(label)]
    asset = things[by_index[shot.target]].asset if shot.target is not None else ""
    aimed = [label for label in shown if label.asset == asset]
    if not aimed:
        return [_corner(ids.shape, None, rng)] if rng.random() < _NEGATIVE else []
    corners = [_corner(ids.shape, aimed[0], rng)]
    rest = [label for label in shown if label is not aimed[0] and not _inside(label, corners[0])]
    if rest and rng.random() < _SECOND:
        corners.append(_corner(ids.shape, rest[int(rng.integers(len(rest)))], rng))
    return corners


def _corner(shape: tuple[int, ...], label: Label | None, rng: np.random.Generator) -> tuple[int, int]:
    first, last = [0, 0], [shape[0] - CROP, shape[1] - CROP]
    if label is not None:
        x, y, w, h = label.box
        for axis, (start, length) in enumerate(((y, h), (x, w))):
            if length + 2 * _BORDER <= CROP:
                low = min(max(0, start + length + _BORDER - CROP), last[axis])
                high = max(min(last[axis], start - _BORDER), low)
            else:
                low = high = min(max(0, start + length // 2 - CROP // 2), last[axis])
            first[axis], last[axis] = low, high
    return int(rng.integers(first[0], last[0] + 1)), int(rng.integers(first[1], last[1] + 1))


def _inside(label: Label, corner: tuple[int, int]) -> bool:
    x, y, w, h = label.box
    top, left = corner
    return left <= x and top <= y and x + w <= left + CROP and y + h <= top + CROP


def _save(folder: Path, name: str, rgb: NDArray[np.uint8], labels: tuple[Label, ...], shot: Shot) -> dict[str, Any]:
    height, width = rgb.shape[:2]
    _write(folder / "images" / f"{name}.png", _encoded(name, np.ascontiguousarray(rgb[..., ::-1])))
    text = yolo_lines([label for label in labels if wanted(label)], width, height)
    _write(folder / "labels" / f"{name}.txt", text.encode())
    return {"name": name, "camera": shot.camera, "labels": [label.as_json() for label in labels]}


def read_frame(root: Path, split: str, name: str) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """A whole frame's colour (H, W, 3) and planar depth (H, W) m, +inf where nothing is in reach. Raises UsageError."""
    folder = root / split
    image = cv2.imread(str(folder / "images" / f"{name}.png"), cv2.IMREAD_COLOR)
    steps = cv2.imread(str(folder / "depth" / f"{name}.png"), cv2.IMREAD_UNCHANGED)
    if image is None or steps is None or steps.dtype != np.uint16 or steps.shape != image.shape[:2]:
        raise UsageError(f"{folder}: {name} has no picture or no depth", "draw the split again: esar train-detector")
    depth = np.where(steps == _NO_DEPTH, np.inf, steps / _DEPTH_STEPS).astype(np.float32)
    return np.ascontiguousarray(image[..., ::-1]).astype(np.uint8), depth


def _packed(depth: NDArray[np.float32], reach: float) -> NDArray[np.uint16]:
    """Planar depth in steps; beyond the sensor's reach (m) there is none."""
    seen = depth <= reach
    return np.where(seen, np.rint(np.where(seen, depth, 0.0) * _DEPTH_STEPS), _NO_DEPTH).astype(np.uint16)


def _encoded(name: str, pixels: NDArray[Any]) -> bytes:
    done, data = cv2.imencode(".png", pixels, _PNG)
    if not done:
        raise UsageError(f"{name}: the picture cannot be encoded", "reinstall opencv-python-headless")
    return data.tobytes()


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all."""
    part = path.with_suffix(path.suffix + ".part")
    try:
        part.write_bytes(data)
        os.replace(part, path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", "free the disk, or choose another folder") from None
