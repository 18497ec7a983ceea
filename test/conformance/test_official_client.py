"""The official airsim 1.8.1 client flies a real simulator process.

It needs msgpack-python 0.5.6, which owns msgpack's import name: so it has an environment of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("fly_official_client.py")
RECIPE = (
    'python3 -m venv .esar/airsim-client && .esar/airsim-client/bin/pip install numpy "tornado==4.5.3" '
    '"msgpack-python==0.5.6" setuptools wheel opencv-python-headless && .esar/airsim-client/bin/pip install '
    "--no-build-isolation --no-deps msgpack-rpc-python==0.4.1 && .esar/airsim-client/bin/pip install "
    "--no-build-isolation --no-deps airsim==1.8.1"
)
WIDTH, HEIGHT = 160, 120  # the official client decodes float images in quadratic time


def official_python() -> str:
    """Interpreter of the environment with the official client."""
    python = os.environ.get("ESAR_AIRSIM_PYTHON") or str(CHECKOUT / ".esar" / "airsim-client" / "bin" / "python")
    if not Path(python).exists():
        pytest.fail(f"the official AirSim client is not installed at {python}: {RECIPE}")
    return python


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A simulator in real time, with small pictures by settings."""
    capture = {"ImageType": 0, "Width": WIDTH, "Height": HEIGHT, "FOV_Degrees": 90}
    settings = tmp_path / "settings.json"
    settings.write_text(
        json.dumps(
            {
                "SimMode": "Multirotor",
                "ClockSpeed": 2.0,
                "CameraDefaults": {"CaptureSettings": [capture]},
                "Vehicles": {"uav1": {"VehicleType": "SimpleFlight", "X": 0, "Y": 0}},
            }
        )
    )
    command = [sys.executable, "-m", "esar_ros.sim.server", "--port", "0", "--settings", str(settings)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT)
    assert process.stdout is not None
    found = 0
    for line in process.stdout:
        if line.startswith("ready on "):
            found = int(line.rsplit(":", 1)[1])
            break
    yield found
    process.terminate()
    assert process.wait(10.0) == 0


@pytest.fixture
def seen(port: int) -> dict[str, Any]:
    """What the client saw on its flight."""
    done = subprocess.run(
        [official_python(), str(SCRIPT), str(port)], capture_output=True, text=True, timeout=180.0, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_the_official_client_flies(seen: dict[str, Any]) -> None:
    assert seen["vehicles"] == ["uav1"]
    assert seen["control"] and seen["armed"] and seen["disarmed"]
    assert seen["landed_before"] == 0 and seen["landed_after_takeoff"] == 1 and seen["landed_at_end"] == 0
    assert -3.5 < seen["takeoff_z"] < -2.5
    assert seen["error"] <= 0.5

    images = seen["images"]
    assert [(i["camera"], i["type"]) for i in images] == [
        (camera, kind) for kind in (0, 1, 5) for camera in ("front", "left", "right", "down")
    ]
    for image in images:
        assert (image["width"], image["height"]) == (WIDTH, HEIGHT)
        assert image["values"] == WIDTH * HEIGHT * (1 if image["type"] == 1 else 3)
    assert all(image["deviation"] > 5.0 for image in images[:4])
    down = images[7]
    assert 4.0 < down["low"] <= down["high"] < 20.0  # 9 m above its start
    assert max(image["high"] for image in images[8:]) == 128.0  # the tent in front, its id 7 in the palette
    assert seen["png"] == "89504e47"
