"""Small flat or sloping worlds for walkers."""

from __future__ import annotations

import math

import numpy as np

from esar_ros.mission.rescue import WalkAction
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.rescue_places.site import place_map
from esar_ros.sim.terrain.settlements.plan import Piece, Plan
from esar_ros.sim.walking.walker import Walker
from esar_ros.sim.world.world import World

SIZE, SAMPLES = 32.0, 65


def flat_world(size: float) -> World:
    """A world of a side (m) with nothing in it."""
    cover = np.full((SAMPLES, SAMPLES), LandCover.GRASS, dtype=np.uint8)
    heights = np.zeros((SAMPLES, SAMPLES), dtype=np.float32)
    return World(place_map("flat", "a test's place", 0, size, heights, cover, Plan((), (), ())), 0)


def small_world(*pieces: Piece, slope: float = 0.0) -> World:
    """A world of 32 m with pieces; its ground rises by slope (rad) towards +x, from x = 2 m on."""
    east = np.linspace(-SIZE / 2, SIZE / 2, SAMPLES)
    heights = np.tile(np.maximum(east - 2.0, 0.0) * math.tan(slope), (SAMPLES, 1)).astype(np.float32)
    cover = np.full((SAMPLES, SAMPLES), LandCover.GRASS, dtype=np.uint8)
    return World(place_map("small", "a test's place", 0, SIZE, heights, cover, Plan(pieces, (), ())), 0)


def wall(x: float, y: float, length: float, yaw: float = math.pi / 2, height: float = 2.4) -> Piece:
    """A wall 0.3 m thick, across the x axis unless turned."""
    return Piece("wall", (x, y), yaw, length, 0.3, height, "plaster", 0)


def stack(x: float, y: float, side: float, height: float) -> Piece:
    """A stack of crates."""
    return Piece("crates", (x, y), 0.0, side, side, height, "", 0)


def walker_at(world: World, x: float = 0.0, y: float = 0.0, yaw: float = 0.0, z: float = 0.0) -> Walker:
    """A walker that has settled."""
    walker = Walker(world)
    walker.place((x, y, z), yaw)
    walker.advance(0.1)
    return walker


def walked(walker: Walker, seconds: float, speed: float = 1.0, angle: float = 0.0) -> Walker:
    """The walker after walking for a time."""
    walker.action = WalkAction(speed, angle)
    walker.advance(seconds)
    return walker
