"""Scenes: a map, what is put on it, and the episodes that are flown in it; found by the name of a set or of a scene.

A set is a function without arguments that gives its scenes, in the order in which they are flown; `SETS` names its
module. Scenery belongs to the map; objects are what an episode may be about and what may be mistaken for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.run_conditions import digest
from esar_ros.scoring.truth import Point
from esar_ros.suites.uav_on.episodes import EpisodeEntry, read_episodes

# Name: module and function, imported when asked for; sets that are read from files before those that are made.
SETS: dict[str, tuple[str, str]] = {
    "mini": ("esar_ros.suites.uav_on.stand_ins.shipped", "mini"),
    "test": ("esar_ros.suites.uav_on.stand_ins.shipped", "test"),
    "smoke": ("esar_ros.suites.uav_on.smoke", "scenes"),
}


@dataclass(frozen=True)
class PlacedObject:
    """An object of a scene; map frame."""

    name: str  # within its scene
    asset: str
    words: str  # what a witness would call it: a label for agents that are told the truth
    position: Point  # m
    quaternion: tuple[float, float, float, float]  # (w, x, y, z)
    scale: float = 1.0


@dataclass(frozen=True)
class Scene:
    """A map with objects, and its episodes. Episodes' `map_name` is the scene's name."""

    name: str
    map: str  # id
    split: str  # dev or test
    objects: tuple[PlacedObject, ...]
    episodes: tuple[EpisodeEntry, ...]

    @cached_property
    def digest(self) -> str:
        """Of the objects and the map's id; the map's ground has a digest of its own."""
        return digest({"map": self.map, "objects": [asdict(placed) for placed in self.objects]})


@dataclass(frozen=True)
class FlownTask:
    """One episode and its scene."""

    id: str  # of the task: SCENE-EPISODE
    scene: Scene
    entry: EpisodeEntry

    @property
    def digest(self) -> str:
        """Of the episode and of the scene."""
        return digest({"episode": dict(self.entry.document), "scene": self.scene.digest})


@cache
def scenes_of(name: str) -> tuple[Scene, ...]:
    """The scenes of a set. Raises UsageError."""
    module, function = SETS[name]
    made: tuple[Scene, ...] = getattr(import_module(module), function)()
    return made


def task_ids(name: str) -> tuple[str, ...]:
    """Ids of a set's tasks, one of each scene after another, so that any first part of them is balanced."""
    rows = [[task_id(scene, entry) for entry in scene.episodes] for scene in scenes_of(name)]
    longest = max(map(len, rows), default=0)
    return tuple(row[place] for place in range(longest) for row in rows if place < len(row))


def task_id(scene: Scene, entry: EpisodeEntry) -> str:
    """Names an episode among those of all scenes."""
    return f"{scene.name}-{entry.episode.id}"


def find_task(task: str, elsewhere: bool = False) -> FlownTask:
    """A task by its id, or by FILE.json#EPISODE. Raises UsageError.

    elsewhere: a file's episodes may be in scenes that are not here; then nothing is known of these.
    """
    path, mark, id = task.rpartition("#")
    if mark:
        entry = _entries(Path(path)).get(id)
        if entry is None:
            raise UsageError(f"{path} holds no episode '{id}'", "name one of its episode_id")
        try:
            scene = find_scene(entry.episode.scene)
        except UsageError:
            if not elsewhere:
                raise
            scene = Scene(entry.episode.scene, "", "test", (), (entry,))
        return FlownTask(task_id(scene, entry), scene, entry)
    for name in SETS:
        for scene in scenes_of(name):
            for entry in scene.episodes:
                if task_id(scene, entry) == task:
                    return FlownTask(task, scene, entry)
    raise UsageError(
        f"no scene has a task '{task}'", f"give a set ({', '.join(SETS)}), ids of tasks, or an episode file"
    )


def find_scene(name: str) -> Scene:
    """A scene of any set by name. Raises UsageError."""
    known: list[str] = []
    for set_name in SETS:
        for scene in scenes_of(set_name):
            if scene.name == name:
                return scene
            known.append(scene.name)
    raise UsageError(f"unknown scene '{name}'", suggest(name, sorted(known)))


def tasks_of_file(path: str) -> tuple[str, ...]:
    """Names of the tasks of a file of episodes, as `find_task` takes them. Raises UsageError."""
    return tuple(f"{path}#{id}" for id in _entries(Path(path)))


@cache
def _entries(path: Path) -> Mapping[str, EpisodeEntry]:
    entries = read_episodes(path)
    by_id: dict[str, Any] = {entry.episode.id: entry for entry in entries}
    if len(by_id) < len(entries):
        raise UsageError(f"{path}: two episodes have the same episode_id", "number them anew")
    return by_id
