"""The missing people of a brief: their names and their number.

The number is that of the noun phrase that is most likely those who are sought: what is said to be left of a group, a
number on a form, people said to be missing, else those who are spoken of first. A phrase is a list of numbers of
people, of kin and of names: "Anna Lind, her sons Tom and Ben and their guide" are four.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from esar_ros.planning.belief.brief.lexicon import BANDS, HELPERS, PEOPLE, TERRAIN, word_set
from esar_ros.planning.belief.brief.tokens import Item, Sentence

_MOST = 12  # people
_ALONE = 0.0  # weight of one person, of whom nothing is said
_CROWD = 60  # people: more is no number of people
_SAID = 6.0  # weight of a number that is said to be that of the missing
_LABELLED = 9.0  # weight of one that goes before the lines of a form
_OLDEST = 110  # years
_NO_NAMES = word_set(
    "I North South East West Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March "
    "April May June July August September October November December Weather Time Missing Start Light Local Log "
    "Up The He She They We You It His Her Their French Chinese German Control Drone Sector Hotel Lake Mount "
    "Camp Point Yesterday Today Tonight However Then Later Meanwhile Now Last Early Late Alert Name Names"
)
_PLACE_BEFORE = re.compile(r"\b(?:[Tt]he|[Aa]n?|[Ii]n|[Aa]t|on|[Tt]o|into|near|across|crossing|from|of|[A-Z]\w+)\s+$")
_PLACE_AFTER = re.compile(r"\s+(?:trail|traverse|peninsula|lake|camp|glacier|ridge|beach|[A-Z][a-z]+)\b")
_NAME_AFTER = re.compile(
    r"\s+and\s+(?:[A-Z]|(?:his|her|their|old|little|young)\b)|, \d+| \(\d|, [A-Z][a-z]+(?:,| and )|"
    r",? (?:wears|is missing|has to be|has been missing)\b"
)
_NAME_LABEL = re.compile(r"(?:\w+ )?names? ?:")
_NAME = re.compile(r"\b([A-Z][a-zé]{1,14})\b(?:['’]s\b)?")
_MID_SENTENCE = re.compile(r"[a-z,] ([A-Z][a-zé]{1,14})\b")

_SAFE = re.compile(
    r"\b(?:safe|ok|fine|well|unhurt|home|rescued|found ok|swam (?:ashore|in|to)|evacuated|fetched back|driven "
    r"home|came back|ran back|turned back|returned|walked back|reached (?:the )?(?:valley|road|hut|village)|"
    r"made it|with us|are in|is in the|not (?:a )?(?:missing|casualty)|(?:is|are) back|took the bus|asleep|"
    r"stayed|(?:is|are) (?:here|with (?:me|us)))\b",
    re.IGNORECASE,
)
_SOUGHT = re.compile(
    r"\b(?:missing|look\w*\s+for|search\w*\s+for|sought|lost|still out|overdue|locate|concerns?|short by|has "
    r"gone|have gone|not\s+(?:returned|come\s+(?:back|home|down)|been heard|answered)|unaccounted|stranded|"
    r"vanished|disappeared|went out|objects?|subjects?|to be found|last (?:seen|photographed|heard))\b",
    re.IGNORECASE,
)
_TELLS = re.compile(  # what a witness does
    r"^[\w' ,-]{0,24}?\b(?:saw|sees?|met|said|says?|told|tells?|reports?|reported|heard|hears?|noticed|"
    r"remember\w*|found|believes?|thinks?|rang|called|watched|spotted|passed|lost sight|walked (?:him|her|them|"
    r"back)|came back|observed)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^(?:no\.? of )?(?:total )?(?:missing|injured|hurt|buried|subjects?|persons?(?: ?\( ?s ?\))?|pax|people|"
    r"casualt\w+|victims?|objects?|lost|souls|number|count|party(?: size)?|group(?: size)?|"
    r"who)\b(?:[^:]{0,40}:| -) (?P<count>\d+)\b(?! ?(?:m|km|min|h)\b)"
)
_LEFT = tuple(  # what is left of a group, and how much this counts
    (re.compile(words), weight)
    for words, weight in (
        (
            r"(?<![\d.])\b(\d+) (?:(?:is|are|were|remains?|remain) )?(?:still |now )?"
            r"(?:missing|outstanding|o/s|unaccounted|overdue|not back)\b",
            8.0,
        ),
        (r"\bmissing (?:are |is )?(\d+)\b", 7.0),
        (
            r"\b(?:so|leaves|leaving|makes|which leaves) (?:it's |that's |only |still |us )?(\d+)\b"
            r"(?! ?(?:m|km|min|h|years|o'clock)\b)",
            7.0,
        ),
        (r"\b(?:other|remaining) (\d+)\b", 7.0),
        (r"(?<![\d.])\b(\d+) (?:others|remain\w*|left|to go)\b", 7.0),
        (r"\b(?:there|we) (?:are|were) (\d+) of (?:us|them)\b", 6.0),
        (r"\b(?:outstanding|o/s|still missing|remaining|unaccounted(?: for)?|not (?:yet )?found) ?: (\d+)\b", 9.0),
        (r"\bpob:? (\d+)\b", 8.0),
        (r"^pax (\d+)\b", 7.0),
        (r"\b(\d+) strong\b", 4.0),
        (r"\b(?:count|number of \w+|no \. of \w+) [:=]? ?(\d+)\b", 8.0),
        (r"\b(?:look|search)(?:ing)? for (?:all )?(\d+)(?= ?(?:[:.,;]|$))", 7.0),
        (r"^(?:all |the )?(\d+) (?:set (?:out|off)|left|went|started)\b", 4.0),
        (r"(?<![\d.])\b(\d+) (?:are |is )?still (?:on|out|in|up|down|there)\b", 7.0),
        (
            r"(?<![\d.])\b([2-9]|\d\d) of (?:\d+|them|(?:my|our|his|her|their) (?:\d+ )?\w+|the (?!rescuers|searchers|"
            r"volunteers)\w+)\b",
            6.0,
        ),
    )
)
_CAME_BACK = (
    r" (?:who )?(?:(?:has|have|had|is|are|was|were|been|already|now|since|later|both|safely|all) )*(?:c[ao]me "
    r"(?:back|down|home|in)|got (?:back|down|out|home)|walked (?:out|back|down|in)|made it|returned|turned "
    r"(?:back|round|around)|raised the alarm|safe|rescued|found (?:alive|safe|well|ok)|winched|in hospital|"
    r"accounted for|finished|arrived|signed (?:in|back)|flown (?:out|off)|got off|drove home|ashore|at base|"
    r"with us|swam (?:ashore|in|to)|picked up|been (?:found|rescued|picked|winched|taken|brought)|dug|back)\b"
)
_IS_BACK = re.compile(
    rf"(?: ,| [a-z]+s)?{_CAME_BACK}|(?: \w+){{0,4}} (?:dug|tried|searched|looked|had no luck|went for help)\b| of us\b"
)
_RETURNED = re.compile(  # some of a group that is not missing any more
    rf"(?<![\d.])(?<!\bat )(?<!\bby )(?<!since )\b(\d+)(?: of (?:them|\d+|the \w+))?(?: others?| more)?"
    rf"(?: (?!of\b|hours?\b|days?\b|min|h\b|am\b|pm\b|o'clock)\w+)?(?: ,)?{_CAME_BACK}"
)
_BOTH = re.compile(
    r"\ba second (?:man|woman|boy|girl|person|[a-z]+er)\b.*\b(?:missing|overdue|lost|not)\b|\b1 of "
    r"them\b.*\bthe other\b|\bneither \w+ nor\b|\bneither\b(?: of them)? (?:has|have|is|was|came|could|can)\b|"
    r"\bboth (?:of them|are|were|have|had|carry|wear|in their|aged|\d|men|women|boys|girls|[a-z]+ers)\b"
)


class _Group(NamedTuple):
    """People of one noun phrase."""

    size: int
    names: tuple[str, ...]
    first: int  # words from first to before last
    last: int
    is_counted: bool
    is_people: bool  # False: no more than two capitalised words
    is_noun: bool = True  # False: a name alone


def names_in(told: Sequence[Sentence]) -> tuple[str, ...]:
    """Names of people: capitalised words that stand neither after an article or a preposition of place nor alone."""
    prompt = " ".join(sentence.text for sentence in told)
    no_names = _NO_NAMES | set(re.findall(r"\b[Tt]he (?:[a-z]+ )?([A-Z][a-zé]+)\b", prompt))
    inside = frozenset(_MID_SENTENCE.findall(prompt))
    found: dict[str, None] = {}
    for sentence in told:
        text = re.sub(r"^(?!Missing|Name|Lost|Overdue)[^:]{1,40}:(?=\s)", "", sentence.text)
        for match in _NAME.finditer(text):
            before, after = text[: match.start()][-20:], text[match.end(1) :][:30]
            if match[1] in no_names or _PLACE_BEFORE.search(before) or _PLACE_AFTER.match(after):
                continue
            if before.strip(" \"'") or _NAME_AFTER.match(after) or match[1] in inside:
                found.setdefault(match[1])
    return tuple(found)


def count_victims(rows: Sequence[Sequence[Item]], names: Sequence[str]) -> int:
    """Returns the number of people missing: that of the phrase that most likely means them."""
    lines = [_plain(row) for row in rows]
    safe = {word for words in lines for at, word in enumerate(words) if word[:1].isupper() and _is_safe(words[at:])}
    claims: list[tuple[float, int]] = [(_ALONE, 1)]  # weight and number
    labelled, named = 0, 0  # people of the lines of a form that count them, and of those that name them
    listed = 0  # people of sentences that are names alone
    returned, is_pair = 0, False
    for number, line in enumerate(lines):
        text = " ".join(line).lower()
        colon = line.index(":") if ":" in line[:6] else -1
        words = line[colon + 1 :]
        groups = _groups(words, frozenset(names), colon >= 0)
        at_first = groups[0] if groups and groups[0].first <= 1 else None
        label = None if _SAFE.search(text) else _LABEL.match(text)
        if label is not None:  # "Casualties: 1 adult, 2 children"
            labelled += max(int(label["count"]), at_first.size if at_first and at_first.first == 0 else 0)
        if groups and _NAME_LABEL.match(text):
            named += groups[0].size
        is_list = at_first is not None and at_first.last >= len(words) - 1
        listed = listed + at_first.size if at_first and is_list else 0
        if at_first and listed > at_first.size:
            claims.append((5.0 + 0.1 * listed, listed))
        claims += _told_left(text)
        claims += [(_weight(one, words, text, number), one.size - len(safe & set(one.names))) for one in groups]
        claims += _opening(words, colon >= 0) if number == 0 and words else []
        returned += sum(int(match[1]) for match in _RETURNED.finditer(text))
        is_pair |= bool(_BOTH.search(text))
    most, best = max(((weight, count) for weight, count in claims if 0 < count <= _CROWD), key=lambda claim: claim[0])
    if labelled and most < _LABELLED:
        best = labelled
    elif most < _SAID and not labelled:
        best = named if named > 1 else best - returned if best > returned else best
        best = 2 if best == 1 and is_pair else best
    return max(1, min(best, _MOST))


def _told_left(text: str) -> list[tuple[float, int]]:
    """Returns the numbers that a sentence gives of those who are left of a group, each with its weight."""
    return [
        (weight, int(match[1]))
        for left, weight in _LEFT
        for match in left.finditer(text)
        if not _IS_BACK.match(text, match.end())
    ]


def _opening(words: Sequence[str], is_labelled: bool) -> list[tuple[float, int]]:
    """Returns the number with which terse notes begin: "M 67, dementia"; "4 on the north wall"."""
    if words[0] in ("M", "F", "Solo", "Male", "Female"):
        return [(3.5, 1)]
    is_count = (
        not is_labelled and words[0].isdecimal() and (len(words) < 10 or words[1] in ("on", "in", "at", "off", "stuck"))
    )
    return [(3.5, int(words[0]))] if is_count else []


def _is_safe(words: Sequence[str]) -> bool:
    """Returns whether somebody is said to be safe, up to the next comma."""
    clause = next((words[:n] for n, word in enumerate(words[:12]) if word in (",", ";", ".", "but", "and")), words[:12])
    return bool(_SAFE.search(" ".join(clause)))


def _plain(row: Sequence[Item]) -> list[str]:
    """Returns the words of a sentence with its numbers in figures; names keep their capitals."""
    out: list[str] = []
    for item in row:
        if item.tag == "N":
            out.append(item.low.split()[-1] if item.low.endswith("couple") else f"{item.value.value:g}")
        elif item.tag == "C" and isinstance(item.value, str):
            out.append(item.value)
        else:
            out += item.low.split()
    return _ageless(out)


def _ageless(words: Sequence[str]) -> list[str]:
    """Returns words without the ages that stand before people: "6 - year - old", "30 years old", "aged 30"."""
    out: list[str] = []
    at = 0
    while at < len(words):
        after = [word for word in words[at + 1 : at + 5] if word != "-"]
        if (
            words[at].isdecimal()
            and after[:1] in (["year"], ["years"], ["month"], ["months"])
            and after[1:2] in (["old"], ["olds"])
        ):
            at = words.index(after[1], at) + 1
            out += ["youngsters"] * (after[1] == "olds")
        elif (
            words[at].isdecimal() and after[:1] in (["man"], ["woman"], ["person"], ["strong"]) and words[at + 1] == "-"
        ):
            out += [words[at], "people"]
            at += 3
        elif words[at] in ("aged", "age") and words[at + 1 : at + 2] and words[at + 1].isdecimal():
            at += 2
        else:
            out.append(words[at])
            at += 1
    return out


def _weight(group: _Group, words: Sequence[str], text: str, number: int) -> float:
    """Returns how likely a group are those who are sought."""
    before, after = words[max(group.first - 3, 0) : group.first], words[group.last : group.last + 7]
    inside = words[group.first : group.last]
    is_lost = re.match(
        r"(?:(?:is|are|was|were|has been|have been|still|now|both|all) )*(?:missing|overdue|unaccounted)",
        " ".join(after),
    )
    if "missing" in inside or before[-1:] == ["missing"] or is_lost or text.startswith("missing"):
        return 8.0
    if (
        (before[-1:] in (["by"], ["to"]) and "short" not in before)
        or _TELLS.match(" ".join(after))
        or _SAFE.search(" ".join(after[:4]))
    ):
        return 0.5
    if not group.is_people:
        return 3.0 if group.size > 1 and ":" not in text else 1.0
    weight = 2.0 + 2.0 * (group.is_counted or group.size > 1) + bool(_SOUGHT.search(text))
    return weight + 0.5 * (group.size > 1) - min(number, 8) * 0.1


def _groups(words: Sequence[str], names: frozenset[str], is_list: bool) -> list[_Group]:
    """Returns the groups of people in a sentence; is_list: commas add up, as in "father, daughter, friend"."""
    groups: list[_Group] = []
    at = 0
    while at < len(words):
        one = _people_at(words, at, names)
        if one is None:
            at += 1
            continue
        parts, adds, links = [one], is_list, [",", ","]
        while True:
            link = _link(words, parts[-1].last)
            more = _people_at(words, link, names) if link > parts[-1].last else None
            if more is None or (words[parts[-1].last] == "," and not parts[-1].is_noun and _is_person(words[link])):
                break  # "Ana and Ben, husband and wife"
            adds |= bool({"and", "plus", "&", "+", "took", "with"} & set(words[parts[-1].last : link]))
            links[1] = words[parts[-1].last]
            links[0] = links[1] if len(parts) == 1 else links[0]
            parts.append(more)
        counts = [part.size for part in parts]
        adds |= len(parts) > 2 and one.first <= 1 and parts[-1].last >= len(words) - 1  # "Mother, father, son."
        count = sum(counts) if adds else counts[0]
        for told, others in ((0, counts[1:]), (-1, counts[:-1])):  # "two friends, Al and Bo"; "Al and Bo, two friends"
            if parts[told].is_counted and links[told] == "," and others and sum(others) == counts[told]:
                count = counts[told]
        groups.append(
            _Group(
                count,
                tuple(name for part in parts for name in part.names),
                one.first,
                parts[-1].last,
                any(part.is_counted for part in parts),
                any(part.is_people for part in parts),
            )
        )
        at = parts[-1].last
    return groups


def _link(words: Sequence[str], at: int) -> int:
    """Returns the word after what joins two phrases: a comma, "and", "took"."""
    start = at
    while at < len(words) and at - start < 3 and words[at] in (",", "and", "plus", "&", "+", "took", "with", "also"):
        at += 1
    if at == start and words[at : at + 1] == ["in"] and "and" in words[at : at + 6]:
        return words.index("and", at) + 1  # "Ana in red and Ben in blue"
    return at


def _people_at(words: Sequence[str], first: int, names: frozenset[str]) -> _Group | None:
    """Returns the people whose phrase begins at a word: "two old friends", "her sons Tom and Ben", "Anna Lind"."""
    at, count = first, 0
    while at < len(words) and at - first < 6:
        word, after = words[at].lower(), words[at + 1].lower() if at + 1 < len(words) else ""
        noun = word.removesuffix("'s")
        if word.isdecimal() and not count and int(word) <= 60:
            if after in ("-", "years") or (at and words[at - 1] in ("M", "F", "aged", "age", "of")):
                return None
            count = int(word)
        elif noun in _GROUPS and after == "of":
            if words[at + 2 : at + 3] and words[at + 2].isdecimal():
                phrase = list(takewhile(str.isalpha, words[at + 3 : at + 6]))
                noun_at = next((n for n, one in enumerate(phrase, at + 3) if _is_person(one)), at + 2)
                return _closed(words, first, noun_at + 1, int(words[at + 2]), True, names)
            count, at = 2 if word in ("pair", "couple") else count, at + 1
        elif noun in BANDS:
            return _closed(words, first, at + 1, BANDS[noun], True, names)
        elif noun.removesuffix("s") in BANDS and count:
            return _closed(words, first, at + 1, BANDS[noun.removesuffix("s")] * count, True, names)
        elif word in ("he", "she") and at == first and after in ("and", ","):
            return _Group(1, (), first, at + 1, False, True, False)
        elif _is_person(noun):
            if not word.endswith("'s") and not _is_person(after):
                is_plural = noun not in PEOPLE or noun in ("people", "men", "women", "children", "pax")
                return _closed(words, first, at + 1, count or (0 if is_plural else 1), count > 0, names)
        elif words[at][:1].isupper() and not count and at - first < 2:
            person = _named(words, at, names)
            if person is None or not words[at].endswith("'s"):
                return person and person._replace(first=first, last=_after_brackets(words, person.last))
        elif noun in HELPERS or word in _FUNCTION or not (word[:1].isalpha() or word == "-"):
            return None
        at += 1
    return None


_GROUPS = word_set("family party group team crew rope band pair couple class")
_FUNCTION = word_set(
    "is are was were be been has have had and or but of in on at to from by with for when who that which not "
    "no it he she they we i you as then there so if will would could can may this about left went go goes "
    "going gone took it's whose whom because"
)


_TRADE = re.compile(
    r"[a-z]{3,}(?:mate|keeper|logist|grapher|sister|brother|fisher|maker|worker|driver|rider|(?:wo)?m[ae]n)"
)


def _is_person(noun: str) -> bool:
    one = noun.removesuffix("s")
    return noun in PEOPLE or one in PEOPLE or noun.removesuffix("es") in PEOPLE or bool(_TRADE.fullmatch(one))


def _named(words: Sequence[str], first: int, names: frozenset[str]) -> _Group | None:
    """Returns somebody of a name: a known one, or two capitalised words that are no place."""
    if words[first + 1 : first + 2] == ["."] and len(words[first]) == 1 and words[first + 2 : first + 3]:
        surname = words[first + 2]  # "H. Berg"
        return _Group(1, (surname,), first, first + 3, False, True, False) if surname[:1].isupper() else None
    last = first + 1
    if last < len(words) and words[last][:1].isupper() and words[last].lower() not in TERRAIN:
        last += 1
    if first == 0 and last == 2 and words[2:3] and words[2][:1].isupper():
        return None  # "Concerns Ana Lind"
    told = tuple(word.removesuffix("'s") for word in words[first:last])
    if not (names & set(told) or len(told) > 1) or any(name in _NO_NAMES or not name[1:].islower() for name in told):
        return None
    if first and words[first - 1].lower() in ("the", "of", "in", "at", "on", "near", "to", "from"):
        return None
    return _Group(1, told, first, last, False, bool(names & set(told)), False)


def _closed(
    words: Sequence[str], first: int, last: int, count: int, is_counted: bool, names: frozenset[str]
) -> _Group | None:
    """Returns a phrase with what follows it: "(2)", ages, the names of the same people."""
    if words[last : last + 1] == ["("] and words[last + 1 : last + 2] and words[last + 1].isdecimal() and count == 0:
        count, is_counted = int(words[last + 1]), True
    last = _after_brackets(words, last)
    at = _link(words, last) if words[last : last + 1] in ([","], [":"]) and count != 1 else last
    at += words[at : at + 1] == [":"]
    told: list[str] = []
    while at < len(words) and len(told) < (count or _MOST) and words[at][:1].isupper():
        person = _named(words, at, names | {words[at]})
        if person is None:
            break
        told.append(person.names[0])
        last = _after_brackets(words, person.last)
        at = _link(words, last)
    count = count or len(told)
    return _Group(count, tuple(told), first, last, is_counted, True) if count else None


def _after_brackets(words: Sequence[str], at: int) -> int:
    """Returns the word after what stands in brackets there, or after an age: "Tom, 41, and"; "father 45, mother 40"."""
    if words[at : at + 1] == ["("]:
        return next((n + 1 for n in range(at, min(at + 9, len(words))) if words[n] == ")"), at)
    age = at + (words[at : at + 1] == [","])
    is_age = age < len(words) and words[age].isdecimal() and int(words[age]) <= _OLDEST
    return age + 1 if is_age and words[age + 1 : age + 2] in ([","], ["."], [";"], ["and"], []) else at
