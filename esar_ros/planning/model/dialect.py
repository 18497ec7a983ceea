"""The dialect of one server: its requests as it takes them, learnt from what it refuses, field by field.

Servers that call themselves OpenAI-compatible differ: newer models take `max_completion_tokens` and no temperature,
others refuse any field beyond their own, `json_object` as the form of an answer, a system turn, an object as
address of a picture, or more than one picture. A refused request is mended by the change that the server's words
name, or where they name none by the next change that loses least, and sent again, until it is taken or none is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from esar_ros.mission.chat import NoAnswer
from esar_ros.planning.exchange import Question, schema_format

Body = dict[str, Any]
_REFUSALS = (400, 404, 415, 422, 500, 501)  # HTTP's where the words may name what to change
_UNREADABLE = (400, 422)  # those where a change may be guessed, unless
_OTHER = re.compile(r"image|context|too (?:long|large)|quota|billing", re.IGNORECASE)  # says that no field is at fault
_FIELD = re.compile(r"(?:param|loc)['\"]?: ?([^\])}]*)")  # what an error points at
_STANDARD = ("model", "messages", "temperature", "max_tokens", "max_completion_tokens", "response_format")
_PICTURES = re.compile(r"at most (\d+) image", re.IGNORECASE)
_ONE_PICTURE = re.compile(r"(?:only one|single|multiple|too many) image", re.IGNORECASE)


@dataclass(frozen=True)
class _Change:
    """A change of a request, the words of a server that call for it, and whether it may be tried unasked."""

    name: str
    apply: Callable[[Body, Question | None], Body]
    called_for: re.Pattern[str]
    guess: bool = True


@dataclass(frozen=True)
class Dialect:
    """Changes that a server's requests get; names of _CHANGES, "without FIELD", and the most pictures (None: any)."""

    changes: tuple[str, ...] = ()
    pictures: int | None = None

    def request(self, body: Mapping[str, Any], question: Question | None = None) -> Body:
        """Returns a request in this dialect from the standard body; question: None where no form is asked for."""
        out = dict(body)
        if self.pictures is not None:
            out["messages"] = [{**turn, "content": _fewer(turn["content"], self.pictures)} for turn in out["messages"]]
        for change in _changes(body):
            if change.name in self.changes:
                out = change.apply(out, question)
        return out

    def mended(self, body: Mapping[str, Any], question: Question | None, refusal: NoAnswer) -> Dialect | None:
        """Returns the dialect to try after a refusal of a request in this one, None when there is none.

        body: the standard body.
        """
        if refusal.status not in _REFUSALS:
            return None
        limit = _PICTURES.search(refusal.words)
        most = int(limit[1]) if limit else 1 if _ONE_PICTURE.search(refusal.words) else None
        if most and (self.pictures is None or most < self.pictures):
            return replace(self, pictures=most)
        sent = self.request(body, question)
        left = [c for c in _changes(body) if c.name not in self.changes and c.apply(sent, question) != sent]
        pointed_at = _FIELD.search(refusal.words)
        pointed = [change for change in left if pointed_at and change.called_for.search(pointed_at[1])]
        named = [change for change in left if change.called_for.search(refusal.words)]
        may_guess = refusal.status in _UNREADABLE and not _OTHER.search(refusal.words)
        guesses = [change for change in left if change.guess and may_guess]
        change = next(iter([*pointed, *named, *guesses]), None)
        return None if change is None else replace(self, changes=(*self.changes, change.name))


def _changes(body: Mapping[str, Any]) -> tuple[_Change, ...]:
    """Returns the changes for a body in the order in which they are tried: fields of its own first."""
    own = [field for field in body if field not in _STANDARD]
    return (*(_without(field) for field in own), *_CHANGES)


def _without(*fields: str, words: str = "") -> _Change:
    """Returns the change that leaves fields out."""
    pattern = re.compile(words or "|".join(rf"\b{re.escape(field)}\b" for field in fields), re.IGNORECASE)
    return _Change(f"without {fields[0]}", lambda body, _: {k: v for k, v in body.items() if k not in fields}, pattern)


def _renamed_tokens(body: Body, _: Question | None) -> Body:
    return {"max_completion_tokens" if key == "max_tokens" else key: value for key, value in body.items()}


def _other_form(body: Body, question: Question | None) -> Body:
    """A schema in place of `json_object`, and the other way round."""
    given = body.get("response_format")
    if given is None or question is None:
        return body
    if given["type"] == "json_schema":
        return {**body, "response_format": {"type": "json_object"}}
    return {**body, "response_format": schema_format(question)}


def _one_turn(body: Body, _: Question | None) -> Body:
    """The system's words at the head of the user's turn."""
    turns = body["messages"]
    if turns[0]["role"] != "system":
        return body
    words, content = turns[0]["content"], turns[1]["content"]
    if isinstance(content, str):
        joined: Any = f"{words}\n\n{content}"
    else:
        joined = [{**content[0], "text": f"{words}\n\n{content[0]['text']}"}, *content[1:]]
    return {**body, "messages": [{"role": "user", "content": joined}]}


def _plain_address(body: Body, _: Question | None) -> Body:
    """Addresses of pictures as texts, not as objects."""

    def plain(part: dict[str, Any]) -> dict[str, Any]:
        address = part.get("image_url")
        return {**part, "image_url": address["url"]} if isinstance(address, dict) else part

    turns = [
        turn if isinstance(turn["content"], str) else {**turn, "content": [plain(part) for part in turn["content"]]}
        for turn in body["messages"]
    ]
    return {**body, "messages": turns}


def _fewer(content: str | list[dict[str, Any]], most: int) -> str | list[dict[str, Any]]:
    """Returns a turn's content with its first pictures only, their labels before them, and the names of the others."""
    if isinstance(content, str):
        return content
    first, shown = content[0], content[1:]
    out, dropped = shown[: 2 * most], shown[2 * most :: 2]
    if not dropped:
        return content
    names = ", ".join(part["text"].removesuffix(":") for part in dropped)
    return [{**first, "text": f"{first['text']}\n\nNot shown: {names}."}, *out]


_CHANGES = (
    _Change("max_completion_tokens", _renamed_tokens, re.compile(r"\bmax_(?:completion_)?tokens\b", re.IGNORECASE)),
    _without("temperature"),
    _Change("the other response_format", _other_form, re.compile(r"response_format|json_(?:object|schema)")),
    _without("response_format", words=r"response_format|json_(?:object|schema)|grammar|structured"),
    _without("max_completion_tokens", "max_tokens"),
    _Change(
        "one turn", _one_turn, re.compile(r"system[ _](?:role|message|prompt)|'system'|roles? must", re.IGNORECASE)
    ),
    _Change("plain address", _plain_address, re.compile(r"image_url"), guess=False),
)
