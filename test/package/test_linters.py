"""Style, types and floors, by the tools that hold them; pyproject.toml has their settings."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The last numpy for Python 3.10 has other types (requirements/lock.py).
OLD = pytest.mark.skipif(sys.version_info < (3, 11), reason="needs the types of numpy on Python 3.11")


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        pytest.param(("mypy",), marks=(OLD, pytest.mark.timeout(900))),
        ("lint-imports", "--no-cache"),
    ],
    ids=lambda command: "-".join(command[:2]),
)
def test_a_linter_finds_nothing(command: tuple[str, ...]) -> None:
    tool = Path(sysconfig.get_path("scripts"), command[0])
    done = subprocess.run([tool, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
