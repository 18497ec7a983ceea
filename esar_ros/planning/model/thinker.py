"""Mixin of methods that ask a model: its details in results, its clock, and a question with its answer's form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from esar_ros.planning.exchange import LabelledImage, Question
from esar_ros.planning.model.mind import Mind, Thought

_Form = TypeVar("_Form", bound=BaseModel)


class Thinker:
    """Mixin of a method with a mind; None: it asks no model."""

    _mind: Mind[Any] | None = None

    @property
    def details(self) -> Mapping[str, str]:
        """See planning.method.HasDetails."""
        return self._mind.details if self._mind is not None else {}

    def run_clock(self) -> None:
        """See planning.method.SupportsAsync."""
        if self._mind is not None:
            self._mind.run_clock()


def ask(
    purpose: str, system: str, text: str, form: type[_Form], images: tuple[LabelledImage, ...] = ()
) -> Thought[tuple[_Form | None, str]]:
    """One question of a thought: its answer, or None and the reason why there is none."""
    [reply] = yield [Question(purpose, system, text, form, images)]
    return (reply.value if isinstance(reply.value, form) else None), reply.reason
