"""Requests to PX4: manoeuvres and their outcomes, commands (VehicleCommand) and the meaning of their results."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Final

from esar_ros.bridges.px4.state import HOLD, LAND, OFFBOARD, RETURN, TAKE_OFF

RESULTS: Final = ("accepted", "temporarily rejected", "denied", "unsupported", "failed", "in progress", "cancelled")

OWN_SYSTEM, OWN_COMPONENT = 1, 191  # of the commands' source: MAV_COMP_ID_ONBOARD_COMPUTER
ACCEPTED: Final = 0  # of RESULTS
# That choose a mode: return, land, take off, DO_SET_MODE, DO_REPOSITION (a ground station's pause), DO_PAUSE_CONTINUE,
# MISSION_START and SET_NAV_STATE.
CHOOSING: Final = frozenset({20, 21, 22, 176, 192, 193, 300, 100001})
_NAV_TAKEOFF, _SET_NAV_STATE = 22, 100001


class Manoeuvre(IntEnum):
    """Manoeuvres that can be requested; those above ten are this graph's own actions."""

    TAKE_OFF = 1
    MISSION = 2
    HOLD = 3
    RETURN = 4
    LAND = 5
    ARM = 11
    DISARM = 12
    TOUCH_DOWN = 13


class End(Enum):
    """Outcome of a manoeuvre."""

    DONE = "done"
    REFUSED = "refused"  # not begun: the governor's mode, or not ready
    FAILED = "failed"  # begun, but the status did not follow
    REPLACED = "replaced"
    CALLED_OFF = "called off"


@dataclass(frozen=True)
class Outcome:
    """End of a manoeuvre, in words. because: what refused it."""

    end: End
    text: str = ""
    because: str = ""  # "safety", "not ready", "flying", "on ground"


@dataclass(frozen=True)
class Command:
    """Numbers of a VehicleCommand."""

    command: int
    param1: float = 0.0
    param2: float = 0.0
    param3: float = 0.0
    param4: float = 0.0
    param5: float = 0.0
    param6: float = 0.0
    param7: float = 0.0


def set_mode(main: int, sub: int = 0) -> Command:
    """DO_SET_MODE, with PX4's own mode numbers."""
    return Command(176, 1.0, float(main), float(sub))


def set_nav_state(nav_state: int) -> Command:
    """SET_NAV_STATE: a mode by VehicleStatus's number, as external modes are asked for."""
    return Command(_SET_NAV_STATE, float(nav_state))


def take_off(altitude: float) -> Command:
    """NAV_TAKEOFF to an altitude (m AMSL), straight up: a heading, latitude or longitude of zero would be flown to."""
    return Command(_NAV_TAKEOFF, param4=math.nan, param5=math.nan, param6=math.nan, param7=altitude)


def result_name(result: int) -> str:
    """An answer to a command for people."""
    return RESULTS[result] if 0 <= result < len(RESULTS) else str(result)


MODE_HOLD: Final = set_mode(4, 3)
MODE_OFFBOARD: Final = set_mode(6)
MODE_RETURN: Final = set_mode(4, 5)
MODE_LAND: Final = set_mode(4, 6)
ARM: Final = Command(400, 1.0)
DISARM: Final = Command(400, 0.0)
TERMINATE: Final = Command(185, 1.0)
LEADS_TO: Final = {MODE_HOLD: HOLD, MODE_OFFBOARD: OFFBOARD, MODE_RETURN: RETURN, MODE_LAND: LAND}


def mode_of(command: Command) -> int | None:
    """Returns the mode that a command asks for, by VehicleStatus's number; None where it asks for none."""
    if command.command == _NAV_TAKEOFF:
        return TAKE_OFF
    return int(command.param1) if command.command == _SET_NAV_STATE else LEADS_TO.get(command)
