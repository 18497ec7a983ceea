"""A position that creeps away, as under slow spoofing: the time until it is noticed, the distance outside the fence.

python benchmarks/drift.py [--seconds 300] [--seeds 4] [--page]

The simulator's vehicle flies over flat ground in 5 m/s of wind and presses against its fence at 5 m/s, under the
governor, whose odometry has a position that creeps inwards at each rate from the moment the vehicle is there. Either
the velocity in it is right, as where inertial or visual sensors keep it; or it creeps as well, as where the estimator
trusted the satellites in both.
"""

from __future__ import annotations

import argparse
import json
import math
import sys

import numpy as np
from page import Table, add_page, write_page

from esar_ros.geometry.frames import Pose
from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, OccupancyWindow
from esar_ros.mission.modes import Reason
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, State
from esar_ros.safety.limits import load_limits
from esar_ros.safety.site import Site
from esar_ros.sim.physics.dynamics import Quadrotor, SetPoint

RATES = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)  # m/s
STEP = 0.05  # s
HALF = 60.0  # m, of the fence's square
HEIGHT = 15.0  # m above the ground
ROWS, COLUMNS, REACH = 24, 72, 60.0
ASKED = np.array([5.0, 0.0, 0.0])  # m/s
THERE = 20.0  # s after which the vehicle stands at its fence


def ground(pose: Pose, reported: Pose, stamp: float, rng: np.random.Generator) -> RangeImageData:
    """Returns a scan of the flat ground z = 0 from a true pose, placed where the odometry says the vehicle is."""
    low, tall = -math.pi / 2.0, 2.0 * math.pi / 3.0
    elevation = low + (np.arange(ROWS) + 0.5) * tall / ROWS
    azimuth = -math.pi + (np.arange(COLUMNS) + 0.5) * 2.0 * math.pi / COLUMNS
    flat = np.cos(elevation)[:, None]
    rays = np.stack(
        [flat * np.cos(azimuth), flat * np.sin(azimuth), np.broadcast_to(np.sin(elevation)[:, None], (ROWS, COLUMNS))],
        axis=-1,
    )
    down = -(rays @ pose.rotation.T)[..., 2]
    ranges = np.where(down > 1e-6, pose.position[2] / np.maximum(down, 1e-6), np.inf)
    ranges = np.where(ranges <= REACH, ranges * rng.uniform(0.999, 1.001, ranges.shape), np.inf)
    return RangeImageData(
        stamp, reported, -math.pi, 2.0 * math.pi / COLUMNS, low, tall / ROWS, 0.1, REACH, ranges.astype(np.float32)
    )


def seen(reported: Pose, stamp: float) -> OccupancyWindow:
    """Returns a local map of flat ground."""
    cells = np.full((32, 32, 32), FREE, dtype=np.uint8)
    origin = np.floor(reported.position) - [16.0, 16.0, 16.0]
    cells[:, :, : max(int(-origin[2]), 0)] = OCCUPIED
    return OccupancyWindow(origin, 1.0, cells, stamp)


def fly(rate: float, with_velocity: bool, seconds: float, seed: int) -> tuple[float, float, float]:
    """Returns the time (s) until it is noticed (inf: never), the drift (m) then, and how far (m) outside it came."""
    limits, rng = load_limits(), np.random.default_rng(seed)
    corners = HALF * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    site = Site(corners, 120.0, np.zeros(3))
    governor, body = Governor(limits, site), Quadrotor(Pose(np.array([0.0, 0.0, HEIGHT])))
    body.float_at(Pose(np.array([30.0, 0.0, HEIGHT])))
    heading = rng.uniform(-math.pi, math.pi)
    mean = 5.0 * np.array([math.cos(heading), math.sin(heading), 0.0])
    noticed, outside, image, window = math.inf, -math.inf, None, None
    for n in range(round((THERE + seconds) / STEP)):
        now, since = 100.0 + n * STEP, max(0.0, n * STEP - THERE)
        drift = -rate * since * np.array([1.0, 0.0, 0.0])
        creeps = -rate * np.array([1.0, 0.0, 0.0]) * (with_velocity and since > 0.0)
        reported = Pose(body.position + drift, body.quaternion.copy())
        if n % 2 == 0:
            image = ground(body.pose, reported, now, rng)
        if n % 20 == 0:
            window = seen(reported, now)
        state = State(now, reported, body.velocity + creeps, armed=True, landed=False, battery=0.9)
        answer = governor.decide(state, Command(now, ASKED), image, window, now)
        # The autopilot follows the velocity of the same odometry.
        setpoint = SetPoint(values=answer.velocity - creeps).as_array()
        body.advance(setpoint, mean + rng.normal(0.0, 0.5, 3), round(STEP / 0.002))
        outside = max(outside, site.outside(body.position))
        if since > 0.0 and Reason.ESTIMATOR in answer.reasons and math.isinf(noticed):
            noticed = since
    return noticed, rate * noticed, outside


def main() -> int:
    """Flies each rate and prints the outcome."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=300.0, help="of drift")
    parser.add_argument("--seeds", type=int, default=4, help="winds, of which the worst counts")
    add_page(parser)
    arguments = parser.parse_args()
    figures: dict[str, float | None] = {}
    rows: list[tuple[str, float, str, str, float]] = []
    print(f"{'what creeps':24}{'m/s':>6}{'noticed after (s)':>20}{'by then (m)':>14}{'outside the fence (m)':>24}")
    for with_velocity, what in ((False, "position"), (True, "position and velocity")):
        for rate in RATES:
            flown = [fly(rate, with_velocity, arguments.seconds, seed) for seed in range(arguments.seeds)]
            noticed, drift, outside = (max(column) for column in zip(*flown, strict=True))
            never = math.isinf(noticed)
            shown = ("never", "") if never else (f"{noticed:.1f}", f"{drift:.1f}")
            print(f"{what:24}{rate:>6.1f}{shown[0]:>20}{shown[1]:>14}{outside:>24.1f}", flush=True)
            rows.append((what, rate, *shown, round(outside, 1)))
            key = f"{what.replace(' ', '_')}_{rate:g}"
            figures[f"{key}_noticed"] = None if never else round(noticed, 2)
            figures[f"{key}_outside"] = round(outside, 2)
    if arguments.page:
        columns = ("what creeps", "at (m/s)", "noticed after (s)", "moved by then (m)", "outside the true fence (m)")
        about = (
            "The simulator's vehicle presses at 5 m/s against its fence in 5 m/s of wind, under the governor, which is "
            "given a position that creeps away from it. Of each rate the worst of the winds."
        )
        conditions = {"seconds": arguments.seconds, "winds": arguments.seeds}
        write_page(__file__, "A position that creeps", about, conditions, [Table(columns, rows)])
    print(json.dumps({"benchmark": "drift", "seconds": arguments.seconds, "figures": figures}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
