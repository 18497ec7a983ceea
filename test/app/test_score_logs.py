"""`esar score DIR --suite uav-on`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from esar_ros.app import cli
from helpers.uav_on_golden import CASES, write_case, write_cases


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(list(arguments)) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    return line


def test_a_runs_logs_are_scored_under_the_rules_that_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_cases(tmp_path / "run")
    successes = {}
    for rules in ("code", "paper", "strict"):
        out = tmp_path / f"{rules}.json"
        arguments = ["score", str(tmp_path / "run"), "--suite", "uav-on", "--json", str(out)]
        assert cli.main(arguments + (["--rules", rules] if rules != "code" else [])) == 0  # code is the default
        assert f"rules: {rules}" in capsys.readouterr().out
        document = json.loads(out.read_text())
        assert document["rules"] == rules
        successes[rules] = sum(episode["success"] for episode in document["episodes"])
    assert successes == {
        rules: sum(case.expected(rules).success for case in CASES) for rules in ("code", "paper", "strict")
    }
    assert successes["code"] < successes["paper"]


def test_bad_logs_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no episode of UAV-ON" in refused(capsys, "score", str(tmp_path), "--suite", "uav-on")
    assert "cannot read" in refused(capsys, "score", str(tmp_path / "nowhere"), "--suite", "uav-on")
    path = write_case(tmp_path, 0, CASES[0]) / "log" / "trajectory.jsonl"
    path.write_text("{}\n" + path.read_text())
    assert "line 1, key frame" in refused(capsys, "score", str(tmp_path), "--suite", "uav-on")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--rules", "code"), ("--rules", "uav-on", "esarbench")),
        (("--suite", "uav-on", "--judge", "label"), ("--judge", "esarbench", "uav-on")),
        (("--suite", "uav-on", "--truth", "truth.yaml"), ("--truth",)),
        (("--suite", "uav-on", "--error-m", "5"), ("--error-m",)),
        (("--suite", "uav-on", "--rules", "lenient"), ("lenient", "esar score --help")),
        (("--suite", "nothing"), ("nothing",)),
    ],
    ids=lambda value: " ".join(value),
)
def test_arguments_of_another_suite_are_refused(
    arguments: tuple[str, ...], words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = refused(capsys, "score", str(tmp_path), *arguments)
    assert all(word in line for word in words), line
