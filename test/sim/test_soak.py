"""A simulator under full load for half an hour of its time: memory flat, clock and frames in step."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import psutil
import pytest

from esar_ros.bridges.airsim.client import AirSimClient
from esar_ros.bridges.airsim.types import DEPTH_PLANAR, SCENE, image_request
from esar_ros.mission.names import CAMERAS
from helpers.simulator_process import Process

VEHICLES = ("uav1", "uav2", "uav3", "uav4")
MINUTES, STEP = 30, 0.05  # of control at 20 Hz; ranges at 10 Hz, four cameras at 1 Hz
SETTLED = 0.2  # share of the run after which memory is compared
GROWTH = 40.0  # MiB, at most, between the first and the last third of the rest


@pytest.fixture
def simulator() -> Iterator[Process]:
    made = Process("--image", "320x240", "--paused", "--vehicles", ",".join(VEHICLES))
    yield made
    made.end()


def held(simulator: Process) -> float:
    """MiB of a simulator's processes, the renderer among them."""
    every = (psutil.Process(simulator.process.pid), *simulator.children())
    return float(sum(process.memory_info().rss for process in every)) / 2**20


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_half_an_hour_of_load_leaves_memory_flat_and_clock_and_frames_in_step(simulator: Process) -> None:
    client = AirSimClient("127.0.0.1", simulator.port)
    for vehicle in VEHICLES:
        client.call("enableApiControl", True, vehicle)
        client.call("armDisarm", True, vehicle)
    requests = [image_request(camera, SCENE) for camera in CAMERAS]
    requests += [image_request(camera, DEPTH_PLANAR, as_float=True) for camera in CAMERAS]
    began = client.call("getMultirotorState", "")["timestamp"]
    memory: list[float] = []
    steps = round(MINUTES * 60.0 / STEP)
    for step in range(steps):
        for index, vehicle in enumerate(VEHICLES):
            climb, turn = (-1.0 if step * STEP < 10.0 else 0.0), {"is_rate": True, "yaw_or_rate": 20.0}
            client.notify("moveByVelocity", 0.3 * (-1) ** index, 0.0, climb, 0.2, 0, turn, vehicle)
            client.call("getMultirotorState", vehicle)
            client.call("getImuData", "", vehicle)
            if step % 2 == 0:
                client.call("getLidarData", "lidar", vehicle)
        if step % 20 == 0:
            vehicle = VEHICLES[step // 20 % len(VEHICLES)]
            now = client.call("getMultirotorState", vehicle)["timestamp"]
            answers = client.call("simGetImages", requests, vehicle, False)
            assert {answer["time_stamp"] for answer in answers} == {now}
            memory.append(held(simulator))
        client.call("simContinueForTime", STEP)
    passed = (client.call("getMultirotorState", "")["timestamp"] - began) * 1e-9
    assert passed == pytest.approx(steps * STEP, abs=0.1)
    settled = memory[round(SETTLED * len(memory)) :]
    third = len(settled) // 3
    assert statistics.median(settled[-third:]) - statistics.median(settled[:third]) < GROWTH
