"""The CPU time of one decision of the safety governor with inputs of real size, in flight and while it lands.

A range image of 36 x 180, the rig's, and a local map of 96 x 96 x 64 cells of 1 m over rough ground with rocks and
trees. The vehicle flies through it at 5 m/s, 5 to 25 m above it, and then comes down on an empty battery at one place
after the other, from 5 m above ground on which somebody or something stands every few metres, so that it looks for a
clear spot beside. Every range image and every map is new, as in flight.
Run: python benchmarks/governor.py [--steps N]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from page import add_page, goal_table, write_page

from esar_ros.geometry.frames import Pose
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mission.modes import Reason
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, SafeCommand, State
from esar_ros.safety.limits import load_limits
from esar_ros.safety.site import Site

GOAL_P99 = 1.0  # ms
STEP = 0.05  # s
ROWS, COLUMNS, REACH = 36, 180, 60.0
MARCH = 0.5  # m
SHAPE = (96, 96, 64)
CHARGE, EMPTY = 0.9, 0.05  # of the battery
FROM, DOWN, APART = 5.0, 0.6, 37.0  # m: where a landing begins and ends above ground; between two of them
LONGEST = 400  # steps of a landing
COMPILED = 20  # steps, by which all is
Surface = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]


def surface(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the height (m) of the ground with its rocks and trees."""
    hills = 6.0 * np.sin(x / 23.0) * np.cos(y / 31.0) + 2.0 * np.sin(x / 7.0 + y / 5.0)
    trees = 12.0 * np.maximum(0.0, np.sin(x * 0.61) * np.sin(y * 0.53) - 0.85) / 0.15
    return hills + trees


