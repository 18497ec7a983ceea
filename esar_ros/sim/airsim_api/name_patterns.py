"""Regular expressions of clients, matched for a bounded time: a bad one must not hold up the simulation."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

PATIENCE = 0.05  # s of wall time for all names together


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that a regular expression matches as a whole.

    Raises re.error, RecursionError or OverflowError for a bad pattern, TimeoutError for one that takes too long.
    """
    if pattern == ".*":
        return list(names)
    with _limited(PATIENCE):
        expression = re.compile(pattern)
        return [name for name in names if expression.fullmatch(name)]


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the block after so long. Python's matcher looks for signals while it works."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals; the server runs there
        return

    def expire(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
