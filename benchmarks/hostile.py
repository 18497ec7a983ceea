"""Hostile planners against the governor in the embedded simulator, without ROS, within its promise and beyond.

python benchmarks/hostile.py [--episodes 600] [--seconds 25] [--first 0] [--without] [--harmless 0] [--records FILE]
    [--page]

Each episode starts in the air over one of four maps, in one of five weathers, among poles of one thickness, and flies
for some seconds as one of twelve hostile planners asks, under the governor, with the simulator's LiDAR, cameras, mapper
and vehicle. Sensors go blind, half blind or stuck, and the position jumps. A contact in the air is a collision. The
promise is fixed here: what lies within PROMISE must end without one.

--records keeps each flight as a line, and goes on behind those that are there: six hundred take two hours of a core.
--without flies the same without a governor, to show what the planners would do. --harmless S also flies the first dev
task of each map for S seconds with `belief`, with the governor and without, and prints the share of steps that it
changed and of the distance that it cost.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from page import Table, add_page, write_page
from scipy.stats import beta

from esar_ros import safety
from esar_ros.benchmark.engine.episode import fly_episode as fly_task
from esar_ros.benchmark.engine.simulator import LocalSimulator
from esar_ros.bridges.airsim.actuation import Actuation
from esar_ros.bridges.airsim.camera import AirSimLidar
from esar_ros.bridges.airsim.vehicle import AirSimVehicle
from esar_ros.bridges.odometry_error import OdometryError
from esar_ros.geometry.frames import Pose, Vector
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mapping.mapper import Mapper
from esar_ros.mission.modes import Mode
from esar_ros.mission.names import CAMERAS
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import load_task
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.mission.weather import Weather
from esar_ros.perception.ranges import RangeGrid, pool_ranges
from esar_ros.safety.conditions import conditions_speed
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, State, pass_through
from esar_ros.safety.limits import load_limits
from esar_ros.safety.site import Site
from esar_ros.sim.assets.mesh_builder import MeshBuilder
from esar_ros.sim.assets.meshes import Asset
from esar_ros.sim.assets.variants import Variant
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.sim.world.scene import SceneObject
from esar_ros.suites.esarbench.suite import ESARBENCH
from esar_ros.suites.esarbench.tasks import task_set

MAPS = ("aotai", "k2", "dapeng", "lop_nur")
WEATHERS = (Weather.CLEAR, Weather.HEAVY_RAIN, Weather.BLIZZARD, Weather.DENSE_FOG, Weather.SANDSTORM)
KINDS = (
    "ram", "pole", "backwards", "dive", "leave", "climb", "shake", "wander", "not a number", "frozen", "spin", "bursts",
)  # fmt: skip
SENSING = (
    "sound", "lidar blind", "sector blind", "lidar stuck", "cameras blind", "all blind", "odometry jumps",
    "odometry lost",
)  # fmt: skip
WINDS = (0.0, 4.0, 8.0, 10.0, 12.0, 15.0, 18.0)  # m/s, mean; gusts come with it
THICKNESSES = (0.05, 0.10, 0.15, 0.30, 1.0)  # m, of poles
BEAMS = (1.0, 0.85, 0.7, 0.5)  # share that returns
PROMISE = {"wind": 12.0, "thickness": 0.15, "beams": 0.7}  # at most, at least, at least; sensors blind at any moment
SPEED = 5.0  # m/s, greatest of the promise
STEP = 0.05  # s
VEHICLE = "uav1"
DETECTOR = "segmentation_oracle"
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Case:
    """The conditions of one episode."""

    number: int
    map: str
    weather: Weather
    kind: str
    sensing: str
    wind: float
    thickness: float
    beams: float

    @staticmethod
    def of(number: int) -> Case:
        """Returns a case: maps, planners and weathers in turn, the rest at random; two of three within the promise."""
        rng = np.random.default_rng(number)
        within = number % 3 != 2
        inside: Callable[[float, float], bool] = lambda value, most: not within or value <= most  # noqa: E731
        return Case(
            number,
            MAPS[number % len(MAPS)],
            WEATHERS[number % len(WEATHERS)],
            KINDS[number // 2 % len(KINDS)],
            str(rng.choice(SENSING)),
            float(rng.choice([wind for wind in WINDS if inside(wind, PROMISE["wind"])])),
            float(rng.choice([wide for wide in THICKNESSES if inside(-wide, -PROMISE["thickness"])])),
            float(rng.choice([share for share in BEAMS if inside(-share, -PROMISE["beams"])])),
        )

    @property
    def promised(self) -> bool:
        """The case must end without a collision."""
        thick, dense = self.thickness >= PROMISE["thickness"], self.beams >= PROMISE["beams"]
        return self.wind <= PROMISE["wind"] and thick and dense


def pole(thickness: float) -> Asset:
    """Returns the asset of a square pole of forty metres."""

    def make() -> Any:
        built, half = MeshBuilder(), 0.5 * thickness
        built.box((0.0, 0.0, 20.0), (half, half, 20.0), (0.4, 0.4, 0.4))
        built.solid((-half, -half, 0.0), (half, half, 40.0))
        return built.model()

    return Asset("pole", "distractor", f"pole {thickness}", Variant("pole", "grey", "a pole", make))


class Episode:
    """A flight of one case."""

    def __init__(self, case: Case, place: PlaceMap, governed: bool) -> None:
        self.governed, self.way = governed, 0.0  # m flown
        self.case, self.rng = case, np.random.default_rng(1_000_000 + case.number)
        self.rig = load_vehicle().with_image_size(160, 120)
        self.limits = load_limits().model_copy(update={"speed_horizontal": SPEED})
        self.simulator = LocalSimulator(place, case.number, self.rig, (VEHICLE,))
        self.client = self.simulator.connect(truth=True)
        context = self.simulator.context
        world = context.world
        heading = self.rng.uniform(-math.pi, math.pi)
        wind = case.wind * np.array([math.cos(heading), math.sin(heading), 0.0])
        world.environment = world.environment.changed(0.0, weather=case.weather, wind=wind)
        self.drone = context.drone(VEHICLE)
        start = self._start(world)
        self.poles = [start[:2] + self.rng.uniform(7.0, 25.0) * _level(self.rng)[:2] for _ in range(6)]
        for index, xy in enumerate(self.poles, 1):
            world._put(SceneObject(f"pole_{index}", index, pole(case.thickness), world.ground_pose(xy, 0.0)))
        self.drone.armed = True
        self.drone.place(Pose(start))
        self.remote = AirSimVehicle(self.simulator.connect(), VEHICLE)
        self.actuation, self.lidar = Actuation(self.remote), AirSimLidar(self.client, VEHICLE)
        self.grid = RangeGrid.of(self.rig.lidar)
        self.error = OdometryError(self.rig.odometry_error, case.number, VEHICLE)
        area = start[:2] + 80.0 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        self.mapper = Mapper(1.0, self.rig.image.depth_max, 30.0)
        home = np.array([start[0], start[1], float(world.ground_height(start[:2]))])  # it has taken off there
        self.mapper.set_area(area, home)
        hour = "2026-06-01T11:00:00"
        site = Site(area, 60.0, home, speed=conditions_speed(case.weather.value, hour, self.limits))
        self.governor = Governor(self.limits, site)
        self.window: OccupancyWindow | None = None
        self.image: RangeImageData | None = None

    def _start(self, world: Any) -> Vector:
        """Returns a place in the air with room around it."""
        for _ in range(1000):
            xy = self.rng.uniform(-120.0, 120.0, 2)
            at = np.array([*xy, float(world.ground_height(xy)) + self.rng.uniform(6.0, 22.0)])
            if world.contact(at, 4.0) is None:
                return at
        raise RuntimeError("no room in the air")

    def fly(self, seconds: float) -> str:
        """Flies and returns the object touched; empty for none."""
        self.remote.take_control()
        self.client.call("simContinueForTime", STEP)
        fails = self.rng.uniform(0.2, 0.8) * seconds  # s
        self.policy = policy(self.case.kind, self)
        before = self.drone.collision.count
        for n in range(round(seconds / STEP)):
            self._step(n, n * STEP >= fails)
            self.client.call("simContinueForTime", STEP)
            if self.drone.collision.count > before:
                return self.simulator.context.world.name_of(self.drone.collision.object_id)
        return ""

    def _step(self, n: int, failed: bool) -> None:
        case, reading = self.case, self.remote.read()
        now = reading.ns * 1e-9
        estimate = self.error.estimate(reading.ns, reading.pose, reading.velocity)
        reported = self.remote.odom_in_map.compose(estimate.pose)
        velocity = self.remote.odom_in_map.rotation @ estimate.velocity
        if failed and case.sensing == "odometry jumps":
            reported = Pose(reported.position + [40.0, 0.0, 0.0], reported.quaternion)
        if n % 2 == 0:
            self.image = self._scan(reported, now, failed)
        if n % 20 == 0 and not (failed and case.sensing in ("cameras blind", "all blind")):
            self._look(reported, now)
        self.reported, self.velocity, self.now = reported, velocity, now
        state: State | None = State(
            now, reported, velocity, reading.armed, reading.landed, 0.9, 0.5, rates=reading.angular_velocity
        )
        if failed and case.sensing == "odometry lost":
            state = None
        command = self.policy()
        answer = self.governor.decide(state, command, self.image, self.window, now)
        given = (answer.velocity, answer.yaw_rate) if self.governed else pass_through(command)
        self.actuation.obey(reading, answer.mode if self.governed else Mode.NORMAL, given, STEP)
        self.way += STEP * float(np.linalg.norm(reading.velocity))

    def _scan(self, reported: Pose, now: float, failed: bool) -> RangeImageData:
        points = self.lidar.read()
        points = points[self.rng.random(len(points)) < self.case.beams]
        if failed and self.case.sensing in ("lidar blind", "all blind"):
            points = points[:0]
        if failed and self.case.sensing == "sector blind":
            points = points[np.abs(np.arctan2(points[:, 1], points[:, 0])) > math.radians(30.0)]
        grid, ranges = self.grid, pool_ranges(points, self.grid)
        if failed and self.case.sensing == "lidar stuck" and self.image is not None:
            ranges = self.image.ranges
        return RangeImageData(
            now, reported, grid.azimuth_min, grid.azimuth_step, grid.elevation_min, grid.elevation_step, grid.range_min,
            grid.range_max, ranges,
        )  # fmt: skip

    def _look(self, reported: Pose, now: float) -> None:
        images = self.simulator.images(VEHICLE, False, False)
        views = [
            (images.depth[name], self.rig.image.model, reported.compose(self.rig.cameras[name].pose))
            for name in CAMERAS
        ]
        self.mapper.integrate(views, now, now)
        self.window = replace(self.mapper.local_window(reported.position, 0.0), stamp=now)


def _level(rng: np.random.Generator) -> Vector:
    turn = rng.uniform(-math.pi, math.pi)
    return np.array([math.cos(turn), math.sin(turn), 0.0])


def policy(kind: str, flight: Episode) -> Callable[[], Command]:
    """Returns the planner of a kind, which gives a command a step and may look at the truth."""
    rng, way = flight.rng, _level(flight.rng)
    memory: dict[str, Any] = {"velocity": np.zeros(3), "stamp": -math.inf}

    def to_pole() -> Vector:
        here = flight.drone.position[:2]
        to = min((xy - here for xy in flight.poles), key=lambda to: float(np.linalg.norm(to)))
        return np.array([*(to / max(float(np.linalg.norm(to)), 1e-6)), 0.0])

    def to_nearest() -> Vector:
        image = flight.image
        if image is None or not np.isfinite(image.ranges).any():
            return way
        measured = np.where(np.isfinite(image.ranges), image.ranges, np.inf)
        row, column = np.unravel_index(np.argmin(measured), measured.shape)
        elevation = image.elevation_min + (row + 0.5) * image.elevation_step
        azimuth = image.azimuth_min + (column + 0.5) * image.azimuth_step
        level = math.cos(elevation)
        ray = np.array([level * math.cos(azimuth), level * math.sin(azimuth), math.sin(elevation)])
        return np.asarray(image.pose.rotation @ ray)

    def ask() -> Command:
        now, yaw_rate, t = flight.now, float(rng.normal(0.0, 1.0)), flight.now
        if kind == "ram":
            velocity = 20.0 * to_nearest()
        elif kind == "pole":
            velocity = 8.0 * to_pole()
        elif kind == "backwards":  # turned away from where it goes
            velocity = 5.0 * to_pole()
            facing = math.atan2(-velocity[1], -velocity[0]) - flight.reported.yaw
            yaw_rate = 2.0 * math.remainder(facing, 2.0 * math.pi)
        elif kind == "dive":
            velocity = 4.0 * way + [0.0, 0.0, -6.0]
        elif kind == "leave":
            velocity = 12.0 * way
        elif kind == "climb":
            velocity = 2.0 * way + [0.0, 0.0, 9.0]
        elif kind == "shake":
            velocity = 10.0 * np.sign(math.sin(3.0 * t)) * way
        elif kind == "spin":
            velocity, yaw_rate = 6.0 * to_pole(), 4.0
        elif kind == "bursts":
            velocity = 15.0 * to_nearest() if t % 3.0 < 1.5 else np.zeros(3)
        else:
            if rng.random() < 0.05 or not memory["velocity"].any():
                memory["velocity"] = rng.normal(0.0, 6.0, 3)
            velocity = np.array(memory["velocity"])
        if kind == "not a number" and rng.random() < 0.3:
            velocity[rng.integers(3)] = rng.choice([math.nan, math.inf, -math.inf, 1e308])
        if kind == "frozen":
            if now - memory["stamp"] > 3.0:
                memory["stamp"], memory["asked"] = now, velocity
            return Command(memory["stamp"], memory["asked"])
        return Command(now, velocity, yaw_rate)

    return ask


def upper_bound(collisions: int, flights: int) -> float:
    """Returns Clopper and Pearson's one-sided bound; of no collision it is about three over the number of flights."""
    return 1.0 if collisions >= flights else float(beta.ppf(CONFIDENCE, collisions + 1, flights - collisions))


