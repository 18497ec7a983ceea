"""From benchmark runs to tables, figures and the page."""

from __future__ import annotations

import csv
import html
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from esar_ros.benchmark.report.bench_results import read_bench
from esar_ros.benchmark.report.comparison import Better, Report, make_report
from esar_ros.benchmark.report.comparison_figures import gallery_tasks, group_figure, safety_figure, svg
from esar_ros.benchmark.report.comparison_page import render_page, write_report
from esar_ros.benchmark.report.formatting import PAGE_POLICY
from esar_ros.benchmark.report.table import Cell, Table, latex, markdown, table_csv, tex_text
from esar_ros.benchmark.report.tables import by_group, print_report, terminal_table
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.statistics import Unit
from esar_ros.suites.esarbench.paper import PAPER
from esar_ros.suites.esarbench.suite import ESARBENCH
from esar_ros.suites.esarbench.tables import LAYOUT, NAMES, SCORES
from helpers.bench_maker import make_bench, write_lines

READER = ESARBENCH.reader()
BROKEN = "line 1: no esar-episode/1 record"


def report_of(*folders: Path, **more: Any) -> Report:
    return make_report(read_bench(folders, READER), LAYOUT, draws=200, **more)


@pytest.fixture(scope="module")
def report(lines: tuple[Path, list[dict[str, Any]]]) -> Report:
    return report_of(lines[0])


def terminal(report: Report) -> str:
    out = io.StringIO()
    Console(file=out, width=80).print(terminal_table(report))
    return out.getvalue()


def test_a_terminal_of_80_columns_shows_every_method_and_number_in_full(report: Report) -> None:
    written = terminal(report)
    assert all(method.name in written for method in report.methods) and "…" not in written
    assert "crashed ↓" in written and "↓ lower is better" in written


def test_long_names_cost_no_digit(report: Report) -> None:
    methods = tuple(replace(method, name=f"{method.name}@a_rather_long_variant") for method in report.methods)
    cells = {(f"{name}@a_rather_long_variant", group, figure): c for (name, group, figure), c in report.cells.items()}
    out = io.StringIO()
    print_report(replace(report, methods=methods, cells=cells), Console(file=out, width=80))
    assert "stay@a_rather_long_variant*" in out.getvalue() and "…" not in out.getvalue()


def by_name(report: Report) -> dict[str, Table]:
    return {table.name: table for table in report.layout.sections(report) if isinstance(table, Table)}


def test_means_are_those_of_the_lines_with_seeds_averaged_per_task(
    lines: tuple[Path, list[dict[str, Any]]], report: Report, skills: dict[str, float]
) -> None:
    for method in skills:
        for tier in ("simple", "overall"):
            per_task: dict[str, list[float]] = {}
            for line in lines[1]:
                if line["planner"] == method and tier in ("overall", line["result"]["task"]["tier"]):
                    per_task.setdefault(line["task"], []).append(line["result"]["metrics"]["rs"])
            found = report.cell(method, tier, "rs")
            assert found is not None
            assert found.mean == pytest.approx(np.mean([np.mean(v) for v in per_task.values()]), abs=1e-12)
            assert found.tasks == len(per_task)
            assert found.low <= found.mean <= found.high


def test_rows_stand_in_order_and_references_do_not_compete(report: Report) -> None:
    assert [method.name for method in report.methods] == ["belief", "fbe", "flooder", "stay"]
    assert {(pair.a, pair.b) for pair in report.pairs["rs"]} == {("belief", "fbe")}
    table = by_name(report)["table2"]
    assert [row[0].text for row in table.rows] == ["belief", "fbe", "flooder*", "stay*"]
    assert table.rules == (2,)


