"""The phrases of a sentence that mean people: "Anna Lind, her sons Tom and Ben and their guide"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from esar_ros.planning.belief.brief.facts import MOST_PEOPLE
from esar_ros.planning.belief.brief.lexicon import BANDS, HELPERS, PEOPLE, TAG_OF, TERRAIN, word_set

_OLDEST = 110  # years
NO_NAMES = word_set(
    "I Me My Our Us Somebody Someone Anybody Anyone Something North South East West Monday Tuesday "
    "Wednesday Thursday Friday Saturday Sunday January February March April May June July August September "
    "October November December Weather Time Missing Start Light Local Log "
    "Up The He She They We You It His Her Their French Chinese German Control Drone Sector Hotel Lake Mount "
    "Camp Point Yesterday Today Tonight However Then Later Meanwhile Now Last Early Late Alert Name Names "
    "Search Contact Sadly Afterwards Instead Everyone Nobody Boat Bus Car Glider Helicopter Plane Raft Ship Truck Van "
    "Mr Mrs Ms Miss Dr"
)
TITLES = word_set("mr mrs ms miss dr herr frau")
SEXES = word_set("male female man woman boy girl m f")
GOES = word_set("set hired sailed camped vanished disappeared missing lost seen") | {
    word for word, tag in TAG_OF.items() if tag in "GB"
}
OTHERS = re.compile(r"(\d+|another|someone) (?:others?|more|else|of (?:his|her|their) [a-z]+)\b")
SAFE = re.compile(
    r"(?<!not )(?<!n't )(?<!never )(?<!yet )\b"
    r"(?:safe|ok|fine|well|unhurt|home|rescued|found ok|swam (?:ashore|in|to)|evacuated|fetched back|driven home|"
    r"came back|ran back|turned back|returned|walked back|reached (?:the )?(?:valley|road|hut|village)|"
    r"made it|with us|are in|is in the|not (?:a )?(?:missing|casualty)|(?:is|are) back|took the bus|asleep|"
    r"recovered|stayed|(?:is|are) (?:here|with (?:me|us)))\b",
    re.IGNORECASE,
)
CAME_BACK = (
    r" (?:who )?(?:(?:has|have|had|is|are|was|were|been|already|now|since|later|both|safely|all) )*(?:c[ao]me "
    r"(?:back|down|home|in)|got (?:back|down|out|home)|walked (?:out|back|down|in)|made it|returned|turned "
    r"(?:back|round|around|up)|found (?:his|her|their) way|"
    r"raised the alarm|safe|rescued|found (?:alive|safe|well|ok)|winched|in hospital|"
    r"accounted for|finished|arrived|signed (?:in|back)|flown (?:out|off)|got off|drove home|ashore|at base|"
    r"with us|swam (?:ashore|in|to)|picked up|taken-off by|"
    r"(?:brought|carried|taken) (?:back|down|in|out|off|home|ashore)|came to .{3,24} on (?:his|her|their) own|"
    r"reached (?:the |a )?(?:valley|road|hut|village|car|base|shore|camp|refuge|shelter|town|safety|trailhead)|"
    r"been (?:found|rescued|picked|winched|taken|brought)|dug|back)\b"
)
PARTED = re.compile(r"\b(?:until|separated|parted|alone|sight|split|as far as|(?:left|without) (?:him|her|them))\b")


class Group(NamedTuple):
    """People of one noun phrase."""

    size: int
    names: tuple[str, ...]
    first: int  # words from first to before last
    last: int
    is_counted: bool
    is_people: bool  # False: no more than two capitalised words
    is_noun: bool = True  # False: a name alone
    is_company: bool = False  # somebody by whose name the sentence begins, and those who went with them

    @property
    def is_named(self) -> bool:
        """Returns whether it is somebody's name, alone or after a noun: "Missing person: Wu"."""
        return not self.is_noun or (self.size == 1 and bool(self.names))


