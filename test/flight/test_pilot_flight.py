"""Pilot and governor together in voxel worlds: what the vehicle does, from take-off to the goal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from esar_ros.flight.limits import load_pilot_limits
from esar_ros.flight.pilot import Governed, Phase, Pilot, PilotInput, PilotOutput, Request
from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, OccupancyWindow
from esar_ros.mission.decision import Goal, GoalType, HeightReference
from esar_ros.mission.modes import Mode
from esar_ros.safety import calibration
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, SafeCommand, State
from esar_ros.safety.limits import load_limits
from esar_ros.safety.site import Site
from helpers.full import mostly_full

STEP = 0.05  # s
ROWS, COLUMNS, REACH = 36, 90, 60.0
WINDOW = np.array([96, 96, 64])


@njit
def _cast(solid, origin, ox, oy, oz, dx, dy, dz, reach):  # type: ignore[no-untyped-def]
    """Distance to the first solid voxel (1 m) along a ray, inf beyond reach; steps of 0.2 m."""
    steps = int(reach / 0.2)
    for n in range(steps):
        s = n * 0.2
        i = math.floor(ox + s * dx - origin[0])
        j = math.floor(oy + s * dy - origin[1])
        k = math.floor(oz + s * dz - origin[2])
        if 0 <= i < solid.shape[0] and 0 <= j < solid.shape[1] and 0 <= k < solid.shape[2] and solid[i, j, k]:
            return s
        if k >= solid.shape[2] and dz >= 0.0:
            break  # above all that stands, and on the way up
    return np.inf


@njit
def _scan(solid, origin, position, yaw, rows, columns, low, step, reach, out) -> None:  # type: ignore[no-untyped-def]
    for r in range(rows):
        e = low + (r + 0.5) * step
        for c in range(columns):
            a = -math.pi + (c + 0.5) * 2.0 * math.pi / columns + yaw
            d = math.cos(e)
            out[r, c] = _cast(
                solid,
                origin,
                position[0],
                position[1],
                position[2],
                d * math.cos(a),
                d * math.sin(a),
                math.sin(e),
                reach,
            )


@njit
def _see(solid, origin, seen, position, reach) -> None:  # type: ignore[no-untyped-def]
    """Mark what a turn of cameras between 57 degrees down and 17 degrees up sees, and straight down."""
    for r in range(90):
        e = math.radians(-90.0 + (r + 0.5) * 107.0 / 90)
        for c in range(180):
            a = math.radians(2.0 * c)
            d = math.cos(e)
            dx, dy, dz = d * math.cos(a), d * math.sin(a), math.sin(e)
            for n in range(int(reach / 0.4)):
                s = n * 0.4
                i = math.floor(position[0] + s * dx - origin[0])
                j = math.floor(position[1] + s * dy - origin[1])
                k = math.floor(position[2] + s * dz - origin[2])
                if not (0 <= i < solid.shape[0] and 0 <= j < solid.shape[1] and 0 <= k < solid.shape[2]):
                    break
                seen[i, j, k] = True
                if solid[i, j, k]:
                    break


@dataclass
class World:
    """Solid voxels of 1 m; origin is the least corner (m, map)."""

    solid: NDArray[np.bool_]
    origin: NDArray[np.float64]
    seen: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.seen = np.zeros_like(self.solid)

    @staticmethod
    def of(ground: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]], size: int = 240) -> World:
        """World of a height function of x, y; 90 m high, from 10 m below zero."""
        origin = np.array([-size / 2, -size / 2, -10.0])
        axis = np.arange(size) + 0.5 - size / 2
        x, y = np.meshgrid(axis, axis, indexing="ij")
        top = np.broadcast_to(ground(x, y), (size, size)) - origin[2]
        return World(np.arange(100)[None, None, :] + 0.5 < top[:, :, None], origin)

    def box(self, low: tuple[float, float, float], high: tuple[float, float, float]) -> World:
        """Put a block between two corners (m, map)."""
        a = (np.array(low) - self.origin).astype(int)
        b = (np.array(high) - self.origin).astype(int)
        self.solid[a[0] : b[0], a[1] : b[1], a[2] : b[2]] = True
        return self

    def ground(self, position: NDArray[np.float64]) -> float:
        """Top of the column (m, map) below a position."""
        i, j, k = np.floor(position - self.origin).astype(int)
        below = np.flatnonzero(self.solid[i, j, : k + 1])
        return float(self.origin[2] + (below[-1] + 1 if len(below) else 0))

    def clearance(self, position: NDArray[np.float64]) -> float:
        """Distance (m) to the nearest solid voxel within 6 m."""
        low = np.floor(position - self.origin).astype(int) - 6
        block = self.solid[tuple(slice(max(a, 0), a + 13) for a in low)]
        cells = np.argwhere(block) + np.maximum(low, 0) + self.origin
        if not len(cells):
            return 6.0
        gap = np.maximum(np.maximum(cells - position, position - cells - 1.0), 0.0)
        return float(np.sqrt((gap**2).sum(axis=1)).min())

    def window(self, position: NDArray[np.float64], stamp: float) -> OccupancyWindow:
        """Returns the part seen of the 96 x 96 x 64 m around a position."""
        _see(self.solid, self.origin, self.seen, position, 60.0)
        low = np.floor(position - self.origin).astype(int) - WINDOW // 2
        cells = np.zeros(WINDOW, dtype=np.uint8)
        a, b = np.maximum(low, 0), np.minimum(low + WINDOW, self.solid.shape)
        here = tuple(slice(p, q) for p, q in zip(a, b, strict=True))
        there = tuple(slice(p - o, q - o) for p, q, o in zip(a, b, low, strict=True))
        cells[there] = np.where(self.seen[here], np.where(self.solid[here], OCCUPIED, FREE), 0)
        return OccupancyWindow(low + self.origin, 1.0, cells, stamp)

    def ranges(self, pose: Pose, stamp: float) -> RangeImageData:
        """A scan from -90 to 30 degrees, with a lidar's noise: no two are equal bit by bit."""
        out = np.empty((ROWS, COLUMNS), dtype=np.float32)
        _scan(
            self.solid, self.origin, pose.position, pose.yaw, ROWS, COLUMNS, -math.pi / 2, math.radians(5), REACH, out
        )
        noise = np.random.default_rng(round(stamp * 1e3)).normal(0.0, 0.01, out.shape)
        out = np.where(np.isfinite(out) & (out < REACH), out + noise, out).astype(np.float32)
        return RangeImageData(
            stamp, pose, -math.pi, 2 * math.pi / COLUMNS, -math.pi / 2, math.radians(5), 0.1, REACH, out
        )


