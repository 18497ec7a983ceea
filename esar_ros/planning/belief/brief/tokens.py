"""Sentences of a brief as tagged items, and rules that put items together, in time linear in the brief's length.

A cascade of finite-state rules, as Abney (Partial Parsing via Finite-State Cascades, 1996): every word has a tag of
one letter (lexicon.py), a rule is a regular expression over the letters of a sentence with bounded repeats, and what
it matches becomes one item with a tag of its own. Words that no rule takes are left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from esar_ros.planning.belief.brief.lexicon import COMPASS, JOINED, TAG_OF

LONGEST = 20_000  # characters of a brief that are read
_LONGEST_SENTENCE = 200  # words and signs; what is longer is cut, so that looking back and ahead in one is no longer
_DIGITS = 15  # of a number; what has more is none
SENTENCE = re.compile(  # what lies between two sentences, or two fields on a line of a form
    r"(?:(?<=[.!?])|(?<=[.!?][\"”]))(?<!\b[Aa]pprox\.)(?<!\b[Cc]a\.)(?<!\.{4})\s+(?=[A-Z0-9\"'“])|"
    r"(?<=\S)\s{3,}(?=[A-Z][\w /]{0,20}:)"
)
_HOUSE = re.compile(  # not where the drone starts: "she left the home at five"
    r"\b(?:left|leaves?|leaving) (?:(?:the|his|her|their|our) )?home\b|\b(?:care|nursing|retirement) home\b",
    re.IGNORECASE,
)
_TITLE = re.compile(
    r"\b(?:Mrs?|Ms|Dr|St|Prof|[Dd]ist|Nr|Mt|Fr|Sgt|Capt|Lt|est|abt|brg|hdg|alt|elev|incl|(?<!/)[A-DF-MO-RT-VX-Z])\.$"
)
_TOKEN = re.compile(
    rf"(?<![^\W\d_])(?:{JOINED})(?![^\W_])|\d+(?:[.,:]\d+)*|(?<![\w.])\.\d+|[^\W\d_]+(?:['’][^\W\d_]+)*\d*|[^\w\s]",
    re.I,
)


@dataclass(frozen=True)
class Item:
    """A word, a number, a sign, or what a rule has made of several."""

    tag: str  # one letter
    low: str  # its words in lower case, apostrophes straight, joined words by hyphens
    start: int  # where it stands in the brief, characters
    end: int
    value: Any = None


@dataclass(frozen=True)
class Sentence:
    """A sentence or a line of a form."""

    text: str
    start: int  # of its first character in the brief
    items: tuple[Item, ...]

    def words(self, start: int, end: int) -> str:
        """Returns the text between two places of the brief."""
        return self.text[max(start - self.start, 0) : max(end - self.start, 0)]


Rule = tuple["re.Pattern[str]", Callable[[Sequence[Item]], "Item | None"]]


def rule(pattern: str, make: Callable[[Sequence[Item]], Item | None]) -> Rule:
    """Returns a rule: what the letters of the items look like, and what becomes of them; None: they stay."""
    return re.compile(pattern), make


def joined(items: Sequence[Item], tag: str, value: Any = None) -> Item:
    """Returns several items as one."""
    return Item(tag, " ".join(item.low for item in items), items[0].start, items[-1].end, value)


def rewritten(items: Sequence[Item], rules: Iterable[Rule]) -> list[Item]:
    """Returns the items after each rule in turn has been applied from left to right."""
    row = list(items)
    for pattern, make in rules:
        out: list[Item] = []
        last = 0
        for match in pattern.finditer("".join(item.tag for item in row)):
            new = make(row[match.start() : match.end()]) if match.end() > match.start() else None
            if new is not None:
                out += [*row[last : match.start()], new]
                last = match.end()
        row = out + row[last:]
    return row


def sentences(text: str) -> list[Sentence]:
    """Returns the sentences of a text as far as it is read; each line of a form is one, and none is endless."""
    found, at = [], 0
    others = {"home"} if _HOUSE.search(text) else set()
    for line in text[:LONGEST].split("\n"):
        first = 0
        for gap in [*SENTENCE.finditer(line), None]:
            end = len(line) if gap is None else gap.start()
            if gap is not None and _TITLE.search(line[max(0, end - 8) : end]):
                continue
            if line[first:end].strip():
                items = _items(line[first:end], at + first)
                items = tuple(replace(one, tag="x") if one.low in others else one for one in items)
                found += _cut(Sentence(line[first:end], at + first, items))
            first = end if gap is None else gap.end()
        at += len(line) + 1
    return found


def _cut(sentence: Sentence) -> list[Sentence]:
    """Returns a sentence in parts of at most `_LONGEST_SENTENCE` items; nearly always it is the only one."""
    items, parts, first = sentence.items, [], sentence.start
    for at in range(_LONGEST_SENTENCE, len(items), _LONGEST_SENTENCE):
        part = items[at - _LONGEST_SENTENCE : at]
        parts.append(Sentence(sentence.words(first, items[at].start), first, part))
        first = items[at].start
    last = items[len(parts) * _LONGEST_SENTENCE :]
    return [*parts, Sentence(sentence.words(first, sentence.start + len(sentence.text)), first, last)]


def _items(text: str, start: int) -> tuple[Item, ...]:
    return tuple(_item(match[0], start + match.start()) for match in _TOKEN.finditer(text))


def _item(word: str, start: int) -> Item:
    low = re.sub(r"\s", "-", word.lower().replace("’", "'"))
    if sum(map(str.isdecimal, word)) > _DIGITS:
        return Item("x", "…", start, start + len(word), word)
    tag = "#" if word.lstrip(".")[:1].isdecimal() else "D" if COMPASS.fullmatch(low) else TAG_OF.get(low, "")
    if tag == "D" and low in TAG_OF and not (word.isupper() or len(low) == 3 or low in ("nw", "sw")):
        tag = ""
    if (tag == "E" and word.islower()) or (tag == "u" and word in ("M", "K", "H")):
        tag = ""
    if not tag:
        sign = "-" if low in "–—" else low
        tag = "x" if word[0].islower() else "C" if word[0].isalnum() else sign if sign.isascii() else "?"
    return Item(tag, low, start, start + len(word), word)
