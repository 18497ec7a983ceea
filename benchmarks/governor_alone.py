"""The governor alone under a planner that walks at random through a forest: contacts, and what it costs.

python benchmarks/governor_alone.py [--minutes 60] [--flights 24] [--map aotai] [--seed S] [--live 60] [--page]

First, stepped: a planner that knows nothing asks for a new velocity every few seconds, in any direction, up to twice
the governor's speed, and now and then is silent. The governor has what `esar governor` gives it: a LiDAR, odometry with
an estimator's errors, no map of any kind. The embedded simulator's vehicle follows velocities as slowly as PX4. Each
flight has places and commands of its own. Then, live: `esar governor` as its processes in real time between such a
planner, the LiDAR of the same forest and the fake autopilot: processor, memory, and the time from a command to PX4's
set-point. With --px4 BUILD --agent PROGRAM the live part alone, on PX4 itself.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from governor_alone_live import fly_live
from page import ROOT, Table, add_page, end_with, goal_table, write_page
from px4_firmware import version

from esar_ros.benchmark.engine.simulator import LocalSimulator
from esar_ros.bridges.airsim.actuation import Actuation
from esar_ros.bridges.airsim.camera import AirSimLidar
from esar_ros.bridges.airsim.vehicle import AirSimVehicle
from esar_ros.bridges.odometry_error import OdometryError
from esar_ros.flight.foreign_command import BODY, ForeignCommand
from esar_ros.geometry.frames import Pose, Vector, quaternion_from_yaw
from esar_ros.mission.errors import UsageError
from esar_ros.mission.modes import Reason
from esar_ros.mission.vehicle import Vehicle, load_vehicle
from esar_ros.nodes.graph.governor import GovernorOptions
from esar_ros.nodes.graph.mission import PX4_TAU
from esar_ros.perception.ranges import RangeGrid, pool_ranges
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, State
from esar_ros.safety.limits import load_limits
from esar_ros.safety.site import Site
from esar_ros.sim.terrain.maps import PlaceMap, load_map

STEP = 0.05  # s
NAME = "uav1"
PX4_LAG = 1.1  # s, time constant of the vehicle's velocity: PX4 1.17 in SITL
AWAY = 250.0  # m from the map's middle, within which flights begin
CHARGE = 0.9  # share, kept: an hour is longer than a battery
FASTEST = 2.0  # times the governor's greatest speed that the planner asks for
GOALS = {"contacts": 0}


class RandomWalk:
    """A planner that asks for velocities along the vehicle's own axes, each for some seconds."""

    def __init__(self, rng: np.random.Generator, speed: float) -> None:
        """speed: m/s, the governor's greatest."""
        self._rng, self._speed = rng, speed
        self._until = 0.0
        self.velocity, self.yaw_rate = np.zeros(3), 0.0
        self.silent = False

    def step(self, now: float) -> None:
        """Chooses anew where the time (s) has come."""
        if now < self._until:
            return
        rng = self._rng
        self._until = now + rng.uniform(1.0, 10.0)
        turn, speed = rng.uniform(-math.pi, math.pi), rng.uniform(0.0, FASTEST * self._speed)
        self.velocity = np.array([speed * math.cos(turn), speed * math.sin(turn), rng.normal(-0.3, 1.0)])
        self.yaw_rate = float(rng.normal(0.0, 0.5))
        self.silent = rng.random() < 0.1


@dataclass
class Walked:
    """The figures of flights, summed."""

    minutes: float = 0.0
    metres: float = 0.0
    contacts: int = 0
    touched: list[str] = field(default_factory=list)
    nearest: float = math.inf  # m of the body's centre to what the LiDAR sees
    changed: int = 0  # steps
    steps: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, other: Walked) -> None:
        """Adds another's."""
        self.minutes += other.minutes
        self.metres += other.metres
        self.contacts += other.contacts
        self.touched += other.touched
        self.nearest = min(self.nearest, other.nearest)
        self.changed += other.changed
        self.steps += other.steps
        self.reasons += other.reasons


