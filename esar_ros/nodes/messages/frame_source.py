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
from esar_ros.geometry.image_arrays import colours_of, depth_of
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
TIMEOUT = 0.1  # s of waiting for a camera that is late
SILENT = 1.0  # s after its last image from which a camera is not waited for
WENT_BACK = 1_000_000_000  # ns by which the newest stamp is older than one delivered where a clock was set back
LATE = 5.0  # s wall that a step waits for images that do not come
MAX_POSE_GAP = 50_000_000  # ns between an image and the odometry that places it


class TopicFrames:
    """Frames put together from the cameras' Image and CameraInfo topics and the vehicle's odometry.

    In lockstep all have one stamp. In real time images may come from drivers with stamps of their own: those that
    lie within MAX_SKEW make a frame, placed by the odometry nearest to the newest.
    """

    def __init__(self, node: StepNode, vehicle: Vehicle) -> None:
        self._node = node
        self._mounts = vehicle.eyes
        self._consumers: list[Consumer] = []
        self._parts: OrderedDict[int, dict[tuple[str, str], Any]] = OrderedDict()
        self._exact = node.lockstep
        self._latest: dict[tuple[str, str], Any] = {}
        self._came: dict[str, float] = {}  # s, steady, when each camera's newest image did
        self._begun = 0.0  # s, steady, when the first image of all came
        self._delivered = 0  # ns
        self._since = 0.0  # s, steady, when the first image after the frame delivered last came; 0: none has
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
            self._came[key[0]] = time.monotonic()
            self._begun = self._begun or self._came[key[0]]
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

        A camera that sends nothing is waited for a little, then done without; so is one whose clock no odometry knows.
        """
        taken = {
            camera: min(nanoseconds(self._latest[(camera, part)].header.stamp) for part in ("image", "depth"))
            for camera in self._mounts
            if all((camera, part) in self._latest for part in ("image", "depth", "info"))
        }
        placed = {ns: own for ns in taken.values() if (own := self._odometry.nearest(ns)) is not None}
        newest = max((ns for ns, own in placed.items() if abs(own[0] - ns) <= MAX_POSE_GAP), default=-1)
        if newest < 0:
            return
        if 0 <= self._delivered - newest <= WENT_BACK:
            return
        now = time.monotonic()
        self._since = self._since or now
        together = [camera for camera, ns in taken.items() if abs(newest - ns) <= MAX_SKEW]
        missing = [camera for camera in self._mounts if camera not in together]
        waited_for = any(now - self._came.get(camera, self._begun) < SILENT for camera in missing)
        if waited_for and now - self._since < TIMEOUT:
            return
        self._say_missing(missing, newest)
        self._delivered, self._since = newest, 0.0
        self._hand_over(newest, placed[newest][:2], self._latest, together)

    def _say_missing(self, missing: Sequence[str], newest: int) -> None:
        """Tell of cameras that send images and are done without."""
        now = time.monotonic()
        for camera in missing:
            image = self._latest.get((camera, "image"))
            if image is None or now - self._came[camera] > SILENT:
                continue
            lacking = [part for part in ("depth", "info") if (camera, part) not in self._latest]
            off = (nanoseconds(image.header.stamp) - newest) * 1e-9
            why = f"it has no {' and no '.join(lacking)}" if lacking else f"its stamps are {off:+.2f} s off the others'"
            self._node.get_logger().warning(f"frames without {camera}: {why}", throttle_duration_sec=10.0)

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
                self._read(camera, depth_of, parts[(camera, "depth")], np.empty((0, 0), np.float32)),
                self._read(camera, colours_of, parts[(camera, "image")], np.empty((0, 0, 3), np.uint8)),
            )
            for camera in cameras
        )
        frame_set = FrameSet(ns, taken).placed(ns, own[1], self._odometry.covariance(own[0]))
        for consumer in self._consumers:
            consumer(frame_set)

    def _read(
        self, camera: str, read: Callable[[Any], NDArray[Any]], message: Any, without: NDArray[Any]
    ) -> NDArray[Any]:
        """Returns an image's array; one without pixels where it cannot be read, which is said."""
        try:
            return read(message)
        except ValueError as error:
            self._node.get_logger().warning(f"an image of {camera}: {error}", throttle_duration_sec=10.0)
            return without


def _model_of(info: Any) -> CameraModel:
    return CameraModel(info.width, info.height, info.k[0], info.k[4], info.k[2], info.k[5])
