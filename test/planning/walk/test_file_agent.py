"""Agents in files of other people: made, reset and asked as RescueBench's public code does it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import Animation, Head, Phase, StandingPose, WalkAction, WalkObservation, WalkTask
from esar_ros.planning.walk import registry
from esar_ros.planning.walk.agent import WalkAgent
from helpers.box_view import BoxView

TASK = WalkTask("L2-0", 1, "Someone in red.", 180.0, 0.2, pick_up=1.0, put_down=2.0)
HERE = StandingPose(np.array([1.0, 2.0, 0.9]), np.pi / 2)

SOLUTION = """
import base64, json, pathlib
class AlgSolution:
    def __init__(self):
        self.words = pathlib.Path("words.txt").read_text()
    def reset(self, {reset}):
        pathlib.Path("told.json").write_text(json.dumps([reference_text, reference_image]))
    def predicts(self, observation, {predicts}):
        assert base64.b64decode(observation).startswith(b"\\x89PNG") and self.words == "beside it"
        return {answer}
"""
AGENT = """
from agents.agent_base import BaseAgent
import numpy as np
class Mine(BaseAgent):
    def reset(self):
        self.count = 0
    def act(self, observation, info):
        self.count += 1
        assert observation.dtype == np.uint8 and observation.shape[2] == 3 and observation.flags["C_CONTIGUOUS"]
        assert "target_pose" not in info and info["Pose"] == [100.0, -200.0, 90.0, 0.0, -90.0, 0.0], info
        assert info["reference_text"] == "Someone in red." and info["place_distance"] == 200.0
        move = np.array([-30.0, 50.0], dtype=np.float32)
        return (move, self.count % 3, 4 if info["picked"] else 0), {"seen": self.count}
"""


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], WalkAgent]:
    """Makes the agent of a file's text; what it imports of a checkout lies beside it."""
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / "agent_base.py").write_text("class BaseAgent:\n    pass\n")
    (folder / "words.txt").write_text("beside it")
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(text: str) -> WalkAgent:
        path = folder / "mine.py"
        path.write_text(text)
        return registry.create(f"file:{path}")

    return make


def seen(number: int = 0, carrying: bool = False, **more: Any) -> WalkObservation:
    phase = Phase.FIND_STRETCHER if carrying else Phase.FIND_INJURED
    return WalkObservation(number, 0.2 * number, phase, carrying, HERE, BoxView(HERE.position, HERE.yaw, []), **more)


def solution(answer: object, reset: str = "reference_text, reference_image, info", predicts: str = "picked") -> str:
    return SOLUTION.format(answer=repr(answer), reset=reset, predicts=predicts)


@pytest.mark.parametrize(
    ("reset", "predicts"),
    [
        ("reference_text, reference_image", "picked"),
        ("reference_text=None, reference_image=None, info=None", "picked, info=None"),
        ("reference_text, reference_image, more", "picked, more"),
        ("reference_text, reference_image, **more", "score, **more"),
    ],
)
def test_a_solution_is_told_what_it_takes(
    made: Callable[[str], WalkAgent], tmp_path: Path, reset: str, predicts: str
) -> None:
    here = Path.cwd()
    agent = made(solution({"angular": 15, "velocity": -50, "viewport": 2, "interaction": 3}, reset, predicts))
    agent.reset(TASK, 0)
    assert agent.act(seen()) == WalkAction(-0.5, -15.0, Head.NONE, Animation.CARRY)
    assert json.loads((tmp_path / "agents" / "told.json").read_text()) == ["Someone in red.", None]
    assert Path.cwd() == here and agent.eligible and agent.name.startswith("file:")


def test_an_agent_of_the_public_code_walks_in_every_episode(made: Callable[[str], WalkAgent]) -> None:
    agent = made(AGENT)
    for _ in range(2):
        agent.reset(TASK, 0)
        assert agent.act(seen()) == WalkAction(0.5, 30.0, Head.UP)
        assert agent.act(seen(1, carrying=True)) == WalkAction(0.5, 30.0, Head.DOWN, Animation.DROP)


def test_its_target_is_told_only_to_one_who_asked_for_the_truth(made: Callable[[str], WalkAgent]) -> None:
    agent = made(
        AGENT.replace('assert "target_pose" not in info', 'assert info["target_pose"][:3] == [300.0, 0.0, 90.0]')
    )
    agent.reset(TASK, 0)
    agent.act(seen(target=np.array([3.0, 0.0, 0.9])))


@pytest.mark.parametrize("answer", ["left", {"angular": "left"}, ((1.0,), 0), ((1.0, 2.0), 7), None])
def test_an_answer_that_is_no_action_is_said_to_be_none(made: Callable[[str], WalkAgent], answer: object) -> None:
    agent = made(solution(answer))
    agent.reset(TASK, 0)
    with pytest.raises(ValueError, match="its answer is no action"):
        agent.act(seen())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import no_such_module_1", "does not load: ModuleNotFoundError: No module named 'no_such_module_1'"),
        ("class AlgSolution", "does not load: SyntaxError"),
        ("x = 1", "neither AlgSolution nor a subclass of BaseAgent"),
        ("from agents.agent_base import BaseAgent\n", "neither AlgSolution nor"),
        (AGENT + "class Other(Mine):\n    pass\n", "holds Mine, Other"),
        (
            "class AlgSolution:\n    def __init__(self):\n        raise OSError('no\\nweights')",
            "fails: OSError: no weights",
        ),
        ("class AlgSolution:\n    pass", r"AlgSolution has no predicts\(\)"),
        ("raise SystemExit(3)", "does not load: SystemExit: 3"),
    ],
)
def test_a_bad_file_is_one_line(made: Callable[[str], WalkAgent], text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as refused:
        made(text)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file of that name"):
        registry.create(f"file:{tmp_path / 'none.py'}")
