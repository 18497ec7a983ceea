"""The step that is due: the ticks of all vehicles of a node agree on it, and it has not answered them."""

from __future__ import annotations

from collections.abc import Sequence

from esar_ros.mission.stamps import nanoseconds
from esar_ros.msg import Tick
from esar_ros.nodes.core.participant.step import Step


class TickCollector:
    """Puts ticks together to steps, each of which is answered once. All calls come from one thread."""

    def __init__(self, node: str, vehicles: Sequence[str]) -> None:
        """node: its name, as ticks list it while it is absent; vehicles: those that it serves, all of which tick."""
        self.answered: tuple[int, int] | None = None  # (epoch, seq) of the last tick answered
        self.answered_ns: int | None = None  # its stamp
        self._node, self._vehicles = node, tuple(vehicles)
        self._ticks: dict[str, Tick] = {}
        self._followed: dict[str, Tick | None] = {}  # ticks of other vehicles
        self._before_ns: int | None = None  # stamp of the step before the last answered
        self._framed: tuple[tuple[int, int], ...] = ()  # (epoch, ns) of the last two frames answered

    def follow(self, vehicle: str) -> None:
        """Makes no step due before that vehicle, which the node does not serve, ticks too."""
        self._followed[vehicle] = None

    def hear_of(self, vehicle: str, tick: Tick) -> None:
        """Takes in the tick of a vehicle that is followed."""
        self._followed[vehicle] = tick

    def absent_of(self, vehicle: str) -> frozenset[str]:
        """Returns the nodes of a vehicle which the present step does not wait for."""
        tick = self._followed.get(vehicle) or self._ticks.get(vehicle)
        return frozenset() if tick is None else frozenset(tick.absent)

    def asks_again(self, vehicle: str, tick: Tick) -> bool:
        """Takes in a tick; returns whether it asks at a new epoch for the step answered last.

        That answer stands, and the tick counts as answered: whoever lost the answer is to get it again.
        """
        self._ticks[vehicle] = tick
        key = (tick.epoch, tick.seq)
        if self.answered is None or self.answered == key:
            return False
        again = self.answered_ns == nanoseconds(tick.header.stamp) and self.answered[1] == tick.seq
        if again:
            self.answered = key
        return again

    def due(self) -> Step | None:
        """Returns the step that the ticks ask for; None while they do not agree, or it is answered, or not for us."""
        key = self._key()
        if key is None or key == self.answered:
            return None
        followed = list(self._followed.values())
        if any(tick is None or (tick.epoch, tick.seq) != key for tick in followed):
            return None
        ticks = [self._ticks[vehicle] for vehicle in self._vehicles]
        if any(self._node in tick.absent for tick in ticks):
            return None  # not admitted yet: this step does not count on an answer, and its inputs may be missing
        tick = ticks[0]
        ns = nanoseconds(tick.header.stamp)
        previous = self._before_ns if self.answered_ns == ns else self.answered_ns
        if self.answered is not None and self.answered[0] != tick.epoch:
            previous = None  # a new epoch: who has just joined did not answer the step before
        frame_before = next((at for epoch, at in reversed(self._framed) if epoch == tick.epoch and at < ns), None)
        absent = frozenset().union(*(tick.absent for tick in ticks))
        return Step(ns, tick.seq, tick.kinds, tick.period, previous, absent, frame_before, epoch=tick.epoch)

    def finish(self, step: Step) -> None:
        """Notes that a step is answered."""
        if self.answered_ns != step.ns:
            self._before_ns, self.answered_ns = self.answered_ns, step.ns
        self.answered = (step.epoch, step.seq)
        if step.is_frame():
            self._framed = (*(f for f in self._framed[-1:] if f[1] != step.ns), (step.epoch, step.ns))

    def _key(self) -> tuple[int, int] | None:
        """Returns the (epoch, seq) on which the ticks of all vehicles served agree; None while they do not."""
        if len(self._ticks) < len(self._vehicles):
            return None
        keys = {(tick.epoch, tick.seq) for tick in self._ticks.values()}
        return keys.pop() if len(keys) == 1 else None