def groups_in(words: Sequence[str], names: frozenset[str], is_list: bool) -> list[Group]:
    """Returns the groups of people in a sentence; is_list: commas add up, as in "father, daughter, friend"."""
    groups: list[Group] = []
    at = 0
    while at < len(words):
        one = _people_at(words, at, names)
        if one is None:
            at += 1
            continue
        parts, links, is_joined = [one], [""], False
        adds = is_list or (one.first in (1, 2) and words[one.first - 1].lower() == "with")  # "With two friends, Ann"
        while True:
            link = _link(words, parts[-1].last)
            more = _others(words, link) or _people_at(words, link, names) if link > parts[-1].last else None
            after = " ".join(words[more.last : more.last + 7]) if more and words[link - 1] == "with" else ""
            if (
                more is None
                or any(re.search(told, after) for told in (SAFE, PARTED, CAME_BACK))
                or (words[link] == "the" and words[more.last - 1] in words[one.first : link])  # "and the husband is"
            ):
                break
            if words[parts[-1].last : link] == [","] and parts[-1].is_named and _is_kin(words, link, more):
                break
            adds |= bool(_ADDS & set(words[parts[-1].last : link]))
            is_joined |= words[link - 1] == "with"
            links.append("and" if "and" in words[parts[-1].last : link] else words[parts[-1].last])
            parts.append(more)
        adds |= len(parts) > 2 and not any(part.is_noun for part in parts)  # "Tang, Liu, Bao"
        adds |= one.first == 0 and all(part.is_counted for part in parts)  # "2 men, 1 child, 1 dog"
        adds |= len(parts) > 2 and one.first <= 1 and parts[-1].last >= len(words) - 1  # "Mother, father, son."
        count = _sum(parts, links) if adds else one.size
        groups.append(
            Group(
                count,
                tuple(name for part in parts for name in part.names),
                one.first,
                parts[-1].last,
                any(part.is_counted for part in parts),
                any(part.is_people for part in parts),
                is_company=one.first == 0 and not one.is_noun and is_joined,
            )
        )
        at = parts[-1].last
    return groups


def _is_kin(words: Sequence[str], first: int, more: Group) -> bool:
    """Returns whether a phrase after a name and a comma tells whose that is: "Ben, husband and"; "Ana, his sister."."""
    is_own = words[first] in ("his", "her", "their", "my", "our")
    return is_person(words[first]) or (is_own and words[more.last : more.last + 1] not in ([","], ["and"]))


def _sum(parts: Sequence[Group], links: Sequence[str]) -> int:
    """Returns the number of people of joined phrases; those that tell who a counted group are add nothing to it."""
    total = at = 0
    while at < len(parts):
        part = parts[at]
        at += 1
        total += part.size
        room = part.size - len(part.names)
        if part.is_counted and room and (part.names or links[at : at + 1] == [","]):  # "two friends, Al and Bo"
            at = _end_of(parts, at, at + 1 + (not part.names and parts[at].is_counted), room)
    return total


def _end_of(parts: Sequence[Group], at: int, first: int, people: int) -> int:
    """Returns the first end, from `first` on, of phrases that mean so many people together; at: there is none."""
    size = 0
    for end in range(at + 1, len(parts) + 1):
        size += parts[end - 1].size
        if size > people:
            break
        if size == people and end >= first:
            return end
    return at


def _link(words: Sequence[str], at: int) -> int:
    """Returns the word after what joins two phrases: a comma, "and", "took", "went up with", "is lost, and so is"."""
    start = at = _after_clothes(words, at)
    while at < len(words) and at - start < 3 and words[at] in (",", "and", "plus", "&", "+", "took", "with", "also"):
        at += 1
    for n in range(at, min(at + 12, len(words) - 1)) if words[start:at] in ([], [","]) else ():
        if words[n] in _LIKEWISE and words[n + 1] in ("is", "are", "was", "were", "has", "have", "had", "did"):
            return n + 2
        if words[n] == "with" and not GOES.isdisjoint(words[start:n]):
            return n + 1
        if words[n] in _NO_COMPANY or TAG_OF.get(words[n]) == "P" or is_person(words[n]):
            break
        if at > start and words[n][:1].isupper():
            break
    return at


