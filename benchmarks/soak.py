"""A simulator under full load for half an hour: memory flat, clock and frames in step.

python benchmarks/soak.py [--minutes 30] [--simulated]

In real time: control at 20 Hz, ranges at 10 Hz, four cameras at 1 Hz, four vehicles, while the simulator's own clock
runs. --simulated: the same in lockstep, as fast as the machine can, for as many minutes of simulated time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass, field

import psutil
from own_simulator import start_simulator
from page import add_page, goal_table, write_page

from esar_ros.bridges.airsim.client import AirSimClient
from esar_ros.bridges.airsim.types import DEPTH_PLANAR, SCENE, image_request
from esar_ros.mission.names import CAMERAS

VEHICLES = ("uav1", "uav2", "uav3", "uav4")
STEP = 0.05  # s
GOALS = {"memory_growth_mib": 40.0, "clock_drift_s": 0.1, "late_frames": 0.0}
SETTLED = 0.2  # share of the run after which memory is compared


@dataclass
class Watch:
    """The measurements of a run."""

    stamps: list[int] = field(default_factory=list)  # ns, of the frames
    memory: list[float] = field(default_factory=list)  # MiB, simulator and renderer
    late: int = 0  # frames whose stamp is not that of the state before


def memory_of(process: subprocess.Popen[str]) -> float:
    """Returns the MiB held by a process and its children."""
    root = psutil.Process(process.pid)
    return sum(p.memory_info().rss for p in (root, *root.children(recursive=True))) / 2**20


def soak(minutes: float, simulated: bool, image: str = "320x240", quiet: bool = False) -> dict[str, float]:
    """Runs, and returns the figures."""
    pace = ["--paused"] if simulated else []
    process, port = start_simulator("--vehicles", ",".join(VEHICLES), *pace, image=image)
    watch = Watch()
    try:
        client = AirSimClient("127.0.0.1", port)
        for vehicle in VEHICLES:
            client.call("enableApiControl", True, vehicle)
            client.call("armDisarm", True, vehicle)
        requests = [image_request(camera, SCENE) for camera in CAMERAS]
        requests += [image_request(camera, DEPTH_PLANAR, as_float=True) for camera in CAMERAS]
        first, began = client.call("getMultirotorState", "")["timestamp"], time.monotonic()
        steps = round(minutes * 60.0 / STEP)
        for step in range(steps):
            for index, vehicle in enumerate(VEHICLES):
                climb = -1.0 if step * STEP < 10.0 else 0.0
                turn = {"is_rate": True, "yaw_or_rate": 20.0}
                client.notify("moveByVelocity", 0.3 * (-1) ** index, 0.0, climb, 0.2, 0, turn, vehicle)
                state = client.call("getMultirotorState", vehicle)
                client.call("getImuData", "", vehicle)
                if step % 2 == 0:
                    client.call("getLidarData", "lidar", vehicle)
            if step % 20 == 0:
                vehicle = VEHICLES[step // 20 % len(VEHICLES)]
                state = client.call("getMultirotorState", vehicle)
                answers = client.call("simGetImages", requests, vehicle, False)
                stamps = {answer["time_stamp"] for answer in answers}
                slack = 0 if simulated else 200_000_000
                watch.late += len(stamps) != 1 or not 0 <= max(stamps) - state["timestamp"] <= slack
                watch.stamps.append(max(stamps))
                watch.memory.append(memory_of(process))
            if step % 1200 == 0 and not quiet:
                print(f"{step * STEP / 60.0:5.1f} min  {watch.memory[-1]:7.1f} MiB", flush=True)
            if simulated:
                client.call("simContinueForTime", STEP)
            else:
                time.sleep(max(0.0, began + (step + 1) * STEP - time.monotonic()))
        wall = time.monotonic() - began
        passed = (client.call("getMultirotorState", "")["timestamp"] - first) * 1e-9
    finally:
        process.terminate()
        process.wait()
    settled = watch.memory[round(SETTLED * len(watch.memory)) :]
    third = max(1, len(settled) // 3)
    return {
        "minutes": passed / 60.0,
        "wall_minutes": wall / 60.0,
        "frames": float(len(watch.stamps)),
        "memory_mib": settled[-1],
        "memory_growth_mib": sorted(settled[-third:])[third // 2] - sorted(settled[:third])[third // 2],
        "clock_drift_s": abs(passed - (steps * STEP if simulated else wall)),
        "late_frames": float(watch.late),
    }


def main() -> int:
    """Measures, prints a table and one line of JSON; returns 1 when a goal is missed."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--simulated", action="store_true", help="lockstep instead of real time")
    add_page(parser)
    arguments = parser.parse_args()
    figures = soak(arguments.minutes, arguments.simulated)
    met = {name: figures[name] <= goal for name, goal in GOALS.items()}
    for name, value in figures.items():
        goal = f"<= {GOALS[name]:g}" if name in GOALS else ""
        print(f"{name:24s} {value:10.2f}  {goal}")
    print(json.dumps({"benchmark": "soak", "figures": figures, "goals": GOALS, "met": met}))
    if arguments.page:
        about = (
            "A simulator under full load: control at 20 Hz, ranges at 10 Hz and four cameras at 1 Hz for each of four "
            "vehicles. Memory is that of simulator and renderer after the first fifth."
        )
        conditions = {"minutes": arguments.minutes, "time": "lockstep" if arguments.simulated else "real"}
        write_page(__file__, "Half an hour of load", about, conditions, [goal_table(figures, GOALS, met)])
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
