"""Two vehicles that fly at each other while one does not hear the other, in the embedded simulator, without ROS.

python benchmarks/teammates.py [--flights 5] [--seconds 25]

Each has a governor, the simulator's LiDAR, wind and vehicle, and is asked to fly to where the other will be: head-on,
crossing, and following one that stops. Reports end when one is left as far from the other as it needs some seconds for,
or never come; one of them hears nothing, or both. Prints the flights that ended in a contact, its speed, and the
smallest distance. The map is taken to be free, which in this open air it is, so that only reports and LiDAR part them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
from dataclasses import dataclass

import numpy as np

from esar_ros.benchmark.engine.simulator import LocalSimulator
from esar_ros.bridges.airsim.actuation import Actuation
from esar_ros.bridges.airsim.camera import AirSimLidar
from esar_ros.bridges.airsim.vehicle import AirSimVehicle
from esar_ros.bridges.odometry_error import OdometryError
from esar_ros.geometry.frames import Pose, Vector
from esar_ros.geometry.occupancy_window import FREE, OccupancyWindow
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.ranges import RangeGrid, pool_ranges
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, State
from esar_ros.safety.limits import load_limits
from esar_ros.safety.site import Site
from esar_ros.safety.traffic import OtherVehicle, Team
from esar_ros.sim.physics.simulation import VEHICLE_ID_BASE
from esar_ros.sim.terrain.maps import PlaceMap, load_map

MAP = "lop_nur"
MEETINGS = ("head-on", "crossing", "following")
SILENCES = ("one falls silent", "both fall silent", "one never heard", "neither heard")
SPEED = 5.0  # m/s, asked for
STEP = 0.05  # s
HALF = 40.0  # m from the meeting point at the start
VEHICLES = ("uav1", "uav2")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a flight: closing speed (m/s) of the first contact, None without one; least distance (m)."""

    speed: float | None
    nearest: float


class Flyer:
    """One vehicle with its governor and sensors."""

    def __init__(self, flight: Flight, name: str, start: Vector) -> None:
        simulator = flight.simulator
        self.name, self.drone = name, simulator.context.drone(name)
        self.drone.armed = True
        self.drone.place(Pose(start))
        self.remote = AirSimVehicle(simulator.connect(), name)
        self.actuation, self.lidar = Actuation(self.remote), AirSimLidar(simulator.connect(truth=True), name)
        self.error = OdometryError(flight.rig.odometry_error, flight.seed, name)
        site = Site(flight.fence, 120.0, flight.home)
        self.governor = Governor(flight.limits, site, Team(VEHICLES.index(name), len(VEHICLES)))
        self.image: RangeImageData | None = None
        self.heard: OtherVehicle | None = None

    def sense(self, n: int, flight: Flight) -> None:
        """Reads state and ranges of step n."""
        self.reading = self.remote.read()
        self.now = self.reading.ns * 1e-9
        estimate = self.error.estimate(self.reading.ns, self.reading.pose, self.reading.velocity)
        self.pose = self.remote.odom_in_map.compose(estimate.pose)
        self.velocity = self.remote.odom_in_map.rotation @ estimate.velocity
        if n % 2 == 0:
            grid = flight.grid
            self.image = RangeImageData(
                self.now, self.pose, grid.azimuth_min, grid.azimuth_step, grid.elevation_min, grid.elevation_step,
                grid.range_min, grid.range_max, pool_ranges(self.lidar.read(), grid),
            )  # fmt: skip

    def obey(self, asked: Vector) -> None:
        """Flies what the governor makes of a velocity (m/s, map)."""
        cells = np.full((64, 64, 64), FREE, dtype=np.uint8)
        window = OccupancyWindow(np.floor(self.pose.position) - 32.0, 1.0, cells, self.now)
        window.cells[:, :, : max(0, int(self.drone.world.ground_height(self.pose.position[:2]) - window.origin[2]))] = 0
        reading = self.reading
        state = State(self.now, self.pose, self.velocity, reading.armed, reading.landed, 0.9, 0.5)
        others = () if self.heard is None else (self.heard,)
        command = Command(self.now, asked)
        answer = self.governor.decide(state, command, self.image, window, self.now, others=others)
        self.actuation.obey(reading, answer.mode, (answer.velocity, answer.yaw_rate), STEP)


