"""Ways that a sentence of a brief states: how far and which way, from where, and whose.

A sentence is read by a cascade of rules: its measures (measures.py), the places that they count from (places.py), and
here distances and directions that belong together, the place that each way counts from, and whether it is the
vehicle's. What is said of wind and weather is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from esar_ros.planning.belief.brief.facts import Move, Reference, Way
from esar_ros.planning.belief.brief.lexicon import KIND_WORDS, word_set
from esar_ros.planning.belief.brief.places import Kind, Place, stems
from esar_ros.planning.belief.brief.relevance import NEAR, is_told
from esar_ros.planning.belief.brief.tokens import Item, Sentence

KINDS = {kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for kind, words in KIND_WORDS.items()}
SEARCHED = re.compile(
    r"\b(?:searched|searches|checked|combed|srch'?d|swept|(?:is|was|are) negative|in vain|without (?:result|success)|"
    r"negative (?:on|at|in|for)|not "
    r"there|nil|has been walked|no trace)\b",
    re.IGNORECASE,
)
_HEARSAY = re.compile(
    r"\b(?:unconfirmed|swear|claims?|rumou?r|not sure|may have been|might have been|tricks|not quite fit|"
    r"doubtful|unreliable|low reliability)\b",
    re.IGNORECASE,
)
_ORDERS = word_set("fly go search look check cover head proceed scan sweep")  # what the vehicle is told to do
_SENT = word_set("task send direct")
_WITHIN = word_set("within than")
_AUXILIARY = word_set("will have operate begin can must fly")
_SUBJECT = re.compile(r"(?:^|[^xsC])([xsC](?:['-]?[xsC]){0,3})(?:[OR]?[Bb]j?|=|:)?$")  # "the hut lies"
_IS_WHERE = re.compile(r"BW(?:Y|[AZ]?V)")
_RETURN = re.compile(
    r"\b(?:(?:way|doubled|turned|came|come|gone|went|headed|walked|then|and) back(?! (?:to|at|in|from|up|down)\b)|"
    r"(?:metres|m|yards|yds?|kilometres?|km|miles?) back(?! from)|backtracked|retrac\w+|return(?:s|ed|ing)?)\b(?!-to)"
)
_RELATIVE = re.compile(r"[ORK],?[tW]Bj?$")
_APPOSED = re.compile(r"[tWi]B?j?$|,j?$")
_REACH = 22  # items between a distance and the direction that belongs to it
_SUBJECT_ITEMS = 12  # items before a way that may tell what lies there
_HEARD = 0.3  # weight of what is passed on without being believed


@dataclass(frozen=True)
class Stated:
    """A way as a sentence states it."""

    way: Way
    number: int  # of the sentence
    first: int  # its first item
    origin: Place | None
    goes_on: bool
    is_start: bool  # of the vehicle
    is_bound: bool  # "within a kilometre": no farther than that
    is_return: bool  # back along the way before
    is_weak: bool  # half a way that counts only with its other half
    around: frozenset[str]  # stems of the words beside it: what is there
    subject: frozenset[str]  # stems of what is said to be there: "the hut lies"
    move: Move  # what the sentence says about it; its reference is not known yet
    spans: tuple[tuple[int, int], ...]  # characters of the brief that tell it

    @property
    def is_back(self) -> bool:
        """Returns whether it leads to where the vehicle starts: "your strobe bears 090 from her"."""
        return self.origin is not None and self.origin.kind is Kind.PERSON and self.is_start

    def of(self, way: Way) -> Stated:
        """Returns the statement with another way."""
        return replace(self, way=way)

    def searched(self) -> Stated:
        """Returns the statement as one of a place where nobody is any more."""
        return replace(self, move=replace(self.move, searched=True))


def stated_in(
    number: int, sentence: Sentence, row: Sequence[Item], before: Sequence[Item], names: Sequence[str]
) -> list[Stated]:
    """Returns the ways that a sentence states, in order."""
    found: list[Stated] = []
    said = said_of(sentence.text, names)
    pairs = _pairs(row)
    end = 0  # of the way before
    shared: Place | None = None  # of "400 m east and 200 m north of the barn"
    for n, (way, first, last) in enumerate(pairs):
        until = pairs[n + 1][1] if n + 1 < len(pairs) else len(row)
        at = _origin_of(row, way, first, last, end, until)
        origin = None if at is None else row[at].value
        if (
            origin is None
            and n + 1 < len(pairs)
            and all(i.tag in ",&/" or i.low == "or" for i in row[last + 1 : until])
        ):
            after = _origin_of(row, way, until, pairs[n + 1][2], until, len(row))
            if after is not None and row[after].low.startswith("of "):
                origin, shared = row[after].value, row[after].value
        elif origin is not None and origin is shared:
            origin = None
        if at is None and last + 1 < len(row) and row[last + 1].tag in "YZ":
            origin = Place(Kind.HOME)  # "three hundred yards behind you"
        beside = [*row[max(end, first - 16) : first], *row[first + 1 : last], *row[last + 1 : min(until, last + 14)]]
        words = " ".join(item.low for item in beside if item.tag not in "OLDT")
        between = row[end : last + 3]
        goes_on = any(item.tag == "k" for item in between) or (origin is not None and origin.kind is Kind.THERE)
        is_return = _is_return(row, end, first, last) and way.direction is None
        goes_on |= is_return
        found.append(
            Stated(
                way, number, first, origin, goes_on,
                origin is not None and origin.kind is not Kind.HOME and _is_start(row, first, at, before),
                bool(_WITHIN & {item.low for item in row[max(first - 3, 0) : first]}),
                is_return, not is_return and not is_told(row, way, first, last), stems(words),
                _subject(row, end, first),
                replace(said, distance=way.distance, direction=way.direction),
                tuple((row[n].start, row[n].end) for n in sorted({first, last})),
            )
        )  # fmt: skip
        end = max(last, at if at is not None else 0) + 1
    return found


def said_of(sentence: str, names: Sequence[str]) -> Move:
    """Returns what a sentence says of whatever way it tells: whose, with which clues, how sure, whether in vain."""
    text = " ".join(sentence.split())
    kinds = frozenset(kind for kind, words in KINDS.items() if words.search(text))
    persons = frozenset(name for name in names if re.search(rf"\b{re.escape(name)}\b", text))
    certainty = _HEARD if _HEARSAY.search(text) else 1.0
    return Move(None, None, Reference.OTHER, kinds, persons, _is_searched(text), certainty)


def _is_searched(text: str) -> bool:
    """Returns whether it is told that a place was searched in vain."""
    return bool(SEARCHED.search(text))


def _subject(row: Sequence[Item], end: int, first: int) -> frozenset[str]:
    """Returns the stems of the noun of which the words before a way say that it lies there.

    "The hut lies 300 m south"; "you fly from the hut, that is 300 m south"; not "he left the hut, 300 m south".
    """
    before = row[max(end, first - _SUBJECT_ITEMS) : first]
    tags = "".join(item.tag for item in before)
    match = _SUBJECT.search(tags)
    noun = before[match.start(1) : match.end(1)] if match else ()
    is_vehicle = any(item.tag in "VHFZ" for item in row[:first])
    if match is None and (_RELATIVE.search(tags) or (is_vehicle and _APPOSED.search(tags))):
        place = next((item.value for item in reversed(row[:first]) if item.tag in "OR"), None)
        return stems(place.words) if place is not None and place.kind is Kind.NAMED else frozenset()
    if match is None and tags.endswith(("iB", "i")):  # "we can see the mast, it's north of us"
        noun = next((row[at + 1 : at + 3] for at in range(first - 3, -1, -1) if row[at].tag == "A"), ())
    return stems(" ".join(item.low for item in noun))


def _pairs(row: Sequence[Item]) -> list[tuple[Way, int, int]]:
    """Returns the ways of a sentence, and the items of each: distances with the directions that they go with."""
    out: list[tuple[Way, int, int]] = []
    half: int | None = None  # the last measure that still lacks its other half
    has_wind = any(item.tag == "w" for item in row)
    for at, item in enumerate(row):
        if item.tag not in "LDT" or (has_wind and _is_wind(row, at)):
            continue
        if item.tag == "L" and at and row[at - 1].tag == "l":
            continue  # "at 1,980 m, going south-west": a height
        if half is not None and item.tag != "T" and item.tag != row[half].tag and at - half <= _REACH:
            length, direction = (row[half], item) if item.tag == "D" else (item, row[half])
            out.append((Way(length.value, direction.value), half, at))
            half = None
            continue
        if half is not None:
            out.append((_half(row[half]), half, half))
        half = at if item.tag != "T" else None
        if item.tag == "T":
            out.append((item.value, at, at))
    if half is not None:
        out.append((_half(row[half]), half, half))
    return out


def _half(item: Item) -> Way:
    return Way(item.value, None) if item.tag == "L" else Way(None, item.value)


def _is_wind(row: Sequence[Item], at: int) -> bool:
    """Returns whether a measure is the wind's: a lone direction, or whatever stands between the same commas."""
    if row[at].tag == "D":
        return True
    first = next((n for n in range(at, -1, -1) if row[n].tag in ",;:"), -1)
    last = next((n for n in range(at, len(row)) if row[n].tag in ",;:"), len(row))
    return any(item.tag == "w" for item in row[first + 1 : last])


