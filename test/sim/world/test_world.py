"""World: objects, ground, contacts, sun and weather."""

from __future__ import annotations

import dataclasses
import math
from datetime import datetime, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose, quaternion_from_rpy
from esar_ros.mission.errors import UsageError
from esar_ros.mission.weather import Weather
from esar_ros.sim.terrain.maps import PlaceMap, Structure
from esar_ros.sim.weather.sky import sun_direction
from esar_ros.sim.world.environment import Environment
from esar_ros.sim.world.raycast import FIXTURE_BASE, PLANT_BASE
from esar_ros.sim.world.scatter import SPECIES, scatter
from esar_ros.sim.world.world import World


def test_spawn_move_destroy(empty_world: World) -> None:
    world = empty_world
    before = world.revision
    tent = world.spawn("camp", "tent/blue", world.ground_pose((5.0, 5.0), 0.3))
    other = world.spawn("rope", "rope", world.ground_pose((9.0, 5.0), 0.0))
    assert (tent.id, other.id) == (1, 2) and world.revision > before
    world.destroy("camp")
    again = world.spawn("pack", "backpack", world.ground_pose((1.0, 1.0), 0.0))
    assert again.id == 1  # the least free id
    moved = world.move("pack", world.ground_pose((2.0, 2.0), 0.0))
    assert moved.id == 1 and world.objects["pack"].pose.position[0] == 2.0
    world.destroy("pack")
    world.destroy("rope")
    assert not world.objects


@pytest.mark.parametrize(
    ("name", "asset", "scale", "message"),
    [
        ("a", "spaceship", 1.0, "unknown asset 'spaceship'"),
        ("taken", "rope", 1.0, "exists already"),
        ("a", "rope", 0.0, "scale"),
        ("a", "rope", math.nan, "scale"),
    ],
)
def test_bad_spawns_are_refused(empty_world: World, name: str, asset: str, scale: float, message: str) -> None:
    empty_world.spawn("taken", "rope", Pose())
    try:
        with pytest.raises(UsageError, match=message):
            empty_world.spawn(name, asset, Pose(), scale)
        with pytest.raises(UsageError, match="no object is named 'b'"):
            empty_world.destroy("b")
        with pytest.raises(UsageError, match="not finite"):
            empty_world.move("taken", Pose(np.array([math.nan, 0.0, 0.0])))
        with pytest.raises(UsageError, match="not a rotation"):
            empty_world.spawn("c", "rope", Pose(np.zeros(3), np.zeros(4)))
    finally:
        empty_world.destroy("taken")


def test_there_are_254_ids(place: PlaceMap) -> None:
    world = World(place, 0)
    for index in range(254):
        world.spawn(f"o{index}", "water_bottle", Pose(np.array([0.3 * index, 0.0, 90.0])))
    assert {thing.id for thing in world.objects.values()} == set(range(1, 255))
    with pytest.raises(UsageError, match="254 objects"):
        world.spawn("one more", "rope", Pose())


def with_structures(place: PlaceMap) -> World:
    built = (
        Structure("structure_hut/stone", (30.0, 10.0), 0.7, 1.0),
        Structure("structure_fence/posts", (-40.0, 12.0), 0.0, 1.0),
    )
    return World(dataclasses.replace(place, structures=built, flora={}), 0)


def test_structures_are_solid_and_no_objects(place: PlaceMap) -> None:
    world = with_structures(place)
    assert [thing.name for thing in world.fixtures] == ["hut_0", "fence_1"] and not world.objects
    assert {thing.id for thing in world.fixtures} == {0} and world.things == world.fixtures
    ground = float(world.ground_height((30.0, 10.0)))
    ranges, ids = world.raycast((30.0, 10.0, ground + 20.0), np.array([[0.0, 0.0, -1.0]]), 50.0)
    assert ids[0] == FIXTURE_BASE and ranges[0] == pytest.approx(20.0 - 3.15, abs=0.01)
    hit = world.contact_along(
        (-55.0, 12.0, ground), (-25.0, 12.0, float(world.ground_height((-40.0, 12.0))) + 0.8), 0.3
    )
    assert hit is not None and hit.name == "fence_1"
    tent = world.spawn("camp", "tent", world.ground_pose((0.0, 0.0), 0.0))
    assert tent.id == 1 and world.things[-1] is tent and world.name_of(FIXTURE_BASE - 1) == "fence_1"
    for index in range(253):
        world.spawn(f"o{index}", "water_bottle", Pose(np.array([0.3 * index, 0.0, 90.0])))
    with pytest.raises(UsageError, match="254 objects"):
        world.spawn("one more", "rope", Pose())


