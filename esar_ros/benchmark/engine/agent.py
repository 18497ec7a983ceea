"""Calls of somebody else's code: whatever it raises is its own failure, and its episode scores 0."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import TypeVar

_Answer = TypeVar("_Answer")


class AgentError(Exception):
    """An exception of the method itself, whose episode scores 0."""


def call_agent(call: Callable[[], _Answer], in_agent: Callable[[bool], None]) -> _Answer:
    """Calls the method and returns its answer; any exception it raises is its own failure, sys.exit too.

    in_agent is called with True before and with False after. Raises AgentError.
    """
    in_agent(True)
    try:
        return call()
    except (Exception, SystemExit) as failure:
        raise AgentError(_one_line(failure)) from failure
    finally:
        in_agent(False)


def stack_trace(failure: AgentError) -> str:
    """Returns the stack trace of the method's exception."""
    return "".join(traceback.format_exception(failure.__cause__ or failure))


def _one_line(failure: BaseException) -> str:
    """Returns type and message of an exception in one line of at most 500 characters."""
    text = " ".join(str(failure).split())
    return f"{type(failure).__name__}: {text}"[:500] if text else type(failure).__name__
