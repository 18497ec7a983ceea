"""Protocols: the words that put a question to a model and what reads its answer; the paper's and ours, never mixed.

`paper` is that of UAVBench's evaluation script: 16 tokens, and a letter is made of nearly any words ("Considering" is
read as C), for comparison with its tables. `esar` leaves room to think, takes shown reasoning off, and reads a letter
by a stated grammar or not at all.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256

from esar_ros.mission.chat import without_fence
from esar_ros.suites.uavbench.mcq.item import LETTERS, OPTIONS, Item


class Outcome(Enum):
    """Outcome of an answer: a letter was read, none was, or it was cut at max_tokens."""

    ANSWERED = "answered"
    UNPARSED = "unparsed"
    TRUNCATED = "truncated"


PARTS = ("description", "question")  # of what is shown, that an ablation leaves out
Read = tuple[Outcome, int | None]  # and the place of the option that was picked, among those shown


@dataclass(frozen=True)
class Protocol:
    """The words around a question, the length of an answer, and what reads it (text, finish_reason, shown options).

    without: those of PARTS that the model is not shown.
    """

    name: str
    max_tokens: int
    attempts: int  # of one question at a server that fails
    system: str
    ending: str
    read: Callable[[str, str, Sequence[str]], Read]
    without: tuple[str, ...] = ()

    def messages(self, item: Item, order: Sequence[int]) -> list[dict[str, str]]:
        """Returns the messages that put the question with its options in an order (places in the item)."""
        shown = "\n".join(f"{letter}- {item.options[place]}" for letter, place in zip(LETTERS, order, strict=True))
        parts = {"description": item.description, "question": item.question, "options": shown}
        told = [f"{name.upper()}:\n{part}" for name, part in parts.items() if name not in self.without]
        text = "\n\n".join((*told, self.ending))
        return [{"role": "system", "content": self.system}, {"role": "user", "content": text}]

    @property
    def digest(self) -> str:
        """Hexadecimal SHA-256 of the words."""
        return sha256(f"{self.system}\0{self.ending}".encode()).hexdigest()


# --- The paper's --------------------------------------------------------------------------------------------------


def read_as_paper(text: str, finish: str, options: Sequence[str]) -> Read:
    """The first character if it is A to G, else the first such letter that stands alone, else the first at all."""
    upper = text.strip().upper()
    if upper[:1] and upper[0] in LETTERS:
        return Outcome.ANSWERED, LETTERS.index(upper[0])
    found = re.search(r"\b[A-G]\b", upper) or re.search(r"[A-G]", upper)
    if found is None:
        return (Outcome.TRUNCATED if finish == "length" else Outcome.UNPARSED), None
    return Outcome.ANSWERED, LETTERS.index(found[0])


# --- Ours ---------------------------------------------------------------------------------------------------------

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_TAIL = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL)  # reasoning whose beginning the server's template holds
_LETTER = r"[*_`(\[\"']*([A-G])[*_`)\]\"']*"
# "answer: C", "the answer is **C**", "Answer: C- text", "Answer: (C) text"; not "answer: A steep climb".
_STATED = re.compile(
    rf"\banswer(?:\s+is|\s+would\s+be)?\s*[*_`\"']*\s*[:=]?\s*[*_`\"']*\s*"
    rf"(?:(?:option|choice)\s+)?(?:{_LETTER}(?=\s*(?:[-–—.,:;)!}}]|$))|\(([A-G])\)|\*\*([A-G])\*\*)",
    re.IGNORECASE | re.MULTILINE,
)
_ALONE = re.compile(rf"^\s*{_LETTER}\s*[.)]?\s*$", re.MULTILINE)
_MARKED = re.compile(r"\(([A-G])\)|\*\*([A-G])\*\*")
_OPENING = re.compile(r"\A\W*(?:the\s+)?answer(?:\s+is)?\s*:?\s*", re.IGNORECASE)
_BREAKS = re.compile(r"[\W_]+")
_LEADING = re.compile(r"\A[*_`(]*([A-G])[*_`]*\s?[-–—.:)]\s*(?P<rest>\S.*)", re.DOTALL)


def read_as_stated(text: str, finish: str, options: Sequence[str]) -> Read:
    """Reads an answer by our grammar, in two ranks.

    First what says of itself that it is the answer: the full text of an option and no more, else the last
    `answer: X`, also as JSON. Else what marks a letter: `X` alone on a line, `(X)`, `**X**`, a leading `X- ` that goes
    on with the option's own words; where these name different letters, none is read.
    """
    if finish == "length":
        return Outcome.TRUNCATED, None
    bare = without_fence(_TAIL.sub("", _THOUGHT.sub("", text)))
    whole = _whole_option(bare, options)
    if whole is not None:
        return Outcome.ANSWERED, whole
    stated = [place for match in _STATED.finditer(bare) if (place := _place(match)) is not None]
    if stated:
        return Outcome.ANSWERED, stated[-1]
    marked = {
        place
        for pattern in (_ALONE, _MARKED)
        for match in pattern.finditer(bare)
        if (place := _place(match)) is not None
    }
    leading = _LEADING.match(bare)
    if leading is not None:
        place = LETTERS.index(leading[1])
        if _plain(leading["rest"]).startswith(_plain(options[place])):
            marked.add(place)
    if len(marked) == 1:
        return Outcome.ANSWERED, marked.pop()
    return Outcome.UNPARSED, None


def _place(match: re.Match[str]) -> int | None:
    letter = next((group for group in match.groups() if group), "")
    return LETTERS.index(letter) if letter and letter in LETTERS else None  # a small letter is a word


def _whole_option(text: str, options: Sequence[str]) -> int | None:
    """Place of the option whose full text the answer is, with or without `answer:` before it."""
    bare = _plain(_OPENING.sub("", text))
    return next((place for place, option in enumerate(options) if bare and bare == _plain(option)), None)


def _plain(text: str) -> str:
    return _BREAKS.sub(" ", text.casefold()).strip()


_ROLE = "You answer multiple-choice questions about UAV missions."
_FORMAT = "one capital letter from A, B, C, D, E, F, G"
PROTOCOLS = {
    "paper": Protocol(
        "paper",
        max_tokens=16,
        attempts=5,
        system=f"{_ROLE} Answer with exactly {_FORMAT}, and nothing else: no words, no punctuation, no explanation.",
        ending=f"Answer format: {_FORMAT}, and nothing else.",
        read=read_as_paper,
    ),
    "esar": Protocol(
        "esar",
        max_tokens=1024,
        attempts=3,
        system=f"{_ROLE} Exactly one option is right. You may think first.",
        ending=f'End with a line "Answer: X", where X is {_FORMAT}.',
        read=read_as_stated,
    ),
}


# --- Orders -------------------------------------------------------------------------------------------------------

# Options that name letters or each other mean something else in another order.
_NAMES_PLACES = re.compile(
    r"(?i:\b(?:all|none|both|any|either|neither)\s+of\s+the\s+(?:above|others|options)\b)"
    r"|(?i:\b(?:options?|choices?|answers?))\s+[A-G]\b|\b[A-G]\s+(?:and|or|&)\s+[A-G]\b"
)

_MAY_NAME_PLACES = re.compile(r"\s(?:[A-G]\b|(?i:of\s+the\s))")  # a part of each of them that is soon found


def may_be_shuffled(item: Item) -> bool:
    """Returns whether no text of the question depends on the places of the options."""
    text = "\0".join((item.question, *item.options))  # \0: no pattern goes on over it
    return not (_MAY_NAME_PLACES.search(text) and _NAMES_PLACES.search(text))


def order_of(item: Item, number: int) -> tuple[int, ...]:
    """Returns the places of the item's options in the order of this number; 0 is the original.

    The order follows from the item's id and the number alone. The right option stands in a place it has not in the
    orders before, as far as there are such, so that over seven orders it stands in each once.
    """
    if number == 0:
        return tuple(range(OPTIONS))
    places = list(range(OPTIONS))
    random.Random(sha256(f"{item.id}\0key".encode()).digest()).shuffle(places)
    places.remove(item.key)
    key_place = [item.key, *places][number % OPTIONS]
    others = [place for place in range(OPTIONS) if place != item.key]
    random.Random(sha256(f"{item.id}\0{number}".encode()).digest()).shuffle(others)
    return (*others[:key_place], item.key, *others[key_place:])