def test_a_map_with_an_unknown_structure_is_refused(place: PlaceMap) -> None:
    wrong = dataclasses.replace(place, structures=(Structure("structure_castle", (0.0, 0.0), 0.0, 1.0),), flora={})
    with pytest.raises(UsageError, match="unknown structure 'structure_castle'"):
        World(wrong, 0)


def test_emitters_move_and_scale_with_their_object(empty_world: World) -> None:
    world = empty_world
    pose = Pose(np.array([3.0, 4.0, 90.0]), quaternion_from_rpy(0.0, 0.0, math.pi / 2))
    world.spawn("torch", "light/torch_black", pose, 2.0)
    try:
        (placed,) = world.emitters
        assert placed.source.name == "torch"
        assert placed.position == pytest.approx([3.0, 4.0 + 0.26, 90.0 + 0.072], abs=1e-9)
        assert placed.direction == pytest.approx([0.0, 1.0, 0.0], abs=1e-9)
    finally:
        world.destroy("torch")
    assert not world.emitters


@given(x=st.floats(-900.0, 900.0), y=st.floats(-900.0, 900.0), yaw=st.floats(-3.2, 3.2))
@settings(deadline=None, max_examples=40)
def test_footprints_lie_on_the_ground(empty_world: World, x: float, y: float, yaw: float) -> None:
    """However rough the ground, no print is buried or afloat, as far as half a metre of give goes."""
    world = empty_world
    thing = world.spawn("prints", "footprints", world.resting_pose((x, y), yaw))
    try:
        points = thing.mesh.positions.astype(float) @ thing.pose.rotation.T + thing.pose.position
        flat = thing.asset.mesh.positions.astype(float) @ thing.pose.rotation.T + thing.pose.position
        gap = points[:, 2] - world.ground_height(points[:, :2])
        before = flat[:, 2] - world.ground_height(flat[:, :2])
        near = np.abs(before) < 0.4
        assert (gap[near] > -0.06).all() and (gap[near] < 0.12).all()
        world.move("prints", Pose(thing.pose.position + [0.0, 0.0, 50.0], thing.pose.quaternion))
        assert world.objects["prints"].draped is None  # in the air it keeps its shape
    finally:
        world.destroy("prints")


def test_plants_give_way_to_objects_and_return(world: World) -> None:
    index = int(np.flatnonzero(world.flora.species == SPECIES.index("conifer"))[500])
    xy = world.flora.positions[index, :2]
    before = world.flora_present.copy()  # the place's own huts and signs have their sites already
    assert before[index] and before.mean() > 0.999
    world.spawn("tent", "tent", world.ground_pose(xy, 0.0))
    assert not world.flora_present[index]
    world.destroy("tent")
    assert (world.flora_present == before).all()


def test_scatter_repeats_and_keeps_off_cliffs_and_camp(place: PlaceMap) -> None:
    first, second = scatter(place), scatter(place)
    assert first.positions.tobytes() == second.positions.tobytes() and first.yaw.tobytes() == second.yaw.tobytes()
    trees = first.species <= 1
    assert np.percentile(np.arccos(place.normal(first.positions[trees, :2])[:, 2]), 99.9) < math.radians(50)
    distance = np.hypot(*first.positions[trees, :2].T)
    assert (distance < 60.0).sum() < 8 and trees.sum() > 10_000


def test_resting_pose_lies_on_the_slope(world: World) -> None:
    xy = (260.0, -300.0)
    pose = world.resting_pose(xy, 0.8)
    assert pose.rotation[:, 2] == pytest.approx(world.place.normal(xy), abs=1e-9)
    assert pose.position[2] == pytest.approx(float(world.ground_height(xy)))
    upright = world.ground_pose(xy, 0.8)
    assert upright.yaw == pytest.approx(0.8) and upright.rotation[2, 2] == pytest.approx(1.0)


def test_contact_with_ground(world: World) -> None:
    ground = float(world.ground_height((0.0, 0.0)))
    assert world.contact((0.0, 0.0, ground + 2.0), 0.5) is None
    touch = world.contact((0.0, 0.0, ground + 0.3), 0.5)
    assert touch is not None and (touch.id, touch.name) == (0, "ground")
    assert touch.depth == pytest.approx(0.2, abs=0.05) and touch.normal[2] > 0.9
    assert touch.point[2] == pytest.approx(ground, abs=0.1)


