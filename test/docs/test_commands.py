"""Commands on the pages work as they stand there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers.blocks import ROOT, Block, blocks, pages
from helpers.flight import free_port

LAUNCHER = """#!/bin/sh
if [ "$1" = exec ]; then shift; PATH="{bin}:$PATH" exec "$@"; fi
exec "{python}" -m esar_ros.app.cli "$@"
"""


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a reader's checkout looks: `./esar`, config/, examples/ ..., and the results of blocks before.

    `./esar` is this environment's: the launcher that makes one is tested by itself.
    """
    folder = tmp_path_factory.mktemp("desk")
    for name in ("config", "examples", "docs", "benchmarks", "rviz", "models", "launch"):
        if (ROOT / name).exists():
            (folder / name).symlink_to(ROOT / name)
    launcher = folder / "esar"
    launcher.write_text(LAUNCHER.format(python=sys.executable, bin=Path(sys.executable).parent))
    launcher.chmod(0o755)
    return folder


def run(block: Block, desk: Path, limit: float) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.commands],
        cwd=desk,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )
    assert done.returncode == 0, f"{block}\n{block.commands}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


@pytest.mark.parametrize("block", [b for b in blocks() if not b.full], ids=str)
def test_a_short_block_runs(block: Block, desk: Path) -> None:
    run(block, desk, 120.0)


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("block", [b for b in blocks() if b.full], ids=str)
def test_a_long_block_runs(block: Block, desk: Path) -> None:
    run(block, desk, 1700.0)


def test_markers_stand_before_blocks() -> None:
    marked = sum(len(re.findall(r"^<!-- run(?:: full)? -->$", page.read_text("utf-8"), re.M)) for page in pages())
    assert marked == len(blocks()) > 0


def test_the_discovery_server_starts_as_the_page_says(desk: Path, tmp_path: Path) -> None:
    (command,) = re.findall(r"without ROS: (\./esar exec fastdds .*)", (ROOT / "docs/how-to/ros.md").read_text())
    command = command.replace("10.68.0.1", "127.0.0.1").replace("11811", str(free_port()))
    printed = tmp_path / "printed"
    with printed.open("wb") as log:
        server = subprocess.Popen(["bash", "-c", command], cwd=desk, stdout=log, stderr=log, start_new_session=True)
    try:
        limit = time.monotonic() + 60.0
        while "Server is running" not in printed.read_text() and time.monotonic() < limit:
            assert server.poll() is None, printed.read_text()
            time.sleep(0.1)
        assert "Participant Type:   SERVER" in printed.read_text()
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
