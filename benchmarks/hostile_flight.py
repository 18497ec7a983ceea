"""A hostile flight in the embedded simulator: the simulator's sensors, mapper and vehicles, each under a governor."""

from __future__ import annotations

import asyncio
import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from hostile_cases import FAULTS, SPEED, Case
from hostile_planners import planner
from hostile_things import Stage, nearest_gap, set_stage

from esar_ros.benchmark.engine.simulator import LocalSimulator
from esar_ros.bridges.airsim.actuation import Actuation
from esar_ros.bridges.airsim.camera import AirSimLidar
from esar_ros.bridges.airsim.vehicle import AirSimVehicle, VehicleReading
from esar_ros.bridges.odometry_error import OdometryError
from esar_ros.geometry.frames import Pose, Vector, quaternion_from_yaw
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mapping.mapper import Mapper
from esar_ros.mission.modes import Mode
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.ranges import RangeGrid, pool_ranges
from esar_ros.safety.conditions import conditions_speed
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, SafeCommand, State, pass_through
from esar_ros.safety.limits import load_limits
from esar_ros.safety.site import Site
from esar_ros.safety.traffic import OtherVehicle, Team
from esar_ros.sim.physics.simulation import VEHICLE_ID_BASE
from esar_ros.sim.terrain.maps import PlaceMap

STEP = 0.05  # s
OWN, MATE = "uav1", "uav2"
HOUR = "2026-06-01T11:00:00"
TOUCHED = 0.05  # m between body and somebody, from which they touch: a vehicle that stands leaves 0.02
CHARGE, ENDURANCE = 0.9, 1500.0  # share, s of a full one
EDGE = math.radians(1.0)  # rad between the way and a blind sector beside it
PERSON_ERROR = 0.3  # m, standard deviation of where a detector places somebody below
NEARLY_EMPTY = 0.069  # share, below that at which the governor lands


@dataclass
class Flown:
    """The course of a flight."""

    hit: str = ""  # the thing touched; empty: none
    speed: float = 0.0  # m/s, its own
    closing: float = 0.0  # m/s, against the thing
    at: float = 0.0  # s of the contact, or of the end
    way: float = 0.0  # m
    nearest: float = math.inf  # m, of the body's centre to the surface of what stands in the way, or to the teammate
    over: float = -math.inf  # m, greatest height of the centre above ground beyond ceiling and margin
    seen_height: float = 0.0  # m, the greatest that the governor told
    outside: float = -math.inf  # m beyond the fence
    failed: float = math.inf  # s at which the case's fault began
    held: float = math.inf  # s from then to the first hold
    landed: bool = False

    def failure(self, case: Case) -> str:
        """Returns what failed, in words; empty for nothing."""
        if self.hit:
            return f"touched {self.hit} at {self.speed:.1f} m/s"
        if case.danger == "slope" and self.over > 0.0:
            return f"{self.over:.1f} m above ceiling and margin"
        if case.danger == "creep" and self.outside > 0.0:
            return f"{self.outside:.1f} m outside the fence"
        return ""

    def line(self) -> dict[str, Any]:
        """Returns the values as JSON has them: numbers with three decimals, None for those that are not finite."""
        told = asdict(self)
        for name, value in told.items():
            if isinstance(value, float):
                told[name] = round(value, 3) if math.isfinite(value) else None
        return told

    @staticmethod
    def of(line: dict[str, Any]) -> Flown:
        """Returns the flight of a line."""
        blank = Flown()
        return Flown(**{name: getattr(blank, name) if value is None else value for name, value in line.items()})


