"""The authors' own classes on the walks that ours are fed with: the same numbers, states and actions.

Skipped unless ESAR_RESCUEBENCH names a checkout of their code, which is not part of this project.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.unreal import CM, map_heading_to_unreal, map_to_unreal
from esar_ros.mission.rescue import WalkAction
from esar_ros.scoring.rescue import HitCounter, Progress, code_scores
from esar_ros.scoring.similarity import similarity_code
from esar_ros.suites.rescuebench.files.results import (
    read_results,
    read_trajectories,
    trajectories_beside,
    write_results,
)
from esar_ros.suites.rescuebench.machine import Interaction, TaskMachine
from esar_ros.suites.rescuebench.settings import load_suite_settings
from helpers.rescue_toy import SECONDS, Toy, a_toy, wish
from helpers.rescuebench import a_result

CHECKOUT = os.environ.get("ESAR_RESCUEBENCH", "")

pytestmark = pytest.mark.skipif(not CHECKOUT, reason="ESAR_RESCUEBENCH names no checkout of the authors' code")


@pytest.fixture(scope="module")
def theirs() -> Iterator[SimpleNamespace]:
    """Their modules, imported as their own scripts import them."""
    sys.path.insert(0, str(Path(CHECKOUT) / "benchmark"))
    try:
        yield SimpleNamespace(
            tracker=import_module("utils.progress_tracker").EpisodeProgressTracker,
            similarity=import_module("utils.path_similarity").PathSimilarityCalculator,
            hits=import_module("utils.collision_detector").CollisionDetector,
            resume=import_module("core.resume").ResumeManager,
            metrics=import_module("core.metrics").EpisodeMetrics,
            progress=import_module("wrappers.progress_tracking_wrapper").ProgressTrackingController,
            controller=import_module("wrappers.state_machine_wrapper").RescueStateMachineController,
        )
    finally:
        sys.path.remove(str(Path(CHECKOUT) / "benchmark"))


def a_walk(chance: random.Random) -> tuple[Any, Any, Any, list[tuple[Any, bool]]]:
    """Victim, stretcher, start (m), and a walk from one to the other that misses, picks and loses at random."""
    victim, stretcher, start = (
        np.array([chance.uniform(-20, 20), chance.uniform(-20, 20), chance.uniform(-3, 3)]) for _ in range(3)
    )
    here = start
    steps, carrying = [], False
    for goal in (victim, stretcher):
        for _ in range(chance.randrange(1, 12)):
            share = chance.uniform(0.0, 0.8)
            here = here + share * (goal - here) + np.array([chance.gauss(0.0, 0.5) for _ in range(3)])
            carrying = carrying != (chance.random() < (0.3 if goal is victim and not carrying else 0.05))
            steps.append((here, carrying))
    return victim, stretcher, start, steps


@pytest.mark.parametrize("seed", range(150))
def test_the_tracker_gives_the_same_numbers(theirs: SimpleNamespace, seed: int) -> None:
    chance = random.Random(seed)
    victim, stretcher, start, steps = a_walk(chance)
    ours = Progress(victim, stretcher, start)
    tracker = theirs.tracker(map_to_unreal(victim), map_to_unreal(stretcher))
    tracker.reset(map_to_unreal(start))
    for here, carrying in steps:
        ours.update(here, carrying)
        tracker.update(map_to_unreal(here), carrying)
        if chance.random() < 0.15:
            ours.put_down(here)
            tracker.mark_stage2_drop_zone_entered(map_to_unreal(here))
        if chance.random() < 0.15:
            assert ours.confirm(here) == tracker.confirm_stage2_completion(map_to_unreal(here))
    record = ours.record(0, 0, 1.0, len(steps), ours.handed_over)
    found = tracker.finalize()
    scores = code_scores(record)
    assert record.completed == found["task_completion"] and record.picked == found["stage1_success"]
    pairs = {
        "s1_score": scores.explore, "s2_score": scores.rescue, "s3_score": scores.carry_back,
        "s4_score": scores.hand_over, "task_score": scores.total, "path_length": record.path * CM,
        "movement_effectiveness": record.effectiveness,
    }  # fmt: skip
    for stage, approach in ((1, record.victim), (2, record.stretcher)):
        for name in ("initial", "best"):
            pairs[f"stage{stage}_{name}_distance"] = getattr(approach, name) * CM
        pairs[f"stage{stage}_final_distance"] = approach.last * CM
    for name, value in pairs.items():
        assert found[name] == pytest.approx(value, abs=1e-6), name


@pytest.mark.parametrize("seed", range(10))
def test_the_similarity_is_the_same(theirs: SimpleNamespace, seed: int) -> None:
    chance = np.random.default_rng(seed)
    track, reference = (np.cumsum(chance.normal(0.0, 2.0, (n, 3)), axis=0) for n in chance.integers(1, 60, 2))
    gap = theirs.similarity.dtw_distance(map_to_unreal(track), map_to_unreal(reference))
    assert similarity_code(track, reference) == pytest.approx(theirs.similarity.normalized_similarity(gap))


def test_hits_are_counted_the_same(theirs: SimpleNamespace) -> None:
    chance = random.Random(1)
    hits = [chance.random() < 0.4 for _ in range(300)]
    answers = iter(hits)
    inner = SimpleNamespace(player_list=[""], protagonist_id=0)
    inner.unrealcv = SimpleNamespace(get_hit=lambda player: next(answers))
    detector = theirs.hits(SimpleNamespace(unwrapped=inner))
    counted = 0
    ours, later = HitCounter(), iter(hits)
    for _ in range(200):  # the detector asks only where a hit would count
        if detector.collision_cooldown == 0:
            ours.update(next(later))
        else:
            ours.update(True)
        counted += detector.check()
    assert ours.count == counted > 20


class _Theirs:
    """Their state machine and tracker in the order in which their runner calls them."""

    def __init__(self, theirs: SimpleNamespace, toy: Toy, doors: list[Any], passthrough: bool, limit: float) -> None:
        self.toy, self.limit = toy, limit
        unreal = SimpleNamespace(
            get_cam_pose=lambda camera: self.pose(),
            get_obj_location=lambda name: map_to_unreal(doors[int(name)]).tolist(),
            is_carrying=lambda player: self.toy.carrying,
            get_hit=lambda player: self.toy.hit,
        )
        inner = SimpleNamespace(
            protagonist_id=0,
            cam_list=[1],
            player_list=[""],
            unrealcv=unreal,
            env_configs={"interactive_door": [str(number) for number in range(len(doors))]},
        )
        self.benchmark = SimpleNamespace(
            env=SimpleNamespace(unwrapped=inner),
            env_manager=SimpleNamespace(get_current_interaction_position=lambda: self.pose()[:3]),
            rescue_distance=100.0,
            place_distance=200.0,
            stage2_success_radius=200.0,
            interaction_z_threshold=220.0,
            passthrough=passthrough,
            passthrough_env_term_geometry_sync=True,
        )
        context = {
            "env_id": "",
            "injured_pose": map_to_unreal(toy.victim).tolist(),
            "stretcher_pose": map_to_unreal(toy.stretcher).tolist(),
        }
        self.progress = theirs.progress(self.benchmark, context)
        self.controller = theirs.controller(self.benchmark, context, self.progress)
        self.controller.reset(0.0)
        self.progress.reset(self.pose()[:3])
        self.hits = theirs.hits(self.benchmark.env)
        self.machine = self.controller.state_machine

    def pose(self) -> list[float]:
        return [*map_to_unreal(self.toy.position).tolist(), 0.0, map_heading_to_unreal(self.toy.yaw), 0.0]

    def command(self, wanted: WalkAction, now: float) -> tuple[tuple[float, ...], int, int]:
        self.now = now
        move = np.array([-wanted.angle, wanted.speed * CM])
        action = (move, int(wanted.head), int(wanted.animation))
        info = {"picked": self.toy.carrying}
        _, final, _, self.goes_on = self.controller.update_action(action, info, now, self.pose()[:3])
        return tuple(float(value) for value in final[0]), final[1], final[2]

    def settle(self) -> bool:
        here = self.pose()[:3]
        self.progress.update_after_env_step(here, self.controller.is_carrying({"picked": self.toy.carrying}))
        if not self.controller.validate_wait_confirm(here, self.now, 0):
            return self.end(False)
        if self.hits.check():
            self.machine.add_collision()
        if self.controller.mark_success_if_completed(self.now, 0):
            return self.end(False)
        if self.controller.mark_timeout_if_needed(self.now, self.limit):
            return self.end(False)
        if self.toy.ended:
            self.controller.handle_env_termination(self.now, 0)
            return self.end(True)
        return not self.goes_on and self.end(False)

    def end(self, terminated: bool) -> bool:
        self.controller.finalize_after_loop(terminated)
        return True


@pytest.mark.parametrize("interaction", Interaction, ids=lambda mode: mode.value)
@pytest.mark.parametrize("seed", range(60))
def test_the_state_machine_walks_through_the_same_states(
    theirs: SimpleNamespace, seed: int, interaction: Interaction
) -> None:
    toy = a_toy(seed)
    passthrough = interaction is Interaction.PASSTHROUGH
    limit = (20.0, 300.0)[seed % 3 > 0]
    doors = [toy.chance.uniform(0.0, 1.0) * (toy.victim - toy.position) + toy.position for _ in range(seed % 3)]
    ours = TaskMachine(toy.victim, toy.stretcher, toy.walker, limit, interaction=interaction, doors=doors)
    other = _Theirs(theirs, toy, doors, passthrough, limit)
    for number in count():
        wanted = wish(toy, toy.stretcher if toy.carrying else toy.victim, passthrough)
        done = ours.command(wanted, toy.walker, number * SECONDS)
        expected = other.command(wanted, number * SECONDS)
        assert (-done.angle, done.speed * CM) == pytest.approx(expected[0]), number
        assert (int(done.head), int(done.animation)) == expected[1:], number
        toy.step(done)
        over = ours.settle(toy.walker, toy.hit, toy.ended)
        assert over == other.settle()
        assert (ours.state.value, ours.failure.value) == (other.machine.state, other.machine.failure_reason)
        assert ours.phase.value == other.machine.get_current_phase()
        target = ours.target(truth=True)
        assert (target is None) == (other.machine.get_current_target() is None)
        if over:
            break
    found = other.machine.get_metrics((number + 1) * SECONDS)
    for phase, figures in enumerate(ours.phases((number + 1) * SECONDS), 1):
        assert found[f"phase{phase}_collisions"] == figures.collisions
        assert found[f"phase{phase}_steps"] == figures.steps
        assert found[f"phase{phase}_time"] == pytest.approx(figures.seconds)
    assert found["drop_success"] == ours.dropped
    assert other.progress.finalize()["task_completion"] == ours.progress.handed_over


def test_their_resume_reads_what_is_written_here(theirs: SimpleNamespace, tmp_path: Path) -> None:
    lines = [a_result(), a_result(3, 7, 2, success=True, task_completion=True, phase2_success=True)]
    path = write_results(tmp_path, "ours", "1", lines, {line.key: [[0.0] * 6] * 2 for line in lines})
    manager = theirs.resume(str(path))
    records, keys = manager.load()
    assert keys == {line.key for line in lines}
    for line in lines:
        assert {name: getattr(records[line.key], name) for name in line.model_dump()} == line.model_dump()
    fields = [name for name in theirs.metrics.__dataclass_fields__ if name not in ("trajectory", "drone_trajectory")]
    assert fields == list(type(lines[0]).model_fields)
    assert len(read_results(path).records) == 2
    beside = trajectories_beside(path)
    assert beside is not None and len(read_trajectories(beside)) == 2


def test_the_row_of_people() -> None:
    """Their tracks on their points: the counts, rates, times and steps that the files hold."""
    from esar_ros.mission.rescue import level_name
    from esar_ros.scoring.rescue import Rules
    from esar_ros.suites.rescuebench.score import ALL, RescueScore

    score = RescueScore(Path(CHECKOUT), Rules.CODE, load_suite_settings().similarity)
    expected = {  # episodes, TCR %, TS, s, steps
        0: (25, 100.0, 100.0, 19.2, 110.1),
        1: (59, 100.0, 100.0, 42.2, 200.4),
        2: (59, 100.0, 100.0, 56.3, 259.4),
        3: (39, 100.0, 100.0, 76.4, 380.6),
        4: (31, 93.5, 96.8, 107.8, 554.0),
    }
    for level, row in expected.items():
        found = score.scores[level_name(level)]
        numbers = (found.episodes, 100.0 * found.tcr, found.ts, found.seconds, found.steps)
        assert numbers == pytest.approx(row, abs=0.0501), level
    assert (score.scores[ALL].episodes, score.scores[ALL].compared) == (213, 183)
