"""Launchers: where the authors' scene server looks for binaries, and what they start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from esar_ros.app.cli import main as cli
from esar_ros.suites.uav_on.protocol_server import scene_simulator
from esar_ros.suites.uav_on.protocol_server.launchers import write_launchers

FLAGS = ["-RenderOffscreen", "-NoSound", "-NoVSync", "-GraphicsAdapter=1"]


def test_a_launcher_for_each_of_the_authors_scenes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["suite", "uav-on", "scenes", "--out", str(tmp_path)]) == 0
    written = sorted(tmp_path.rglob("*.sh"))
    assert len(written) == 14 and tmp_path / "CityStreet" / "CleanCityStreet.sh" in written
    assert all(os.access(path, os.X_OK) for path in written)
    assert capsys.readouterr().out.count("stands in for") == 14
    assert cli(["suite", "uav-on", "scenes", "--out", str(tmp_path)]) == 0, "our own are written anew"


def test_a_launcher_hands_the_flags_of_a_binary_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/echo")
    (path,) = (path for path, name, _ in write_launchers(tmp_path / "a b") if name == "CityPark")
    told = subprocess.run(["bash", str(path), *FLAGS], capture_output=True, text=True, timeout=60.0, check=True).stdout
    assert told.split() == ["-m", "esar_ros.suites.uav_on.protocol_server.scene_simulator", "standin_park", *FLAGS]


@pytest.mark.parametrize("flag", ["--settings=", "-settings="])
def test_a_simulator_passes_over_a_binarys_flags_and_reads_its_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str
) -> None:
    wrong = tmp_path / "settings.json"
    wrong.write_text("{", encoding="utf-8")
    assert scene_simulator.main(["standin_park", *FLAGS, f"{flag}{wrong}"]) == 2
    assert capsys.readouterr().err.startswith(f"scene standin_park: {wrong}, line 1: not JSON")


def test_another_programs_files_are_not_overwritten(tmp_path: Path) -> None:
    binary = tmp_path / "Barnyard" / "Barnyard_test1.sh"
    binary.parent.mkdir()
    binary.write_text("#!/bin/sh\nexec ./Barnyard\n", encoding="utf-8")
    assert cli(["suite", "uav-on", "scenes", "--out", str(tmp_path)]) == 2
    assert "exec ./Barnyard" in binary.read_text(encoding="utf-8")
