"""The last messages of one topic, found by their stamps."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from typing import Any

KEPT = 8  # messages kept per input; the chain looks back one step


class Inbox:
    """The last messages of one topic by stamp, and when the newest arrived (s, steady clock)."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self.newest: Any = None
        self.arrived = 0.0
        self._by_stamp: OrderedDict[int, Any] = OrderedDict()
        self._lost: deque[int] = deque(maxlen=kept)

    def put(self, ns: int, message: Any) -> None:
        """Keep a message; of two with one stamp the later wins."""
        self.newest = message
        self.arrived = time.monotonic()
        self._by_stamp[ns] = message
        while len(self._by_stamp) > self._kept:
            self._by_stamp.popitem(last=False)

    def at(self, ns: int) -> Any:
        """The message with this stamp, or None."""
        return self._by_stamp.get(ns)

    def lose(self, ns: int) -> None:
        """Note that the message of this stamp does not come, or not in time."""
        self._lost.append(ns)

    def settled(self, ns: int) -> bool:
        """Returns whether there is no need to wait for the message of this stamp: it has arrived or is lost."""
        return ns in self._by_stamp or ns in self._lost

    def nearest_stamp(self, ns: int) -> int | None:
        """The kept stamp nearest to ns."""
        return min(self._by_stamp, key=lambda stamp: abs(stamp - ns), default=None)
