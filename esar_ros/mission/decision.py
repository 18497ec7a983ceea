"""A planner's decision at one frame: where to go, what to report, whether to stop."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, IntEnum

import numpy as np

from esar_ros.geometry.frames import Vector

_HALVES = re.compile("[\ud800-\udfff]")
PARTLY = "partly: "  # before the trouble of a decision that was made with the model all the same


class GoalType(Enum):
    """Values equal those of msg/Goal.msg."""

    HOLD = 1
    WAYPOINT = 2
    VELOCITY = 3
    RETURN = 4
    LAND = 5


class HeightReference(Enum):
    """Height datum of a waypoint's z; values equal those of msg/Goal.msg."""

    MAP = 1
    GROUND = 2


class DecisionStatus(IntEnum):
    """State of a decision; values equal those of msg/Decision.msg."""

    UNKNOWN = 0
    DONE = 1
    THINKING = 2  # still at it: the last goal stays until effective
    STOP = 3  # the mission is over as far as the planner is concerned
    FAILED = 4  # the method raised an error, or its answer was no decision: the mission ends as an error


class ReportType(IntEnum):
    """Values equal those of msg/Report.msg."""

    CLUE = 1
    VICTIM = 2


@dataclass(frozen=True)
class Goal:
    """A motion request in the map frame (m, m/s, rad); stays in force until replaced."""

    type: GoalType = GoalType.HOLD
    position: Vector = field(default_factory=lambda: np.zeros(3))
    height_reference: HeightReference = HeightReference.MAP
    yaw: float | None = None  # None: nose along the way
    velocity: Vector = field(default_factory=lambda: np.zeros(3))
    yaw_rate: float = 0.0
    speed: float = 0.0  # 0: as fast as allowed


@dataclass(frozen=True)
class Report:
    """A claim that cannot be taken back; position in the map frame (m)."""

    type: ReportType
    kind: str
    text: str
    position: Vector
    confidence: float = 1.0


@dataclass(frozen=True)
class Decision:
    """One answer of a method to one observation. goal None keeps the last goal."""

    action: str
    why: str
    goal: Goal | None = None
    reports: tuple[Report, ...] = ()
    stop: bool = False
    considered: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    thinking: bool = False  # still at it: the last goal holds until a later decision
    trouble: str = ""  # why it was decided without the model that the method asks


def writable(text: str) -> str:
    """Returns a text whose halves of surrogate pairs, which no file and no message holds, are U+FFFD.

    A server that cuts an answer at its greatest length may cut an emoji in two.
    """
    return _HALVES.sub("\ufffd", text)


def partly(trouble: str) -> str:
    """Returns the trouble of a decision that was made with an answer of the model though another was not usable."""
    return f"{PARTLY}{trouble}" if trouble and not trouble.startswith(PARTLY) else trouble
