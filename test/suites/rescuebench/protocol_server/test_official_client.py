"""The official unrealcv clients against a real server process, one after the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CLIENTS = os.environ.get("ESAR_UNREALCV_CLIENTS", "")
WIDTH, HEIGHT = 96, 64


@pytest.fixture(params=["1.1.6", "1.3.2"])
def client(request: pytest.FixtureRequest) -> Path:
    """Folder with the client of a version."""
    folder = Path(CLIENTS) / request.param
    if not CLIENTS or not folder.is_dir():
        pytest.skip(f"needs unrealcv {request.param}: install requirements/unrealcv-clients.txt as it says")
    return folder


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Port of a server on open ground."""
    command = [sys.executable, "-m", "esar_ros.app.cli", "serve", "--suite", "rescuebench", "--map", "FlexibleRoom"]
    process = subprocess.Popen(
        [*command, "--port", "0", "--size", f"{WIDTH}x{HEIGHT}"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    ready = next(line for line in process.stdout if line.startswith("ready on "))
    yield int(ready.split(",")[0].rsplit(":", 1)[1])
    process.terminate()
    assert process.wait(60.0) == 0


def test_the_official_client_walks_looks_and_carries(client: Path, port: int) -> None:
    script = Path(__file__).with_name("walk_official_client.py")
    command = [sys.executable, str(script), str(port), str(client), str(WIDTH), str(HEIGHT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120.0, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert seen["version"] == client.name
    assert seen["cameras"] == 2 and "BP_Drone01_C_1" in seen["objects"] and seen["colour"] == [0, 0, 0]
    assert seen["start"] == [1000.0, 2000.0, 190.0, 0.0, 90.0, 0.0]
    assert seen["eye"] == [1000.0, 2020.0, 260.0, 0.0, 90.0, 0.0]
    assert seen["walked"][1] > 3000.0, "a thousand movements without waiting are a thousand steps"
    assert seen["answers"] == ["ok", "ok"] and seen["picked"] == "1"
    for kind in ("lit bmp", "lit png", "object_mask bmp"):
        assert seen[kind][:3] == [HEIGHT, WIDTH, 3] and seen[kind][3] > 5.0, kind
    assert seen["depth"][:3] == [HEIGHT, WIDTH, 1] and 10.0 < seen["depth"][3] < 300.0
    assert seen["error"].startswith("error no object '1000'")
    assert seen["warned"] == [], "every command but that with exchanged arguments is in the server's list"
