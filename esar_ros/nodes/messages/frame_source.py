"""Sources of four-camera frames for detector and mapper: hand-over in one process, or Image topics.

Images of 8.6 MB a frame cost a copy per consumer over DDS; nodes composed in one process hand over
the arrays themselves, read-only. Both sources deliver equal frames (a test holds them to it).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame, FrameSet
from esar_ros.geometry.frames import Pose
from esar_ros.mission import names
from esar_ros.mission.stamps import nanoseconds
from esar_ros.mission.vehicle import Vehicle
from esar_ros.nodes.core.steps import StepNode
from esar_ros.nodes.messages.convert import OdometryInMap

Consumer = Callable[[FrameSet], None]


class FrameSource(Protocol):
    """Delivers every frame once to every consumer."""

    def subscribe(self, consumer: Consumer) -> None:
        """Call consumer with every frame from now on."""

    def has_lost(self, ns: int) -> bool:
        """Returns whether the frame of a stamp (ns), asked for in lockstep, is to be waited for no longer."""


class InProcessFrames:
    """Hand-over without a copy, for nodes composed in one process."""

    def __init__(self) -> None:
        self._consumers: list[Consumer] = []

    def subscribe(self, consumer: Consumer) -> None:
        """Call consumer with every frame from now on."""
        self._consumers.append(consumer)

    def has_lost(self, ns: int) -> bool:
        """Returns False: within a process nothing is lost."""
        return False

    def publish(self, frame_set: FrameSet) -> None:
        """Hand a frame over."""
        for consumer in self._consumers:
            consumer(frame_set)


MAX_SKEW = 100_000_000  # ns between the images of one frame, where each camera has its own clock
TIMEOUT = 0.1  # s of waiting for a camera that is silent
LATE = 5.0  # s wall that a step waits for images that do not come
MAX_POSE_GAP = 50_000_000  # ns between an image and the odometry that places it


class TopicFrames:
    """Frames put together from the cameras' Image and CameraInfo topics and the vehicle's odometry.

    In lockstep all have one stamp. In real time images may come from drivers with stamps of their own: those that
    lie within MAX_SKEW make a frame, placed by the odometry nearest to the newest.
    """

    def __init__(self, node: StepNode, vehicle: Vehicle) -> None:
        self._mounts = vehicle.eyes
        self._consumers: list[Consumer] = []
        self._parts: OrderedDict[int, dict[tuple[str, str], Any]] = OrderedDict()
        self._exact = node.lockstep
        self._latest: dict[tuple[str, str], Any] = {}
        self._delivered = 0  # ns
        self._newest = 0  # ns, stamp of the newest image
        self._newest_came = 0.0  # s, steady
        self._awaited = (0, 0.0)  # stamp of the frame that is waited for, since when (s, monotonic)
        if self._exact:
            node.create_timer(1.0, node.retry, clock=node.steady)
        self._odometry = OdometryInMap(node)
        node.input(names.ODOMETRY, lambda message: self._complete(nanoseconds(message.header.stamp)))
        for camera in self._mounts:
            for part, topic in (
                ("image", names.camera_image(camera)),
                ("depth", names.camera_depth(camera)),
                ("info", names.camera_info(camera)),
            ):
                node.input(topic, lambda message, key=(camera, part): self._take(key, message))

    def subscribe(self, consumer: Consumer) -> None:
        """Call consumer with every frame from now on."""
        self._consumers.append(consumer)

    def has_lost(self, ns: int) -> bool:
        """Returns whether the frame of a stamp has been asked for for LATE s."""
        if self._awaited[0] != ns:
            self._awaited = (ns, time.monotonic())
        return time.monotonic() - self._awaited[1] > LATE

    def _take(self, key: tuple[str, str], message: Any) -> None:
        ns = nanoseconds(message.header.stamp)
        if not self._exact:
            self._latest[key] = message
            return  # the next odometry completes it
        parts = self._parts.setdefault(ns, {})
        parts[key] = message
        while len(self._parts) > 4:
            self._parts.popitem(last=False)
        self._complete(ns)

    def _complete(self, ns: int) -> None:
        """Hand a frame over once all its parts and the odometry of exactly its stamp are there, in any order."""
        if not self._exact:
            self._complete_near()
            return
        parts, own = self._parts.get(ns, {}), self._odometry.at(ns)
        if len(parts) < 3 * len(self._mounts) or own is None:
            return
        del self._parts[ns]
        self._hand_over(ns, own[:2], parts, tuple(self._mounts))

    def _complete_near(self) -> None:
        """Hand the newest images over, once, when they belong together and somebody knows where they were taken.

        A camera that sends nothing is waited for a little, then done without.
        """
        taken = {
            camera: min(nanoseconds(self._latest[(camera, part)].header.stamp) for part in ("image", "depth"))
            for camera in self._mounts
            if all((camera, part) in self._latest for part in ("image", "depth", "info"))
        }
        newest = max(taken.values(), default=0)
        if newest <= self._delivered:
            return
        if newest != self._newest:
            self._newest, self._newest_came = newest, time.monotonic()
        together = [camera for camera, ns in taken.items() if newest - ns <= MAX_SKEW]
        if len(together) < len(self._mounts) and time.monotonic() - self._newest_came < TIMEOUT:
            return
        own = self._odometry.nearest(newest)
        if own is None or abs(own[0] - newest) > MAX_POSE_GAP:
            return
        self._delivered = newest
        self._hand_over(newest, own[:2], self._latest, together)

    def _hand_over(
        self,
        ns: int,
        own: tuple[int, Pose],
        parts: dict[tuple[str, str], Any],
        cameras: Sequence[str],
    ) -> None:
        """own: stamp and pose of the odometry that the images are placed by."""
        taken = tuple(
            CameraFrame(
                camera,
                _model_of(parts[(camera, "info")]),
                self._mounts[camera].pose,
                _image_array(parts[(camera, "depth")], np.float32, 1),
                _colours(parts[(camera, "image")]),
            )
            for camera in cameras
        )
        frame_set = FrameSet(ns, taken).placed(ns, own[1], self._odometry.covariance(own[0]))
        for consumer in self._consumers:
            consumer(frame_set)


def _model_of(info: Any) -> CameraModel:
    return CameraModel(info.width, info.height, info.k[0], info.k[4], info.k[2], info.k[5])


def _colours(message: Any) -> NDArray[np.uint8]:
    """(H, W, 3); greys of a thermal camera three times."""
    if message.encoding == "mono8":
        return np.repeat(_image_array(message, np.uint8, 1)[..., None], 3, axis=2)
    return _image_array(message, np.uint8, 3)


def _image_array(message: Any, dtype: type, channels: int) -> NDArray[Any]:
    """(H, W) or (H, W, channels); without pixels when the message holds another number than it says."""
    tail = (channels,) if channels > 1 else ()
    height, width = message.height, message.width
    data = memoryview(message.data)
    if data.nbytes != height * width * channels * np.dtype(dtype).itemsize:
        height = width = 0
    flat: NDArray[Any] = np.frombuffer(data, dtype=dtype) if height and width else np.empty(0, dtype)
    return flat.reshape((height, width, *tail) if height and width else (0, 0, *tail))
