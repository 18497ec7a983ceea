"""A step: what a tick asks for, in lockstep, or a node asks of itself, in real time."""

from __future__ import annotations

from dataclasses import dataclass

from builtin_interfaces.msg import Time

from esar_ros.msg import Tick
from esar_ros.nodes.core.stamps import to_stamp


@dataclass(frozen=True)
class Step:
    """A step that is being answered."""

    ns: int  # stamp
    seq: int
    kinds: int  # bit set of Tick.FRAME and Tick.RANGES
    period: float  # s
    previous_ns: int | None  # stamp of the step before, None for the first one
    absent: frozenset[str]
    frame_before_ns: int | None = None  # of a frame: stamp of the one before in the same epoch, if any
    exact: bool = True  # lockstep: its inputs carry its stamp; real time: they are the newest
    epoch: int = 0  # of the ticks that ask for it

    @property
    def at(self) -> int | None:
        """Stamp of its inputs; None for the newest."""
        return self.ns if self.exact else None

    @property
    def stamp(self) -> Time:
        """Stamp as a message."""
        return to_stamp(self.ns)

    @property
    def seconds(self) -> float:
        """Stamp in s."""
        return self.ns * 1e-9

    def is_frame(self) -> bool:
        """Returns whether camera frames exist at this stamp."""
        return bool(self.kinds & Tick.FRAME)
