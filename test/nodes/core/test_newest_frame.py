"""The detector's thread in real time: newest frame first, most important cameras first, what is dropped is counted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from esar_ros.mission.names import CAMERAS
from esar_ros.nodes.core.newest_frame import NewestFrame


@dataclass(frozen=True)
class Picture:
    camera: str
    ns: int


def frame(ns: int) -> list[Picture]:
    return [Picture(camera, ns) for camera in CAMERAS]


class Slow:
    """A detector that processes an image only when released."""

    def __init__(self) -> None:
        self.may = threading.Semaphore(0)
        self.began: list[Picture] = []
        self.delivered: list[tuple[int, list[str]]] = []
        self.came: list[float] = []  # s, steady
        self.errors: list[BaseException] = []
        self.worker: NewestFrame[Picture, str] = NewestFrame(self.look, self.deliver, self.errors.append)

    def look(self, image: Picture) -> str:
        self.began.append(image)
        assert self.may.acquire(timeout=10.0)
        return image.camera

    def deliver(self, ns: int, came: float, seen: list[tuple[Picture, str]]) -> None:
        self.came.append(came)
        assert all(image.camera == found for image, found in seen)
        self.delivered.append((ns, [image.camera for image, _ in seen]))


@pytest.fixture
def slow() -> Slow:
    return Slow()


def until(true: Callable[[], bool]) -> None:
    limit = time.monotonic() + 10.0
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.002)


def test_with_time_enough_every_camera_is_looked_at_the_most_important_first(slow: Slow) -> None:
    slow.may.release(4)
    slow.worker.put(1, frame(1))
    until(lambda: len(slow.delivered) == 1)
    assert slow.delivered == [(1, ["down", "front", "left", "right"])]
    assert (slow.worker.dropped, slow.worker.skipped, slow.worker.backlog) == (0, 0, 0)
    slow.worker.stop()


def test_the_newest_frame_wins_and_the_late_one_keeps_its_first_cameras(slow: Slow) -> None:
    slow.worker.put(1, frame(1))
    until(lambda: len(slow.began) == 1)
    for ns in (2, 3, 4):
        slow.worker.put(ns, frame(ns))
    handed_over = time.monotonic()
    assert slow.worker.backlog == 1 and slow.worker.dropped == 2
    slow.may.release(5)
    until(lambda: len(slow.delivered) == 2)
    assert slow.delivered == [(1, ["down"]), (4, ["down", "front", "left", "right"])]
    assert slow.worker.skipped == 3
    assert slow.came[0] < slow.came[1] <= handed_over, "when it came, not when its turn came"
    slow.worker.stop()


def test_what_it_may_not_survive_is_told_once(slow: Slow) -> None:
    slow.worker.put(1, [Picture("periscope", 1)])
    until(lambda: bool(slow.errors))
    assert isinstance(slow.errors[0], ValueError)
    slow.worker.stop()


def test_it_stops_while_it_waits_and_while_it_looks(slow: Slow) -> None:
    slow.worker.put(1, frame(1))
    until(lambda: len(slow.began) == 1)
    stopper = threading.Thread(target=slow.worker.stop)
    stopper.start()
    slow.may.release(1)
    stopper.join(timeout=10.0)
    assert not stopper.is_alive() and len(slow.began) == 1
    Slow().worker.stop()
