"""Logs of UAV-ON runs in the layout of the authors' code, read tolerantly and written.

    <out>/logs/<scene>/{success_,oracle_,}<scene>.json/task_<id>/object_description.json
                                                                 log/trajectory.jsonl

A folder's name holds the outcome that the run itself found. A line of the trajectory is a frame: frame 0 is the start,
and a stop writes none; so a contact during the stop stands in the folder's name alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from pydantic import Field, ValidationError

from esar_ros.geometry.frames import Pose, Vector, attitude_enu_flu_to_ned_frd, enu_to_ned, ned_to_enu
from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import StepKind
from esar_ros.mission.task_files import LARGEST, read_text
from esar_ros.scoring.object_goal import (
    DECIMALS,
    UAV_ON,
    GoalOutcome,
    NavigationRecord,
    Poses,
    Rules,
    logged_distances,
    navigation_record,
    outcome,
    path_lengths,
)
from esar_ros.scoring.result import write_atomically
from esar_ros.suites.uav_on.episodes import EpisodeEntry, Length, Point, TolerantModel, entry_from

LAYOUT = "logs/SCENE/[success_|oracle_]SCENE.json/task_ID"
DESCRIPTION = "object_description.json"
TRAJECTORY = "log/trajectory.jsonl"
POSES_KEY = "esar_poses"
"""Key of a description that says whether its log holds commanded or measured poses; the authors' are commanded."""
FAILURE_KEY = "esar_failure"
"""Key of a description with the reason for which its agent failed: a log by itself shows a stop."""
ACTION_NAMES = {
    StepKind.FORWARD: "forward", StepKind.LEFT: "left", StepKind.RIGHT: "right", StepKind.UP: "ascend",
    StepKind.DOWN: "descend", StepKind.TURN_LEFT: "rotl", StepKind.TURN_RIGHT: "rotr", StepKind.STOP: "stop",
}  # as the authors name them  # fmt: skip
LARGEST_TRAJECTORY = 8 << 20  # bytes; 151 lines take some 50 000
_PREFIXES = {GoalOutcome.SUCCESS: "success_", GoalOutcome.ORACLE: "oracle_", GoalOutcome.FAILURE: ""}
_CURE = "mend the file, or take its task_ folder away"


@dataclass(frozen=True)
class Frame:
    """One frame of a flight: pose in the map frame, and the action that led there."""

    pose: Pose  # FLU body in the map
    contact: bool
    action: str | None = None  # the authors' name of it, None at the start
    step_size: float = 0.0  # m or deg


@dataclass(frozen=True)
class LoggedFlight:
    """A flight read from its folder. What only the folder's name tells is marked."""

    folder: str  # relative to the folder that was read
    record: NavigationRecord
    contact_by_name: bool  # the contact during the stop follows from the folder's name alone
    contradicts_name: bool  # frames and folder's name cannot both be right


@dataclass(frozen=True)
class Logs:
    """All flights of a run, and the folders whose writer was stopped before their end: folder, reason."""

    flights: tuple[LoggedFlight, ...]
    incomplete: tuple[tuple[str, str], ...]


class _State(TolerantModel):
    position: Point


class _Sensors(TolerantModel):
    state: _State


class _Line(TolerantModel):
    frame: int = Field(ge=0, le=1_000_000)
    is_collision: bool
    move_distance: Length
    distance_to_end: Length
    sensors: _Sensors


class _IncompleteError(Exception):
    """A flight's folder was not written to its end."""


def read_logs(folder: Path) -> Logs:
    """Flights under the folder of a run, its logs/, one scene's or one outcome's. Raises UsageError."""
    flights: list[LoggedFlight] = []
    incomplete: list[tuple[str, str]] = []
    try:
        base = folder / "logs" if (folder / "logs").is_dir() else folder
        for task in _task_folders(base):
            name = str(task.relative_to(base))
            try:
                flights.append(_read_flight(task, name))
            except _IncompleteError as error:
                incomplete.append((name, str(error)))
    except OSError as error:
        raise UsageError(f"cannot read {error.filename}: {error.strerror}", "check the path") from None
    if not flights:
        first = f"; {incomplete[0][0]} {incomplete[0][1]}" if incomplete else ""
        raise UsageError(f"{folder}: no episode of UAV-ON{first}", f"give a folder that holds {LAYOUT}")
    return Logs(tuple(flights), tuple(incomplete))


def _task_folders(base: Path) -> list[Path]:
    """Folders named task_ in the base, its *.json folders and its scenes' *.json folders, by folder and number.

    Raises OSError.
    """
    scenes = [path for path in base.iterdir() if path.is_dir()]
    holders = [base, *(path for scene in (base, *scenes) for path in scene.glob("*.json"))]
    tasks = [task for holder in holders if holder.is_dir() for task in holder.glob("task_*") if task.is_dir()]

    def order(task: Path) -> tuple[str, tuple[int, str]]:
        id = task.name.removeprefix("task_")
        return str(task.parent), (int(id), "") if id.isdecimal() and len(id) < 19 else (-1, id)

    return sorted(tasks, key=order)


