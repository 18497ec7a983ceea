"""Files of walked tracks, and the track that an episode is compared with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import Animation, Head, WalkAction
from esar_ros.suites.rescuebench.files.tracks import FOLDER, References, read_tracks, write_tracks
from helpers.rescuebench import LOST, RESCUED, a_point, walk, write_checkout

LINE: dict[str, Any] = {
    "env_id": "UnrealRescue-Somewhere", "level": 1, "episode_id": 7, "result": "success", "elapsed_sec": 0.5,
    "steps": 1, "fps": 2.0, "trajectory": [
        {"step": 0, "x": 100.0, "y": 50.0, "z": 190, "roll": 0, "yaw": 90.0, "pitch": 0, "picked": False,
         "reward": 0.0, "timestamp": 0.0},
        {"step": 1, "x": 200.0, "y": 50.0, "z": 90, "roll": 0, "yaw": 80.0, "pitch": 0, "picked": True,
         "action": {"move": [-30.0, 200.0], "head": 1, "anim": 3}, "reward": 0.5, "timestamp": 0.25},
    ],
}  # fmt: skip


def test_a_line_is_turned_into_the_map_frame(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(LINE))
    (track,) = read_tracks(tmp_path / "a.jsonl")
    assert (track.place, track.level, track.point, track.result, track.steps) == ("Somewhere", 1, 7, "success", 1)
    assert track.positions.tolist() == [[1.0, -0.5, 1.9], [2.0, -0.5, 0.9]]
    assert track.yaws == pytest.approx(np.radians([-90.0, -80.0]))
    # -30 is to the left, where yaw falls clockwise; 200 cm/s are asked for, of which 100 take effect.
    assert track.actions == (None, WalkAction(2.0, 30.0, Head.UP, Animation.CARRY))
    assert track.actions[1] is not None and track.actions[1].clipped().speed == 1.0
    assert track.carrying.tolist() == [False, True]


def test_tracks_come_back(tmp_path: Path) -> None:
    ours = walk(*RESCUED, "success"), walk(*LOST, "timeout")
    write_tracks(tmp_path / "a.jsonl", ours)
    for track, back in zip(ours, read_tracks(tmp_path / "a.jsonl"), strict=True):
        assert back.positions == pytest.approx(track.positions) and back.yaws == pytest.approx(track.yaws)
        assert back.times.tolist() == track.times.tolist() and back.carrying.tolist() == track.carrying.tolist()
        assert (back.actions, back.result, back.seconds) == (track.actions, track.result, track.seconds)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"steps": 5}, "key steps"),
        ({"result": "won"}, "key result"),
        ({"trajectory": LINE["trajectory"][:1]}, "key trajectory"),
        ({"trajectory": [LINE["trajectory"][0], LINE["trajectory"][1] | {"x": None}]}, "key trajectory.1.x"),
        ({"trajectory": [LINE["trajectory"][0], LINE["trajectory"][1] | {"picked": 1}]}, "key trajectory.1.picked"),
        (
            {"trajectory": [LINE["trajectory"][0], LINE["trajectory"][1] | {"action": {"move": [0, 0], "anim": 9}}]},
            "key trajectory.1.action.anim",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_line_is_named(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(LINE) + "\n" + json.dumps(LINE | change))
    with pytest.raises(UsageError, match="line 2") as error:
        read_tracks(tmp_path / "a.jsonl")
    assert words in str(error.value) and "\n" not in str(error.value)


def test_a_folder_is_read_whole_and_an_empty_one_refused(tmp_path: Path) -> None:
    assert len(read_tracks(write_checkout(tmp_path) / FOLDER)) == 5
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no track"):
        read_tracks(tmp_path / "empty")


def test_a_track_is_found_by_the_exact_place_or_by_its_alias() -> None:
    tracks = [walk(*RESCUED, "success", level) for level in (0, 1)]
    plain, renamed = a_point(0), a_point(1)
    for alias in (False, True):
        references = References(tracks, alias)
        assert references.find(plain) is tracks[0]
        assert references.find(renamed) is (tracks[1] if alias else None)
        assert references.find(a_point(0, number=3)) is None
