"""The things in the way of a hostile flight: poles, plates, bars, wires, bridges and people, and how near it came."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hostile_cases import Case

from esar_ros.geometry.frames import Pose, Vector, quaternion_from_rotation
from esar_ros.sim.assets.mesh_builder import MeshBuilder
from esar_ros.sim.assets.meshes import Asset
from esar_ros.sim.assets.variants import Variant
from esar_ros.sim.world.collision import distance_to_box
from esar_ros.sim.world.scene import SceneObject
from esar_ros.sim.world.world import World

POLE = 40.0  # m, height
PLATE = 0.05  # m, thickness
BAR = 30.0  # m, length of bars and wires
BRIDGE = (40.0, 5.0, 0.4)  # m, length, width and thickness of the deck
_BEHIND = math.cos(math.radians(140.0))  # of a direction that no camera of the vehicle sees


def block(name: str, length: float, width: float, height: float) -> Asset:
    """Returns the asset of a block of these sides (m), whose middle stands on its origin."""

    def make() -> Any:
        built, half = MeshBuilder(), 0.5 * np.array([length, width, height])
        built.box((0.0, 0.0, half[2]), half, (0.4, 0.4, 0.4))
        built.solid((-half[0], -half[1], 0.0), (half[0], half[1], height))
        return built.model()

    return Asset(name, "distractor", f"{name} {length} {width} {height}", Variant(name, "grey", f"a {name}", make))


def pole(thickness: float) -> Asset:
    """Returns the asset of a square pole of forty metres."""
    return block("pole", thickness, thickness, POLE)


def plate(width: float) -> Asset:
    """Returns the asset of a square plate of a width (m)."""
    return block("plate", width, width, PLATE)


def bar(thickness: float) -> Asset:
    """Returns the asset of a square bar or wire of a thickness (m) along its x axis."""
    return block("bar", BAR, thickness, thickness)


def bridge() -> Asset:
    """Returns the asset of a bridge's deck along its x axis."""
    return block("bridge", *BRIDGE)


def along(direction: Vector, middle: Vector) -> Pose:
    """Returns the pose at a place (3,) m whose x axis lies along a direction (3,) that is not upright."""
    x = direction / np.linalg.norm(direction)
    y = np.cross([0.0, 0.0, 1.0], x)
    y /= np.linalg.norm(y)
    return Pose(middle, quaternion_from_rotation(np.stack([x, y, np.cross(x, y)], axis=1)))


def put(world: World, name: str, asset: Asset, pose: Pose) -> SceneObject:
    """Puts an asset of this module into the world, and returns it."""
    taken = {thing.id for thing in world.objects.values()}
    thing = SceneObject(name, next(i for i in range(1, 255) if i not in taken), asset, pose)
    world._put(thing)
    return thing


def nearest_gap(things: Sequence[SceneObject], position: Vector) -> float:
    """Returns the distance (m) from a position (3,) to the nearest surface of the things; inf where there are none."""
    boxes = [box for thing in things for box in thing.solids]
    return min((float(distance_to_box(box, *position)[0]) for box in boxes), default=math.inf)


def nearest_point(thing: SceneObject, position: Vector) -> Vector:
    """Returns the point (3,) of the thing's first solid that is nearest to a position (3,), m."""
    box = thing.solids[0]
    axes = box[6:].reshape(3, 3)
    local = np.clip(axes @ (position - box[:3]), -box[3:6], box[3:6])
    return np.asarray(box[:3] + local @ axes)


@dataclass(frozen=True)
class Stage:
    """The beginning of a flight, and what it meets."""

    start: Vector  # (3,) m
    way: Vector  # (3,) unit, level: the direction that the case is about
    things: tuple[SceneObject, ...] = ()
    fence: float = 80.0  # m, half a side of the square about the start
    ceiling: float = 60.0  # m above ground
    mate: Vector | None = None  # (3,) m, where the teammate begins
    far_home: Vector | None = None  # (2,) m, where the vehicles took off; None: below the start

    @property
    def home(self) -> Vector:
        """The place where the vehicles took off, (2,) m."""
        return self.start[:2] if self.far_home is None else self.far_home


