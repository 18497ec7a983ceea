"""The mode and height of the governor that a bridge acts on, and how far a status is believed."""

from __future__ import annotations

from typing import Any

from esar_ros.mission.modes import Mode
from esar_ros.nodes.core.authority import LOOK, Authority
from esar_ros.nodes.messages import convert

INSISTS = 2.0 * LOOK  # s for which every status must say so until the motors are stopped


class GovernorStatus:
    """The governor's statement; while its topics have another writer, a hold, no height and no words.

    The governor latches a termination and repeats it in every status, and somebody else who writes is seen at a look
    at the graph. So a termination is believed once nothing else has been told for longer than two looks.
    """

    def __init__(self, authority: Authority) -> None:
        self._authority = authority
        self._mode = Mode.UNKNOWN
        self._height: float | None = None
        self._text = ""
        self._ending_since: float | None = None  # s, steady clock: since when every status terminates
        self.is_known = False  # whether the last status that was taken told a mode that there is

    @property
    def mode(self) -> Mode:
        """The mode to go by; UNKNOWN until the first status."""
        return Mode.HOLD if self._authority.complaint else self._mode

    @property
    def height(self) -> float | None:
        """Height (m) above the surface below; None: not seen."""
        return None if self._authority.complaint else self._height

    @property
    def text(self) -> str:
        """The reason for which the governor changes what the pilot commands, in words; empty: it does not."""
        return "" if self._authority.complaint else self._text

    def take(self, status: Any, now: float) -> None:
        """Take in a SafetyStatus that has come at now (s, steady clock)."""
        if self._authority.complaint:
            self._ending_since = None
            return
        mode = convert.mode_of(status)
        if mode < Mode.TERMINATE:
            self._ending_since = None
        elif self._ending_since is None:
            self._ending_since = now
        if self._ending_since is not None and now - self._ending_since <= INSISTS:
            mode = Mode.HOLD
        self.is_known = convert.is_mode(status.mode)
        self._mode = mode
        self._height = float(status.height) if status.has_height else None
        self._text = str(status.text)
