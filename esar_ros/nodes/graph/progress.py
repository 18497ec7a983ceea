"""Lines between the referee and the supervisor: where a mission stands, and what has ended it."""

from __future__ import annotations

import json
import os
import select
import sys
from dataclasses import asdict, dataclass

from esar_ros.mission.system.truth_token import ON_STANDARD_INPUT, VARIABLE
from esar_ros.msg import PilotState

PREFIX = "@progress "
WAIT = "wait"  # phase of a line that tells only what is waited for
REPORT = "report"  # phase of a line that tells only what was reported, and where
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


def told_failure() -> str:
    """Returns what the supervisor has written on standard input: which process failed; empty where a person ends it."""
    if os.environ.get(VARIABLE) != ON_STANDARD_INPUT:
        return ""  # nobody's pipe
    try:
        ready, _, _ = select.select([sys.stdin.fileno()], [], [], 0.0)
        text = os.read(sys.stdin.fileno(), 4096) if ready else b""
    except (OSError, ValueError):
        return ""
    return " ".join(text.decode("utf-8", "replace").split())
