"""A vehicle without a graph: told where it is, and landed where a person asks for that and no mission flies it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from esar_ros.bridges.px4.commands import End, Manoeuvre, Outcome
from esar_ros.bridges.px4.offboard import Offboard
from esar_ros.bridges.px4.standing import Standing


class DirectRequest:
    """A person's question about one vehicle. It is done once the place is told, or the vehicle has landed."""

    def __init__(self, rules: Offboard, standing: Standing, land: bool, tell: Callable[[str], None]) -> None:
        """standing: as of the last step; land: landed, or its motors stopped, where it is armed."""
        self.done = False
        self.asked: Manoeuvre | None = None
        self.outcome: Outcome | None = None  # of the landing; None where none was begun
        self.standing = standing
        self._rules, self._land, self._tell = rules, land, tell

    def begin(self, now: float) -> None:
        """Tells where it is, and lands it, or stops its motors on the ground, where that is asked for."""
        standing = self.standing
        self._tell(standing.words)
        if not self._land or (standing.linked and not standing.armed):
            self.done = True
            return
        self.asked = Manoeuvre.DISARM if standing.landed else Manoeuvre.LAND
        refusal = self._rules.ask(self.asked, now)
        if refusal is not None:
            self.outcome, self.done = refusal, True


def where_code(requests: Sequence[DirectRequest]) -> int:
    """Returns 1 where a vehicle is armed in the air, or silent."""
    return int(any(one.standing.aloft or not one.standing.linked for one in requests))


def land_code(requests: Sequence[DirectRequest], tell: Callable[[str], None]) -> int:
    """Tells how each landing ended. Returns 1 where a vehicle is not down."""
    for one in requests:
        standing = one.standing
        if one.outcome is None and standing.aloft:
            tell(f"{standing.words}: {standing.autopilot} goes on with it by itself")
        elif one.outcome is not None:
            tell(standing.words if one.outcome.end is End.DONE else f"not landed: {one.outcome.text}")
    return int(any(one.standing.armed or not one.standing.linked for one in requests))
