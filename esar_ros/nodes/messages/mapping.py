"""Messages of the map: grids, points and frontiers, all in the map frame."""

from __future__ import annotations

import array
import zlib

import numpy as np
from geometry_msgs.msg import Point
from nav_msgs.msg import OccupancyGrid
from numpy.typing import NDArray
from sensor_msgs.msg import PointCloud2, PointField
from visualization_msgs.msg import Marker, MarkerArray

from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mission import names
from esar_ros.mission.clues import KINDS
from esar_ros.msg import LocalMap
from esar_ros.nodes.messages import convert

GREY = 0x808080
# Packed RGB by label of the class layer: grey for none, then each kind's own.
CLASS_COLORS = np.array([GREY, *(zlib.crc32(kind.encode()) & 0xFFFFFF | 0x404040 for kind in KINDS)], np.uint32)


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


def local_map_message(window: OccupancyWindow, age: float, stamp: object) -> LocalMap:
    """Occupancy around a vehicle; age (s) of the newest frame in it, inf before the first."""
    size_x, size_y, size_z = window.cells.shape
    message = LocalMap(
        origin=convert.point(window.origin),
        resolution=float(window.resolution),
        size_x=size_x,
        size_y=size_y,
        size_z=size_z,
        cells=array.array("B", window.pack()),
        age=age,
    )
    message.header.stamp = stamp
    message.header.frame_id = names.MAP
    return message


def color_by_class(
    points: NDArray[np.float32], cells: NDArray[np.int8], edge: float, origin: tuple[float, float]
) -> None:
    """Put packed colours beside points (N, 4): grey, and a class's own on the ground cells (rows = y) that show it."""
    rows = np.floor((points[:, 1] - origin[1]) / edge).astype(np.int64)
    columns = np.floor((points[:, 0] - origin[0]) / edge).astype(np.int64)
    inside = (rows >= 0) & (rows < cells.shape[0]) & (columns >= 0) & (columns < cells.shape[1])
    labels = np.zeros(len(points), np.int64)
    labels[inside] = np.maximum(cells[rows[inside], columns[inside]], 0)
    points.view(np.uint32)[:, 3] = CLASS_COLORS[labels]


def point_cloud(data: array.array[int], fourth: str, stamp: object) -> PointCloud2:
    """Voxel centres in the map frame: float32 x, y, z and one more field, `intensity` or packed `rgb`."""
    count = len(data) // 16
    message = PointCloud2(height=1, width=count, is_dense=True, point_step=16, row_step=16 * count)
    message.header.stamp = stamp
    message.header.frame_id = names.MAP
    message.fields = [
        PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
        for i, name in enumerate(("x", "y", "z", fourth))
    ]
    message.data = data
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