class Flyer:
    """A vehicle with its sensors, its mapper, its governor and its planner."""

    def __init__(self, name: str, case: Case, stage: Stage, simulator: LocalSimulator, governed: bool) -> None:
        self.name, self.case, self.things, self.governed = name, case, stage.things, governed
        self.rng = np.random.default_rng([case.seed, 2 if name == OWN else 3])
        self.way, self.kind = _way_of(name, case, stage)
        self._simulator = simulator
        self.rig = load_vehicle().with_image_size(160, 120)
        limits = load_limits().model_copy(update={"speed_horizontal": SPEED})
        context = simulator.context
        self.drone = context.drone(name)
        self.start = start = stage.start if name == OWN or stage.mate is None else stage.mate
        self.drone.armed = True
        self.drone.place(Pose(start))
        client = simulator.connect()
        self.remote = AirSimVehicle(client, name)
        self.remote.take_control()
        self.remote.arm(True)
        self.actuation, self._lidar = Actuation(self.remote), AirSimLidar(client, name)
        self._grid = RangeGrid.of(self.rig.lidar)
        self._error = OdometryError(self.rig.odometry_error, case.seed, name)
        corners = stage.fence * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        self.area = stage.start[:2] + corners
        home = np.array([*stage.home, float(context.world.ground_height(stage.home))])  # where it took off
        self._mapper = Mapper(1.0, self.rig.image.depth_max, 30.0)
        self._mapper.set_area(self.area, home)
        speed = conditions_speed(case.weather.value, HOUR, limits)
        self.site = Site(self.area, stage.ceiling, home, speed=speed)
        self.limits = limits
        mates = [other for other in (OWN, MATE) if other != name] if case.danger == "teammate" else []
        self.governor = Governor(limits, self.site, Team.of(name, mates))
        self._people: list[Vector] = []  # m, map: where a detector has seen somebody
        self._window: OccupancyWindow | None = None
        self.image: RangeImageData | None = None
        self.reported = Pose(start)  # in the map
        self.now = 0.0  # s
        self.failed: float | None = None  # s since the case's fault began
        self.heard: list[OtherVehicle] = []  # newest reports of teammates
        self.told = OtherVehicle(0.0, start, np.zeros(3))  # what it reports itself
        self._ask = planner(self.kind, self)

    def step(self, n: int, failed: float | None) -> SafeCommand:
        """Reads, senses, plans, governs and obeys; failed: s since the case's fault began, None: it has not."""
        case, reading, self.failed = self.case, self.remote.read(), failed
        self.actuation.finish_touch_down(reading)
        self.now = now = reading.ns * 1e-9
        self.reported, velocity = self._estimate(reading, failed)
        if n % 2 == 0:
            self.image = self._scan(failed)
        blind = failed is not None and case.sensing in ("cameras blind", "all blind")
        if n % 20 == 0 and not blind:
            self._look()
        empty = case.danger == "person" and case.kind == "landing"
        charge = (NEARLY_EMPTY if empty else CHARGE) - n * STEP / ENDURANCE
        state: State | None = State(
            now, self.reported, velocity, reading.armed, reading.landed, charge, 0.5, rates=reading.angular_velocity
        )
        if failed is not None and case.sensing == "odometry lost":
            state = None
        self.told = OtherVehicle(now, self.reported.position, velocity)
        command = self._ask()
        answer = self._decide(state, command)
        given = (answer.velocity, answer.yaw_rate) if self.governed else pass_through(command)
        self.actuation.height = answer.height
        if case.kind == "touch-down" and not self.actuation.landing and not reading.landed:
            self.actuation.touch_down(answer.mode, reading.ns)
        self.actuation.obey(reading, answer.mode if self.governed else Mode.NORMAL, given, STEP)
        return answer

    def _decide(self, state: State | None, command: Command) -> SafeCommand:
        """Returns the governor's answer: the one place that knows its inputs."""
        return self.governor.decide(
            state, command, self.image, self._window, self.now,
            touching_down=self.actuation.landing, others=self.heard, people=self._people,
        )  # fmt: skip

    def _estimate(self, reading: VehicleReading, failed: float | None) -> tuple[Pose, Vector]:
        """Returns pose and velocity (m/s) in the map, as the case's odometry reports them."""
        case, estimate = self.case, self._error.estimate(reading.ns, reading.pose, reading.velocity)
        pose = self.remote.odom_in_map.compose(estimate.pose)
        velocity = self.remote.odom_in_map.rotation @ estimate.velocity
        if failed is None:
            return pose, velocity
        if case.sensing == "odometry jumps":
            return Pose(pose.position + [40.0, 0.0, 0.0], pose.quaternion), velocity
        if case.danger == "heading":
            turn = Pose(quaternion=quaternion_from_yaw(math.radians(float(case.size)) * (-1) ** (case.seed % 2)))
            return Pose(pose.position, turn.compose(Pose(quaternion=pose.quaternion)).quaternion), velocity
        if case.danger == "creep":  # backwards, so that the vehicle creeps forwards
            creep = -float(case.size) * self.way
            return Pose(pose.position + failed * creep, pose.quaternion), velocity + creep
        return pose, velocity

    def _scan(self, failed: float | None) -> RangeImageData:
        case, points = self.case, self._lidar.read()
        points = points[self.rng.random(len(points)) < case.beams]
        azimuth = np.arctan2(points[:, 1], points[:, 0])
        if case.danger == "sector":  # of a vehicle that keeps heading east
            half = math.radians(0.5 * float(case.size))
            middle = math.atan2(self.way[1], self.way[0]) + (half + EDGE if case.kind == "edge" else 0.0)
            off = np.abs(np.remainder(azimuth - middle + math.pi, 2.0 * math.pi) - math.pi)
            points = points[off > half]
        elif failed is not None and case.sensing in ("lidar blind", "all blind"):
            points = points[:0]
        elif failed is not None and case.sensing == "sector blind":
            points = points[np.abs(azimuth) > math.radians(30.0)]
        grid, ranges = self._grid, pool_ranges(points, self._grid)
        if failed is not None and case.sensing == "lidar stuck" and self.image is not None:
            ranges = self.image.ranges
        return RangeImageData(
            self.now, self.reported, grid.azimuth_min, grid.azimuth_step, grid.elevation_min, grid.elevation_step,
            grid.range_min, grid.range_max, ranges,
        )  # fmt: skip

    def _look(self) -> None:
        """Takes the cameras' pictures into the map, and what a detector sees in them."""
        taken = self._simulator.images(self.name, segmentation=False, colour=False)
        self._mapper.integrate(taken.placed(round(self.now * 1e9), self.reported, None).frames, self.now)
        self._window = replace(self._mapper.local_window(self.reported.position, 0.0), stamp=self.now)
        if self.case.danger == "person" and self.case.sensing != "detector blind":
            seen_from = self.reported.position - self.drone.position  # odometry's error moves what is seen as well
            error = self.rng.normal(0.0, PERSON_ERROR, 3)
            self._people = [thing.pose.position + seen_from + error for thing in self.things]


