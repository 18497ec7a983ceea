"""Liveness: what a participant says of itself, from a thread of its own, and the time since another said anything."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

from esar_ros.msg import Heartbeat
from esar_ros.nodes.core.stamps import to_stamp

PERIOD = 0.08  # s wall between heartbeats; receivers expect 10 Hz or more


class Liveliness:
    """A node's part in the steps as it tells it: what it waits for, its heartbeats, and how long its answers take."""

    def __init__(self, node: str, lacks: Callable[[], str]) -> None:
        """node: its name; lacks(): what it waits for before it takes part for the first time, empty when nothing."""
        self.boot_id = random.SystemRandom().getrandbits(63)  # by which this process is known
        self.answers = 0  # number of steps answered
        self.withdrawn = ""  # what it waits for, of a node that takes no part; empty: it does
        self._node, self._lacks = node, lacks
        self._ready = False
        self._longest = 0.0  # s
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def lacking(self) -> str:
        """Returns what it waits for before it takes part; one that once had all it needs no longer looks."""
        return self.withdrawn or ("" if self._ready else self._lacks())

    def heartbeat(self, answered_ns: int | None) -> Heartbeat:
        """Returns the message that it lives; answered_ns: stamp of the last step answered, if any."""
        waiting = self.lacking()
        self._ready = self._ready or not waiting
        message = Heartbeat(node=self._node, boot_id=self.boot_id, ready=not waiting, waiting_for=waiting)
        message.header.stamp = to_stamp(time.time_ns())
        if answered_ns is not None:
            message.answered = to_stamp(answered_ns)
        return message

    def is_rival(self, message: Heartbeat) -> bool:
        """Returns whether a heartbeat is that of another process's node of this name."""
        return bool(message.node == self._node and message.boot_id != self.boot_id)

    # -- answers --------------------------------------------------------------------------------

    def took(self, seconds: float, done: bool) -> None:
        """Notes how long (s) an attempt at an answer took; done: it was answered."""
        self._longest = max(self._longest, seconds)
        self.answers += done

    def longest_answer(self) -> float:
        """Returns how long (s) the longest attempt since the last call took."""
        longest, self._longest = self._longest, 0.0
        return longest

    # -- the thread -----------------------------------------------------------------------------

    def start(self, beat: Callable[[], None], complain: Callable[[Exception], None]) -> None:
        """Calls beat() once a PERIOD from now on; complain(error) is told what it raises, and the beats go on."""
        self._thread = threading.Thread(target=self._run, args=(beat, complain), name="heartbeat", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Lets the present beat be the last."""
        self._stop.set()

    def join(self) -> None:
        """Ends the beats, and waits up to a second for the last."""
        self.end()
        if self._thread is not None:
            self._thread.join(timeout=1.0)

    def _run(self, beat: Callable[[], None], complain: Callable[[Exception], None]) -> None:
        while not self._stop.wait(PERIOD):
            try:
                beat()
            except Exception as error:
                if not self._stop.is_set():
                    complain(error)


class Silences:
    """Time since the last heartbeat of each node that is listened to."""

    def __init__(self) -> None:
        self._heard: dict[str, float] = {}  # s, steady clock

    def listen_to(self, node: str) -> bool:
        """Begins to listen to a node; returns whether it was not listened to yet."""
        new = node not in self._heard
        self._heard.setdefault(node, 0.0)
        return new

    def hear(self, message: Heartbeat) -> None:
        """Takes in a heartbeat; those of nodes that are not listened to are ignored."""
        if message.node in self._heard:
            self._heard[message.node] = time.monotonic()

    def of(self, node: str) -> float:
        """Returns the time (s) since the last heartbeat of a node; very long before its first."""
        return time.monotonic() - self._heard[node]
