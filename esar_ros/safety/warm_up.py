"""The loading, or one compilation, of everything that a decision computes with, before a vehicle depends on it.

A kernel is compiled when it is first called with arrays of its kind; a first obstacle or a first map would silence the
governor for seconds in flight.
"""

from __future__ import annotations

import math

import numpy as np

from esar_ros.geometry.frames import Pose
from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, OccupancyWindow, pack_cells
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, State
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.surroundings.landing_site import Ground
from esar_ros.safety.traffic import OtherVehicle

_NOW = 100.0  # s
_CORNERS = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def warm_up(limits: Limits) -> None:
    """Decides as in flight, without a map, with one, and by the map alone, and forgets it.

    Obstacles, a zone and another vehicle are near, a second brief comes, and somebody is below a landing.
    """
    site = Site(100.0 * _CORNERS, 60.0, np.zeros(3), (5.0 * _CORNERS + 20.0,), top=1000.0)
    site.is_looser_than(site)
    limits.allowed_speed(1.0)  # asked only on the way home and into unseen space
    pose = Pose(np.array([15.0, 10.0, 10.0]))
    velocity = np.array([3.0, 1.0, 0.5])
    for people in ((), (pose.position,)):
        Ground(_ranges(_NOW, pose), pose.position, people, limits).site(None, lambda place: True)
    image, window = _ranges(_NOW, pose), _window(_NOW)
    for ranges, cells in ((image, None), (image, window), (None, window)):
        Governor(limits, site).decide(
            State(_NOW, pose, velocity, armed=True, landed=False, battery=0.9, deviation=0.1),
            Command(_NOW, np.array([3.0, 1.0, 2.5]), 0.2),
            ranges,
            cells,
            _NOW,
            others=[OtherVehicle(_NOW, pose.position + 20.0, velocity)],
        )


def _ranges(stamp: float, pose: Pose) -> RangeImageData:
    """Returns a range image of ground and obstacles below, and nothing above."""
    rows, columns = 24, 36
    measured = np.full((rows, columns), 8.0, dtype=np.float32)
    measured[rows // 2 :] = np.inf
    tall, wide = math.pi / 2.0, 2.0 * math.pi
    return RangeImageData(stamp, pose, -math.pi, wide / columns, -tall, 2.0 * tall / rows, 0.2, 60.0, measured)


def _window(stamp: float) -> OccupancyWindow:
    """Returns a window as it comes in a message, unpacked: ground, a wall, and free air between."""
    cells = np.full((32, 32, 24), FREE, dtype=np.uint8)
    cells[:, :, :4] = cells[20, :, :] = OCCUPIED
    return OccupancyWindow.from_packed(pack_cells(cells), np.zeros(3), 1.0, cells.shape, stamp)