@dataclass
class Flight:
    """A vehicle with first-order response and bounded acceleration, its pilot and its governor."""

    world: World
    start: tuple[float, float] = (0.0, 0.0)
    mission_end: str = "hold"
    ceiling: float = 200.0
    wind: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    battery: float = 1.0

    def __post_init__(self) -> None:
        safety = load_limits()
        limits = load_pilot_limits().model_copy(update={"mission_end": self.mission_end})
        self.pilot = Pilot(limits, safety)
        corner = self.world.origin[0] + 1.0
        fence = np.array([[corner, corner], [-corner, corner], [-corner, -corner], [corner, -corner]])
        z = self.world.ground(np.array([*self.start, 80.0])) + 0.1
        self.home = np.array([*self.start, z])
        self.governor = Governor(safety, Site(fence, self.ceiling, self.home))
        self.position, self.velocity, self.yaw = self.home.copy(), np.zeros(3), 0.0
        self.armed, self.landed, self.touching = False, True, False
        self.now = 10.0
        self.track: list[NDArray[np.float64]] = []
        self.outputs: list[PilotOutput] = []
        self.answers: list[SafeCommand] = []
        self.clearances: list[float] = []
        self.heights: list[float] = []
        self._window: OccupancyWindow | None = None
        self._image: RangeImageData | None = None
        self._answer: SafeCommand | None = None

    def run(
        self,
        goal: Goal | None,
        seconds: float,
        until: Callable[[PilotOutput], bool] = lambda out: False,
        silence: float = 0.0,
        ended: bool = False,
    ) -> PilotOutput:
        """Fly for so long, or until a pilot's output is as asked for."""
        output = None
        for _ in range(round(seconds / STEP)):
            output = self.step(goal, silence, ended=ended)
            if until(output):
                break
        assert output is not None
        return output

    def step(self, goal: Goal | None, silence: float = 0.0, running: bool = True, ended: bool = False) -> PilotOutput:
        tick = round(self.now / STEP)
        pose = Pose(self.position.copy(), quaternion_from_yaw(self.yaw))
        if tick % 20 == 0 or self._window is None:
            self._window = self.world.window(self.position, self.now)
        if tick % 2 == 0 or self._image is None:
            self._image = self.world.ranges(pose, self.now)
        ground = self.world.ground(self.position)
        height = float(self.position[2]) - ground
        mode, given = (self._answer.mode, self._answer.velocity) if self._answer else (Mode.NORMAL, np.zeros(3))
        output = self.pilot.step(
            PilotInput(
                self.now, pose, self.velocity.copy(), self.armed, self.landed, running, ended, self.home,
                goal, silence, self._window, Governed(mode, given, height), self.touching,
            )
        )  # fmt: skip
        state = State(self.now, pose, self.velocity.copy(), self.armed, self.landed, self.battery)
        command = Command(self.now, output.velocity, output.yaw_rate)
        answer = self.governor.decide(state, command, self._image, self._window, self.now, touching_down=self.touching)
        self._answer = answer
        self._obey(output.request, answer, ground)
        self.now = round((tick + 1) * STEP, 6)
        self.track.append(self.position.copy())
        self.outputs.append(output)
        self.answers.append(answer)
        self.heights.append(height)
        if self.armed and not self.landed and not self.touching and output.phase not in (Phase.TAKE_OFF, Phase.LAND):
            self.clearances.append(self.world.clearance(self.position))
        return output

    def _obey(self, request: Request | None, answer: SafeCommand, ground: float) -> None:
        if request is Request.ARM:
            self.armed = True
        elif request is Request.DISARM and self.landed:
            self.armed = False
        elif request is Request.TOUCH_DOWN:
            self.touching = True
        wanted = answer.velocity
        if not self.armed or (self.landed and wanted[2] <= 0.0):
            return
        change = (wanted + self.wind - self.velocity) / 0.35 * STEP
        size = float(np.linalg.norm(change))
        self.velocity = self.velocity + change * min(1.0, 5.0 * STEP / max(size, 1e-9))
        self.position = self.position + self.velocity * STEP
        self.yaw += answer.yaw_rate * STEP
        self.landed = False
        if self.position[2] <= ground + 0.05:
            self.position[2] = ground + 0.05
            self.velocity[:] = 0.0
            self.landed, self.touching = True, False


