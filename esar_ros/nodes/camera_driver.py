"""Camera driver node: images and ranges of one vehicle, on connections of their own to the simulator.

In lockstep it fetches what a step names, and asks again while the simulator refuses: everybody waits, and time with
them. In real time ranges come on a timer and images in a thread, so that a slow image never delays what the
governor lives on; what is refused is lost.
"""

from __future__ import annotations

import array
import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
from sensor_msgs.msg import CameraInfo, CompressedImage, PointCloud2, PointField
from std_msgs.msg import Header

from esar_ros.bridges.airsim.camera import AirSimCameras, AirSimLidar
from esar_ros.bridges.airsim.client import AirSimConnectionError, AirSimError
from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame, FrameSet
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.msg import Tick
from esar_ros.nodes.airsim.server import Server
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.steps import Step, StepNode, to_stamp
from esar_ros.nodes.messages import convert
from esar_ros.nodes.messages.frame_source import InProcessFrames
from esar_ros.nodes.messages.image import image_message
from esar_ros.nodes.messages.vehicle import range_image_message
from esar_ros.perception.ranges import RangeGrid, pool_ranges

JPEG_QUALITY = 80
RETRY_PERIOD = 0.2  # s until what a step needs is asked for again
GIVE_UP = 20.0  # s of refusals, after which the process ends to be started afresh


