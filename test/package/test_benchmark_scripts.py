"""Every script in benchmarks/ starts, and every name that it takes from the package is there."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
FILES = sorted(FOLDER.glob("*.py"))
SCRIPTS = [path for path in FILES if "__main__" in path.read_text(encoding="utf-8")]
# One process for all of them: most of a script's start is imports that the others have, too.
START = """
import contextlib, io, json, os, runpy, sys, traceback
ended = {}
sys.path.insert(0, os.path.dirname(sys.argv[1]))
for path in sys.argv[1:]:
    sys.argv = [path, "--help"]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            runpy.run_path(path, run_name="__main__")
            ended[path] = "it ended without looking at its arguments"
        except SystemExit as end:
            ended[path] = "" if end.code in (0, None) and "usage:" in said.getvalue() else f"exit {end.code}"
        except Exception:
            ended[path] = traceback.format_exc()
print(json.dumps(ended))
"""


@pytest.fixture(scope="module")
def ended() -> dict[str, str]:
    """By script: what went wrong with its --help."""
    command = [sys.executable, "-c", START, *map(str, SCRIPTS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_starts_and_explains_itself(script: Path, ended: dict[str, str]) -> None:
    assert not ended[str(script)]


def names_taken(path: Path) -> Iterator[tuple[str, str]]:
    """Modules of the package and names taken of them, those within functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "esar_ros":
            yield from ((str(node.module), alias.name) for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_names_that_are_taken_from_the_package_are_there(path: Path) -> None:
    for module, name in names_taken(path):
        found = importlib.import_module(module)
        if not hasattr(found, name):
            importlib.import_module(f"{module}.{name}")  # or it is a module, which must be there
