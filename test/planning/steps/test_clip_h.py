"""CLIP-H's rules over given scores, and the stand-in's scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import StepKind, StepObservation, StepPose
from esar_ros.planning.steps import clip_h
from esar_ros.planning.steps.clip_h import ClipH, ClipHLabels, ClipHText, LabelledViews, WordEncoder
from helpers.steps import FlatViews, level, seen, step_task

Scores = Mapping[str, float]


class Given:
    """Gives the scores that it is told, in turn."""

    name = "given"

    def __init__(self) -> None:
        self.words, self.rows = "", [dict.fromkeys(("front", "left", "right", "down"), 0.0)]

    def read(self, text: str) -> None:
        self.words = text

    def scores(self, views: Any) -> Scores:
        return self.rows.pop(0)


class Rule(ClipH):
    def scorer(self) -> Any:
        return Given()


def row(front: float = 0.0, left: float = 0.0, right: float = 0.0, down: float = 0.0) -> dict[str, float]:
    return {"front": front, "left": left, "right": right, "down": down}


def answers(rows: Sequence[Scores], pose: StepPose | None = None, start: StepPose | None = None, **views: Any) -> list:
    agent = Rule({})
    agent.reset(step_task(start), 0)
    agent._scorer.rows = list(rows)  # type: ignore[attr-defined]
    return [agent.act(seen(number, pose, **views)).kind.value for number in range(len(rows))]


def test_the_description_alone_is_read() -> None:
    agent = Rule({})
    agent.reset(step_task(), 0)
    assert agent._scorer.words == "A bench of grey planks."  # type: ignore[attr-defined]


def test_it_steps_towards_the_best_view_and_stops_at_the_threshold_even_at_once() -> None:
    assert answers([row(front=0.1)]) == ["forward"]
    assert answers([row(left=0.2)]) == ["left"]
    assert answers([row(right=0.239)]) == ["right"]
    assert answers([row(down=0.2)]) == ["down"]
    assert answers([row(left=0.24)]) == ["stop"]
    assert answers([row()]) == ["forward"], "the first of equals"


def test_a_step_back_takes_the_next_best() -> None:
    there_and_back = [row(left=0.2), row(right=0.2, front=0.1)]
    assert answers(there_and_back) == ["left", "forward"]
    assert answers([row(right=0.2), row(left=0.2, down=0.1)]) == ["right", "down"]
    assert answers([*there_and_back, row(right=0.2)]) == ["left", "forward", "right"], "only the last step counts"


def test_a_refused_descent_may_become_a_step_back() -> None:
    """The step back is judged of the best view alone."""
    rows = [row(left=0.2), row(down=0.2, right=0.15, front=0.1)]
    assert answers(rows, depths={"down": 3.0}) == ["left", "right"]
    rows = [row(left=0.2), row(right=0.2, down=0.15, front=0.1)]
    assert answers(rows, depths={"down": 3.0}) == ["left", "forward"], "both refused"


def test_it_does_not_descend_where_anything_is_near() -> None:
    """The nearest of all four views counts, in whole metres rounded down."""
    assert answers([row(down=0.2)], depths=math.inf) == ["down"]
    low = [row(down=0.2, right=0.1)]
    assert answers(low, depths={"front": 5.9}) == ["right"]
    assert answers(low, depths={"left": 6.0}) == ["down"]


@pytest.mark.parametrize(
    ("place", "best", "expected"),
    [
        (level(44.9), row(front=0.1), "forward"),
        (level(45.1), row(front=0.1), "turn_left"),
        (level(0.0, 45.1), row(left=0.1), "turn_left"),
        (level(0.0, -45.1), row(right=0.1), "turn_left"),
        (level(60.0), row(down=0.1), "down"),
    ],
)
def test_a_move_out_of_the_box_becomes_a_left_turn(place: StepPose, best: Scores, expected: str) -> None:
    assert answers([best], place) == [expected]


@pytest.mark.parametrize("start", [0.1, -29.9, -28.4, 21.7])
@pytest.mark.parametrize("yaw", [0.0, 90.0, 180.0, -90.0])
def test_ten_steps_from_the_middle_reach_the_box_s_side_and_no_rounding_forbids_it(start: float, yaw: float) -> None:
    begin = pose = level(start, start, yaw=yaw)
    for _ in range(10):
        assert answers([row(front=0.1)], pose, begin) == ["forward"]
        pose = pose.after(StepKind.FORWARD, 5.0)
    assert answers([row(front=0.1)], pose, begin) == ["turn_left"]


class Words:
    """An encoder of three words into axes."""

    name = "words"

    def encode(self, texts: Sequence[str]) -> Any:
        out = np.array([[float(word in text.casefold()) for word in ("tent", "hut", "red")] for text in texts])
        return (out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)).astype(np.float32)


def test_the_stand_in_weighs_what_is_seen_by_words_and_pixels() -> None:
    scorer = LabelledViews(Words(), 50)
    scorer.read("A red tent.")
    labels = {"front": {"red tent": 50, "hut": 1000}, "left": {"red tent": 450}, "right": {"hut": 1000}, "down": {}}
    scores = scorer.scores(FlatViews(labels=labels))
    assert scores == pytest.approx({"front": 0.5, "left": 0.9, "right": 0.0, "down": 0.0})
    scorer.read("A hut.")
    assert scorer.scores(FlatViews(labels=labels))["right"] == pytest.approx(1000 / 1050)


@pytest.mark.parametrize("made", [ClipHText, ClipHLabels])
def test_the_stand_ins_are_never_eligible_and_look_at_labels_alone(
    made: type[ClipH], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clip_h, "SentenceEncoder", lambda weights: Words())
    agent = made({})
    assert not agent.eligible and agent.details == {"scorer": "labels by words"}
    agent.reset(step_task(), 0)
    observation: StepObservation = seen(labels={name: {} for name in ("front", "left", "right", "down")})
    assert agent.act(observation).kind is StepKind.FORWARD
    assert observation.views.drawn == []  # type: ignore[attr-defined]


def test_shared_words_are_what_the_words_of_two_texts_have_in_common() -> None:
    same, half, none = WordEncoder().encode(["A red hut.", "red  HUT", "red tents", "a (2) of 7"][1:])
    wanted = WordEncoder().encode(["A red hut."])[0]
    assert [float(wanted @ row) for row in (same, half, none)] == pytest.approx([1.0, 0.5, 0.0])


def test_clip_without_weights_names_the_file_and_the_stand_in() -> None:
    with pytest.raises(UsageError, match=r"clip_h needs CLIP weights.*uav-on\.yaml, or fly clip_h_labels"):
        ClipH({})
