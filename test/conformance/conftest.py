"""A simulator in real time with small pictures, and the interpreter that has AirSim's clients.

The clients need msgpack-python 0.5.6, which owns msgpack's import name: so they have an environment of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
WIDTH, HEIGHT = 160, 120  # the official client decodes float images in quadratic time
SPEED = 4.0  # simulation time a second


@pytest.fixture(scope="session")
def client_python() -> str:
    """Interpreter of the environment with the clients."""
    python = os.environ.get("ESAR_AIRSIM_PYTHON") or str(CHECKOUT / ".esar" / "airsim-client" / "bin" / "python")
    if not Path(python).exists():
        pytest.fail(f"the official AirSim client is not installed at {python}: ./esar test makes it")
    return python


@contextmanager
def simulator(folder: Path, *vehicles: str) -> Iterator[int]:
    """A simulator's port; it records into folder/recordings."""
    capture = {"ImageType": 0, "Width": WIDTH, "Height": HEIGHT, "FOV_Degrees": 90}
    settings = folder / "settings.json"
    settings.write_text(
        json.dumps(
            {
                "SimMode": "Multirotor",
                "ClockSpeed": SPEED,
                "CameraDefaults": {"CaptureSettings": [capture]},
                "Recording": {"Folder": str(folder / "recordings"), "RecordInterval": 0.2},
                "Vehicles": {
                    name: {"VehicleType": "SimpleFlight", "X": 0, "Y": 8 * i} for i, name in enumerate(vehicles)
                },
            }
        )
    )
    command = [sys.executable, "-m", "esar_ros.sim.server", "--port", "0", "--settings", str(settings)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT)
    assert process.stdout is not None
    try:
        ready = next((line for line in process.stdout if line.startswith("ready on ")), None)
        assert ready is not None, "the simulator did not start"
        yield int(ready.rsplit(":", 1)[1])
    finally:
        process.terminate()
        code = process.wait(60.0)
    assert code == 0


@pytest.fixture(scope="module")
def one_vehicle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Port of a simulator with uav1, which one client after the other may fly."""
    with simulator(tmp_path_factory.mktemp("one"), "uav1") as port:
        yield port


@pytest.fixture
def two_vehicles(tmp_path: Path) -> Iterator[int]:
    """Port of a simulator with Drone1 and Drone2."""
    with simulator(tmp_path, "Drone1", "Drone2") as port:
        yield port


@pytest.fixture
def drive(client_python: str) -> Callable[..., dict[str, Any]]:
    """Runs a script with a client and answers the JSON object that it prints last."""

    def run(script: str, *arguments: str) -> dict[str, Any]:
        path = Path(__file__).with_name(script)
        done = subprocess.run(
            [client_python, str(path), *arguments], capture_output=True, text=True, timeout=240.0, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return told

    return run
