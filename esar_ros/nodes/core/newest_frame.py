"""A detector in a thread of its own, for real time: newest frame first, and of it the cameras that matter most."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

PRIORITY = ("down", "front", "left", "right", "thermal")  # what lies under the way flown, then ahead of it


class OfCamera(Protocol):
    """An image that knows its camera."""

    @property
    def camera(self) -> str:
        """Name of mission.names.CAMERAS."""


ImageT = TypeVar("ImageT", bound=OfCamera)
Found = TypeVar("Found")


class NewestFrame(Generic[ImageT, Found]):
    """Looks at images one by one; a frame that waits while another comes is dropped and counted.

    When a newer frame waits, time is short: the rest of the cameras of the one at hand is skipped and counted.
    """

    def __init__(
        self,
        look: Callable[[ImageT], Found],
        deliver: Callable[[int, float, list[tuple[ImageT, Found]]], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        """look: at one image. deliver: a frame's stamp (ns), when it came (s, steady), and what was looked at.

        failed: called with what either raises, which neither may; the thread ends then.
        """
        self._look, self._deliver, self._failed = look, deliver, failed
        self._waiting: tuple[int, float, Sequence[ImageT]] | None = None
        self._news = threading.Condition()
        self._stopped = False
        self.dropped = 0  # frames nobody looked at
        self.skipped = 0  # images of frames of which others were looked at
        self._thread = threading.Thread(target=self._run, name="detector", daemon=True)
        self._thread.start()

    @property
    def backlog(self) -> int:
        """Frames that wait: 0 or 1."""
        return int(self._waiting is not None)

    def put(self, ns: int, images: Sequence[ImageT]) -> None:
        """Look at this frame next."""
        with self._news:
            self.dropped += self._waiting is not None
            self._waiting = ns, time.monotonic(), images
            self._news.notify()

    def stop(self) -> None:
        """End the thread once it has looked at the image at hand."""
        with self._news:
            self._stopped = True
            self._news.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)

    def _next(self) -> tuple[int, float, Sequence[ImageT]] | None:
        with self._news:
            self._news.wait_for(lambda: self._stopped or self._waiting is not None)
            taken, self._waiting = self._waiting, None
            return None if self._stopped else taken

    def _run(self) -> None:
        try:
            while (frame := self._next()) is not None:
                ns, came, images = frame
                order = sorted(images, key=lambda image: PRIORITY.index(image.camera))
                seen: list[tuple[ImageT, Found]] = []
                for image in order:
                    if seen and (self._waiting is not None or self._stopped):
                        break
                    seen.append((image, self._look(image)))
                if self._stopped:
                    return  # who takes the frame may be gone
                self.skipped += len(order) - len(seen)
                self._deliver(ns, came, seen)
        except Exception as error:  # the node says so and ends: a thread that dies in silence looks like an empty world
            self._failed(error)
