"""Episode files: read as they are, kept whole, refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import SizeClass
from esar_ros.suites.uav_on.episodes import read_episodes, write_episodes


def good() -> dict[str, Any]:
    return {
        "episode_id": "58",
        "start_pose": {
            "start_position": [10, 20, -30],
            "start_quaternionr": [0, 0, 0.7071067811865476, 0.7071067811865476],
        },
        "info": {"geodesic_distance": 43, "euclidean_distance": 32.8},
        "map_name": "standin_park",
        "true_name": " Bench",
        "object_name": "bench_07",
        "pose": [[30, 1, 3.4], [31, 2, 3]],
        "size": " mid(2.5*2.0=5.0 squares)",
        "description": " A bench.",
        "category": "",
        "used-in-train": 1,
        "new": {"deep": [1, None, "ü"]},
    }


def written(path: Path, *items: Any) -> Path:
    path.write_text(json.dumps(items), encoding="utf-8")
    return path


def test_an_episode_is_read_into_the_map_frame(tmp_path: Path) -> None:
    (entry,) = read_episodes(written(tmp_path / "episodes.json", good()))
    episode = entry.episode
    assert (episode.id, episode.scene) == ("58", "standin_park")
    assert (episode.goal.name, episode.goal.description) == (" Bench", " A bench.")
    assert episode.goal.size_class is SizeClass.MID
    assert (episode.shortest, episode.straight) == (43.0, 32.8)
    assert np.array_equal(episode.targets, [[1.0, 30.0, -3.4], [2.0, 31.0, -3.0]])
    assert np.array_equal(episode.start.position, [20.0, 10.0, 30.0])
    assert episode.start.yaw == pytest.approx(0.0)  # NED yaw of 90 deg is east


def test_a_number_as_id_is_a_name_too(tmp_path: Path) -> None:
    (entry,) = read_episodes(written(tmp_path / "episodes.json", good() | {"episode_id": 58}))
    assert entry.episode.id == "58"


def test_a_file_is_written_back_key_by_key(tmp_path: Path) -> None:
    entries = read_episodes(written(tmp_path / "in.json", good(), good() | {"episode_id": 7}))
    write_episodes(tmp_path / "out.json", entries)
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == [good(), good() | {"episode_id": 7}]


def changed(*path: str | int, to: Any = None, drop: bool = False) -> Callable[[], Any]:
    def item() -> Any:
        data = good()
        place: Any = data
        for part in path[:-1]:
            place = place[part]
        if drop:
            del place[path[-1]]
        else:
            place[path[-1]] = to
        return data

    return item


BROKEN: dict[str, tuple[Callable[[], Any], str]] = {
    "no object": (lambda: 3, "key the episode"),
    "no pose": (changed("pose", drop=True), "key pose: Field required"),
    "empty pose": (changed("pose", to=[]), "key pose: "),
    "flat pose": (changed("pose", to=[1, 2, 3]), "key pose.0"),
    "two numbers": (changed("pose", to=[[1, 2]]), "key pose.0.2"),
    "NaN": (changed("pose", to=[[1, 2, float("nan")]]), "key pose.0.2"),
    "infinity": (changed("info", "geodesic_distance", to=float("inf")), "key info.geodesic_distance"),
    "far away": (changed("start_pose", "start_position", 0, to=1e300), "key start_pose.start_position.0"),
    "huge integer": (changed("start_pose", "start_position", 0, to=10**400), "key start_pose.start_position.0"),
    "text for a number": (changed("info", "euclidean_distance", to="32.8"), "key info.euclidean_distance"),
    "negative length": (changed("info", "geodesic_distance", to=-1), "key info.geodesic_distance"),
    "no rotation": (changed("start_pose", "start_quaternionr", to=[0, 0, 0, 0]), "key start_pose.start_quaternionr"),
    "out of the folder": (changed("map_name", to="../../etc"), "key map_name"),
    "id out of the folder": (changed("episode_id", to="a/b"), "key episode_id"),
    "id as a list": (changed("episode_id", to=["58"]), "key episode_id"),
    "name as a number": (changed("true_name", to=4), "key true_name"),
    "lone surrogate": (changed("description", to="\ud800"), "Invalid JSON"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_episode_is_named_by_file_index_and_key(name: str, tmp_path: Path) -> None:
    item, words = BROKEN[name]
    path = written(tmp_path / "episodes.json", good(), item())
    with pytest.raises(UsageError) as caught:
        read_episodes(path)
    text = str(caught.value)
    assert f"{path}, index 1" in text
    assert words in text
    assert "\n" not in text
    assert len(text) < 600


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{}", "not a list"),
        (b"[{]", "line 1: not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'[{"a": ' + b"[" * 500 + b"]" * 500 + b"}]", "index 0"),
    ],
    ids=["object", "not JSON", "not UTF-8", "deep", "deep unknown key"],
)
def test_a_broken_file_is_one_line(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "episodes.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=words):
        read_episodes(path)


def test_a_file_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "episodes.json"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(UsageError, match="at most"):
        read_episodes(path)
