"""Words of search and rescue on the ground: a walker finds a victim, carries them to a stretcher and puts them down.

Source: Wu et al., RescueBench, 2026, section 2.1, and its public code. Map frame, m, rad; headings counter-clockwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, Vector

FASTEST = 1.0
"""m/s, the largest speed that takes effect."""
SHARPEST = 30.0
"""Degrees, the largest angle that takes effect."""
TURN_RATE = 2.8
"""Degrees that the body turns in a second by degree of an action's angle."""


class Phase(str, Enum):
    """Phases as agents are told them."""

    FIND_INJURED = "find_injured"
    FIND_STRETCHER = "find_stretcher"


class Animation(IntEnum):
    """Movements of the body beside walking."""

    STAND = 0
    JUMP = 1
    CROUCH = 2
    CARRY = 3
    DROP = 4
    OPEN_DOOR = 5


class Head(IntEnum):
    """Movements of the head."""

    NONE = 0
    UP = 1
    DOWN = 2


@dataclass(frozen=True)
class WalkAction:
    """An action; it stays in force until the next one."""

    speed: float = 0.0  # m/s along the heading, backwards where negative
    angle: float = 0.0  # degrees to the left: the body turns by TURN_RATE times as much in a second
    head: Head = Head.NONE
    animation: Animation = Animation.STAND

    def standing(self, animation: Animation, angle: float = 0.0) -> WalkAction:
        """Returns the action on the spot, with another animation; the head moves as it was."""
        return replace(self, speed=0.0, angle=angle, animation=animation)

    def clipped(self) -> WalkAction:
        """Returns the action with what takes effect of speed and angle."""
        return replace(
            self,
            speed=min(max(self.speed, -FASTEST), FASTEST),
            angle=min(max(self.angle, -SHARPEST), SHARPEST),
        )


@dataclass(frozen=True, eq=False)
class StandingPose:
    """Position and heading of something upright."""

    position: Vector  # (3,) m
    yaw: float  # rad


@dataclass(frozen=True, eq=False)
class RescuePoint:
    """One task. An agent is told the description and no position but its own."""

    place: str  # where it is, such as FlexibleRoom
    level: int  # 0 to 4: L1 to L5
    number: int  # of the point within its level, from 0
    start: StandingPose  # of the walker
    victim: StandingPose
    stretcher: StandingPose
    ambulance: StandingPose
    description: str
    time_limit: float  # s
    appearance: int | None = None  # of the victim

    @property
    def title(self) -> str:
        """Names the point among those of its set."""
        return f"{level_name(self.level)} point {self.number}"

    def moved(self, by: Vector) -> RescuePoint:
        """Returns the same task elsewhere; by: (3,) m."""
        start, victim, stretcher, ambulance = (
            replace(pose, position=pose.position + by)
            for pose in (self.start, self.victim, self.stretcher, self.ambulance)
        )
        return replace(self, start=start, victim=victim, stretcher=stretcher, ambulance=ambulance)


@dataclass(frozen=True)
class WalkTask:
    """All that an agent is told when an episode begins."""

    id: str  # names the episode; reveals no position
    level: int  # 0 to 4: L1 to L5
    description: str  # of the victim and where they are
    time_limit: float  # s
    step: float  # s that an action is in force
    pick_up: float  # m from the victim below which they are picked up, level
    put_down: float  # m from the stretcher below which they are put down, level


class WalkView(Protocol):
    """Image through the walker's eye; each kind is drawn when first looked at."""

    @property
    def model(self) -> CameraModel:
        """Intrinsics."""
        ...

    @property
    def pose(self) -> Pose:
        """Optical frame in the map."""
        ...

    @property
    def colour(self) -> NDArray[np.uint8]:
        """(H, W, 3) RGB."""
        ...

    @property
    def depth(self) -> NDArray[np.float32]:
        """(H, W) m along the optical axis, +inf for sky."""
        ...


@dataclass(frozen=True, eq=False)
class PersonReport:
    """A person that a drone reports to the walker below: all that goes over their link."""

    seconds: float  # since the start
    position: Vector  # (3,) m
    covariance: NDArray[np.float64]  # (3, 3) m^2, of the position


@dataclass(frozen=True, eq=False)
class WalkObservation:
    """All that an agent may use to choose its next action."""

    number: int  # actions so far
    seconds: float  # since the start
    phase: Phase
    carrying: bool
    pose: StandingPose  # of the body's middle
    view: WalkView
    target: Vector | None = None  # (3,) m, where what is sought is: ground truth, None unless it was asked for
    reports: tuple[PersonReport, ...] = ()  # that came from the agent's own drone since the last action


def level_name(level: int) -> str:
    """Returns the paper's name of a level with that of the public code, which counts from 0."""
    return f"L{level + 1} (level_{level})"
