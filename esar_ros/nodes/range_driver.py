"""Range driver node: `ranges` of a real vehicle, from a LiDAR's PointCloud2, depth images, or a level LaserScan.

Lives in the vehicle's namespace, real time only. The drivers' topics are remapped to this graph's names. Stamps are
those of the sensor; of several depth images the oldest one's, so that the governor's limit on their age holds for all.
Drivers send best effort or reliable, so it reads best effort, which matches both.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from numpy.typing import NDArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import CameraInfo, Image, LaserScan, PointCloud2, Range

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation, quaternion_from_yaw
from esar_ros.geometry.image_arrays import depth_of
from esar_ros.mapping.inputs import MapInputError, refuse_millimetres
from esar_ros.mission import names
from esar_ros.mission.stamps import nanoseconds
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.diagnostics import PERIOD, Diagnostics, Finding
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.stamps import to_stamp
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.graph.governor import ELEVATIONS, HIGHEST, LOWEST, PITCHES, PLACES, REACHES, YAWS
from esar_ros.nodes.messages.clouds import points_of
from esar_ros.nodes.messages.vehicle import range_image_message
from esar_ros.perception.ranges import (
    DepthPooling,
    RangeGrid,
    merged_ranges,
    plane_ranges,
    pool_ranges,
    unknown_outside,
    with_ground,
)

LIDAR, DEPTH, CAMERA, SCAN = "lidar", "depth", "camera", "scan"
# Of one camera or scanner that config/vehicle.yaml does not know.
OWN_DEPTH, OWN_INFO, OWN_SCAN, OWN_GROUND = "depth", "camera_info", "scan", "ground"
SAMPLE = 4  # of rows and columns, one of so many is looked at for an image's unit
BENT = ("equidistant", "fisheye")  # distortion models that no pinhole comes near
TOGETHER = 100_000_000  # ns between the depth images that make one message
GROUND_FRESH = 500_000_000  # ns between a scan and the distance to the ground that goes with it
CLAMPED = 0.995  # of a rangefinder's reach, at which many answer that met nothing


class RangeDriverNode(Node):
    """The only writer of `ranges` where no simulator is."""

    def __init__(self) -> None:
        super().__init__(node_names.RANGE_DRIVER)
        made_of = "what the ranges are made of: a LiDAR's cloud, the cameras of config/vehicle.yaml, one camera, a scan"
        source = declare(self, "source", LIDAR, made_of, choices=(LIDAR, DEPTH, CAMERA, SCAN))
        place = [
            float(declare(self, "x", 0.0, "m, of a LiDAR in base_link, forward", *PLACES)),
            float(declare(self, "y", 0.0, "m, of a LiDAR in base_link, to the left", *PLACES)),
            float(declare(self, "z", 0.0, "m, of a LiDAR in base_link, up", *PLACES)),
        ]
        heading = "rad, to the left, of a sensor in base_link; LiDAR and scanner must stand level"
        turn = float(declare(self, "yaw", 0.0, heading, *YAWS))
        tilt = float(declare(self, "pitch", 0.0, "rad, nose up, of one camera", *PITCHES))
        lowest = "degrees, down to which a LiDAR sees; beyond it is unknown"
        upmost = "degrees, up to which a LiDAR sees; beyond it is unknown"
        self._seen = (
            math.radians(float(declare(self, "elevation_min", LOWEST, lowest, *ELEVATIONS))),
            math.radians(float(declare(self, "elevation_max", HIGHEST, upmost, *ELEVATIONS))),
        )
        beside = "degrees above and below its plane for which a scan is taken to hold"
        self._spread = math.radians(float(declare(self, "spread", 10.0, beside, 0.1, 45.0)))
        self._rig = load_vehicle()
        reach = float(
            declare(self, "range_max", 0.0, "m, reach of the sensor; 0: as config/vehicle.yaml says", *REACHES)
        )
        self._mount = Pose(np.array(place), quaternion_from_yaw(turn))
        self._vehicle = self.get_namespace().rsplit("/", 1)[-1] or "uav1"
        self._grid = replace(RangeGrid.of(self._rig.lidar), range_max=reach or self._rig.lidar.range_max)
        self._newest: dict[str, Image] = {}  # depth, by camera
        self._models: dict[str, CameraModel] = {}
        self._poolings: dict[str, tuple[CameraModel, DepthPooling]] = {}
        self._sent = -1  # ns, stamp of the newest image in the last message
        self._ground: Range | None = None
        self._diagnostics = Diagnostics(self, self._vehicle)
        self._source, self._count, self._refused = str(source), 0, ""  # since the last diagnosis: sent, refused why
        self._diagnosed = time.monotonic()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(PERIOD, self._diagnose, clock=steady)
        entry = BY_NAME[names.RANGES]
        self._out = self.create_publisher(message_class(entry.type), names.RANGES, PROFILES[entry.quality])
        looks = optical_rotation(turn, tilt)
        self._cameras = {CAMERA: Pose(quaternion=quaternion_from_rotation(looks))}
        if source == DEPTH:
            self._cameras = {name: mount.pose for name, mount in self._rig.cameras.items()}
        if source == LIDAR:
            self._listen(PointCloud2, names.LIDAR_POINTS, self._on_cloud)
        elif source == SCAN:
            self._listen(LaserScan, OWN_SCAN, self._on_scan)
            self._listen(Range, OWN_GROUND, self._on_ground)
        else:
            for camera in self._cameras:
                depth = OWN_DEPTH if source == CAMERA else names.camera_depth(camera)
                info = OWN_INFO if source == CAMERA else names.camera_info(camera)
                self._listen(Image, depth, lambda image, c=camera: self._newest.__setitem__(c, image))
                self._listen(CameraInfo, info, lambda info, c=camera: self._on_info(c, info))
            self.create_timer(1.0 / self._rig.rates.ranges, self._on_time, clock=steady)

    def _listen(self, kind: Any, topic: str, callback: Any) -> None:
        self.create_subscription(kind, topic, callback, qos_profile_sensor_data)

    def _publish(self, ns: int, ranges: NDArray[np.float32], grid: RangeGrid | None = None) -> None:
        self._count += 1
        self._out.publish(range_image_message(self._vehicle, grid or self._grid, ranges, to_stamp(ns)))

    def _diagnose(self) -> None:
        now = time.monotonic()
        rate, why = self._count / (now - self._diagnosed), self._refused
        self._diagnosed, self._count, self._refused = now, 0, ""
        level, text = DiagnosticStatus.OK, f"{rate:.1f} Hz"
        if why:
            level, text = DiagnosticStatus.WARN, f"{rate:.1f} Hz; of some sensors none: {why}"
        if rate == 0.0:
            level, text = DiagnosticStatus.ERROR, f"no ranges: {why or 'nothing comes of the sensors'}"
        values = {"rate (Hz)": round(rate, 1), "source": self._source}
        self._diagnostics.publish([Finding("ranges", level, text, values)])

    def _refuse(self, why: str) -> None:
        self._refused = why
        self.get_logger().warning(f"no ranges: {why}", throttle_duration_sec=5.0)

    def _on_cloud(self, cloud: PointCloud2) -> None:
        points = points_of(cloud)
        if points is None:
            self._refuse("a cloud without x, y and z as float32 of this machine's byte order, or of another size")
            return
        points = points[points.any(axis=1)]  # zeros are beams that did not come back
        there = np.asarray(self._mount.apply(points), np.float32)
        ranges = unknown_outside(pool_ranges(there, self._grid), self._grid, *self._seen)
        self._publish(nanoseconds(cloud.header.stamp), ranges)

    def _on_ground(self, message: Range) -> None:
        self._ground = message

    def _on_scan(self, scan: LaserScan) -> None:
        """A reading outside the scanner's own limits says nothing unless it is infinite (REP-117)."""
        if not (scan.ranges and math.isfinite(scan.angle_min + scan.angle_increment * len(scan.ranges))):
            self._refuse("a scan without readings or without angles")
            return
        angles = scan.angle_min + scan.angle_increment * np.arange(len(scan.ranges))
        measured = np.array(scan.ranges, dtype=np.float64)
        wrong = np.isfinite(measured) & ((measured < scan.range_min) | (measured > scan.range_max))
        measured[wrong] = np.nan
        grid = replace(self._grid, range_max=min(self._grid.range_max, float(scan.range_max)))
        ranges = plane_ranges(angles + self._mount.yaw, measured, self._spread, grid)
        ns, ground = nanoseconds(scan.header.stamp), self._ground
        if ground is not None and abs(ns - nanoseconds(ground.header.stamp)) <= GROUND_FRESH:
            within = ground.min_range <= ground.range < ground.max_range * CLAMPED
            ranges = with_ground(ranges, float(ground.range) if within else math.nan)
        self._publish(ns, ranges, grid)

    def _on_info(self, camera: str, info: CameraInfo) -> None:
        fx, fy, cx, cy = info.k[0], info.k[4], info.k[2], info.k[5]
        if not (info.width and info.height and math.isfinite(fx + fy + cx + cy) and fx > 0.0 and fy > 0.0):
            self._models.pop(camera, None)
            self._refuse(f"the camera_info of {camera} has no size or no focal length: calibrate the camera")
            return
        if info.distortion_model in BENT and any(info.d):
            self._refuse(f"the images of {camera} are {info.distortion_model}: rectify them (image_proc)")
            self._models.pop(camera, None)
            return
        self._models[camera] = CameraModel(info.width, info.height, fx, fy, cx, cy)

    def _on_time(self) -> None:
        """Sends what the newest depth images show; a camera without one narrows it."""
        for camera in self._newest.keys() - self._models.keys():
            self._refuse(f"no camera_info that can be used came for the depth of {camera}")
        stamps = {c: nanoseconds(image.header.stamp) for c, image in self._newest.items() if c in self._models}
        newest = max(stamps.values(), default=self._sent)
        if newest == self._sent:  # a clock that goes back is one to go on with
            return
        together = {camera: ns for camera, ns in stamps.items() if newest - ns <= TOGETHER}
        parts = [part for camera in together if (part := self._pooled(camera)) is not None]
        self._sent = newest
        if parts:
            self._publish(min(together.values()), merged_ranges(parts))

    def _pooled(self, camera: str) -> NDArray[np.float32] | None:
        image, model = self._newest[camera], self._models[camera]
        if (image.width, image.height) != (model.width, model.height):
            self._refuse(f"the depth of {camera} and its camera_info have different sizes")
            return None
        try:
            depth = depth_of(image)
            refuse_millimetres(depth[::SAMPLE, ::SAMPLE], "depth")
        except (ValueError, MapInputError) as error:
            self._refuse(f"of {camera}: {error}")
            return None
        if camera not in self._poolings or self._poolings[camera][0] != model:
            self._poolings[camera] = model, DepthPooling(model, self._cameras[camera], self._grid)
        return self._poolings[camera][1].pool(depth)


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [RangeDriverNode()])


if __name__ == "__main__":
    raise SystemExit(main())
