"""Promises of a scene of settlements, and their proof: starts are free, targets are seen, ways are as told."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from esar_ros.geometry.frames import Pose, Vector
from esar_ros.sim.terrain.maps import load_map
from esar_ros.sim.world.scene import SceneObject
from esar_ros.sim.world.world import World
from esar_ros.suites.uav_on.scenes import Scene
from esar_ros.suites.uav_on.shortest import ALL, AXES, CELL, Occupancy, length

CIRCLE = 50.0  # m about the start, level, that holds the target
APART = 41.0  # m between makes of a family: twice the 20 m of a success, and a little
KIN = 3  # makes of the target's family in its circle, at least, the target among them
VIEWPOINTS = 4  # from which a target is seen, at least
CLEAR = 0.75  # m about a vehicle's centre that is free
_AROUND = 12  # directions from which is looked
_LOOKS = ((5.0, 3.0), (9.0, 5.0), (14.0, 9.0))  # m level from the thing, m above ground
_MARGIN = 25.0  # m about start and target in which ways are searched
_ABOVE = 25.0  # m above both


def seeing(world: World, thing: SceneObject) -> list[Vector]:
    """Free points (3,) of the air from which a thing is seen, at most one a direction."""
    centre = thing.box[:3]
    targets = np.concatenate([thing.solids[:, :3], centre[None]])
    found = []
    for angle in 2.0 * math.pi / _AROUND * np.arange(_AROUND):
        for away, up in _LOOKS:
            reach = away + math.hypot(*thing.asset.size[:2]) / 2
            xy = centre[:2] + reach * np.array([math.cos(angle), math.sin(angle)])
            eye = np.array([*xy, float(world.ground_height(xy)) + up])
            if not bool(world.place.contains(xy)) or world.contact(eye, CLEAR) is not None:
                continue
            rays = targets - eye
            distance = np.linalg.norm(rays, axis=1)
            _, ids = world.raycast(eye, rays / distance[:, None], float(distance.max()) + 1.0)
            if (ids == thing.id).any():
                found.append(eye)
                break
    return found


def ways_to(cells: Occupancy, start: Vector, goal: Vector) -> tuple[float, float] | None:
    """Lengths (m) of the shortest ways from a start to a goal (3,), by 6 and by 26 neighbours.

    A way leads from the start over the middles of free cells to the one nearest to the goal that can be reached, and
    on to the goal: never shorter than the straight line, nor by 26 neighbours longer than by 6. None where the start
    lies in no free cell.
    """
    low = np.minimum(start, goal) - _MARGIN
    high = np.maximum(start, goal) + [_MARGIN, _MARGIN, _ABOVE]
    first = np.clip(np.floor((low - cells.low) / CELL).astype(int), 0, np.array(cells.blocked.shape))
    last = np.clip(np.ceil((high - cells.low) / CELL).astype(int), 0, np.array(cells.blocked.shape))
    part = cells.blocked[first[0] : last[0], first[1] : last[1], first[2] : last[2]]
    own = Occupancy(cells.low + first * CELL, np.ascontiguousarray(part))
    begin = np.floor((start - own.low) / CELL).astype(int)
    if (begin < 0).any() or (begin >= part.shape).any() or own.blocked[tuple(begin)]:
        return None
    rooms: NDArray[np.int32] = ndimage.label(~own.blocked)[0]
    free = np.argwhere(rooms == rooms[tuple(begin)])
    middles = own.low + (free + 0.5) * CELL
    end = middles[int(np.argmin(np.linalg.norm(middles - goal, axis=1)))]
    ends = float(np.linalg.norm(start - own.low - (begin + 0.5) * CELL)) + float(np.linalg.norm(goal - end))
    ways = [own.path(start, end, 0.1, steps) for steps in (AXES, ALL)]
    if ways[0] is None or ways[1] is None:
        return None
    return length(ways[0]) + ends, length(ways[1]) + ends


def opened(scene: Scene) -> World:
    """The world of a scene with its objects. Raises UsageError."""
    world = World(load_map(scene.map), 0)
    for placed in scene.objects:
        pose = Pose(np.array(placed.position), np.array(placed.quaternion))
        world.spawn(placed.name, placed.asset, pose, placed.scale)
    return world


def faults(scene: Scene, world: World, paths: bool = True) -> Iterator[str]:
    """Every promise that a scene breaks, in words. paths: search the ways again, too."""
    kin: dict[str, list[SceneObject]] = defaultdict(list)
    for thing in world.objects.values():
        kin[thing.asset.family].append(thing)
    for family, things in kin.items():
        words = [thing.asset.variant.description for thing in things]
        if len(set(words)) < len(words):
            yield f"{family}: two are described alike"
        for k, one in enumerate(things):
            for other in things[:k]:
                if math.dist(one.pose.position[:2], other.pose.position[:2]) < APART - 0.02:
                    yield f"{one.name} and {other.name} are too near each other"
    for entry in scene.episodes:
        episode, document = entry.episode, entry.document
        target = world.objects[str(document["object_name"])]
        start, goal = np.asarray(episode.start.position), episode.targets[0]
        where = f"episode {episode.id}"
        if world.contact(start, CLEAR) is not None:
            yield f"{where}: its start is not free"
        if math.dist(start[:2], goal[:2]) > CIRCLE:
            yield f"{where}: its target is not within {CIRCLE:g} m"
        about = [t for t in kin[target.asset.family] if math.dist(start[:2], t.pose.position[:2]) <= CIRCLE]
        if len(about) < KIN or len(about) != document["of_family"]:
            yield f"{where}: {len(about)} of the target's family in its circle"
        told = episode.goal.description
        if target.asset.variant.description not in told[0].lower() + told[1:]:
            yield f"{where}: its description is not its target's"
        if len(seeing(world, target)) < VIEWPOINTS:
            yield f"{where}: its target is seen from too few points"
        six, twentysix = float(document["info"]["six"]), float(document["info"]["twentysix"])
        if not episode.straight - 0.02 <= twentysix <= six + 0.02:
            yield f"{where}: ways of {six} and {twentysix} m, and {episode.straight} m straight"
    if paths:
        cells = air(world)
        for entry in scene.episodes:
            ways = ways_to(cells, np.asarray(entry.episode.start.position), entry.episode.targets[0])
            known = (float(entry.document["info"]["six"]), float(entry.document["info"]["twentysix"]))
            if ways is None or max(abs(a - b) for a, b in zip(ways, known, strict=True)) > 0.02:
                yield f"episode {entry.episode.id}: ways of {ways}, not {known}"


def air(world: World) -> Occupancy:
    """The cells of all air above a map in which is flown."""
    half = world.place.size / 2 - 1.0
    heights = world.place.heights
    corners = np.array([[-half, -half, float(heights.min()) - 1.0], [half, half, float(heights.max()) + 28.0]])
    return Occupancy.around(world, corners, 0.0, CLEAR)
