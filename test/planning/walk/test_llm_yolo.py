"""The walker that asks a language model: what it is told, what becomes of its moves, and of answers that are none."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.geometry.frames import Vector
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import Animation, Head, Phase, StandingPose, WalkAction, WalkObservation
from esar_ros.planning.walk import llm_yolo, registry
from esar_ros.planning.walk.llm_yolo import LlmYolo, Move, actions_of
from helpers.box_view import BoxView
from helpers.chat_server import ChatEndpoint
from helpers.walk_room import LOW, START, STEP, TASK, VICTIM, WALLS, Eyes, Room

AHEAD = np.array([-2.0, -4.0, 0.9])  # 2 m in front of where everybody starts
SEEN_TASK = replace(TASK, description="Someone in red lies by the wall.")


def plan(*moves: tuple[str, float]) -> dict[str, Any]:
    return {"reason": "so", "moves": [{"action": action, "amount": amount} for action, amount in moves]}


def an_agent(monkeypatch: pytest.MonkeyPatch, *persons: Vector, images: bool = False) -> LlmYolo:
    """One that asks the test's endpoint once a question."""
    monkeypatch.setattr(llm_yolo, "backend", lambda: Eyes(persons))
    agent = LlmYolo({"model": {"attempts": 1, "images": images}})
    agent.reset(SEEN_TASK, 0)
    return agent


def told(chat: Any, number: int = -1) -> list[str]:
    """The lines of a question."""
    return str(chat.prompt_of(chat.requests[number][1])).splitlines()


def line(chat: Any, beginning: str, number: int = -1) -> str:
    (found,) = [words for words in told(chat, number) if words.startswith(beginning)]
    return found


def seen(position: Vector = START, yaw: float = 0.0, **values: Any) -> WalkObservation:
    view = BoxView(position, yaw, [*WALLS, *LOW])
    given = {"number": 0, "seconds": 12.0, "phase": Phase.FIND_INJURED, "carrying": False}
    return WalkObservation(pose=StandingPose(position, yaw), view=view, **{**given, **values})