def _origin_of(row: Sequence[Item], way: Way, first: int, last: int, end: int, until: int) -> int | None:
    """Returns the item that a way counts from: right after it, within it, else said before it, else after it."""
    for at in range(first, min(last + 4, until)):
        if row[at].tag != "O" or (way.direction is None and row[at].low.startswith("of ")):
            continue  # "ten minutes of walking"
        if at <= last or all(item.tag in "jx,kg()" for item in row[last + 1 : at]):
            return at
    said = [at for at in range(end, first) if row[at].tag == "O" and not row[at].low.startswith("of ")]
    said = [at for at in said if not at or row[at - 1].tag != "n"]  # "not from you"
    if said:
        return next((at for at in said if row[at].value.kind is Kind.HOME), said[-1])
    return next(
        (at for at in range(last + 1, until) if row[at].tag == "O" and row[at].low.startswith(("from", "fm"))), None
    )


def _is_start(row: Sequence[Item], first: int, at: int | None, before: Sequence[Item]) -> bool:
    """Returns whether a way that begins at an item, and counts from another, is the vehicle's."""
    if at is not None and _IS_WHERE.match("".join(item.tag for item in row[at + 1 :])):
        return True  # "300 m north of the hut is where you take off"
    if (
        first > 1
        and row[first - 1].tag == "B"
        and row[first - 2].tag == "i"
        and any(i.tag in "PQ" for i in row[first:])
    ):
        return False  # "it was 600 m north of the inn that he was seen"
    if at is not None and at < first:
        return _is_of_vehicle(row, at, before) and not any(item.tag in "BF" for item in row[at:first])
    return _is_of_vehicle(row, first, before)


