"""Account of a brief: a pass over its words that looks for what carries facts and no reading has used.

It reads nothing into words. A number, a share, a prohibition, a kind of person, a direction without a compass and a
place are either used by a reading, or recognised as what tells of no place (an age, a height, a time, a number of
people), or left over. When in doubt they are left over.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from esar_ros.planning.belief.brief.facts import Content, Passage
from esar_ros.planning.belief.brief.groups import GROUPS, is_person
from esar_ros.planning.belief.brief.lexicon import BANDS, CATEGORIES, SIDED, SLOPES, word_set
from esar_ros.planning.belief.brief.measures import Number
from esar_ros.planning.belief.brief.places import Kind, stems
from esar_ros.planning.belief.brief.tokens import Item, Sentence

_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_DAYS = r"(?:Mon|Tues?|Wednes|Thurs?|Fri|Satur|Sun)day"
_DAY = re.compile(
    r"(?:\w+-)?(?:\w+(?:teen|tie)th|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth)"
)
_NO_LENGTH = r"(?!\.?\d|\s?(?:km|m|mi|miles?|metres?|ft|feet|yards?|nm)\b)"
_TIME = re.compile(
    r"\b(?:\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?Z?)?|\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})|"
    rf"\d{{1,2}}[:h][0-5]\d(?::\d{{2}})?(?:\s?(?:[ap]\.?m\b\.?|hrs?\b|h\b|Z\b|UTC\b))?{_NO_LENGTH}|"
    rf"\d{{1,2}}(?:\.[0-5]\d)?\s?(?:[ap]\.?m\b\.?|o'clock)|(?<=at )\d{{1,2}}\.[0-5]\d{_NO_LENGTH}|"
    rf"[0-2]\d[0-5]\d\s?(?:hrs?|hours|h|Z|UTC|L|local)\b|(?<=at )[0-2]\d[0-5]\d{_NO_LENGTH}|"
    rf"(?<=(?:nce|til|ore|ter|rom|sed|out) )[0-2]\d[0-5]\d{_NO_LENGTH}|"
    rf"\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTHS})[a-z]{{0,6}}\b\.?(?:,? \d{{4}})?|"
    rf"(?:{_MONTHS})[a-z]{{0,6}}\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?|"
    rf"{_DAYS} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b)",
)
_DAYS_OF = word_set("day days week weeks night nights")
_CREW = word_set("pax pob souls persons people")
_HEADINGS = 24  # most numbered lines of a form
_WORDS_OF_TIME = word_set("o'clock am pm a.m p.m hrs midnight noon past quarter half")
_TELEPHONE = re.compile(r"(?<![\w.])(?:\+\d{1,3}[ -]?|0)\d{2,4}[ -]\d{3,4}(?:[ -]?\d{3,4})?(?!\w|\.\d)")
_OLDEST = 110  # years
_UNSURE = word_set("above accuracy accurate error radius uncertainty precision within +/- ± cep")
_HOW_MANY = word_set("people persons pax pob souls others more men women children them us others' adults of")
_RANGES = word_set("age aged ages old years year yr yrs yo s")
_BEFORE_AGE = word_set(", ( m f male female is was he's she's i'm")
_MINUTES = (0.25, 5.0, 10.0, 20.0, 25.0)  # before or after the hour
_NEAR = 3  # items


def left_over(
    told: Sequence[Sentence], plain: Sequence[Sequence[Item]], rows: Sequence[Sequence[Item]],
    used: Sequence[tuple[int, int]], placed: frozenset[str], adrift: frozenset[str],
) -> list[Passage]:  # fmt: skip
    """Returns what sentences tell beside what readings have used or claimed.

    plain, rows: the sentences with their measures, and with their places, put together; used: characters of the text;
    placed, adrift: stems of the landmarks of which it is known where they lie or what lies there, and of those by which
    something is told but not where they lie themselves.
    """
    found: list[Passage] = []
    mentioned: set[str] = set()  # stems of landmarks and kinds of person: each is told once
    claimed = _Spans(used)
    for sentence, measures, places in zip(told, plain, rows, strict=True):
        plainly = [*_plainly(sentence, _TIME, "a time"), *_plainly(sentence, _TELEPHONE, "a telephone number")]
        plainly = [passage for passage in plainly if not claimed.hold(*passage[:2])]
        found += plainly
        aside = _Spans([passage[:2] for passage in plainly])
        is_read = claimed.hold(sentence.start, sentence.start + len(sentence.text))
        for passage in [
            *_numbers(measures),
            *_words(sentence.items),
            *_landmarks(sentence, places, placed, adrift, is_read),
        ]:
            if claimed.hold(*passage[:2]) or aside.hold(*passage[:2]):
                continue
            if passage.content is Content.SLOPE and is_read:
                continue  # "uphill, north-west"
            if passage.content in (Content.CATEGORY, Content.LANDMARK):
                words = stems(sentence.words(*passage[:2]))
                if words & mentioned:
                    continue
                mentioned |= words
            found.append(passage)
    return found


def _plainly(sentence: Sentence, pattern: re.Pattern[str], what: str) -> Iterator[Passage]:
    """Yields what has the form of a time or a telephone number."""
    for match in pattern.finditer(sentence.text):
        yield Passage(sentence.start + match.start(), sentence.start + match.end(), None, Content.NUMBER, what, True)


class _Spans:
    """Spans of a text, asked for what overlaps with them in time linear in all."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self.spans = sorted(spans)
        self._taken = {n for start, end in spans for n in range(start, end)}

    def hold(self, start: int, end: int) -> bool:
        """Returns whether any of them overlaps with one."""
        return any(n in self._taken for n in range(start, end))