def slow_vehicle() -> Vehicle:
    """Returns the vehicle, as slow as PX4."""
    rig = load_vehicle().with_image_size(160, 120)
    return rig.model_copy(update={"body": rig.body.model_copy(update={"velocity_tau": PX4_LAG})})


def start_of(simulator: LocalSimulator, rng: np.random.Generator) -> Vector:
    """Returns a place (m, map) ten metres above the ground with nothing within four metres."""
    world = simulator.context.world
    while True:
        level = rng.uniform(-AWAY, AWAY, 2)
        place = np.array([*level, float(world.ground_height(level)) + 10.0])
        if world.contact(place, 4.0) is None:
            return place


def walk(place: PlaceMap, seed: int, seconds: float) -> Walked:
    """Flies once."""
    rng, rig = np.random.default_rng(seed), slow_vehicle()
    limits = load_limits().model_copy(update={"tau": PX4_TAU})
    simulator = LocalSimulator(place, seed, rig, (NAME,))
    walked, options = Walked(), GovernorOptions()
    try:
        drone, client = simulator.context.drone(NAME), simulator.connect()
        start = start_of(simulator, rng)
        drone.armed = True
        drone.place(Pose(start, quaternion_from_yaw(rng.uniform(-math.pi, math.pi))))
        remote = AirSimVehicle(client, NAME)
        remote.take_control()
        remote.arm(True)
        actuation, lidar, grid = Actuation(remote), AirSimLidar(client, NAME), RangeGrid.of(rig.lidar)
        turns = 2.0 * math.pi * np.arange(16) / 16
        home = start - [0.0, 0.0, 10.0]
        fence = home[:2] + options.fence * np.stack([np.cos(turns), np.sin(turns)], axis=-1)
        governor = Governor(limits, Site(fence, options.ceiling, home))
        error = OdometryError(rig.odometry_error, seed, NAME)
        command, planner = ForeignCommand(options.timeout, BODY), RandomWalk(rng, limits.speed_horizontal)
        image: RangeImageData | None = None
        client.call("simContinueForTime", STEP)
        for n in range(round(seconds / STEP)):
            reading = remote.read()
            now = reading.ns * 1e-9
            estimate = error.estimate(reading.ns, reading.pose, reading.velocity)
            pose = remote.odom_in_map.compose(estimate.pose)
            velocity = remote.odom_in_map.rotation @ estimate.velocity
            if n % 2 == 0:
                points = lidar.read()
                walked.nearest = min(walked.nearest, float(np.linalg.norm(points, axis=1).min(initial=math.inf)))
                image = RangeImageData(
                    now, pose, grid.azimuth_min, grid.azimuth_step, grid.elevation_min, grid.elevation_step,
                    grid.range_min, grid.range_max, pool_ranges(points, grid),
                )  # fmt: skip
            planner.step(n * STEP)
            if not planner.silent:
                command.take(planner.velocity, planner.yaw_rate, now)
            told = command.at(now, pose.yaw)
            state = State(
                now, pose, velocity, reading.armed, reading.landed, CHARGE, 0.5, rates=reading.angular_velocity
            )
            answer = governor.decide(state, None if told is None else Command(now, *told), image, None, now)
            actuation.height = answer.height
            actuation.obey(reading, answer.mode, (answer.velocity, answer.yaw_rate), STEP)
            before = drone.collision.count
            client.call("simContinueForTime", STEP)
            if drone.collision.count > before:
                walked.contacts += 1
                walked.touched.append(simulator.context.world.name_of(drone.collision.object_id))
            walked.metres += STEP * float(np.linalg.norm(drone.velocity))
            walked.changed += answer.changed
            walked.reasons.update(Reason(reason).name.lower() for reason in answer.reasons)
            walked.steps += 1
            walked.minutes += STEP / 60.0
    finally:
        simulator.close()
    return walked


