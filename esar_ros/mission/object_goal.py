"""Words of object-goal navigation: an object described in words, the search for it, and agents that fly step by step.

Source: Xiao et al., UAV-ON, 2025, section 3: a drone with four RGB-D cameras and eight actions. Poses count from the
commanded one: where an action leads follows from the last pose and the action alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, Vector, quaternion_from_yaw


class SizeClass(str, Enum):
    """Classes of size by which UAV-ON groups its objects."""

    SMALL = "small"
    MID = "mid"
    BIG = "big"


@dataclass(frozen=True)
class ObjectGoal:
    """The description of an object as an agent is given it, as it is written in the episode's file.

    size: a class and an area, such as " mid(2.5*2.0=5.0 squares)".
    """

    name: str
    size: str
    description: str

    @property
    def size_class(self) -> SizeClass | None:
        """The first of small, mid and big that the size contains; None where it contains none.

        Never computed from the area: the areas of UAV-ON's classes overlap.
        """
        return next((size for size in SizeClass if size.value in self.size), None)


@dataclass(frozen=True)
class ObjectGoalEpisode:
    """One search for an object: start, description and ground truth. Map frame (m).

    An agent is given `goal` and `start`; `targets` and both distances are ground truth.
    """

    id: str
    scene: str
    start: Pose  # FLU body in the map
    goal: ObjectGoal
    targets: Vector  # (N, 3) positions that count as the object's, N >= 1
    shortest: float  # m, length of the shortest path from the start, as the episode's file has it
    straight: float  # m, distance from the start in a straight line, as the episode's file has it


class StepKind(str, Enum):
    """The eight actions."""

    FORWARD = "forward"
    LEFT = "left"
    RIGHT = "right"
    UP = "up"
    DOWN = "down"
    TURN_LEFT = "turn_left"
    TURN_RIGHT = "turn_right"
    STOP = "stop"


TURNS = {StepKind.TURN_LEFT: 1.0, StepKind.TURN_RIGHT: -1.0}
CLIMBS = {StepKind.UP: 1.0, StepKind.DOWN: -1.0}
MOVES = {StepKind.FORWARD: 0.0, StepKind.LEFT: 90.0, StepKind.RIGHT: -90.0}  # degrees from the heading


@dataclass(frozen=True)
class StepAction:
    """An action and its size, m or degrees; None: the task's fixed size of it."""

    kind: StepKind
    size: float | None = None


@dataclass(frozen=True, eq=False)
class StepPose:
    """Pose between two actions. Arrays are read-only."""

    position: Vector  # (3,) m
    yaw: float  # degrees, 0 = east, counter-clockwise, in (-180, 180]
    tilt: Vector  # (4,) attitude of the body (FLU) against a level one of that heading: roll and pitch of the start

    @staticmethod
    def of(pose: Pose) -> StepPose:
        """A body's pose (FLU)."""
        heading = pose.yaw
        level = Pose(quaternion=quaternion_from_yaw(-heading))
        tilt = level.compose(Pose(quaternion=pose.quaternion)).quaternion
        return StepPose(_kept(pose.position), wrapped(math.degrees(heading)), _kept(tilt))

    @property
    def pose(self) -> Pose:
        """The body's pose (FLU)."""
        level = Pose(self.position, quaternion_from_yaw(math.radians(self.yaw)))
        return level.compose(Pose(quaternion=self.tilt))

    def after(self, kind: StepKind, size: float) -> StepPose:
        """Pose to which an action leads; size in m or degrees."""
        if kind in TURNS:
            return StepPose(self.position, wrapped(self.yaw + TURNS[kind] * size), self.tilt)
        if kind in MOVES:
            course = math.radians(self.yaw + MOVES[kind])
            way = np.array([math.cos(course), math.sin(course), 0.0])
        else:
            way = np.array([0.0, 0.0, CLIMBS.get(kind, 0.0)])
        return StepPose(_kept(self.position + size * way), self.yaw, self.tilt)


def wrapped(degrees: float) -> float:
    """An angle wrapped into (-180, 180]."""
    angle = 180.0 - (180.0 - degrees) % 360.0
    return angle if angle > -180.0 else 180.0  # the remainder of a tiny negative number rounds up to 360


def _kept(values: Vector) -> Vector:
    out = np.array(values, dtype=np.float64)
    out.setflags(write=False)
    return out


@dataclass(frozen=True)
class StepTask:
    """All that an agent is told when an episode begins. Poses are in the frame in which it is told its own."""

    id: str  # names the episode; reveals no position
    goal: ObjectGoal
    start: StepPose
    half_side: float  # m: the target lies within this of the start along x and along y
    max_actions: int  # the stop included
    sizes: Mapping[StepKind, float]  # m or degrees, of an action without a size of its own
    near: float  # m: a stop within this of the target is a success

    def size(self, action: StepAction) -> float:
        """Size of an action, m or degrees; 0 of a stop."""
        return self.sizes.get(action.kind, 0.0) if action.size is None else action.size


class StepViews(Protocol):
    """Images of the four cameras where the vehicle is, by camera; each kind is drawn when first looked at."""

    @property
    def model(self) -> CameraModel:
        """Intrinsics of the depth images; colour images have the same field of view."""
        ...

    @property
    def poses(self) -> Mapping[str, Pose]:
        """Optical frames, in the frame of the agent's poses."""
        ...

    @property
    def colour(self) -> Mapping[str, NDArray[np.uint8]]:
        """(H, W, 3) RGB."""
        ...

    @property
    def depth(self) -> Mapping[str, NDArray[np.float32]]:
        """(h, w) m along the ray of each pixel."""
        ...

    @property
    def labels(self) -> Mapping[str, Mapping[str, int]]:
        """Words for each object seen, with its number of pixels: ground truth, for agents that say `eligible` False."""
        ...


@dataclass(frozen=True, eq=False)
class StepObservation:
    """All that an agent may use to choose its next action."""

    number: int  # actions so far
    pose: StepPose
    views: StepViews
