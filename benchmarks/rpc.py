"""The cost of AirSim's RPC: the client's CPU for eight pictures, and lockstep steps a second.

python benchmarks/rpc.py [--port P]   without a port a simulator of its own is started
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from typing import Any

from own_simulator import start_simulator
from page import add_page, goal_table, write_page

from esar_ros.bridges.airsim.client import AirSimClient
from esar_ros.bridges.airsim.types import DEPTH_PLANAR, SCENE, image_pixels, image_request
from esar_ros.mission.names import CAMERAS

ROUNDS = 30
STEPS = 400
GOALS = {"eight_images_client_cpu_ms": 6.0, "lockstep_step_wall_ms": 2.0}


def median_of(action: Any, rounds: int) -> tuple[float, float]:
    """Returns the median CPU and wall time (ms) of an action."""
    cpu, wall = [], []
    for _ in range(rounds):
        began, used = time.perf_counter(), time.process_time()
        action()
        cpu.append((time.process_time() - used) * 1e3)
        wall.append((time.perf_counter() - began) * 1e3)
    return statistics.median(cpu), statistics.median(wall)


def main() -> int:
    """Measures, prints a table and one line of JSON; returns 1 when a goal is missed."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__)
    parser.add_argument("--port", type=int, help="of a running simulator with 640x480 cameras")
    add_page(parser)
    arguments = parser.parse_args()
    port = arguments.port
    process = None
    if port is None:
        process, port = start_simulator("--paused")
    try:
        figures = measure(AirSimClient("127.0.0.1", port))
    finally:
        if process is not None:
            process.terminate()
            process.wait()
    met = {name: figures[name] <= goal for name, goal in GOALS.items()}
    for name, value in figures.items():
        goal = f"<= {GOALS[name]:g}" if name in GOALS else ""
        print(f"{name:32s} {value:10.2f}  {goal}")
    print(json.dumps({"benchmark": "rpc", "figures": figures, "goals": GOALS, "met": met}))
    if arguments.page:
        about = (
            "Medians over one connection with one vehicle: a call for the colour and depth pictures of four cameras at "
            "640x480 while time stands still, one lockstep step of 50 ms, and one reading of the state."
        )
        conditions = {"calls": f"{ROUNDS} for pictures, {STEPS} for steps and states"}
        write_page(__file__, "What AirSim's RPC costs", about, conditions, [goal_table(figures, GOALS, met)])
    return 0 if all(met.values()) else 1


def measure(client: AirSimClient) -> dict[str, float]:
    """Returns the figures of one vehicle, on its own connection."""
    client.call("simPause", True)
    requests = [image_request(camera, SCENE) for camera in CAMERAS]
    requests += [image_request(camera, DEPTH_PLANAR, as_float=True) for camera in CAMERAS]

    def look() -> None:
        for response in client.call("simGetImages", requests, "", False):
            assert image_pixels(response).size in (640 * 480, 640 * 480 * 3)

    def step() -> None:
        client.call("simContinueForTime", 0.05)

    client.call("enableApiControl", True, "")
    client.call("armDisarm", True, "")
    climb = (0.0, 0.0, -1.0, 1e3, 0, {"is_rate": True, "yaw_or_rate": 0.0}, "")
    client.notify("moveByVelocity", *climb)
    look()
    look_cpu, look_wall = median_of(look, ROUNDS)
    step_cpu, step_wall = median_of(step, STEPS)
    state_cpu, state_wall = median_of(lambda: client.call("getMultirotorState", ""), STEPS)
    return {
        "eight_images_client_cpu_ms": look_cpu,
        "eight_images_wall_ms": look_wall,  # the picture is drawn once and kept while time stands still
        "lockstep_step_wall_ms": step_wall,
        "lockstep_step_client_cpu_ms": step_cpu,
        "lockstep_steps_per_s": 1e3 / step_wall,
        "state_wall_ms": state_wall,
        "state_client_cpu_ms": state_cpu,
    }


if __name__ == "__main__":
    sys.exit(main())