def waypoint(x: float, y: float, z: float, reference: HeightReference = HeightReference.MAP, **more: object) -> Goal:
    return Goal(GoalType.WAYPOINT, np.array([x, y, z]), reference, **more)  # type: ignore[arg-type]


def reached(output: PilotOutput) -> bool:
    return output.goal_reached


def flat() -> World:
    return World.of(lambda x, y: 0.0 * x)


def hills() -> World:
    return World.of(lambda x, y: 18.0 * np.sin(x / 25.0) * np.cos(y / 30.0) + 3.0 * np.sin(x / 6.0 + y / 5.0) + 20.0)


def forest(seed: int) -> World:
    rng, world = np.random.default_rng(seed), flat()
    for _ in range(150):
        x, y = rng.uniform(-110.0, 110.0, 2)
        if max(abs(x), abs(y)) > 8.0:
            half = rng.uniform(0.5, 2.0)
            world.box((x - half, y - half, 0.0), (x + half + 1.0, y + half + 1.0, rng.uniform(8.0, 25.0)))
    return world


def changed_in_flight(flight: Flight) -> float:
    """Share of the pilot's commands the governor changed."""
    pairs = [(o, a) for o, a in zip(flight.outputs, flight.answers, strict=True) if o.phase is Phase.FLY]
    return sum(a.changed for _, a in pairs) / len(pairs)