class Flight:
    """One meeting of two vehicles."""

    def __init__(self, place: PlaceMap, meeting: str, silence: str, seed: int) -> None:
        self.meeting, self.silence, self.seed = meeting, silence, seed
        self.rng = rng = np.random.default_rng([seed, MEETINGS.index(meeting)])
        self.rig, self.limits = load_vehicle(), load_limits()
        self.grid = RangeGrid.of(self.rig.lidar)
        self.simulator = LocalSimulator(place, seed, self.rig, VEHICLES)
        world = self.simulator.context.world
        heading = rng.uniform(-math.pi, math.pi)
        wind = rng.uniform(0.0, 6.0) * np.array([math.cos(heading), math.sin(heading), 0.0])
        world.environment = world.environment.changed(0.0, wind=wind)
        self.middle = self._open_air(world)
        self.home = np.array([*(self.middle[:2] + 100.0), float(world.ground_height(self.middle[:2] + 100.0))])
        self.fence = self.middle[:2] + 250.0 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        bearing = rng.uniform(-math.pi, math.pi)
        turn = {"head-on": math.pi, "crossing": math.pi / 2, "following": 0.0}[meeting]
        self.ways = [np.array([math.cos(b), math.sin(b), 0.0]) for b in (bearing, bearing + turn)]
        ahead = (0.0, 0.4) if meeting == "following" else (0.0, 0.0)  # the second goes first
        self.flyers = [
            Flyer(self, name, self.middle - (1.0 - far) * HALF * way)
            for name, way, far in zip(VEHICLES, self.ways, ahead, strict=True)
        ]
        self.quiet_within = rng.uniform(12.0, 30.0)  # m apart

    def _open_air(self, world) -> Vector:  # type: ignore[no-untyped-def]
        for _ in range(1000):
            xy = self.rng.uniform(-150.0, 150.0, 2)
            at = np.array([*xy, float(world.ground_height(xy)) + self.rng.uniform(15.0, 30.0)])
            if world.contact(at, 12.0) is None:
                return at
        raise RuntimeError("no room in the air")

    def fly(self, seconds: float) -> Outcome:
        """Flies until a contact or the end."""
        client, (one, two) = self.simulator.connect(), self.flyers
        for flyer in self.flyers:
            flyer.remote.take_control()
        client.call("simContinueForTime", STEP)
        nearest, silent, speed = math.inf, self.silence.endswith("heard"), 0.0
        for n in range(round(seconds / STEP)):
            gap = float(np.linalg.norm(one.drone.position - two.drone.position))
            nearest = min(nearest, gap)
            silent = silent or gap < self.quiet_within
            for flyer in self.flyers:
                flyer.sense(n, self)
            for flyer, other in ((one, two), (two, one)):
                deaf = silent and (flyer is one or not self.silence.startswith("one"))
                if not deaf:
                    flyer.heard = OtherVehicle(other.now, other.pose.position, other.velocity)
            for flyer, asked in zip(self.flyers, self._asked(n * STEP), strict=True):
                flyer.obey(asked)
            speed = float(np.linalg.norm(one.drone.velocity - two.drone.velocity))
            before = [flyer.drone.collision.count for flyer in self.flyers]
            client.call("simContinueForTime", STEP)
            for flyer, count in zip(self.flyers, before, strict=True):
                hit = flyer.drone.collision
                if hit.count > count and hit.object_id in range(VEHICLE_ID_BASE, VEHICLE_ID_BASE + 2):
                    return Outcome(speed, nearest)
        return Outcome(None, nearest)

    def _asked(self, t: float) -> list[Vector]:
        """Returns the velocity (m/s, map) that each is asked for."""
        one, two = (flyer.drone.position for flyer in self.flyers)
        to = two - one
        chase = SPEED * to / max(float(np.linalg.norm(to)), 1e-6)
        if self.meeting == "head-on":
            return [chase, -chase]
        if self.meeting == "following":
            return [chase, 2.0 * self.ways[1] if t < 4.0 else np.zeros(3)]
        return [SPEED * way for way in self.ways]


async def fly(place: PlaceMap, meeting: str, silence: str, seed: int, seconds: float) -> Outcome:
    """Returns what a flight came to."""
    flight = Flight(place, meeting, silence, seed)
    try:
        return flight.fly(seconds)
    finally:
        flight.simulator.close()


def main() -> int:
    """Flies and counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flights", type=int, default=5, help="of each kind")
    parser.add_argument("--seconds", type=float, default=25.0, help="of each")
    arguments = parser.parse_args()
    place = load_map(MAP)
    contacts, total, fastest = 0, 0, 0.0
    print(f"{'meeting':12}{'reports':20}{'contacts':>10}   {'m/s at contact':24}least distance, m")
    for silence in SILENCES:
        for meeting in MEETINGS:
            flown = [
                asyncio.run(fly(place, meeting, silence, seed, arguments.seconds)) for seed in range(arguments.flights)
            ]
            speeds = [one.speed for one in flown if one.speed is not None]
            contacts, total, fastest = contacts + len(speeds), total + len(flown), max([fastest, *speeds])
            words = ", ".join(f"{speed:.1f}" for speed in speeds) or "-"
            nearest = ", ".join(f"{one.nearest:.1f}" for one in flown)
            print(f"{meeting:12}{silence:20}{f'{len(speeds)} of {len(flown)}':>10}   {words:24}{nearest}", flush=True)
    figures = {"flights": total, "contacts": contacts, "fastest_contact": round(fastest, 2)}
    met = {"contacts": contacts == 0}
    print(json.dumps({"benchmark": "teammates", "figures": figures, "goals": {"contacts": 0}, "met": met}))
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
