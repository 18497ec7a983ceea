"""The line a person watches: parsed from the referee's output, rewritten on a terminal, sparse elsewhere."""

from __future__ import annotations

import io
import json

import pytest

from esar_ros.app import progress
from esar_ros.app.progress import ProgressLine, parse
from esar_ros.nodes.graph.progress import PHASES, PREFIX, Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_progress_line_is_parsed() -> None:
    line = PREFIX + json.dumps({"phase": "search", "elapsed": 12.0, "t_max": 300.0, "clues": 3})
    assert parse(line) == Progress("search", elapsed=12.0, t_max=300.0, clues=3)


@pytest.mark.parametrize(
    "line",
    [
        "[WARN] something",
        "",
        PREFIX + "no json",
        PREFIX + '{"phase": "search", "colour": 1}',
        PREFIX + "[1, 2]",
        PREFIX + "{}",
        f" {PREFIX}" + '{"phase": "search"}',
    ],
)
def test_any_other_line_is_none(line: str) -> None:
    assert parse(line) is None


def test_elsewhere_a_phase_gets_a_line_and_then_one_every_few_seconds(clock: list[float]) -> None:
    out = io.StringIO()
    line = ProgressLine(out)
    for second in range(25):
        clock[0] = 100.0 + second
        line.show(Progress("search", elapsed=float(second), t_max=300.0))
    line.show(Progress("land", elapsed=25.0, t_max=300.0))
    line.close()
    assert [text.split()[0] for text in out.getvalue().splitlines()] == ["Searching"] * 3 + ["Landing"]
    assert "\r" not in out.getvalue()


def test_a_terminal_s_line_is_rewritten_and_a_new_phase_begins_a_new_one() -> None:
    out = Terminal()
    line = ProgressLine(out)
    for second in range(5):
        line.show(Progress("search", elapsed=float(second), t_max=300.0))
    line.show(Progress("ended", text="timeout"))
    line.close()
    assert out.getvalue().count("\r\x1b[2K") == 6
    assert out.getvalue().count("\n") == 2


def test_a_note_does_not_spoil_the_line() -> None:
    out = Terminal()
    line = ProgressLine(out)
    line.show(Progress("search"))
    line.note("uav1-pilot ended with -9, starting it again")
    line.close()
    assert out.getvalue().splitlines()[-1] == "  uav1-pilot ended with -9, starting it again"
    assert out.getvalue().count("\n") == 2


def test_the_numbers_are_shown(clock: list[float]) -> None:
    out = io.StringIO()
    line = ProgressLine(out)
    clock[0] += 20.0
    line.show(Progress("search", elapsed=150.0, t_max=300.0, coverage=0.123, clues=4, reports=2, mode="hold"))
    text = out.getvalue()
    assert "━" * 10 + "─" * 10 in text
    for word in ("150 / 300 s", "12.3 %", "clues 4", "reports 2", "7.5x", "hold"):
        assert word in text


def test_why_the_governor_holds_is_told_and_a_terminal_s_line_never_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Progress("search", elapsed=150.0, t_max=300.0, mode="hold", text="position moved 6.7 m otherwise")
    out = io.StringIO()
    ProgressLine(out).show(held)
    assert "hold  position moved 6.7 m otherwise" in out.getvalue()
    monkeypatch.setenv("COLUMNS", "60")
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    ProgressLine(terminal).show(held)
    assert len(terminal.getvalue().removeprefix("\r\x1b[2K")) == 59


def test_candidates_are_told_apart_from_clues() -> None:
    out = io.StringIO()
    ProgressLine(out).show(Progress("search", t_max=300.0, clues=3, candidates=28))
    assert "clues 3 (28 candidates)" in out.getvalue()


def test_the_governor_s_normal_mode_needs_no_word() -> None:
    out = io.StringIO()
    ProgressLine(out).show(Progress("search", t_max=300.0, mode="normal"))
    assert "normal" not in out.getvalue()


@pytest.mark.parametrize(("elapsed", "t_max", "filled"), [(0.0, 0.0, 0), (400.0, 300.0, 20), (5.0, 0.0, 0)])
def test_the_bar_stays_in_its_frame(elapsed: float, t_max: float, filled: int) -> None:
    out = io.StringIO()
    ProgressLine(out).show(Progress("search", elapsed=elapsed, t_max=t_max))
    assert out.getvalue().count("━") == filled
    assert out.getvalue().count("─") == 20 - filled


def test_it_tells_whether_the_mission_s_clock_has_run() -> None:
    line = ProgressLine(io.StringIO())
    assert not line.flown
    for phase in ("start", "join"):
        line.show(Progress(phase))
        assert not line.flown
    line.show(Progress("arm"))
    assert line.flown


def test_every_phase_has_words_for_people() -> None:
    for phase in {"start", "ended", *PHASES.values()}:
        out = io.StringIO()
        ProgressLine(out).show(Progress(phase))
        assert out.getvalue().strip().split("  ")[0] != phase