@pytest.mark.parametrize("reference", mostly_full(HeightReference))
def test_reaches_a_waypoint_in_the_open_untouched_by_the_governor(reference: HeightReference) -> None:
    flight = Flight(flat())
    output = flight.run(waypoint(60.0, -30.0, 20.0, reference), 60.0, reached)
    assert output.goal_reached and np.linalg.norm(flight.position - [60.0, -30.0, 20.0]) < 3.0
    assert not any(a.changed for a in flight.answers[5:])


def test_from_holds_that_a_person_orders_the_vehicle_can_be_calibrated() -> None:
    """The pilot slows by a ramp; what remains is this vehicle's lag, without delay."""
    flight, times, velocities = Flight(flat()), [], []
    flight.run(waypoint(0.0, 0.0, 25.0), 30.0, reached)
    first = len(flight.answers)
    for n, speed in enumerate((2.0, 3.0, 4.0, 5.0)):
        east = Goal(GoalType.VELOCITY, velocity=np.array([speed * (-1) ** n, 0.0, 0.0]))
        for goal in (east, Goal(GoalType.HOLD)):
            for _ in range(round(7.0 / STEP)):
                times.append(flight.now)
                velocities.append(flight.velocity.copy())
                flight.step(goal)
    track = np.array(flight.track[first - 1 : -1])
    asked = np.array([answer.velocity for answer in flight.answers[first:]])
    time = np.array(times)
    stops = calibration.find_stops(calibration.Flight(time, track, np.array(velocities), time, asked))
    found = calibration.calibrate(stops)
    assert len(found.stops) == 4
    assert found.tau + found.delay == pytest.approx(0.35, abs=0.05)


def test_around_a_wall() -> None:
    flight = Flight(flat().box((30.0, -20.0, 0.0), (33.0, 20.0, 60.0)))
    output = flight.run(waypoint(60.0, 0.0, 15.0), 80.0, reached)
    assert output.goal_reached and min(flight.clearances) > 2.0
    assert max(p[2] for p in flight.track) < 30.0


def test_over_a_wall_without_an_end() -> None:
    flight = Flight(flat().box((20.0, -119.0, 0.0), (23.0, 119.0, 45.0)))
    output = flight.run(waypoint(60.0, 0.0, 15.0), 120.0, reached)
    assert output.goal_reached and min(flight.clearances) > 1.5
    assert changed_in_flight(flight) <= 0.05


def test_a_goal_inside_a_hill_is_blocked() -> None:
    flight = Flight(flat().box((20.0, -119.0, 0.0), (90.0, 119.0, 85.0)))
    output = flight.run(waypoint(60.0, 0.0, 15.0), 120.0, lambda out: out.goal_blocked)
    assert output.goal_blocked and min(flight.clearances) > 1.5


@pytest.mark.parametrize("above", mostly_full([8.0, 15.0, 40.0]))
def test_follows_hills_within_bounds(above: float) -> None:
    flight = Flight(hills())
    output = flight.run(waypoint(80.0, -90.0, above, HeightReference.GROUND), 90.0, reached)
    assert output.goal_reached
    settled = [h for h, o in zip(flight.heights, flight.outputs, strict=True) if o.phase is Phase.FLY][200:]
    assert min(settled) >= 0.5 * above
    assert max(settled) <= above + 20.0
    assert changed_in_flight(flight) <= 0.02


