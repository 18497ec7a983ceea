"""The rules of UAV-ON a second time, for the differential test: the public code's as the loop that flies an episode
decides them, the paper's equations and its wording as loops over frames. Nothing here is taken from the scoring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Script:
    """An episode as flown: distance of the start, then (distance, contact) of each action; a stop has None."""

    start: float
    actions: Sequence[tuple[float | None, bool]]
    shortest: float
    path: float
    logged_path: float
    logged_distance: float
    limit: int = 150
    near: float = 20.0


@dataclass(frozen=True)
class Score:
    """Score of one episode."""

    success: bool
    oracle: bool
    dts: float
    spl: float


def code(script: Script) -> Score:
    """As the loop decides while it flies: after every action, whether the episode is over and what it is called."""
    here = script.start
    passed = False
    for number, (there, contact) in enumerate(script.actions, start=1):
        said_stop = there is None
        here = here if there is None else there
        passed = passed or here < script.near
        success, oracle = said_stop and here <= script.near, passed
        if contact:
            success = oracle = False
        if number == script.limit and here <= script.near:
            oracle = True
        if said_stop or contact or number == script.limit:
            good = success and script.logged_path > 0.0 and script.shortest > 0.0
            spl = script.shortest / max(script.logged_path, script.shortest) if good else 0.0
            return Score(success, success or oracle, script.logged_distance, spl)
    raise AssertionError("the script does not end")


def _equation_4(script: Script, success: bool) -> float:
    if not success:
        return 0.0
    if script.path == 0.0:
        return 1.0
    return min(1.0, script.shortest / script.path)


def paper(script: Script) -> Score:
    """Equations 1 to 4."""
    distances = [script.start] + [there for there, _ in script.actions if there is not None]
    success = not distances[-1] > script.near
    return Score(success, sorted(distances)[0] <= script.near, distances[-1], _equation_4(script, success))


def strict(script: Script) -> Score:
    """Sections 3 and 4.2: the agent stops within 20 m, and any contact is a failure."""
    here, clean, oracle, success = script.start, True, script.start <= script.near, False
    for there, contact in script.actions:
        clean = clean and not contact
        if there is None:
            success = clean and here <= script.near
        else:
            here = there
            oracle = oracle or (clean and here <= script.near)
    return Score(success, oracle, here, _equation_4(script, success))


RULES = {"code": code, "paper": paper, "strict": strict}
