"""A small checkout in RescueBench's layout, with points and tracks of our own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from esar_ros.mission.rescue import Animation, RescuePoint, StandingPose, WalkAction
from esar_ros.suites.rescuebench.files import points, tracks
from esar_ros.suites.rescuebench.files.points import LEVELS, point_document, write_points
from esar_ros.suites.rescuebench.files.results import ResultLine
from esar_ros.suites.rescuebench.files.tracks import Result, WalkedTrack, filed_as, write_tracks

VICTIM, STRETCHER = (10.0, 0.0, 1.0), (0.0, 4.0, 0.5)
PLACES = ("StandinRoom", "StandinStreet_dooropen")


def standing(x: float, y: float, z: float, yaw: float = 0.0) -> StandingPose:
    return StandingPose(np.array([x, y, z]), yaw)


def a_point(level: int = 0, number: int = 0) -> RescuePoint:
    """A point; odd levels are in the place whose tracks are filed under another name."""
    return RescuePoint(
        PLACES[level % 2],
        level,
        number,
        start=standing(0.0, 0.0, 1.0, 0.5),
        victim=standing(*VICTIM),
        stretcher=standing(*STRETCHER, -1.0),
        ambulance=standing(-3.0, 4.0, 0.5, math.pi / 2),
        description="Someone in a red jacket lies by the wall.",
        time_limit=180.0,
        appearance=4,
    )


def walk(places: Sequence[tuple[float, float]], picked: Sequence[bool], result: Result, level: int = 0) -> WalkedTrack:
    """A track through places (x, y), a second apart, in whose names the victim is carried or not."""
    count = len(places)
    return WalkedTrack(
        place=filed_as(PLACES[level % 2]),
        level=level,
        point=0,
        result=result,
        seconds=float(count - 1),
        positions=np.array([(x, y, 1.0) for x, y in places]),
        yaws=np.linspace(-1.0, 1.0, count),
        times=np.arange(float(count)),
        carrying=np.array(picked),
        actions=(None, *(WalkAction(1.0, 10.0 * k, animation=Animation(k % 6)) for k in range(1, count))),
    )


RESCUED = (((0.0, 0.0), (5.0, 0.0), (9.5, 0.0), (5.0, 2.0), (0.5, 4.0)), (False, False, True, True, False))
"""Places and picks of a walk that hands the victim over."""
LOST = (((0.0, 0.0), (5.0, 0.0), (6.0, 0.0)), (False, False, False))
"""The same of one that ends 4 m from the victim."""


def write_checkout(folder: Path) -> Path:
    """Write a checkout: a point a level; the tracks of L1 to L4 succeed, that of L5 runs out of time."""
    for level in LEVELS:
        write_points(folder / points.FOLDER / f"level_{level}.jsonl", [point_document(a_point(level))])
        track = walk(*LOST, "timeout", level) if level == LEVELS[-1] else walk(*RESCUED, "success", level)
        write_tracks(folder / tracks.FOLDER / f"UnrealRescue-{track.place}" / f"level_{level}.jsonl", [track])
    return folder


def a_result(level: int = 0, point: int = 0, episode: int = 0, **changes: object) -> ResultLine:
    """A line of results: carried to 4.75 m from the stretcher."""
    fields: dict[str, object] = {
        "episode_id": episode, "level": level, "point_id": point, "success": False, "time_cost": 20.0, "steps": 100,
        "collision_count": 3, "path_similarity": 0.9, "phase1_success": True, "stage1_initial_distance": 1000.0,
        "stage1_best_distance": 80.0, "stage1_final_distance": 80.0, "stage2_initial_distance": 950.0,
        "stage2_best_distance": 400.0, "stage2_final_distance": 475.0, "s1_score": 25.0, "s2_score": 25.0,
        "s3_score": 25.0, "s4_score": 12.5, "stage1_score": 50.0, "stage2_score": 37.5, "task_score": 87.5,
        "movement_effectiveness": 0.7, "control_loop_fps": 5.0, "path_length": 2000.0, "carry_success": True,
        "failure_reason": "TIMEOUT_PHASE2", "final_state": "FAILED",
    }  # fmt: skip
    return ResultLine.model_validate(fields | changes)
