"""Runs that may stand in one table, and those that are refused: conditions, contents, scores, damaged files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from esar_ros.app.cli import main as cli
from esar_ros.benchmark.report import comparison_page
from esar_ros.benchmark.report.bench_results import read_bench
from esar_ros.benchmark.report.comparison import Report, make_report
from esar_ros.benchmark.report.tables import comparison
from esar_ros.benchmark.runner.store import EPISODES
from esar_ros.mission.errors import UsageError
from esar_ros.suites.esarbench.suite import ESARBENCH
from esar_ros.suites.esarbench.tables import LAYOUT
from helpers.bench_maker import TOLD, make_bench, write_lines

READER = ESARBENCH.reader()
BROKEN = "line 1: no esar-episode/1 record"


def report_of(*folders: Path, **more: Any) -> Report:
    return make_report(read_bench(folders, READER), LAYOUT, draws=200, **more)


OTHERS: dict[str, Any] = {  # a condition, and another value of it
    "preset": "fast", "quality": "low", "governor": False, "odometry": "true", "pace": "realtime", "world": "airsim",
    "detector": "segmentation_oracle", "detector_settings": "d2", "judge": "offline/3", "judge_settings": "j2",
    "vehicle": "v2", "pilot": "p2", "safety": "s2", "tasks": "12, b2", "planner_settings": "m2", "version": "0.2.0",
    "model": "model qwen3, prompt_sha256 12ab", "thresholds": "t2", "faults": True,
}  # fmt: skip


def test_every_condition_is_tried() -> None:
    assert set(OTHERS) == set(TOLD.as_text)


@pytest.mark.parametrize("field", OTHERS)
def test_runs_under_other_conditions_are_refused_and_the_condition_named(tmp_path: Path, field: str) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    make_bench(one, {"apex": 0.3}, events=1)
    make_bench(other, {"apex": 0.3}, events=1, conditions=replace(TOLD, **{field: OTHERS[field]}))
    with pytest.raises(UsageError, match=f"^{field.replace('_', ' ')} of .*other is .*one") as refused:
        report_of(one, other)
    assert "\n" not in str(refused.value)
    assert [method.name for method in report_of(other).methods] == ["apex"]
    rows = report_of(one, other, by=[field])
    assert len(rows.methods) == 2 and all("apex" in method.name for method in rows.methods)
    assert {len(method.episodes) for method in rows.methods} == {4}


def test_what_concerns_one_method_alone_does_not_part_methods(tmp_path: Path) -> None:
    own = replace(TOLD, tasks="6, c3", planner_settings="m9", model="model qwen3")
    make_bench(tmp_path / "a", {"fbe": 0.3}, events=1)
    make_bench(tmp_path / "b", {"apex": 0.3}, events=1, conditions=own)
    assert {method.name for method in report_of(tmp_path / "a", tmp_path / "b").methods} == {"fbe", "apex"}


def test_runs_of_two_suites_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder, suite in zip(folders, ("esarbench", "chess"), strict=True):
        write_lines(folder, make_bench(folder, {"fbe": 0.3}, events=1), suite)
    for order in (folders, folders[::-1]):
        assert cli(["report", *map(str, order)]) == 2
        refusal = f"{folders[1]} is of suite chess, {folders[0]} of esarbench: report them apart"
        assert capsys.readouterr().err == f"esar: {refusal}\n"
    assert cli(["report", str(folders[1])]) == 2
    assert "unknown suite 'chess': known: esarbench" in capsys.readouterr().err


def test_parts_of_one_run_are_one_row(tmp_path: Path) -> None:
    lines = make_bench(tmp_path / "all", {"fbe": 0.3}, events=2)
    for name, part in (("a", lines[:3]), ("b", lines[3:])):
        (tmp_path / name).mkdir()
        write_lines(tmp_path / name, part)
    whole, parts = report_of(tmp_path / "all"), report_of(tmp_path / "a", tmp_path / "b")
    assert [(m.name, m.tasks) for m in parts.methods] == [("fbe", 8)]
    assert parts.cell("fbe", "overall", "rs") == whole.cell("fbe", "overall", "rs")


def test_lines_of_two_runs_in_one_file_are_refused_too(tmp_path: Path) -> None:
    lines = make_bench(tmp_path, {"belief": 0.3}, events=1)
    other = make_bench(tmp_path, {"belief": 0.3}, events=1, conditions=replace(TOLD, planner_settings="m2"))
    write_lines(tmp_path, lines[:2] + other[2:])
    with pytest.raises(UsageError, match="planner settings of belief"):
        report_of(tmp_path)


@pytest.mark.parametrize("what", ["task", "map"])
def test_a_task_or_map_with_another_content_is_refused(tmp_path: Path, what: str) -> None:
    for name, method in (("a", "fbe"), ("b", "zigzag")):
        lines = make_bench(tmp_path / name, {method: 0.3}, events=1)
        for line in lines:
            line["task_digest"] = name if what == "task" else "same"
            line["result"]["map_digest"] = name if what == "map" else "same"
        write_lines(tmp_path / name, lines)
    with pytest.raises(UsageError, match=f"{what} .* is not the {what} .* of "):
        report_of(tmp_path / "a", tmp_path / "b")


def test_unknown_conditions_of_a_later_version_are_one_line(tmp_path: Path) -> None:
    lines = make_bench(tmp_path, {"fbe": 0.3}, events=1)
    lines[0]["conditions"]["moon"] = "full"
    write_lines(tmp_path, lines)
    with pytest.raises(UsageError, match=r"episode e0-.*: conditions that this version does not know"):
        read_bench([tmp_path], READER)


def test_a_method_that_flew_less_is_said(lines: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    make_bench(tmp_path, {"zigzag": 0.3}, events=1)
    report = report_of(lines[0], tmp_path)
    assert any("zigzag flew 4 of the 12 tasks" in note for note in report.notes)
    assert {p.difference.tasks for p in report.pairs["rs"] if "zigzag" in (p.a, p.b)} == {4}


def test_the_same_folder_twice_changes_nothing_and_another_score_is_refused(
    lines: tuple[Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    assert len(read_bench([lines[0], lines[0]], READER).episodes) == len(lines[1])
    other = json.loads(json.dumps(lines[1][:1]))
    other[0]["result"]["metrics"]["coverage"] = 0.123
    write_lines(tmp_path, other)
    with pytest.raises(UsageError, match="with another score"):
        read_bench([lines[0], tmp_path], READER)


def test_a_score_that_depends_on_the_order_of_folders_is_refused(tmp_path: Path) -> None:
    """Conditions that are told alike are the same: of a network its name counts, not where its file lies."""
    for name, detector in (("a", "onnx:/home/a/w.onnx"), ("b", "onnx:/home/b/w.onnx")):
        make_bench(tmp_path / name, {"fbe": 0.3 if name == "a" else 0.9}, conditions=replace(TOLD, detector=detector))
    for order in ("ab", "ba"):
        with pytest.raises(UsageError, match="with another score"):
            read_bench([tmp_path / name for name in order], READER)


def test_the_page_says_no_more_than_was_tested(tmp_path: Path) -> None:
    make_bench(tmp_path, {"belief": 0.95, "twin": 0.94, "greedy": 0.02}, events=9)
    bench = read_bench([tmp_path], READER)
    whole = comparison_page._lead(make_report(bench, LAYOUT))
    assert "not ahead of every other" in whole
    part = comparison_page._lead(make_report(bench, LAYOUT, "greedy"))
    assert "ahead of greedy beyond chance; not tested against every other" in part


def test_methods_without_a_common_task_are_said_not_to_be_tested(tmp_path: Path) -> None:
    lines = make_bench(tmp_path, {"belief": 0.9, "zigzag": 0.1}, events=2)
    kept = [line for line in lines if (line["task"].startswith("e0")) == (line["planner"] == "belief")]
    write_lines(tmp_path, kept)
    report = report_of(tmp_path)
    assert comparison_page._lead(report).endswith(" %, not tested against any other.")
    table = comparison(report)
    assert table.rows == () and "nothing was tested" in table.notes[0]


@pytest.mark.parametrize(
    ("events", "test", "least"),
    [(16, "an exact sign-flip test", "3.05e-05"), (17, "10 000 drawn sign patterns", "0.0001")],
)
def test_the_note_tells_the_test_and_its_least_p_value(tmp_path: Path, events: int, test: str, least: str) -> None:
    make_bench(tmp_path, {"belief": 0.9, "zigzag": 0.1}, events=events, snapshots=1, tasks=1)
    notes = comparison(report_of(tmp_path)).notes
    assert test in notes[0] and notes[-1] == f"With {events} events no p-value is below {least} before the correction."


def test_other_thresholds_are_refused(lines: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    other = json.loads(json.dumps(lines[1][:1]))
    other[0]["result"]["thresholds"]["error_threshold"] = 12.0
    write_lines(tmp_path, other)
    with pytest.raises(UsageError, match=r"error_threshold is 12\.0, elsewhere 10\.0"):
        read_bench([lines[0], tmp_path], READER)


def test_an_edited_score_is_refused(lines: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    text = (lines[0] / EPISODES).read_text(encoding="utf-8").splitlines(keepends=True)
    record = json.loads(text[1])
    record["result"]["metrics"]["rs"] = 1.0
    write_lines(tmp_path, lines[1][:1])
    (tmp_path / EPISODES).write_text(text[0] + json.dumps(record) + "\n" + text[2], encoding="utf-8")
    with pytest.raises(UsageError, match="line 2: the record's content was changed after it was written"):
        read_bench([tmp_path], READER)


def test_only_the_last_line_may_be_torn(lines: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    text = (lines[0] / EPISODES).read_text(encoding="utf-8").splitlines(keepends=True)
    write_lines(tmp_path, lines[1][:1])
    (tmp_path / EPISODES).write_text("".join(text[:3]) + text[3][:200], encoding="utf-8")
    bench = read_bench([tmp_path], READER)
    assert len(bench.episodes) == 3 and bench.torn == 1
    (tmp_path / EPISODES).write_text(text[0][:100] + "\n" + text[1], encoding="utf-8")
    with pytest.raises(UsageError, match="line 1: no esar-episode/1 record"):
        read_bench([tmp_path], READER)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no episode in"),
        ("[1]\n{}\n", BROKEN),
        ('{"schema":"esar-episode/1"}\n{}\n', BROKEN),
        ("[" * 3000 + "\n{}\n", BROKEN),
        ('{"n":' + "9" * 6000 + "}\n{}\n", BROKEN),
        ('{"schema":"esar-episode/1","index":1e999}\n{}\n', BROKEN),
        ("\x80\n{}\n", BROKEN),
    ],
)
def test_bad_files_are_one_line(tmp_path: Path, content: str, message: str) -> None:
    write_lines(tmp_path, [])
    (tmp_path / EPISODES).write_text(content, encoding="latin-1")
    with pytest.raises(UsageError, match=message):
        read_bench([tmp_path], READER)
    with pytest.raises(UsageError, match=r"holds no episodes\.jsonl"):
        read_bench([tmp_path / "none"], READER)
