"""The missing people of a brief: their names and their number.

The number is that of the noun phrase that is most likely those who are sought: what is said to be left of a group, a
number on a form, people said to be missing, else those who are spoken of first. A phrase is a list of numbers of
people, of kin and of names: "Anna Lind, her sons Tom and Ben and their guide" are four.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from esar_ros.planning.belief.brief.facts import MOST_PEOPLE
from esar_ros.planning.belief.brief.groups import (
    CAME_BACK,
    GOES,
    NO_NAMES,
    PARTED,
    SAFE,
    SEXES,
    Group,
    groups_in,
    is_person,
)
from esar_ros.planning.belief.brief.lexicon import CATEGORIES, HELPERS, PEOPLE, SMALL, TAG_OF
from esar_ros.planning.belief.brief.plain import affirmed, named_whole, plain_words, without_ages
from esar_ros.planning.belief.brief.tokens import Item, Sentence

_ALONE = 0.0  # weight of one person, of whom nothing is said
COUNTED = 3.0  # weight from which on a phrase tells a number, not only somebody
_CROWD = 60  # people: more is no number of people
_SAID = 6.0  # weight of a number that is said to be that of the missing
_LABELLED = 9.0  # weight of one that goes before the lines of a form
_PLACE_BEFORE = re.compile(
    r"\b(?:[Tt]he|[Aa]n?|[Ii]n|[Aa]t|on|[Tt]o|into|near|across|crossing|from|of|[Bb]y|[A-Z]\w+)\s+$"
)
_PLACE_AFTER = re.compile(r"\s+(?:trail|traverse|peninsula|lake|camp|glacier|ridge|beach|[A-Z][a-z]+)\b")
_NAME_AFTER = re.compile(
    r"\s+and\s+(?:[A-Z]|(?:his|her|their|old|little|young)\b)|, \d+| \(\d|, [A-Z][a-z]+(?:,| and )|"
    r",? (?:wears|is missing|has to be|has been missing)\b"
)
_LOST_AFTER = re.compile(
    r" (?:went|walked|ran|hiked|skied|climbed|wandered|stayed) |(?:'s| is| has) (?:back|with)\b"
    r"| (?:is|has been|was|went) (?:still )?(?:missing|overdue|lost|late|gone|out|not)\b"
)
_ONE = "(?:an?|another|someone|his|her|their|[1-9]|" + "|".join(list(SMALL)[1:]) + ")"
_COMPANIONS = re.compile(  # "Ann, her brother and"; "Tom and two others"; "Chen went up with two colleagues"
    rf"(?: [^.;:]{{2,60}} (?:so|as|nor|neither) (?:is|are|was|were|has|have|had|did) (?:[A-Z]|{_ONE} )|"
    rf"(?:,? (?:and|plus) {_ONE}|, (?:his|her|their)|"
    rf" (?:\w+ ){{0,3}}?(?:{'|'.join(sorted(GOES))}) (?:\w+ ){{0,4}}?with {_ONE}) (?:\w+ ){{0,2}}?"
    rf"(?:others?|more|else|of (?:his|her|their)|(?:{'|'.join(sorted(PEOPLE))})s?)\b)"
)
_DRESSED = re.compile(r",? in an? | \([a-z]+(?: [a-z]+)?\)")  # "Han, in a yellow suit"; "Peng (white jacket)"
_NAME = re.compile(r"\b([A-Z][a-zé]{1,14})\b(?:['’]s\b)?")
_MID_SENTENCE = re.compile(r"(?<!\bby)(?<=[a-z,]) ([A-Z][a-zé]{1,14})\b")

_SOUGHT = re.compile(
    r"\b(?:missing|look\w*\s+for|search\w*\s+for|sought|lost|still out|overdue|locate|concerns?|short by|has "
    r"gone|have gone|not\s+(?:returned|come\s+(?:back|home|down)|been heard|answered)|unaccounted|stranded|"
    r"vanished|disappeared|went out|objects?|subjects?|to be found|last (?:seen|photographed|heard))\b",
    re.IGNORECASE,
)
_TELLS = re.compile(  # what a witness does
    r"^[\w' ,-]{0,24}?\b(?<!been )(?<!was )(?<!were )(?:saw|sees?|met|said|says?|told|tells?|reports?|reported|heard|"
    r"hears?|noticed|"
    r"remember\w*|found|believes?|thinks?|rang|called|watched|spotted|passed|lost sight|walked (?:him|her|them|"
    r"back)|came back|observed|"
    r"(?:look|search)\w* for (?:him|her|them))\b",
    re.IGNORECASE,
)
_BACK_COUNT = re.compile(
    r"(?:of (?:these|them|whom|those) )?(?:already )?"
    r"(?:returned|found|safe|accounted|back|rescued|recovered|evacuated)\b[^:\d]{0,30}: (\d+)\b"
)
_TOTAL = re.compile(r"(?:no\.? of )?(?:total|group|party|persons?|people|pax|number|count|souls)\b(?! missing)")
_OUT_LABEL = re.compile(r"(?:still )?(?:missing\b|(?:out|outstanding|o/s|unaccounted|overdue|lost)\b[^:]{0,12}:)")
_LAST_OF = re.compile(r"\bthe last of (?:(?:the|his|her|their|our|my) )?\d+\b")  # one, "of the 3 students"
_NOT_BACK = re.compile(
    r"(?:\( [^()]* \) )?(?:, [^,.;]{3,40}, )?(?:has|have|is|are|did|was|were) (?:still )?(?:been )?(?:missing|"
    r"not (?:back|reported|come|"
    r"returned|been (?:seen|heard)|called|answered))\b"
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
            r"(?<![\d.])\b(\d+) (?:, [^,.;]{2,30}, )?(?:(?:is|are|were|remains?|remain) )?(?:still |now |reported )?"
            r"(?:missing|outstanding|o/s|unaccounted|overdue|not back)\b",
            8.0,
        ),
        (
            r"(?<![\d.])\b(\d+) of (?:[a-z]+ (?:[a-z]+ of )?)?(?:\d+ )?(?:[a-z]+ )?(?:is|are|were|remain) (?:still )?"
            r"(?:missing|outstanding|unaccounted|overdue|not back)\b",
            8.5,
        ),
        (
            r"\b(?:so|leaves|leaving|makes|which leaves) (?:(?:it's|that's|only|still|us|just|the) ){0,3}(\d+)\b"
            r"(?! ?(?:m|km|min|h|years|o'clock)\b)",
            7.0,
        ),
        (r"\b(?:other|remaining) (\d+)\b", 7.0),
        (r"(?<![\d.])\b(\d+) (?:others|remain\w*|left(?! (?:the|for|from|at|their|on)\b)|to go)\b", 7.0),
        (r"\b(?:there|we) (?:are|were) (\d+) of (?:us|them)\b", 5.5),
        (
            r"\b(?:outstanding|o/s|still missing|remaining|unaccounted(?: for)?|not (?:yet )?found|"
            r"(?:persons?|people|pax|number|total) missing) ?: (\d+)\b",
            9.0,
        ),
        (r"\bpob ?:? (\d+)\b", 8.0),
        (r"\b(\d+) pob\b", 8.0),
        (r"\b(?:they|we) were ([2-9])(?= ?(?:[:.,;]|in all\b|$))", 1.0),
        (r"^(?:all |the )?(\d+) (?:set (?:out|off)|left|went|started)\b", 4.0),
        (r"(?<!i )(?<!we )\b(?:count|number of \w+|no \. of \w+) [:=]? ?(\d+)\b", 8.0),
        (r"\b(?:look|search)(?:ing)? for (?:all )?(\d+)(?= ?(?:[:.,;]|$))", 7.0),
        (
            r"(?<![\d.])\b(\d+) (?:, [^,.;]{2,30}, )?(?:are |is |were )?still (?:on|out|in|up|down|there|somewhere)\b",
            7.0,
        ),
        (
            r"(?<![\d.])(?<!there were )(?<!there are )\b([2-9]|\d\d) of (?:\d+|an? \w+ of \d+|"
            r"them(?! (?:went|set|left|started|in all)\b)|(?:my|our|his|her|their) (?:\d+ )?\w+|"
            r"the (?!rescuers|searchers|volunteers)\w+)\b",
            6.0,
        ),
    )
)
_WHO = r"(?: who (?:(?!not\b|never\b|[.,;])\S+ ){0,8}?(?:has|have|had|is|are|was|were|been))?"  # before a verb
_IS_BACK = re.compile(
    rf"(?: ,| [a-z]+s)?{_WHO}{CAME_BACK}|"
    rf"(?: \w+){{0,4}} (?:dug|tried|searched|looked|had no luck|went for help)\b| of us\b"
)
_RETURNED = re.compile(  # some of a group that is not missing any more
    rf"(?<![\d.])(?<!\bat )(?<!\bby )(?<!since )\b(\d+)(?: of (?:us|them|\d+|the \w+))?(?: others?| more)?"
    rf"(?: (?!of\b|hours?\b|days?\b|min|h\b|am\b|pm\b|o'clock)\w+)?(?: ,)?{_WHO}{CAME_BACK}"
)
_HE_IS_BACK = re.compile(rf"\b(?:he|she)(?:'s)?{CAME_BACK}")
_BOTH = re.compile(
    r"\ba second (?:man|woman|boy|girl|person|[a-z]+er)\b.*\b(?:missing|overdue|lost|not)\b|\b1 of "
    r"them\b.*\bthe other\b|\bneither \w+ nor\b|\bneither\b(?: of them)? (?:has|have|is|was|came|could|can)\b|"
    r"\bboth (?:of them|are|were|have|had|carry|wear|in their|aged|\d|men|women|boys|girls|[a-z]+ers)\b"
)


def names_in(told: Sequence[Sentence]) -> tuple[str, ...]:
    """Names of people: capitalised words that stand neither after an article or a preposition of place nor alone."""
    prompt = " ".join(sentence.text for sentence in told)
    no_names = NO_NAMES | set(re.findall(r"\b[Tt]he (?:[a-z]+ )?([A-Z][a-zé]+)\b", prompt))
    inside = frozenset(_MID_SENTENCE.findall(prompt))
    found: dict[str, None] = {}
    for sentence in told:
        text = re.sub(r"^(?!Missing|Name|Lost|Overdue)[^:]{1,40}:(?=\s)", "", sentence.text)
        for match in _NAME.finditer(text):
            before, after = text[: match.start()][-20:], text[match.end(1) :][:30]
            if match[1] in no_names or match[1].lower() in CATEGORIES:
                continue
            if _PLACE_BEFORE.search(before) or _PLACE_AFTER.match(after):
                continue
            is_spoken_of = _is_unknown(match[1].lower()) and (
                _COMPANIONS.match(text, match.end(1)) or _DRESSED.match(after) or _LOST_AFTER.match(text, match.end(1))
            )
            if before.strip(" \"'") or _NAME_AFTER.match(after) or match[1] in inside or is_spoken_of:
                found.setdefault(match[1])
    return tuple(found)


def _is_unknown(word: str) -> bool:
    """Returns whether a word in lower case may be a name: it is in no list, and no "Camping" or "Apparently"."""
    return not (word in TAG_OF or word in HELPERS or is_person(word) or re.fullmatch(r"\w{4,}(?:ing|[^l]ly)", word))


def count_victims(rows: Sequence[Sequence[Item]], names: Sequence[str], least: float = _ALONE) -> int | None:
    """Returns the number of people missing, that of the phrase that most likely means them.

    None: none has more than the least weight.
    """
    lines = [plain_words(row) for row in rows]
    aged = SEXES | set(map(str.lower, names))
    safe = _safe(lines, names)
    claims: list[tuple[float, int]] = [(_ALONE, 1)]  # weight and number
    labelled, returned, is_pair, company = 0, 0, False, 1  # labelled: people of the lines of a form that count them
    total = back = 0  # people of the lines of a form that count all who went, and those who are back
    lost: list[set[str]] = []  # names of each who is said to be missing
    known: set[str] = set()  # names and nouns of those who were spoken of
    for number, line in enumerate(lines):
        text = " ".join(without_ages(line, aged)).lower()
        colon = line.index(":") if ":" in line[:6] else -1
        words = named_whole(line[colon + 1 :], text) if colon >= 0 else affirmed(line)
        groups = groups_in(words, frozenset(names), colon >= 0)
        label = None if SAFE.search(text) else _LABEL.match(text)
        if label is not None:  # "Casualties: 1 adult, 2 children"
            labelled += int(label["count"])
            total += labelled * bool(_TOTAL.match(text))
        elif counted := _BACK_COUNT.match(text):
            back += int(counted[1])
        claims += [(weight, count - len(safe & known) * (weight < _SAID)) for weight, count in _told_left(text)]
        claims += [(8.6, 1)] * bool(_LAST_OF.search(text))
        returned += sum(int(match[1]) for match in _RETURNED.finditer(text))
        for one in groups:
            is_other = all(set(one.names).isdisjoint(names) for names in lost)
            if one.size == 1 and one.names and is_other and _is_lost(one, words, text):
                lost.append(set(one.names))
            known |= set(one.names) | {word for word in words[one.first : one.last] if is_person(word)}
            claims.append((_weight(one, words, text, number), one.size - len(safe & set(one.names))))
        company = max([company, *(one.size for one in groups if one.is_company and not PARTED.search(text))])
        is_pair |= bool(_BOTH.search(text))
    if len(lost) > 1:
        claims.append((_SAID + 2.1, len(lost)))
    most, best = max(((weight, count) for weight, count in claims if 0 < count <= _CROWD), key=lambda claim: claim[0])
    if labelled and most < _LABELLED:
        best = labelled - back if back < total == labelled else labelled
    elif most < _SAID and not labelled and best > returned:
        best -= returned
    best = 2 if best == 1 and is_pair and not labelled else best
    best = company if best == 1 and not returned else best
    if most <= least and best == 1 and not labelled:
        return None
    return max(1, min(best, MOST_PEOPLE))


def back_again(rows: Sequence[Sequence[Item]], names: Sequence[str]) -> frozenset[str]:
    """Returns the names of those who are said to be safe, as far as anybody else may still be missing."""
    safe = _safe([plain_words(row) for row in rows], names) & frozenset(names)
    return safe if safe < frozenset(names) else frozenset()


def _safe(lines: Sequence[Sequence[str]], names: Sequence[str]) -> frozenset[str]:
    """Returns the capitalised words that are said to be safe."""
    safe = {word for words in lines for at, word in enumerate(words) if word[:1].isupper() and _is_safe(words[at:])}
    for words in lines:
        groups = groups_in(words, frozenset(names), False)
        safe |= {name for one in groups if _came_back(one, words) for name in one.names}
        told = set(words) & set(names)
        if len(told) == 1 and _HE_IS_BACK.search(" ".join(words)):  # "Karl went north, he's back with us"
            safe |= told
    return frozenset(safe)


def _is_lost(group: Group, words: Sequence[str], text: str) -> bool:
    """Returns whether somebody is said to be missing: "Bo (red jacket) has not reported back"."""
    after = " ".join(words[group.last : group.last + 12])
    return bool(_NOT_BACK.match(after)) or (text.startswith("missing") and group.first <= 1 and len(words) < 4)


def _came_back(group: Group, words: Sequence[str]) -> bool:
    """Returns whether people who are not counted in figures, which _RETURNED reads, are back."""
    match = re.match(CAME_BACK, " " + " ".join(words[group.last : group.last + 9]))
    return match is not None and not re.search("alarm|with us|safe", match[0]) and not group.is_counted


def _told_left(text: str) -> list[tuple[float, int]]:
    """Returns the numbers that a sentence gives of those who are left of a group, each with its weight."""
    return [
        (weight, int(match[1]))
        for left, weight in _LEFT
        for match in left.finditer(text)
        if not _IS_BACK.match(text, match.end())
    ]


def _is_safe(words: Sequence[str]) -> bool:
    """Returns whether somebody is said to be safe, up to the next comma."""
    clause = next((words[:n] for n, word in enumerate(words[:12]) if word in (",", ";", ".", "but", "and")), words[:12])
    return bool(SAFE.search(" ".join(clause)))


def _weight(group: Group, words: Sequence[str], text: str, number: int) -> float:
    """Returns how likely a group are those who are sought."""
    before, after = words[max(group.first - 3, 0) : group.first], words[group.last : group.last + 7]
    inside = words[group.first : group.last]
    is_lost = re.match(
        r"(?:(?:is|are|was|were|has been|have been|still|now|both|all|reported) )*(?:missing|overdue|unaccounted)",
        " ".join(after),
    )
    if (
        "missing" in inside
        or before[-1:] == ["missing"]
        or is_lost
        or _OUT_LABEL.match(text)
        or _is_lost(group, words, text)
    ):
        return 8.0
    if (
        before[-1:] == ["sent"]
        or (before[-1:] in (["by"], ["to"]) and not {"short", "up"} & set(before))
        or _TELLS.match(" ".join(after))
        or SAFE.search(" ".join(after[:4]))
        or _came_back(group, words)
        or (before[-1:] == ["with"] and PARTED.search(" ".join(after)))
    ):
        return 0.5
    weight = 2.0 + 2.0 * (group.is_counted or group.size > 1) + bool(_SOUGHT.search(text))
    return weight + 0.5 * (group.size > 1) - min(number, 8) * 0.1
