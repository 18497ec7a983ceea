"""Results of RescueBench runs in the layout of the authors' code, read tolerantly and written.

    benchmark_<model>_<time>.jsonl       a line an episode: metrics, lengths in cm
    trajectories_<model>_<time>.jsonl    a line an episode: poses from the reset on, of runs that record them

A line of the former names its task by level and point alone; the last line of an episode counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.unreal import CM, unreal_to_map
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.rescue import (
    STAGE,
    Approach,
    RescueRecord,
    StageScores,
    code_scores,
)
from esar_ros.scoring.result import write_atomically
from esar_ros.suites.rescuebench.files.lines import (
    CURE,
    Amount,
    Count,
    Level,
    PoseNumbers,
    TolerantModel,
    dumped,
    lines_of,
    parse_line,
)

LARGEST = 64 << 20  # bytes of a file of results
LARGEST_TRAJECTORIES = 512 << 20  # bytes
_RESULTS, _TRAJECTORIES = "benchmark_", "trajectories_"
_NAME = re.compile(r"^\w[\w.-]{0,79}$")
_OFF = 1e-6  # points by which a score may differ from what its distances give

Key = tuple[int, int, int]
"""Level, point and repetition of an episode."""
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Points = Annotated[float, Field(ge=0.0, le=STAGE)]


class ResultLine(TolerantModel):
    """One episode as the authors' code writes it, in the order of its keys: cm, s, points."""

    episode_id: Count
    level: Level
    point_id: Count
    success: bool
    time_cost: Amount
    steps: Count
    collision_count: Count
    path_similarity: Share | None = None
    phase1_success: bool = False
    phase1_time: Amount = 0.0
    phase1_steps: Count = 0
    phase1_collisions: Count = 0
    phase2_success: bool = False
    phase2_time: Amount = 0.0
    phase2_steps: Count = 0
    phase2_collisions: Count = 0
    task_completion: bool = False
    stage1_initial_distance: Amount = 0.0
    stage1_best_distance: Amount = 0.0
    stage1_final_distance: Amount = 0.0
    stage2_initial_distance: Amount = 0.0
    stage2_best_distance: Amount = 0.0
    stage2_final_distance: Amount = 0.0
    s1_score: Points = 0.0
    s2_score: Points = 0.0
    s3_score: Points = 0.0
    s4_score: Points = 0.0
    stage1_score: Amount = 0.0
    stage2_score: Amount = 0.0
    task_score: Amount = 0.0
    movement_effectiveness: Share = 0.0
    control_loop_fps: Amount = 0.0
    path_length: Amount = 0.0
    env_terminated: bool = False
    env_truncated: bool = False
    carry_success: bool = False
    drop_success: bool = False
    failure_reason: str = ""
    final_state: str = ""
    reference_text: str = ""

    @property
    def key(self) -> Key:
        """Names the episode among those of a run."""
        return self.level, self.point_id, self.episode_id

    @property
    def failed(self) -> bool:
        """Returns whether the episode ended by an exception, of which the authors' code keeps zeros."""
        return not self.final_state and self.steps == 0

    def record(self, where: str) -> RescueRecord:
        """Returns what is scored of the line. Raises UsageError for what no episode leaves."""
        try:
            return RescueRecord(
                level=self.level,
                point=self.point_id,
                victim=_approach(self.stage1_initial_distance, self.stage1_best_distance, self.stage1_final_distance),
                stretcher=_approach(
                    self.stage2_initial_distance, self.stage2_best_distance, self.stage2_final_distance
                ),
                picked=self.phase1_success,
                handed_over=self.phase2_success,
                seconds=self.time_cost,
                steps=self.steps,
                path=self.path_length / CM,
                effectiveness=self.movement_effectiveness,
                collisions=self.collision_count,
                similarity=self.path_similarity,
                recorded=StageScores(self.s1_score, self.s2_score, self.s3_score, self.s4_score),
                failed=self.failed,
            )
        except ValueError as error:
            raise UsageError(f"{where}: {error}", CURE) from None


class _Trajectory(TolerantModel):
    episode_id: Count
    level: Level
    point_id: Count
    trajectory: tuple[PoseNumbers, ...] = Field(max_length=1_000_000)


@dataclass(frozen=True)
class Results:
    """A run: its episodes in the order of their first lines, and what to say of the file."""

    records: Mapping[Key, RescueRecord]
    replaced: int  # lines whose episode has a later one

    @property
    def contradicting(self) -> tuple[Key, ...]:
        """Episodes whose recorded points are not those that their distances give."""
        return tuple(key for key, record in self.records.items() if _contradicts(record))


def _contradicts(record: RescueRecord) -> bool:
    recorded = record.recorded
    if recorded is None or record.failed:
        return False
    by_distance = code_scores(record)
    pairs = zip(_points(recorded), _points(by_distance), strict=True)
    return any(abs(one - other) > _OFF for one, other in pairs)


def _points(scores: StageScores) -> tuple[float, float, float, float]:
    return scores.explore, scores.rescue, scores.carry_back, scores.hand_over


def _approach(initial: float, best: float, last: float) -> Approach:
    return Approach(initial / CM, best / CM, last / CM)


def read_results(path: Path) -> Results:
    """Returns the episodes of a file of results. Raises UsageError."""
    records: dict[Key, RescueRecord] = {}
    lines = 0
    for where, text in lines_of(path, LARGEST, "results"):
        line = parse_line(ResultLine, text, where)
        records[line.key] = line.record(where)
        lines += 1
    if not records:
        raise UsageError(f"{path}: no episode", "give a file benchmark_MODEL_TIME.jsonl that holds one")
    return Results(records, lines - len(records))


def trajectories_beside(path: Path) -> Path | None:
    """Returns the file of trajectories of a file of results, None where there is none."""
    if not path.name.startswith(_RESULTS):
        return None
    beside = path.with_name(_TRAJECTORIES + path.name.removeprefix(_RESULTS))
    return beside if beside.is_file() else None


def read_trajectories(path: Path) -> dict[Key, Vector]:
    """Returns the positions (N, 3) m of each episode, the first that of the reset. Raises UsageError."""
    found: dict[Key, Vector] = {}
    for where, text in lines_of(path, LARGEST_TRAJECTORIES, "trajectories"):
        line = parse_line(_Trajectory, text, where)
        places = np.reshape([numbers[:3] for numbers in line.trajectory], (-1, 3))
        found[line.level, line.point_id, line.episode_id] = unreal_to_map(places)
    return found


def write_results(
    folder: Path,
    model: str,
    time: str,
    lines: Sequence[ResultLine],
    trajectories: Mapping[Key, Sequence[Sequence[float]]] | None = None,
) -> Path:
    """Write a run and return its file of results. Raises UsageError.

    time: as in its name, YYYYMMDD_HHMMSS; trajectories: x, y, z (cm), roll, yaw, pitch (degrees) of each pose.
    """
    for name in (model, time):
        if not _NAME.match(name):
            raise UsageError(f"'{name[:40]}' names no file", "use letters, digits, '_', '-' and '.'")
    path = folder / f"{_RESULTS}{model}_{time}.jsonl"
    write_atomically(path, "".join(dumped(line.model_dump(mode="json")) for line in lines))
    if trajectories is not None:
        texts = [
            dumped(
                {
                    "episode_id": key[2],
                    "level": key[0],
                    "point_id": key[1],
                    "trajectory": [list(pose) for pose in poses],
                    "drone_trajectory": [],
                }
            )
            for key, poses in trajectories.items()
        ]
        write_atomically(folder / f"{_TRAJECTORIES}{model}_{time}.jsonl", "".join(texts))
    return path