def set_stage(case: Case, world: World, rng: np.random.Generator) -> Stage:
    """Returns the stage of a case, set up in the world. Raises RuntimeError where the map has no room for it."""
    setting = _SETTINGS[case.danger]
    for _ in range(300_000):  # a slope that is just steep enough is rare
        xy = rng.uniform(-1.0, 1.0, 2) * (600.0 if case.danger == "slope" else 120.0)
        stage = setting(case, world, rng, np.array([*xy, float(world.ground_height(xy))]), _level(rng))
        if stage is not None:
            return stage
    raise RuntimeError(f"no room on {case.map} for {case}")


def _level(rng: np.random.Generator) -> Vector:
    turn = rng.uniform(-math.pi, math.pi)
    return np.array([math.cos(turn), math.sin(turn), 0.0])


def _up(metres: float) -> Vector:
    return np.array([0.0, 0.0, metres])


def _is_free(world: World, start: Vector, end: Vector, radius: float = 2.0) -> bool:
    return world.contact_along(start, end, radius) is None


def _is_flat(world: World, xy: Vector) -> bool:
    """Returns whether the ground is one to start from and to land on: less than 12 degrees steep."""
    return float(world.place.normal(xy[:2])[2]) > math.cos(math.radians(12.0))


def _poles(case: Case, world: World, rng: np.random.Generator, foot: Vector, way: Vector) -> Stage | None:
    start = foot + _up(rng.uniform(6.0, 22.0))
    if world.contact(start, 4.0) is not None:
        return None
    at = [start[:2] + rng.uniform(7.0, 25.0) * _level(rng)[:2] for _ in range(6)]
    asset = pole(float(case.size))
    poles = [put(world, f"pole_{n}", asset, world.ground_pose(xy, 0.0)) for n, xy in enumerate(at, 1)]
    return Stage(start, way, tuple(poles))


def _plate(case: Case, world: World, rng: np.random.Generator, foot: Vector, way: Vector) -> Stage | None:
    start = foot + _up(0.0 if case.kind == "take-off" else rng.uniform(4.0, 8.0))
    end = start + _up(case.height)
    if not _is_flat(world, foot) or not _is_free(world, foot + _up(2.5), end):
        return None
    aside = 0.3 * float(case.size) * rng.uniform(-1.0, 1.0, 2)
    return Stage(start, way, (put(world, "plate", plate(float(case.size)), Pose(end + [*aside, 0.0])),))


def _bar(case: Case, world: World, rng: np.random.Generator, foot: Vector, way: Vector) -> Stage | None:
    across = np.array([-way[1], way[0], 0.0])
    aside = rng.uniform(-0.3, 0.3) * way
    to_bar = {"from below": aside + _up(case.height), "from above": _up(-rng.uniform(6.0, 9.0))}.get(
        case.kind, rng.uniform(10.0, 18.0) * way
    )
    tilt = math.radians(rng.uniform(30.0, 60.0)) if case.kind == "diagonal" else 0.0
    start = foot + _up(rng.uniform(16.0, 20.0) if case.kind in ("from above", "diagonal") else rng.uniform(5.0, 9.0))
    if not _is_free(world, start, start + to_bar):
        return None
    pose = along(math.cos(tilt) * across + _up(math.sin(tilt)), start + to_bar)
    return Stage(start, way, (put(world, case.danger, bar(float(case.size)), pose),))


def _bridge(case: Case, world: World, rng: np.random.Generator, foot: Vector, way: Vector) -> Stage | None:
    across = np.array([-way[1], way[0], 0.0])
    below = case.kind == "from below"
    start = foot + _up(rng.uniform(4.0, 8.0))
    aside = rng.uniform(0.0, 1.5) if below else rng.uniform(8.0, 12.0)
    deck = start + aside * way + _up(float(case.size))
    if not (_is_free(world, start, deck) and _is_free(world, start, start + aside * way + _up(2.0))):
        return None
    return Stage(start, way, (put(world, "bridge", bridge(), along(across, deck)),))


