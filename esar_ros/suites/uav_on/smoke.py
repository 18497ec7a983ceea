"""The set `smoke`: six episodes on a map of the desert, made from a seed, to see that everything works.

Objects of the simulator's catalogue lie about each start: the target, and two others of its family.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from esar_ros.geometry.frames import Vector, attitude_enu_flu_to_ned_frd, enu_to_ned, quaternion_from_yaw
from esar_ros.mission.object_goal import SizeClass
from esar_ros.sim.assets.meshes import Asset, assets
from esar_ros.sim.terrain.maps import load_map
from esar_ros.sim.world.world import World
from esar_ros.suites.uav_on.episodes import entry_from
from esar_ros.suites.uav_on.scenes import PlacedObject, Scene
from esar_ros.suites.uav_on.shortest import ALL, AXES, Occupancy, length

NAME, MAP, SEED = "smoke_desert", "lop_nur", 20
FAMILIES = {  # what the target is called, and the family of assets that it is of
    "Tent": "tent", "Backpack": "backpack", "Yak": "distractor_yak", "Drum": "distractor_drum",
    "Goat": "distractor_goat", "Hut": "distractor_hut",
}  # fmt: skip
HALF = 400.0  # m of the map's middle about which episodes lie
APART = 120.0  # m between their starts
HEIGHT = 8.0  # m above ground, of a start
DISTANCE = (26.0, 46.0)  # m from start to target, horizontally
OTHERS = 2  # of the target's family
OFF = 14.0  # m between objects
STEEPEST = math.radians(12.0)
CLEARANCE = 0.75  # m around a way that is free
SIZES = ((1.5, SizeClass.SMALL), (6.0, SizeClass.MID), (math.inf, SizeClass.BIG))  # by area of the outline, m^2


@dataclass(frozen=True)
class _Spot:
    """A start and the places of its objects, target first; (2,) m."""

    start: Vector
    objects: Sequence[Vector]


def scenes() -> tuple[Scene, ...]:
    """The one scene of the set."""
    random = np.random.default_rng(SEED)
    world = World(load_map(MAP), 0)
    objects: list[PlacedObject] = []
    documents: list[dict[str, Any]] = []
    starts: list[Vector] = []
    for number, (name, family) in enumerate(FAMILIES.items()):
        spot = _spot(world, random, starts)
        starts.append(spot.start)
        kinds = [asset for key, asset in sorted(assets().items()) if key.startswith(f"{family}/")]
        chosen = [kinds[k] for k in random.permutation(len(kinds))[: 1 + OTHERS]]
        first = len(objects)
        for asset, xy in zip(chosen, spot.objects, strict=False):  # the hut's family is small
            pose = world.resting_pose(xy, float(random.uniform(-math.pi, math.pi)))
            thing = world.spawn(f"{family}_{len(objects)}", asset.name, pose)
            (x, y, z), (qw, qx, qy, qz) = pose.position.tolist(), pose.quaternion.tolist()
            objects.append(PlacedObject(thing.name, asset.name, asset.variant.description, (x, y, z), (qw, qx, qy, qz)))
        yaw = math.radians(15.0 * int(random.integers(24)))
        documents.append(_document(world, number, name, chosen[0], objects[first], spot.start, yaw))
    entries = tuple(entry_from(document, f"set smoke, index {index}") for index, document in enumerate(documents))
    return (Scene(NAME, MAP, "dev", tuple(objects), entries),)


def _spot(world: World, random: np.random.Generator, starts: Sequence[Vector]) -> _Spot:
    """Draws until everything lies on gentle ground, apart from what is there."""
    while True:
        start = random.uniform(-HALF, HALF, 2)
        angles = random.uniform(-math.pi, math.pi, 1 + OTHERS)
        away = random.uniform(*DISTANCE, 1 + OTHERS)
        places = start + np.column_stack([np.cos(angles), np.sin(angles)]) * away[:, None]
        gaps = [float(np.linalg.norm(a - b)) for k, a in enumerate(places) for b in places[:k]]
        far = all(float(np.linalg.norm(start - other)) >= APART for other in starts)
        gentle = bool((world.place.slope(np.vstack([start, places])) <= STEEPEST).all())
        if far and gentle and min(gaps) >= OFF and not world.place.is_water(places).any():
            return _Spot(start, list(places))


def _document(
    world: World, number: int, name: str, asset: Asset, target: PlacedObject, start: Vector, yaw: float
) -> dict[str, Any]:
    """An episode as its file would have it."""
    wide, deep, high = asset.size
    area = wide * deep
    size = next(size for largest, size in SIZES if area < largest)
    begin = np.array([*start, float(world.ground_height(start)) + HEIGHT])
    goal = np.array(target.position) + np.array([0.0, 0.0, high / 2.0])
    cells = Occupancy.around(world, np.array([begin, goal]), 10.0, CLEARANCE)
    ways = [cells.path(begin, goal, 2.0 + asset.radius, steps) for steps in (AXES, ALL)]
    six, twentysix = (round(length(way), 2) if way is not None else math.nan for way in ways)
    w, x, y, z = attitude_enu_flu_to_ned_frd(quaternion_from_yaw(yaw)).tolist()
    return {
        "episode_id": str(number),
        "start_pose": {"start_position": enu_to_ned(begin).tolist(), "start_quaternionr": [x, y, z, w]},
        "info": {
            "geodesic_distance": round(six),
            "euclidean_distance": round(float(np.linalg.norm(goal - begin)), 2),
            "six": six,
            "twentysix": twentysix,
        },
        "map_name": NAME,
        "true_name": name,
        "object_name": target.name,
        "pose": [enu_to_ned(goal).tolist()],
        "size": f"{size.value}({wide:.1f}*{deep:.1f}={area:.1f} squares)",
        "description": f"{asset.variant.description[0].upper()}{asset.variant.description[1:]}.",
        "category": "",
    }
