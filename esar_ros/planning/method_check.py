"""A method is refused before the flight unless it is whole, and each of its answers is checked while it flies.

One check for everybody who flies methods: `create` of the registry, the engine and the planner node. What a method does
wrong is told with the file and line of its own code.
"""

from __future__ import annotations

import difflib
import inspect
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from esar_ros.mission.decision import Decision, Goal, GoalType, HeightReference, Report, ReportType, writable
from esar_ros.mission.errors import UsageError, one_line
from esar_ros.planning.method import NEEDS, HasDetails

_COUNTS, _MOST = ("considered", "tokens_in", "tokens_out"), 2**32 - 1  # of a decision, and what a message holds
_CALLS = {"reset": ("brief", "seed"), "act": ("observation",)}  # of planning.method.Method, without self
_CALLERS = (
    "esar_ros.app.", "esar_ros.nodes.", "esar_ros.suites.", "esar_ros.benchmark.", "esar_ros.planning.agent_call",
    "esar_ros.planning.session",
    "esar_ros.planning.registry", "esar_ros.planning.method_check", "importlib", "_frozen_importlib",
)  # fmt: skip
"""Modules that call methods: the first frame of a traceback that is in none of them is the method's."""


class WrongAnswer(Exception):
    """A method's answer that is no decision: the text says what was returned, by which file and line."""


def make_method(factory: Callable[[Mapping[str, Any]], Any], parameters: Mapping[str, Any], called: str) -> Any:
    """Returns the whole method that a factory makes of its parameters. called: how errors name it.

    Raises UsageError, which says in one line what is missing and what to write.
    """
    if not _takes(factory, ("parameters",)):
        what = "has a constructor without parameters" if inspect.isclass(factory) else "is a factory without parameters"
        raise UsageError(f"{called} {what}", "write def __init__(self, parameters)")
    try:
        method = factory(parameters)
    except UsageError:
        raise
    except Exception as failure:  # whatever it raises
        raise UsageError(f"{called} cannot be made: {told(failure)}", "mend it") from failure
    check_method(method, called)
    return method


def check_method(method: Any, called: str) -> None:
    """Raises UsageError where an object is no whole `planning.method.Method`. called: how the error names it."""
    try:
        faults = list(_faults(method))
    except Exception as failure:  # of one of its properties
        raise UsageError(f"{called} is no method: {told(failure)}", "mend it") from failure
    if faults:
        wrong, cures = zip(*faults, strict=True)
        raise UsageError(f"{called} is no method: {'; '.join(wrong)}", f"write {', '.join(cures)}")


def check_decision(answer: Any, method: Any) -> Decision:
    """Returns a method's answer where it is a decision that can be flown, its texts as files and messages hold them.

    Raises WrongAnswer.
    """
    if fault := _fault_of(answer):
        where = _definition(method)
        raise WrongAnswer(f"act returned {fault}{f' (act is defined at {where})' if where else ''}")
    assert isinstance(answer, Decision)
    return _writable(answer)


def told(failure: BaseException) -> str:
    """Returns an exception of a method in one line of at most 500 characters, with file and line of its own code."""
    text = one_line(str(failure))
    if isinstance(failure, WrongAnswer | UsageError):
        return text[:500]
    where = source_line(failure)
    end = f" ({where})" if where else ""
    line = f"{type(failure).__name__}: {text}" if text else type(failure).__name__
    return f"{line[: 500 - len(end)]}{end}"


def source_line(failure: BaseException) -> str:
    """Returns "file.py, line 7" of the innermost code of the method that an exception passed; empty where there is
    none.

    Its own code is what belongs to the same top-level package as the first function that was called of it.
    """
    frames = list(traceback.walk_tb(failure.__traceback__))
    first = next((i for i, (frame, _) in enumerate(frames) if not _module(frame).startswith(_CALLERS)), None)
    if first is None:
        return ""
    package = _module(frames[first][0]).partition(".")[0]
    frame, line = next(pair for pair in reversed(frames) if _module(pair[0]).partition(".")[0] == package)
    return f"{_short(frame.f_code.co_filename, _module(frame))}, line {line}"


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _short(file: str, module: str) -> str:
    """Returns a file's path from where it is imported on."""
    depth = module.count(".") + (2 if Path(file).stem == "__init__" else 1)
    return "/".join(Path(file).parts[-depth:])


def _definition(method: Any) -> str:
    """Returns file and line of a method's `act`; empty where it is not Python."""
    act = inspect.unwrap(getattr(method.act, "__func__", method.act))
    code = getattr(act, "__code__", None)
    return "" if code is None else f"{_short(code.co_filename, str(act.__module__))}, line {code.co_firstlineno}"


