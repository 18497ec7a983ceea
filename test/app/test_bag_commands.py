"""esar score, replay --into and compare, on bags of small flights."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from esar_ros.app import cli
from helpers.small_mission import mission, write

TRUTH = """
schema: esar-flight-truth/1
map: {map}
t_max: 15
vehicles: {{uav1: {{odom_in_map: [0, 0, 0]}}}}
victims: [{{id: v1, name: Wu, position: [100, 0, 0]}}]
clues: [{{id: c1, kind: tent, description: orange tent, position: [40, 0, 0]}}]
"""


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    write(tmp_path / "one" / "bag", mission(None))
    (tmp_path / "truth.yaml").write_text(TRUTH.format(map="nowhere"))
    return tmp_path / "one" / "bag"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(list(arguments)) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    return line


def test_a_flight_is_scored_against_a_file_and_another_threshold(bag: Path, tmp_path: Path) -> None:
    out = tmp_path / "score.json"
    truth = ["--truth", str(tmp_path / "truth.yaml"), "--json", str(out)]
    assert cli.main(["score", str(bag), *truth]) == 0
    assert json.loads(out.read_text())["metrics"]["clues_exact"] == 1
    assert cli.main(["score", str(bag), *truth, "--error-m", "0.5", "--judge", "label"]) == 0
    result = json.loads(out.read_text())
    assert result["metrics"]["clues_exact"] == 0
    assert result["thresholds"]["error_threshold"] == 0.5
    assert result["judge"].startswith("label")


def test_a_cut_bag_says_where_it_ends(bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = bag / "bag.mcap"
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 3])
    assert "truncated at" in refused(capsys, "score", str(bag))
    out = tmp_path / "score.json"
    assert cli.main(["score", str(bag), "--truth", str(tmp_path / "truth.yaml"), "--json", str(out)]) == 0
    result = json.loads(out.read_text())
    assert 0.0 < result["truncated"] < 15.0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"the bag is truncated at {result['truncated']:.1f} s" in shown


def test_a_copy_leaves_pictures_out(bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "copy"
    assert cli.main(["replay", str(bag), "--into", str(out), "--no-images"]) == 0
    assert "messages written into" in capsys.readouterr().out
    assert b"jpeg at" not in next(out.glob("*.mcap")).read_bytes()
    assert "exists already" in refused(capsys, "replay", str(bag), "--into", str(out))
    assert "rate 0" in refused(capsys, "replay", str(bag), "--rate", "0")
    assert "no topic" in refused(capsys, "replay", str(bag), "--into", str(tmp_path / "x"), "--topics", "typo")


def test_two_flights_are_compared_in_a_picture(bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "two", [entry for entry in mission(None) if not entry[0].endswith("reports")])
    out = tmp_path / "both.png"
    truth = ["--truth", str(tmp_path / "truth.yaml")]
    assert cli.main(["compare", str(bag), str(tmp_path / "two"), "--out", str(out), *truth]) == 0
    data = out.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (1920, 1200)
    assert ".png" in refused(capsys, "compare", str(bag), str(bag), "--out", "x.jpg")
    assert "no ground truth" in refused(capsys, "compare", str(bag), str(bag), "--out", str(out))
