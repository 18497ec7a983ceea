"""Shipped sets of episodes in settlements, read from config/tasks/uav-on: scenes and episodes with their checksums."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.world.scene import SceneObject
from esar_ros.suites.uav_on.episodes import read_episodes
from esar_ros.suites.uav_on.scenes import PlacedObject, Scene

TASKS = "config/tasks"
DIRECTORY = f"{TASKS}/uav-on"
INDEX = "index.json"
_CURE = "python -m esar_ros.suites.uav_on.stand_ins.generator makes them anew"


def mini() -> tuple[Scene, ...]:
    """24 episodes of the dev split, six in each settlement."""
    return shipped("mini")


def test() -> tuple[Scene, ...]:
    """400 episodes of the test split, a hundred in each settlement."""
    return shipped("test")


def shipped(name: str) -> tuple[Scene, ...]:
    """The scenes of a set. Raises UsageError where a file is not as it was made."""
    folder = resource(DIRECTORY)
    listed = json.loads((folder / INDEX).read_text(encoding="utf-8"))["sets"][name]
    return tuple(_scene(folder, item) for item in listed)


def checksum(text: str) -> str:
    """Hexadecimal SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()


def _scene(folder: Path, item: Mapping[str, Any]) -> Scene:
    paths: dict[str, Path] = {}
    for name, told in item["files"].items():
        path = folder / name
        if not path.is_file() or checksum(path.read_text(encoding="utf-8")) != told:
            raise UsageError(f"{path}: not the file that was shipped", _CURE)
        paths[name.split(".")[-2]] = path
    content = json.loads(paths["scene"].read_text(encoding="utf-8"))
    objects = tuple(
        PlacedObject(one["name"], one["asset"], one["words"], tuple(one["position"]), tuple(one["quaternion"]))
        for one in content["objects"]
    )
    return Scene(content["name"], content["map"], content["split"], objects, read_episodes(paths["episodes"]))


def scene_document(
    name: str, place: PlaceMap, split: str, things: Sequence[SceneObject], episodes: list[dict[str, Any]]
) -> dict[str, Any]:
    """A scene as its two files have it. map_digest: of the ground and the plan that it was made for."""
    objects = [
        {
            "name": thing.name,
            "asset": thing.asset.name,
            "words": thing.asset.variant.description,
            "position": [round(float(v), 4) for v in thing.pose.position],
            "quaternion": [round(float(v), 6) for v in thing.pose.quaternion],
        }
        for thing in things
    ]
    scene = {"schema": "uav-on-scene/1", "name": name, "map": place.id, "map_digest": place.digest, "split": split}
    return {"scene": scene | {"objects": objects}, "episodes": episodes}
