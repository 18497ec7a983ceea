"""The worth of a second vehicle to a planner: time to find, by one and by two, over dev tasks.

python benchmarks/two_vehicles.py [--planner belief] [--tasks 20] [--seconds 900]

Planners alone, so that a task takes seconds: vehicles are points that fly to their goals at 5 m/s (2.5 m/s up and
down) over the map's real ground, without wind, obstacles, odometry's error or a governor. An object is seen when one of
the four cameras holds it, the ground does not hide it, and a draw by range says so: the curve that `belief` itself
assumes, so the worth of searching together is measured, not the quality of any detector. Trees hide
nothing. There is no grid: methods that need one are refused.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass, field, replace

import numpy as np
from page import Table, add_page, goal_table, write_page

from esar_ros.benchmark.runner.plan import choose_tasks
from esar_ros.geometry.frames import Pose, Vector, quaternion_from_yaw
from esar_ros.mission.briefing import make_brief
from esar_ros.mission.clues import PERSON
from esar_ros.mission.decision import DecisionStatus, Goal, GoalType, HeightReference, Report, ReportType
from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import CAMERAS
from esar_ros.mission.observation import Brief, Observation, SeenClue, Teammate
from esar_ros.mission.task import Task, load_task
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.planning.belief.detection_probability import TABLE_RANGE, Detection, DetectionSettings
from esar_ros.planning.registry import create
from esar_ros.planning.session import Session
from esar_ros.scoring.statistics import Unit, compare
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.suites.esarbench.suite import ESARBENCH

SPEED, CLIMB = 5.0, 2.5  # m/s
APART = 8.0  # m between the places of two looks that count as two
SPREAD = 0.7  # m, standard deviation of where an object is placed
SIGHT = 12  # points of a line of sight that are held against the ground


@dataclass
class Thing:
    """An object to be found."""

    kind: str
    place: Vector  # (3,) m


@dataclass
class Flyer:
    """A vehicle: its planner and its knowledge."""

    name: str
    session: Session
    position: Vector
    brief: Brief
    yaw: float = 0.0
    goal: Goal = field(default_factory=lambda: Goal(GoalType.HOLD))
    reached: bool = False
    clues: dict[int, SeenClue] = field(default_factory=dict)
    looks: dict[int, list[Vector]] = field(default_factory=dict)
    sent: list[Report] = field(default_factory=list)
    stopped: bool = False
    flown: float = 0.0  # m


class World:
    """A task's ground and things, and the four cameras."""

    def __init__(self, task: Task, place: PlaceMap) -> None:
        self._place = place
        rig = load_vehicle()
        self._cameras = [(rig.image.model, mount.pose) for mount in rig.cameras.values()]
        self.things = [Thing(kind, np.array([*xy, self.ground(np.array(xy)) + 0.2])) for kind, xy in task.objects]

    def ground(self, xy: Vector) -> float:
        """Returns z (m) of the ground."""
        return float(self._place.ground_height(np.asarray(xy[:2], dtype=np.float64)))

    def shows(self, thing: Thing, flyer: Flyer, detection: Detection, draw: float) -> float | None:
        """Returns the range (m) at which a vehicle sees a thing; None: it does not."""
        offset = thing.place - flyer.position
        away = float(np.linalg.norm(offset))
        curve = detection.person if thing.kind == PERSON else detection.clue
        if away > TABLE_RANGE - 1 or draw >= curve[round(away)]:
            return None
        base = Pose(flyer.position, quaternion_from_yaw(flyer.yaw))
        for model, mount in self._cameras:
            pose = base.compose(mount)
            _, inside = model.project(((thing.place - pose.position) @ pose.rotation)[None, :])
            if inside[0]:
                break
        else:
            return None
        way = flyer.position + np.linspace(0.0, 0.95, SIGHT)[:, None] * offset
        hidden = self._place.ground_height(way[:, :2]) > way[:, 2]
        return None if hidden.any() else away


