"""Nodes that threads spin beside a test."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class Spinner:
    """A thread for each group of nodes. error: of a callback, which ended its thread."""

    def __init__(self, *groups: Sequence[Any]) -> None:
        from rclpy.executors import SingleThreadedExecutor

        self.error: Exception | None = None
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        for nodes in groups:
            executor = SingleThreadedExecutor()
            for node in nodes:
                executor.add_node(node)
            thread = threading.Thread(target=self._spin, args=(executor,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _spin(self, executor: Any) -> None:
        try:
            while not self._over.is_set():
                executor.spin_once(timeout_sec=0.05)
        except Exception as error:
            if not self._over.is_set():
                self.error = error

    def close(self) -> None:
        """Ends the threads."""
        self._over.set()
        for thread in self._threads:
            thread.join(5.0)


@contextmanager
def spun(*nodes: Any) -> Iterator[None]:
    """Nodes are spun by one thread meanwhile."""
    spinner = Spinner(nodes)
    try:
        yield
    finally:
        spinner.close()
