"""A world of the governor's own: flat ground, spheres and pillars, a range image of them, and a simple vehicle."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose, quaternion_from_rpy
from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, UNKNOWN, OccupancyWindow
from esar_ros.perception.ranges import RangeGrid, pool_ranges
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, SafeCommand, State
from esar_ros.safety.limits import Limits, load_limits
from esar_ros.safety.site import Site
from esar_ros.safety.traffic import OtherVehicle
from esar_ros.sim.physics.dynamics import Quadrotor, SetPoint
from helpers.tally import STEPS

STEP = 0.05  # s
NOW = 100.0  # s


@njit
def _distance(things, x, y, z):  # type: ignore[no-untyped-def]
    """Returns the distance (m) to the ground z = 0 and to things (x, y, z, radius; z = inf: a pillar without end)."""
    nearest = z
    for n in range(things.shape[0]):
        dx, dy = x - things[n, 0], y - things[n, 1]
        dz = 0.0 if math.isinf(things[n, 2]) else z - things[n, 2]
        nearest = min(nearest, math.sqrt(dx * dx + dy * dy + dz * dz) - things[n, 3])
    return nearest


@njit
def _scan(things, position, rotation, rows, columns, low, high, reach, out) -> None:  # type: ignore[no-untyped-def]
    """Writes the ranges to the same world along the cells' directions to out."""
    de, da = (high - low) / rows, 2.0 * math.pi / columns
    for r in range(rows):
        e = low + (r + 0.5) * de
        for c in range(columns):
            a = -math.pi + (c + 0.5) * da
            bx, by, bz = math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)
            dx = rotation[0, 0] * bx + rotation[0, 1] * by + rotation[0, 2] * bz
            dy = rotation[1, 0] * bx + rotation[1, 1] * by + rotation[1, 2] * bz
            dz = rotation[2, 0] * bx + rotation[2, 1] * by + rotation[2, 2] * bz
            best = np.inf
            if dz < 0.0:
                best = position[2] / -dz
            for n in range(things.shape[0]):
                px, py = position[0] - things[n, 0], position[1] - things[n, 1]
                pillar = math.isinf(things[n, 2])
                pz = 0.0 if pillar else position[2] - things[n, 2]
                ez = 0.0 if pillar else dz
                qa = dx * dx + dy * dy + ez * ez
                qb = px * dx + py * dy + pz * ez
                qc = px * px + py * py + pz * pz - things[n, 3] ** 2
                root = qb * qb - qa * qc
                if qa > 1e-12 and root >= 0.0:
                    s = (-qb - math.sqrt(root)) / qa
                    if s >= 0.0:
                        best = min(best, s)
            out[r, c] = best if best <= reach else np.inf


@njit
def _fill(things, low, resolution, out) -> None:  # type: ignore[no-untyped-def]
    """Marks the cells of out whose middle a surface or an inside of the same world touches, within half a cell."""
    size, touch = out.shape[0], 0.5 * resolution
    for k in range(size):
        if low[2] + (k + 0.5) * resolution < touch:
            out[:, :, k] = OCCUPIED
    for n in range(things.shape[0]):
        pillar, reach = math.isinf(things[n, 2]), things[n, 3] + touch
        first, last = [0, 0, 0], [size, size, size]
        for axis in range(2 if pillar else 3):  # a cell more than what can be touched
            first[axis] = max(0, math.floor((things[n, axis] - reach - low[axis]) / resolution) - 1)
            last[axis] = min(size, math.ceil((things[n, axis] + reach - low[axis]) / resolution) + 1)
        for i in range(first[0], last[0]):
            dx = low[0] + (i + 0.5) * resolution - things[n, 0]
            for j in range(first[1], last[1]):
                dy = low[1] + (j + 0.5) * resolution - things[n, 1]
                for k in range(first[2], last[2]):
                    dz = 0.0 if pillar else low[2] + (k + 0.5) * resolution - things[n, 2]
                    if math.sqrt(dx * dx + dy * dy + dz * dz) - things[n, 3] < touch:
                        out[i, j, k] = OCCUPIED


def _all(azimuth: np.ndarray) -> bool:
    return True


