"""Objects as they are drawn: nothing that lies on the ground is swallowed by it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.sim.render import object_drawing
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.world.world import World

DOWN = quaternion_from_rotation(optical_rotation(2.2, -math.pi / 2))


def test_thin_things_keep_their_pixels_on_rough_ground(place: PlaceMap) -> None:
    """Seen from straight above they show as many pixels as they would in the air, however coarse the drawn ground."""
    world = World(dataclasses.replace(place, flora={}, structures=()), 0)
    renderer = Renderer(world, 320, 240, math.pi / 2)
    rng = np.random.default_rng(2)
    spots = rng.uniform(-600.0, 600.0, (60, 2))
    spots = spots[place.slope(spots) < math.radians(30.0)][:10]
    try:
        for name, least in (("footprints", 0.9), ("food_wrapper", 0.9), ("rope", 0.9), ("person_lying", 0.95)):
            shown = bare = 0
            for spot in spots:
                thing = world.spawn("x", name, world.resting_pose(spot, 0.5))
                eye = thing.pose.position + [0.0, 0.0, 10.0]
                shown += int((renderer.render([Pose(eye, DOWN)], 0.0).ids == thing.id).sum())
                up = np.array([0.0, 0.0, 3000.0])
                world.move("x", Pose(thing.pose.position + up, thing.pose.quaternion))
                bare += int((renderer.render([Pose(eye + up, DOWN)], 0.0).ids == thing.id).sum())
                world.destroy("x")
            assert bare > 50 and shown >= least * bare, (name, shown, bare)
    finally:
        renderer.close()


def test_meshes_of_draped_things_are_given_back(place: PlaceMap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_drawing, "_MESHES", 4)
    world = World(dataclasses.replace(place, flora={}, structures=()), 0)
    renderer = Renderer(world, 64, 48, math.pi / 2)
    try:
        for k in range(12):
            thing = world.spawn("prints", "footprints", world.resting_pose((float(k), 0.0), 0.1 * k))
            pose = Pose(thing.pose.position + [0.0, 0.0, 8.0], DOWN)
            first, second = renderer.render([pose], 0.0), renderer.render([pose], 0.0)
            assert first.rgb.tobytes() == second.rgb.tobytes() and (first.ids == thing.id).any()
            world.destroy("prints")
        assert len(renderer._objects._arrays) <= 4
    finally:
        renderer.close()


def test_what_lies_over_a_thing_does_not_bear_its_id(place: PlaceMap) -> None:
    world = World(dataclasses.replace(place, flora={}, structures=()), 0)
    renderer = Renderer(world, 320, 240, math.pi / 2)
    spot = (-14.0, 6.0)
    shown = {}
    try:
        for name in ("person_lying/red", "person_covered/red", "person_covered/rock_red", "person_covered/snow_red"):
            thing = world.spawn("x", name, world.resting_pose(spot, 0.5))
            frame = renderer.render([Pose(thing.pose.position + [0.0, 0.0, 8.0], DOWN)], 0.0)
            shown[name] = int((frame.ids == thing.id).sum())
            assert set(np.unique(frame.ids)) == {0, thing.id}
            world.destroy("x")
    finally:
        renderer.close()
    bare = shown.pop("person_lying/red")
    assert shown["person_covered/red"] > 0.9 * bare  # a rescue sheet is part of whom it wraps
    assert 0.1 * bare < shown["person_covered/rock_red"] < 0.8 * bare
    assert 0.1 * bare < shown["person_covered/snow_red"] < 0.8 * bare
