"""AOA: what the model is asked, what becomes of its answers, and what is done without one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import StepAction, StepKind, StepPose
from esar_ros.planning.exchange import Question
from esar_ros.planning.methods.models.aoa import FixedStep, VariableStep
from esar_ros.planning.steps.aoa import AoaFixed, AoaVariable
from helpers.steps import go, level, seen, step_task

SCRIPTED = {"model": {"preset": "scripted"}}
DOWN = {"model": {"base_url": "http://127.0.0.1:9/v1", "name": "none", "attempts": 1, "timeout": 2.0, "images": False}}


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PRESET", "URL", "NAME", "KEY", "LOG", "REPLAY", "CLOCK"):
        monkeypatch.delenv(f"ESAR_MODEL_{name}", raising=False)


def asked(agent: AoaFixed, answer: Any = None, **observed: Any) -> tuple[Sequence[Question], Any]:
    """The agent's last question, and what it makes of an answer."""
    thought = agent._deliberate(seen(**observed))
    questions = next(thought)
    if questions[0].purpose == "caption":
        questions = thought.send([_Reply(None)] * 4)  # type: ignore[list-item]
    try:
        thought.send([_Reply(answer)])  # type: ignore[list-item]
    except StopIteration as end:
        return questions, end.value
    raise AssertionError("it asks on")


class _Reply:
    reason = "no answer"

    def __init__(self, value: Any) -> None:
        self.value = value


def test_the_prompt_holds_goal_box_actions_pooled_depth_and_the_last_ten_poses() -> None:
    agent = AoaFixed(SCRIPTED)
    agent.reset(step_task(level(100.0, -20.0)), 0)
    for number in range(12):
        [question], _ = asked(agent, number=number, pose=level(float(number), yaw=30.0), depths={"front": 6.7})
    lines = question.text.splitlines()
    assert '"Bench". Size: "mid(2.5*2.0=5.0 squares)". Description: "A bench of grey planks."' in lines[0]
    assert "x from 50 to 150, y from -70 to 30. Action 12 of at most 150." in lines[1]
    assert "forward 5 m" in lines[2] and "up 2 m" in lines[2] and "turn_left 15 degrees" in lines[2]
    assert lines[3] == "front: no caption Depth: [7, 7, 7; 7, 7, 7; 7, 7, 7]"
    assert [line.partition(":")[0] for line in lines[3:7]] == ["front", "left", "right", "down"]
    assert lines[7].count("[") == 10 and lines[7].endswith("[11, 0, 10, 30]") and "[2, 0, 10, 30]" in lines[7]


def test_depth_may_keep_its_decimals_and_other_grids() -> None:
    agent = AoaFixed({**SCRIPTED, "pooled": 2, "whole_metres": False})
    agent.reset(step_task(), 0)
    [question], _ = asked(agent, depths={"left": 6.75})
    assert "left: no caption Depth: [6.8, 6.8; 6.8, 6.8]" in question.text


def test_the_box_rule_is_an_option() -> None:
    edge = level(48.0)
    for kept, expected in ((True, StepKind.TURN_LEFT), (False, StepKind.FORWARD)):
        agent = AoaFixed({**SCRIPTED, "kept_inside": kept})
        agent.reset(step_task(), 0)
        assert agent.act(seen(pose=edge)).kind is expected, "with room ahead the scripted model goes straight on"


def test_variable_steps_are_as_long_as_the_model_says() -> None:
    agent = AoaVariable(SCRIPTED)
    agent.reset(step_task(), 0)
    _, action = asked(agent, VariableStep(action="up", magnitude=3.25))
    assert action == go("up", 3.25)
    fixed = AoaFixed(SCRIPTED)
    fixed.reset(step_task(), 0)
    assert asked(fixed, FixedStep(action="up"))[1] == go("up")


@pytest.mark.parametrize(("front", "expected"), [(100.0, "forward"), (4.0, "turn_left")])
def test_without_an_answer_it_goes_on_where_there_is_room(front: float, expected: str) -> None:
    agent = AoaFixed(DOWN)
    agent.reset(step_task(), 0)
    action: StepAction = agent.act(seen(depths={"front": front}))
    assert action.kind.value == expected
    assert agent.account["without_model"] == 1


def test_the_scripted_model_flies_an_episode() -> None:
    agent = AoaVariable(SCRIPTED)
    assert (agent.name, agent.eligible, agent.details["model"]) == ("aoa_v@scripted", True, "esar-scripted-3")
    agent.reset(step_task(), 0)
    pose: StepPose = level()
    for number in range(8):
        action = agent.act(seen(number, pose))
        assert action.kind is not StepKind.STOP
        pose = pose.after(action.kind, step_task().size(action))
        assert abs(pose.position[:2]).max() <= 50.0
    assert agent.account == {"tokens_in": 0, "tokens_out": 40, "without_model": 0}, "one an answer, uncounted"


def test_the_scripted_model_climbs_out_of_a_place_without_a_way() -> None:
    agent = AoaFixed(SCRIPTED)
    agent.reset(step_task(), 0)
    pose, kinds = level(z=8.0), []
    for number in range(20):
        near = 11.0 if pose.position[2] < 10.0 else 14.0  # m, of the ground in the lower part of an image
        kinds.append(agent.act(seen(number, pose, depths=near)).kind)
        pose = pose.after(kinds[-1], step_task().sizes[kinds[-1]])
    assert kinds[:9] == [StepKind.TURN_LEFT] * 9 and kinds.count(StepKind.UP) == 1
    assert kinds[-1] is StepKind.FORWARD


def test_a_running_clock_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESAR_MODEL_CLOCK", "running")
    with pytest.raises(UsageError, match="aoa_f@scripted: the model's clock is running"):
        AoaFixed(SCRIPTED)