def test_the_tables_have_the_paper_s_layout(report: Report) -> None:
    tables = by_name(report)
    for name, pair in (("table2", ("SR", "TSR")), ("table3", ("CDS", "RS"))):
        table = tables[name]
        assert [text for text, _ in table.groups][1:6] == ["Simple", "Medium", "Hard", "Extreme", "Overall"]
        assert table.heads == ("method", *[f"{head} ↑" for head in pair] * 5, "tasks", "seeds")
        assert all(row[-2].text == "12" and row[-1].text == "2" for row in table.rows)
        assert all(
            re.fullmatch(r"-?\d+\.\d\d", cell.text) and cell.interval for row in table.rows for cell in row[1:11]
        )


def test_every_victim_of_every_episode_stands_under_one_cause(tmp_path: Path) -> None:
    lines = make_bench(tmp_path, {"fbe": 0.5, "zigzag": 0.1}, events=2)
    causes = ["found", "seen_not_reported", "looked_and_missed", "found"]
    for number, line in enumerate(lines):
        for victim in line["result"]["victims"]:
            victim["cause"] = causes[number % 4] if line["planner"] == "fbe" else "too_late"
    write_lines(tmp_path, lines)
    table = by_name(report_of(tmp_path))["losses"]
    rows = {row[0].text: dict(zip(table.heads, (cell.text for cell in row), strict=True)) for row in table.rows}
    assert rows["fbe"]["victims"] == rows["zigzag"]["victims"] == rows["zigzag"]["too late"] == "16"
    assert (rows["fbe"]["found"], rows["fbe"]["seen, not reported"], rows["fbe"]["looked and missed"]) == (
        "8",
        "4",
        "4",
    )
    assert "not recorded" not in table.heads and "too late" in markdown(table)
    del lines[0]["result"]["victims"][0]["cause"]
    write_lines(tmp_path, lines)
    assert by_name(report_of(tmp_path))["losses"].heads[-1] == "not recorded"


def test_what_an_episode_cost_stands_in_a_table(tmp_path: Path) -> None:
    lines = make_bench(tmp_path, {"fbe": 0.5, "navgpt": 0.1}, events=2)
    for line in lines:
        line["timing"] |= {"cpu": 100.0, "simulated": 450.0}
        asked = line["planner"] == "navgpt"
        spent = {"decisions": 450, "latency_mean": 0.0125, "asked": 30 * asked, "tokens_in": 9000 * asked}
        line["result"]["timing"] |= spent
    line["timing"] |= {"cpu": 0.0, "simulated": 0.0}  # its worker was lost: what it cost is not known
    line["result"]["timing"] |= {"decisions": 0, "latency_mean": 0.0, "tokens_in": 0}
    write_lines(tmp_path, lines)
    table = by_name(report_of(tmp_path))["costs"]
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    assert table.heads[1:4] == ("CPU time (s)", "flown a CPU second (s)", "thinking a decision (ms)")
    assert rows["fbe"][:5] == ["100", "4.5", "12.5", "0.0", "0.0"]
    assert rows["navgpt"][:5] == ["100", "4.5", "12.5", "30.0", "9000"]
    for line in lines:  # of a time when they were not counted
        line["result"]["timing"].pop("asked", None)
    write_lines(tmp_path, lines)
    assert "decisions asked of a model" not in by_name(report_of(tmp_path))["costs"].heads


@pytest.mark.parametrize(
    ("where", "value", "told"),
    [
        (("timing", "cpu"), 1e-308, "e0-s0-t0/fbe/0: flown_per_cpu is inf"),
        (("result", "timing", "latency_mean"), 1e308, "thinking is inf"),
        (("result", "timing", "tokens_in"), 10**400, "a whole number in it is too large"),
        (("result", "metrics", "path_length"), 1e300, "path_length is 1e+300"),
        (("result", "metrics", "reports"), 10**400, "a whole number in it is too large"),
    ],
)
def test_a_number_that_cannot_be_averaged_is_refused(
    tmp_path: Path, where: tuple[str, ...], value: float, told: str
) -> None:
    lines = make_bench(tmp_path, {"fbe": 0.5}, events=1)
    *path, last = where
    lines[0]["timing"]["simulated"] = lines[0]["result"]["timing"]["decisions"] = 450
    part = lines[0]
    for key in path:
        part = part[key]
    part[last] = value
    write_lines(tmp_path, lines)
    with pytest.raises(UsageError, match=re.escape(told)):
        report_of(tmp_path)


