"""Long benchmarks tell what is left before they fly it, go on where they were ended, and refuse what does not fit."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import choices as choices_script
import methods as methods_script
import pytest

from esar_ros.planning import registry

SECONDS = 20.0


@pytest.fixture
def choices(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., NoReturn]:
    """Runs benchmarks/choices.py over two tasks to its exit, each flight replaced; `most` are flown till Ctrl-C."""

    def run(most: int = 100, code: str = "abc", seconds: float = SECONDS) -> NoReturn:
        flown: list[str] = []

        def flight_of(planner: str, task: Any) -> dict[str, Any]:
            if len(flown) == most:
                raise KeyboardInterrupt
            flown.append(f"{task.id} {planner}")
            away = 0 if planner == choices_script.FIRST else 300  # dm
            return {"among": [6], "changed": [planner == "semexp"], "track": [[away, 0]] * 9, "simulated": SECONDS,
                    "cpu": 2.0 * SECONDS}  # fmt: skip

        monkeypatch.setattr(choices_script, "flight_of", flight_of)
        monkeypatch.setattr(choices_script, "measured_code", lambda: code)
        given = ["--planners", "semexp,vlfm_labels", "--limit", "2", "--seconds", str(seconds), "--out", str(tmp_path)]
        monkeypatch.setattr(sys, "argv", ["choices.py", *given])
        choices_script.end_with(choices_script.main)

    return run


def test_choices_go_on_where_they_were_ended(
    choices: Callable[..., NoReturn], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        choices(most=4)
    assert capsys.readouterr().out.startswith("6 of 6 flights left: 0.0 h flown")
    with pytest.raises(SystemExit) as end:
        choices()
    told = capsys.readouterr().out
    assert told.startswith("2 of 6 flights left: 0.0 h flown, 0.0 h CPU")
    figures = json.loads(told.splitlines()[-1])["figures"]
    assert figures["semexp"] == {
        "tasks": 2, "choices": 2, "own_term": 100.0, "among": 6.0, "apart": 30.0, "apart_most": 30.0
    }  # fmt: skip
    assert figures["vlfm_labels"]["own_term"] == 0.0 and end.value.code == 1, "its own term decides nothing"


@pytest.mark.parametrize("other", [{"code": "def"}, {"seconds": 30.0}])
def test_choices_of_other_code_or_length_are_not_mixed(
    choices: Callable[..., NoReturn], other: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        choices()
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        choices(**other)
    told = capsys.readouterr().err
    assert end.value.code == 2 and "other settings" in told and told.count("\n") == 1


def test_the_nine_methods_fly_eight_dev_tasks_and_the_cost_is_told_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[list[str]] = []

    def bench(flags: list[str]) -> int:
        asked.append(flags)
        return methods_script.INTERRUPTED

    monkeypatch.setattr(methods_script, "bench", bench)
    for run in ("nine", "stand_ins"):
        monkeypatch.setattr(sys, "argv", ["methods.py", run, "--out", str(tmp_path / run)])
        assert methods_script.main() == methods_script.INTERRUPTED
        told = capsys.readouterr().out
        assert told.startswith("72 of 72 episodes left: at most ")
        assert ("million tokens" in told) == (run == "nine"), "the scripted model costs none"
        flags = asked[-1]
        assert flags[: flags.index("--planners")] == ["--tasks", "dev", "--limit", "8"]
        names = flags[flags.index("--planners") + 1].split(",")
        assert len(names) == 9 and {name.partition("@")[0] for name in names} <= set(registry.names())