@dataclass(frozen=True)
class World:
    """A flat world with things (n, 4): x, y, z, radius in m; z = inf is a pillar."""

    things: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 4)))
    rows: int = 24
    columns: int = 72
    high: float = math.pi / 6  # rad, upper edge of the scan

    def distance(self, position: NDArray[np.float64]) -> float:
        """Returns the distance (m) of a point to the nearest surface."""
        return float(_distance(self.things, position[0], position[1], position[2]))

    def image(self, pose: Pose, stamp: float) -> RangeImageData:
        """Returns a range image from straight down to `high`, with noise in the last digits: no two are equal."""
        low, high = -math.pi / 2, self.high
        out = np.empty((self.rows, self.columns))
        _scan(self.things, pose.position, pose.rotation, self.rows, self.columns, low, high, 60.0, out)
        step = (high - low) / self.rows
        out *= 1.0 + np.random.default_rng(round(stamp * 1e3)).uniform(-2e-7, 2e-7, out.shape)
        return RangeImageData(
            stamp, pose, -math.pi, 2 * math.pi / self.columns, low, step, 0.1, 60.0, out.astype(np.float32)
        )

    def cloud(self, pose: Pose, stamp: float, sees: Callable[[np.ndarray], Any] = _all) -> RangeImageData:
        """Returns `image` as made of a cloud, which holds echoes alone; sees: of azimuths (rad), whose echoes come."""
        image = self.image(pose, stamp)
        row, column = np.nonzero(np.isfinite(image.ranges))
        elevation = image.elevation_min + (row + 0.5) * image.elevation_step
        azimuth = image.azimuth_min + (column + 0.5) * image.azimuth_step
        flat = np.cos(elevation)
        rays = np.stack([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)], axis=-1)
        points = (rays * image.ranges[row, column, None])[np.broadcast_to(sees(azimuth), azimuth.shape)]
        grid = RangeGrid(
            image.azimuth_min, image.azimuth_step, self.columns, image.elevation_min, image.elevation_step, self.rows,
            image.range_min, image.range_max,
        )  # fmt: skip
        return replace(image, ranges=pool_ranges(points.astype(np.float32), grid))

    def window(
        self, position: NDArray[np.float64], stamp: float, size: int = 32, resolution: float = 1.0
    ) -> OccupancyWindow:
        """Returns a window without unknown cells; a cell is occupied when a surface or an inside touches its middle."""
        low = np.floor(position / resolution - size / 2) * resolution
        states = np.full((size, size, size), FREE, dtype=np.uint8)
        _fill(self.things, low, resolution, states)
        return OccupancyWindow(low, resolution, states, stamp)


def square(half: float) -> NDArray[np.float64]:
    """Returns the corners of a square fence."""
    return half * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


@dataclass
class Scene:
    """The inputs of one decision, by default of a vehicle in the air over flat ground."""

    limits: Limits
    world: World = field(default_factory=World)
    position: NDArray[np.float64] = field(default_factory=lambda: np.array([0.0, 0.0, 20.0]))
    velocity: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    site: Site | None = None
    now: float = NOW
    state: State | None = None
    command: Command | None = None
    ranges: RangeImageData | None = None
    window: OccupancyWindow | None = None
    heartbeat_age: float = 0.0
    touching_down: bool = False
    others: tuple[OtherVehicle, ...] = ()

    def __post_init__(self) -> None:
        pose = Pose(np.array(self.position, dtype=np.float64))
        self.velocity = np.array(self.velocity, dtype=np.float64)
        self.site = self.site or Site(square(500.0), 120.0, np.zeros(3))
        self.state = self.state or State(self.now, pose, self.velocity, armed=True, landed=False, battery=0.9)
        self.ranges = self.ranges or self.world.image(pose, self.now)
        self.window = self.window or self.world.window(pose.position, self.now)

    def governor(self) -> Governor:
        """Returns a fresh governor for this scene's limits and site."""
        return Governor(self.limits, self.site)

    def decide(self, velocity: object, yaw_rate: float = 0.0, governor: Governor | None = None) -> SafeCommand:
        """Returns the answer to a command of now."""
        command = Command(self.now, np.array(velocity, dtype=np.float64), yaw_rate)
        return self.ask(command, governor)

    def ask(self, command: Command | None, governor: Governor | None = None) -> SafeCommand:
        """Returns the answer to any command."""
        STEPS["scenes"] += 1
        return (governor or self.governor()).decide(
            self.state,
            command,
            self.ranges,
            self.window,
            self.now,
            self.heartbeat_age,
            self.touching_down,
            self.others,
        )


Policy = Callable[["Rollout"], Command | None]


