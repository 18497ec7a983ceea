"""Colour and depth images of a bag by the graph's names, read one after the other, each pair placed in the map."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rosbags.interfaces import Connection

from esar_ros.bags.files import Bag
from esar_ros.bags.frame_tree import FrameTree
from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.image_arrays import colours_of, depth_of
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.stamps import NANO, nanoseconds

IMAGE, INFO = "sensor_msgs/msg/Image", "sensor_msgs/msg/CameraInfo"
ODOMETRY, TF = "nav_msgs/msg/Odometry", "tf2_msgs/msg/TFMessage"
MAX_SKEW = NANO // 50
"""ns between colour and depth of one pair: of 30 images a second the nearest two are no farther apart."""
_KEPT = 8  # images of a camera that wait for their other half
_PIXELS = 16  # px between those whose depth tells how far an image looks
_DISTORTED = 1e-9
_PARTS = {names.camera_image("(?P<camera>[^/]+)"): "image", names.camera_depth("(?P<camera>[^/]+)"): "depth",
          names.camera_info("(?P<camera>[^/]+)"): "info"}  # fmt: skip


class RgbdBag:
    """The coloured depth images of an open bag. The first reading, by the constructor, takes frames and intrinsics.

    `frame`: frame in which all images are placed, `map` where the bag has it. `count`: depth images that there are.
    `look`: median depth of their pixels, m. Of the reading that is under way or was the last: `read`, depth images
    passed; `taken`, those that were asked for; `unplaced`, those of them left out since no pose is known.
    """

    def __init__(self, bag: Bag, path: Path) -> None:
        """Raises UsageError where the bag has no images with depth, or nothing says where they were taken."""
        self._bag, self._path = bag, path
        self._cameras = self._found()
        self._tree = FrameTree()
        self._models: dict[tuple[str, str], CameraModel] = {}
        frames: dict[str, str] = {}  # of a depth image: the topic that has it
        looks: list[float] = []
        odometry: dict[str, FrameTree] = {}  # by topic: two estimates of one vehicle are not to be mixed
        self.count = self.read = self.taken = self.unplaced = 0
        own = {c.topic: key for key, parts in self._cameras.items() for name, c in parts.items() if name != "image"}
        for topic, kind, message in self._messages(lambda c: c.msgtype in (TF, ODOMETRY) or c.topic in own):
            if kind == TF:
                self._tree.add_transforms(message, static=topic.endswith(names.TF_STATIC))
            elif kind == ODOMETRY:
                odometry.setdefault(topic, FrameTree()).add_odometry(message)
            elif kind == INFO:
                if own[topic] not in self._models:
                    self._models[own[topic]] = self._model(message, topic)
            else:
                self.count += 1
                frames.setdefault(message.header.frame_id, topic)
                depth = self._depth(message, topic)[::_PIXELS, ::_PIXELS]
                if (seen := depth[np.isfinite(depth) & (depth > 0.0)]).size:
                    looks.append(float(np.median(seen)))
        if not looks:
            raise UsageError(
                f"{path}: none of its {self.count} depth images shows anything in range", "give another bag"
            )
        for tree in odometry.values():
            self._tree.fill(tree)
        if not self._models:
            raise UsageError(f"{path}: no camera_info says how its cameras see", "give another bag")
        self.look = float(np.median(looks))
        self.frame = self._common(frames)

    @property
    def focal(self) -> float:
        """Returns the longest focal length of the cameras, px."""
        return max(model.fx for model in self._models.values())

    @property
    def vehicles(self) -> tuple[str, ...]:
        """Returns the names of the vehicles that have such images."""
        return tuple(sorted({space.rsplit("/", 1)[-1] for space, _ in self._cameras}))

    def images(self, every: int = 1) -> Iterator[CameraFrame]:
        """Yields the pairs in the order of the bag.

        every: of each camera only every so manieth depth image. Raises UsageError for an image in no known form.
        """
        self.read = self.taken = self.unplaced = 0
        turns = dict.fromkeys(self._cameras, 0)
        waiting: dict[tuple[str, str], dict[str, list[Any]]] = {key: {"image": [], "depth": []} for key in turns}
        own = {c.topic: (key, part) for key, parts in self._cameras.items() for part, c in parts.items()}
        for topic, _, message in self._messages(lambda c: c.topic in own and c.msgtype == IMAGE):
            key, part = own[topic]
            if part == "depth":
                self.read += 1
                turns[key] += 1
                if (turns[key] - 1) % every:
                    continue
                self.taken += 1
            queue = waiting[key][part]
            queue.append(message)
            del queue[:-_KEPT]
            yield from self._pairs(key, waiting[key])
        for key, left in waiting.items():
            yield from self._pairs(key, left, ended=True)

    def _pairs(self, key: tuple[str, str], waiting: dict[str, list[Any]], ended: bool = False) -> Iterator[CameraFrame]:
        """Yields the pairs that can be made of a camera's images that wait."""
        while pair := _matched(waiting, ended):
            if view := self._placed(key, *pair):
                yield view

    def _found(self) -> dict[tuple[str, str], dict[str, Connection]]:
        """Topics of each camera that has them all, by namespace and camera. Raises UsageError."""
        cameras: dict[tuple[str, str], dict[str, Connection]] = {}
        images = [c for c in self._bag.connections if c.msgtype in (IMAGE, INFO)]
        for connection in images:
            for pattern, part in _PARTS.items():
                if match := re.fullmatch(f"(?P<space>.*)/{pattern}", connection.topic):
                    cameras.setdefault((match["space"], match["camera"]), {})[part] = connection
        whole = {key: parts for key, parts in cameras.items() if len(parts) == len(_PARTS)}
        if whole:
            return whole
        wanted = ", ".join(name("NAME") for name in (names.camera_image, names.camera_depth, names.camera_info))
        has = ", ".join(sorted(c.topic for c in images if c.msgtype == IMAGE)) or "no uncompressed image"
        raise UsageError(
            f"{self._path}: wanted of a camera are {wanted}, and the bag has {has}",
            "fly with --record full, or record the cameras under these names (docs/how-to/bags.md)",
        )

    def _messages(self, wanted: Callable[[Connection], bool]) -> Iterator[tuple[str, str, Any]]:
        """(topic, type, message) of wanted topics: those that can be decoded; of a whole bag all must be."""
        for connection, _, raw in self._bag.messages([c for c in self._bag.connections if wanted(c)]):
            try:
                message = self._bag.deserialize(raw, connection.msgtype)
            except Exception:  # of the decoder, which has no common name
                if self._bag.damaged:
                    continue
                raise
            yield connection.topic, connection.msgtype, message

    def _common(self, frames: dict[str, str]) -> str:
        """The frame in which all cameras are placed. Raises UsageError."""
        roots = {self._tree.root(frame): frame for frame in frames}
        for root, frame in roots.items():
            if root == frame.strip("/"):
                raise UsageError(
                    f"{self._path}: nothing says where frame '{frame}' of {frames[frame]} is",
                    "record /tf and /tf_static, or odometry and /tf_static, with the images",
                )
        if len(roots) > 1:
            raise UsageError(
                f"{self._path}: cameras lie in frames that nothing joins: {', '.join(sorted(roots))}",
                f"record the transforms from {names.MAP} to them",
            )
        return next(iter(roots))

    def _model(self, info: Any, topic: str) -> CameraModel:
        """Raises UsageError for intrinsics of no rectified pinhole camera."""
        if not (info.k[0] > 0.0 and info.k[4] > 0.0 and info.width > 0 and info.height > 0):
            raise UsageError(f"{self._path}, {topic}: no intrinsics are set", "calibrate the camera")
        if len(info.d) and float(np.abs(info.d).max()) > _DISTORTED:
            raise UsageError(
                f"{self._path}, {topic}: the image is distorted", "record rectified images (ROS 2: image_proc)"
            )
        return CameraModel(info.width, info.height, *(float(info.k[k]) for k in (0, 4, 2, 5)))

    def _placed(self, key: tuple[str, str], image: Any, depth: Any) -> CameraFrame | None:
        space, camera = key
        topics = {name: connection.topic for name, connection in self._cameras[key].items()}
        if key not in self._models:
            raise UsageError(f"{self._path}, {topics['info']}: no message can be read", "give another bag")
        model, stamp = self._models[key], nanoseconds(depth.header.stamp)
        planar, rgb = self._depth(depth, topics["depth"]), self._colours(image, topics["image"])
        if not planar.shape == rgb.shape[:2] == (model.height, model.width):
            sizes = ", ".join(f"{name} {w}x{h} px" for name, (h, w) in
                              (("image", rgb.shape[:2]), ("depth", planar.shape),
                               ("camera_info", (model.height, model.width))))  # fmt: skip
            raise UsageError(
                f"{self._path}, {space}/camera/{camera}: {sizes}", "record depth that is aligned to the colour image"
            )
        pose = self._tree.pose(depth.header.frame_id, stamp)
        if pose is None:
            self.unplaced += 1
            return None
        return CameraFrame(f"{space.rsplit('/', 1)[-1]}/{camera}", model, pose, planar, rgb, stamp * 1e-9)

    def _depth(self, message: Any, topic: str) -> NDArray[np.float32]:
        """Planar depth (H, W), m. Raises UsageError."""
        try:
            return depth_of(message)
        except ValueError as error:
            raise UsageError(f"{self._path}, {topic}: {error}", "give another bag") from None

    def _colours(self, message: Any, topic: str) -> NDArray[np.uint8]:
        """Red, green and blue, (H, W, 3). Raises UsageError."""
        try:
            return colours_of(message)
        except ValueError as error:
            raise UsageError(f"{self._path}, {topic}: {error}", "give another bag") from None


def _matched(waiting: dict[str, list[Any]], ended: bool) -> tuple[Any, Any] | None:
    """Takes a depth image and the colour image nearest to it out of those that wait.

    A colour image that is still to come may be nearer, unless one is as late as the depth image, or the bag ended.
    """
    if not waiting["image"]:
        return None
    newest = max(nanoseconds(image.header.stamp) for image in waiting["image"])
    for depth in waiting["depth"]:
        stamp = nanoseconds(depth.header.stamp)
        image = min(waiting["image"], key=lambda each: abs(nanoseconds(each.header.stamp) - stamp))
        if (ended or newest >= stamp) and abs(nanoseconds(image.header.stamp) - stamp) <= MAX_SKEW:
            waiting["depth"].remove(depth)
            return image, depth
    return None
