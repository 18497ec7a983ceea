"""JUnit reports of benchmarks and of scores, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from esar_ros.app import bench, score
from esar_ros.benchmark.report.junit import Case, exit_code, write_junit
from esar_ros.benchmark.runner.store import EPISODE_SCHEMA, EPISODES
from esar_ros.mission.errors import UsageError
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


def test_a_benchmark_with_an_error_fails(tmp_path: Path) -> None:
    records = [
        {"schema": EPISODE_SCHEMA, "id": f"{task}/fbe/7", "index": index, "task": task, "planner": "fbe", "seed": 7,
         "status": status, "reason": reason, "timing": {"wall": 1.5}}
        for index, (task, status, reason) in enumerate((("one", "ok", ""), ("two", "agent_error", "KeyError: 'x'")))
    ]  # fmt: skip
    for kept, code in ((records[:1], 0), (records, 1)):
        (tmp_path / EPISODES).write_text("".join(json.dumps(record) + "\n" for record in kept))
        assert bench.report(tmp_path, "esarbench", "") == 0
        assert bench.report(tmp_path, "esarbench", str(tmp_path / "report.xml")) == code
        cases = ElementTree.parse(tmp_path / "report.xml").getroot()
        assert [case.attrib["name"] for case in cases] == [record["id"] for record in kept]
    assert cases[1][0].attrib["message"] == "agent_error: KeyError: 'x'"


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
