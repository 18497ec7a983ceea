"""The model is asked in words that it can answer, and an answer knows what it is about."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from esar_ros.mission.clues import KINDS
from esar_ros.mission.observation import SeenClue
from esar_ros.planning.exchange import Question, Reply
from esar_ros.planning.methods.maps import goal_questions as module
from esar_ros.planning.methods.maps.goal_graph import NODE_KINDS

HOME = np.zeros(3)


def clue(number: int, kind: str, east: float) -> SeenClue:
    return SeenClue(number, kind, "", 0.9, np.array([east, 0.0, 0.0]), np.eye(3), 1, 10.0, 1.0, 1.0)


def asked(thought: Any) -> Question:
    (question,) = next(thought)
    assert question.system in module.PROMPTS and question.text.startswith("situation\n")
    return question


def answered(thought: Any, value: Any) -> module.Answer:
    asked(thought)
    with pytest.raises(StopIteration) as end:
        thought.send([Reply(value=value, reason="" if value is not None else "no answer")])
    return end.value.value


@pytest.mark.parametrize(("sees", "kinds"), [(True, NODE_KINDS), (False, KINDS)])
def test_who_sees_no_pictures_is_asked_for_no_landmarks(sees: bool, kinds: Any) -> None:
    question = asked(module.ask_for_graph("situation", sees))
    assert question.text.endswith(f"Kinds: {', '.join(kinds)}.")


def test_groups_are_numbered_and_their_scores_are_of_their_ids() -> None:
    groups = [[clue(3, "tent", 50.0), clue(5, "food_wrapper", 50.0)], [clue(4, "rope", -50.0)]]
    thought = module.ask_for_correlations("situation", ["person", "tent"], groups, HOME)
    lines = asked(thought).text.split("\n")
    assert lines[1:3] == ["It looks for: person, tent.", "Groups:"]
    assert [line.split(",")[0] for line in lines[3:]] == ["1: tent", "2: rope"]
    assert "food wrapper" in lines[3]
    thought = module.ask_for_correlations("situation", ["person"], groups, HOME)
    answer = answered(thought, module.Correlations(scores=[0.4, 0.1]))
    assert answer.about == ((3, 5), (4,))
    assert isinstance(answer.value, module.Correlations) and answer.value.scores == [0.4, 0.1]


def test_a_correction_is_about_all_that_has_matched() -> None:
    matched = [clue(3, "tent", 50.0), clue(4, "rope", -50.0)]
    assert asked(module.ask_for_correction("situation", matched, HOME)).text.count("\n") == 3
    assert answered(module.ask_for_correction("situation", matched, HOME), None) == module.Answer(
        None, "no answer", ((3, 4),)
    )
