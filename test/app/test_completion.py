"""`esar completion`: the script that it prints completes in a real bash."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from esar_ros.app import completion

WORDS = [
    (("esar", "mis"), {"mission"}),
    (("esar", "mission", "--veh"), {"--vehicles"}),
    (("esar", "mission", "--planner", "beli"), {"belief", "belief_model"}),
    (("esar", "mission", "--task", "aotai-fi"), {"aotai-first"}),
    (("esar", "mission", "--world", "p"), {"px4"}),
    (("esar", "mission", "--out", "no"), set()),
    (("esar", "tasks", "lis"), {"list"}),
    (("esar", "tasks", "list", "--set", "d"), {"dev", "demo"}),
    (("esar", "bench", "--planners", "zig"), {"zigzag"}),
    (("esar", "completion", "z"), {"zsh"}),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("completion") / "script"
    path.write_text(completion.script(), encoding="utf-8")
    return path


@pytest.mark.parametrize(("typed", "expected"), WORDS, ids=lambda value: " ".join(sorted(value)))
def test_words_are_completed(made: Path, typed: tuple[str, ...], expected: set[str]) -> None:
    words = " ".join(typed)
    ask = f'source {made}; COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _esar; echo "${{COMPREPLY[@]}}"'
    run = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True, timeout=30)
    assert set(run.stdout.split()) == expected
    assert run.stderr == ""