def _numbers(row: Sequence[Item]) -> Iterator[Passage]:
    """Yields the measures and numbers of a sentence, with what they are recognised as."""
    for at, item in enumerate(row):
        is_wind = any(other.tag == "w" for other in row[max(at - _NEAR, 0) : at + _NEAR])
        if item.tag in "LTD":
            yield Passage(item.start, item.end, None, Content.WAY, "of the wind" if is_wind else "", is_wind)
        elif item.tag == "X":
            beside = {other.low for other in row[max(at - _NEAR, 0) : at + 2]}
            is_doubt = bool(_UNSURE & (beside | set(item.low.split()))) or item.value == math.inf
            what = "" if is_doubt else "a height, a length, a speed or a time"
            yield Passage(item.start, item.end, None, Content.WAY, what, not is_doubt)
        elif item.tag == "N" or item.tag == "#" or item.low == "…" or (item.tag in "xC" and _is_code(item)):
            what = "of the wind" if is_wind else _recognised(row, at)
            yield Passage(item.start, item.end, None, Content.NUMBER, what, bool(what))


def _is_code(item: Item) -> bool:
    """Returns whether letters go with digits, as in "B2"."""
    return any(map(str.isdecimal, item.low))


def _recognised(row: Sequence[Item], at: int) -> str:
    """Returns what a number is that tells of no place: "an age", "a number of people", "a time"; empty: unknown."""
    item = row[at]
    if not isinstance(item.value, Number):
        return ""
    value = item.value.value
    before = [other.low for other in row[max(at - _NEAR, 0) : at]]
    after = [other.low for other in row[at + 1 : at + 1 + _NEAR] if other.low != "-"]
    last, following = before[-1] if before else "", after[0] if after else ""
    is_hour = following in ("to", "past") and len(after) > 1 and row[at + 2].tag == "N" and value in _MINUTES
    if (
        {last, *after[:2]} & _WORDS_OF_TIME
        or following in _DAYS_OF
        or is_hour
        or (last in ("to", "past") and _is_minutes(row, at - 2))
    ):
        return "a time"
    if not 0.0 < value <= _OLDEST:
        return ""
    if _RANGES & {*before[-2:], following} or (last == "of" and before[:-1] and is_person(before[-2])):
        return "an age"
    if any(is_person(word) or word in GROUPS or word in BANDS or word in _HOW_MANY for word in after):
        return "a number of people"
    is_of_somebody = any(is_person(word) for word in before) or any(
        other.tag in "CP" for other in row[max(at - _NEAR, 0) : at]
    )
    is_end = not after or following in (",", ")", ".", ";", "and", "with", "/")
    if is_of_somebody and is_end and last in _BEFORE_AGE:
        return "an age"
    if last in _CREW or (is_of_somebody and last == ":"):
        return "a number of people"
    if (at == 0 or last == ".") and following in (".", ")") and value <= _HEADINGS:
        return "a heading"
    if last == "minus" or {"celsius", "frost", "fahrenheit"} & set(after):
        return "a temperature"
    return "" if any(map(str.isdecimal, item.low)) else "a count"


def _is_minutes(row: Sequence[Item], at: int) -> bool:
    """Returns whether the minutes of a time stand at an item: "five to four"."""
    return at >= 0 and isinstance(row[at].value, Number) and row[at].value.value in _MINUTES


def _words(items: Sequence[Item]) -> Iterator[Passage]:
    """Yields kinds of persons whose ways are not modelled, and directions that no compass tells."""
    for at, item in enumerate(items):
        word = item.low.removesuffix("'s")
        if word in CATEGORIES or word.removesuffix("s") in CATEGORIES:
            yield Passage(item.start, item.end, None, Content.CATEGORY)
        elif item.low in SLOPES or (item.low in ("left", "right") and at and items[at - 1].low == "the"):
            yield Passage(item.start, item.end, None, Content.SLOPE)


def _landmarks(
    sentence: Sentence, row: Sequence[Item], placed: frozenset[str], adrift: frozenset[str], is_read: bool
) -> Iterator[Passage]:
    """Yields the places at or toward which somebody is said to be, and of which nobody says where they lie."""
    spoken = [item.value for item in row if item.tag in "OR" and item.value.kind is Kind.NAMED]
    items = sentence.items
    spans = []
    for at, item in enumerate(items):
        before = items[max(at - 2, 0) : at]
        if item.low in SIDED and any(other.tag == "C" or other.low == "the" for other in before):
            first = next(other for other in before if other.tag == "C" or other.low == "the")
            spans.append((first.start, item.end))  # "trying to reach the hut"
    spans += [(one.start, one.end) for one in spoken if one.words.split()[0] == "the" or adrift & stems(one.words)]
    is_theirs = any(item.tag in "PQG" for item in items) and not is_read
    for start, end in spans:
        last = sentence.words(start, end).lower().split()[-1:]
        if any(is_person(word) or word in GROUPS or _DAY.fullmatch(word) for word in last):
            continue  # "of the 24 pupils"; "on the sixteenth"
        words = stems(sentence.words(start, end))
        if words and not placed & words and (is_theirs or adrift & words):
            yield Passage(start, end, None, Content.LANDMARK)
