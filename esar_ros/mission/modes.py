"""Modes and reasons of the governor (msg/SafetyStatus.msg), whether a vehicle flies (msg/VehicleState.msg), a mission's
phase (msg/MissionState.msg), and a person's orders to its pilot (srv/Order.srv).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final


class Mode(IntEnum):
    """Mode of the governor, ordered by severity: of several that apply, the greatest value wins."""

    UNKNOWN = 0
    NORMAL = 1
    SLOW = 2
    HOLD = 3
    CLIMB = 4
    RETURN = 5
    LAND = 6
    TERMINATE = 7


class Reason(IntEnum):
    """Reason for which the governor changed a command."""

    NONE = 0
    NON_FINITE = 1
    SPEED = 2
    ACCELERATION = 3
    YAW_RATE = 4
    FENCE = 5
    CEILING = 6
    FLOOR = 7
    OBSTACLE = 8
    UNKNOWN_SPACE = 9
    STALE_COMMAND = 10
    STALE_ODOMETRY = 11
    STALE_RANGES = 12
    STALE_MAP = 13
    CLOCK_JUMP = 14
    BATTERY_RESERVE = 15
    BATTERY_EMPTY = 16
    LINK = 17
    NOT_FLYING = 18
    BREACH = 19
    KEEP_OUT = 20
    TRAFFIC = 21
    ESTIMATOR = 22
    CONDITIONS = 23


class Landed(IntEnum):
    """Landed state of a vehicle."""

    UNKNOWN = 0
    ON_GROUND = 1
    FLYING = 2
    LANDING = 3  # in the air, coming down to touch the ground


class MissionPhase(IntEnum):
    """Phase of a mission."""

    UNKNOWN = 0
    PREPARING = 1  # the task is being deployed, nodes are joining
    RUNNING = 2  # the mission's clock runs
    ENDED = 3  # nothing later counts


class Order(IntEnum):
    """A person's order to a pilot, in place of the planner's goal."""

    SEARCH = 1  # the planner's goals again
    HOLD = 2
    RETURN = 3


# Gravest first: what the vehicle does not know about itself, what cannot be undone, what it does not
# know about others, what stands in the way, and last what was merely too much.
SEVERITY: Final[tuple[Reason, ...]] = (
    Reason.BREACH,
    Reason.CLOCK_JUMP,
    Reason.STALE_ODOMETRY,
    Reason.ESTIMATOR,
    Reason.BATTERY_EMPTY,
    Reason.BATTERY_RESERVE,
    Reason.NOT_FLYING,
    Reason.LINK,
    Reason.STALE_COMMAND,
    Reason.STALE_RANGES,
    Reason.NON_FINITE,
    Reason.FLOOR,
    Reason.OBSTACLE,
    Reason.TRAFFIC,
    Reason.FENCE,
    Reason.KEEP_OUT,
    Reason.CEILING,
    Reason.UNKNOWN_SPACE,
    Reason.STALE_MAP,
    Reason.CONDITIONS,
    Reason.SPEED,
    Reason.ACCELERATION,
    Reason.YAW_RATE,
)


def by_severity(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """The distinct reasons, gravest first."""
    present = set(reasons)
    return tuple(reason for reason in SEVERITY if reason in present)


def mode_name(value: int) -> str:
    """Name of a mode; an unknown number as it is."""
    return Mode(value).name.lower() if value in set(Mode) else str(value)


def order_name(value: int) -> str:
    """Name of an order; an unknown number as it is."""
    return Order(value).name.lower() if value in set(Order) else str(value)


def reason_name(value: int) -> str:
    """Name of a reason; an unknown number as it is."""
    return Reason(value).name.lower() if value in set(Reason) else str(value)
