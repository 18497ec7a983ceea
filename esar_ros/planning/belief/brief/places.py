"""Places in a sentence: where the vehicle starts, landmarks, and words that point back to either.

The vehicle's start is an entity of its own: in "you take off 300 m north of the hut" it is located, in "last seen 300
m north of where you take off" others are located from it.

Tags: O where something counts from, R where something is. Their value is a Place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from esar_ros.planning.belief.brief.lexicon import word_set
from esar_ros.planning.belief.brief.tokens import Item, Rule, joined, rule


class Kind(Enum):
    """Kinds of places."""

    HOME = "home"  # where the vehicle starts
    NAMED = "named"  # a landmark
    LAST = "last"  # "it": the place spoken of last
    THERE = "there"  # where the last way has led
    PERSON = "person"  # somebody sought


@dataclass(frozen=True)
class Place:
    """A place and the words for it."""

    kind: Kind
    words: str = ""
    start: int = 0  # where they stand in the brief, characters
    end: int = 0


_STOP = word_set(
    "the a an of from to at in on and or by with where which that this place spot point some about was were is "
    "are his her their its it he she they who there here up down out off our your my be been has had fm fr "
    "position area end site last m km foot then not no for one two first back"
)
_QUALIFIED = re.compile(
    r"(?<!\bthe)\s+(?:above|below|beside|on|in|at|near|under|behind|by|(?:to the )?(?:north|south|east|west)\S*)\s",
    re.I,
)
_ABOVE = re.compile(r"^(?:the )?(?:air|sky|area) (?:above|over|around) ", re.I)  # the place itself
_POINTERS = word_set("landmark reference datum")


def stems(words: str) -> frozenset[str]:
    """Returns the significant words without their endings."""
    tokens = re.findall(r"[^\W_]+", words.lower().replace("'s", ""))
    return frozenset(
        re.sub(r"(?:ing|es|s|ed)$", "", token) for token in tokens if token not in _STOP and len(token) > 1
    )


def head(words: str) -> str:
    """Returns the words for a place without what tells it by another: "the hut" of "the hut above the beach"."""
    return _QUALIFIED.split(_ABOVE.sub("", words), maxsplit=1)[0]


def alike(words: str, others: str) -> bool:
    """Returns whether two descriptions share a significant word."""
    return bool(stems(words) & stems(others))


def _place(items: Sequence[Item]) -> Place:
    """Returns the place that a noun phrase means."""
    words = " ".join(item.low for item in items)
    tags = "".join(item.tag for item in items).lstrip("jA")
    if tags == "P" or words == "her":
        return Place(Kind.PERSON)
    if tags == "i":
        return Place(Kind.LAST)
    if _POINTERS & {item.low for item in items}:
        return Place(Kind.LAST, words)
    if tags in ("t", "ts", "s") or not stems(words):
        return Place(Kind.THERE)
    return Place(Kind.NAMED, words, items[0].start, items[-1].end)


def _home(items: Sequence[Item]) -> Item | None:
    return joined(items, "O", Place(Kind.HOME, " ".join(item.low for item in items[1:])))


def _home_where(items: Sequence[Item]) -> Item | None:
    """Makes a start of "the olive press where gendarmes get a drone into the air"."""
    at = next((n for n, item in enumerate(items) if n and (item.tag in "Wt" or item.low == "which")), 0)
    clause = items[at + 1 :]
    if not any(item.tag in "VZ" or (item.tag in "YH" and items[at].tag == "W") for item in clause):
        return None
    return _home(items)


def _named(items: Sequence[Item]) -> Item | None:
    if items[0].low in ("beyond", "past") and items[-1].tag == "i":
        return joined(items, "O", Place(Kind.THERE))  # "half a kilometre beyond it"
    return joined(items, "O", _place(items[1:]))


def _at(items: Sequence[Item]) -> Item | None:
    if items[0].low not in ("at", "in", "on", "near", "beside", "by", "close-to", "next-to", "inside"):
        return None
    place = _place(items[1:])
    return joined(items, "R", place) if place.kind is Kind.NAMED else None


_OWN = (
    r"(?:Z(?:[jx]{0,2}[xsHVC])?|[AZ]?[xC]?V(?:-?[sH]){0,2}|"
    r"[AZ]?[jx]?H(?:-?[sH]){0,2}(?!-?[sH])(?:fA?V)?|[YU])(?![xC]|fA?[xC])"
)
_NOUN = r"[aA]?[jN]?(?:[xsCHVNP](?:['-][xsC])?){1,4}"
PLACES: list[Rule] = [
    rule(rf"fj{{0,2}}(?:{_NOUN}(?:l{_NOUN})?)?,?[fl]?W[^,;.:()LDTf]{{1,10}}", _home_where),
    rule(r"f[aA]?[jx]?s(?:Y|[AZ]?V)[xjB]{0,2}[HF]f?", _home),  # "of the place you start from"
    rule(rf"fj{{0,2}}{_OWN}", _home),
    rule(r"f[aA]?Q(?![^.,;:)])", lambda items: joined(items, "O", Place(Kind.PERSON))),  # "of LKP"
    rule(r"ft(?=x)", lambda items: _named(items) if items[1].low == "there" else None),  # "from there tracks lead"
    rule(r"fj?(?:[itP]|ts|As|A(?![xsCHVNPjDLT]))(?![xC'W])", _named),
    rule(rf"f[jt]?{_NOUN}(?:f{_NOUN})?(?:l[aA]{_NOUN})?(?:W[^,;.:()LDT]{{1,8}})?|f[j]?W[^,;.:()LDTf]{{1,6}}", _named),
    rule(rf"l(?!N){_NOUN}(?:f{_NOUN})?(?:l[aA]{_NOUN})?(?:W[^,;.:()LDT]{{1,8}})?", _at),
]