def _way_of(name: str, case: Case, stage: Stage) -> tuple[Vector, str]:
    """Returns the direction (3,) of a vehicle's way and its planner's kind."""
    if name == OWN:
        return stage.way, case.kind
    across = np.array([-stage.way[1], stage.way[0], 0.0])
    return {
        "head-on": (-stage.way, "head-on"),
        "crossing": (-across, "crossing"),
        "following": (stage.way, "slowly"),
        "turning back": (stage.way, "slowly, then back"),
    }[case.kind]


class Flight:
    """The flight of one case."""

    def __init__(self, case: Case, place: PlaceMap, governed: bool) -> None:
        self.case, rng = case, np.random.default_rng([case.seed, 1])
        names = (OWN, MATE) if case.danger == "teammate" else (OWN,)
        self.simulator = LocalSimulator(place, case.seed, load_vehicle().with_image_size(160, 120), names)
        self._world = self.simulator.context.world
        self._clock = self.simulator.connect()
        self._stage = set_stage(case, self._world, rng)
        heading = rng.uniform(-math.pi, math.pi)
        if case.danger == "slope":  # off the slope, or along it
            heading = math.atan2(self._stage.way[1], self._stage.way[0]) + rng.uniform(-0.5, 0.5) * math.pi
        wind = case.wind * np.array([math.cos(heading), math.sin(heading), 0.0])
        self._world.environment = self._world.environment.changed(0.0, weather=case.weather, wind=wind)
        self._flyers = [Flyer(name, case, self._stage, self.simulator, governed) for name in names]
        self._fails_at = self._begin_of_fault(rng)
        self._strike = rng.uniform(9.5, 13.0) if case.danger == "heading" else rng.uniform(0.4, 0.75)

    def _begin_of_fault(self, rng: np.random.Generator) -> float:
        """Returns when the case's fault begins (s); inf: never, or where the vehicle then is decides."""
        if self.case.danger == "creep":
            return float(rng.uniform(0.0, 2.0))
        if self.case.sensing not in FAULTS:
            return math.inf
        return float(rng.uniform(0.2, 0.8)) * self.case.seconds

    def fly(self) -> Flown:
        """Flies and returns how it went; a contact ends it."""
        self._clock.call("simContinueForTime", STEP)
        own, flown = self._flyers[0], Flown()
        contacts = own.drone.collision.count
        first = self._gap()
        for n in range(round(self.case.seconds / STEP)):
            flown.at = n * STEP
            self._strike_if_near(flown.at, first)
            failed = flown.at - self._fails_at if flown.at >= self._fails_at else None
            self._hear(failed is not None)
            for flyer in self._flyers:
                answer = flyer.step(n, failed)
                if flyer is own:
                    self._note(flown, answer)
            before = [flyer.drone.velocity.copy() for flyer in self._flyers]
            self._clock.call("simContinueForTime", STEP)
            flown.way += STEP * float(np.linalg.norm(own.drone.velocity))
            flown.nearest = min(flown.nearest, self._gap())
            flown.hit = self._touched(contacts)
            if flown.hit:
                flown.speed = float(np.linalg.norm(before[0]))
                flown.closing = float(np.linalg.norm(before[0] - (before[1] if flown.hit == MATE else 0.0)))
                break
            flown.landed = own.drone.grounded and not own.drone.armed
            if flown.landed:
                break
        flown.failed = self._fails_at
        return flown

    def _gap(self) -> float:
        """Returns the distance (m) to what stands in the way, or to the teammate."""
        own, *others = self._flyers
        if others:
            return float(np.linalg.norm(own.drone.position - others[0].drone.position))
        return nearest_gap(self._stage.things, own.drone.position)

    def _strike_if_near(self, now: float, first: float) -> None:
        """Begins a fault that strikes at a distance from what is in the way."""
        case = self.case
        silent = case.danger == "teammate" and case.size == "falls silent" and self._gap() < self._strike * first
        turned = case.danger == "heading" and self._gap() < self._strike
        if math.isinf(self._fails_at) and (silent or turned):
            self._fails_at = now

    def _hear(self, silent: bool) -> None:
        """Lets the vehicles hear each other's last report; a radio that is silent may still hear."""
        silent = silent or self.case.size == "never heard"
        if len(self._flyers) > 1:
            one, other = self._flyers
            if not silent:
                one.heard = [other.told]
            if not silent or self.case.seed % 2:
                other.heard = [one.told]

    def _note(self, flown: Flown, answer: SafeCommand) -> None:
        """Notes height, fence and holds."""
        own, position = self._flyers[0], self._flyers[0].drone.position
        height = float(position[2] - self._world.ground_height(position[:2]))
        flown.over = max(flown.over, height - own.site.ceiling - own.limits.ceiling_margin)
        flown.seen_height = max(flown.seen_height, answer.height or 0.0)
        flown.outside = max(flown.outside, own.site.outside(position))
        if flown.at >= self._fails_at and answer.mode >= Mode.HOLD and math.isinf(flown.held):
            flown.held = flown.at - self._fails_at

    def _touched(self, contacts: int) -> str:
        """Returns the name of what the vehicle has touched; empty for nothing."""
        drone = self._flyers[0].drone
        if self.case.danger == "person" and self._gap() < drone.radius + TOUCHED:
            return "person"
        if drone.collision.count <= contacts:
            return ""
        found = drone.collision.object_id
        is_vehicle = len(self._flyers) > 1 and found == VEHICLE_ID_BASE + 1
        return MATE if is_vehicle else self._world.name_of(found)


def fly_case(case: Case, place: PlaceMap, governed: bool) -> Flown:
    """Returns how a case's flight went."""

    async def flight() -> Flown:  # a loop must be running for the simulator's motions
        one = Flight(case, place, governed)
        try:
            return one.fly()
        finally:
            one.simulator.close()

    return asyncio.run(flight())