def fly(task: Task, place: PlaceMap, planner: str, vehicles: int, seconds: float) -> tuple[list[float], float, float]:
    """Returns the times (s) at which victims were reported, the mission's time (s), and metres flown by all."""
    world = World(task, place)
    names = tuple(f"uav{number}" for number in range(1, vehicles + 1))
    cap = load_thresholds().report_cap // vehicles
    flyers = []
    for number, name in enumerate(names):
        start = np.array([task.start.position[0] + 4.0 * number, task.start.position[1], 0.0])
        start[2] = world.ground(start)
        brief = make_brief(task, place, "bench", cap, start)
        if vehicles > 1:
            brief = replace(brief, vehicle=name, team=names)
        flyer = Flyer(name, Session(create(planner)), start, brief)
        flyer.session.reset(brief, task.seed)
        flyers.append(flyer)
    detection = Detection(DetectionSettings(), flyers[0].brief)
    draws = np.random.default_rng(task.seed)
    t_max = min(task.t_max, seconds)
    found: dict[int, float] = {}
    now = 0.0
    while now < t_max and not all(flyer.stopped for flyer in flyers):
        chance = draws.uniform(size=(len(flyers), len(world.things)))
        for flyer, row in zip(flyers, chance, strict=True):
            _look(flyer, world, detection, row, now, draws)
        before = {flyer.name: (flyer.goal, tuple(flyer.sent)) for flyer in flyers}
        for flyer in flyers:
            others = tuple(
                Teammate(
                    other.name,
                    Pose(other.position, quaternion_from_yaw(other.yaw)),
                    float(other.position[2] - world.ground(other.position)),
                    before[other.name][0].position if before[other.name][0].type is GoalType.WAYPOINT else None,
                    tuple(other.clues.values()),
                    before[other.name][1],
                    CAMERAS,
                )
                for other in flyers
                if other is not flyer
            )
            _decide(flyer, world, others, now)
            for report in flyer.sent[len(before[flyer.name][1]) :]:
                _credit(report, world, found, now, load_thresholds().error_threshold)
        for flyer in flyers:
            _move(flyer, world)
        now += 1.0
    return sorted(found.values()), now, sum(flyer.flown for flyer in flyers)


def _look(
    flyer: Flyer, world: World, detection: Detection, row: np.ndarray, now: float, draws: np.random.Generator
) -> None:
    for number, thing in enumerate(world.things):
        away = world.shows(thing, flyer, detection, row[number])
        if away is None:
            continue
        places = flyer.looks.setdefault(number, [])
        if not places or min(float(np.linalg.norm(flyer.position - place)) for place in places) >= APART:
            places.append(flyer.position.copy())
        known = flyer.clues.get(number)
        flyer.clues[number] = SeenClue(
            id=number + 1,
            kind=thing.kind,
            text=thing.kind,
            probability=1.0 - 0.3 ** len(places),
            position=known.position if known else thing.place + draws.normal(0.0, SPREAD, 3),
            covariance=np.eye(3) * SPREAD**2,
            views=len(places),
            nearest_view=min(away, known.nearest_view if known else away),
            first_seen=known.first_seen if known else now,
            last_seen=now,
        )


def _decide(flyer: Flyer, world: World, others: tuple[Teammate, ...], now: float) -> None:
    answer = flyer.session.decide(
        Observation(
            stamp=now,
            elapsed=now,
            vehicle=flyer.name,
            pose=Pose(flyer.position.copy(), quaternion_from_yaw(flyer.yaw)),
            velocity=np.zeros(3),
            height=float(flyer.position[2] - world.ground(flyer.position)),
            battery=1.0,
            clues=tuple(flyer.clues.values()),
            cameras=CAMERAS,
            team=others,
            goal_reached=flyer.reached,
        )
    )
    flyer.goal, flyer.stopped = answer.goal, answer.status is DecisionStatus.STOP
    flyer.sent += [report for _, report in answer.reports]


def _move(flyer: Flyer, world: World) -> None:
    goal = flyer.goal
    flyer.reached = False
    if goal.type is not GoalType.WAYPOINT:
        return
    run = goal.position[:2] - flyer.position[:2]
    length = float(np.linalg.norm(run))
    step = min(SPEED, length)
    if length > 1e-6:
        flyer.position[:2] += run / length * step
        flyer.yaw = float(np.arctan2(run[1], run[0]))
    wanted = goal.position[2]
    if goal.height_reference is HeightReference.GROUND:
        wanted += world.ground(flyer.position)
    climb = float(np.clip(wanted - flyer.position[2], -CLIMB, CLIMB))
    flyer.position[2] = max(flyer.position[2] + climb, world.ground(flyer.position))
    flyer.flown += step
    flyer.reached = length <= SPEED and abs(wanted - flyer.position[2]) < 1.0
    if flyer.reached and goal.yaw is not None:
        flyer.yaw = goal.yaw