def _after_clothes(words: Sequence[str], at: int) -> int:
    """Returns the word after what somebody wears, if a list goes on there: "Han, in a yellow suit, and Erik"."""
    first = at + (words[at : at + 1] == [","])
    if words[first : first + 1] != ["in"] or words[first + 1 : first + 2] not in (["a"], ["an"]):
        return at
    return next((n for n in range(first + 3, min(first + 7, len(words))) if words[n] in (",", "and")), at)


def _others(words: Sequence[str], at: int) -> Group | None:
    """Returns people who are told apart from those before: "two others", "another", "one of her friends"."""
    match = OTHERS.match(" ".join(words[at : at + 4]))
    if match is None or (words[at + 1] == "of" and not is_person(words[at + 3])):
        return None
    last = at + 1 + match[0].count(" ")
    return Group(int(match[1]) if match[1].isdecimal() else 1, (), at, last, True, True)


def _people_at(words: Sequence[str], first: int, names: frozenset[str]) -> Group | None:
    """Returns the people whose phrase begins at a word: "two old friends", "her sons Tom and Ben", "Anna Lind"."""
    at, count = first, 0
    while at < len(words) and at - first < 6:
        word, after = words[at].lower(), words[at + 1].lower() if at + 1 < len(words) else ""
        noun = word.removesuffix("'s")
        if word.isdecimal() and not count and int(word) <= 60:
            count = int(word)
        elif noun in GROUPS and after == "of":
            if words[at + 2 : at + 3] and words[at + 2].isdecimal():
                phrase = list(takewhile(str.isalpha, words[at + 3 : at + 6]))
                noun_at = next((n for n, one in enumerate(phrase, at + 3) if is_person(one)), at + 2)
                return _closed(words, first, noun_at + 1, int(words[at + 2]), True, names)
            count, at = 2 if word in ("pair", "couple") else count, at + 1
        elif noun in GROUPS and after == "(" and words[at + 2 : at + 3] and words[at + 2].isdecimal():
            return _closed(words, first, at + 1, int(words[at + 2]), True, names)  # "the group (12, from Leeds)"
        elif noun in BANDS:
            return _closed(words, first, at + 1, BANDS[noun], True, names)
        elif noun.removesuffix("s") in BANDS and count:
            return _closed(words, first, at + 1, BANDS[noun.removesuffix("s")] * count, True, names)
        elif (
            word in ("he", "she")
            and at == first
            and (after in ("and", ",") or words[_link(words, at + 1) - 1] == "with")
        ):
            return Group(1, (), first, at + 1, False, True, False)
        elif word in TITLES and words[at + 1 : at + 2] and words[at + 1][:1].isupper() and not count:
            return _named(words, at, names)
        elif is_person(noun):
            if not word.endswith("'s") and not is_person(after):
                is_plural = noun not in PEOPLE or noun in ("people", "men", "women", "children", "pax")
                return _closed(words, first, at + 1, count or (0 if is_plural else 1), count > 0, names)
        elif words[at] in ("M", "F") and after.isdecimal() and int(after) <= _OLDEST and at == first:
            return Group(1, (), first, at + 2, False, True)  # "M 19 + F 18"
        elif words[at][:1].isupper() and not count and at - first < 2:
            person = _named(words, at, names)
            if person is None or not words[at].endswith("'s"):
                return person and person._replace(first=first, last=_after_brackets(words, person.last))
        elif word in HELPERS or word in FUNCTION or not (word[:1].isalpha() or word == "-"):
            return None
        at += 1
    return None