def test_the_table_says_where_a_model_s_answers_failed(report: Report) -> None:
    told = "0 of 12 answers of the model could be used: HTTP 500 (12 times)"
    first = next(episode for episode in report.bench.episodes if episode.planner == "belief")
    episodes = tuple(replace(e, trouble=told) if e is first else e for e in report.bench.episodes)
    (note,) = [note for note in make_report(replace(report.bench, episodes=episodes), LAYOUT, draws=20).notes
               if "model" in note]  # fmt: skip
    assert note.startswith("belief: the model's answers failed in 1 episodes, e.g. ") and told in note


def test_scores_under_each_judge_stand_beside_each_other(report: Report) -> None:
    table = by_name(report)["judges"]
    assert table.heads == ("method", "exact label ↑", "offline judge ↑")
    assert "label, offline/2" in table.notes[0] and "No model was asked" in table.notes[1]
    offline, own = report.cell("belief", "overall", "cds_offline"), report.cell("belief", "overall", "cds")
    assert offline is not None and own is not None and offline.mean == pytest.approx(own.mean, abs=1e-6)


def test_sensitivity_never_falls_with_the_threshold(report: Report) -> None:
    for method in report.methods:
        for score in SCORES:
            cells = [report.cell(method.name, "overall", f"{score}@{gate}") for gate in (5, 10, 20)]
            means = [cell.mean for cell in cells if cell is not None]
            assert len(means) == 3 and means == sorted(means)


def test_every_file_is_written_and_the_page_stands_alone(report: Report, tmp_path: Path) -> None:
    page, *others = write_report(report, tmp_path)
    assert page.name == "report.html"
    names = {path.name for path in others}
    assert {"table2.md", "table2.tex", "table2.csv", "table3.tex", "paper.md", "figure5.svg", "tiers.svg"} <= names
    assert {"tracks.jpg", "episodes.csv", "comparison.csv"} <= names
    text = page.read_text(encoding="utf-8")
    assert PAGE_POLICY in html.unescape(text.partition("<title>")[0]), "before anything that it must hold for"
    assert not re.search(r"(?:src|href)=\"(?!data:|#)", text) and "<script" not in text and "@import" not in text
    assert PAPER.caveat in html.unescape(text)
    assert "nan" not in re.sub(r"data:[^\"]+|<svg.*?</svg>", "", text, flags=re.S).lower()
    assert PAPER.caveat in (tmp_path / "paper.md").read_text(encoding="utf-8")
    rows = list(csv.DictReader((tmp_path / "episodes.csv").open(encoding="utf-8")))
    assert len(rows) == 4 * 12 * 2 and all(row["rs"] for row in rows)
    again = tmp_path / "again"
    write_report(report, again)
    for path in (page, *others):
        assert path.read_bytes() == (again / path.name).read_bytes(), path.name


def test_failed_episodes_are_kept_and_named(tmp_path: Path) -> None:
    lines = make_bench(tmp_path, {"fbe": 0.5, "zigzag": 0.1}, events=2)
    lines[0] |= {"status": "agent_error", "reason": "ValueError: <b>boom</b>"}
    failed_run = {"eligible": False, "ineligible_reasons": ["the run failed"]}
    lines[0]["result"] |= {"end": "error", "error": "boom", **failed_run}
    write_lines(tmp_path, lines)
    report = report_of(tmp_path)
    assert any("fbe: 1 agent error of 8 episodes" in note for note in report.notes)
    assert all(method.competes for method in report.methods), "a failure is in the means, no reason to leave them"
    page = render_page(report, report.layout.sections(report), {})
    assert "&lt;b&gt;boom" in page and "<b>boom" not in page
    assert any("Only 2 events" in note for note in report.notes)
    table = by_name(report)["table2"]
    failed = {row[0].text: (row[-1].text, row[-1].bad, row[0].bad) for row in table.rows}
    assert table.heads[-1] == "failed" and table.groups[-1] == ("", 3)
    assert failed == {"fbe": ("1 of 8", True, True), "zigzag": ("–", False, False)}
    assert '<td class="bad">fbe' in page and '<td class="bad">zigzag' not in page


