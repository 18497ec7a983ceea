"""Barrier for work of several nodes in one process on a shared object, done once a step and in a fixed order.

Two vehicles' frames go into one map. The order of arrival depends on the machine, the map must not: so each offers its
work of a step, and the last to come has all of it done, in the order of the members.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence


class WorkBarrier:
    """The members of one shared thing. All calls come from one thread."""

    def __init__(self, members: Sequence[str] = ()) -> None:
        """members: names, in the order of their turns."""
        self.members = tuple(members)
        self._wake: dict[str, Callable[[], None]] = {}
        self._ns = -1
        self._offered: dict[str, Callable[[], None]] = {}
        self._done: set[str] = set()

    def join(self, member: str, wake: Callable[[], None]) -> None:
        """wake: called when the work of a step has been done while the member was waiting."""
        self._wake[member] = wake

    def take(self, member: str, ns: int, work: Callable[[], None], awaited: Collection[str]) -> bool:
        """Offer the work of a step (ns); whether it has been done. False: ask again when woken.

        awaited: members whose work of this step must come first. Work offered twice for one step is done once.
        """
        if ns != self._ns:
            self._ns, self._offered, self._done = ns, {}, set()
        if member in self._done:
            return True
        self._offered[member] = work
        if any(other not in self._offered and other not in self._done for other in awaited):
            return False
        due = [name for name in self.members if name in self._offered] or [member]
        for name in due:
            self._offered.pop(name)()
            self._done.add(name)
        for name in due:
            if name != member and name in self._wake:
                self._wake[name]()
        return True