@dataclass
class Rollout:
    """A vehicle with delay, lag, bounded acceleration and gusts under the governor, in a world."""

    world: World
    governor: Governor
    site: Site
    rng: np.random.Generator
    position: NDArray[np.float64] = field(default_factory=lambda: np.array([0.0, 0.0, 15.0]))
    velocity: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    lag: float = 0.3  # s
    delay: int = 2  # steps
    gust: float = 0.5  # m/s^2
    noise: float = 0.03  # m
    use_map: bool = True
    slew: float = 0.0  # rad, of the fault heading
    with_rates: bool = True  # the odometry states them
    blank: bool = False  # the map is fresh, but its cameras have seen nothing
    sense: Callable[[Pose, float, bool], RangeImageData] | None = None  # by pose, time (s) and fault "sense"
    now: float = NOW
    nearest: float = math.inf
    outside: float = -math.inf
    highest: float = -math.inf
    others: Callable[[], tuple[OtherVehicle, ...]] = tuple
    answers: list[SafeCommand] = field(default_factory=list)
    asked: list[tuple[float, Command | None, float, float]] = field(
        default_factory=list
    )  # now, stamps of odometry, ranges

    def __post_init__(self) -> None:
        self._queue: deque[NDArray[np.float64]] = deque([np.zeros(3)] * self.delay)
        self._wind = np.zeros(3)
        self._image: RangeImageData | None = None
        self._stuck: NDArray[np.float32] | None = None
        self._window: OccupancyWindow | None = None
        self.state: State | None = None

    def fly(self, policy: Policy, seconds: float, faults: Callable[[int], set[str]] = lambda step: set()) -> Rollout:
        """Follows a policy; faults(step) names inputs that freeze: odometry, ranges, map; scan: under new stamps.

        The fault sense is handed to the sensor; heading turns what the odometry says by `slew`, ranges with it.
        """
        for step in range(round(seconds / STEP)):
            frozen = faults(step)
            roll, pitch = -self._tilt(1), self._tilt(0)
            pose = Pose(self.position + self.rng.normal(0.0, self.noise, 3), quaternion_from_rpy(roll, pitch, 0.0))
            told = Pose(pose.position, quaternion_from_rpy(roll, pitch, self.slew)) if "heading" in frozen else pose
            if "odometry" not in frozen or self.state is None:
                rates = np.zeros(3) if self.with_rates else None
                self.state = State(self.now, told, self.velocity.copy(), True, False, 0.9, rates=rates)
            if "ranges" not in frozen and (step % 2 == 0 or self._image is None):
                self._image = self._measure(Pose(self.position.copy(), pose.quaternion), "sense" in frozen)
                if "heading" in frozen:
                    self._image = replace(self._image, pose=Pose(self.position.copy(), told.quaternion))
                if "scan" in frozen and self._stuck is not None:
                    self._image = replace(self._image, ranges=self._stuck)
                self._stuck = self._image.ranges
            if self.use_map and "map" not in frozen and step % 20 == 0:
                self._window = self.world.window(self.position, self.now)
                if self.blank:
                    self._window = replace(self._window, cells=np.full_like(self._window.cells, UNKNOWN))
            assert self._image is not None
            command = policy(self)
            answer = self.governor.decide(
                self.state, command, self._image, self._window, self.now, others=self.others()
            )
            self.answers.append(answer)
            self.asked.append((self.now, command, self.state.stamp, self._image.stamp))
            self._move(answer.velocity)
            self.now += STEP
        return self

    def _measure(self, pose: Pose, faulty: bool) -> RangeImageData:
        if self.sense is None:
            return self.world.image(pose, self.now)
        return self.sense(pose, self.now, faulty)

    def _tilt(self, axis: int) -> float:
        asked = self.answers[-1].velocity if self.answers else np.zeros(3)
        return float(np.clip((asked[axis] - self.velocity[axis]) / self.lag / 9.8, -0.5, 0.5))

    def _move(self, given: NDArray[np.float64]) -> None:
        self._queue.append(given)
        self.accelerate(self._queue.popleft())
        self.nearest = min(self.nearest, self.world.distance(self.position))
        self.outside = max(self.outside, self.site.outside(self.position))
        self.highest = max(self.highest, float(self.position[2]))

    def accelerate(self, wanted: NDArray[np.float64]) -> None:
        """Moves one step towards a velocity: first-order lag, 4 m/s^2 at most, and gusts."""
        # Gusts: accelerations that wander within their bound.
        self._wind = np.clip(self._wind + self.rng.normal(0.0, 0.3 * self.gust, 3), -self.gust, self.gust)
        change = (wanted - self.velocity) / self.lag
        size = float(np.linalg.norm(change))
        change = change * min(1.0, 4.0 / max(size, 1e-9)) + self._wind
        self.velocity = self.velocity + change * STEP
        self.position = self.position + self.velocity * STEP


class Simulated(Rollout):
    """A rollout with the simulator's own vehicle and up to 10 m/s of gusty wind."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.body = Quadrotor(Pose(self.position.copy()))
        self.body.float_at(Pose(self.position.copy()))
        speed, heading = self.rng.uniform(0.0, 10.0), self.rng.uniform(-math.pi, math.pi)
        self.mean_wind = speed * np.array([math.cos(heading), math.sin(heading), 0.0])

    def accelerate(self, wanted: NDArray[np.float64]) -> None:
        """Moves one step towards a velocity, by the vehicle's velocity controller."""
        wind = self.mean_wind + self.rng.normal(0.0, 1.5, 3) * [1.0, 1.0, 0.3]
        self.body.advance(SetPoint(values=np.array(wanted)).as_array(), wind, 25)
        self.position, self.velocity = self.body.position.copy(), self.body.velocity.copy()


@pytest.fixture(scope="session")
def limits() -> Limits:
    """Returns the package's own limits."""
    return load_limits()


@pytest.fixture(scope="session")
def kit() -> SimpleNamespace:
    """Returns World, Scene, Rollout and square, for tests that build their own."""
    return SimpleNamespace(
        World=World, Scene=Scene, Rollout=Rollout, Simulated=Simulated, square=square, STEP=STEP, NOW=NOW, STEPS=STEPS
    )