def test_one_task_has_no_interval(tmp_path: Path) -> None:
    make_bench(tmp_path, {"fbe": 0.5, "zigzag": 0.1}, events=1, snapshots=1, tasks=1, seeds=2)
    report = report_of(tmp_path)
    tables = by_name(report)
    for cell in (tables["table2"].rows[0][-3], tables["comparison"].rows[0][1]):
        assert (cell.interval, cell.note) == ("", "1 task")
    assert "(1 task)" in markdown(tables["table2"]) and "(1 task)" in latex(tables["table2"])
    assert "low" not in table_csv(tables["table2"]).splitlines()[0]
    written = terminal(report)
    assert "1 task" in written and ", " not in written.splitlines()[1]


@pytest.mark.parametrize("tasks", [6, 7])
def test_values_that_are_alike_but_for_their_last_bits_are_drawn(report: Report, tasks: int) -> None:
    """Means of draws of the same 0.1 lie 1e-17 beside it."""
    first = report.bench.episodes[0]
    alike = first.figures | {"rs": 0.1, "elapsed": 300.1, "safe_flight_distance": 10.1}
    episodes = tuple(
        replace(first, unit=Unit("e0", f"e0-{k % 2}", f"t{k}"), group="simple", figures=alike) for k in range(tasks)
    )
    one = make_report(replace(report.bench, episodes=episodes), LAYOUT)
    found = one.cell(first.planner, "simple", "rs")
    assert found is not None and found.low == pytest.approx(found.mean) == found.high
    assert "</svg>" in svg(group_figure(one)) and "</svg>" in svg(safety_figure(one))


def test_every_figure_is_better_the_way_that_its_arrow_says(report: Report) -> None:
    layout = report.layout
    ways = {layout.head(figure) for figure in ("rs", "crashed", "elapsed", "sr@5", "precision") if figure in NAMES}
    assert ways == {"RS ↑", "crash rate ↓", "task time (s)", "precision ↑"}
    assert layout.better_way("sr@5") is Better.HIGHER
    page = render_page(report, report.layout.sections(report), {})
    assert "higher is better, ↓ lower is better" in page
    lower = by_group(replace(report, layout=replace(layout, better={"cds_label": Better.LOWER})), "t", "t", ("rs",))
    assert [row[0].text for row in lower.rows if row[-3].best] == ["belief"], "the highest of a score"
    assert Better.LOWER.best([3.0, 1.0]) == 1.0 and Better.HIGHER.best([3.0, 1.0]) == 3.0


@pytest.mark.parametrize(("status", "best"), [("ok", ["fbe"]), ("agent_error", [])])
def test_the_zero_of_a_failed_episode_is_no_low_value(report: Report, status: str, best: list[str]) -> None:
    episodes = tuple(
        replace(e, figures=e.figures | {"crashed": 0.0}, status=status)
        if e.planner == "fbe"
        else replace(e, figures=e.figures | {"crashed": 1.0})
        for e in report.bench.episodes
    )
    table = by_group(make_report(replace(report.bench, episodes=episodes), LAYOUT, draws=20), "t", "t", ("crashed",))
    assert [row[0].text for row in table.rows if any(cell.best for cell in row)] == best