def crowd(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the height (m) of gentle ground on which something as high as who sits stands every few metres."""
    stands = np.sin(x * 1.3 + np.sin(y * 0.31)) * np.sin(y * 1.1 + np.sin(x * 0.23)) > 0.93
    return 0.5 * np.sin(x / 11.0) * np.cos(y / 13.0) + 0.8 * stands


def range_image(ground: Surface, pose: Pose, stamp: float) -> RangeImageData:
    """Returns ranges to the surface by ray marching."""
    elevation = -math.pi / 2 + (np.arange(ROWS) + 0.5) * math.radians(5)
    azimuth = -math.pi + (np.arange(COLUMNS) + 0.5) * math.radians(2)
    level = np.cos(elevation)[:, None]
    rays = np.stack(
        [level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)[:, None] + 0.0 * azimuth], axis=-1
    )
    ranges = np.full((ROWS, COLUMNS), np.inf, dtype=np.float32)
    for s in np.arange(MARCH, REACH, MARCH):
        p = pose.position + s * rays
        hit = np.isinf(ranges) & (p[..., 2] <= ground(p[..., 0], p[..., 1]))
        ranges[hit] = s
    step = MARCH
    for _ in range(6):  # to the centimetre
        step *= 0.5
        p = pose.position + np.where(np.isinf(ranges), 0.0, ranges - step)[..., None] * rays
        ranges[p[..., 2] <= ground(p[..., 0], p[..., 1])] -= step
    return RangeImageData(stamp, pose, -math.pi, math.radians(2), -math.pi / 2, math.radians(5), 0.2, REACH, ranges)


def window(ground: Surface, position: NDArray[np.float64], stamp: float) -> OccupancyWindow:
    """Returns a local map: solid below the surface, free above."""
    origin = np.floor(position) - np.array(SHAPE) / 2
    x = origin[0] + np.arange(SHAPE[0]) + 0.5
    y = origin[1] + np.arange(SHAPE[1]) + 0.5
    z = origin[2] + np.arange(SHAPE[2]) + 0.5
    top = ground(x[:, None], y[None, :])
    return OccupancyWindow(origin, 1.0, np.where(z < top[..., None], 2, 1).astype(np.uint8), stamp)


class Flight:
    """A flight over a ground, of which each decision is timed."""

    def __init__(self, ground: Surface, charge: float, position: list[float]) -> None:
        """charge: 0..1. position: m, map."""
        corners = 900.0 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        self.position, self.velocity = np.array(position), np.zeros(3)
        self.spent: list[float] = []  # ms
        self._governor = Governor(load_limits(), Site(corners, 120.0, np.zeros(3)))
        self._ground, self._charge, self._steps = ground, charge, 0

    @property
    def height(self) -> float:
        """Height (m) above the ground."""
        return float(self.position[2] - self._ground(self.position[None, 0], self.position[None, 1])[0])

    def step(self, asked: list[float]) -> SafeCommand:
        """Decides on a velocity (m/s, map), flies what is given, and returns it."""
        n, now = self._steps, 100.0 + self._steps * STEP
        pose = Pose(self.position.copy())
        if n % 2 == 0:
            self._image = range_image(self._ground, pose, now)
        if n % 20 == 0:
            self._window = window(self._ground, self.position, now)
        state = State(now, pose, self.velocity.copy(), True, False, self._charge)
        begun = time.process_time_ns()
        answer = self._governor.decide(state, Command(now, np.array(asked), 0.2), self._image, self._window, now)
        spent = (time.process_time_ns() - begun) * 1e-6
        if n >= COMPILED:
            self.spent.append(spent)
        self.velocity = answer.velocity
        self.position = self.position + self.velocity * STEP
        self._steps += 1
        return answer


def cruise(steps: int) -> tuple[list[float], dict[str, int]]:
    """Returns the times (ms) of decisions in flight, and how many changed the command or were near something."""
    flight = Flight(surface, CHARGE, [0.0, 0.0, 25.0])
    counts = {"changed": 0, "near_obstacles": 0}
    for n in range(steps + COMPILED):
        above = 15.0 + 10.0 * math.sin(n / 90.0)
        answer = flight.step([5.0, 1.0, min(max(0.8 * (above - flight.height), -1.5), 1.8)])
        if n >= COMPILED:
            counts["changed"] += answer.changed
            counts["near_obstacles"] += answer.clearance is not None and answer.clearance < 10.0
    return flight.spent, counts


def land(steps: int) -> tuple[list[float], dict[str, int]]:
    """Returns the times (ms) of decisions while landing, the number of landings, and how many decisions were vetoes."""
    spent: list[float] = []
    counts = {"landings": 0, "vetoes": 0}
    while len(spent) < steps:
        place = APART * counts["landings"]
        flight = Flight(crowd, EMPTY, [place, 0.4 * place, 0.0])
        flight.position[2] += FROM - flight.height
        for _ in range(LONGEST):
            counts["vetoes"] += Reason.OBSTACLE in flight.step([0.0, 0.0, 0.0]).reasons
            if flight.height < DOWN:
                break
        spent += flight.spent
        counts["landings"] += 1
    return spent[:steps], counts


def main() -> int:
    """Prints the table and the figures."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=1500, help="decisions measured, in flight and while landing")
    add_page(parser)
    arguments = parser.parse_args()
    figures: dict[str, float] = {}
    for prefix, fly in (("", cruise), ("landing_", land)):
        times, counts = fly(arguments.steps)
        median, p99 = np.percentile(times, [50.0, 99.0])
        timed = {"median_ms": median, "p99_ms": p99, "max_ms": max(times)}
        figures |= {prefix + name: round(float(value), 3) for name, value in timed.items()} | counts
    figures["steps"] = arguments.steps
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):>20} {value}")
    goals = {name: GOAL_P99 for name in ("p99_ms", "landing_p99_ms")}
    met = {name: figures[name] <= goal for name, goal in goals.items()}
    print(json.dumps({"benchmark": "governor", "figures": figures, "goals": goals, "met": met}))
    if arguments.page:
        about = (
            "CPU time of one decision of the safety governor, with a new range image (36 x 180) every second step of "
            "50 ms and a new local map (96 x 96 x 64 cells of 1 m) every twentieth, over rough ground with rocks and "
            "trees at 5 m/s, 5 to 25 m above it; and while it lands, from 5 m on, where something stands every few "
            "metres, so that it looks for a clear spot."
        )
        table = goal_table(figures, goals, met)
        write_page(__file__, "What the governor costs", about, {"steps": arguments.steps}, [table])
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
