"""Pictures: repeatable, with exact ids and depths that agree with rays."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import cv2
import moderngl
import numpy as np
import pytest

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation, quaternion_from_yaw
from esar_ros.mission.errors import UsageError
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.mission.weather import Weather
from esar_ros.sim.environment import Environment
from esar_ros.sim.maps import PlaceMap
from esar_ros.sim.renderer import Frame, Renderer
from esar_ros.sim.world import World

WIDTH, HEIGHT, FOV = 320, 240, math.pi / 2


@pytest.fixture(scope="module")
def scene(place: PlaceMap) -> World:
    world = World(place, 0)
    world.spawn("tent", "tent", world.resting_pose((40.0, 0.0), 0.7))
    world.spawn("victim", "person_lying/red", world.resting_pose((12.0, 1.5), 1.0))
    return world


@pytest.fixture(scope="module")
def renderer(scene: World) -> Iterator[Renderer]:
    made = Renderer(scene, WIDTH, HEIGHT, FOV)
    yield made
    made.close()


def rig(world: World, x: float, y: float, above: float, yaw: float) -> list[Pose]:
    """The vehicle's four cameras at a height above ground."""
    body = Pose(np.array([x, y, float(world.ground_height((x, y))) + above]), quaternion_from_yaw(yaw))
    return [body.compose(mount.pose) for mount in load_vehicle().cameras.values()]


def looking(position: Any, yaw: float, pitch: float) -> Pose:
    """A camera's optical frame."""
    return Pose(np.asarray(position, dtype=float), quaternion_from_rotation(optical_rotation(yaw, pitch)))


def same(a: Frame, b: Frame) -> bool:
    """Whether two frames have the same bytes."""
    return all(getattr(a, name).tobytes() == getattr(b, name).tobytes() for name in ("rgb", "depth", "ids"))


def test_shapes_and_types(scene: World, renderer: Renderer) -> None:
    frame = renderer.render(rig(scene, 0.0, 0.0, 8.0, 0.0), 0.0)
    assert frame.rgb.shape == (4, HEIGHT, WIDTH, 3) and frame.rgb.dtype == np.uint8
    assert frame.depth.shape == frame.ids.shape == (4, HEIGHT, WIDTH)
    assert frame.depth.dtype == np.float32 and frame.ids.dtype == np.uint8
    one = renderer.render(rig(scene, 0.0, 0.0, 8.0, 0.0)[:1], 0.0)
    assert one.rgb.shape == (1, HEIGHT, WIDTH, 3)
    assert one.depth.tobytes() == frame.depth[:1].tobytes()


def test_pictures_depend_on_the_pose_alone(scene: World, renderer: Renderer) -> None:
    poses = rig(scene, -150.0, -420.0, 20.0, -1.2)
    first = renderer.render(poses, 3.0)
    renderer.render(rig(scene, 300.0, 200.0, 30.0, 1.0), 8.0)
    assert same(first, renderer.render(poses, 3.0))


def test_another_renderer_draws_the_same(scene: World, renderer: Renderer) -> None:
    poses = rig(scene, 0.0, 0.0, 8.0, 0.0)
    other = Renderer(scene, WIDTH, HEIGHT, FOV)
    try:
        assert same(renderer.render(poses, 1.0), other.render(poses, 1.0))
    finally:
        other.close()


def test_ids_are_exact_and_tell_what_is_seen(scene: World, renderer: Renderer) -> None:
    ground = float(scene.ground_height((12.0, 1.5)))
    frame = renderer.render([looking((12.0, 1.5, ground + 15.0), 0.0, -math.pi / 2)], 0.0)
    victim = scene.objects["victim"].id
    assert set(np.unique(frame.ids)) == {0, victim}
    # The area of a lying person, 15 m below, by the pinhole model.
    assert 30 < (frame.ids == victim).sum() < 130
    rows, columns = np.nonzero(frame.ids[0] == victim)
    assert abs(rows.mean() - HEIGHT / 2) < 4 and abs(columns.mean() - WIDTH / 2) < 4
    assert np.median(frame.depth[0][frame.ids[0] == victim]) == pytest.approx(14.8, abs=0.3)


def test_a_stranger_finds_the_tent_at_forty_metres(scene: World, renderer: Renderer) -> None:
    eye = np.array([0.0, 0.0, float(scene.ground_height((0.0, 0.0))) + 8.0])
    target = scene.objects["tent"].pose.position + [0.0, 0.0, 0.6]
    sight = target - eye
    yaw, pitch = math.atan2(sight[1], sight[0]), math.atan2(sight[2], math.hypot(sight[0], sight[1]))
    frame = renderer.render([looking(eye, yaw, pitch)], 0.0)
    mask = frame.ids[0] == scene.objects["tent"].id
    assert mask.sum() > 25
    ring = cv2.dilate(mask.astype(np.uint8), np.ones((15, 15), np.uint8)).astype(bool) & ~mask
    contrast = np.abs(frame.rgb[0][mask].mean(axis=0) - frame.rgb[0][ring].mean(axis=0)).max()
    assert contrast > 60  # of 255, in one channel at least