def _read_flight(task: Path, name: str) -> LoggedFlight:
    """One flight. Raises UsageError, _IncompleteError."""
    description = task / DESCRIPTION
    entry = entry_from(_json(description), str(description))
    poses = entry.document.get(POSES_KEY, "commanded")
    if poses not in get_args(Poses):
        raise UsageError(f"{description}, key {POSES_KEY}: neither of {', '.join(get_args(Poses))}", _CURE)
    lines = _lines(task / TRAJECTORY)
    failed = FAILURE_KEY in entry.document
    contacts = [line.is_collision for line in lines]
    record = navigation_record(
        entry.episode,
        ned_to_enu([line.sensors.state.position for line in lines]),
        contacts,
        # The log does not name the stop: it is what else can have ended the episode.
        stopped=not contacts[-1] and len(lines) <= UAV_ON.actions and not failed,
        poses=poses,
        failed=failed,
    )
    record = replace(record, logged_distance=lines[-1].distance_to_end, logged_path=lines[-1].move_distance)
    told = _outcome_by_name(task.parent.name)
    if told is None:
        return LoggedFlight(name, record, contact_by_name=False, contradicts_name=False)
    by_frames = outcome(record, Rules.CODE)
    touched = replace(record, contact_at_stop=record.stopped)
    contact_by_name = by_frames is not told and outcome(touched, Rules.CODE) is told
    contradicts_name = by_frames is not told and not contact_by_name
    record = replace(touched if contact_by_name else record, recorded=told)
    return LoggedFlight(name, record, contact_by_name, contradicts_name)


def _outcome_by_name(folder: str) -> GoalOutcome | None:
    """Outcome that a folder's name tells; None of a folder that is not named as the authors' code names it."""
    if not folder.endswith(".json"):
        return None
    return next(outcome for outcome, prefix in _PREFIXES.items() if folder.startswith(prefix))


def _text(path: Path, largest: int) -> str:
    """Text of a file. Raises UsageError, _IncompleteError."""
    if not path.is_file():
        raise _IncompleteError(f"has no {path.name}")
    text = read_text(path, largest, "log").rstrip()
    if not text:
        raise _IncompleteError(f"has an empty {path.name}")
    return text


def _json(path: Path) -> Any:
    """Content of a JSON file. Raises UsageError, _IncompleteError."""
    try:
        return json.loads(_text(path, LARGEST))
    except RecursionError:
        raise UsageError(f"{path}: nested too deeply", _CURE) from None
    except ValueError:
        raise _IncompleteError(f"has a {path.name} that is no whole JSON") from None


def _lines(path: Path) -> list[_Line]:
    """Frames of a trajectory, 0 to T. Raises UsageError naming file, line and key, _IncompleteError."""
    texts = _text(path, LARGEST_TRAJECTORY).split("\n")
    if len(texts) > UAV_ON.actions + 1:
        raise UsageError(f"{path}: {len(texts) - 1} steps", f"UAV-ON's rules are for at most {UAV_ON.actions}")
    lines: list[_Line] = []
    for number, text in enumerate(texts):
        try:
            lines.append(_Line.model_validate_json(text))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            if first["type"] == "json_invalid" and number == len(texts) - 1:
                raise _IncompleteError(f"has a {path.name} whose last line is cut off") from None
            key = ".".join(str(part) for part in first["loc"]) or "the line"
            raise UsageError(f"{path}, line {number + 1}, key {key}: {first['msg']}", _CURE) from None
        if lines[-1].frame != number:
            raise UsageError(f"{path}, line {number + 1}, key frame: {lines[-1].frame} instead of {number}", _CURE)
    return lines


def write_flight(
    out: Path,
    entry: EpisodeEntry,
    frames: Sequence[Frame],
    stopped: bool,
    contact_at_stop: bool = False,
    poses: Poses = "commanded",
    failure: str | None = None,
) -> Path:
    """Write one flight under out/logs and return its folder, whose name tells the outcome by the code's rules.

    frames: 0 to T, the first at the episode's start; failure: why its agent failed. Raises UsageError; ValueError on
    frames that no episode leaves.
    """
    episode = entry.episode
    track = np.array([frame.pose.position for frame in frames])
    contacts = [frame.contact for frame in frames]
    record = navigation_record(episode, track, contacts, stopped, contact_at_stop, poses, failure is not None)
    prefix = _PREFIXES[outcome(record, Rules.CODE)]
    folder = out / "logs" / episode.scene / f"{prefix}{episode.scene}.json" / f"task_{episode.id}"
    lines = _written(frames, path_lengths(track), logged_distances(episode, track))
    write_atomically(folder / TRAJECTORY, "".join(json.dumps(line) + "\n" for line in lines))
    document = {**entry.document, POSES_KEY: poses, **({} if failure is None else {FAILURE_KEY: failure})}
    write_atomically(folder / DESCRIPTION, json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    return folder


def _written(frames: Sequence[Frame], lengths: Vector, distances: Sequence[float]) -> list[dict[str, Any]]:
    """Lines of a trajectory in the authors' layout: NED metres, quaternions (x, y, z, w) of FRD in NED."""
    lines = []
    for number, (frame, length, distance) in enumerate(zip(frames, lengths, distances, strict=True)):
        w, x, y, z = attitude_enu_flu_to_ned_frd(frame.pose.quaternion).tolist()
        state = {"position": enu_to_ned(frame.pose.position).tolist(), "quaternionr": [x, y, z, w]}
        lines.append(
            {
                "frame": number,
                "is_collision": frame.contact,
                "action": frame.action,
                "steps_size": frame.step_size,
                "move_distance": round(float(length), DECIMALS),
                "distance_to_end": distance,
                "sensors": {"state": state},
            }
        )
    return lines
