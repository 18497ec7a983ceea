"""The pages that benchmarks write."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import page
import pytest
import reference


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["benchmarks/view.py", "--port", "4", "--page"])
    return tmp_path


def test_a_page_names_command_day_version_machine_and_conditions(results: Path) -> None:
    about = "Word " * 60
    path = page.write_page(
        "benchmarks/view.py", "Title", about, {"seed_of_it": 7}, [page.Table(("a",), [(1,)], "Part")]
    )
    text = path.read_text(encoding="utf-8")
    assert path == results / "view.md"
    assert text.startswith("# Title\n\n<!-- Made by `./esar exec python benchmarks/view.py --port 4 --page`")
    for word in (
        "| day | 20",
        "| version | esar_ros ",
        "| machine | ",
        "| its features | ",
        "| reference | ",
        "| load average (1 min) | ",
        "| seed of it | 7 |",
    ):
        assert word in text
    assert "## Part\n\n| a |\n| --- |\n| 1 |" in text
    assert max(map(len, text.splitlines())) <= 120


def test_parts_of_a_script_are_pages_of_their_own(results: Path) -> None:
    assert page.write_page("benchmarks/view.py", "T", "A.", {}, ["*words*"], "slow").name == "view_slow.md"


def test_a_goal_stands_beside_its_figure_with_interval_and_verdict() -> None:
    figures = {"far_m": 3.14159, "share": 0.5, "nees": 3.0, "count": 12, "never": None}
    goals = {"far_m": 2.0, "share": (0.4, ">="), "nees": [2.0, 4.0]}
    met = {"far_m": False, "share": True, "nees": True}
    table = page.goal_table(figures, goals, met, intervals={"share": (0.25, 0.75)})
    assert [tuple(map(page.shown, row)) for row in table.rows] == [
        ("far m", "3.142", "<= 2", "**missed**"),
        ("share", "0.5 [0.25, 0.75]", ">= 0.4", "met"),
        ("nees", "3", "2 to 4", "met"),
        ("count", "12", "", ""),
        ("never", "-", "", ""),
    ]
    assert page.goal_table(figures, {}, {}).columns == ("figure", "measured")


def test_times_stand_beside_the_reference_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "kernel_ms", lambda: 4.0)
    figures = {"p99_ms": 10.0, "never_ms": None, "four_cuda_ms": 2.0, "far_m": 3.0}
    table = page.goal_table(figures, {"p99_ms": 20.0}, {"p99_ms": True})
    assert table.columns == ("figure", "measured", "of the reference", "goal", "")
    assert [row[2] for row in table.rows] == [2.5, "", "", ""]
    assert page.goal_table(figures, {}, {}).columns == ("figure", "measured", "of the reference")


def test_the_reference_is_measured_once_and_takes_time() -> None:
    assert 0.1 < reference.kernel_ms() == reference.kernel_ms()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("sse2 avx2", "avx2; not avx512f, avx512_vnni, avx_vnni"),
        ("avx2 avx512f avx512_vnni avx_vnni", "avx2, avx512f, avx512_vnni, avx_vnni; not any"),
        ("sse2", "none; not avx2, avx512f, avx512_vnni, avx_vnni"),
    ],
)
def test_features_of_the_processor(flags: str, words: str) -> None:
    assert reference.features(f"processor : 0\nflags\t\t: {flags}\n") == words


def test_cells_cannot_break_a_table() -> None:
    assert page.markdown(page.Table(("a|b",), [("c|d",)])) == "| a\\|b |\n| --- |\n| c\\|d |"


def test_the_flag_is_off_by_default() -> None:
    parser = argparse.ArgumentParser()
    page.add_page(parser)
    assert not parser.parse_args([]).page and parser.parse_args(["--page"]).page
