"""Sensors as range_driver reads them, before the governor: what they do not see is not flown into."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.frames import Pose, Vector, quaternion_from_rotation
from esar_ros.mission.observation import Brief
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.nodes.graph.governor import HIGHEST, LOWEST
from esar_ros.nodes.graph.mission import PX4_TAU
from esar_ros.perception.ranges import DepthPooling, RangeGrid, pool_ranges, unknown_outside
from esar_ros.safety.conditions import site_of
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, State
from esar_ros.safety.limits import load_limits

GRID = RangeGrid.of(load_vehicle().lidar)
WALLS = 60.0  # m from the middle of a yard to each of its walls
STEP = 0.05  # s

Ranges = Callable[[Vector], NDArray[np.float32]]


def flown(ranges: Ranges, start: tuple[float, float, float], command: tuple[float, float, float], steps: int) -> Vector:
    """Returns where a vehicle ends, or where it touches the ground. A Brief as the governor alone has it."""
    limits = load_limits().model_copy(update={"tau": PX4_TAU})
    around = 2.0 * math.pi * np.arange(16) / 16.0
    brief = Brief(
        mission_id="governor", map_id="", prompt="", weather="", wind_speed=math.nan, local_time="", t_max=1e9,
        area=100.0 * np.stack([np.cos(around), np.sin(around)], axis=-1), ceiling=50.0, home=np.zeros(3), report_cap=0,
        origin=(47.0, 8.0, 400.0),
    )  # fmt: skip
    governor = Governor(limits, site_of(brief, limits, ()))
    position, velocity, now = np.array(start), np.zeros(3), 100.0
    for step in range(steps):
        if step % 2 == 0:
            image = RangeImageData(
                now, Pose(position.copy()), GRID.azimuth_min, GRID.azimuth_step, GRID.elevation_min,
                GRID.elevation_step, GRID.range_min, GRID.range_max, ranges(position),
            )  # fmt: skip
        state = State(now, Pose(position.copy()), velocity, True, False, 0.9)
        given = governor.decide(state, Command(now, np.array(command)), image, None, now)
        velocity = velocity + (given.velocity - velocity) * min(1.0, STEP / 0.3)
        position, now = position + velocity * STEP, now + STEP
        if position[2] <= 0.0:
            break
    return position


def lidar(elevations: NDArray[np.float64], low: float, high: float) -> Ranges:
    """Ranges of a level LiDAR in a walled yard, for which the driver was told elevations (degrees)."""
    up, around = np.meshgrid(np.radians(elevations), np.linspace(-math.pi, math.pi, 120, endpoint=False), indexing="ij")
    rays = np.stack([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)], axis=-1).reshape(-1, 3)

    def ranges(position: Vector) -> NDArray[np.float32]:
        with np.errstate(divide="ignore", invalid="ignore"):
            ground = np.where(rays[:, 2] < 0.0, -position[2] / rays[:, 2], np.inf)
            walls = [(side * WALLS - position[axis]) / rays[:, axis] for axis in (0, 1) for side in (-1.0, 1.0)]
        lengths = np.minimum.reduce([ground, *(np.where(wall > 0.0, wall, np.inf) for wall in walls)])
        points = (rays * lengths[:, None])[lengths < 100.0].astype(np.float32)
        return unknown_outside(pool_ranges(points, GRID), GRID, math.radians(low), math.radians(high))

    return ranges


LIDARS = {  # elevations in degrees, by data sheet
    "VLP-16": (np.arange(-15.0, 15.1, 2.0), -15.0, 15.0),
    "OS1-32": (np.linspace(-22.5, 22.5, 32), -22.5, 22.5),
    "Mid-360": (np.arange(-7.0, 52.1, 2.0), -7.0, 52.0),
}


@pytest.mark.parametrize("name", LIDARS)
@pytest.mark.parametrize("told", [True, False])
def test_below_its_lowest_beam_a_lidar_leads_nobody_into_the_ground(name: str, told: bool) -> None:
    elevations, low, high = LIDARS[name]
    ranges = lidar(elevations, low, high) if told else lidar(elevations, LOWEST, HIGHEST)
    down = flown(ranges, (5.0, 0.0, 10.0), (0.0, 0.0, -2.0), 150)
    level = flown(ranges, (0.0, 0.0, 10.0), (1.0, 0.0, 0.0), 300)
    assert down[2] > 3.0 and level[2] > 8.0 and level[0] > 5.0


def stereo(post: float, width: float, share: float, wall: float) -> Ranges:
    """Ranges of a stereo camera that cannot measure a post (m ahead, m wide) but for a share of its pixels."""
    grid = replace(GRID, range_max=10.0)
    turn = optical_rotation(0.0, -0.2)
    model = CameraModel.from_horizontal_fov(160, 120, math.radians(87.0))
    pooling = DepthPooling(model, Pose(quaternion=quaternion_from_rotation(turn)), grid)
    rays, random = model.rays() @ turn.T, np.random.default_rng(7)

    def ranges(position: Vector) -> NDArray[np.float32]:
        ahead = rays[..., 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            depth = np.where(ahead > 1e-6, (wall - position[0]) / ahead, np.inf)
            depth = np.minimum(depth, np.where(rays[..., 2] < -1e-6, -position[2] / rays[..., 2], np.inf))
            beside = np.abs(rays[..., 1] / ahead) * (post - position[0])
        hidden = (ahead > 1e-6) & (beside < width / 2.0) & (random.uniform(size=ahead.shape) >= share)
        return pooling.pool(np.where(hidden, np.nan, depth).astype(np.float32))

    return ranges


@pytest.mark.parametrize(("width", "share"), [(0.1, 0.0), (0.2, 0.0), (0.4, 0.0), (0.4, 0.05), (1.0, 0.05)])
def test_a_post_that_stereo_does_not_measure_is_not_free_for_what_is_measured_behind_it(
    width: float, share: float
) -> None:
    end = flown(stereo(5.0, width, share, 9.0), (0.0, 0.0, 5.0), (2.0, 0.0, 0.0), 200)
    assert end[0] < 4.5
