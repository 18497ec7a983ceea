"""Pictures: repeatable, with exact ids and depths that agree with rays."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
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
from esar_ros.sim.render.process.normals_image import surface_normals_ned
from esar_ros.sim.render.renderer import Frame, Renderer
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.sim.weather.ground_state import BARE
from esar_ros.sim.world.environment import Environment
from esar_ros.sim.world.world import World

WIDTH, HEIGHT, FOV = 320, 240, math.pi / 2


@pytest.fixture(scope="module")
def scene(place: PlaceMap) -> World:
    world = World(place, 0)
    world.spawn("tent", "tent", world.resting_pose((40.0, 0.0), 0.7))
    world.spawn("victim", "person_lying/red", world.resting_pose((12.0, 1.5), 1.0))
    return world


@pytest.fixture(scope="module")
def renderer(scene: World) -> Iterator[Renderer]:
    made = Renderer(scene, WIDTH, HEIGHT, FOV, quality="low")
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
    """Returns whether two frames have the same bytes."""
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


@pytest.mark.parametrize("spot", [(12.0, 1.5, 8.0, 0.0), (-150.0, -420.0, 20.0, -1.2), (-820.0, 870.0, 35.0, 2.0)])
def test_depth_and_ids_have_the_same_bits_where_no_colour_is_drawn(
    scene: World, renderer: Renderer, spot: tuple[float, float, float, float]
) -> None:
    poses = rig(scene, *spot)
    frame, shapes = renderer.render(poses, 3.0), renderer.shapes(poses)
    assert shapes.depth.tobytes() == frame.depth.tobytes()
    assert shapes.ids.tobytes() == frame.ids.tobytes()
    assert np.isinf(shapes.depth).any() and np.isfinite(shapes.depth).any()


def test_another_renderer_draws_the_same(scene: World, renderer: Renderer) -> None:
    poses = rig(scene, 0.0, 0.0, 8.0, 0.0)
    other = Renderer(scene, WIDTH, HEIGHT, FOV, quality="low")
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
    assert len(every) > 20_000
    assert np.percentile(every, 99) <= 0.5


@pytest.mark.full
@pytest.mark.parametrize(
    ("map_id", "spots"),
    [
        ("lop_nur", [(0.0, 0.0, 8.0, 0.0), (-300.0, 100.0, 12.0, 2.5), (400.0, -360.0, 25.0, 1.0)]),
        ("k2", [(0.0, 0.0, 8.0, 0.0), (116.0, -126.0, 15.0, 0.8), (-300.0, 100.0, 12.0, 2.5)]),
        ("dapeng", [(-105.0, -540.0, 15.0, -1.5), (490.0, 200.0, 20.0, -0.6), (-105.0, -700.0, 12.0, 1.2)]),
    ],
)
def test_depth_agrees_with_rays_on_every_map(map_id: str, spots: list[tuple[float, float, float, float]]) -> None:
    world = World(load_map(map_id), 0)
    drawn = Renderer(world, WIDTH, HEIGHT, FOV)
    try:
        for spot in spots:
            test_depth_agrees_with_rays(world, drawn, spot)
    finally:
        drawn.close()


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


def test_every_weather_is_repeatable_and_leaves_ids_and_depth_alone(place: PlaceMap) -> None:
    world = World(place, 0)
    world.spawn("fire", "campfire", world.resting_pose((20.0, 3.0), 0.7))
    drawn = Renderer(world, 160, 120, FOV)
    view = rig(world, 0.0, 0.0, 8.0, 0.0)
    try:
        clear = drawn.render(view, 100.0)
        for hour in (13, 1):
            for weather in Weather:
                world.environment = Environment(weather=weather, local_time=datetime(2024, 7, 1, hour))
                first = drawn.render(view, 100.0)
                drawn.render(rig(world, 200.0, -60.0, 20.0, 1.0)[:1], 900.0)
                assert same(first, drawn.render(view, 100.0)), weather
                assert first.ids.tobytes() == clear.ids.tobytes() and first.depth.tobytes() == clear.depth.tobytes()
    finally:
        drawn.close()


def test_the_ground_changes_during_the_flight(place: PlaceMap) -> None:
    world = World(place, 0)
    drawn = Renderer(world, 160, 120, FOV)
    down = [looking((0.0, 0.0, float(world.ground_height((0.0, 0.0))) + 25.0), 0.0, -math.pi / 2)]

    def over_green(weather: Weather, channel: int, time: float) -> float:
        world.environment = Environment(weather=weather, ground_start=BARE)
        rgb = drawn.render(down, time).rgb[0].astype(float)
        return float(rgb[..., channel].mean() / rgb[..., 1].mean())

    try:
        snow = [over_green(Weather.HEAVY_SNOW, 2, 60.0 * minute) for minute in (0, 5, 10, 15, 20)]
        assert all(b > a for a, b in pairwise(snow)) and snow[-1] > snow[0] + 0.1
        dust = [over_green(Weather.DUST, 0, 60.0 * minute) for minute in (0, 20)]
        assert dust[1] > dust[0] + 0.05
    finally:
        drawn.close()


def test_a_fire_lights_the_ground_at_night_and_not_by_day(place: PlaceMap) -> None:
    world = World(place, 0)
    drawn = Renderer(world, 160, 120, FOV)
    ground = float(world.ground_height((20.0, 3.0)))
    down = [looking((16.0, 3.0, ground + 8.0), 0.0, -math.pi / 2)]
    try:
        for hour, least in ((1, 25.0), (13, -3.0)):
            world.environment = Environment(local_time=datetime(2024, 7, 6, hour))
            dark = drawn.render(down, 0.0)
            world.spawn("fire", "campfire", world.resting_pose((20.0, 3.0), 0.7))
            lit = drawn.render(down, 0.0)
            world.destroy("fire")
            bare = (lit.ids == 0) & (np.abs(lit.depth - dark.depth) < 0.01)
            gain = float((lit.rgb[bare].astype(float) - dark.rgb[bare])[..., 0].max())
            near = float((lit.rgb.astype(float) - dark.rgb)[0, :, :, 0][bare[0]].mean())
            assert gain > least and (near > 1.0) == (hour == 1)
    finally:
        drawn.close()


def test_several_samples_make_small_objects_true_and_ids_stay_exact(empty_world: World) -> None:
    """Against a picture nine times as fine: odd, so that one of its samples is at each pixel's centre."""
    world, factor, width, height = empty_world, 9, 96, 72
    eye = np.array([0.0, 0.0, float(world.ground_height((0.0, 0.0))) + 8.0])
    views = []
    for asset, away in (("tent", 60.0), ("person_standing", 35.0), ("backpack", 14.0)):
        # A metre up: how the ground is cut into triangles depends on the size of the picture.
        rest = world.resting_pose((away, 3.0), 0.4)
        thing = world.spawn(asset, asset, Pose(rest.position + [0.0, 0.0, 1.0], rest.quaternion))
        sight = thing.pose.position + [0.0, 0.0, 0.4] - eye
        views.append(looking(eye, math.atan2(sight[1], sight[0]), math.atan2(sight[2], math.hypot(*sight[:2]))))
    frames = {}
    try:
        for name, scale, samples in (("fine", factor, 1), ("one", 1, 1), ("many", 1, 4)):
            drawn = Renderer(world, width * scale, height * scale, math.radians(50.0), samples)
            frames[name] = drawn.render(views, 0.0)
            drawn.close()
    finally:
        for asset in list(world.objects):
            world.destroy(asset)
    fine = frames["fine"]
    mean = fine.rgb.astype(float).reshape(3, height, factor, width, factor, 3).mean(axis=(2, 4))
    inside = np.asarray(fine.ids.reshape(3, height, factor, width, factor).any(axis=(2, 4)))
    centres = (slice(None), slice(factor // 2, None, factor), slice(factor // 2, None, factor))
    assert np.array_equal(frames["one"].ids, frames["many"].ids)
    for k in range(3):
        error = {name: np.abs(frames[name].rgb[k][inside[k]] - mean[k][inside[k]]).mean() for name in ("one", "many")}
        assert error["many"] < 0.7 * error["one"]
        assert (frames["many"].ids[k] == fine.ids[centres][k])[inside[k]].mean() > 0.99
        same_surface = inside[k] & (frames["many"].ids[k] > 0) & (fine.ids[centres][k] > 0)
        apart = frames["many"].depth[k][same_surface] - fine.depth[centres][k][same_surface]
        assert np.abs(apart).max() < 0.02


def test_thermal_picture_shows_bodies_and_fires(place: PlaceMap) -> None:
    world = World(place, 0)
    world.environment = Environment(local_time=datetime(2024, 7, 6, 1, 0))
    world.spawn("victim", "person_lying", world.resting_pose((12.0, 1.5), 1.0))
    drawn = Renderer(world, WIDTH, HEIGHT, FOV)
    above = [looking((12.0, 1.5, float(world.ground_height((12.0, 1.5))) + 12.0), 0.0, -math.pi / 2)]
    try:
        frame = drawn.render(above, 0.0, infrared=True)
        assert drawn.render(above, 0.0).celsius is None
        assert frame.celsius is not None
        body = frame.ids[0] == world.objects["victim"].id
        heat = frame.celsius[0]
        assert heat[body].mean() > heat[~body].mean() + 3.0
        world.environment = Environment(local_time=datetime(2024, 7, 6, 14, 0))
        sky = drawn.render([looking((0.0, 0.0, 200.0), 0.0, 1.2)], 0.0, infrared=True).celsius
        noon = drawn.render(above, 0.0, infrared=True).celsius
        assert sky is not None and noon is not None
        assert noon[0][~body].mean() > heat[~body].mean() + 10.0 and sky.max() < heat.min()
    finally:
        drawn.close()


def test_normals_of_the_ground_are_the_terrain_s(empty_world: World) -> None:
    drawn = Renderer(empty_world, WIDTH, HEIGHT, FOV)
    try:
        pose = looking((60.0, -40.0, float(empty_world.ground_height((60.0, -40.0))) + 15.0), 0.3, -1.2)
        frame = drawn.render([pose], 0.0)
    finally:
        drawn.close()
    seen = surface_normals_ned(frame.depth[0], pose, drawn.camera).astype(float) / 127.5 - 1.0
    points = pose.position + (drawn.camera.rays() * frame.depth[0][..., None]) @ pose.rotation.T
    true = empty_world.place.normal(points[..., :2])[..., [1, 0, 2]] * (1.0, 1.0, -1.0)
    angle = np.degrees(np.arccos(np.clip((seen * true).sum(axis=-1) / np.linalg.norm(seen, axis=-1), -1.0, 1.0)))
    assert np.median(angle) < 3.0 and np.percentile(angle, 90) < 15.0
    sky = surface_normals_ned(np.full((4, 4), np.inf, dtype=np.float32), pose, drawn.camera)
    assert not sky[:4, :4].any()


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


@pytest.fixture(scope="module")
def fine(scene: World) -> Iterator[Renderer]:
    made = Renderer(scene, WIDTH, HEIGHT, FOV, quality="high")
    yield made
    made.close()


@pytest.mark.parametrize("spot", [(12.0, 1.5, 8.0, 0.0), (-150.0, -420.0, 20.0, -1.2), (420.0, 170.0, 15.0, 0.1)])
def test_high_quality_has_the_same_bits_of_depth_and_ids_with_and_without_colour(
    scene: World, fine: Renderer, spot: tuple[float, float, float, float]
) -> None:
    test_depth_and_ids_have_the_same_bits_where_no_colour_is_drawn(scene, fine, spot)


def test_high_quality_shows_the_same_ground_and_things_as_low(scene: World, renderer: Renderer, fine: Renderer) -> None:
    # Upwards of the trees' tops nothing stands but the ground and the things themselves.
    eye = (12.0, 1.5, float(scene.ground_height((12.0, 1.5))) + 25.0)
    view = [looking(eye, 0.0, -math.pi / 2)]
    low, high = renderer.render(view, 0.0), fine.render(view, 0.0)
    assert (low.ids == high.ids).mean() > 0.9999 and (low.ids > 0).any()
    assert (low.depth == high.depth).mean() > 0.97
    means = [frame.rgb.mean() for frame in (low, high)]
    assert means[1] == pytest.approx(means[0], rel=0.05)  # the same exposure
    fineness = [cv2.Laplacian(cv2.cvtColor(f.rgb[0], cv2.COLOR_RGB2GRAY), cv2.CV_32F).std() for f in (low, high)]
    assert fineness[1] > 1.6 * fineness[0]


def test_high_quality_is_a_function_of_the_pose_alone(scene: World, fine: Renderer) -> None:
    test_pictures_depend_on_the_pose_alone(scene, fine)


def test_high_quality_draws_plants_where_rays_meet_them(
    scene: World, empty_world: World, renderer: Renderer, fine: Renderer
) -> None:
    poses = rig(scene, -150.0, -420.0, 20.0, -1.2)
    rays = renderer.camera.rays().reshape(-1, 3)
    length = np.linalg.norm(rays, axis=1)
    solid, filled = [], []
    for drawn in (renderer, fine):
        depth = drawn.shapes(poses).depth
        stands, met = [], []
        for index, pose in enumerate(poses):
            directions = (rays / length[:, None]) @ pose.rotation.T
            seen = depth[index].ravel() * length
            bare, _ = empty_world.raycast(pose.position, directions, 100.0)
            ranges, _ = scene.raycast(pose.position, directions, 100.0)
            stands.append((seen < 90.0) & (seen < bare - 1.0))  # a plant is drawn before the ground
            met.append(ranges < seen + 1.0)
        solid.append(np.concatenate(met)[np.concatenate(stands)].mean())
        filled.append(np.concatenate(stands).mean())
    assert solid[1] > 0.95 and solid[1] > solid[0] - 0.01
    assert filled[1] > 0.75 * filled[0]  # branches let through some of what solids hide
