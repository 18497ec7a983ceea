"""The missing people of a brief: their names and their number.

The number is one that is said to be missing or to be left, that of a line of a form, else that of the people who are
spoken of first: numbers of people, kin and names, added up where "and" or "with" joins them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from esar_ros.planning.belief.brief.facts import MOST_PEOPLE
from esar_ros.planning.belief.brief.lexicon import (
    BANDS,
    CATEGORIES,
    FUNCTION,
    GROUPS,
    HELPERS,
    NO_NAMES,
    SAFE,
    TAG_OF,
    is_person,
)
from esar_ros.planning.belief.brief.tokens import Item, Sentence

_ALONE = 0.0  # weight of one person, of whom nothing is said
COUNTED = 3.0  # weight from which on a phrase tells a number, not only somebody
_CROWD = 60  # people: more is no number of people
_SAID = 6.0  # weight from which on a number is that of those who are left, of whom nobody is back
_MISSING = 8.0  # weight of those who are said to be missing
_NAME = re.compile(r"\b([A-Z][a-zé]{1,14})\b(?:['’]s\b)?")
_MID_SENTENCE = re.compile(r"[a-z,] ([A-Z][a-zé]{1,14})\b")
_PLACE_BEFORE = re.compile(
    r"\b(?:[Tt]he|[Aa]n?|[Ii]n|[Aa]t|on|[Tt]o|into|near|across|crossing|from|of|[Bb]y|[A-Z]\w+)\s+$"
)
_PLACE_AFTER = re.compile(r"\s+(?:trail|traverse|peninsula|lake|camp|glacier|ridge|beach|[A-Z][a-z]+)\b")
_NAME_AFTER = re.compile(
    r"\s+and\s+(?:[A-Z]|(?:his|her|their|old|little|young)\b)|, \d+| \((?:\d|[a-z]+(?: [a-z]+)?\))|"
    r", [A-Z][a-z]+(?:,| and )|,? in an? |"
    r",? (?:wears|(?:is|has|was|went)(?: to)? (?:be|been|still|missing|overdue|lost|late|gone|out|not|with|back))\b|"
    r" (?:went|walked|ran|hiked|skied|climbed|wandered|stayed) "
)
_BACK = (
    r"(?: (?:who|has|have|had|is|are|was|were|been|already|now|since|later|both|safely|all))*"
    r" (?:c[ao]me (?:back|down|home|in)|got (?:back|down|out|home)|walked (?:out|back|down|in)|made it|returned|"
    r"turned (?:back|round|around|up)|safe|rescued|found (?:alive|safe|well|ok)|winched|in hospital|accounted for|"
    r"finished|arrived|evacuated|recovered|ashore|with us|picked up|back|"
    r"(?:brought|carried|taken|flown) (?:back|down|in|out|off|home|ashore)|"
    r"been (?:found|rescued|picked|winched|taken|brought)|reached (?:the |a )?\w+)\b"
)
_RETURNED = re.compile(
    rf"(?<![\d.])(?<!\bat )(?<!\bby )(?<!since )\b(\d+)(?: of (?:us|them|\d+|the \w+))?(?: others?| more)?"
    rf"(?: (?!of\b|hours?\b|days?\b|min|h\b|am\b|pm\b|o'clock)\w+)?(?: ,)?{_BACK}"
)
_TELLS = re.compile(  # what a witness does
    r"^[\w' ,-]{0,24}?\b(?<!been )(?<!was )(?<!were )(?:saw|sees?|met|sa(?:id|ys?)|t(?:old|ells?)|report(?:s|ed)|"
    r"hear(?:d|s)|noticed|remember\w*|found|believes?|thinks?|rang|called|watched|spotted|observed|came back)\b"
)
_BY = re.compile(
    r"(?:informant|report\w*|witness\w*|source|call\w*|contact|raised|not missing|returned|safe|rescued|recovered|back)"
    r"\b[^:]{0,20}:"
)
_SOUGHT = re.compile(
    r"\b(?:missing|look\w* for|search\w* for|sought|lost|still out|overdue|gone|not (?:returned|come|been)|"
    r"unaccounted|stranded|vanished|disappeared|last (?:seen|heard))\b"
)
_LOST = r"(?:missing|outstanding|o/s|unaccounted|overdue|not back|lost)"
_LABEL = re.compile(
    r"^(?:no\.? of )?(?:total |still )?(?:missing|injured|buried|subjects?|persons?(?: ?\( ?s ?\))?|pax|pob|people|"
    r"casualt\w+|victims?|objects?|lost|souls|number|count|party|group|outstanding|o/s|unaccounted|overdue|who)\b"
    r"(?:[^:]{0,40}:| -|) (?P<count>\d+)\b(?! ?(?:m|km|min|h)\b)"
)
_LEFT = tuple(  # what is left of a group, and how much this counts
    (re.compile(words), weight)
    for words, weight in (
        (rf"(?<![\d.])\b(\d+)(?: [a-z]+){{0,3}}?(?: (?:is|are|were|remain|still|now|been|have|has))* {_LOST}\b", 8.0),
        (rf"\b{_LOST}(?: (?:are|is|persons?|people|for))*(?: :)? (\d+)\b(?! ?(?:m|km|min|h|hours?|days?)\b)", 8.0),
        (r"\b(?:so|leaves|leaving|makes|other|remaining|last|look(?:ing)? for|search(?:ing)? for)"
         r"(?: (?:it's|that's|only|still|us|just|the|all)){0,3} (\d+)\b(?! ?(?:m|km|min|h|hours?|days?|years)\b)", 7.0),
        (r"(?<![\d.])\b(\d+) (?:others|remain\w*|pob|are still|not yet|did not|didn't|have not|haven't)\b", 7.0),
        (r"(?<![\d.])\b(\d+) of (?:us|them|\d+|(?:the|my|our|his|her|their) (?!rescuers|searchers)\w+)\b", 6.0),
    )
)  # fmt: skip
_TITLES = frozenset(["mr", "mrs", "ms", "miss", "dr", "herr", "frau"])
_VERBS = frozenset("BFQVlfgu")  # tags of words of no noun phrase
_JOINS = frozenset([",", "and", "plus", "&", "+", "with", "nor"])


def names_in(told: Sequence[Sentence]) -> tuple[str, ...]:
    """Names of people: capitalised words that stand neither after an article or a preposition of place nor alone."""
    prompt = " ".join(sentence.text for sentence in told)
    no_names = NO_NAMES | set(re.findall(r"\b[Tt]he (?:[a-z]+ )?([A-Z][a-zé]+)\b", prompt))
    spoken = _MID_SENTENCE.finditer(prompt)
    inside = {one[1] for one in spoken if not _PLACE_BEFORE.search(prompt[max(one.start() - 20, 0) : one.start(1)])}
    found: dict[str, None] = {}
    for sentence in told:
        text = re.sub(r"^(?!Missing|Name|Lost|Overdue)[^:]{1,40}:(?=\s)", "", sentence.text)
        for match in _NAME.finditer(text):
            word, before = match[1], text[: match.start()][-20:]
            after = text[match.end(1) : match.end(1) + 30]
            if word in no_names or _is_known(word.lower()) or _PLACE_BEFORE.search(before) or _PLACE_AFTER.match(after):
                continue
            if before.strip(" \"'") or _NAME_AFTER.match(after) or word in inside:
                found.setdefault(word)
    return tuple(found)


def _is_known(word: str) -> bool:
    """Returns whether a word in lower case is in a list, and so no name."""
    return word in CATEGORIES or word in HELPERS or word in TAG_OF or is_person(word)


def count_victims(rows: Sequence[Sequence[Item]], names: Sequence[str], least: float = _ALONE) -> int | None:
    """Returns the number of people missing, that of the phrase that most likely means them.

    None: none has more than the least weight.
    """
    claims: list[tuple[float, int]] = [(_ALONE, 1)]  # weight and number
    returned, labelled, is_left = 0, 0, False
    lost: set[str] = set()  # names of each who is said to be missing
    lines = [plain_words(row) for row in rows]
    safe = _safe(lines)
    for number, words in enumerate(lines):
        text = " ".join(words).lower()
        if (label := _LABEL.match(text)) and not SAFE.search(text):
            labelled += int(label["count"])
            is_left |= bool(re.match(rf"(?:still )?{_LOST}", text))
        claims += [(weight, int(match[1])) for left, weight in _LEFT for match in left.finditer(text)
                   if not re.match(_BACK, text[match.end() :])]  # fmt: skip
        returned += sum(int(match[1]) for match in _RETURNED.finditer(text))
        for one in _groups(words, frozenset(names), ":" in words[:6]):
            count = one.size - len(safe & set(words[one.first : one.last]))
            claims.append((_weight(one, words, text, number), count))
            if claims[-1][0] >= _MISSING and one.is_name and one.size == 1:
                lost.add(words[one.first])
    claims += [(_MISSING + 0.1, len(lost))] * (len(lost) > 1) + [(_MISSING + (1.0 if is_left else -0.5), labelled)] * (
        labelled > 0
    )
    most, best = max(((weight, count) for weight, count in claims if 0 < count <= _CROWD), key=lambda claim: claim[0])
    best = best - returned if most < _SAID and best > returned else best
    return None if most <= least and best == 1 else max(1, min(best, MOST_PEOPLE))


def back_again(rows: Sequence[Sequence[Item]], names: Sequence[str]) -> frozenset[str]:
    """Returns the names of those who are said to be safe, as far as anybody else may still be missing."""
    safe = _safe([plain_words(row) for row in rows]) & frozenset(names)
    return safe if safe < frozenset(names) else frozenset()


def _safe(lines: Sequence[Sequence[str]]) -> frozenset[str]:
    """Returns the capitalised words of which the same clause says that they are safe."""
    found = set()
    for words in lines:
        for at, word in enumerate(words):
            clause = words[at : at + 12]
            end = next((n for n, other in enumerate(clause) if other in (",", ";", ".", "but", "and")), len(clause))
            if word[:1].isupper() and SAFE.search(" ".join(clause[:end])):
                found.add(word)
    return frozenset(found)


def plain_words(row: Sequence[Item]) -> list[str]:
    """Returns the words of a sentence with numbers in figures and without ages; names keep their capitals."""
    out: list[str] = []
    for item in row:
        if item.tag == "N":
            out.append(item.low.split()[-1] if item.low.endswith("couple") else f"{item.value.value:.15g}")
        elif item.tag == "C" and isinstance(item.value, str):
            out.append(item.value)
        else:
            out += item.low.split()
    text = " ".join(out)
    text = re.sub(r"\b(\d+)(?: -)? (?:years?|yrs?|months?|yo|y)\b(?: -)?(?: olds?\b)?", "", text)
    return re.sub(r"\b(?:aged?|(?<=men )of|(?<=man )of) \d+(?: (?:and|or) \d+)?\b", "", text).split()


class _Group(NamedTuple):
    """People of a phrase: words from first to before last."""

    size: int
    first: int
    last: int
    is_counted: bool
    is_name: bool


def _groups(words: Sequence[str], names: frozenset[str], is_form: bool) -> list[_Group]:
    """Returns the phrases of a sentence that mean people, those joined by "and" and "with" as one."""
    found: list[_Group] = []
    at = 0
    while at < len(words):
        one = _people_at(words, at, names)
        if one is None:
            at += 1
            continue
        parts, adds = [one], is_form and one.is_counted
        while (link := _link(words, parts[-1].last)) > parts[-1].last:
            more = _people_at(words, link, names)
            if more is None:
                break
            joined = {word for word in words[parts[-1].last : link] if word in _JOINS}
            if joined == {","} and parts[-1].size == 1 and not more.is_name and not more.is_counted:
                if is_person(words[more.first]) or words[more.first] == "the":
                    break  # "Al and Bo, husband and wife"; "male, hunter"
                if words[more.first] in ("a", "an") and words[more.last : more.last + 1] != ["and"]:
                    more = more._replace(size=0)  # "Wu, a man"
            adds |= bool(joined - {","})
            parts.append(more)
        rest = sum(part.size for part in parts[1:])
        size = one.size + rest if adds or (len(parts) > 2 and all(part.is_name for part in parts[1:])) else one.size
        if one.is_counted and (rest == one.size or all(part.is_name for part in parts[1:])):
            size = max(one.size, rest)  # "a family of four, two adults and two children"; "two friends, Al and Bo"
        found.append(_Group(size, one.first, parts[-1].last, any(part.is_counted for part in parts), one.is_name))
        at = parts[-1].last
    return found


def _link(words: Sequence[str], at: int) -> int:
    """Returns the word after what joins two phrases, and after an age or brackets before it; at: nothing does."""
    start = at
    if words[at : at + 1] == ["("]:
        at = next((n + 1 for n in range(at, min(at + 9, len(words))) if words[n] == ")"), at)
    elif words[at : at + 1] == [","] and words[at + 1 : at + 2] and words[at + 1].isdecimal():
        at += 2 if words[at + 2 : at + 3] in ([","], ["and"]) else 0
    elif words[at : at + 1] == ["in"]:
        at = next((n for n in range(at, min(at + 7, len(words))) if words[n] in (",", "and")), at)  # "in red and"
    first = at
    while at < len(words) and at - first < 3 and words[at] in _JOINS:
        at += 1
    if at == first and TAG_OF.get(words[at] if at < len(words) else "") in ("G", "B"):  # "went up with her brother"
        return next((n + 1 for n in range(at, min(at + 6, len(words))) if words[n] == "with"), start)
    return at if at > first else start


def _people_at(words: Sequence[str], first: int, names: frozenset[str]) -> _Group | None:
    """Returns the people whose phrase begins at a word: "two old friends", "a family of four", "Anna Lind"."""
    at, count = first, 0
    while at < len(words) and at - first < 6:
        word, after = words[at].lower(), words[at + 1].lower() if at + 1 < len(words) else ""
        noun = word.removesuffix("'s")
        if word.isdecimal() and not count and 0 < int(word) <= _CROWD:
            if words[max(at - 1, 0)].lower() in ("m", "f", "male", "female"):
                return None  # an age
            count = int(word)
        elif noun in GROUPS and after in ("of", "(") and words[at + 2 : at + 3] and words[at + 2].isdecimal():
            return _Group(int(words[at + 2]), first, at + 3, True, False)
        elif noun in BANDS and after == "of":
            count, at = BANDS[noun], at + 1  # "a couple of hikers"
        elif noun in BANDS or noun.removesuffix("s") in BANDS:
            return _Group(BANDS.get(noun) or BANDS[noun.removesuffix("s")] * (count or 1), first, at + 1, True, False)
        elif word in ("he", "she") and at == first and after in ("and", ",", "with"):
            return _Group(1, first, at + 1, False, False)
        elif is_person(noun):
            if not word.endswith("'s") and not is_person(after):
                is_plural = noun.endswith("s") and after == "(" and words[at + 3 : at + 4] == [")"]
                if is_plural and words[at + 2].isdecimal():
                    return _Group(int(words[at + 2]), first, at + 4, True, False)
                last = at + 1 + (words[at + 1 : at + 2] != [] and words[at + 1][:1].isupper())
                is_age = words[last : last + 1] != [] and words[last].isdecimal() and count == 0
                return _Group(count or 1, first, last + is_age, count > 0, False)
        elif words[at] in names and not count:
            last = at + 1 + (words[at + 1 : at + 2] != [] and words[at + 1][:1].isupper())
            return None if words[at].endswith("'s") else _Group(1, first, last, False, True)
        elif word in _TITLES and words[at + 1 : at + 2] and words[at + 1][:1].isupper():
            return _Group(1, first, at + 2, False, True)
        elif (
            word in HELPERS
            or word in FUNCTION
            or TAG_OF.get(word) in _VERBS
            or word[:1].isdecimal()
            or not (word[:1].isalpha() or word == "-")
        ) or (words[at][:1].isupper() and at > first):
            return None
        at += 1
    return None


def _weight(group: _Group, words: Sequence[str], text: str, number: int) -> float:
    """Returns how likely a group are those who are sought."""
    before, after = words[max(group.first - 3, 0) : group.first], " ".join(words[group.last : group.last + 7])
    near = " ".join([*(word.lower() for word in before), *words[group.first : group.last]])
    if re.search(rf"\b{_LOST}\b", near) or re.match(
        rf"(?:(?:is|are|was|were|has|have|been|still|all|both|reported) )*{_LOST}", after
    ):
        return _MISSING
    is_back = (SAFE.search(after) or re.match(_BACK, f" {after}")) and not re.search(r"\b(?:not|never|\w+n't)\b", after)
    if is_back or _BY.match(text) or _TELLS.match(after) or before[-1:] == ["by"]:
        return 0.5
    weight = 2.0 + 2.0 * (group.is_counted or group.size > 1) + bool(_SOUGHT.search(text))
    return weight + 0.5 * (group.size > 1) - min(number, 8) * 0.1