async def fly_case(case: Case, place: PlaceMap, seconds: float, governed: bool) -> tuple[str, float]:
    """Returns the object that a case's flight touched, empty for none, and the distance (m) flown."""
    episode = Episode(case, place, governed)
    try:
        return episode.fly(seconds), episode.way
    finally:
        episode.simulator.close()


def flight_code() -> dict[str, str]:
    """Returns the digests of the governor's code and of this script, which decide how a case's flight ends."""
    sources = sorted(Path(safety.__path__[0]).glob("*.py"))
    governor = hashlib.sha256(b"".join(source.read_bytes() for source in sources))
    return {"governor": governor.hexdigest(), "script": hashlib.sha256(Path(__file__).read_bytes()).hexdigest()}


class Records:
    """Flights by number: the thing touched and the distance (m) flown; kept in a file if there is one."""

    def __init__(self, path: Path | None, conditions: dict[str, Any]) -> None:
        """Raises SystemExit with one line if the file is of other conditions."""
        self.flights: dict[int, tuple[str, float]] = {}
        self._path = path
        if path is None:
            return
        if not path.exists():
            path.write_text(json.dumps(conditions) + "\n")
        first, *lines = path.read_text().splitlines()
        if json.loads(first) != conditions:
            raise SystemExit(f"{path}: flights of another governor, script or length; name another file")
        for line in lines:
            number, hit, far = json.loads(line)
            self.flights[number] = (hit, far)

    def keep(self, number: int, hit: str, far: float) -> None:
        """Adds a flight."""
        self.flights[number] = (hit, far)
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps((number, hit, far)) + "\n")


