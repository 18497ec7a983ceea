"""Rays against ground, plants and objects, compared with slow and plain ways of asking the same."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose, quaternion_from_rpy
from esar_ros.sim.world.raycast import GROUND, NO_HIT, PLANT_BASE, build_ground, cast, cast_ground
from esar_ros.sim.world.scatter import SPECIES
from esar_ros.sim.world.world import World

angle = st.floats(0.0, 2.0 * math.pi)


def direction(azimuth: float, elevation: float) -> np.ndarray:
    """Unit vector."""
    flat = math.cos(elevation)
    return np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(elevation)])


@given(x=st.floats(-900, 900), y=st.floats(-900, 900), up=st.floats(1, 80), az=angle, el=st.floats(-1.4, 0.4))
@settings(deadline=None, max_examples=120)
def test_ground_hits_agree_with_marching(world: World, x: float, y: float, up: float, az: float, el: float) -> None:
    origin = np.array([x, y, float(world.ground_height((x, y))) + up])
    ray = direction(az, el)
    found = cast_ground(world.ground, *origin, *ray, 150.0)
    steps = np.arange(0.0, 150.0, 0.02)
    points = origin + ray * steps[:, None]
    gap = points[:, 2] - world.ground_height(points[:, :2])
    inside = world.place.contains(points[:, :2])
    gap = np.where(inside, gap, np.inf)
    assume(np.abs(gap).min() > 0.02 or (gap < -0.02).any())  # a ray that only grazes may go either way
    if (gap <= 0.0).any():
        first = steps[int(np.argmax(gap <= 0.0))]
        grazed = steps[int(np.argmax(gap <= 0.02))]
        assert grazed - 0.03 <= found <= first + 0.03
    else:
        assert found == math.inf


@given(x=st.floats(-990, 990), y=st.floats(-990, 990))
@settings(deadline=None)
def test_straight_down_is_the_height(world: World, x: float, y: float) -> None:
    ranges, ids = world.raycast((x, y, 500.0), np.array([[0.0, 0.0, -1.0]]), 2000.0)
    if ids[0] == GROUND:
        assert ranges[0] == pytest.approx(500.0 - float(world.ground_height((x, y))), abs=2e-3)
    else:
        assert ids[0] >= PLANT_BASE


def test_rays_to_the_sky_and_out_of_reach_hit_nothing(world: World) -> None:
    ranges, ids = world.raycast((0.0, 0.0, 200.0), np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), 50.0)
    assert np.isposinf(ranges).all() and (ids == NO_HIT).all()
    outside, _ = world.raycast((3000.0, 0.0, 50.0), np.array([[-1.0, 0.0, 0.0]]), 100.0)
    assert np.isposinf(outside).all()


def test_flat_ground_at_any_incidence() -> None:
    ground = build_ground(np.zeros((65, 65), dtype=np.float32), 128.0)
    for elevation in (-1.5, -0.5, -0.1, -0.02):
        ray = direction(0.3, elevation)
        expected = 0.9 / -ray[2]
        assert cast_ground(ground, 0.0, 0.0, 0.9, *ray, 1e3) == pytest.approx(expected, rel=1e-6)


def test_the_same_scan_twice_is_the_same(world: World) -> None:
    rays = np.random.default_rng(0).normal(size=(2000, 3))
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    first, second = (world.raycast((-150.0, -420.0, 0.0), rays, 80.0) for _ in range(2))
    assert first[0].tobytes() == second[0].tobytes() and first[1].tobytes() == second[1].tobytes()


def test_trees_stand_in_the_way(world: World) -> None:
    flora = world.flora
    for species, least in (("conifer", 60), ("broadleaf", 60), ("larch", 60), ("bush", 60), ("rock", 60)):
        chosen = np.flatnonzero(flora.species == SPECIES.index(species))[:100]
        hits = 0
        for index in chosen:
            foot, height = flora.positions[index].astype(float), float(flora.height[index])
            ranges, ids = world.raycast(foot + [0.0, 0.0, height + 20.0], np.array([[0.0, 0.0, -1.0]]), 60.0)
            hits += ids[0] == PLANT_BASE + index
            assert ranges[0] <= 20.0 + height + 0.1
        assert hits >= least


def test_what_is_passed_over_unasked_is_not_hit(world: World) -> None:
    """Cells whose plants and boxes end below a ray are skipped: asked one by one, they change no range and no id."""
    rng = np.random.default_rng(5)
    elevation, azimuth = rng.uniform(-0.6, 0.2, 400), rng.uniform(0.0, 2.0 * math.pi, 400)
    rays = np.array([direction(*pair) for pair in zip(azimuth, elevation, strict=True)])
    scene = list(world.collision_scene())
    everything = [*scene]
    for place in (4, 7):  # of plants, of boxes
        everything[place] = scene[place]._replace(tops=np.full_like(scene[place].tops, np.inf))
    plants = 0
    for _ in range(40):
        xy = rng.uniform(-900.0, 900.0, 2)
        origins = np.tile([*xy, float(world.ground_height(xy)) + rng.uniform(2.0, 40.0)], (len(rays), 1))
        found = []
        for asked in (scene, everything):
            ranges, ids = np.empty(len(rays), np.float32), np.empty(len(rays), np.int32)
            cast(*asked, origins, rays, 120.0, ranges, ids)
            found.append((ranges, ids))
        np.testing.assert_array_equal(found[0][0], found[1][0])
        np.testing.assert_array_equal(found[0][1], found[1][1])
        plants += int((found[0][1] >= PLANT_BASE).sum())
    assert plants > 200


@given(yaw=angle, roll=st.floats(-1.0, 1.0), az=angle, el=st.floats(-1.2, 1.2), scale=st.floats(0.5, 3.0))
@settings(deadline=None, max_examples=100)
def test_boxes_are_hit_where_planes_say(
    empty_world: World, yaw: float, roll: float, az: float, el: float, scale: float
) -> None:
    pose = Pose(np.array([0.0, 0.0, 60.0]), quaternion_from_rpy(roll, 0.2, yaw))
    thing = empty_world.spawn("box", "backpack/day_orange", pose, scale)
    try:
        (box,) = thing.solids
        centre, half, axes = box[:3], box[3:6], box[6:].reshape(3, 3)
        ray = direction(az, el)
        ranges, ids = empty_world.raycast(centre - 20.0 * ray, ray[None], 40.0)
        assert ids[0] == thing.id
        local = axes @ (-20.0 * ray + float(ranges[0]) * ray)
        assert np.abs(local / half).max() == pytest.approx(1.0, abs=1e-3)
    finally:
        empty_world.destroy("box")


def test_line_of_sight(empty_world: World) -> None:
    assert empty_world.line_of_sight((0.0, 0.0, 50.0), (30.0, 0.0, 50.0))
    assert not empty_world.line_of_sight((0.0, 0.0, 50.0), (0.0, 0.0, -50.0))
    empty_world.spawn("t", "tent", Pose(np.array([15.0, 0.0, 49.5])))
    assert not empty_world.line_of_sight((0.0, 0.0, 50.0), (30.0, 0.0, 50.0))
    empty_world.destroy("t")
