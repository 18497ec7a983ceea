"""The words of a sentence as people are counted in them: numbers in figures, without ages, titles and "neither"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from esar_ros.planning.belief.brief.groups import FUNCTION, GROUPS, TITLES, is_person
from esar_ros.planning.belief.brief.lexicon import BANDS, word_set
from esar_ros.planning.belief.brief.tokens import Item

_SURNAME_FIRST = re.compile(r"(?:\w+ )?name ?: [a-z'-]+ , [a-z'-]+(?: [,/] .*)?$")
_AFTER_IS = word_set("been gone missing not still out overdue lost late")
_AGE = word_set("year years yr yrs month months")


def plain_words(row: Sequence[Item]) -> list[str]:
    """Returns the words of a sentence with its numbers in figures; names keep their capitals."""
    out: list[str] = []
    for at, item in enumerate(row):
        if item.tag == "N":
            out.append(item.low.split()[-1] if item.low.endswith("couple") else f"{item.value.value:.15g}")
        elif (item.tag == "C" and isinstance(item.value, str)) or _is_he_a_name(row, at):
            out.append(item.value)
            if item.low.endswith("'s") and row[at + 1 : at + 2] and row[at + 1].low in _AFTER_IS:  # "Dad's gone"
                out[-1:] = [item.value[:-2], "is"]
        else:
            out += item.low.split()
    words = _ageless(_untitled(out))
    return [word for at, word in enumerate(words) if word != "," or words[at - 1 : at] != [","]]  # an age stood between


def _is_he_a_name(row: Sequence[Item], at: int) -> bool:
    """Returns whether an item is the name He: "He Bin"."""
    return row[at].value == "He" and [item.tag for item in row[at + 1 : at + 2]] == ["C"]


def _untitled(words: Sequence[str]) -> list[str]:
    """Returns words without the stops after titles: "Mr . Sato"."""
    return [word for at, word in enumerate(words) if word != "." or not at or words[at - 1].lower() not in TITLES]


def affirmed(words: Sequence[str]) -> list[str]:
    """Returns "Ann and her 2 sons have not" for "neither Ann nor her 2 sons have"."""
    low = [word.lower() for word in words]
    if "neither" not in low or "nor" not in low[low.index("neither") :]:
        return list(words)
    first = low.index("neither")
    last = low.index("nor", first)
    out = [*words[:first], *words[first + 1 : last], "and", *words[last + 1 :]]
    verb = next((n for n in range(last, len(out)) if out[n] in ("has", "have", "is", "are", "was", "were", "did")), -1)
    return [*out[: verb + 1], "not", *out[verb + 1 :]] if verb >= 0 else out


def named_whole(words: Sequence[str], text: str) -> list[str]:
    """Returns the words of a line of a form with its names as lists of people have them.

    "Name: Lind, Ann" is one; "Lind, Ann; Lind, Ben" and "LIND Ann" are names of two words.
    """
    out = [
        word.capitalize() if word.isupper() and len(word) > 3 and "".join(words[at + 1 : at + 2]).istitle() else word
        for at, word in enumerate(words)
    ]
    if _SURNAME_FIRST.match(text) or (";" in out and out.count(",") > out.count(";")):
        pairs = [n for n in range(1, len(out) - 1) if out[n] == "," and out[n - 1].istitle() and out[n + 1].istitle()]
        out = [word for n, word in enumerate(out) if n not in pairs]
    return ["," if word == ";" else word for word in out]


def _ageless(words: Sequence[str]) -> list[str]:
    """Returns words without the ages that stand before people: "6 - year - old", "30 years old", "aged 30"."""
    out: list[str] = []
    at = 0
    while at < len(words):
        age = _after_age(words, at)
        after = [word for word in words[at + 1 : at + 5] if word != "-"]
        if words[at].isdecimal() and after[:1] and after[0] in _AGE and after[1:2] in (["old"], ["olds"]):
            at = words.index(after[1], at) + 1
            out += ["youngsters"] * (after[1] == "olds")
        elif words[at].isdecimal() and after[:1] == ["yo"]:
            at += 2
        elif age > at:
            at = age
        else:
            out.append(words[at])
            at += 1
    return out


def _after_age(words: Sequence[str], at: int) -> int:
    """Returns the word after ages that begin there: "aged 30", "twins of 11", "boys of 10 and 12"; at: none do."""
    is_of = (
        words[at] == "of"
        and at > 0
        and (words[at - 1].lower() in BANDS or is_person(words[at - 1].lower()))
        and words[at - 1].lower() not in GROUPS
    )
    if words[at] not in ("aged", "age") and not is_of:
        return at
    last = at
    while words[last + 1 : last + 2] and words[last + 1].isdecimal() and (last == at or words[last] in ("and", "or")):
        last += 2
    is_age = last > at and (
        not is_of or words[last : last + 1] in ([], ["years"]) or not words[last].isalpha() or words[last] in FUNCTION
    )
    return last if is_age else at


def without_ages(words: Sequence[str], aged: AbstractSet[str]) -> list[str]:
    """Returns words without the numbers after those in `aged`, in lower case: none missing of "Anna 41 is missing"."""
    return [
        word
        for at, word in enumerate(words)
        if not (word.isdecimal() and at and words[at - 1].lower() in aged and not words[max(at - 2, 0)].isdecimal())
    ]
