"""The CPU time of one decision of the safety governor with inputs of real size.

A range image of 36 x 180, three times as fine as the rig's, and a local map of 96 x 96 x 64 cells of 1 m over rough
ground with rocks and trees, flown through at 5 m/s, 5 to 25 m above it; every range image and every map is new, as in
flight.
Run: python benchmarks/governor.py [--steps N]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time

import numpy as np
from numpy.typing import NDArray
from page import add_page, goal_table, write_page

from esar_ros.geometry.frames import Pose
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, State
from esar_ros.safety.limits import load_limits
from esar_ros.safety.site import Site

GOAL_P99 = 2.0  # ms
STEP = 0.05  # s
ROWS, COLUMNS, REACH = 36, 180, 60.0
SHAPE = (96, 96, 64)


def surface(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the height (m) of the ground with its rocks and trees."""
    hills = 6.0 * np.sin(x / 23.0) * np.cos(y / 31.0) + 2.0 * np.sin(x / 7.0 + y / 5.0)
    trees = 12.0 * np.maximum(0.0, np.sin(x * 0.61) * np.sin(y * 0.53) - 0.85) / 0.15
    return hills + trees


def range_image(pose: Pose, stamp: float) -> RangeImageData:
    """Returns ranges to the surface by ray marching."""
    elevation = -math.pi / 2 + (np.arange(ROWS) + 0.5) * math.radians(5)
    azimuth = -math.pi + (np.arange(COLUMNS) + 0.5) * math.radians(2)
    level = np.cos(elevation)[:, None]
    rays = np.stack(
        [level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)[:, None] + 0.0 * azimuth], axis=-1
    )
    ranges = np.full((ROWS, COLUMNS), np.inf, dtype=np.float32)
    for s in np.arange(0.5, REACH, 0.5):
        p = pose.position + s * rays
        hit = np.isinf(ranges) & (p[..., 2] <= surface(p[..., 0], p[..., 1]))
        ranges[hit] = s
    return RangeImageData(stamp, pose, -math.pi, math.radians(2), -math.pi / 2, math.radians(5), 0.2, REACH, ranges)


def window(position: NDArray[np.float64], stamp: float) -> OccupancyWindow:
    """Returns a local map: solid below the surface, free above."""
    origin = np.floor(position) - np.array(SHAPE) / 2
    x = origin[0] + np.arange(SHAPE[0]) + 0.5
    y = origin[1] + np.arange(SHAPE[1]) + 0.5
    z = origin[2] + np.arange(SHAPE[2]) + 0.5
    top = surface(x[:, None], y[None, :])
    return OccupancyWindow(origin, 1.0, np.where(z < top[..., None], 2, 1).astype(np.uint8), stamp)


def main() -> int:
    """Prints the table and the figures."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=1500, help="decisions measured")
    add_page(parser)
    arguments = parser.parse_args()
    steps = arguments.steps
    corners = 900.0 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    governor = Governor(load_limits(), Site(corners, 120.0, np.zeros(3)))
    position, velocity = np.array([0.0, 0.0, 25.0]), np.zeros(3)
    times: list[float] = []
    changed = limited = 0
    image, local = None, None
    for n in range(steps + 20):
        now = 100.0 + n * STEP
        above = 15.0 + 10.0 * math.sin(n / 90.0)
        ground = float(surface(position[None, 0], position[None, 1])[0])
        asked = np.array([5.0, 1.0, min(max(0.8 * (ground + above - position[2]), -1.5), 1.8)])
        pose = Pose(position.copy())
        if n % 2 == 0:
            image = range_image(pose, now)
        if n % 20 == 0:
            local = window(position, now)
        state = State(now, pose, velocity.copy(), True, False, 0.9)
        begun = time.process_time_ns()
        answer = governor.decide(state, Command(now, asked, 0.2), image, local, now)
        spent = (time.process_time_ns() - begun) * 1e-6
        if n >= 20:  # compiled by then
            times.append(spent)
            changed += answer.changed
            limited += answer.clearance is not None and answer.clearance < 10.0
        velocity = answer.velocity
        position = position + velocity * STEP
    figures = {
        "median_ms": round(float(np.percentile(times, 50)), 3),
        "p99_ms": round(float(np.percentile(times, 99)), 3),
        "max_ms": round(max(times), 3),
        "steps": steps,
        "changed": changed,
        "near_obstacles": int(limited),
    }
    print(f"{'decisions':>16} {steps}, {changed} changed, {limited} within 10 m of an obstacle")
    print(f"{'CPU ms':>16} median {figures['median_ms']}, p99 {figures['p99_ms']}, max {figures['max_ms']}")
    goals = {"p99_ms": GOAL_P99}
    met = {"p99_ms": figures["p99_ms"] <= GOAL_P99}
    print(json.dumps({"benchmark": "governor", "figures": figures, "goals": goals, "met": met}))
    if arguments.page:
        about = (
            "CPU time of one decision of the safety governor, with a new range image (36 x 180) every second step of "
            "50 ms and a new local map (96 x 96 x 64 cells of 1 m) every twentieth, over rough ground with rocks and "
            "trees at 5 m/s, 5 to 25 m above it."
        )
        write_page(__file__, "What the governor costs", about, {"steps": steps}, [goal_table(figures, goals, met)])
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
