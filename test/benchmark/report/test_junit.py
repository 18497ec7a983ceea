"""JUnit reports of benchmarks and of scores, and their exit codes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from esar_ros.app import bench, score
from esar_ros.benchmark.report.junit import Case, exit_code, write_junit
from esar_ros.benchmark.runner.records import read_episodes
from esar_ros.benchmark.runner.store import EPISODES
from esar_ros.mission.errors import UsageError
from helpers.light_episode import LightEpisode, failure, light_plan
from helpers.small_mission import mission, write

TRUTH = """
schema: esar-flight-truth/1
t_max: 15
vehicles: {uav1: {odom_in_map: [0, 0, 0]}}
victims: [{id: v1, position: [100, 0, 0]}]
clues: [{id: c1, kind: tent, description: orange tent, position: [40, 0, 0]}]
"""


def test_a_failed_case_says_why_in_xml_whatever_it_holds(tmp_path: Path) -> None:
    cases = [Case("fbe", "aotai-first", seconds=2.5), Case("mllm", "a<b>", "no & \x1b[31manswer\nat all")]
    write_junit(tmp_path / "report.xml", "esarbench", cases)
    root = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert (root.attrib["tests"], root.attrib["failures"], root.attrib["time"]) == ("2", "1", "2.500")
    passed, failed = root
    assert (passed.attrib["classname"], passed.attrib["name"], len(passed)) == ("fbe", "aotai-first", 0)
    assert failed.attrib["name"] == "a<b>"
    assert (failed[0].attrib["message"], failed[0].text) == ("no & ?[31manswer", "no & ?[31manswer\nat all")
    assert exit_code(cases) == 1 and exit_code(cases[:1]) == exit_code([]) == 0


def test_a_report_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write"):
        write_junit(tmp_path / "file" / "report.xml", "esarbench", [])


def flown(folder: Path, planners: str, junit: str = "") -> int:
    """Returns the exit code of a benchmark of two light tasks in folder/out."""
    suite: Any = SimpleNamespace(
        sets=(),
        options=(),
        plan=lambda tasks, planners, seeds, options: light_plan(len(tasks), planners),
        maps=lambda jobs: (),
        episode=lambda: LightEpisode(folder),
        failed=failure,
    )
    given = {"tasks": "task0,task1", "planners": planners, "out": str(folder / "out"), "junit": junit}
    defaults = {"suite": "esarbench", "seeds": 1, "workers": 1, "limit": None, "timeout": 0.0, "ray": ""}
    return bench.bench(suite, argparse.Namespace(**defaults, **given))


def test_a_benchmark_without_errors_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert flown(tmp_path, "ok") == 0
    assert capsys.readouterr().err == ""


def test_a_benchmark_with_errors_ends_with_1_whenever_they_were_flown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = (
        "esar: 2 of 4 episodes ended with an error and score 0 (2 agent-raise agent error): their reasons are in "
        f"{tmp_path}/out/episodes.jsonl\n"
    )
    assert flown(tmp_path, "ok,agent-raise") == 1
    assert capsys.readouterr().err == told
    episodes = tmp_path / "out" / EPISODES
    kept = episodes.read_text()
    episodes.write_text("".join(kept.splitlines(keepends=True)[:3]))
    assert flown(tmp_path, "ok,agent-raise") == 1, "it goes on: a sound episode was left to fly"
    assert flown(tmp_path, "ok,agent-raise", str(tmp_path / "report.xml")) == 1, "nothing was left to fly"
    assert capsys.readouterr().err == 2 * told
    assert len((tmp_path / "begun.txt").read_text().split()) == 5
    cases = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert [case.attrib["name"] for case in cases] == [record.id for record in read_episodes(tmp_path / "out", dict)]
    assert [fault.attrib["message"] for fault in cases.iter("failure")] == ["agent_error: KeyError: 'x'"] * 2


def test_a_bag_that_scores_differently_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "bag", mission(None))
    (tmp_path / "truth.yaml").write_text(TRUTH)
    given = [str(tmp_path / "bag"), "--truth", str(tmp_path / "truth.yaml")]
    expected, report = tmp_path / "result.json", tmp_path / "report.xml"
    assert score.main([*given, "--json", str(expected)]) == 0
    flags = [*given, "--expect", str(expected), "--junit", str(report)]
    assert score.main(flags) == 0
    assert ElementTree.parse(report).getroot().attrib["failures"] == "0"
    document = json.loads(expected.read_text(encoding="utf-8"))
    for other, where in ((document | {"planner": "another"}, "in planner"), (document, "in its bytes")):
        expected.write_text(json.dumps(other), encoding="utf-8")
        assert score.main(flags) == 1
        root = ElementTree.parse(report).getroot()
        assert root.attrib["failures"] == "1" and root[0][0].attrib["message"].endswith(where)
        assert where in capsys.readouterr().err


def test_what_a_score_is_compared_with_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        score.main(["bag", "--expect", str(tmp_path / "nowhere.json")])
    with pytest.raises(UsageError, match="--expect"):
        score.main(["bag", "--junit", str(tmp_path / "report.xml")])
