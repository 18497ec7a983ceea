"""The world and its vehicles, advanced in whole physics steps on one clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose, Vector
from esar_ros.sim.clock import CONTROL_STEPS, SimClock
from esar_ros.sim.physics.drone import Drone
from esar_ros.sim.physics.dynamics import Quadrotor
from esar_ros.sim.weather.gusts import Gusts
from esar_ros.sim.world.world import World

VEHICLE_ID_BASE = 1000  # object ids of vehicles in collision reports start here


class RayWorld(Protocol):
    """The part of a world that rays meet."""

    def raycast(
        self, origins: Vector, directions: NDArray[np.float64], max_range: float
    ) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Returns range (m, inf for none) and id of each ray's first hit."""
        ...


@dataclass(frozen=True)
class WorldWithVehicles:
    """A world and vehicles in it, as rays of another vehicle's sensors meet them: spheres."""

    world: World
    vehicles: Sequence[tuple[int, Drone]]  # id in hits

    def raycast(
        self, origins: Vector, directions: NDArray[np.float64], max_range: float
    ) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Returns range (m, inf for none) and id of each ray's first hit, as World.raycast does; one origin (3,)."""
        ranges, ids = self.world.raycast(origins, directions, max_range)
        for id, drone in self.vehicles:
            to = drone.position - origins
            squared = float(to @ to)
            if math.sqrt(squared) - drone.radius > max_range:
                continue
            along = directions @ to
            root = along * along - squared + drone.radius**2
            hit = np.flatnonzero((root >= 0.0) & (along > 0.0))
            range_to = np.maximum(along[hit] - np.sqrt(root[hit]), 0.0)
            first = (range_to <= max_range) & (range_to < ranges[hit])
            ranges[hit[first]], ids[hit[first]] = range_to[first], id
        return ranges, ids


class Simulation:
    """All that moves; independent of networks, images and wall time.

    `watchers` are called after every control step.
    """

    def __init__(self, world: World, drones: Sequence[Drone]) -> None:
        self.world = world
        self.clock = SimClock()
        self.drones: dict[str, Drone] = {drone.name: drone for drone in drones}
        self.watchers: list[Callable[[], None]] = []
        self._gusts: dict[str, Gusts] = {}

    def advance(self, steps: int) -> None:
        """Advances by `steps` steps of 2 ms; the autopilots run at multiples of 10 ms."""
        end = self.clock.step + steps
        while self.clock.step < end:
            tick, begun = divmod(self.clock.step, CONTROL_STEPS)
            run = min(CONTROL_STEPS - begun, end - self.clock.step)
            for drone in self.drones.values():
                if not begun:
                    drone.air = self._air(drone, tick)
                drone.advance(drone.air, self.clock.now_ns, run)
            if len(self.drones) > 1:
                self._resolve_vehicle_collisions()
            self.clock.step += run
            if not self.clock.step % CONTROL_STEPS:
                for watcher in self.watchers:
                    watcher()

    def others(self, drone: Drone) -> list[tuple[int, Drone]]:
        """Returns the other vehicles, each with its object id."""
        numbered = enumerate(self.drones.values(), VEHICLE_ID_BASE)
        return [(id, other) for id, other in numbered if other is not drone]

    def seen_by(self, drone: Drone) -> RayWorld:
        """Returns what rays of a vehicle's sensors meet: the world and the other vehicles, not itself."""
        others = self.others(drone)
        return WorldWithVehicles(self.world, others) if others else self.world

    def warm_up(self) -> None:
        """Load the compiled kernels, so that the first step is as quick as the others. Changes nothing."""
        scratch = Quadrotor(Pose())
        scratch.fall(self.world.environment.wind, 1)
        for drone in self.drones.values():
            self.world.contact_along(drone.position, drone.position, drone.radius)
        self.world.raycast(np.zeros(3), np.array([[0.0, 0.0, -1.0]]), 1.0)

    def reset(self) -> None:
        """Vehicles back to their starts; objects, weather and time stay."""
        for drone in self.drones.values():
            drone.reset()

    def _air(self, drone: Drone, tick: int) -> Vector:
        """Wind and gusts (m/s, ENU) where a vehicle is."""
        air = self.world.environment.air(self.clock.now)
        mean = air.wind
        if drone.grounded or not mean.any():
            return mean
        gusts = self._gusts.get(drone.name)
        if gusts is None:
            gusts = self._gusts[drone.name] = Gusts(self.world.seed, drone.name)
        relative = drone.velocity - mean
        airspeed = math.sqrt(relative @ relative)
        return mean + gusts.next(tick, mean, airspeed, drone.height(), air.gustiness)

    def _resolve_vehicle_collisions(self) -> None:
        """Moves vehicles that overlap apart; both report the contact."""
        drones = list(self.drones.values())
        for i, one in enumerate(drones):
            for j in range(i + 1, len(drones)):
                other = drones[j]
                gap = one.position - other.position
                distance = float(np.linalg.norm(gap))
                overlap = one.radius + other.radius - distance
                if overlap <= 0.0 or (one.grounded and other.grounded):
                    continue
                normal = gap / distance if distance > 1e-6 else np.array([1.0, 0.0, 0.0])
                # One that stands stays where it is; the other gives way for both.
                share = 0.5 if not (one.grounded or other.grounded) else 0.0 if one.grounded else 1.0
                one.bump(VEHICLE_ID_BASE + j, normal, share * overlap, self.clock.now_ns)
                other.bump(VEHICLE_ID_BASE + i, -normal, (1.0 - share) * overlap, self.clock.now_ns)
