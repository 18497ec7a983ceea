"""The result of one episode: schema rescuebench-result/1, all that scores, tables and exported files are made of."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import Field

import esar_ros
from esar_ros.geometry.frames import Vector
from esar_ros.geometry.unreal import CM
from esar_ros.mission.settings_file import StrictModel
from esar_ros.scoring.rescue import Approach, code_scores
from esar_ros.scoring.similarity import similarity_code, similarity_paper
from esar_ros.suites.rescuebench.files.points import pose_numbers
from esar_ros.suites.rescuebench.files.results import ResultLine
from esar_ros.suites.rescuebench.machine import State, TaskMachine
from esar_ros.suites.rescuebench.sets import RescueTask
from esar_ros.suites.rescuebench.settings import load_suite_settings
from esar_ros.suites.rescuebench.walk import WalkedEpisode

SCHEMA: Literal["rescuebench-result/1"] = "rescuebench-result/1"
Pose = tuple[float, float, float, float, float, float]
Action = tuple[float, float, int, int]


class Similarity(StrictModel):
    """Likeness of a walk to the shortest one: no person has walked the points of our own."""

    code: float = Field(ge=0.0, le=1.0)
    paper: float = Field(ge=0.0, le=1.0)


class RescueResult(StrictModel):
    """One episode as it was walked."""

    schema_: Literal["rescuebench-result/1"] = Field(alias="schema")
    place: str
    place_digest: str
    split: str
    point: dict[str, Any]  # as its file has it
    line: ResultLine  # as the public code would write it: cm
    poses: tuple[Pose, ...] = Field(min_length=1)  # x, y, z (cm), roll, yaw, pitch (degrees) of the body's middle
    actions: tuple[Action, ...]  # angle (degrees to the right), cm/s, head, animation of each step
    end: str  # final state, or its failure
    error: str | None
    eligible: bool
    similarity: Similarity | None
    account: dict[str, int]  # of an agent that asks a model: questions, tokens
    versions: dict[str, str]

    @property
    def public_line(self) -> ResultLine:
        """The line as the public code keeps it: zeros of an episode that ended by an exception."""
        if self.error is None:
            return self.line
        own = self.line
        return ResultLine(
            episode_id=own.episode_id,
            level=own.level,
            point_id=own.point_id,
            success=False,
            time_cost=0.0,
            steps=0,
            collision_count=0,
            path_similarity=0.0,
            failure_reason=self.error,
        )


def make_rescue_result(
    task: RescueTask,
    walked: WalkedEpisode,
    repetition: int,
    eligible: bool,
    place_digest: str,
    reference: Vector | None = None,
) -> RescueResult:
    """Returns the result of a walked episode; reference: (N, 3) m, a track to compare it with, a place a step."""
    machine = walked.machine
    actions = [frame.action for frame in walked.frames if frame.action is not None]
    return RescueResult(
        schema=SCHEMA,
        place=task.point.place,
        place_digest=place_digest,
        split=task.split,
        point=task.document,
        line=result_line(task, machine, walked.seconds, repetition),
        poses=tuple(_six(pose_numbers(frame.body)) for frame in walked.frames),
        actions=tuple(
            (-action.angle + 0.0, action.speed * CM, int(action.head), int(action.animation)) for action in actions
        ),
        end="error" if walked.error is not None else _end(machine),
        error=walked.error,
        eligible=eligible,
        similarity=None if reference is None else _similarity(walked, reference),
        account=walked.account,
        versions={"esar_ros": esar_ros.__version__},
    )


def _similarity(walked: WalkedEpisode, reference: Vector) -> Similarity:
    """Returns likeness to a track; none at all of an agent that failed, as the public code counts it."""
    if walked.error is not None:
        return Similarity(code=0.0, paper=0.0)
    track, sigma = np.array([frame.body.position for frame in walked.frames]), load_suite_settings().similarity.sigma
    return Similarity(code=similarity_code(track, reference), paper=similarity_paper(track, reference, sigma))


def result_line(task: RescueTask, machine: TaskMachine, seconds: float, repetition: int) -> ResultLine:
    """Returns an episode in the layout of the public code."""
    progress, point = machine.progress, task.point
    record = progress.record(point.level, point.number, seconds, machine.steps, progress.handed_over)
    scores = code_scores(record)
    search, back = machine.phases(seconds)
    victim, stretcher = _centimetres(progress.victim), _centimetres(progress.stretcher)
    return ResultLine(
        episode_id=repetition,
        level=point.level,
        point_id=point.number,
        success=record.completed,
        time_cost=seconds,
        steps=machine.steps,
        collision_count=machine.collisions,
        phase1_success=progress.picked,
        phase1_time=search.seconds,
        phase1_steps=search.steps,
        phase1_collisions=search.collisions,
        phase2_success=progress.handed_over,
        phase2_time=back.seconds,
        phase2_steps=back.steps,
        phase2_collisions=back.collisions,
        task_completion=record.completed,
        stage1_initial_distance=victim.initial,
        stage1_best_distance=victim.best,
        stage1_final_distance=victim.last,
        stage2_initial_distance=stretcher.initial,
        stage2_best_distance=stretcher.best,
        stage2_final_distance=stretcher.last,
        s1_score=scores.explore,
        s2_score=scores.rescue,
        s3_score=scores.carry_back,
        s4_score=scores.hand_over,
        stage1_score=scores.explore + scores.rescue,
        stage2_score=scores.carry_back + scores.hand_over,
        task_score=scores.total,
        movement_effectiveness=record.effectiveness,
        control_loop_fps=machine.steps / seconds if seconds else 0.0,
        path_length=record.path * CM,
        env_terminated=machine.ended_by_world,
        carry_success=machine.returning,
        drop_success=machine.dropped,
        failure_reason=machine.failure.value,
        final_state=machine.state.value,
        reference_text=point.description,
    )


def _centimetres(approach: Approach) -> Approach:
    return Approach(approach.initial * CM, approach.best * CM, approach.last * CM)


def _end(machine: TaskMachine) -> str:
    return machine.state.value if machine.state is State.COMPLETED else machine.failure.value


def _six(numbers: list[float]) -> Pose:
    x, y, z, roll, yaw, pitch = (round(number, 2) + 0.0 for number in numbers)
    return x, y, z, roll, yaw, pitch
