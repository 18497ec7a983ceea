"""Tracks of people who did RescueBench's tasks: files of a JSON line an episode, read and written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.unreal import CM, map_heading_to_unreal, map_to_unreal, unreal_heading_to_map, unreal_to_map
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import Animation, Head, RescuePoint, WalkAction
from esar_ros.scoring.result import write_atomically
from esar_ros.suites.rescuebench.files.lines import (
    CURE,
    Amount,
    Coordinate,
    Count,
    Degrees,
    Level,
    TolerantModel,
    dumped,
    lines_of,
    parse_line,
)
from esar_ros.suites.rescuebench.files.points import ENVIRONMENTS, Environment, place_of

FOLDER = "example/human_trajectories"
"""Folder of the tracks in a checkout of the public code: a folder an environment, a file a level."""
PATTERN = "level_*.jsonl"
LARGEST = 256 << 20  # bytes of a file of tracks
ALIAS = "_dooropen"
"""End of the name of a place whose tracks are filed under the name without it."""
Result = Literal["success", "timeout", "failed"]


class _Action(TolerantModel):
    move: tuple[Degrees, Coordinate]
    head: int = 0
    anim: int = 0

    @field_validator("head")
    @classmethod
    def _is_head(cls, head: int) -> int:
        return Head(head)

    @field_validator("anim")
    @classmethod
    def _is_animation(cls, anim: int) -> int:
        return Animation(anim)


class _Step(TolerantModel):
    x: Coordinate
    y: Coordinate
    z: Coordinate
    yaw: Degrees
    picked: bool
    timestamp: Amount
    action: _Action | None = None


class _Line(TolerantModel):
    """An episode as the authors' code writes it."""

    env_id: Environment
    level: Level
    episode_id: Count
    result: Result
    elapsed_sec: Amount
    steps: Count
    trajectory: tuple[_Step, ...] = Field(min_length=2, max_length=1_000_000)


@dataclass(frozen=True, eq=False)
class WalkedTrack:
    """One walked episode: N poses in the map frame, the first that of the reset, each other one after a step."""

    place: str
    level: int
    point: int
    result: Result
    seconds: float
    positions: Vector  # (N, 3) m, of the body's middle
    yaws: Vector  # (N,) rad
    times: Vector  # (N,) s since the start
    carrying: NDArray[np.bool_]  # (N,)
    actions: tuple[WalkAction | None, ...]  # N, each that led to its pose

    @property
    def steps(self) -> int:
        """Number of steps, without the reset."""
        return len(self.positions) - 1


def read_tracks(path: Path) -> tuple[WalkedTrack, ...]:
    """Returns the tracks of a file, or of all files of a folder. Raises UsageError."""
    paths = sorted(path.rglob(PATTERN)) if path.is_dir() else [path]
    tracks = tuple(
        _track(parse_line(_Line, text, where), where)
        for each in paths
        for where, text in lines_of(each, LARGEST, "tracks")
    )
    if not tracks:
        raise UsageError(f"{path}: no track", f"give a file such as {FOLDER}/ENVIRONMENT/level_0.jsonl of RescueBench")
    return tracks


def _track(line: _Line, where: str) -> WalkedTrack:
    """Returns a line as a track. Raises UsageError."""
    if line.steps != len(line.trajectory) - 1:
        raise UsageError(f"{where}, key steps: {line.steps} of {len(line.trajectory)} poses", CURE)
    return WalkedTrack(
        place=place_of(line.env_id),
        level=line.level,
        point=line.episode_id,
        result=line.result,
        seconds=line.elapsed_sec,
        positions=unreal_to_map([(step.x, step.y, step.z) for step in line.trajectory]),
        yaws=np.array([unreal_heading_to_map(step.yaw) for step in line.trajectory]),
        times=np.array([step.timestamp for step in line.trajectory]),
        carrying=np.array([step.picked for step in line.trajectory]),
        actions=tuple(None if step.action is None else _walk_action(step.action) for step in line.trajectory),
    )


def _walk_action(action: _Action) -> WalkAction:
    angle, speed = action.move
    return WalkAction(speed / CM, -angle + 0.0, Head(action.head), Animation(action.anim))


def write_tracks(path: Path, tracks: Iterable[WalkedTrack]) -> None:
    """Write a file of tracks. Raises UsageError."""
    write_atomically(path, "".join(dumped(_document(track)) for track in tracks))


def _document(track: WalkedTrack) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    places, yaws = map_to_unreal(track.positions).tolist(), map(map_heading_to_unreal, track.yaws.tolist())
    for number, ((x, y, z), yaw) in enumerate(zip(places, yaws, strict=True)):
        step = {"step": number, "x": x, "y": y, "z": z, "roll": 0.0, "yaw": yaw, "pitch": 0.0}
        action = track.actions[number]
        if action is not None:
            move = [-action.angle + 0.0, action.speed * CM]
            step["action"] = {"move": move, "head": int(action.head), "anim": int(action.animation)}
        steps.append(
            {**step, "picked": bool(track.carrying[number]), "reward": 0.0, "timestamp": float(track.times[number])}
        )
    return {
        "env_id": ENVIRONMENTS[0] + track.place,
        "level": track.level,
        "episode_id": track.point,
        "result": track.result,
        "terminated": track.result == "success",
        "truncated": track.result != "success",
        "elapsed_sec": track.seconds,
        "steps": track.steps,
        "fps": track.steps / track.seconds if track.seconds else 0.0,
        "trajectory": steps,
    }


def tracks_of(checkout: Path, place: str) -> Path:
    """Returns the folder of the tracks in a place, which a checkout need not have."""
    return checkout / FOLDER / (ENVIRONMENTS[0] + filed_as(place))


class References:
    """People's tracks by task, to compare with.

    The public code looks a track up by the exact name of the task's place, so that tasks in a place whose name ends
    with `_dooropen` have none; with alias they have those of the place without it.
    """

    def __init__(self, tracks: Sequence[WalkedTrack], alias: bool) -> None:
        """The last track of a task counts."""
        self._tracks: Mapping[tuple[str, int, int], WalkedTrack] = {
            (track.place, track.level, track.point): track for track in tracks
        }
        self._alias = alias

    def find(self, point: RescuePoint) -> WalkedTrack | None:
        """Returns the track of a task, None where there is none."""
        found = self._tracks.get((point.place, point.level, point.number))
        if found is None and self._alias:
            found = self._tracks.get((filed_as(point.place), point.level, point.number))
        return found


def filed_as(place: str) -> str:
    """Returns the name of a place without the end under which no track is filed."""
    return place.removesuffix(ALIAS)