def _is_of_vehicle(row: Sequence[Item], first: int, before: Sequence[Item]) -> bool:
    """Returns whether what begins at an item is said of the vehicle: it is spoken of last before it."""
    closed = 0
    for at in range(first - 1, -1, -1):
        item, after = row[at], row[at + 1]
        closed += (item.tag == ")") - (item.tag == "(")
        if closed > 0:
            continue
        is_order = item.low in _ORDERS and (at == 0 or row[at - 1].tag in ",&")
        said = {i.low for i in row[max(at - NEAR, 0) : at]}
        if item.tag == "V" and said & _SENT:
            return False  # "task the drone south of the mast"
        if item.tag == "P" and at and row[at - 1].tag in "ZV":
            return True  # "your people", "the drone people"
        is_clause = _is_home(item) and " " in item.low and "".join(i.tag for i in row[at + 1 : at + 3]) == ",B"
        if is_clause or (_is_home(item) and item.low.endswith((" is", " lies"))):
            return True  # "the field from which you fly is"
        if (
            item.tag in "PQ"
            or is_order
            or (item.tag == "B" and row[at - 1].tag in "xC" and set(",;.") & {i.tag for i in row[:at]})
        ):
            return False
        if item.tag == "F" and at and row[at - 1].low == "we":
            return True
        if item.tag in "Z" or (item.tag == "Y" and (after.tag != "x" or "'" in item.low or after.low in _AUXILIARY)):
            return True
        if item.tag == "V" and not (at == 0 and after.tag == ","):
            return True
        if item.tag == "H" and row[at - 1].low != "had" and not any(other.tag == "P" for other in row[:at]):
            return True
    if not row or row[0].low not in ("it", "it's", "that", "that's", "this"):
        return False
    last = next((item for item in reversed(before) if item.tag in "PQVYZH" or _is_home(item)), None)
    return last is not None and last.tag not in "PQ"


def _is_return(row: Sequence[Item], end: int, first: int, last: int) -> bool:
    """Returns whether a way is told as one back along the last: "500 m back the way they came"."""
    beside = row[max(end, first - NEAR) : last + NEAR]
    is_denied = any(item.tag == "n" for item in beside)
    return not is_denied and _RETURN.search(" ".join(item.low for item in beside)) is not None


def _is_home(item: Item) -> bool:
    return item.tag == "O" and item.value.kind is Kind.HOME
