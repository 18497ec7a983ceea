"""Losses of the fake autopilot in flight, and the failsafes that follow."""

from __future__ import annotations

from collections.abc import Iterator

from fake_facts import HOLD, LOSSES


class FakeLosses:
    """Losses with the time (s) of each, and those that a person has taken over from."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._taken_over: set[str] = set()

    def lose(self, what: str, now: float) -> None:
        """One of LOSSES is lost from now on."""
        self._since[what] = now

    def has_noticed(self, what: str, now: float) -> bool:
        """Returns whether it shows."""
        return what in self._since and now - self._since[what] >= LOSSES[what][0]

    def take_over(self, now: float) -> None:
        """A mode is asked for in a failsafe: what shows by now has no effect any more."""
        self._taken_over |= {what for what in self._since if self.has_noticed(what, now)}

    def acting(self, now: float) -> Iterator[tuple[str, int]]:
        """Yields what acts, and the mode that it takes: hold at first, then its own."""
        for what, since in self._since.items():
            _, stands, acts, nav_state = LOSSES[what]
            elapsed = now - since
            if what not in self._taken_over and elapsed >= min(stands, acts):
                yield what, nav_state if elapsed >= acts else HOLD