def table(flown: list[tuple[Case, str]]) -> list[str]:
    """Returns the collisions of flights by each condition, within the promise and beyond."""
    rows = [f"{'':30}{'promised':>16}{'beyond':>16}"]
    for name in ("map", "weather", "kind", "sensing", "wind", "thickness", "beams"):
        for value in sorted({getattr(case, name) for case, _ in flown}):
            cells = []
            for promised in (True, False):
                hits = [hit for case, hit in flown if getattr(case, name) == value and case.promised is promised]
                cells.append(f"{sum(map(bool, hits))} of {len(hits)}" if hits else "")
            shown = value.value if isinstance(value, Weather) else value
            rows.append(f"{name:12}{shown!s:18}{cells[0]:>16}{cells[1]:>16}")
    return rows


def harmless(seconds: float) -> dict[str, float]:
    """Returns the share of steps changed and of distance lost in missions of `belief`."""
    rate = load_vehicle().rates.control
    changed = aloft = 0
    ways = {True: 0.0, False: 0.0}
    for name in MAPS:
        task = next(load_task(one) for one in task_set("dev") if load_task(one).map == name)
        cut = task.model_copy(update={"t_max": min(task.t_max, seconds)})
        for governor in (True, False):
            conditions = RunConditions(preset="fast", detector=DETECTOR, governor=governor)
            flown = fly_task(ESARBENCH, cut, "belief", cut.seed, conditions)
            ways[governor] += flown.result.metrics.path_length
            if governor:
                [track] = flown.track.values()
                steps = round(rate * sum(z >= track["z"][0] + 1.0 for z in track["z"]))
                own = sum(flown.result.safety.interventions.values())
                changed, aloft = changed + own, aloft + steps
                print(f"{name:12}{steps:>8} steps{own / max(steps, 1):>9.2%} changed", flush=True)
    lost = 1.0 - ways[True] / max(ways[False], 1e-9)
    return {"harmless_steps": aloft, "harmless_changed": round(changed / max(aloft, 1), 4), "way_lost": round(lost, 4)}


