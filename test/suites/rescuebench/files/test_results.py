"""Results in the layout of the authors' code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.scoring.rescue import Rules, code_scores, stage_scores
from esar_ros.suites.rescuebench.files.results import (
    read_results,
    read_trajectories,
    trajectories_beside,
    write_results,
)
from helpers.rescuebench import a_result

KEYS = [
    "episode_id", "level", "point_id", "success", "time_cost", "steps", "collision_count", "path_similarity",
    "phase1_success", "phase1_time", "phase1_steps", "phase1_collisions",
    "phase2_success", "phase2_time", "phase2_steps", "phase2_collisions", "task_completion",
    "stage1_initial_distance", "stage1_best_distance", "stage1_final_distance",
    "stage2_initial_distance", "stage2_best_distance", "stage2_final_distance",
    "s1_score", "s2_score", "s3_score", "s4_score", "stage1_score", "stage2_score", "task_score",
    "movement_effectiveness", "control_loop_fps", "path_length", "env_terminated", "env_truncated",
    "carry_success", "drop_success", "failure_reason", "final_state", "reference_text",
]  # fmt: skip
"""Keys of a line in their order."""


def test_a_run_is_written_in_the_layout_and_comes_back(tmp_path: Path) -> None:
    lines = [a_result(0, 0), a_result(1, 3, 1)]
    poses = {line.key: [[100.0, 50.0, 90.0, 0.0, 45.0, 0.0]] * 2 for line in lines}
    path = write_results(tmp_path, "random", "20260101_120000", lines, poses)
    assert path.name == "benchmark_random_20260101_120000.jsonl"
    assert [list(json.loads(text)) for text in path.read_text().splitlines()] == [KEYS, KEYS]
    read = read_results(path)
    assert list(read.records) == [(0, 0, 0), (1, 3, 1)] and read.replaced == 0 and not read.contradicting
    record = read.records[1, 3, 1]
    assert (record.victim.initial, record.stretcher.last, record.path) == (10.0, 4.75, 20.0)
    assert (record.picked, record.handed_over, record.collisions, record.similarity) == (True, False, 3, 0.9)
    assert stage_scores(record, Rules.CODE) == code_scores(record)
    beside = trajectories_beside(path)
    assert beside is not None
    assert read_trajectories(beside)[0, 0, 0].tolist() == [[1.0, -0.5, 0.9]] * 2


def test_trajectories_are_looked_for_beside_results_alone(tmp_path: Path) -> None:
    path = write_results(tmp_path, "random", "1", [a_result()])
    assert trajectories_beside(path) is None
    assert trajectories_beside(tmp_path / "mine.jsonl") is None


def test_the_last_line_of_an_episode_counts(tmp_path: Path) -> None:
    path = write_results(tmp_path, "m", "1", [a_result(time_cost=1.0), a_result(0, 1), a_result(time_cost=2.0)])
    read = read_results(path)
    assert (len(read.records), read.replaced, read.records[0, 0, 0].seconds) == (2, 1, 2.0)


def test_an_episode_that_ended_by_an_exception_counts_nothing(tmp_path: Path) -> None:
    """The authors' code keeps zeros of it: zero distances would count as S1."""
    zeros = dict.fromkeys(("episode_id", "level", "point_id", "time_cost", "steps", "collision_count"), 0)
    (tmp_path / "a.jsonl").write_text(json.dumps(zeros | {"success": False}))
    (record,) = read_results(tmp_path / "a.jsonl").records.values()
    assert record.failed and stage_scores(record, Rules.PAPER).total == stage_scores(record, Rules.CODE).total == 0.0


def test_points_that_distances_do_not_give_are_found(tmp_path: Path) -> None:
    """A drone's hand-overs replace S1 and S3 there."""
    path = write_results(tmp_path, "m", "1", [a_result(), a_result(0, 1, s3_score=0.0)])
    assert read_results(path).contradicting == ((0, 1, 0),)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"level": 7}, "key level"),
        ({"success": "yes"}, "key success"),
        ({"s1_score": 26.0}, "key s1_score"),
        ({"phase1_success": False, "phase2_success": True}, "without a pick"),
        ({"stage1_best_distance": -1.0}, "key stage1_best_distance"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_line_is_named(tmp_path: Path, change: dict[str, object], words: str) -> None:
    good = a_result().model_dump(mode="json")
    (tmp_path / "a.jsonl").write_text(json.dumps(good) + "\n" + json.dumps(good | change))
    with pytest.raises(UsageError, match="line 2") as error:
        read_results(tmp_path / "a.jsonl")
    assert words in str(error.value) and "\n" not in str(error.value)


def test_what_names_no_file_is_refused(tmp_path: Path) -> None:
    for model in ("", "../up", "a b", "x" * 100):
        with pytest.raises(UsageError, match="names no file"):
            write_results(tmp_path, model, "1", [])
    (tmp_path / "a.jsonl").write_text("\n")
    with pytest.raises(UsageError, match="no episode"):
        read_results(tmp_path / "a.jsonl")
