"""Long benchmarks tell what is left before they fly it, go on where they were ended, and refuse what does not fit."""

from __future__ import annotations

import sys
from pathlib import Path

import methods as methods_script
import pytest

from esar_ros.planning import registry


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
