"""esar maps: what it prints and draws, and its one-line refusals."""

from __future__ import annotations

import re
import sys
from importlib.metadata import metadata
from pathlib import Path

import cv2
import pytest

import esar_ros
from esar_ros.app.cli import main


def test_list_names_all_maps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["maps", "list"]) == 0
    text = capsys.readouterr().out
    for name in ("aotai", "dapeng", "k2", "lop_nur", "shipped"):
        assert name in text


def test_show_prints_facts_and_draws_a_sheet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheets = [tmp_path / "a.png", tmp_path / "b.png"]
    for path in sheets:
        assert main(["maps", "show", "dapeng", "--out", str(path), "--pixels", "400"]) == 0
    text = capsys.readouterr().out
    for fact in ("22.51200 N", "0 to 397 m AMSL", "forest", "ridge_path", "level at 0 m AMSL", "UTC+8.0 h"):
        assert fact in text
    assert "50QKK5394091467 (EPSG:32650); grid north lies 0.92 deg west of the map's north there" in text
    image = cv2.imread(str(sheets[0]))
    assert image.shape[0] > 500 and image.std() > 20.0
    assert sheets[0].read_bytes() == sheets[1].read_bytes()


def test_an_import_without_its_packages_names_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyproj", None)
    assert main(["maps", "import", "x.tif", "--id", "x", "--character", "alpine"]) == 2
    assert capsys.readouterr().err == "esar: maps import needs pyproj: ./esar exec pip install 'esar_ros[geo]'\n"


def test_every_extra_that_a_message_names_is_one_of_the_package() -> None:
    sources = Path(esar_ros.__file__).parent.rglob("*.py")
    named = {
        extra for path in sources for extra in re.findall(r'\binstall\("(\w+)"\)', path.read_text(encoding="utf-8"))
    }
    assert len(named) > 6 and named <= set(metadata("esar_ros").get_all("Provides-Extra", []))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["show", "moon"], "unknown map 'moon'"),
        (["show", "k2", "--pixels", "10"], "between 200 and 4000"),
        (["show", "dapeng", "--pixels", "200", "--out", "/nowhere/at/all.png"], "cannot write /nowhere/at/all.png"),
        (["import", "x.tif", "--id", "x", "--character", "alpine", "--centre", "north"], "two numbers, LAT,LON"),
        (["import", "x.tif", "--id", "x", "--character", "alpine", "--centre", "91,0"], "latitude within 89"),
    ],
)
def test_bad_input_gets_one_line(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["maps", *argv]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