def _takes(function: Callable[..., Any], arguments: tuple[str, ...]) -> bool:
    """Returns whether a function can be called with so many positional arguments; True where that is not known."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


def _faults(method: Any) -> Iterator[tuple[str, str]]:
    """Yields what an object lacks to be a method, and what to write."""
    if inspect.isclass(method) or method is None:
        yield f"the factory returns {_kind(method)}", "a factory that returns an object with reset and act"
        return
    for name, good, cure in (
        ("name", lambda value: isinstance(value, str) and value != "", 'name = "..."'),
        ("eligible", lambda value: isinstance(value, bool | np.bool_), "eligible = True"),
        ("needs", _is_needs, f"needs = frozenset() of {', '.join(sorted(NEEDS))}"),
    ):
        if not hasattr(method, name):
            yield f"it has no {name}{_misspelt(method, name)}", cure
        elif not good(getattr(method, name)):
            yield f"its {name} is {_kind(getattr(method, name))}", cure
    for name, arguments in _CALLS.items():
        cure = f"def {name}(self, {', '.join(arguments)})"
        function = getattr(method, name, None)
        if not callable(function):
            yield f"it has no {name}{_misspelt(method, name)}", cure
        elif inspect.iscoroutinefunction(function):
            yield f"its {name} is asynchronous", cure
        elif not _takes(function, arguments):
            yield f"its {name} does not take ({', '.join(arguments)})", cure
    details: Any = method.details if isinstance(method, HasDetails) else {}
    if not isinstance(details, Mapping):
        yield f"its details are {_kind(details)}", "details as a mapping of words"


def _is_needs(value: Any) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str) and set(value) <= NEEDS


def _misspelt(method: Any, name: str) -> str:
    """Returns a hint at what stands there instead."""
    own = [one for one in dir(method) if not one.startswith("_") and one != name]
    near = difflib.get_close_matches(name, own, 1)
    return f" ({near[0]} is there)" if near else ""


def _fault_of(answer: Any) -> str:
    """Returns what is wrong with an answer; empty where it is a decision that can be flown."""
    if not isinstance(answer, Decision):
        return f"{_kind(answer)}, not a Decision"
    words: tuple[Any, ...] = (answer.action, answer.why, answer.trouble)
    if not all(isinstance(word, str) for word in words):
        return "a Decision whose action, why or trouble is no text"
    if answer.goal is not None and (fault := _fault_of_goal(answer.goal)):
        return f"a Decision whose {fault}"
    reports: Any = answer.reports
    if not isinstance(reports, tuple | list):
        return f"a Decision whose reports are {_kind(reports)}, not a tuple"
    odd = next((report for report in reports if not _is_report(report)), None)
    if odd is not None:
        return f"a Decision with {_kind(odd)} among its reports, not a Report"
    for report in reports:
        if not _is_confidence(report.confidence):
            return f"a Decision with a report whose confidence is {_kind(report.confidence)}, not a number"
    for name in _COUNTS:
        if not _is_count(getattr(answer, name)):
            return f"a Decision whose {name} is {_kind(getattr(answer, name))}, not a whole number from 0 to {_MOST}"
    return ""


def _writable(decision: Decision) -> Decision:
    """Returns a decision that can be written down: a model's texts may end in the middle of an emoji, and numpy's whole
    numbers are none to a message."""
    counts = {name: int(getattr(decision, name)) for name in _COUNTS if type(getattr(decision, name)) is not int}
    decision = replace(decision, **counts) if counts else decision  # type: ignore[arg-type]
    words = [decision.action, decision.why, decision.trouble]
    words += [text for report in decision.reports for text in (report.kind, report.text)]
    if all(writable(text) == text for text in words):
        return decision
    reports = tuple(replace(one, kind=writable(one.kind), text=writable(one.text)) for one in decision.reports)
    action, why, trouble = map(writable, words[:3])
    return replace(decision, action=action, why=why, trouble=trouble, reports=reports)


def _fault_of_goal(goal: Any) -> str:
    if not isinstance(goal, Goal):
        return f"goal is {_kind(goal)}, not a Goal"
    kinds: tuple[Any, Any] = (goal.type, goal.height_reference)
    if not isinstance(kinds[0], GoalType) or not isinstance(kinds[1], HeightReference):
        return "goal's type is no GoalType, or its height_reference no HeightReference"
    for name, value, size in (
        ("position", goal.position, 3),
        ("velocity", goal.velocity, 3),
        ("yaw", 0.0 if goal.yaw is None else goal.yaw, 1),
        ("yaw_rate", goal.yaw_rate, 1),
        ("speed", goal.speed, 1),
    ):
        numbers = _numbers(value)
        if numbers is None or numbers.size != size:
            return f"goal's {name} is {_kind(value)}, not {size} number{'s' if size > 1 else ''}"
        if not np.isfinite(numbers).all():
            return f"goal is not finite: its {name} is {_kind(value)}"
    return ""


def _is_report(report: Any) -> bool:
    if not isinstance(report, Report) or not isinstance(report.type, ReportType):
        return False
    numbers = _numbers(report.position)
    words = isinstance(report.kind, str) and isinstance(report.text, str)
    return words and numbers is not None and numbers.shape == (3,)


def _is_confidence(value: Any) -> bool:
    """Returns whether a value can be sent as a report's confidence, a float32."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return np.ndim(value) == 0


def _is_count(value: Any) -> bool:
    """Returns whether a value is a whole number that a message holds, of whatever type."""
    try:
        return np.ndim(value) == 0 and bool(int(value) == value) and 0 <= int(value) <= _MOST
    except (TypeError, ValueError, OverflowError):
        return False


def _numbers(value: Any) -> Any:
    """Returns a value as an array of floats; None where it is not of numbers."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _kind(value: Any) -> str:
    """Returns a value in a few words."""
    if value is None or isinstance(value, bool | int | float | str | tuple | list | set | frozenset | np.ndarray):
        return " ".join(repr(value).split())[:80]
    if inspect.isclass(value):
        return f"the class {value.__name__}"
    return f"a {type(value).__name__}"
