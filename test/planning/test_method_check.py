"""Wrong methods are refused in one line, and an error of a method is told with the line of its own code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.camera import CameraModel
from esar_ros.mission.decision import Decision, Goal, GoalType, Report, ReportType
from esar_ros.mission.errors import UsageError
from esar_ros.planning.method_check import WrongAnswer, check_decision, make_method, source_line, told

HALF = "tent \ud83d"  # an emoji that was cut in two


class Whole:
    name, eligible, needs = "whole", True, frozenset[str]()

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        pass

    def reset(self, brief: Any, seed: int) -> None:
        pass

    def act(self, observation: Any) -> Any:
        return Decision("wait", "a test")


class Misspelt(Whole):
    act = None  # type: ignore[assignment]

    def actt(self, observation: Any) -> Any:
        return Decision("wait", "a test")


class WithoutConstructor:
    name, eligible, needs = "bare", True, frozenset[str]()
    reset, act = Whole.reset, Whole.act


class WithoutNeeds:
    name, eligible = "bare", True
    reset, act = Whole.reset, Whole.act

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        pass


class OddNeeds(Whole):
    needs = frozenset({"lidar"})


class ShortReset(Whole):
    def reset(self, brief: Any) -> None:  # type: ignore[override]
        pass


class Later(Whole):
    async def act(self, observation: Any) -> Any:
        return None


class Raises(Whole):
    def __init__(self, parameters: Mapping[str, Any]) -> None:
        raise KeyError("depth")


class OddName(Whole):
    @property
    def name(self) -> str:  # type: ignore[override]
        raise RuntimeError("not yet")


def test_a_whole_method_is_made() -> None:
    assert isinstance(make_method(Whole, {}, "planner 'whole'"), Whole)


@pytest.mark.parametrize(
    ("factory", "line"),
    [
        (Misspelt, r"is no method: it has no act \(actt is there\): write def act\(self, observation\)"),
        (WithoutConstructor, r"has a constructor without parameters: write def __init__\(self, parameters\)"),
        (WithoutNeeds, r"is no method: it has no needs: write needs = frozenset\(\) of grid, views"),
        (OddNeeds, r"is no method: its needs is frozenset\(\{'lidar'\}\): write needs"),
        (ShortReset, r"is no method: its reset does not take \(brief, seed\): write def reset\(self, brief, seed\)"),
        (Later, r"is no method: its act is asynchronous: write def act\(self, observation\)"),
        (Raises, r"cannot be made: KeyError: 'depth' \(test/planning/test_method_check\.py, line \d+\): mend it"),
        (OddName, r"is no method: RuntimeError: not yet \(test/planning/test_method_check\.py, line \d+\): mend it"),
        (lambda parameters: None, r"is no method: the factory returns None: write a factory that returns"),
        (lambda parameters: Whole, r"is no method: the factory returns the class Whole: write"),
    ],
)
def test_what_is_missing_and_what_to_write_stand_in_one_line(factory: Callable[..., Any], line: str) -> None:
    with pytest.raises(UsageError, match=rf"^planner 'odd' {line}") as refused:
        make_method(factory, {}, "planner 'odd'")
    assert "\n" not in str(refused.value)


REPORT = Report(ReportType.CLUE, "tent", "a tent", np.zeros(3))


@pytest.mark.parametrize(
    "answer",
    [
        Decision("fly", "why"),
        Decision("fly", "why", Goal(GoalType.WAYPOINT, np.array([1.0, 2.0, 3.0]), yaw=None), (REPORT,)),
        Decision("fly", "why", Goal(GoalType.WAYPOINT, [1, 2, 3]), [REPORT]),  # type: ignore[arg-type]
        Decision("report", "nowhere", None, (Report(ReportType.CLUE, "tent", "", np.full(3, np.nan)),)),
        Decision("report", "", None, (replace(REPORT, confidence=np.float32(0.5)), replace(REPORT, confidence=1))),
    ],
)
def test_what_can_be_flown_is_a_decision(answer: Decision) -> None:
    assert check_decision(answer, Whole({})) is answer


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (None, "None, not a Decision"),
        ({"goal": 1}, "a dict, not a Decision"),
        (Decision("fly", None), "a Decision whose action, why or trouble is no text"),  # type: ignore[arg-type]
        (Decision("fly", "", np.zeros(3)), "goal is array"),  # type: ignore[arg-type]
        (Decision("fly", "", Goal(2, np.zeros(3))), "no GoalType"),  # type: ignore[arg-type]
        (Decision("fly", "", Goal(velocity=np.array([0.0, np.inf, 0.0]))), "its velocity is array"),
        (Decision("fly", "", Goal(yaw=float("nan"))), "its yaw is nan"),
        (Decision("fly", "", Goal(speed="fast")), "speed is 'fast', not 1 number"),  # type: ignore[arg-type]
        (Decision("fly", "", None, REPORT), "reports are a Report, not a tuple"),  # type: ignore[arg-type]
        (Decision("fly", "", None, ("tent",)), "'tent' among its reports"),  # type: ignore[arg-type]
        (Decision("fly", "", None, (REPORT, replace(REPORT, confidence="high"))), "confidence is 'high', not a number"),  # type: ignore[arg-type]
        (Decision("fly", "", tokens_in=None), "tokens_in is None, not a whole number"),  # type: ignore[arg-type]
        (Decision("fly", "", None, (replace(REPORT, confidence=None),)), "confidence is None, not a number"),  # type: ignore[arg-type]
        (Decision("fly", "", tokens_in=-1), "tokens_in is -1, not a whole number from 0 to 4294967295"),
        (Decision("fly", "", considered=2**32), "considered is 4294967296, not a whole number"),
        (Decision("fly", "", tokens_out=12.5), "tokens_out is 12.5, not a whole number"),  # type: ignore[arg-type]
    ],
)
def test_any_other_answer_is_told_with_the_place_of_the_method(answer: Any, fault: str) -> None:
    with pytest.raises(WrongAnswer) as wrong:
        check_decision(answer, Whole({}))
    assert fault in str(wrong.value)
    line = Whole.act.__code__.co_firstlineno
    assert str(wrong.value).endswith(f"(act is defined at test/planning/test_method_check.py, line {line})")


def test_whole_numbers_of_other_types_are_those_that_a_message_takes() -> None:
    answer = Decision("ask", "", considered=np.uint8(3), tokens_in=np.int64(12), tokens_out=7.0)  # type: ignore[arg-type]
    checked = check_decision(answer, Whole({}))
    counts = checked.considered, checked.tokens_in, checked.tokens_out
    assert counts == (3, 12, 7) and {type(count) for count in counts} == {int}


def test_an_error_has_the_line_of_the_method_s_own_code_wherever_it_was_raised() -> None:
    def act() -> None:
        CameraModel(*("wrong",) * 9)  # type: ignore[call-arg, arg-type]

    with pytest.raises(TypeError) as raised:
        act()
    assert source_line(raised.value) == f"test/planning/test_method_check.py, line {act.__code__.co_firstlineno + 1}"
    assert told(raised.value).startswith("TypeError: ")
    assert told(ValueError("a\nb")) == "ValueError: a b"


def test_half_an_emoji_is_told_as_what_can_be_written_down() -> None:
    assert told(ValueError("no such action: fly \ud83d")) == "ValueError: no such action: fly \\ud83d"


def test_texts_that_cannot_be_written_down_lose_what_was_cut() -> None:
    report = Report(ReportType.CLUE, HALF, HALF, np.zeros(3))
    decision = check_decision(Decision(HALF, HALF, reports=(report,), trouble=HALF), Whole({}))
    (cut,) = decision.reports
    words = (decision.action, decision.why, decision.trouble, cut.kind, cut.text)
    assert set(words) == {"tent \ufffd"} and all(word.encode() for word in words)
    whole = Decision("wait", "a test \U0001f3d5", reports=(Report(ReportType.CLUE, "tent", "", np.zeros(3)),))
    assert check_decision(whole, Whole({})) is whole
