"""Launchers: where the public code looks for its binaries, and what they start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from esar_ros.app.cli import main as cli
from esar_ros.suites.rescuebench.protocol_server.ini import IniFile, read_ini
from esar_ros.suites.rescuebench.protocol_server.launcher import BINARIES, write_environment


def test_a_launcher_stands_in_each_binarys_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["suite", "rescuebench", "env", "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told == [*(str(tmp_path / binary) for binary in BINARIES), f"export UnrealEnv={tmp_path}"]
    for binary in BINARIES:
        assert os.access(tmp_path / binary, os.X_OK)
        text = (tmp_path / binary).with_name("unrealcv.ini").read_text(encoding="utf-8")
        assert int(text.split()[1][-4:]) == 9000, "as the client reads the port"
        assert [line.split("=")[0] for line in text.split("\n")[2:4]] == ["Width", "Height"], "lines it writes over"
    assert cli(["suite", "rescuebench", "env", "--out", str(tmp_path)]) == 0, "our own are written anew"


def test_a_launcher_tells_the_map_and_leaves_a_binarys_flags_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/echo")
    path = next(write_environment(tmp_path / "a b", "running"))
    subprocess.run(["bash", str(path), "Tokyo", "-RenderOffScreen", "-graphicsadapter=1"], timeout=60.0, check=True)
    log = path.with_name("server.log").read_text(encoding="utf-8")
    ini = path.with_name("unrealcv.ini")
    assert log == (f"-m esar_ros.app.cli serve --suite rescuebench --clock running --ini {ini} --map Tokyo\n")
    path = next(write_environment(tmp_path / "b", "paused", tmp_path / "their code"))
    assert path.read_text(encoding="utf-8").count(f" --rescuebench '{tmp_path}/their code' ") == 1


def test_a_client_that_chose_another_port_keeps_it(tmp_path: Path) -> None:
    list(write_environment(tmp_path, "paused"))
    ini = (tmp_path / BINARIES[0]).with_name("unrealcv.ini")
    ini.write_text("[UnrealCV.Core]\nPort=9377\nWidth=224\nHeight=160", encoding="utf-8")
    list(write_environment(tmp_path, "paused"))
    assert read_ini(ini) == IniFile(9377, 224, 160)


def test_the_authors_binary_is_not_overwritten(tmp_path: Path) -> None:
    binary = tmp_path / BINARIES[0]
    binary.parent.mkdir(parents=True)
    binary.write_bytes(b"\x7fELF")
    assert cli(["suite", "rescuebench", "env", "--out", str(tmp_path)]) == 2
    assert binary.read_bytes() == b"\x7fELF"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--ini", "/nowhere/unrealcv.ini"], "No such file"),
        (["--size", "0x5"], "no size: WxH"),
        (["--map", "../etc"], "no name of a map"),
        (["--port", "70000"], "not a port"),
        (["--clock", "fast"], "unknown choice"),
        (["--rescuebench", "/nowhere"], "no checkout of RescueBench"),
    ],
)
def test_a_server_that_cannot_be_is_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["serve", "--suite", "rescuebench", *arguments]) == 2
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1


def test_a_file_with_sizes_that_cannot_be_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ini = tmp_path / "unrealcv.ini"
    ini.write_text("[UnrealCV.Core]\nPort=9000\nWidth=99999\nHeight=480\n", encoding="utf-8")
    assert cli(["serve", "--suite", "rescuebench", "--ini", str(ini)]) == 2
    assert "sizes of 1 to 2048 px" in capsys.readouterr().err
