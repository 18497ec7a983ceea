"""Episodes in settlements, made from a seed and proved: `python -m esar_ros.suites.uav_on.stand_ins.generator`.

A family of things is laid out about each start, every make of it so far from the others that whoever stops at one is
within reach of no other: an agent that does not read the description finds the target in one of k episodes.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.geometry.frames import Pose, Vector, attitude_enu_flu_to_ned_frd, enu_to_ned, quaternion_from_yaw
from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import SizeClass
from esar_ros.mission.resources import resource
from esar_ros.sim.assets.households.catalogue import HOUSEHOLDS
from esar_ros.sim.assets.households.make import Family, Make, Stand
from esar_ros.sim.assets.meshes import HOUSEHOLD, Asset, assets
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import load_map
from esar_ros.sim.world.scene import LAST_ID, SceneObject
from esar_ros.sim.world.world import World
from esar_ros.suites.uav_on.shortest import Occupancy
from esar_ros.suites.uav_on.stand_ins.proof import APART, CIRCLE, CLEAR, VIEWPOINTS, air, seeing, ways_to
from esar_ros.suites.uav_on.stand_ins.shipped import DIRECTORY, INDEX, TASKS, checksum, scene_document

SEED = 22
MAPS = ("standin_farmyard", "standin_park", "standin_street", "standin_lake_cabins")
KIN = 4  # makes of a family about a start; three where there is no room for more
NEAREST = 23.0  # m level from a start to any of them: nobody begins within reach
ROOM = 1.2  # m of free ground about a thing
HEIGHTS = (4.0, 12.0)  # m above ground, of starts
MARGIN = 12.0  # m from the map's edge that things keep
STEEPEST = 0.14  # rad
SIZES = ((3.0, SizeClass.SMALL), (8.0, SizeClass.MID), (math.inf, SizeClass.BIG))  # m2 of the outline, below
SHARES = {SizeClass.SMALL: 0.63, SizeClass.MID: 0.21, SizeClass.BIG: 0.16}  # of the test split of the paper


@dataclass(frozen=True)
class SetPlan:
    """Contents of a set: per map so many episodes, about so many starts."""

    name: str
    split: str
    episodes: int
    starts: int
    suffix: str  # of scene names


SETS = (SetPlan("mini", "dev", 6, 6, "_mini"), SetPlan("test", "test", 100, 58, ""))


@dataclass(frozen=True)
class _Group:
    """A family about a start."""

    family: Family
    start: Vector  # (2,) m
    things: tuple[SceneObject, ...]
    makes: tuple[Make, ...]


def make(set_plan: SetPlan, seed: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The scenes of a set: name and content as shipped. The same every time."""
    for number, map_id in enumerate(MAPS):
        rng = np.random.default_rng([seed, number, len(set_plan.name)])
        world = World(load_map(map_id), 0)
        groups = _lay_out(world, set_plan, rng)
        name = f"{map_id}{set_plan.suffix}"
        cells = air(world)
        episodes = _episodes(world, cells, name, set_plan, groups, rng)
        yield name, scene_document(name, world.place, set_plan.split, [t for g in groups for t in g.things], episodes)


def size_class(asset: Asset) -> SizeClass:
    """Class of a thing by the area of its outline."""
    length, width, _ = asset.size
    return next(size for largest, size in SIZES if length * width < largest)


def described(asset: Asset) -> str:
    """A sentence about a make that is true of it: its shape, colour and material, and its measures."""
    words = asset.variant.description
    if words.split()[0] not in ("two", "three"):
        words = f"{'an' if words[0] in 'aeiou' else 'a'} {words}"
    sides = (*sorted(asset.size[:2], reverse=True), asset.size[2])
    length, width, height = (f"{side:.1f}" if side >= 0.95 else f"{side:.2f}" for side in sides)
    return f"{words[0].upper()}{words[1:]}, {length} m long, {width} m wide and {height} m high."


def _lay_out(world: World, set_plan: SetPlan, rng: np.random.Generator) -> list[_Group]:
    """Families about starts all over the map. Where most have a place, those with large makes come first."""
    families = list(HOUSEHOLDS.values())
    order = [families[int(k)] for k in rng.permutation(len(families))]
    if set_plan.starts > len(families) // 2:
        order.sort(key=lambda family: _largest(family) is SizeClass.SMALL)
    groups: list[_Group] = []
    spots: list[tuple[float, float, float]] = []  # x, y, radius of what lies there
    count = 0
    for family in order:
        if len(groups) == set_plan.starts or count + KIN > LAST_ID:
            break
        group = _group(world, family, len(groups), spots, rng)
        if group is not None:
            groups.append(group)
            count += len(group.things)
    return groups


