"""Voxel mapper node: depth images in; map layers, local occupancy and coverage out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rcl_interfaces.msg import ParameterDescriptor
from sensor_msgs.msg import PointCloud2
from std_srvs.srv import Trigger

from esar_ros.faults.schedule import FRAMES
from esar_ros.geometry.camera_frame import FrameSet
from esar_ros.geometry.frames import Vector
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.inputs import Scan
from esar_ros.mapping.layers.object_labels import LABELS, SeenObject
from esar_ros.mapping.mapper import Mapper
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.stamps import nanoseconds
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.msg import Brief, Detections, MapStatus, Tick
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.diagnostics import Finding
from esar_ros.nodes.core.lifecycle import ManagedStepNode
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.steps import Step, to_stamp
from esar_ros.nodes.core.work_barrier import WorkBarrier
from esar_ros.nodes.messages import convert
from esar_ros.nodes.messages.clouds import points_of
from esar_ros.nodes.messages.frame_source import MAX_POSE_GAP, FrameSource, TopicFrames
from esar_ros.nodes.messages.mapping import (
    color_by_class,
    frontier_markers,
    local_map_message,
    occupancy_grid,
    point_cloud,
)

COVERAGE_PERIOD = 30  # frames between two coverage images
SLOW_PERIOD = 0.5  # s between two grids or two sets of frontiers in real time; in lockstep every frame has them
HEIGHT, CLASS = "height", "class"


class SharedMap:
    """One map of several vehicles, whose mappers live in one process: the first makes it, the last drops it."""

    def __init__(self, vehicles: Sequence[str]) -> None:
        """vehicles: names, in the order in which their frames of one stamp go into the map."""
        self.barrier = WorkBarrier(vehicles)
        self.mapper: Mapper | None = None
        self._users: set[str] = set()

    def take(self, vehicle: str, make: Callable[[], Mapper]) -> Mapper:
        """Returns the map for a vehicle that goes on using it."""
        if self.mapper is None:
            self.mapper = make()
        self._users.add(vehicle)
        return self.mapper

    def give_back(self, vehicle: str) -> None:
        """A vehicle uses the map no longer."""
        self._users.discard(vehicle)
        if not self._users:
            self.mapper = None


class VoxelMapperNode(ManagedStepNode):
    """Integrates each frame and publishes what pilot, governor, planner and people need."""

    def __init__(
        self, source: FrameSource | None = None, namespace: str | None = None, shared: SharedMap | None = None
    ) -> None:
        """shared: the team's map; without one the vehicle has a map of its own."""
        super().__init__(node_names.VOXEL_MAPPER, namespace)
        self._resolution = float(declare(self, "resolution", 1.0, "m, edge of a voxel", minimum=0.1, maximum=5.0))
        about = "share of depth, standard deviation"
        self._noise = float(declare(self, "depth_noise", 0.0, about, minimum=0.0, maximum=0.1))
        folder = str(declare(self, "page_folder", "", "folder on a disk for blocks left behind; empty: all in memory"))
        self._color = str(declare(self, "points_color", HEIGHT, "what colours the points", choices=(HEIGHT, CLASS)))
        self._lidar = bool(declare(self, "lidar", False, "whether LiDAR scans are integrated beside depth"))
        self.declare_parameter("map_file", "", ParameterDescriptor(description="file of ~/save_map and ~/load_map"))
        self._page_folder = Path(folder) if folder else None
        if self._page_folder is not None and not self._page_folder.is_dir():
            raise UsageError(f"{self.get_fully_qualified_name()} parameter page_folder: {folder}", "name a folder")
        self._shared = shared or SharedMap(self.vehicles)
        self._map: Mapper | None = None
        self._shared.barrier.join(self.vehicles[0], self.retry)
        self._spent = 0.0  # s of work on the newest frame
        self._frames: dict[int, FrameSet] = {}
        self._refused_reason = ""
        self._count = 0
        self._newest_ns: int | None = None  # stamp of the newest frame in the map
        self._slow_ns = -1
        self._status: MapStatus | None = None
        self._odometry = convert.OdometryInMap(self)
        self._place: Vector | None = None  # m, map, where the vehicle was known to be last
        self.input(names.BRIEF, self._on_brief)
        for other in self._shared.barrier.members:
            if other != self.vehicles[0]:
                self.follow(other)
        self._unlabelled: FrameSet | None = None  # real time: the newest frame, until its detections come
        if self.lockstep:
            self.await_input(names.DETECTIONS, Tick.FRAME)
        else:
            self.input(names.DETECTIONS, self._on_detections)
        if self._lidar and self.lockstep:
            self.await_input(names.LIDAR_POINTS, Tick.RANGES)
        elif self._lidar:
            self.input(names.LIDAR_POINTS, self._integrate_scan)
        self._source = source or TopicFrames(self, load_vehicle())
        self._source.subscribe(self.faulty(FRAMES, self._on_frame))
        for topic in (
            names.MAP_POINTS,
            names.MAP_GRID,
            names.MAP_FRONTIERS,
            names.MAP_LOCAL,
            names.MAP_STATUS,
            names.MAP_COVERAGE,
            names.MAP_CLASSES,
        ):
            self.output(topic)
        self.create_service(Trigger, "~/save_map", self._on_save)
        self.create_service(Trigger, "~/load_map", self._on_load)
        self.join()

    @property
    def _mapper(self) -> Mapper:
        """The map of a configured node."""
        assert self._map is not None
        return self._map

    def configure(self) -> None:
        """Make the map, or use the team's."""
        self._map = self._shared.take(self.vehicles[0], self._make_map)
        if (brief := self.inbox(names.BRIEF).newest) is not None:
            self._on_brief(brief)

    def _make_map(self) -> Mapper:
        max_range = load_vehicle().image.depth_max
        mapper = Mapper(self._resolution, max_range, load_thresholds().coverage_range, self._noise, self._page_folder)
        mapper.warm_up()
        return mapper

    def clean_up(self) -> None:
        """Drop the map; the team's lives as long as one of its mappers is configured."""
        self._shared.give_back(self.vehicles[0])
        self._map, self._status, self._newest_ns, self._unlabelled = None, None, None, None
        self._frames = {}

    def waiting_for(self) -> str:
        """Returns the input that is still missing: the search area, or the transform."""
        if not self._mapper.has_area:
            return "the brief"
        return "" if self._odometry.known else "the transform map -> odom"

    def diagnose(self) -> list[Finding]:
        """Size of the map, time of the last frame, and why frames were refused."""
        status = self._status
        lifecycle = self.lifecycle_finding()
        if status is None:
            return [Finding("map", DiagnosticStatus.WARN, "no frame yet"), lifecycle]
        values = {
            "voxels occupied": status.occupied,
            "voxels free": status.free,
            "memory (MB)": round(status.memory / 1e6, 1),
            "integration (ms)": round(1e3 * status.integration_time, 1),
            "frames": status.frames,
            "frames refused": status.refused,
        }
        if self._refused_reason:
            refused = f"refused a frame: {self._refused_reason}"
            return [Finding("map", DiagnosticStatus.WARN, refused, values), lifecycle]
        return [Finding("map", values=values), lifecycle]

    def _on_brief(self, brief: Brief) -> None:
        if self._map is not None and not self._map.has_area:
            self._map.set_area(np.array([[p.x, p.y] for p in brief.area]), convert.array3(brief.home))

    def _on_frame(self, frame_set: FrameSet) -> None:
        if not self.configured:
            return
        if not self.lockstep and not self._mapper.has_area:
            return  # camera drivers do not wait for the brief
        if not self.lockstep and not self.active:
            self._publish(frame_set.ns, 0.0)
            return
        if not self.lockstep:
            self._integrate(frame_set, self._now())
            self._unlabelled = frame_set
            newest = self.inbox(names.DETECTIONS).at(frame_set.ns)
            if newest is not None:
                self._on_detections(newest)
            self._publish(frame_set.ns, self._spent)
            return
        self._frames = {frame_set.ns: frame_set}
        self.retry()

    def _now(self) -> float | None:
        """s on the odometry's clock: its newest stamp and the time since it came."""
        box = self.inbox(names.ODOMETRY)
        if box.newest is None:
            return None
        return nanoseconds(box.newest.header.stamp) * 1e-9 + time.monotonic() - box.arrived

    def on_step(self, step: Step) -> bool | None:
        """Answer frames; without a camera driver, say again what is known."""
        driven = node_names.CAMERA_DRIVER not in step.absent
        if step.is_frame() and driven and step.ns not in self._frames and not self._source.has_lost(step.ns):
            return False
        scanned = self._lidar and driven and bool(step.kinds & Tick.RANGES)
        if not scanned and not step.is_frame():
            return None
        own = self.vehicles[0]
        awaited = [v for v in self._shared.barrier.members if v != own and self.get_name() not in self.absent_of(v)]
        if not self._shared.barrier.take(own, step.ns, partial(self._work, step, scanned), awaited):
            return False
        if step.is_frame():
            self._frames.pop(step.ns, None)
            self._publish(step.ns, self._spent)
        return None

    def _work(self, step: Step, scanned: bool) -> None:
        """Integrates this step's LiDAR scan and depth images into the map, and labels it."""
        self._spent = 0.0
        if not self.active:
            return
        if scanned:
            self._integrate_scan(self.inbox(names.LIDAR_POINTS).at(step.ns))
        frame_set = self._frames.get(step.ns) if step.is_frame() else None
        if frame_set is not None:
            self._integrate(frame_set, step.seconds)
            self._label(frame_set, self.inbox(names.DETECTIONS).at(step.ns))

    def _integrate(self, frame_set: FrameSet, now: float | None) -> None:
        began = time.perf_counter()
        refused = self._mapper.integrate(frame_set.frames, now)
        self._note_refusal(refused)
        if not refused:
            self._newest_ns = max(frame_set.ns, self._newest_ns or 0)
        self._spent = time.perf_counter() - began

    def _on_detections(self, detections: Detections) -> None:
        """Real time: label the frame that they are of, if it is still the newest."""
        frame_set = self._unlabelled
        if frame_set is not None and frame_set.ns == nanoseconds(detections.header.stamp):
            self._unlabelled = None
            self._label(frame_set, detections)

    def _label(self, frame_set: FrameSet, detections: Detections | None) -> None:
        """Paint what was detected in a frame into the class layer."""
        if detections is None or not detections.detections:
            return
        for frame in frame_set.frames:
            seen = [
                SeenObject((d.x, d.y, d.width, d.height), convert.array3(d.position), LABELS[d.kind])
                for d in detections.detections
                if d.camera == frame.camera and d.has_position and d.kind in LABELS
            ]
            self._note_refusal(self._mapper.paint_objects(frame, seen))

    def _integrate_scan(self, cloud: PointCloud2) -> None:
        if not self.active or not self._mapper.has_area:
            return
        ns = nanoseconds(cloud.header.stamp)
        own = self._odometry.at(ns) if self.lockstep else self._odometry.nearest(ns)
        if own is None or abs(own[0] - ns) > MAX_POSE_GAP:
            self._note_refusal("a LiDAR's cloud of a time of which no odometry is known")
            return
        points = points_of(cloud)
        if points is None:
            self._note_refusal(f"{len(cloud.data)} bytes are no cloud of x, y and z as float32")
            return
        self._note_refusal(self._mapper.integrate_scan(Scan.of_points(points, own[1])))

    def _note_refusal(self, reason: str) -> None:
        if reason:
            self._refused_reason = reason
            self.get_logger().warning(f"frame refused: {reason}", throttle_duration_sec=5.0)

    # -- files ----------------------------------------------------------------------------------

    def _on_save(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._with_file(response, Mapper.save, "written")

    def _on_load(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response = self._with_file(response, Mapper.load, "read")
        if response.success:
            self._operator_log.record("load_map")
        return response

    def _with_file(
        self, response: Trigger.Response, action: Callable[[Mapper, Path], None], done: str
    ) -> Trigger.Response:
        """Answer a service: success only when the file was written or read whole."""
        path = str(self.get_parameter("map_file").value)
        response.success = False
        if not path:
            response.message = "the parameter map_file is empty"
        elif self._map is None:
            response.message = "the node is not configured"
        elif not self._map.has_area:
            response.message = "no search area yet"
        else:
            try:
                action(self._map, Path(path))
                response.success, response.message = True, f"{path} {done}"
            except (MapInputError, OSError) as error:
                response.message = str(error)
        return response

    # -- what goes out --------------------------------------------------------------------------

    def _publish(self, ns: int, seconds: float) -> None:
        own = self._odometry.at(ns if self.lockstep else None) or self._odometry.at()
        if own is not None:
            self._place = own[1].position
        if self._place is None:
            return
        stamp = to_stamp(ns)
        self._publish_local(ns, self._place)
        self._publish_status(stamp, seconds)
        if self.lockstep or ns - self._slow_ns >= SLOW_PERIOD * 1e9 or ns < self._slow_ns:
            self._slow_ns = ns
            if self.lockstep or self.wanted(names.MAP_GRID):  # a planner that is just coming back awaits it
                self.send(names.MAP_GRID, occupancy_grid(*self._mapper.grid(), stamp))
            if self.wanted(names.MAP_FRONTIERS):
                self.send(names.MAP_FRONTIERS, frontier_markers(self._mapper.frontiers(), stamp))
            if self.wanted(names.MAP_POINTS):
                self.send(names.MAP_POINTS, self._points(stamp))
            if self.wanted(names.MAP_CLASSES):
                self.send(names.MAP_CLASSES, occupancy_grid(*self._mapper.class_image(), stamp))
        if self._count % COVERAGE_PERIOD == 0 and self.wanted(names.MAP_COVERAGE):
            self.send(names.MAP_COVERAGE, occupancy_grid(*self._mapper.coverage_image(), stamp))
        self._count += 1

    def _publish_status(self, stamp: object, seconds: float) -> None:
        status = self._mapper.state()
        message = MapStatus(
            covered_area=status.covered_area,
            search_area=status.search_area,
            coverage=status.coverage,
            occupied=status.occupied,
            free=status.free,
            memory=status.memory,
            frames=status.frames,
            refused=status.refused,
            refused_reason=self._refused_reason,
            integration_time=seconds,
        )
        message.header.stamp = stamp
        message.header.frame_id = names.MAP
        self._status = message
        self.send(names.MAP_STATUS, message)

    def _points(self, stamp: object) -> PointCloud2:
        data = self._mapper.cloud_data()
        if self._color == HEIGHT:
            return point_cloud(data, "intensity", stamp)
        color_by_class(np.frombuffer(data, np.float32).reshape(-1, 4), *self._mapper.class_image())
        return point_cloud(data, "rgb", stamp)

    def _publish_local(self, ns: int, position: Vector) -> None:
        window = self._mapper.local_window(position, 0.0)
        age = math.inf if self._newest_ns is None else max(0.0, (ns - self._newest_ns) * 1e-9)
        self.send(names.MAP_LOCAL, local_map_message(window, age, to_stamp(ns)))


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [VoxelMapperNode()])


if __name__ == "__main__":
    raise SystemExit(main())
