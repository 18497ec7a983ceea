"""A planner from an outside package: installed beside the project, found by its entry point, flown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.decision import GoalType, HeightReference

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "my_planner"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder that the example was installed into, from a copy: building leaves files behind."""
    work = tmp_path_factory.mktemp("package")
    for file in EXAMPLE.iterdir():
        if file.is_file():
            (work / file.name).write_bytes(file.read_bytes())
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(target), str(work)], check=True, timeout=120)
    return target


def run(installed: Path, code: str, timeout: float = 120.0) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, timeout=timeout
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_entry_point_makes_it_known_and_it_is_made_by_name(installed: Path) -> None:
    said = run(
        installed,
        "from esar_ros.planning import registry; from esar_ros.planning.method import Method\n"
        "print('north' in registry.names(), 'north' in registry.references())\n"
        "m = registry.create('north'); print(isinstance(m, Method), m.name, m.eligible, sorted(m.needs))",
    )
    assert said.splitlines() == ["True False", "True north True []"]


def test_the_command_lists_it(installed: Path) -> None:
    said = run(installed, "from esar_ros.app.cli import main; main(['bench', '--list-planners'])")
    assert "north" in said.split()


def test_without_it_the_name_is_unknown() -> None:
    said = run(ROOT, "from esar_ros.planning import registry; print('north' in registry.names())")
    assert said.strip() == "False"


def test_it_flies_north_reports_and_stops(
    installed: Path, brief: Any, observe: Any, clue: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(installed))
    from my_planner import North

    north = North({})
    north.reset(brief(home=np.array([10.0, 20.0, 3.0])), 1)
    first = north.act(observe(0.0, clues=(clue(),)))
    assert first.goal is not None and first.goal.type is GoalType.WAYPOINT
    assert first.goal.height_reference is HeightReference.GROUND
    assert first.goal.position.tolist() == [10.0, 420.0, 30.0]
    assert len(first.reports) == 1 and not first.stop
    assert north.act(observe(90.0, goal_reached=True)).stop


def test_the_page_shows_the_example_as_it_is() -> None:
    page = (ROOT / "docs" / "how-to" / "your-planner.md").read_text(encoding="utf-8")
    source = (EXAMPLE / "my_planner.py").read_text(encoding="utf-8")
    assert source[source.index("class North") :].strip() in page
    entry = '[project.entry-points."esar_ros.planners"]\nnorth = "my_planner:North"'
    assert entry in page and entry in (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.full
def test_it_is_benchmarked_like_the_others(installed: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    code = (
        "from esar_ros.app.cli import main; import sys\n"
        "a = main(['bench', '--tasks', 'aotai-first', '--planners', 'north,stay', '--preset', 'fast', '--workers', '1',"
        f" '--out', {str(out)!r}])\n"
        f"b = main(['report', {str(out)!r}]); sys.exit(a or b)"
    )
    said = run(installed, code, 280)
    assert "north" in said and (out / "report" / "report.html").is_file()