def _largest(family: Family) -> SizeClass:
    sizes = [size_class(assets()[f"{HOUSEHOLD}_{family.name}/{make.name}"]) for make in family.makes]
    return max(sizes, key=list(SizeClass).index)


def _group(
    world: World, family: Family, number: int, spots: list[tuple[float, float, float]], rng: np.random.Generator
) -> _Group | None:
    """A start and three or four makes about it, each seen from all round; None where no place was found."""
    half = world.place.size / 2 - MARGIN
    for attempt in range(80):
        start = rng.uniform(-0.82, 0.82, 2) * half
        makes = _chosen(family, rng)
        stand = family.stand if attempt < 40 else Stand.ANY
        things: list[SceneObject] = []
        placed: list[tuple[float, float, float]] = []
        for kin in makes:
            asset = assets()[f"{HOUSEHOLD}_{family.name}/{kin.name}"]
            for _ in range(40):
                away, angle = math.sqrt(rng.uniform(NEAREST**2, (CIRCLE - 3.0) ** 2)), rng.uniform(-math.pi, math.pi)
                xy = start + away * np.array([math.cos(angle), math.sin(angle)])
                if not _is_open(world, xy, asset, stand, half, [*spots, *placed], placed):
                    continue
                name = f"{family.name}_{number}_{len(things)}"
                pose = world.resting_pose(xy, rng.uniform(-math.pi, math.pi))  # rounded as it is written down
                thing = world.spawn(name, asset.name, Pose(pose.position.round(4), pose.quaternion.round(6)))
                if len(seeing(world, thing)) >= VIEWPOINTS + 1:
                    things.append(thing)
                    placed.append((float(xy[0]), float(xy[1]), _reach(asset)))
                    break
                world.destroy(name)
        if len(things) >= 3:
            spots += placed
            kept = tuple(next(m for m in makes if m.name == thing.asset.variant.name) for thing in things)
            return _Group(family, start, tuple(things), kept)
        for thing in things:
            world.destroy(thing.name)
    return None


def _chosen(family: Family, rng: np.random.Generator) -> list[Make]:
    """Makes to lay out: one, others of its shape, and whatever else the family has."""
    order = [family.makes[int(k)] for k in rng.permutation(len(family.makes))]
    alike = [make for make in order[1:] if make.shape == order[0].shape][:1]
    rest = [make for make in order[1:] if make not in alike]
    return [order[0], *alike, *rest][:KIN]


def _reach(asset: Asset) -> float:
    return math.hypot(*asset.size[:2]) / 2


def _is_open(
    world: World,
    xy: Vector,
    asset: Asset,
    stand: Stand,
    half: float,
    spots: Sequence[tuple[float, float, float]],
    kin: Sequence[tuple[float, float, float]],
) -> bool:
    """Returns whether a thing can stand at (2,): on ground of its kind, free of everything, far from its kin."""
    place, reach = world.place, _reach(asset)
    if np.abs(xy).max() + reach > half or bool(place.is_water(xy)) or float(place.slope(xy)) > STEEPEST:
        return False
    paved = int(place.cover_at(xy)) == LandCover.PAVED
    if (stand is Stand.PAVED and not paved) or (stand is Stand.GREEN and paved):
        return False
    if any(math.dist(xy, (x, y)) < APART for x, y, _ in kin):
        return False
    if any(math.dist(xy, (x, y)) < reach + r + 2.0 for x, y, r in spots):
        return False
    crowns = np.linalg.norm(world.flora.positions[:, :2] - xy, axis=1) - world.flora.crown_radius
    if len(crowns) and float(crowns.min()) < reach + ROOM:
        return False
    for away in np.arange(0.0, reach + ROOM, ROOM):
        for angle in np.arange(0.0, 2.0 * math.pi, ROOM / max(away, 0.3)):
            at = xy + away * np.array([math.cos(angle), math.sin(angle)])
            low = float(place.ground_height(at)) + ROOM + 0.1
            if any(world.contact((*at, low + up), ROOM) is not None for up in np.arange(0.0, asset.size[2], 2 * ROOM)):
                return False
    return True