def test_a_method_alone_is_compared_with_the_oracle_for_reference(tmp_path: Path) -> None:
    make_bench(tmp_path / "a", {"fbe": 0.4}, events=2)
    make_bench(tmp_path / "b", {"oracle": 1.0}, events=2, eligible=False, ineligible_reasons=("uses ground truth",))
    report = report_of(tmp_path / "a", tmp_path / "b")
    table = by_name(report)["comparison"]
    assert [row[0].text for row in table.rows] == ["fbe − oracle†"]
    assert any("for reference" in note for note in table.notes)
    drawn = svg(group_figure(report))
    assert "oracle†" in drawn and ">fbe<" in drawn
    alone = by_name(report_of(tmp_path / "a"))["comparison"]
    assert alone.rows == () and alone.notes == ("There is one method alone.",)


def test_oracles_stand_apart(lines: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    reason = "planner oracle uses ground truth"
    make_bench(tmp_path, {"oracle": 1.0}, eligible=False, ineligible_reasons=(reason,))
    report = report_of(lines[0], tmp_path)
    assert report.methods[-1].name == "oracle" and not report.methods[-1].competes
    assert not any("oracle" in (pair.a, pair.b) for pair in report.pairs["sr"])
    table = by_name(report)["table2"]
    assert table.rows[-1][0].text == "oracle†" and not any(cell.best for cell in table.rows[-1])
    assert any(reason in note for note in table.notes)
    against = report_of(lines[0], tmp_path, against="oracle")
    assert {pair.b for pair in against.pairs["rs"]} == {"oracle"}


def test_a_reason_that_all_share_is_said_once_and_they_compete(tmp_path: Path) -> None:
    reason = "detector segmentation_oracle uses ground truth"
    make_bench(tmp_path / "a", {"fbe": 0.4, "zigzag": 0.2}, events=2, eligible=False, ineligible_reasons=(reason,))
    both = (reason, "planner oracle uses ground truth")
    make_bench(tmp_path / "b", {"oracle": 1.0}, events=2, eligible=False, ineligible_reasons=both)
    report = report_of(tmp_path / "a", tmp_path / "b")
    assert report.notes[0] == f"No row is eligible: {reason}. Compare within this page only."
    assert [(method.name, method.ineligible) for method in report.methods] == [
        ("fbe", ()), ("zigzag", ()), ("oracle", both[1:]),
    ]  # fmt: skip


def test_unknown_methods_to_compare_with_are_refused(lines: tuple[Path, list[dict[str, Any]]]) -> None:
    with pytest.raises(UsageError, match="no method 'magic' to compare with: known: belief, fbe"):
        report_of(lines[0], against="magic")


def test_gallery_spreads_over_maps(report: Report) -> None:
    chosen = gallery_tasks(report, 3)
    assert len({task.split("-")[0] for task in chosen}) == 3  # one event a map here
    assert gallery_tasks(report, 100) and len(set(gallery_tasks(report, 100))) == 12


def test_formats_escape_what_they_must() -> None:
    table = Table(
        "t", "A & B", (("", 1), ("G", 1)), ("method", "x_1"),
        ((Cell("a|b_%"), Cell("1.00", "0.50, 1.50", True)),), (), ("n",),
    )  # fmt: skip
    assert "| a\\|b_% | **1.00** [0.50, 1.50] |" in markdown(table)
    marked = markdown(Table("t", "T", (), ("method",), ((Cell("stay*"),),), (), ("* Reference row",)))
    assert r"| stay\* |" in marked and "\n\\* Reference row" in marked, "a list's bullet would take the mark away"
    text = latex(table)
    assert r"a|b\_\%" in text and r"\textbf{1.00} {\scriptsize [0.50, 1.50]}" in text and r"A \& B" in text
    assert text.count("{") == text.count("}")
    assert tex_text("†*−") == r"$^\dagger$$^*$$-$"
    assert list(csv.reader(io.StringIO(table_csv(table)))) == [
        ["method", "G x_1", "G x_1 low", "G x_1 high"],
        ["a|b_%", "1.00", "0.50", "1.50"],
    ]