def test_it_is_told_text_boxes_bearings_depth_and_the_way_back(
    chat: ChatEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.answers(chat.says(plan(("turn_left", 33.6))))
    agent = an_agent(monkeypatch, AHEAD)
    agent.act(seen())
    agent.act(seen(yaw=math.radians(16.8)))
    assert len(chat.requests) == 1 and not chat.images_of(chat.requests[0][1])
    agent.act(seen(START + [0.0, 3.0, 0.0], yaw=math.radians(33.6)))
    assert line(chat, "Text:") == 'Text: "Someone in red lies by the wall."'
    assert line(chat, "Now:") == "Now: find the victim and pick them up. 12 s of 180 s are over."
    found = re.search(
        r"person \(score 0.90\) \[(\d+), \d+, (\d+), \d+\] ([\d.]+) m, 0 degrees", line(chat, "In view", 0)
    )
    assert found is not None and float(found[3]) == pytest.approx(2.0, abs=0.3)
    assert int(found[1]) < 500 < int(found[2])  # straight ahead is the middle of the image
    assert line(chat, "Persons seen before", 0) == "Persons seen before: none."
    assert line(chat, "Last moves", 0) == "Last moves, oldest first: none."
    assert line(chat, "Start:") == "Start: 3.0 m, 124 degrees to the right."
    before = re.search(r"person \(score [\d.]+\) ([\d.]+) m, (\d+) degrees to the right", line(chat, "Persons seen"))
    assert before is not None and "nothing" in line(chat, "In view")
    assert [float(number) for number in before.groups()] == pytest.approx([3.6, 90.0], abs=4.0)
    depth = line(chat, "Depth", 0)
    assert depth.count(";") == 2 and "free" in depth
    assert line(chat, "Last moves").startswith(
        "Last moves, oldest first: turn_left 33.6 degrees: went 3.0 m, turned 34"
    )


def test_a_model_that_sees_gets_the_image(chat: ChatEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    chat.answers(chat.says(plan(("forward", 1.0))))
    an_agent(monkeypatch, images=True).act(seen())
    assert len(chat.images_of(chat.requests[0][1])) == 1


def test_moves_are_walked_one_after_another_before_it_is_asked_again(
    chat: ChatEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.answers(chat.says(plan(("turn_right", 20.0), ("look_down", 0.0), ("pick_up", 0.0), ("open_door", 0.0))))
    agent = an_agent(monkeypatch)
    actions = [agent.act(seen(yaw=0.1 * number)) for number in range(5)]
    turned = -20.0 / (2.8 * STEP) / 2.0
    assert [action.angle for action in actions] == pytest.approx([turned, turned, 0.0, 0.0, 0.0])
    assert [action.head for action in actions] == [Head.NONE, Head.NONE, Head.DOWN, Head.NONE, Head.NONE]
    assert [action.animation for action in actions[2:]] == [Animation.STAND, Animation.CARRY, Animation.OPEN_DOOR]
    assert len(chat.requests) == 1 and agent.account["questions"] == 1 and agent.account["tokens_in"] == 100


def test_no_answer_walks_on_blindly_for_more_than_five_seconds(
    chat: ChatEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.answers(chat.says(plan(("forward", 300.0))))
    agent = an_agent(monkeypatch)
    for number in range(25):
        agent.act(seen(START + [0.2 * number, 0.0, 0.0]))
    assert len(chat.requests) == 1
    agent.act(seen(START + [5.0, 0.0, 0.0]))
    assert len(chat.requests) == 2 and "went 5.0 m" in line(chat, "Last moves")


def test_where_walking_leads_nowhere_it_asks_at_once_and_says_so(
    chat: ChatEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.answers(chat.says(plan(("forward", 4.0), ("turn_left", 90.0))))
    agent = an_agent(monkeypatch)
    asked = []
    for _ in range(8):
        agent.act(seen())
        asked.append(len(chat.requests))
    assert asked == [1, 1, 1, 2, 2, 2, 3, 3]
    assert line(chat, "Last moves").endswith("forward 4 m: then blocked; forward 4 m: then blocked.")


def test_the_next_phase_drops_what_was_to_follow(chat: ChatEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    chat.answers(chat.says(plan(("turn_left", 300.0))))
    agent = an_agent(monkeypatch)
    agent.act(seen())
    agent.act(seen(phase=Phase.FIND_STRETCHER, carrying=True))
    assert len(chat.requests) == 2
    assert line(chat, "Now:").startswith("Now: carry the victim to the stretcher")
    assert "turn_left 300 degrees: cut short by the next phase" in line(chat, "Last moves")


@pytest.mark.parametrize(
    "answer",
    [
        "I would go left.",
        {"moves": []},
        {"moves": [{"action": "fly"}]},
        {"moves": [{"action": "forward", "amount": -1}]},
    ],
    ids=["words", "nothing", "another action", "backwards"],
)
def test_an_answer_that_is_none_costs_a_step_and_is_counted(
    chat: ChatEndpoint, monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    chat.answers(chat.says(answer), chat.says(plan(("forward", 0.2))))
    agent = an_agent(monkeypatch)
    assert agent.act(seen()) == WalkAction()
    assert agent.account["without_model"] == 1
    assert agent.act(seen(number=1)) == WalkAction(1.0)
    assert line(chat, "Last moves") == "Last moves, oldest first: no usable answer: stood still."
    assert agent.account == {"questions": 2, "without_model": 1, "tokens_in": 200, "tokens_out": 20}


def test_nothing_of_the_truth_is_in_a_question(chat: ChatEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the observation holds it, and where a detector sees nobody since a wall is between."""
    chat.answers(chat.says(plan(("forward", 1.0))))
    for target in (None, VICTIM):
        an_agent(monkeypatch, VICTIM).act(seen(target=target))
    withheld, given = (told(chat, number) for number in (0, 1))
    assert withheld == given and line(chat, "In view").endswith(": nothing.")


def test_the_scripted_model_finds_and_picks_up_whom_it_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PRESET", "URL", "NAME", "LOG", "REPLAY", "CLOCK"):
        monkeypatch.delenv(f"ESAR_MODEL_{name}", raising=False)
    person = np.array([-4.0, 3.0, 0.9])  # to the left of the start
    monkeypatch.setattr(llm_yolo, "backend", lambda: Eyes([person]))
    walks: list[Sequence[WalkAction]] = []
    for _ in range(2):
        agent = registry.create("llm_yolo@scripted")
        assert isinstance(agent, LlmYolo) and agent.eligible
        agent.reset(SEEN_TASK, 0)
        room = Room(agent)
        actions: list[WalkAction] = []
        while room.steps < 150 and not (actions and actions[-1].animation is Animation.CARRY):
            actions.append(room.step())
        assert math.dist(room.position[:2], person[:2]) < TASK.pick_up and agent.account["without_model"] == 0
        room.carrying = True
        for _ in range(60):
            room.step()
        assert math.dist(room.position[:2], START[:2]) < 4.0  # it is on its way back
        walks.append(actions)
    assert walks[0] == walks[1]


@given(st.sampled_from(["forward", "back", "turn_left", "turn_right"]), st.floats(0.01, 360.0))
def test_a_moves_steps_make_its_amount(action: str, amount: float) -> None:
    actions = actions_of(Move.model_validate({"action": action, "amount": amount}), STEP)
    assert actions == [one.clipped() for one in actions]
    walked = STEP * sum(one.speed for one in actions)
    turned = 2.8 * STEP * sum(one.angle for one in actions)
    expected = {"forward": (amount, 0.0), "back": (-amount, 0.0), "turn_left": (0.0, amount)}
    assert (walked, turned) == pytest.approx(expected.get(action, (0.0, -amount)))


def test_its_results_name_model_prompt_settings_and_detector(chat: ChatEndpoint) -> None:
    one, other = (LlmYolo({"model": {"temperature": warm}}).details for warm in (0.0, 0.7))
    assert one["model"] == "scripted" and len(one["prompt_sha256"]) == 64 and one["detector_backend"] == "esar_yolo"
    assert one["settings"] != other["settings"] and chat.secret not in str(one)


def test_what_cannot_be_asked_is_one_line(chat: ChatEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "llm_yolo" in registry.names() and registry.create("llm_yolo").name == "llm_yolo"
    with pytest.raises(UsageError, match="unknown variant 'llm_yolo@other': known: llm_yolo@scripted"):
        registry.create("llm_yolo@other")
    monkeypatch.setenv("ESAR_MODEL_CLOCK", "running")
    with pytest.raises(UsageError, match="planner llm_yolo: the model's clock is running"):
        registry.create("llm_yolo")
    monkeypatch.delenv("ESAR_MODEL_CLOCK")
    monkeypatch.setenv("ESAR_MODEL_PRESET", "scripted")
    with pytest.raises(UsageError, match="planner llm_yolo is llm_yolo@scripted with these settings"):
        registry.create("llm_yolo")
    monkeypatch.delenv("ESAR_MODEL_PRESET")
    monkeypatch.delenv("ESAR_MODEL_URL")
    with pytest.raises(UsageError, match="planner llm_yolo asks a language model and none is configured"):
        registry.create("llm_yolo")
