"""Voxel mapper node: depth pictures in; map layers, local occupancy and coverage out."""

from __future__ import annotations

import array
import time

import numpy as np
from geometry_msgs.msg import Point
from nav_msgs.msg import OccupancyGrid
from numpy.typing import NDArray
from sensor_msgs.msg import PointCloud2, PointField
from visualization_msgs.msg import Marker, MarkerArray

from esar_ros.geometry.frames import Vector
from esar_ros.mapping.mapper import Mapper
from esar_ros.mission import names
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.msg import Brief, LocalMap, MapStatus
from esar_ros.nodes import convert, interface
from esar_ros.nodes.frames import FrameSet, FrameSource, TopicFrames
from esar_ros.nodes.parameters import declare
from esar_ros.nodes.runtime import run
from esar_ros.nodes.steps import Step, StepNode, to_stamp

COVERAGE_PERIOD = 30  # frames between two coverage pictures


class VoxelMapperNode(StepNode):
    """Integrates each frame and publishes what pilot, governor, planner and people need."""

    def __init__(self, source: FrameSource | None = None) -> None:
        super().__init__(interface.VOXEL_MAPPER)
        resolution = float(declare(self, "resolution", 1.0, "m, edge of a voxel", minimum=0.1, maximum=5.0))
        max_range = load_vehicle().image.depth_max
        self._mapper = Mapper(resolution, max_range, load_thresholds().coverage_range)
        self._mapper.warm_up()
        self._frames: dict[int, FrameSet] = {}
        self._refused_reason = ""
        self._count = 0
        self._odometry = convert.OdometryInMap(self)
        self.input(names.BRIEF, self._on_brief)
        (source or TopicFrames(self, load_vehicle())).subscribe(self._on_frame)
        for topic in (
            names.MAP_POINTS,
            names.MAP_GRID,
            names.MAP_FRONTIERS,
            names.MAP_LOCAL,
            names.MAP_STATUS,
            names.MAP_COVERAGE,
        ):
            self.output(topic)
        self.join()

    def waiting_for(self) -> str:
        """The search area and the transform."""
        if not self._mapper.has_area:
            return "the brief"
        return "" if self._odometry.known else "the transform map -> odom"

    def _on_brief(self, brief: Brief) -> None:
        if not self._mapper.has_area:
            self._mapper.set_area(np.array([[p.x, p.y] for p in brief.area]), convert.array3(brief.home))

    def _on_frame(self, frame_set: FrameSet) -> None:
        if not self.lockstep:
            self._integrate(frame_set)
            return
        self._frames = {frame_set.ns: frame_set}
        self.retry()

    def on_step(self, step: Step) -> bool | None:
        """Answer frames; without a camera driver, say again what is known."""
        if not step.is_frame():
            return None
        frame_set = self._frames.pop(step.ns, None)
        if frame_set is not None:
            self._integrate(frame_set)
        elif interface.CAMERA_DRIVER in step.absent:
            self._publish(step.ns, 0.0)
        else:
            return False
        return None

    def _integrate(self, frame_set: FrameSet) -> None:
        began = time.perf_counter()
        refused = self._mapper.integrate([(frame.depth, frame.model, frame.pose) for frame in frame_set.frames])
        if refused:
            self._refused_reason = refused
            self.get_logger().warning(f"frame refused: {refused}", throttle_duration_sec=5.0)
        self._publish(frame_set.ns, time.perf_counter() - began)

    def _publish(self, ns: int, seconds: float) -> None:
        own = self._odometry.at(ns if self.lockstep else None) or self._odometry.at()
        if own is None:
            return
        stamp = to_stamp(ns)
        position = own[1].position
        self._publish_local(stamp, position)
        self._publish_grid(stamp)
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
        self.send(names.MAP_STATUS, message)
        if self.wanted(names.MAP_POINTS):
            self.send(names.MAP_POINTS, point_cloud(self._mapper.occupied_points(), stamp))
        if self.wanted(names.MAP_FRONTIERS):
            self.send(names.MAP_FRONTIERS, frontier_markers(self._mapper.frontiers(), stamp))
        if self._count % COVERAGE_PERIOD == 0 and self.wanted(names.MAP_COVERAGE):
            cells, resolution, origin = self._mapper.coverage_picture()
            self.send(names.MAP_COVERAGE, occupancy_grid(cells, resolution, origin, stamp))
        self._count += 1

    def _publish_local(self, stamp: object, position: Vector) -> None:
        window = self._mapper.local_window(position, 0.0)
        size_x, size_y, size_z = window.cells.shape
        message = LocalMap(
            origin=convert.point(window.origin),
            resolution=float(window.resolution),
            size_x=size_x,
            size_y=size_y,
            size_z=size_z,
            cells=array.array("B", window.pack()),
        )
        message.header.stamp = stamp
        message.header.frame_id = names.MAP
        self.send(names.MAP_LOCAL, message)

    def _publish_grid(self, stamp: object) -> None:
        cells, resolution, origin = self._mapper.grid()
        self.send(names.MAP_GRID, occupancy_grid(cells, resolution, origin, stamp))


def occupancy_grid(
    cells: NDArray[np.int8], resolution: float, origin: tuple[float, float], stamp: object
) -> OccupancyGrid:
    """Grid message of cells (rows = y, columns = x) in the map frame."""
    message = OccupancyGrid()
    message.header.stamp = stamp
    message.header.frame_id = names.MAP
    message.info.map_load_time = stamp
    message.info.resolution = float(resolution)
    message.info.height, message.info.width = (int(n) for n in cells.shape)
    message.info.origin.position = Point(x=float(origin[0]), y=float(origin[1]), z=0.0)
    message.info.origin.orientation.w = 1.0
    message.data = array.array("b", np.ascontiguousarray(cells, dtype=np.int8).tobytes())
    return message


def point_cloud(points: NDArray[np.floating], stamp: object) -> PointCloud2:
    """Voxel centres (N, 3) in the map frame; intensity is the height, for colouring."""
    data = np.empty((len(points), 4), dtype=np.float32)
    data[:, :3] = points
    data[:, 3] = points[:, 2]
    message = PointCloud2(height=1, width=len(points), is_dense=True, point_step=16, row_step=16 * len(points))
    message.header.stamp = stamp
    message.header.frame_id = names.MAP
    message.fields = [
        PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
        for i, name in enumerate(("x", "y", "z", "intensity"))
    ]
    message.data = array.array("B", data.tobytes())
    return message


def frontier_markers(frontiers: NDArray[np.float64], stamp: object) -> MarkerArray:
    """A sphere per frontier cluster (x, y, z, voxels), sized by its voxels."""
    result = MarkerArray(markers=[Marker(action=Marker.DELETEALL)])
    result.markers[0].header.frame_id = names.MAP
    for number, (x, y, z, size) in enumerate(frontiers):
        marker = Marker(type=Marker.SPHERE, action=Marker.ADD, id=number, ns="frontiers")
        marker.header.stamp = stamp
        marker.header.frame_id = names.MAP
        marker.pose.position = Point(x=float(x), y=float(y), z=float(z))
        marker.pose.orientation.w = 1.0
        marker.scale.x = marker.scale.y = marker.scale.z = float(np.clip(size ** (1 / 3), 1.0, 12.0))
        marker.color.g, marker.color.b, marker.color.a = 0.9, 0.9, 0.5
        result.markers.append(marker)
    return result


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [VoxelMapperNode()])


if __name__ == "__main__":
    raise SystemExit(main())