GROUPS = word_set("family party group team crew rope band pair couple class")
FUNCTION = word_set(
    "is are was were be been has have had and or but of in on at to from by with for when who that which not "
    "no it he she they we i you as then there so if will would could can may this about left went go goes "
    "going gone took it's whose whom because without returned returns"
)


_LIKEWISE = word_set("so as nor neither")
_ADDS = _LIKEWISE | word_set("and plus & + took with")
_NO_COMPANY = word_set(
    ". ; : but back safe ok well home found here us talk talking spoke speak contact touch phone radio message note "
    "word left stayed stays lives lived argued quarrelled married until when"
)
_OWN_OR_THE = word_set("his her their my our the")
_LONG = tuple(word for word in PEOPLE if len(word) > 4)
_TRADE = re.compile(
    r"(?!twist|waist|exist|consist|persist|insist|assist|resist|enlist)[a-z]{3,}ist|"
    r"[a-z]{3,}(?:friend|herd|fowler|smith|mate|keeper|logist|grapher|sister|brother|fisher|maker|worker|driver|rider|(?:wo)?m[ae]n)"
)


def is_person(noun: str) -> bool:
    """Returns whether a word in lower case, or what it is the plural of, means somebody."""
    one = noun.removesuffix("s")
    is_made = one.endswith(_LONG) and one != "screwdriver"  # "paddleboarder"
    return (
        noun in PEOPLE or one in PEOPLE or noun.removesuffix("es") in PEOPLE or is_made or bool(_TRADE.fullmatch(one))
    )


def _named(words: Sequence[str], first: int, names: frozenset[str]) -> Group | None:
    """Returns somebody of a name: a known one, or two capitalised words that are no place."""
    if words[first].lower() in TITLES and words[first + 1 : first + 2] and words[first + 1][:1].isupper():
        return Group(1, (words[first + 1],), first, first + 2, False, True)
    last = first + 1
    if last < len(words) and words[last][:1].isupper() and words[last].lower() not in TERRAIN:
        last += 1
    told = tuple(word.removesuffix("'s") for word in words[first:last])
    plain = told[told[0] == "He" and len(told) > 1 :]  # "He Bin"
    if not (names & set(told) or len(told) > 1) or any(name in NO_NAMES or not name[1:].islower() for name in plain):
        return None
    if first and words[first - 1].lower() in ("the", "of", "in", "at", "on", "near", "to", "from"):
        return None
    return Group(1, told, first, last, False, bool(names & set(told)), False)


def _closed(
    words: Sequence[str], first: int, last: int, count: int, is_counted: bool, names: frozenset[str]
) -> Group | None:
    """Returns a phrase with what follows it: "(2)", ages, the names of the same people."""
    last = _after_brackets(words, last)
    at = _link(words, last) if words[last : last + 1] in ([","], [":"]) and count != 1 else last
    at += words[at : at + 1] == [":"]
    told: list[str] = []
    while at < len(words) and len(told) < (count or MOST_PEOPLE) and words[at][:1].isupper():
        person = _named(words, at, names | {words[at]})
        if person is None:
            break
        told.append(person.names[0])
        last = _after_brackets(words, person.last)
        at = _link(words, last)
    count = count or len(told)
    return Group(count, tuple(told), first, last, is_counted, True) if count else None


def _after_brackets(words: Sequence[str], at: int) -> int:
    """Returns the word after what stands in brackets there, or after an age: "Tom, 41, and"; "father 45, mother 40"."""
    if words[at : at + 1] == ["("]:
        return next((n + 1 for n in range(at, min(at + 9, len(words))) if words[n] == ")"), at)
    age = at + (words[at : at + 1] == [","])
    is_age = age < len(words) and words[age].isdecimal() and int(words[age]) <= _OLDEST
    return age + 1 if is_age and words[age + 1 : age + 2] in ([","], ["."], [";"], ["and"], []) else at