def test_over_a_ridge() -> None:
    flight = Flight(World.of(lambda x, y: 25.0 * np.exp(-(((x - 40.0) / 15.0) ** 2))))
    output = flight.run(waypoint(90.0, 0.0, 15.0, HeightReference.GROUND), 90.0, reached)
    assert output.goal_reached and min(flight.clearances) > 4.0
    top = [h for h, p in zip(flight.heights, flight.track, strict=True) if abs(p[0] - 40.0) < 3.0]
    assert min(top) > 7.5


@pytest.mark.parametrize("seed", mostly_full([0, 1]))
@pytest.mark.parametrize("reference", mostly_full(reversed(HeightReference)))
def test_through_a_forest_without_touching_it(seed: int, reference: HeightReference) -> None:
    flight = Flight(forest(seed))
    output = flight.run(waypoint(90.0, 40.0, 12.0, reference), 120.0, reached)
    assert output.goal_reached and min(flight.clearances) > 1.9
    assert changed_in_flight(flight) <= 0.02


def test_in_wind_it_arrives_and_keeps_its_place() -> None:
    flight = Flight(flat(), wind=np.array([0.3, -0.3, 0.0]))
    assert flight.run(waypoint(40.0, 0.0, 20.0), 60.0, reached).goal_reached
    flight.run(Goal(), 10.0)
    place = flight.position.copy()
    flight.run(Goal(), 10.0)
    assert np.linalg.norm(flight.position - place) < 1.0


def test_silence_of_the_planner_stops_it_in_the_air() -> None:
    flight = Flight(flat())
    goal = waypoint(100.0, 0.0, 20.0)
    flight.run(goal, 15.0)
    assert np.linalg.norm(flight.velocity) > 4.0
    flight.run(goal, 5.0, silence=1.0)
    assert np.linalg.norm(flight.velocity) < 0.1 and flight.outputs[-1].phase is Phase.HOLD
    assert flight.run(goal, 40.0, reached).goal_reached


def test_a_whole_flight_out_and_home() -> None:
    flight = Flight(flat(), mission_end="return_land")
    assert flight.run(waypoint(40.0, 10.0, 20.0), 60.0, reached).goal_reached
    output = flight.run(None, 120.0, lambda out: out.phase is Phase.DONE, ended=True)
    assert output.phase is Phase.DONE and flight.landed and not flight.armed
    assert np.linalg.norm(flight.position - flight.home) < 3.0
    seen = [a for a, b in zip(flight.outputs, flight.outputs[1:], strict=False) if a.phase is not b.phase]
    assert [o.phase for o in seen] == [
        Phase.ARMING, Phase.TAKE_OFF, Phase.FLY, Phase.RETURN, Phase.LAND,
    ]  # fmt: skip


def test_a_low_battery_brings_it_home_whatever_the_planner_wants() -> None:
    flight = Flight(flat())
    goal = waypoint(60.0, 0.0, 20.0)
    flight.run(goal, 20.0)
    flight.battery = 0.15
    output = flight.run(goal, 150.0, lambda out: out.phase is Phase.DONE)
    assert output.phase is Phase.DONE and flight.landed
    assert math.hypot(*(flight.position - flight.home)[:2]) < 5.0


@pytest.mark.full
@pytest.mark.parametrize("seed", range(2, 22))
def test_through_twenty_forests(seed: int) -> None:
    rng = np.random.default_rng(seed)
    flight = Flight(forest(seed), wind=rng.uniform(-0.5, 0.5, 3) * [1.0, 1.0, 0.2])
    for _ in range(3):
        x, y = rng.uniform(-95.0, 95.0, 2)
        reference = HeightReference.GROUND if rng.random() < 0.5 else HeightReference.MAP
        flight.run(waypoint(x, y, rng.uniform(8.0, 30.0), reference), 90.0, lambda o: o.goal_reached or o.goal_blocked)
    assert min(flight.clearances) > 0.5
