"""The time into a mission, by the stamps of its steps."""

from __future__ import annotations

from esar_ros.msg import MissionState
from esar_ros.nodes.core.stamps import start_of
from esar_ros.nodes.core.steps import Step


class MissionClock:
    """The clock that began with the mission: its state tells when, and in lockstep the first step, which is as exact.

    A node that was started again has not seen the first step; the state, which is latched, tells it then.
    """

    def __init__(self) -> None:
        self._mission = ""  # whose start the state has told
        self._start_ns: int | None = None

    def elapsed(self, step: Step, state: MissionState | None) -> float:
        """Returns the time of a step (s into the mission), 0 before its start. state: the newest, if there is any."""
        if state is not None and state.mission_id != self._mission and (told := start_of(state)) is not None:
            self._mission, self._start_ns = state.mission_id, told
        if self._start_ns is None and step.exact:
            self._start_ns = step.ns
        return 0.0 if self._start_ns is None else max(0, step.ns - self._start_ns) * 1e-9
