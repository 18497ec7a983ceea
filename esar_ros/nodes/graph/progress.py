"""Progress lines of the referee: how the supervisor and a person learn where a mission stands."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from esar_ros.msg import PilotState

PREFIX = "@progress "
WAIT = "wait"  # phase of a line that tells only what is waited for
SERVING = "Watch it at"  # how a process that serves viewers says where

PHASES: dict[int, str] = {
    PilotState.UNKNOWN: "join",
    PilotState.DISARMED: "arm",
    PilotState.ARMING: "arm",
    PilotState.TAKE_OFF: "take_off",
    PilotState.FLY: "search",
    PilotState.HOLD: "search",
    PilotState.RETURN: "return",
    PilotState.LAND: "land",
    PilotState.DONE: "land",
}


@dataclass(frozen=True)
class Progress:
    """One line: phase in a word, times in s, coverage 0..1."""

    phase: str
    elapsed: float = 0.0
    t_max: float = 0.0
    coverage: float = 0.0
    clues: int = 0  # probable enough to be reported
    candidates: int = 0  # seen, and less probable
    reports: int = 0
    mode: str = ""
    text: str = ""


def tell(progress: Progress) -> None:
    """Prints a progress line."""
    print(PREFIX + json.dumps(asdict(progress)), flush=True)
