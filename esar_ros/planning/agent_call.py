"""Calls of somebody else's code: whatever it raises is its own failure, and its episode scores 0."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Protocol, TypeVar

from esar_ros.mission.errors import UsageError
from esar_ros.planning.method_check import told

_Answer = TypeVar("_Answer")


class AgentError(Exception):
    """A failure of the method itself, in one line with file and line of its code; its episode scores 0."""


class BrokenSettings(UsageError):
    """Files or environment by which a method cannot be made: nobody's failure, and no episode is flown under them."""


def call_agent(call: Callable[[], _Answer], in_agent: Callable[[bool], None]) -> _Answer:
    """Calls the method and returns its answer; any exception it raises is its own failure, sys.exit too.

    in_agent is called with True before and with False after. Raises AgentError.
    """
    in_agent(True)
    try:
        return call()
    except (Exception, SystemExit) as failure:
        raise AgentError(told(failure)) from failure
    finally:
        in_agent(False)


def make_agent(create: Callable[[], _Answer], in_agent: Callable[[bool], None]) -> _Answer:
    """Calls what makes a method, and returns it; in_agent: see call_agent.

    Raises AgentError for what the method's own code raised, BrokenSettings where it did not come to that.
    """
    try:
        return call_agent(create, in_agent)
    except AgentError as error:
        refusal = error.__cause__
        if isinstance(refusal, UsageError) and refusal.__cause__ is None:  # else its cause is the code's own exception
            raise BrokenSettings(str(refusal)) from error
        raise


class Draw(Protocol):
    """Calls what draws, in the name of whoever answers for it."""

    def __call__(self, draw: Callable[[], _Answer]) -> _Answer: ...


class _DrawingFailed(BaseException):
    """Passes through an agent that catches what it can."""


class StepCalls:
    """Calls of an agent whose images are drawn when it looks at them: a failure to draw is not the agent's."""

    def __init__(self, in_agent: Callable[[bool], None]) -> None:
        """in_agent: see call_agent; False while something is drawn."""
        self._in_agent = in_agent
        self._failure: Exception | None = None

    def ask(self, call: Callable[[], _Answer]) -> _Answer:
        """Calls the agent and returns its answer. Raises AgentError, or whatever drawing failed with."""
        try:
            return call_agent(call, self._in_agent)
        finally:
            if self._failure is not None:  # whatever the agent has made of it
                raise self._failure

    def draw(self, draw: Callable[[], _Answer]) -> _Answer:
        """Draws between an agent's call and its answer (see Draw)."""
        self._in_agent(False)
        try:
            return draw()
        except Exception as failure:
            self._failure = failure
            raise _DrawingFailed from failure
        finally:
            self._in_agent(True)


def stack_trace(failure: Exception) -> str:
    """Returns the stack trace of the method's exception, or of the failure itself where it has no such cause."""
    return "".join(traceback.format_exception(failure.__cause__ or failure))
