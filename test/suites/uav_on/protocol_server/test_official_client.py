"""The official clients in a real scene, by the public code's calls; and a client that leaves its simulator alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from esar_ros.geometry.frames import enu_to_ned
from esar_ros.suites.uav_on.scenes import find_scene
from helpers.simulator_process import Wire, gone
from helpers.steps import SETTINGS

SCENE = "standin_park_mini"
CLIENT = os.environ.get("ESAR_AIRSIM_PYTHON", "")


@pytest.fixture
def server() -> Iterator[tuple[subprocess.Popen[str], int]]:
    code = "import asyncio; from esar_ros.suites.uav_on.protocol_server.scene_server import serve_scenes as s; "
    code += "asyncio.run(s('127.0.0.1', 0, lambda line: print(line, flush=True)))"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    ready = next(line for line in process.stdout if line.startswith("ready on "))
    yield process, int(ready.rsplit(":", 1)[1])
    process.terminate()
    assert process.wait(60.0) == 0


@pytest.mark.full
def test_the_official_clients_fly_steps_to_their_ends(server: tuple[subprocess.Popen[str], int]) -> None:
    assert CLIENT, "./esar test makes the client's environment"
    start = find_scene(SCENE).episodes[0].episode.start.position + [0.0, 0.0, 20.0]
    script = Path(__file__).with_name("fly_official_client.py")
    command = [CLIENT, str(script), str(server[1]), SCENE, *(f"{v:.3f}" for v in enu_to_ned(start))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280.0, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["ping"] is True and seen["opened"] == [True, "127.0.0.1", 1] and seen["closed"] is True
    assert seen["scaled"] and seen["imu"] and not seen["collided"]
    assert max(seen["gaps"]) < 0.3 and seen["yaw_gap"] < 5.1, "its turns end within 5 degrees"
    assert min(seen["seconds"]) >= 25.0, "150 frames"
    for png, width, rows, columns, nearest in seen["images"]:
        assert (png, width, rows, columns) == ("89504e47", SETTINGS.colour, SETTINGS.depth, SETTINGS.depth)
        assert nearest > 0.5


@pytest.mark.full
def test_a_simulator_that_nobody_is_connected_to_ends() -> None:
    command = [sys.executable, "-m", "esar_ros.suites.uav_on.protocol_server.scene_simulator", SCENE, "--port", "0"]
    process = subprocess.Popen([*command, "--deserted", "3"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    ready = next(line for line in process.stdout if line.startswith("ready on "))
    renderer = psutil.Process(process.pid).children(recursive=True)
    assert renderer
    wire = Wire(int(ready.rsplit(":", 1)[1]))
    assert wire.call("listVehicles") == ["Drone_1"]
    wire.socket.close()
    assert process.wait(60.0) == 0
    assert gone(renderer)
