"""Commands on the pages work as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.blocks import ROOT, Block, blocks, pages

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
