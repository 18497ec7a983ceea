"""Random rays through pictures of a place: what is drawn there, and what rays and bodies meet."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.sim.assets.meshes import assets
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.world.raycast import GROUND, NO_HIT
from esar_ros.sim.world.world import World

LOW = 0.3  # m above the ground up to which things may be drawn alone
REACH = 60.0  # m of a ray; farther off the ground is drawn coarsely
NEAR = 1.0  # m between what is drawn and what is met that counts as the same
YIELDING = ("signal_flare", "campfire")  # their smoke and flames are drawn and stop nobody
_BODY = 0.5  # m, radius of the sphere that must touch what is drawn; less nearer the ground
_SKIN = 0.05  # m about what a ray meets
_FAR = 1e6  # m, instead of inf
_WIDE, _HIGH = 160, 120  # px
_THINGS = 30  # about each spot
_RAYS = 250  # of a picture, up to a quarter of them to things


@dataclass(frozen=True, eq=False)
class Rays:
    """N rays: pictures and senses along each."""

    drawn: NDArray[np.float64]  # (N,) m along the ray to what is drawn, inf for sky
    ids: NDArray[np.int64]  # (N,) instance ids of the picture
    met: NDArray[np.float64]  # (N,) m to what World.raycast meets, inf for nothing within REACH
    met_ids: NDArray[np.int64]  # (N,) its ids
    bare: NDArray[np.float64]  # (N,) m to the ground alone
    above: NDArray[np.float64]  # (N,) m from the ground to the drawn point, square to the ground
    touched: NDArray[np.bool_]  # (N,) whether a body at the drawn point touches more than the ground
    hurt: NDArray[np.bool_]  # (N,) whether a body where the ray meets something touches it
    sighted: NDArray[np.bool_]  # (N,) whether the line of sight is free just up to there, and no farther
    meant: NDArray[np.str_]  # (N,) name of what rays meet, without its number
    shown: NDArray[np.str_]  # (N,) asset of what the picture's id says, empty for none

    @property
    def stands(self) -> NDArray[np.bool_]:
        """(N,) True where what is drawn stands higher than LOW, within REACH, and is no smoke or flame."""
        solid = np.array([not name.startswith(YIELDING) for name in self.shown])
        return (self.drawn < REACH) & (self.above > LOW) & (self.drawn < self.bare - LOW) & solid

    @property
    def shares(self) -> dict[str, float]:
        """Shares of disagreement by kind, 0 to 1: each of those rays that it may befall."""
        stands, thing = self.stands, self.shown != ""
        seen = np.minimum(self.drawn, _FAR)
        met = np.minimum(self.met, _FAR)
        near, plant = np.minimum(seen, met) < REACH, np.isin(self.meant, ("tree", "bush", "rock"))
        through, before = met > seen + NEAR, near & (met < seen - NEAR)
        both = stands & thing & (np.abs(met - seen) < NEAR)
        ground = near & ~stands & ~thing & (self.met_ids == GROUND)
        return {
            "stands, no body touches it": _share(~self.touched, stands),
            "thing stands, rays pass": _share(through & thing, stands),
            "plant or building stands, rays pass": _share(through & ~thing, stands),
            "rays stop at what is not drawn there, but plants": _share(before & ~plant, near),
            "rays stop in a plant's gaps": _share(before & plant, near),
            "another id is met": _share(self.met_ids != self.ids, both),
            "ground drawn elsewhere": _share(np.abs(met - seen) > NEAR, ground),
            "bodies pass where rays stop": _share(~self.hurt, met < REACH),
            "line of sight ends elsewhere": _share(~self.sighted, met < REACH),
        }


def _share(of: NDArray[np.bool_], among: NDArray[np.bool_]) -> float:
    return float(of[among].mean()) if among.any() else 0.0


def random_rays(place: PlaceMap, quality: str, count: int, seed: int) -> Rays:
    """Returns count rays through a place strewn with things, from random eyes 2 to 30 m above it."""
    rng = np.random.default_rng(seed)
    spots = math.ceil(count / (4 * _RAYS))
    world, parts = World(place, 0), []
    plan = None if place.plan is None else dataclasses.replace(place.plan, pieces=(), trees=())
    ground = World(dataclasses.replace(place, flora={}, plan=plan, structures=()), 0)
    drawn = Renderer(world, _WIDE, _HIGH, math.pi / 2, quality=quality)
    try:
        for _ in range(spots):
            for name in list(world.objects):
                world.destroy(name)
            middle = _spot(world, rng)
            _strew(world, middle, rng)
            poses = [_eye(world, middle, rng) for _ in range(4)]
            shapes = drawn.shapes(poses)
            for depth, ids, pose in zip(shapes.depth, shapes.ids, poses, strict=True):
                parts.append(_through(world, ground, drawn, depth, ids, pose, rng))
    finally:
        drawn.close()
    names = [field.name for field in dataclasses.fields(Rays)]
    joined = {name: np.concatenate([getattr(part, name) for part in parts])[:count] for name in names}
    return Rays(**joined)


def _spot(world: World, rng: np.random.Generator) -> NDArray[np.float64]:
    """Beside a plant or a stone in three of four cases where there are any, else anywhere."""
    half = world.place.size / 2 - 80.0
    while True:
        at = rng.uniform(-half, half, 2)
        if len(world.flora) and rng.random() < 0.75:
            at = world.flora.positions[rng.integers(len(world.flora)), :2] + rng.normal(0.0, 5.0, 2)
        if np.abs(at).max() < half:
            return np.asarray(at, dtype=np.float64)


def _strew(world: World, middle: NDArray[np.float64], rng: np.random.Generator) -> None:
    names = sorted(name for name in assets() if "/" in name)
    for index in range(_THINGS):
        at = middle + rng.uniform(-14.0, 14.0, 2)
        name = names[int(rng.integers(len(names)))]
        world.spawn(f"thing_{index}", name, world.resting_pose(at, float(rng.uniform(0.0, 2.0 * math.pi))))


def _eye(world: World, middle: NDArray[np.float64], rng: np.random.Generator) -> Pose:
    while True:
        turn, away = rng.uniform(0.0, 2.0 * math.pi), rng.uniform(4.0, 30.0)
        at = middle + away * np.array([math.cos(turn), math.sin(turn)])
        up = float(np.exp(rng.uniform(math.log(2.0), math.log(30.0))))
        eye = np.array([*at, float(world.ground_height(at)) + up])
        if world.contact(eye, 1.0) is None:
            break
    gap = np.array([*middle, float(world.ground_height(middle))]) - eye
    yaw = math.atan2(gap[1], gap[0]) + rng.normal(0.0, 0.2)
    pitch = math.atan2(gap[2], math.hypot(gap[0], gap[1])) + rng.normal(0.0, 0.15)
    return Pose(eye, quaternion_from_rotation(optical_rotation(yaw, pitch)))


def _through(
    world: World,
    ground: World,
    drawn: Renderer,
    depth: NDArray[np.float32],
    ids: NDArray[np.uint8],
    pose: Pose,
    rng: np.random.Generator,
) -> Rays:
    flat = ids.ravel()
    on_things = np.flatnonzero(flat)
    chosen = rng.choice(flat.size, _RAYS, replace=False)
    aimed = min(len(on_things), _RAYS // 4)
    chosen[:aimed] = rng.choice(on_things, aimed, replace=False) if aimed else chosen[:0]
    rays = drawn.camera.rays().reshape(-1, 3)[chosen]
    length = np.linalg.norm(rays, axis=1)
    directions = (rays / length[:, None]) @ pose.rotation.T
    seen = depth.ravel()[chosen] * length
    met, met_ids = world.raycast(pose.position, directions, 2.0 * REACH)
    bare, _ = ground.raycast(pose.position, directions, 2.0 * REACH)
    points = pose.position + np.where(np.isfinite(seen), seen, 0.0)[:, None] * directions
    above = (points[:, 2] - world.ground_height(points[:, :2])) * world.place.normal(points[:, :2])[:, 2]
    stops = pose.position + np.where(np.isfinite(met), met, 0.0)[:, None] * directions
    return Rays(
        seen.astype(float), flat[chosen].astype(int), met.astype(float), met_ids.astype(int),
        bare.astype(float), above,
        np.array([_touches(world, point, min(_BODY, rise)) for point, rise in zip(points, above, strict=True)]),
        np.array([world.contact(point, _SKIN) is not None for point in stops]),
        np.array([_sighted(world, pose.position, point) for point in stops]),
        np.array([_name(world, int(index)) for index in met_ids], dtype=np.str_),
        np.array([_name(world, int(index)) if index else "" for index in flat[chosen]], dtype=np.str_),
    )  # fmt: skip


def _touches(world: World, point: NDArray[np.float64], radius: float) -> bool:
    if radius < LOW:
        return False
    contact = world.contact(point, radius)
    return contact is not None and contact.id != GROUND


def _sighted(world: World, eye: NDArray[np.float64], stop: NDArray[np.float64]) -> bool:
    way = stop - eye
    length = float(np.linalg.norm(way))
    if length < 2.0 * _SKIN:
        return True
    step = _SKIN * way / length
    return world.line_of_sight(eye, stop - step) and not world.line_of_sight(eye, stop + step)


def _name(world: World, index: int) -> str:
    if index == NO_HIT:
        return "nothing"
    named = world.name_of(index)
    return world.objects[named].asset.name if named in world.objects else named.rstrip("0123456789").rstrip("_")
