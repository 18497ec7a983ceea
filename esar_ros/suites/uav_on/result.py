"""The result of one episode: schema uav-on-result/1, all that scores, tables and logs are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

import esar_ros
from esar_ros.benchmark.runner.records import Tracks
from esar_ros.geometry.frames import Pose
from esar_ros.mission.object_goal import StepKind
from esar_ros.mission.settings_file import StrictModel
from esar_ros.scoring.object_goal import (
    TERMS,
    GoalOutcome,
    NavigationRecord,
    Poses,
    Rules,
    navigation_record,
    outcome,
)
from esar_ros.suites.uav_on.conditions import UavOnConditions
from esar_ros.suites.uav_on.episodes import EpisodeEntry, entry_from
from esar_ros.suites.uav_on.flight import FlownEpisode, FlownFrame
from esar_ros.suites.uav_on.logs import ACTION_NAMES, Frame
from esar_ros.suites.uav_on.scenes import FlownTask

SCHEMA: Literal["uav-on-result/1"] = "uav-on-result/1"
Numbers = tuple[float, float, float, float, float, float, float]


class FrameRecord(StrictModel):
    """One frame; poses are x, y, z (m, map) and the quaternion w, x, y, z of the body (FLU)."""

    action: StepKind | None
    size: Annotated[float, Field(ge=0)]
    contact: bool
    commanded: Numbers
    measured: Numbers

    def pose(self, poses: Poses) -> Pose:
        """The commanded or the measured pose."""
        numbers = np.array(self.commanded if poses == "commanded" else self.measured)
        return Pose(numbers[:3], numbers[3:])


class GoalResult(StrictModel):
    """One episode as it was flown."""

    schema_: Literal["uav-on-result/1"] = Field(alias="schema")
    scene: str
    map: str
    map_digest: str
    split: str
    poses: Poses  # which were told and are scored
    terms: Literal["uav-on", "apex"] = "uav-on"
    episode: dict[str, Any]  # as its file has it
    frames: tuple[FrameRecord, ...] = Field(min_length=1, max_length=max(terms.actions for terms in TERMS.values()) + 1)
    stopped: bool
    contact_at_stop: bool
    error: str | None
    end: Literal["stop", "step_limit", "collision", "error"]
    outcome: GoalOutcome  # under the public code's rules
    eligible: bool
    details: dict[str, str]  # of the agent
    account: dict[str, int]
    versions: dict[str, str]

    def entry(self, where: str) -> EpisodeEntry:
        """The episode. Raises UsageError."""
        return entry_from(self.episode, where)

    def record(self, entry: EpisodeEntry, poses: Poses | None = None) -> NavigationRecord:
        """The record that is scored. Raises ValueError for what no episode leaves; poses: None, the result's."""
        chosen = poses or self.poses
        return navigation_record(
            entry.episode,
            [frame.pose(chosen).position for frame in self.frames],
            [frame.contact for frame in self.frames],
            self.stopped,
            self.contact_at_stop,
            chosen,
            self.error is not None,
            TERMS[self.terms],
        )

    def log_frames(self) -> list[Frame]:
        """The frames as logs have them."""
        return [
            Frame(frame.pose(self.poses), frame.contact, frame.action and ACTION_NAMES[frame.action], frame.size)
            for frame in self.frames
        ]


def make_goal_result(
    task: FlownTask, flown: FlownEpisode, conditions: UavOnConditions, eligible: bool, map_digest: str
) -> GoalResult:
    """The result of a flown episode."""
    poses = conditions.poses
    last, steps = flown.frames[-1], len(flown.frames) - 1
    end: Literal["stop", "step_limit", "collision", "error"] = "stop"
    if flown.error is not None:
        end = "error"
    elif last.contact:
        end = "collision"
    elif not flown.stopped:
        assert steps == TERMS[conditions.terms].actions
        end = "step_limit"
    record = navigation_record(
        task.entry.episode,
        [(frame.commanded if poses == "commanded" else frame.measured).position for frame in flown.frames],
        [frame.contact for frame in flown.frames],
        flown.stopped,
        flown.contact_at_stop,
        poses,
        flown.error is not None,
        TERMS[conditions.terms],
    )
    return GoalResult(
        schema=SCHEMA,
        scene=task.scene.name,
        map=task.scene.map,
        map_digest=map_digest,
        split=task.scene.split,
        poses=poses,
        terms=conditions.terms,
        episode=dict(task.entry.document),
        frames=tuple(map(_frame, flown.frames)),
        stopped=flown.stopped,
        contact_at_stop=flown.contact_at_stop,
        error=flown.error,
        end=end,
        outcome=outcome(record, Rules.CODE),
        eligible=eligible,
        details=flown.details,
        account=flown.account,
        versions={"esar_ros": esar_ros.__version__},
    )


def _frame(frame: FlownFrame) -> FrameRecord:
    return FrameRecord(
        action=frame.kind,
        size=frame.size,
        contact=frame.contact,
        commanded=_numbers(frame.commanded),
        measured=_numbers(frame.measured),
    )


def _numbers(pose: Pose) -> Numbers:
    x, y, z = (float(value) for value in pose.position)
    qw, qx, qy, qz = (float(value) for value in pose.quaternion)
    return x, y, z, qw, qx, qy, qz


def track_of(frames: Sequence[FlownFrame]) -> Tracks:
    """Returns the vehicle's places after each action, for drawing: x, y, z (m, map)."""
    places = np.array([frame.measured.position for frame in frames]).round(3)
    return {"uav1": {axis: column.tolist() for axis, column in zip("xyz", places.T, strict=True)}}