class CameraDriverNode(StepNode):
    """Fetches sensor data over RPC, hands frames over in the process and publishes what is wanted."""

    def __init__(
        self, frames: InProcessFrames | None = None, segmentation: bool = False, namespace: str | None = None
    ) -> None:
        """segmentation: also fetch object ids, for detectors that use ground truth."""
        super().__init__(node_names.CAMERA_DRIVER, namespace)
        self._server = Server.of(self)
        width = int(declare(self, "image_width", 640, "px", minimum=16, maximum=4096))
        height = int(declare(self, "image_height", 480, "px", minimum=16, maximum=4096))
        doc = "stamps of images: the server's time, or that of the request (where the server has another clock)"
        self._source_stamps = declare(self, "stamps", "source", doc, choices=("source", "arrival")) == "source"
        about = "nodes that must read the images before the first step; empty: who needs them shares this process"
        self._readers = {name for name in declare(self, "readers", [""], about) if name}
        self._rig = load_vehicle().with_image_size(width, height)
        self._frames = frames or InProcessFrames()
        self._segmentation = segmentation
        self._cameras, self._lidar = self._open_cameras(), self._open_lidar()
        self._refused_since: float | None = None  # s, steady
        self.exit_code: int | None = None
        self._grid = RangeGrid.of(self._rig.lidar)
        self._odometry = convert.OdometryInMap(self)
        self.output(names.RANGES)
        self.output(names.LIDAR_POINTS)
        for camera in self._rig.eyes:
            for topic in (
                names.camera_image(camera),
                names.camera_depth(camera),
                names.camera_info(camera),
                names.camera_compressed(camera),
            ):
                self.output(topic)
        self._images: FrameSet | None = None
        self._fetching = False
        if self.lockstep:
            self.create_timer(RETRY_PERIOD, self._again, clock=self.steady)
        else:
            # The events executor has no guard conditions: look for fetched images often instead.
            self.create_timer(0.02, self._on_images, clock=self.steady)
            self.create_timer(1.0 / self._rig.rates.ranges, self._on_range_time, clock=self.steady)
            self.create_timer(1.0 / self._rig.rates.cameras, self._on_camera_time, clock=self.steady)
        self.join()

    def waiting_for(self) -> str:
        """Returns what is still missing: the transform, or readers of the images."""
        if not self._odometry.known:
            return "the transform map -> odom"
        for camera in self._rig.eyes:
            for topic in (names.camera_image(camera), names.camera_depth(camera), names.camera_info(camera)):
                if lacking := self.unheard_by(self.publisher(topic), self._readers):
                    return f"{', '.join(lacking)} to read {topic}"
        return ""

    def _open_cameras(self, patience: float | None = None) -> AirSimCameras:
        client = self._server.connect(patience)
        try:
            return AirSimCameras(client, self.vehicles[0], self._rig, self._segmentation)
        except AirSimError as error:
            raise UsageError(str(error)) from None

    def _open_lidar(self, patience: float | None = None) -> AirSimLidar:
        client = self._server.connect(patience)
        try:
            return AirSimLidar(client, self.vehicles[0])
        except AirSimError as error:
            raise UsageError(str(error)) from None

    def on_step(self, step: Step) -> bool | None:
        """Fetch what exists at this stamp; not yet, while the simulator refuses."""
        own = self._odometry.at(step.ns)
        try:
            points = self._lidar.read() if step.kinds & Tick.RANGES else None
            images = self._cameras.read() if step.is_frame() else None
        except AirSimError as error:
            self._refuse(error)
            return False
        self._refused_since = None
        if points is not None:
            self._publish_ranges(step.ns, points)
        if images is not None and own is not None:
            self._publish_frames(images.placed(step.ns, own[1], self._odometry.covariance(step.ns)))
        elif images is not None:
            self._frames.publish(FrameSet(step.ns, ()))  # nobody knows where they were taken; nobody waits for them
        return None

    def _refuse(self, error: AirSimError) -> None:
        """Note a refusal of what a step needs. Without it no other node goes on: end rather than stand for ever."""
        now = time.monotonic()
        self._refused_since = since = now if self._refused_since is None else self._refused_since
        if now - since > GIVE_UP:
            self.get_logger().error(f"no sensor data for {now - since:.0f} s: {error}")
            self.exit_code = 1
            return
        self.get_logger().warning(f"no sensor data, asking again: {error}", throttle_duration_sec=5.0)
        if isinstance(error, AirSimConnectionError):
            self._connect_lidar_again()
            self._connect_cameras_again()

    def _again(self) -> None:
        if self._refused_since is not None and self.exit_code is None:
            self.retry()

    def _connect_lidar_again(self) -> None:
        with suppress(UsageError, AirSimError):
            self._lidar.close()
            self._lidar = self._open_lidar(0.0)

    def _connect_cameras_again(self) -> None:
        with suppress(UsageError, AirSimError):
            self._cameras.close()
            self._cameras = self._open_cameras(0.0)

    # -- real time ------------------------------------------------------------------------------

    def _on_range_time(self) -> None:
        ns = self._odometry.newest_ns()
        if ns is None:
            return
        try:
            self._publish_ranges(ns, self._lidar.read())
        except AirSimError as error:
            self.get_logger().warning(f"no ranges: {error}", throttle_duration_sec=5.0)
            if isinstance(error, AirSimConnectionError):
                self._connect_lidar_again()

    def _on_camera_time(self) -> None:
        if not self._fetching:
            self._fetching = True
            threading.Thread(target=self._fetch, daemon=True).start()

    def _fetch(self) -> None:
        asked = self.get_clock().now().nanoseconds
        try:
            images = self._cameras.read()
            self._images = images if self._source_stamps else replace(images, ns=asked)
        except AirSimError as error:
            self.get_logger().warning(f"no pictures: {error}", throttle_duration_sec=5.0)
            if isinstance(error, AirSimConnectionError):
                self._connect_cameras_again()
        finally:
            self._fetching = False

    def _on_images(self) -> None:
        images, self._images = self._images, None
        if images is None:
            return
        own = self._odometry.nearest(images.ns)
        if own is not None:
            self._publish_frames(images.placed(own[0], own[1], self._odometry.covariance(own[0])))

    # -- out ------------------------------------------------------------------------------------

    def _publish_ranges(self, ns: int, points: Any) -> None:
        """points (N, 3), m, base_link."""
        pooled = pool_ranges(points, self._grid)
        message = range_image_message(self.vehicles[0], self._grid, pooled, to_stamp(ns))
        self.send(names.RANGES, message)
        if self.wanted(names.LIDAR_POINTS):
            frame_id = names.vehicle_frame(self.vehicles[0], names.LIDAR)
            self.send(names.LIDAR_POINTS, _cloud(points, Header(stamp=message.header.stamp, frame_id=frame_id)))

    def _publish_frames(self, frame_set: FrameSet) -> None:
        for frame in frame_set.frames:
            self._publish_images(frame_set.ns, frame)
        self._frames.publish(frame_set)

    def _publish_images(self, ns: int, frame: CameraFrame) -> None:
        """Publishes topics for tools, bags and other hosts: only those with subscribers."""
        stamp, frame_id = to_stamp(ns), names.camera_frame(self.vehicles[0], frame.camera)
        if self.wanted(names.camera_image(frame.camera)):
            grey = frame.camera == names.THERMAL
            image, encoding = (frame.rgb[..., 0], "mono8") if grey else (frame.rgb, "rgb8")
            self.send(names.camera_image(frame.camera), image_message(image, encoding, stamp, frame_id))
        if self.wanted(names.camera_depth(frame.camera)):
            self.send(names.camera_depth(frame.camera), image_message(frame.depth, "32FC1", stamp, frame_id))
        if self.wanted(names.camera_info(frame.camera)):
            self.send(names.camera_info(frame.camera), _info(frame.model, stamp, frame_id))
        if self.wanted(names.camera_compressed(frame.camera)):
            done, data = cv2.imencode(
                ".jpg", cv2.cvtColor(frame.rgb, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]
            )
            if done:
                message = CompressedImage(format="rgb8; jpeg compressed bgr8", data=array.array("B", data.tobytes()))
                message.header.stamp, message.header.frame_id = stamp, frame_id
                self.send(names.camera_compressed(frame.camera), message)

    def close(self) -> None:
        """Closes the connections."""
        self._cameras.close()
        self._lidar.close()


def _info(model: CameraModel, stamp: Any, frame_id: str) -> CameraInfo:
    k = model.matrix
    message = CameraInfo(
        height=model.height,
        width=model.width,
        distortion_model="plumb_bob",
        d=[0.0] * 5,
        k=k.reshape(9),
        r=np.eye(3).reshape(9),
        p=np.hstack([k, np.zeros((3, 1))]).reshape(12),
    )
    message.header.stamp, message.header.frame_id = stamp, frame_id
    return message


def _cloud(points: Any, header: Any) -> PointCloud2:
    data = np.ascontiguousarray(points, dtype=np.float32)
    message = PointCloud2(
        header=header, height=1, width=len(data), is_dense=True, point_step=12, row_step=12 * len(data)
    )
    message.fields = [
        PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1) for i, name in enumerate("xyz")
    ]
    message.data = array.array("B", data.tobytes())
    return message


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [CameraDriverNode()])


if __name__ == "__main__":
    raise SystemExit(main())