def _credit(report: Report, world: World, found: dict[int, float], now: float, gate: float) -> None:
    """Notes the first report near each victim."""
    if report.type is ReportType.VICTIM:
        for number, thing in enumerate(world.things):
            if thing.kind == PERSON and float(np.linalg.norm(thing.place - report.position)) < gate:
                found.setdefault(number, now)


def main() -> int:
    """Flies and compares."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--planner", default="belief")
    parser.add_argument("--tasks", type=int, default=20, help="dev tasks, evenly over the set")
    parser.add_argument("--seconds", type=float, default=900.0, help="of each task at most")
    add_page(parser)
    arguments = parser.parse_args()
    if create(arguments.planner).needs:
        raise UsageError(f"planner {arguments.planner} needs a map", "choose belief, zigzag, spiral or concentric")
    every = choose_tasks(ESARBENCH, "dev")
    chosen = [load_task(every[i]) for i in np.linspace(0, len(every) - 1, arguments.tasks).round().astype(int)]
    began = time.process_time()
    totals = {1: [0, 0.0, 0.0], 2: [0, 0.0, 0.0]}  # victims found, seconds to each (at the end those missed), metres
    victims = faster = slower = 0
    lasts: dict[str, dict[Unit, float]] = {"two": {}, "one": {}}  # s to the last victim of each task
    print(f"{'task':34}{'victims':>8}   one: found, s to the last, s flown   two: the same")
    for task in chosen:
        place, line = load_map(task.map), ""
        limit = min(task.t_max, arguments.seconds)
        last = {}
        for vehicles in totals:
            times, mission, flown = fly(task, place, arguments.planner, vehicles, arguments.seconds)
            missed = len(task.victims) - len(times)
            totals[vehicles][0] += len(times)
            totals[vehicles][1] += sum(times) + missed * limit
            totals[vehicles][2] += flown
            last[vehicles] = limit if missed else max(times)
            line += f"{len(times):>16} {last[vehicles]:>9.0f}{'*' if missed else ' '} {mission:>9.0f}"
        unit = Unit(task.event, task.snapshot, task.id)
        lasts["one"][unit], lasts["two"][unit] = last[1], last[2]
        victims += len(task.victims)
        faster += last[2] < last[1]
        slower += last[2] > last[1]
        print(f"{task.id:34}{len(task.victims):>8}{line}", flush=True)
    [pair] = compare(lasts)
    gain = pair.difference
    figures = {
        "planner": arguments.planner,
        "tasks": len(chosen),
        "victims": victims,
        **{f"found_by_{n}": int(total[0]) for n, total in totals.items()},
        **{f"mean_seconds_to_find_by_{n}": round(total[1] / victims, 1) for n, total in totals.items()},
        "tasks_faster_by_2": int(faster),
        "tasks_slower_by_2": int(slower),
        "median_seconds_to_the_last_by_1": float(np.median(list(lasts["one"].values()))),
        "median_seconds_to_the_last_by_2": float(np.median(list(lasts["two"].values()))),
        "seconds_to_the_last_2_less_1": round(gain.mean, 1),
        "p": round(pair.p, 3),
        "metres_2_to_1": round(totals[2][2] / totals[1][2], 2),
        "cpu_s": round(time.process_time() - began, 1),
    }
    print("* not all found: the time limit stands for it")
    print(json.dumps({"benchmark": "two_vehicles", "figures": figures, "goals": {}, "met": {}}))
    if arguments.page:
        about = (
            "Planners alone: points fly to their goals at 5 m/s over the maps' real ground, without wind, obstacles, "
            "odometry's error or governor; what a camera sees is drawn by range. A victim who is not found counts "
            "with the time limit. One seed a task. The difference is per task, with its 95 % interval by bootstrap "
            "over events, snapshots and tasks; p is of a sign-flip test over events."
        )
        conditions = {"planner": arguments.planner, "seconds of each task at most": arguments.seconds}
        heads = ("task", "last victim after, s: one vehicle", "two")
        rows = [(unit.task, f"{last:.0f}", f"{lasts['two'][unit]:.0f}") for unit, last in lasts["one"].items()]
        interval = {"seconds_to_the_last_2_less_1": (gain.low, gain.high)}
        tables = [goal_table(figures, {}, {}, intervals=interval), Table(heads, rows, "By task")]
        write_page(__file__, "What a second vehicle brings", about, conditions, tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
