"""Ground next to things is darker where the light is the sky's; ids and depth do not know of it."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mission.names import HIGH, LOW
from esar_ros.mission.weather import Weather
from esar_ros.sim.render.contact_shadow import shadow_rows, sky_share
from esar_ros.sim.render.renderer import Frame, Renderer
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.world.environment import Environment
from esar_ros.sim.world.scene import FIXTURE_ID
from esar_ros.sim.world.world import World

ABOVE = 9.0  # m


@pytest.fixture(scope="module")
def world(place: PlaceMap) -> World:
    made = World(place, 0)
    made.spawn("tent", "tent", made.resting_pose((0.0, 0.0), 0.4))
    made.spawn("pack", "backpack/blue", made.resting_pose((12.0, 0.0), 0.4))
    return made


def with_and_without(
    world: World, renderer: Renderer, weather: Weather, monkeypatch: pytest.MonkeyPatch
) -> tuple[Frame, Frame]:
    """Returns the image straight above the tent, and the same without the shadow."""
    world.environment = Environment(weather=weather)
    eye = np.array([0.0, 0.0, float(world.ground_height(np.zeros(2))) + ABOVE])
    poses = [Pose(eye, quaternion_from_rotation(optical_rotation(0.0, -np.pi / 2.0)))]
    seen = renderer.render(poses, 0.0)
    with monkeypatch.context() as patched:
        patched.setattr("esar_ros.sim.render.contact_shadow._HIDDEN", 0.0)
        return seen, renderer.render(poses, 0.0)


def lost_beside(seen: Frame, without: Frame) -> float:
    """Grey levels that the ground within 0.5 m of the tent has lost."""
    tent = (seen.ids[0] > 0).astype(np.uint8)
    reach = round(0.5 * tent.shape[1] / (2.0 * ABOVE * np.tan(0.5)))
    ring = cv2.dilate(tent, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8)) > tent
    return float((without.rgb[0][ring].astype(float) - seen.rgb[0][ring]).mean())


def test_an_overcast_sky_leaves_the_ground_darker_next_to_a_tent(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    renderer = Renderer(world, 320, 240, 1.0, quality=HIGH)
    seen, without = with_and_without(world, renderer, Weather.OVERCAST, monkeypatch)
    clear = lost_beside(*with_and_without(world, renderer, Weather.CLEAR, monkeypatch))
    renderer.close()
    assert lost_beside(seen, without) > 5.0 and lost_beside(seen, without) > 1.5 * clear > 0.0
    np.testing.assert_array_equal(without.ids, seen.ids)
    np.testing.assert_array_equal(without.depth, seen.depth)


def test_low_quality_has_none(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    renderer = Renderer(world, 320, 240, 1.0, quality=LOW)
    seen, without = with_and_without(world, renderer, Weather.OVERCAST, monkeypatch)
    renderer.close()
    np.testing.assert_array_equal(without.rgb, seen.rgb)


def test_it_is_as_large_as_the_thing_and_lies_on_the_ground(world: World) -> None:
    things = [thing for thing in world.things if thing.id != FIXTURE_ID]
    tent, pack = shadow_rows(things, world.place, 1.0)
    assert tent[10] > 2.0 * pack[10] and tent[12] > pack[12]
    for row, thing in zip((tent, pack), things, strict=True):
        normal = world.place.normal(thing.pose.position[:2])
        np.testing.assert_allclose([row[4:7] @ normal, row[7:10] @ normal, row[4:7] @ row[7:10]], 0.0, atol=1e-5)
        assert np.linalg.norm(row[:2] - thing.pose.position[:2]) < thing.radius


def test_the_sky_s_share_of_the_light_grows_with_clouds(place: PlaceMap) -> None:
    clear, overcast = (
        sky_share(Environment(weather=w).lighting(place, 0.0)) for w in (Weather.CLEAR, Weather.OVERCAST)
    )
    assert 0.0 < clear < 0.5 < overcast <= 1.0
