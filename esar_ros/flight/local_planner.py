"""Local planner: from a goal to a velocity along a path through the local map, flown with the nose first.

There are two kinds of motion. A waypoint with its height above GROUND is flown straight, over the surface the local map
shows (trees and rocks are part of it): rising ground is climbed early, or waited for. A waypoint with a MAP height is
flown along a path searched in three dimensions, around obstacles before over them.

Unknown space may be planned through, since at 1 Hz the forward cameras show 120 m of it before the vehicle is there,
and what lies behind or above is seen by turning to it; but it costs more, it is never entered below an obstacle or far
below the vehicle, and there the speed is limited to `speed_unknown` until it has been observed. The governor, with its
own ranges, still overrides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from esar_ros.flight.grid import RouteGrid
from esar_ros.flight.limits import PilotLimits
from esar_ros.flight.terrain_following import Surface, follow
from esar_ros.geometry.frames import Vector, magnitude, wrap_angle
from esar_ros.geometry.occupancy_window import FREE, OccupancyWindow
from esar_ros.mission.decision import Goal, HeightReference
from esar_ros.safety.half_spaces import project
from esar_ros.safety.limits import Limits
from esar_ros.safety.surroundings.obstacles import from_window, reach_of

_HEIGHT_GAIN = 0.8  # 1/s
_YAW_GAIN = 1.2  # 1/s
_DIVE = 6.0  # m below the vehicle that unknown space may be planned through
_BESIDE = 2.0  # coarse cells that are as good as there
_NEARER = 1.0  # m that count as progress
_KEEP_OFF = 0.3  # m more than the governor's clearance when slowing for obstacles


@dataclass(frozen=True)
class Steering:
    """Command of one control step: velocity (3,) m/s and yaw rate rad/s in the map frame, and the progress made."""

    velocity: Vector
    yaw_rate: float
    reached: bool = False
    blocked: bool = False
    text: str = ""
    path: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))


@dataclass(frozen=True)
class Motion:
    """The vehicle as the pilot sees it: position (3,) m, velocity (3,) m/s, yaw rad, height m above ground."""

    position: Vector
    velocity: Vector
    yaw: float
    height: float | None = None


class LocalPlanner:
    """Flies to one waypoint after the other; deterministic; no clock but the `now` (s) it is given."""

    def __init__(self, limits: PilotLimits, safety: Limits) -> None:
        self.limits = limits
        self._careful = safety.model_copy(
            update={
                "deceleration": min(limits.deceleration, safety.deceleration),
                "latency": max(limits.latency, safety.latency),
                "obstacle_margin": safety.obstacle_margin + _KEEP_OFF,
            }
        )
        self.reset()

    def reset(self) -> None:
        """Forgets goal and route."""
        self._goal: Goal | None = None
        self._window: OccupancyWindow | None = None
        self._surface: Surface | None = None
        self._path = np.zeros((0, 3))
        self._climbing_from: float | None = None  # m, map z
        self._planned = -math.inf
        self._nearest = math.inf
        self._highest = -math.inf
        self._progress_at = -math.inf

    def steer(self, goal: Goal, motion: Motion, window: OccupancyWindow | None, now: float) -> Steering:
        """Velocity towards a WAYPOINT goal at now (s)."""
        if goal is not self._goal:
            self.reset()
            self._goal = goal
        if window is not self._window:
            self._window = window
            self._surface = Surface.of(window) if window is not None else None
            self._planned = -math.inf
        to_goal = goal.position[:2] - motion.position[:2]
        level = math.hypot(to_goal[0], to_goal[1])
        follows = goal.height_reference is HeightReference.GROUND
        if follows:
            velocity, below = self._over_ground(goal, motion, to_goal, level)
            path = np.array([motion.position, [goal.position[0], goal.position[1], motion.position[2] + below]])
        else:
            below = float(goal.position[2] - motion.position[2])
            velocity, path = self._along_route(goal, motion, now)
        velocity = self._slow_near_obstacles(velocity, motion)
        near = level <= self.limits.arrival and abs(below) <= self.limits.arrival
        yaw_rate, off = self._turn(goal, motion, velocity, level)
        velocity = velocity if level <= self.limits.arrival else velocity * self._nose_first(off)
        reached = near and (goal.yaw is None or abs(off) <= self.limits.arrival_yaw)
        blocked = self._is_blocked(math.hypot(level, below), float(motion.position[2]), reached or near, now)
        return Steering(velocity, yaw_rate, reached, blocked, "no way to the goal is known" if blocked else "", path)

    def _over_ground(self, goal: Goal, motion: Motion, to_goal: Vector, level: float) -> tuple[Vector, float]:
        """Velocity straight to the goal over the surface, and how far (m) the vehicle is below its height."""
        limits = self.limits
        ahead = to_goal / level if level > 1e-6 else np.zeros(2)
        speed = min(self._wanted_speed(goal), self._careful.allowed_speed(level))
        here, z = motion.position, float(motion.position[2])
        profile, step = np.full(1, -math.inf), 1.0
        if self._surface is not None:
            reach = min(limits.terrain_ahead, level)
            profile = self._surface.ahead(here, ahead, reach, limits.clearance)
            step = self._surface.resolution
        if motion.height is not None:
            profile[0] = max(profile[0], z - motion.height)
        climb = follow(profile, step, z, float(goal.position[2]), max(speed, 0.5), limits.speed_up)
        if climb is None:
            return self._in_unknown(np.array([*(ahead * speed), 0.0]), motion), 0.0
        below = climb.height - z
        vertical = min(max(_HEIGHT_GAIN * below, -limits.speed_down), limits.speed_up)
        velocity = np.array([*(ahead * min(speed, climb.speed)), vertical])
        return self._in_unknown(velocity, motion), below

    def _along_route(self, goal: Goal, motion: Motion, now: float) -> tuple[Vector, NDArray[np.float64]]:
        """Returns the velocity along the route to a goal at a map height, and the route."""
        limits = self.limits
        if self._window is None:
            self._path = np.array([motion.position, goal.position])
        elif now - self._planned >= limits.replan or now < self._planned:
            self._planned = now
            self._path = self._search(self._window, goal, motion)
        target, left = _ahead_on(self._path, motion.position, self._look_ahead(motion))
        delta = target - motion.position
        distance = magnitude(delta)
        if distance < 1e-6:
            return np.zeros(3), self._path
        speed = min(self._wanted_speed(goal), self._careful.allowed_speed(left))
        direction = delta / distance
        if direction[2] * speed > limits.speed_up:
            speed = limits.speed_up / direction[2]
        if -direction[2] * speed > limits.speed_down:
            speed = limits.speed_down / -direction[2]
        return self._in_unknown(direction * speed, motion), self._path

    def _search(self, window: OccupancyWindow, goal: Goal, motion: Motion) -> NDArray[np.float64]:
        """Way to the goal; where none is known, as near as it gets, and from there up until one is."""
        here, cell = motion.position, self.limits.cell
        grid = RouteGrid(window, cell, self.limits.clearance, float(here[2]) - _DIVE)
        route = grid.route(here, goal.position)
        if route is not None:
            left = magnitude(route.corners[-1] - goal.position)
            if route.found or left <= _BESIDE * cell:
                self._climbing_from = None
                return route.corners
            nearer = magnitude(here - goal.position) - left > _BESIDE * cell
            if nearer and self._climbing_from is None:
                return route.corners
        if self._climbing_from is None:
            self._climbing_from = float(here[2])
        top = min(self._climbing_from + self.limits.climb_over, float(window.upper[2]))
        up = grid.route(here, np.array([here[0], here[1], max(top, float(here[2]))]))
        return up.corners if up is not None else here[None].copy()

    def _wanted_speed(self, goal: Goal) -> float:
        return min(goal.speed, self.limits.speed) if goal.speed > 0.0 else self.limits.speed

    def _look_ahead(self, motion: Motion) -> float:
        return max(self.limits.look_ahead, magnitude(motion.velocity))

    def _in_unknown(self, velocity: Vector, motion: Motion) -> Vector:
        """Limits the velocity to `speed_unknown` where the vehicle could not stop within known free space."""
        speed, slow = magnitude(velocity), self.limits.speed_unknown
        if speed <= slow:
            return velocity
        level = np.array([velocity[0], velocity[1], min(velocity[2], 0.0)])
        sought = magnitude(level)
        if self._window is None or sought < 1e-6:
            return velocity * (slow / speed) if self._window is None else velocity
        # The vehicle's own place counts as free.
        stopping = self._careful.stopping_distance(sought)
        steps = np.arange(1.0, stopping + 1.0, 0.5 * self._window.resolution)
        points = motion.position + steps[:, None] * (level / sought)
        unseen = np.flatnonzero(self._window.state_at(points) != FREE)
        if not len(unseen):
            return velocity
        free = float(steps[unseen[0]]) - 1.0
        allowed = max(slow, self._careful.allowed_speed(free))
        return velocity * min(1.0, allowed / sought)

    def _slow_near_obstacles(self, velocity: Vector, motion: Motion) -> Vector:
        """The nearest velocity that closes on no obstacle of the map faster than can be braked."""
        if self._window is None or not velocity.any():
            return velocity
        limits = self._careful
        speed = magnitude(velocity)
        reach = reach_of(speed, limits)
        near = from_window(self._window, motion.position, np.zeros(3), limits, reach, limits.body_radius).limits
        kept = project(velocity, near.normals, near.bounds)
        return kept if kept is not None else np.zeros(3)

    def _turn(self, goal: Goal, motion: Motion, velocity: Vector, level: float) -> tuple[float, float]:
        """Yaw rate (rad/s), and how far (rad) the nose is off where it should be."""
        speed = math.hypot(velocity[0], velocity[1])
        if level > self.limits.arrival and speed > 0.05:
            wanted = math.atan2(velocity[1], velocity[0])
        elif goal.yaw is not None:
            wanted = goal.yaw
        else:
            return 0.0, 0.0
        off = wrap_angle(wanted - motion.yaw)
        return min(max(_YAW_GAIN * off, -self.limits.yaw_rate), self.limits.yaw_rate), off

    def _nose_first(self, off: float) -> float:
        """Share of the speed while the nose is off the path: all within yaw_slow, a fifth beyond a right angle."""
        beyond = (abs(off) - self.limits.yaw_slow) / (math.pi / 2 - self.limits.yaw_slow)
        return 1.0 - 0.8 * min(max(beyond, 0.0), 1.0)

    def _is_blocked(self, distance: float, z: float, arrived: bool, now: float) -> bool:
        """Returns whether the vehicle has neither come nearer nor climbed (to get over an obstacle) for `blocked_after`
        s."""
        if arrived or distance < self._nearest - _NEARER or z > self._highest + _NEARER or now < self._progress_at:
            self._nearest, self._highest, self._progress_at = min(distance, self._nearest), max(z, self._highest), now
            return False
        return now - self._progress_at >= self.limits.blocked_after


def _ahead_on(path: NDArray[np.float64], position: Vector, look_ahead: float) -> tuple[Vector, float]:
    """Point of a path (n, 3) look_ahead (m) beyond the place nearest to position, and the length left (m)."""
    if len(path) < 2:
        return path[-1], magnitude(path[-1] - position)
    starts, steps = path[:-1], np.diff(path, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    share = np.einsum("ij,ij->i", position - starts, steps) / np.maximum(lengths**2, 1e-12)
    share = np.clip(share, 0.0, 1.0)
    gaps = np.linalg.norm(starts + share[:, None] * steps - position, axis=1)
    nearest = int(np.argmin(gaps))
    along = float(lengths[:nearest].sum() + share[nearest] * lengths[nearest])
    left = float(lengths.sum()) - along
    at = min(along + look_ahead, float(lengths.sum()))
    for k, length in enumerate(lengths):
        if at <= length or k == len(lengths) - 1:
            return starts[k] + steps[k] * min(1.0, at / max(length, 1e-12)), left + float(gaps[nearest])
        at -= float(length)
    raise AssertionError("a path has a last leg")
