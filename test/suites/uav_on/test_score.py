"""The score of a run's logs as table and as JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from esar_ros.scoring.object_goal import Rules
from esar_ros.scoring.result import canonical_json
from esar_ros.suites.uav_on.score import LogScore
from helpers.uav_on_golden import CASES, write_case, write_cases

GOLDEN = Path(__file__).parent / "golden_scores.json"


def shown(score: LogScore) -> str:
    out = io.StringIO()
    Console(file=out, width=80).print(score.table())
    return out.getvalue()


def row(text: str, name: str) -> list[str]:
    """Cells of a size class in both tables."""
    lines = [line.split()[1:] for line in text.splitlines() if line.split()[:1] == [name]]
    assert len(lines) == 2
    return lines[0] + lines[1]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    write_cases(out)
    return out


@pytest.mark.parametrize("rules", Rules, ids=lambda rules: rules.value)
def test_the_rows_of_the_golden_logs(run: Path, rules: Rules) -> None:
    """Rows worked out by hand from the cases' own expectations."""
    expected = json.loads(GOLDEN.read_text(encoding="utf-8"))[rules.value]
    text = shown(LogScore(run, rules))
    for name in ("small", "mid", "big", "total"):
        assert row(text, name) == expected[name]


def test_json_holds_conditions_rows_and_every_episode(run: Path) -> None:
    document: dict[str, Any] = json.loads(canonical_json(LogScore(run, Rules.STRICT).document()))
    assert (document["schema"], document["suite"], document["rules"]) == ("uav-on-score/1", "uav-on", "strict")
    assert (document["poses"], document["shortest"]) == ("commanded", "dataset")
    assert document["scores"]["total"]["episodes"] == len(CASES) == len(document["episodes"])
    by_id = {int(episode["id"]): episode for episode in document["episodes"]}
    for id, case in enumerate(CASES):
        assert by_id[id]["success"] is case.strict.success
        assert by_id[id]["oracle"] is case.strict.oracle
        assert by_id[id]["dts"] == pytest.approx(case.strict.dts)
        assert by_id[id]["spl"] == pytest.approx(case.strict.spl, abs=1e-6)
        assert by_id[id]["ending"] == case.ending
        assert by_id[id]["contact_in_stop_by_name"] is case.contact_at_stop
        assert by_id[id]["outcome_from"] == "folder"


def test_a_class_without_episodes_is_a_row_of_dashes(tmp_path: Path) -> None:
    write_case(tmp_path, 0, CASES[0])
    score = LogScore(tmp_path, Rules.CODE)
    assert row(shown(score), "mid") == ["–"] * 10
    assert set(score.document()["scores"]) == {"small", "total"}


def test_notes_tell_what_the_numbers_rest_on(tmp_path: Path) -> None:
    write_case(tmp_path, 0, CASES[0])
    assert LogScore(tmp_path, Rules.PAPER).notes() == []
    write_case(tmp_path, 1, CASES[2])
    write_case(tmp_path, 2, CASES[0], "oracle")
    write_case(tmp_path, 0, CASES[0], "failure")
    write_case(tmp_path, 3, CASES[-1])
    (write_case(tmp_path, 4, CASES[0]) / "object_description.json").unlink()
    notes = "\n".join(LogScore(tmp_path, Rules.CODE).notes())
    assert "of 5 by the folder's name, 0 by the log" in notes
    assert "by the folder's name alone: 2 (" in notes  # task 1, and task 0 that is logged twice
    assert "contradict each other: 1 (" in notes
    assert "Logged more than once, each counts: 1 (standin_line 0)" in notes
    assert "in the total alone: 1 (" in notes
    assert "left out: 1 (" in notes and "task_4 has no object_description.json" in notes
