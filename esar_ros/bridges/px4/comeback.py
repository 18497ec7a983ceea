"""The way back to the mission from a hold that the bridge itself asked for, because safe commands or the link failed.

A hold that a person or a failsafe chose is never left: the caller forgets the hold as soon as the autopilot's status
says anything else than hold without a failsafe.
"""

from __future__ import annotations

import math

MEMORY = 600.0  # s for which a comeback counts


class Comeback:
    """Says when the mission may be resumed. Times are s of a steady clock that the caller reads."""

    def __init__(self) -> None:
        self._held_since: float | None = None
        self._sound_since = math.inf  # s; safe commands and the link have been sound since
        self._made: list[float] = []  # times of comebacks

    @property
    def is_open(self) -> bool:
        """True from a hold of the bridge's own until it has come back or may not any more."""
        return self._held_since is not None

    def hold(self, now: float) -> None:
        """The bridge has left its mode for hold."""
        self._held_since = now

    def forget(self) -> None:
        """Somebody else has the vehicle, or it is in its mode."""
        self._held_since = None

    def watch(self, now: float, is_sound: bool) -> None:
        """Takes in a step. is_sound: safe commands are fresh, the link is up and the governor does not hold."""
        self._sound_since = min(self._sound_since, now) if is_sound else math.inf

    def is_late(self, now: float, within: float) -> bool:
        """Returns whether the hold has lasted for longer than `within` (s)."""
        return self._held_since is not None and now - self._held_since > within

    def is_used_up(self, now: float, limit: int) -> bool:
        """Returns whether `limit` comebacks were made within MEMORY."""
        return sum(now - made <= MEMORY for made in self._made) >= limit

    def is_due(self, now: float, steady: float) -> bool:
        """Returns whether it is held and all has been sound for `steady` (s)."""
        return self.is_open and now - self._sound_since >= steady

    def begin(self, now: float) -> None:
        """A comeback is being made; it counts whether it succeeds or not."""
        self._made = [made for made in self._made if now - made <= MEMORY] + [now]
        self.forget()