def test_contact_with_a_tree_names_it(world: World) -> None:
    index = int(np.flatnonzero(world.flora.species == SPECIES.index("conifer"))[1000])
    foot = world.flora.positions[index].astype(float)
    middle = foot + [0.0, 0.0, 0.4 * float(world.flora.height[index])]
    touch = world.contact(middle, 0.5)
    assert touch is not None and touch.id >= PLANT_BASE and touch.name.startswith("tree_")


THIN = ("trekking_pole/lying_red", "trekking_pole/red", "tent/orange", "structure_sign/wood", "structure_fence/posts")


@given(
    asset=st.sampled_from(THIN),
    yaw=st.floats(0.0, 6.28),
    roll=st.floats(-0.7, 0.7),
    azimuth=st.floats(0.0, 6.28),
    tilt=st.floats(-0.5, 0.5),
    miss=st.floats(0.0, 3.0),
    radius=st.floats(0.1, 0.8),
)
@settings(deadline=None, max_examples=150)
def test_nothing_is_tunnelled_through(
    empty_world: World, asset: str, yaw: float, roll: float, azimuth: float, tilt: float, miss: float, radius: float
) -> None:
    """A sphere crossing a thin object in one second at 15 m/s touches it exactly when its path comes near enough."""
    pose = Pose(np.array([0.0, 0.0, 70.0]), quaternion_from_rpy(roll, 0.0, yaw))
    thing = empty_world.spawn("thin", asset, pose)
    try:
        flight = np.array([math.cos(azimuth) * math.cos(tilt), math.sin(azimuth) * math.cos(tilt), math.sin(tilt)])
        aside = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
        middle = thing.solids[0, :3] + miss * aside
        start, end = middle - 7.5 * flight, middle + 7.5 * flight
        touch = empty_world.contact_along(start, end, radius)
        # Independent of the code under test: least distance of many path points to the boxes.
        path = start + np.linspace(0.0, 1.0, 3001)[:, None] * (end - start)
        gap = min(
            float(
                np.linalg.norm(
                    np.maximum(np.abs((path - box[:3]) @ box[6:].reshape(3, 3).T) - box[3:6], 0.0), axis=1
                ).min()
            )
            for box in thing.solids
        )
        if gap < 0.95 * radius:
            reached = touch is not None and touch.id == thing.id
            # Half-radius sampling may pass a graze shallower than 4 % of the radius.
            assert reached or gap > 0.96 * radius
        if gap > radius + 1e-3:
            assert touch is None
    finally:
        empty_world.destroy("thin")


def test_sweep_stops_at_the_first_thing(world: World) -> None:
    ground = float(world.ground_height((0.0, 0.0)))
    hit = world.contact_along((0.0, 0.0, ground + 50.0), (0.0, 0.0, ground - 50.0), 0.5)
    assert hit is not None and hit.name == "ground"
    assert hit.fraction == pytest.approx(0.495, abs=0.01)
    assert hit.position[2] == pytest.approx(ground + 0.5, abs=0.3)


def test_sun_of_known_days() -> None:
    # Greenwich, equinox noon: as high as the colatitude, due south.
    noon = sun_direction(51.48, 0.0, 0.0, datetime(2024, 3, 20, 12, 7))
    assert math.degrees(math.asin(noon[2])) == pytest.approx(38.5, abs=0.6)
    assert noon[1] < 0.0 and abs(noon[0]) < 0.02
    # Aotai at Beijing's noon: the sun is still in the east, since the zone lies on 120 degrees.
    aotai = sun_direction(33.95, 107.75, 8.0, datetime(2024, 6, 21, 12, 0))
    assert aotai[0] > 0.1
    summit = sun_direction(33.95, 107.75, 8.0, datetime(2024, 6, 21, 12, 51))
    assert math.degrees(math.asin(summit[2])) == pytest.approx(90.0 - 33.95 + 23.44, abs=0.5)
    assert sun_direction(33.95, 107.75, 8.0, datetime(2024, 6, 21, 0, 51))[2] < -0.4
    aware = sun_direction(33.95, 107.75, 8.0, datetime(2024, 6, 21, 4, 0, tzinfo=timezone.utc))
    assert aware == pytest.approx(aotai, abs=1e-12)


@pytest.mark.parametrize("weather", list(Weather))
def test_every_weather_has_light_and_sight(place: PlaceMap, weather: Weather) -> None:
    light = Environment(weather=weather).lighting(place)
    for colour in (light.sun, light.ambient, light.haze, light.zenith):
        assert np.isfinite(colour).all() and (colour >= 0.0).all()
    assert math.exp(-light.extinction * Environment(weather=weather).sight) == pytest.approx(0.02, rel=0.01)
    clear = Environment().lighting(place)
    assert light.extinction >= clear.extinction