def _episodes(
    world: World,
    cells: Occupancy,
    name: str,
    set_plan: SetPlan,
    groups: Sequence[_Group],
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """Episodes of a scene, in the classes' shares as far as its things allow."""
    candidates = [(group, thing) for group in groups for thing in group.things]
    order = [candidates[int(k)] for k in rng.permutation(len(candidates))]
    wanted = {size: math.ceil(share * set_plan.episodes) for size, share in SHARES.items()}
    taken: Counter[SizeClass] = Counter()
    made: list[dict[str, Any]] = []
    for relaxed in (False, True):
        for group, thing in list(order):
            size = size_class(thing.asset)
            if len(made) == set_plan.episodes or (not relaxed and taken[size] >= wanted[size]):
                continue
            document = _episode(world, cells, name, group, thing, len(made), rng)
            if document is not None:
                made.append(document)
                taken[size] += 1
                order.remove((group, thing))
    if len(made) < set_plan.episodes:
        raise UsageError(f"scene {name}: room for {len(made)} episodes, not {set_plan.episodes}", "more starts")
    return made


def _episode(
    world: World,
    cells: Occupancy,
    name: str,
    group: _Group,
    thing: SceneObject,
    number: int,
    rng: np.random.Generator,
) -> dict[str, Any] | None:
    """An episode as its file has it; None where no start was found from which there is a way."""
    length, width, height = thing.asset.size
    goal = (thing.pose.position + [0.0, 0.0, height / 2]).round(2)
    for _ in range(30):
        level = group.start + rng.uniform(-4.0, 4.0, 2)
        start = np.array([*level, float(world.ground_height(level)) + rng.uniform(*HEIGHTS)]).round(2)
        reaches = [math.dist(start[:2], kin.pose.position[:2]) for kin in group.things]
        if min(reaches) < NEAREST - 2.0 or max(reaches) > CIRCLE - 0.5:
            continue
        if world.contact(start, 2.0 * CLEAR) is not None:
            continue
        ways = ways_to(cells, start, goal)
        if ways is not None:
            break
    else:
        return None
    six, twentysix = ways
    w, x, y, z = attitude_enu_flu_to_ned_frd(quaternion_from_yaw(math.radians(15.0 * int(rng.integers(24))))).tolist()
    digits = 1 if length * width >= 1.0 else 2
    area = f"{length:.{digits}f}*{width:.{digits}f}={length * width:.{digits}f} squares"
    return {
        "episode_id": str(number),
        "start_pose": {
            "start_position": enu_to_ned(start).round(2).tolist(),
            "start_quaternionr": [round(x, 6) + 0.0, round(y, 6) + 0.0, round(z, 6) + 0.0, round(w, 6) + 0.0],
        },
        "info": {
            "geodesic_distance": round(six),
            "euclidean_distance": round(float(np.linalg.norm(goal - start)), 2),
            "six": round(six, 2),
            "twentysix": round(twentysix, 2),
        },
        "map_name": name,
        "true_name": group.family.noun.capitalize(),
        "object_name": thing.name,
        "pose": [enu_to_ned(goal).round(2).tolist()],
        "size": f"{size_class(thing.asset).value}({area})",
        "description": described(thing.asset),
        "category": "",
        "of_family": len(group.things),
    }


def files(seed: int, sets: Sequence[SetPlan] = SETS) -> dict[str, str]:
    """Every shipped file by its path in the directory: scenes, their episodes, and the index with checksums."""
    texts: dict[str, str] = {}
    index: dict[str, Any] = {"schema": "uav-on-sets/1", "seed": seed, "sets": {}}
    for set_plan in sets:
        listed = []
        for name, content in make(set_plan, seed):
            own = {}
            for part in ("episodes", "scene"):
                path = f"{set_plan.name}/{name}.{part}.json"
                texts[path] = _text(content[part])
                own[path] = checksum(texts[path])
            listed.append({"scene": name, "files": own})
            print(f"{name}: {len(content['episodes'])} episodes about {len(content['scene']['objects'])} objects")
        index["sets"][set_plan.name] = listed
    texts[INDEX] = json.dumps(index, indent=1) + "\n"
    return texts


def _text(value: Any) -> str:
    """JSON: a line an item of a list."""
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(item) for item in value) + "\n]\n"
    head = {key: item for key, item in value.items() if key != "objects"}
    return json.dumps(head)[:-1] + ', "objects": [\n' + ",\n".join(map(json.dumps, value["objects"])) + "\n]}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns its exit code: 0 written or as made, 1 otherwise."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, prog="python -m esar_ros.suites.uav_on.stand_ins.generator", description=__doc__
    )
    parser.add_argument("--out", type=Path, default=resource(TASKS) / Path(DIRECTORY).name, help="folder")
    parser.add_argument("--check", action="store_true", help="compare with the folder, write nothing")
    chosen = parser.parse_args(arguments)
    try:
        texts = files(SEED)
    except UsageError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    if chosen.check:
        old = {name: chosen.out / name for name in texts}
        differing = [name for name, path in old.items() if not path.is_file() or path.read_text() != texts[name]]
        print("\n".join(f"{name}: differs" for name in differing) or "as made")
        return 1 if differing else 0
    for name, text in texts.items():
        (chosen.out / name).parent.mkdir(parents=True, exist_ok=True)
        (chosen.out / name).write_text(text, encoding="utf-8")
    print(f"{len(texts)} files, {sum(map(len, texts.values()))} bytes in {chosen.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