def walk_all(place: PlaceMap, seed: int, flights: int, minutes: float) -> Walked:
    """Flies them all, and tells of each."""
    total = Walked()

    async def flight(number: int) -> Walked:  # a loop must be running for the simulator's motions
        return walk(place, seed + number, 60.0 * minutes / flights)

    for number in range(flights):
        one = asyncio.run(flight(number))
        total.add(one)
        touched = f", touched {', '.join(one.touched)}" if one.touched else ""
        print(f"{total.minutes:6.1f} min: {one.metres:6.0f} m, nearest {one.nearest:.2f} m{touched}", flush=True)
    return total


def main() -> int:
    """Measures, prints and ends with 1 where a goal is missed."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60.0, help="of simulated time, all flights together")
    parser.add_argument("--flights", type=int, default=24)
    parser.add_argument("--map", default="aotai")
    parser.add_argument("--seed", type=int, default=44_000_000)
    parser.add_argument("--live", type=float, default=60.0, help="s of real time with the processes; 0: none")
    parser.add_argument("--px4", type=Path, metavar="BUILD", help="live on this build of PX4's SITL, not on the fake")
    parser.add_argument("--agent", type=Path, metavar="PROGRAM", help="its MicroXRCEAgent")
    add_page(parser)
    arguments = parser.parse_args()
    if arguments.px4 is not None:
        return _on_px4(arguments)
    total = walk_all(load_map(arguments.map), arguments.seed, arguments.flights, arguments.minutes)
    figures = {
        "minutes": round(total.minutes, 1),
        "metres": round(total.metres),
        "contacts": total.contacts,
        "nearest_m": round(total.nearest, 2),
        "changed_percent": round(100.0 * total.changed / max(1, total.steps), 1),
    }
    tables = [goal_table(figures, GOALS, {"contacts": total.contacts == 0})]
    why = [(name, 100.0 * count / total.steps) for name, count in total.reasons.most_common()]
    tables.append(Table(("reason", "of the steps (%)"), why, "Why the governor spoke"))
    if arguments.live:
        sys.path.insert(0, str(ROOT / "test" / "px4"))
        with tempfile.TemporaryDirectory() as folder:
            cost, live = fly_live(arguments.map, arguments.seed, arguments.live, Path(folder))
        tables += [cost, live]
    for table in tables:
        print(table.title, *table.rows, sep="\n")
    print(json.dumps({"benchmark": "governor_alone", "figures": figures, "touched": total.touched}))
    if arguments.page:
        about = (
            "A planner that asks for a new velocity along the vehicle's axes every 1 to 10 s, up to twice the "
            "governor's speed and a tenth of the time nothing, through the embedded simulator's forest; a LiDAR, no "
            "map, odometry off as an estimator's, and a vehicle that follows velocities with PX4's lag. Flown on "
            "AirSim's interface and on the fake autopilot, not on PX4."
        )
        conditions = {key: getattr(arguments, key) for key in ("map", "seed", "flights", "live")}
        write_page(__file__, "The governor alone: an hour of random walk, and what it costs", about, conditions, tables)
    return 0 if total.contacts == 0 else 1


def _on_px4(arguments: argparse.Namespace) -> int:
    """Flies the live part on PX4 itself, and prints it."""
    if arguments.agent is None:
        raise UsageError("--px4 wants its --agent too")
    firmware = (arguments.px4.resolve(), arguments.agent.resolve())
    release = version(firmware[0])
    with tempfile.TemporaryDirectory() as folder:
        tables = fly_live(arguments.map, arguments.seed, arguments.live, Path(folder), firmware)
    for table in tables:
        print(table.title, *table.rows, sep="\n")
    if arguments.page:
        about = (
            "`esar governor` as its processes in real time, a planner that asks for velocities at random, the LiDAR "
            "of the embedded simulator's forest, and PX4 itself in SITL with its SIH quadrotor; distances count from "
            "where its estimator says that it is."
        )
        conditions = {"firmware": release, **{key: getattr(arguments, key) for key in ("map", "seed", "live")}}
        write_page(__file__, "The governor alone on PX4's SITL", about, conditions, tables, "px4")
    return int(any(name == "contacts" and count for name, count in tables[1].rows))


if __name__ == "__main__":
    end_with(main)