def _slope(case: Case, world: World, rng: np.random.Generator, foot: Vector, way: Vector) -> Stage | None:
    """Returns a stage above a slope of which no 20 m ahead fall more steeply than the size, and some almost do."""
    steepest, least = float(case.size), 0.7 * float(case.size)
    reach = np.arange(0.0, 120.0, 5.0)[:, None]
    across = np.array([-way[1], way[0], 0.0])
    for aside in (0.0, -0.4, 0.4):  # the wind carries it aside
        ground = world.ground_height(foot[:2] + reach * (way + aside * across)[:2])
        fall = np.degrees(np.arctan((ground[:-4] - ground[4:]) / (20.0 * math.hypot(1.0, aside))))
        if fall.max() > steepest or (not aside and (fall.max() < least or fall[:6].mean() < 0.5 * least)):
            return None
    start = foot + _up(rng.uniform(25.0, 38.0))
    if world.contact(start, 4.0) is not None:
        return None
    return Stage(start, way, (), 250.0, 40.0)


def _person(case: Case, world: World, rng: np.random.Generator, foot: Vector, way: Vector) -> Stage | None:
    if not _is_flat(world, foot) or not _is_free(world, foot + _up(3.0), foot + _up(9.0), 2.5):
        return None
    at = foot[:2] + rng.uniform(0.0, 0.3) * _level(rng)[:2]
    yaw = rng.uniform(-math.pi, math.pi)
    pose = world.ground_pose(at, yaw) if case.size == "standing" else world.resting_pose(at, yaw)
    somebody = world.spawn("person", f"person_{case.size}", pose)
    return Stage(foot + _up(rng.uniform(5.5, 8.0)), way, (somebody,))


def _teammate(case: Case, world: World, rng: np.random.Generator, foot: Vector, way: Vector) -> Stage | None:
    across = np.array([-way[1], way[0], 0.0])
    start, room = foot + _up(rng.uniform(12.0, 22.0)), rng.uniform(40.0, 50.0)
    meet = start + 0.5 * room * way
    mate = {"head-on": start + room * way, "crossing": meet + 0.5 * room * across}.get(
        case.kind, start + 0.4 * room * way
    ) + _up(rng.uniform(-0.3, 0.3))
    if not (_is_free(world, start, start + room * way, 3.0) and _is_free(world, mate, meet, 3.0)):
        return None
    return Stage(start, way, fence=120.0, mate=mate, far_home=(start - 80.0 * way)[:2])


def _alone(case: Case, world: World, rng: np.random.Generator, foot: Vector, way: Vector) -> Stage | None:
    """Returns a stage with one pole on the way of a vehicle that faces east: where cameras look, or behind it."""
    if (way[0] > _BEHIND) != (case.kind == "ahead"):
        return None
    start, room = foot + _up(rng.uniform(6.0, 22.0)), rng.uniform(22.0, 30.0)
    if not _is_free(world, start, start + room * way, 3.0):
        return None
    beside = rng.uniform(0.2, 0.45) * np.array([-way[1], way[0], 0.0]) if case.kind == "edge" else np.zeros(3)
    at = world.ground_pose((start + room * way + beside)[:2], 0.0)
    return Stage(start, way, (put(world, "pole", pole(1.0 if case.danger == "heading" else 0.3), at),))


def _creep(case: Case, world: World, rng: np.random.Generator, foot: Vector, way: Vector) -> Stage | None:
    start = foot + _up(rng.uniform(10.0, 20.0))
    return Stage(start, way, fence=40.0) if _is_free(world, start, start + 70.0 * way, 4.0) else None


_SETTINGS: dict[str, Callable[[Case, World, np.random.Generator, Vector, Vector], Stage | None]] = {
    "poles": _poles, "plate": _plate, "bar": _bar, "wire": _bar, "bridge": _bridge, "slope": _slope,
    "person": _person, "teammate": _teammate, "heading": _alone, "sector": _alone, "creep": _creep,
}  # fmt: skip
