"""Hostile planners: each asks for a velocity a step, and may look at the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from hostile_things import nearest_point

from esar_ros.flight.limits import load_pilot_limits
from esar_ros.geometry.frames import Vector
from esar_ros.safety.inputs import Command

if TYPE_CHECKING:
    from hostile_flight import Flyer

FAST = 8.0  # m/s, asked of one that flies at something


def planner(kind: str, flyer: Flyer) -> Callable[[], Command]:
    """Returns the planner of a kind, which gives a command a step."""
    rng, way = flyer.rng, flyer.way
    pilot = load_pilot_limits()
    memory: dict[str, Any] = {"velocity": np.zeros(3), "stamp": -math.inf}

    def to_pole() -> Vector:
        here = flyer.drone.position[:2]
        to = min((thing.pose.position[:2] - here for thing in flyer.things), key=lambda to: float(np.linalg.norm(to)))
        return np.array([*(to / max(float(np.linalg.norm(to)), 1e-6)), 0.0])

    def towards(point: Vector) -> Vector:
        to = point - flyer.drone.position
        return to / max(float(np.linalg.norm(to)), 1e-6)

    def to_thing() -> Vector:
        return towards(nearest_point(flyer.things[0], flyer.drone.position))

    def over_start(climb: float) -> Vector:
        """Returns a climb (m/s) that stays over the start in the wind."""
        return np.array([*(flyer.start - flyer.drone.position)[:2], climb])

    def to_nearest() -> Vector:
        image = flyer.image
        if image is None or not np.isfinite(image.ranges).any():
            return way
        measured = np.where(np.isfinite(image.ranges), image.ranges, np.inf)
        row, column = np.unravel_index(np.argmin(measured), measured.shape)
        elevation = image.elevation_min + (row + 0.5) * image.elevation_step
        azimuth = image.azimuth_min + (column + 0.5) * image.azimuth_step
        level = math.cos(elevation)
        ray = np.array([level * math.cos(azimuth), level * math.sin(azimuth), math.sin(elevation)])
        return np.asarray(image.pose.rotation @ ray)

    def wander() -> Vector:
        if rng.random() < 0.05 or not memory["velocity"].any():
            memory["velocity"] = rng.normal(0.0, 6.0, 3)
        return np.array(memory["velocity"])

    velocities: dict[str, Callable[[], Vector]] = {
        "ram": lambda: 20.0 * to_nearest(),
        "pole": lambda: FAST * to_pole(),
        "ahead": lambda: FAST * to_pole(),
        "behind": lambda: FAST * to_pole(),
        "edge": lambda: FAST * way,
        "backwards": lambda: 5.0 * to_pole(),  # turned away from where it goes
        "dive": lambda: 4.0 * way + [0.0, 0.0, -6.0],
        "leave": lambda: 12.0 * way,
        "climb": lambda: 2.0 * way + [0.0, 0.0, 9.0],
        "shake": lambda: 10.0 * np.sign(math.sin(3.0 * flyer.now)) * way,
        "spin": lambda: 6.0 * to_pole(),
        "bursts": lambda: 15.0 * to_nearest() if flyer.now % 3.0 < 1.5 else np.zeros(3),
        "straight up": lambda: over_start(9.0),
        "stairs": lambda: over_start(9.0 if flyer.now % 3.0 < 2.0 else 0.0),
        "take-off": lambda: over_start(pilot.take_off_speed),
        "outward": lambda: 12.0 * way,
        "outward and up": lambda: 12.0 * way + [0.0, 0.0, 3.0],
        "touch-down": lambda: np.array([0.0, 0.0, -pilot.land_speed]),
        "landing": lambda: np.zeros(3),
        "head-on": lambda: FAST * way,
        "crossing": lambda: FAST * way,
        "following": lambda: FAST * way,
        "turning back": lambda: FAST * way,
        "slowly": lambda: 2.0 * way,
        "slowly, then back": lambda: 2.0 * way if flyer.failed is None else -FAST * way,
        "from below": lambda: over_start(9.0),
        **dict.fromkeys(("level", "diagonal", "from above"), lambda: FAST * to_thing()),
        # at the middle of the deck's underside
        "from beside": lambda: FAST * towards(flyer.things[0].pose.position),
    }
    asked = velocities.get(kind, wander)

    def ask() -> Command:
        now, velocity = flyer.now, asked()
        yaw_rate = float(rng.normal(0.0, 1.0)) if flyer.case.danger == "poles" else 0.0
        if kind == "backwards":
            facing = math.atan2(-velocity[1], -velocity[0]) - flyer.reported.yaw
            yaw_rate = 2.0 * math.remainder(facing, 2.0 * math.pi)
        if kind == "spin":
            yaw_rate = 4.0
        if kind == "not a number" and rng.random() < 0.3:
            velocity[rng.integers(3)] = rng.choice([math.nan, math.inf, -math.inf, 1e308])
        if kind == "frozen":
            if now - memory["stamp"] > 3.0:
                memory["stamp"], memory["asked"] = now, velocity
            return Command(memory["stamp"], memory["asked"])
        return Command(now, velocity, yaw_rate)

    return ask
