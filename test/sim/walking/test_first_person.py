"""A walker sees things by colour, depth and id, and no farther than the wall at its nose."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission.rescue import Head, WalkAction
from esar_ros.sim.walking.contacts import RADIUS
from esar_ros.sim.walking.first_person import FirstPersonCamera
from esar_ros.sim.walking.walker import Walker
from esar_ros.sim.world.world import World
from helpers.walking import small_world, walked, walker_at, wall


@pytest.fixture(scope="module")
def world() -> World:
    """A wall across the x axis 4 m ahead, a stretcher before it, a door to the left."""
    world = small_world(wall(4.0, 0.0, 12.0, height=4.0))
    world.spawn("stretcher", "rescue_stretcher", Pose(np.array([2.5, 0.0, 0.0]), quaternion_from_yaw(math.pi / 2)))
    world.spawn("door_0", "rescue_door", Pose(np.array([0.0, 3.0, 0.0]), quaternion_from_yaw(math.pi / 2)))
    return world


@pytest.fixture(scope="module")
def camera(world: World) -> Iterator[FirstPersonCamera]:
    camera = FirstPersonCamera(world, 96, 96)
    yield camera
    camera.close()


@pytest.fixture
def walker(world: World) -> Walker:
    return walker_at(world)


def test_it_looks_ahead_from_eye_height(camera: FirstPersonCamera, walker: Walker, world: World) -> None:
    image = camera.image(walker)
    assert image.rgb.shape == (96, 96, 3) and image.depth.shape == image.ids.shape == (96, 96)
    assert image.depth[48, 48] == pytest.approx(4.0 - 0.15 - 0.2, abs=0.02)
    stretcher = np.argwhere(image.ids == world.objects["stretcher"].id)
    assert len(stretcher) > 40 and stretcher[:, 0].min() > 48  # below the horizon, in the middle
    assert abs(stretcher[:, 1].mean() - 48) < 4
    assert not (image.ids == world.objects["door_0"].id).any()
    walker.place((0.0, 0.0, 0.0), math.pi / 2)
    walker.advance(0.1)
    assert (camera.image(walker).ids == world.objects["door_0"].id).sum() > 100


def test_a_raised_head_sees_more_sky(camera: FirstPersonCamera, walker: Walker) -> None:
    walker.place((-6.0, 0.0, 0.0), 0.0)
    level = np.isinf(camera.image(walker).depth).mean()
    walker.action = WalkAction(head=Head.UP)
    up = np.isinf(camera.image(walker).depth).mean()
    walker.action = WalkAction(head=Head.DOWN)
    assert up > level + 0.15 and np.isinf(camera.image(walker).depth).mean() < level - 0.15


def test_with_its_nose_at_a_wall_it_sees_the_wall_and_nothing_behind(camera: FirstPersonCamera, walker: Walker) -> None:
    walker.place((3.0, 3.0, 0.0), 0.0)
    walked(walker, 2.0)
    image = camera.image(walker)
    assert image.depth[48, 48] == pytest.approx(RADIUS - 0.2, abs=0.01)
    assert image.depth.max() < 0.4