def test_moved_and_destroyed_objects_follow(place: PlaceMap) -> None:
    world = World(place, 0)
    view = [looking((0.0, 0.0, float(world.ground_height((0.0, 0.0))) + 10.0), 0.0, -math.pi / 2)]
    drawn = Renderer(world, WIDTH, HEIGHT, FOV)
    try:
        assert not drawn.render(view, 0.0).ids.any()
        world.spawn("bag", "sleeping_bag", world.resting_pose((0.0, 0.0), 0.0))
        assert (drawn.render(view, 0.0).ids == 1).sum() > 20
        world.move("bag", world.resting_pose((100.0, 0.0), 0.0))
        assert not drawn.render(view, 0.0).ids.any()
        world.destroy("bag")
        assert not drawn.render(view, 0.0).ids.any()
    finally:
        drawn.close()


@pytest.mark.parametrize("spot", [(0.0, 0.0, 8.0, 0.0), (-300.0, 100.0, 12.0, 2.5), (200.0, -60.0, 20.0, 1.0)])
def test_depth_agrees_with_rays(scene: World, renderer: Renderer, spot: tuple[float, float, float, float]) -> None:
    poses = rig(scene, *spot)
    frame = renderer.render(poses, 0.0)
    rays = renderer.camera.rays().reshape(-1, 3)
    length = np.linalg.norm(rays, axis=1)
    errors = []
    for index, pose in enumerate(poses):
        ranges, ids = scene.raycast(pose.position, (rays / length[:, None]) @ pose.rotation.T, 120.0)
        planar = (ranges / length).reshape(HEIGHT, WIDTH)
        smooth = np.ones((HEIGHT, WIDTH), dtype=bool)  # away from silhouettes, in the picture and in the rays
        for depth in (frame.depth[index], planar):
            near = np.where(np.isfinite(depth), depth, 1e4).astype(np.float32)
            spread = cv2.dilate(near, np.ones((5, 5))) - cv2.erode(near, np.ones((5, 5)))
            smooth &= spread < 0.15 * near + 0.3
        chosen = smooth & (ids == 0).reshape(HEIGHT, WIDTH)
        errors.append(np.abs(frame.depth[index][chosen] - planar[chosen]))
    every = np.concatenate(errors)
    assert len(every) > 50_000
    assert np.percentile(every, 99) <= 0.5


def test_sky_is_infinitely_far(scene: World, renderer: Renderer) -> None:
    frame = renderer.render([looking((0.0, 0.0, 200.0), 0.0, 1.2)], 0.0)
    assert np.isposinf(frame.depth).all() and not frame.ids.any()
    assert frame.rgb[..., 2].mean() > frame.rgb[..., 0].mean()  # blue


def test_fog_hides_and_night_darkens_but_truth_stays(place: PlaceMap) -> None:
    world = World(place, 0)
    world.spawn("tent", "tent", world.resting_pose((40.0, 0.0), 0.7))
    drawn = Renderer(world, WIDTH, HEIGHT, FOV)
    view = rig(world, 0.0, 0.0, 8.0, 0.0)[:1]
    try:
        clear = drawn.render(view, 0.0)
        world.environment = Environment(weather=Weather.DENSE_FOG, visibility=40.0)
        fog = drawn.render(view, 0.0)
        world.environment = Environment(local_time=datetime(2024, 7, 1, 1, 0))
        night = drawn.render(view, 0.0)
    finally:
        drawn.close()
    tent = clear.ids == 1
    assert tent.any()
    assert fog.rgb[tent].std(axis=0).max() < 0.4 * clear.rgb[tent].std(axis=0).max()
    assert night.rgb.mean() < 0.35 * clear.rgb.mean()
    for other in (fog, night):
        assert other.ids.tobytes() == clear.ids.tobytes() and other.depth.tobytes() == clear.depth.tobytes()


def test_other_sizes_and_cameras(scene: World) -> None:
    drawn = Renderer(scene, 101, 57, math.radians(60))
    try:
        frame = drawn.render(rig(scene, 0.0, 0.0, 8.0, 0.0)[:3], 0.0)
        assert frame.rgb.shape == (3, 57, 101, 3)
        assert drawn.camera.fx == pytest.approx(101 / 2 / math.tan(math.radians(30)))
        with pytest.raises(ValueError, match="needs a camera"):
            drawn.render([], 0.0)
    finally:
        drawn.close()


def test_without_egl_the_cure_is_named(scene: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: Any) -> None:
        raise OSError("libEGL.so.1 not loaded")

    monkeypatch.setattr(moderngl, "create_context", refuse)
    with pytest.raises(UsageError, match=r"no OpenGL .*libEGL.so.1 not loaded.*apt install libegl1"):
        Renderer(scene, WIDTH, HEIGHT, FOV)
