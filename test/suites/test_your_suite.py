"""A suite from an outside package: installed beside the project, found by its entry point, flown and reported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from esar_ros import suites
from esar_ros.mission.errors import UsageError
from esar_ros.mission.system import plugins

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "my_suite"
LONGEST = 60  # lines of its three files


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder that the example was installed into, from a copy: building leaves files behind."""
    work, target = tmp_path_factory.mktemp("package"), tmp_path_factory.mktemp("site")
    for file in EXAMPLE.iterdir():
        if file.is_file():
            (work / file.name).write_bytes(file.read_bytes())
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(target), str(work)], check=True, timeout=120)
    return target


def test_an_episode_of_it_is_flown_and_reported(installed: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), str(ROOT)])}
    flags = ("--preset", "fast", "--detector", "segmentation_oracle", "--planners", "stay", "--workers", "1")
    for command in (("bench", "--suite", "my-suite", *flags, "--out", "results"), ("report", "results")):
        line = [sys.executable, "-m", "esar_ros.app.cli", *command]
        done = subprocess.run(
            line, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=250
        )
        assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "results" / "episodes.jsonl").read_text().splitlines()[-1])
    assert (record["id"], record["reason"]) == ("lost-dog-walker/stay/7", None)


def test_it_is_as_short_as_its_guide_says() -> None:
    assert sum(len(file.read_text().splitlines()) for file in EXAMPLE.iterdir() if file.is_file()) <= LONGEST


def test_without_it_the_name_is_unknown() -> None:
    with pytest.raises(UsageError, match="unknown suite 'my-suite'"):
        suites.find_suite("my-suite")


@pytest.mark.parametrize(
    ("value", "told"),
    [("absent_module:SUITE", "does not load: No module named 'absent_module'"), ("os:sep", "has another name")],
)
def test_a_broken_one_is_told_in_one_line(value: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("broken", value, suites.GROUP)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point])
    assert suites.suite_names()[-1] == "broken"
    with pytest.raises(UsageError, match=told):
        suites.find_suite("broken")
