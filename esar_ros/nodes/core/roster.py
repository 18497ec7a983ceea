"""Participants of the steps: known by heartbeats, lost after a silence, back at a new epoch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass
class _Member:
    boot_id: int = 0
    ready: bool = False
    waiting_for: str = "its first heartbeat"
    last_heartbeat: float = -1e9  # s, steady clock
    answered: int = -1  # ns, last step finished with
    present: bool = False
    left: str = "not there yet"  # why it is not present


class Roster:
    """Members of one vehicle's steps. Times are s of a steady clock that the caller reads.

    A member joins when it says it is ready, and leaves when it says it is not or is silent for `patience`.
    Every join after the start and every loss raises `epoch`.
    """

    def __init__(self, members: Iterable[str], patience: float, epoch: int = 1) -> None:
        """epoch: the first one; a restarted bridge must not repeat the old one's."""
        self._members = {name: _Member() for name in members}
        self._patience = patience
        self.epoch = epoch

    def on_heartbeat(self, node: str, boot_id: int, ready: bool, waiting_for: str, answered: int, now: float) -> None:
        """Take in one heartbeat; nodes that are not members are ignored. answered: ns, 0 before the first step."""
        member = self._members.get(node)
        if member is None:
            return
        if member.boot_id != boot_id:
            if member.present:  # restarted faster than its silence was noticed
                member.present, member.left = False, "started again"
                self.epoch += 1
            member.boot_id = boot_id
            member.answered = -1
        elif member.present and not ready:
            member.present, member.left = False, f"waits for {waiting_for}"
            self.epoch += 1
        member.ready, member.waiting_for, member.last_heartbeat = ready, waiting_for, now
        member.answered = max(member.answered, answered or -1)

    def admit(self) -> bool:
        """Let ready members join (between steps only). True when somebody joined."""
        joined = [m for m in self._members.values() if m.ready and not m.present]
        for member in joined:
            member.present = True
        if joined:
            self.epoch += 1
        return bool(joined)

    def evict(self, now: float) -> bool:
        """Drop members that have been silent too long. True when somebody was dropped."""
        lost = [m for m in self._members.values() if m.present and now - m.last_heartbeat > self._patience]
        for member in lost:
            member.present, member.ready, member.boot_id = False, False, 0
            member.waiting_for, member.left = "its heartbeat", f"silent for {self._patience:g} s"
        if lost:
            self.epoch += 1
        return bool(lost)

    def missing(self) -> dict[str, str]:
        """Members that are not ready, and what they wait for."""
        return {name: m.waiting_for for name, m in self._members.items() if not m.ready}

    def absent(self) -> list[str]:
        """Members a step does not wait for, sorted."""
        return sorted(name for name, m in self._members.items() if not m.present)

    def left(self) -> dict[str, str]:
        """Members a step does not wait for, sorted, and why."""
        return {name: self._members[name].left for name in self.absent()}

    def present(self, node: str) -> bool:
        """Returns whether a step waits for this node."""
        member = self._members.get(node)
        return member is not None and member.present

    def boot_id(self, node: str) -> int:
        """Returns the boot id of a node's present process; 0 before its first heartbeat."""
        member = self._members.get(node)
        return 0 if member is None else member.boot_id

    def has_answered(self, node: str, ns: int) -> bool:
        """Returns whether a present node has finished with the step of this stamp; true for absent ones."""
        member = self._members.get(node)
        return member is None or not member.present or member.answered >= ns