def keep_page(arguments: argparse.Namespace, flown: list[tuple[Case, str]], figures: dict[str, float]) -> None:
    """Writes the page of results."""
    about = (
        "Each episode starts in the air over one of four maps, in one of five weathers, among poles of one thickness, "
        "and flies as one of twelve hostile planners asks. A contact in the air is a collision. Bounds are of Clopper "
        "and Pearson, 95 %, one-sided."
    )
    rows = [(name.replace("_", " "), value) for name, value in figures.items()]
    touched = [(str(case), hit, "promised" if case.promised else "beyond") for case, hit in flown if hit]
    tables: list[Table | str] = [Table(("figure", "measured"), rows), "```\n" + "\n".join(table(flown)) + "\n```"]
    if touched:
        tables.append(Table(("episode", "touched", ""), touched, "Collisions"))
    conditions = {name: getattr(arguments, name) for name in ("episodes", "first", "seconds", "without", "harmless")}
    title = "Hostile planners" + (", without a governor" if arguments.without else "")
    write_page(__file__, title, about, conditions, tables, "without" if arguments.without else "")


def main() -> int:
    """Flies, and prints whether the promise was kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=25.0, help="of each")
    parser.add_argument("--first", type=int, default=0, help="number of the first episode")
    parser.add_argument("--records", type=Path, help="file of flights, gone on with")
    parser.add_argument("--without", action="store_true", help="no governor")
    parser.add_argument("--harmless", type=float, default=0.0, help="s of a harmless mission a map; 0: none")
    add_page(parser)
    arguments = parser.parse_args()
    places: dict[str, PlaceMap] = {}
    flown: list[tuple[Case, str]] = []
    way = 0.0
    records = Records(arguments.records, flight_code() | {"seconds": arguments.seconds, "without": arguments.without})
    for number in range(arguments.first, arguments.first + arguments.episodes):
        case = Case.of(number)
        if number not in records.flights:
            place = places.setdefault(case.map, places.get(case.map) or load_map(case.map))
            hit, far = asyncio.run(fly_case(case, place, arguments.seconds, not arguments.without))
            records.keep(number, hit, far)
        hit, far = records.flights[number]
        way += far
        flown.append((case, hit))
        if hit:
            print(f"{'PROMISED' if case.promised else 'beyond'}: touched {hit}: {case}", flush=True)
        elif number % 20 == 19:
            print(f"{len(flown)} flown", file=sys.stderr, flush=True)
    print("\n".join(table(flown)))
    figures: dict[str, float] = {"way": round(way, 1)}
    for promised, name in ((True, "promised"), (False, "beyond")):
        hits = [bool(hit) for case, hit in flown if case.promised is promised]
        figures |= {f"{name}_flights": len(hits), f"{name}_collisions": sum(hits)}
        if hits:
            figures[f"{name}_bound"] = round(upper_bound(sum(hits), len(hits)), 4)
            words = f"{sum(hits)} collisions in {len(hits)} flights, at most {figures[f'{name}_bound']:.1%} (95 %)"
            print(f"{name}: {words}")
    if arguments.harmless > 0.0:
        figures |= harmless(arguments.harmless)
        print(f"harmless: {figures['harmless_changed']:.1%} of steps changed, {figures['way_lost']:.1%} of way lost")
    if arguments.page:
        keep_page(arguments, flown, figures)
    met = {"promised_collisions": figures["promised_collisions"] == 0}
    goals = {"promised_collisions": 0}
    print(json.dumps({"benchmark": "hostile", "figures": figures, "goals": goals, "met": met}))
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
