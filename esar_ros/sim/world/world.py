"""The simulator's world: ground, plants, placed objects and conditions; independent of images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.frames import Pose, quaternion_from_yaw, vector
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.sim.assets.meshes import Asset, assets
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.world.collision import sweep, touch
from esar_ros.sim.world.environment import Environment
from esar_ros.sim.world.raycast import (
    FIXTURE_BASE,
    NO_HIT,
    PLANT_BASE,
    Bins,
    bounded,
    box_bins,
    build_bins,
    build_ground,
    cast,
)
from esar_ros.sim.world.scatter import NAMES, SPECIES, scatter, solids
from esar_ros.sim.world.scene import FIRST_ID, FIXTURE_ID, LAST_ID, Contact, PlacedEmitter, SceneObject
from esar_ros.sim.world.scenery import scenery_of

MIN_SCALE, MAX_SCALE = 0.01, 100.0  # of objects against their assets
_SLACK = 0.5  # m that limp things give way to reach the ground


class World:
    """A place with things in it. Not thread-safe: one owner changes and asks it.

    `revision` rises with every change of objects, so that a renderer knows when to look again.
    Plants and rocks give way where an object is placed and return when it leaves.
    The place's structures are fixtures: solid and drawn, but no objects, and without an instance id. What a
    settlement's plan has built is scenery: the same, but thousands of pieces that are drawn as one.
    """

    def __init__(self, place: PlaceMap, seed: int) -> None:
        self.place = place
        self.seed = seed  # of what differs between runs: clouds and gusts; the plants belong to the place
        self.environment = Environment()
        self.revision = 0
        self.flora = scatter(place)
        self.flora_present = np.ones(len(self.flora), dtype=np.bool_)  # (N,) False where an object took the site
        self._solids = solids(self.flora)
        self.ground = build_ground(place.heights, place.size)
        shape = self._solids.shape
        tops = shape[:, 3] + shape[:, 5]  # a cone's base and height, an ellipsoid's middle and half axis
        self._bins = build_bins(np.ascontiguousarray(shape[:, 1:3]), shape[:, 4].copy(), tops, place.size / 2)
        self._crowns = self.flora.crown_radius
        self._taken = np.zeros(len(self.flora), dtype=np.int16)  # (N,) how many objects claim each plant's site
        self._sites: dict[str, NDArray[np.int64]] = {}  # of each object
        self._objects: dict[str, SceneObject] = {}
        self.fixtures: tuple[SceneObject, ...] = tuple(self._fixtures())
        for fixture in self.fixtures:
            self._taken[self._overgrown(fixture)] += 1
        self.scenery = scenery_of(place)
        first = FIXTURE_BASE - len(self.fixtures)
        self._built = bounded(self.scenery.solids), (first - self.scenery.owners).astype(np.int32)
        self._boxes = bounded(np.zeros((0, 15)))
        self._box_ids = np.zeros(0, dtype=np.int32)
        self._box_bins: Bins
        self._rebuild()

    @property
    def objects(self) -> Mapping[str, SceneObject]:
        """Spawned objects by name, in the order they came."""
        return MappingProxyType(self._objects)

    @property
    def things(self) -> tuple[SceneObject, ...]:
        """All that stands there and can be seen: fixtures, then objects."""
        return (*self.fixtures, *self._objects.values())

    @property
    def emitters(self) -> tuple[PlacedEmitter, ...]:
        """Every light, fire and smoke, in the order of things."""
        return tuple(
            PlacedEmitter(
                thing,
                emitter,
                thing.pose.position + thing.pose.rotation @ (thing.scale * np.array(emitter.offset)),
                thing.pose.rotation @ np.array(emitter.direction),
            )
            for thing in self.things
            for emitter in thing.asset.emitters
        )

    def spawn(self, name: str, asset: str, pose: Pose, scale: float = 1.0) -> SceneObject:
        """Place an asset. Raises UsageError: asset unknown, name in use, bad pose or scale, world full."""
        if asset not in assets():
            kinds = sorted(known for known in assets() if "/" not in known)
            raise UsageError(f"unknown asset '{asset}' for object '{name}'", suggest(asset, kinds))
        if name in self._objects:
            raise UsageError(f"object '{name}' exists already", "choose another name or destroy it first")
        if not (np.isfinite(scale) and MIN_SCALE <= scale <= MAX_SCALE):
            raise UsageError(f"object '{name}': scale {scale}", f"between {MIN_SCALE:g} and {MAX_SCALE:g}")
        self._check(name, pose)
        taken = {thing.id for thing in self._objects.values()}
        free = next((i for i in range(FIRST_ID, LAST_ID + 1) if i not in taken), None)
        if free is None:
            capacity = LAST_ID - FIRST_ID + 1
            raise UsageError(f"object '{name}': {capacity} objects are in the world already", "destroy some first")
        thing = self._placed(name, free, assets()[asset], pose, float(scale))
        self._put(thing)
        return thing

    def destroy(self, name: str) -> None:
        """Remove an object. Raises UsageError."""
        del self._objects[self._known(name)]
        self._release_sites(name)
        self._rebuild()

    def move(self, name: str, pose: Pose, passable: bool = False) -> SceneObject:
        """Put an object elsewhere; passable: no body and no ray meets it, no plant gives way. Raises UsageError."""
        old = self._objects[self._known(name)]
        self._check(name, pose)
        if passable:
            thing = SceneObject(name, old.id, old.asset, pose, old.scale, passable=True)
        else:
            thing = self._placed(name, old.id, old.asset, pose, old.scale)
        if passable and old.passable:  # nothing that is solid has changed
            self._objects[name] = thing
            self.revision += 1
        else:
            self._put(thing)
        return thing

    def ground_height(self, xy: ArrayLike) -> NDArray[np.float64]:
        """z (m) of the ground at points (..., 2)."""
        return self.place.ground_height(xy)

    def ground_pose(self, xy: ArrayLike, yaw: float) -> Pose:
        """Upright pose on the ground at (2,), heading yaw (rad)."""
        p = np.asarray(xy, dtype=np.float64)
        return Pose(np.array([p[0], p[1], float(self.ground_height(p))]), quaternion_from_yaw(yaw))

    def resting_pose(self, xy: ArrayLike, yaw: float) -> Pose:
        """Pose on the ground at (2,), heading yaw (rad), tilted to lie flat on the slope."""
        upright = self.ground_pose(xy, yaw)
        normal = self.place.normal(xy)
        half = np.array([1.0 + normal[2], -normal[1], normal[0], 0.0])  # shortest turn of z onto the normal
        return Pose(upright.position, half / np.linalg.norm(half)).compose(Pose(np.zeros(3), upright.quaternion))

    def raycast(
        self, origins: ArrayLike, directions: ArrayLike, max_range: float
    ) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """First hits of unit rays: range (N,) m, +inf for none, and id (N,).

        Origins are (N, 3) or one (3,) for all; directions (N, 3). Ids: -1 nothing, 0 ground, 1..254 objects
        (their solids' boxes), raycast.FIXTURE_BASE - index structures of the place and, after them, pieces of its
        scenery, raycast.PLANT_BASE + index plants and rocks (cones and ellipsoids).
        """
        rays = np.ascontiguousarray(directions, dtype=np.float64)
        starts = np.ascontiguousarray(np.broadcast_to(np.asarray(origins, dtype=np.float64), rays.shape))
        ranges = np.empty(len(rays), dtype=np.float32)
        ids = np.empty(len(rays), dtype=np.int32)
        cast(*self.collision_scene(), starts, rays, float(max_range), ranges, ids)
        return ranges, ids

    def line_of_sight(self, start: ArrayLike, end: ArrayLike) -> bool:
        """Returns whether nothing stands between two points (3,) of the map frame."""
        a, b = vector(start), vector(end)
        length = float(np.linalg.norm(b - a))
        if length < 1e-9:
            return True
        ranges, _ = self.raycast(a, ((b - a) / length)[None, :], length)
        return bool(ranges[0] >= length - 1e-3)

    def contact(self, position: ArrayLike, radius: float) -> Contact | None:
        """Returns the deepest contact of a sphere (radius m) at a position (3,), if any."""
        p = vector(position)
        found, depth, nx, ny, nz = touch(*self.collision_scene(), p[0], p[1], p[2], float(radius))
        return None if found == NO_HIT else self._contact(int(found), depth, np.array([nx, ny, nz]), p, radius, 0.0)

    def contact_along(self, start: ArrayLike, end: ArrayLike, radius: float) -> Contact | None:
        """First touch of a sphere moved from start to end (3,), however far: nothing is tunnelled through."""
        a, b = vector(start), vector(end)
        fraction, found, depth, nx, ny, nz = sweep(*self.collision_scene(), a, b, float(radius))
        if found == NO_HIT:
            return None
        at = a + fraction * (b - a)
        return self._contact(int(found), depth, np.array([nx, ny, nz]), at, radius, float(fraction))

    def collision_scene(self) -> tuple[Any, ...]:
        """Arguments of the kernels of `collision` and `raycast`: ground, solids of plants, boxes of things."""
        return (
            self.ground,
            self._solids.shape,
            self._solids.owner,
            self.flora_present,
            self._bins,
            self._boxes,
            self._box_ids,
            self._box_bins,
        )

    def name_of(self, id: int) -> str:
        """Name of a ray-cast or contact id."""
        if id >= PLANT_BASE:
            index = id - PLANT_BASE
            return f"{NAMES[SPECIES[self.flora.species[index]]]}_{index}"
        if id <= FIXTURE_BASE:
            index = FIXTURE_BASE - id
            known = len(self.fixtures)
            return self.fixtures[index].name if index < known else self.scenery.names[index - known]
        return next((name for name, thing in self._objects.items() if thing.id == id), "ground")

    def _contact(
        self, id: int, depth: float, normal: NDArray[np.float64], at: NDArray[np.float64], radius: float, f: float
    ) -> Contact:
        return Contact(id, self.name_of(id), float(depth), normal, at - normal * (radius - depth), at, f)

    def _known(self, name: str) -> str:
        if name not in self._objects:
            raise UsageError(f"no object is named '{name}'", f"there are {len(self._objects)}; list them")
        return name

    def _check(self, name: str, pose: Pose) -> None:
        if not pose.is_finite() or float(np.linalg.norm(pose.quaternion)) < 1e-6:
            raise UsageError(f"object '{name}': its pose is not finite or not a rotation", "give a valid pose")

    def _rebuild(self) -> None:
        owners = [(FIXTURE_BASE - index, fixture) for index, fixture in enumerate(self.fixtures)]
        owners += [(thing.id, thing) for thing in self._objects.values()]
        solids = [thing.solids for _, thing in owners]
        boxes = np.concatenate(solids) if solids else np.zeros((0, 15))
        ids = np.repeat(np.array([id for id, _ in owners], dtype=np.int32), [len(part) for part in solids])
        built, built_ids = self._built
        self._boxes = np.concatenate([built, bounded(boxes)])
        self._box_ids = np.concatenate([built_ids, ids])
        self._box_bins = box_bins(self._boxes, self.place.size / 2)
        self.flora_present = self._taken == 0
        self.revision += 1

    def _fixtures(self) -> Iterator[SceneObject]:
        """The place's structures, upright on its ground. Raises UsageError where the map names an unknown asset."""
        for index, built in enumerate(self.place.structures):
            if built.asset not in assets():
                raise UsageError(f"map '{self.place.id}': unknown structure '{built.asset}'", "mend the map file")
            pose = self.ground_pose(built.xy, built.yaw)
            name = f"{built.asset.split('/')[0].removeprefix('structure_')}_{index}"
            yield SceneObject(name, FIXTURE_ID, assets()[built.asset], pose, built.scale)

    def _placed(self, name: str, id: int, asset: Asset, pose: Pose, scale: float) -> SceneObject:
        """The object; a limp one that lies on the ground follows it point by point, by half a metre at most."""
        at = pose.position
        if not asset.model.limp or abs(float(self.ground_height(at[:2])) - at[2]) > _SLACK:
            return SceneObject(name, id, asset, pose, scale)
        mesh, rotation = asset.mesh, pose.rotation
        own = scale * mesh.positions.astype(np.float64)
        foot = at + (own * [1.0, 1.0, 0.0]) @ rotation.T
        sag = np.clip(self.ground_height(foot[:, :2]) - foot[:, 2], -_SLACK, _SLACK)
        moved = (own + sag[:, None] * rotation[2]) / scale
        return SceneObject(name, id, asset, pose, scale, replace(mesh, positions=moved.astype(np.float32)))

    def _put(self, thing: SceneObject) -> None:
        """Take an object in, or its new pose; the plants it stands on give way."""
        self._release_sites(thing.name)
        if not thing.passable:
            self._sites[thing.name] = self._overgrown(thing)
            self._taken[self._sites[thing.name]] += 1
        self._objects[thing.name] = thing
        self._rebuild()

    def _overgrown(self, thing: SceneObject) -> NDArray[np.int64]:
        """Plants whose site a thing takes."""
        row = thing.box
        clear = self._crowns * 0.8 + min(float(np.hypot(row[3], row[4])), 3.0)
        gap = self.flora.positions[:, :2] - row[:2]
        return np.flatnonzero((gap * gap).sum(axis=1) <= clear * clear)

    def _release_sites(self, name: str) -> None:
        if name in self._sites:
            self._taken[self._sites.pop(name)] -= 1
