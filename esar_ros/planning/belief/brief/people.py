"""The missing people of a brief: their names and number."""

from __future__ import annotations

import re

SENTENCE = re.compile(  # what lies between two sentences
    r"(?<=[.!?])(?<!\b[Aa]pprox\.)(?<!\b[Cc]a\.)\s+(?=[A-Z0-9\"'“])"
)
_LONGEST = 500  # characters of a sentence; people write some 200
_NO_NAMES = frozenset(
    re.split(
        r"\s+",
        "I North South East West Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April "
        "May June July August September October November December Weather Time Missing Start Light Local Log Up The He "
        "She They We You It His Her Their French Chinese",
    )
)
_PLACE_BEFORE = re.compile(r"\b(?:[Tt]he|[Aa]n?|[Ii]n|[Aa]t|on|[Tt]o|into|near|across|crossing|from|of|[A-Z]\w+)\s+$")
_PLACE_AFTER = re.compile(r"\s+(?:trail|traverse|peninsula|lake|camp|glacier|ridge|beach|[A-Z][a-z]+)\b")
_NAME_AFTER = re.compile(r"\s+and\s+[A-Z]|, \d+|,? (?:wears|is missing|has to be|has been missing)\b")
_PEOPLE = (
    r"people|persons|climbers?|hikers?|walkers?|men|women|children|students|friends|members|mountaineers|anglers|"
    r"villagers|tourists|explorers|drivers|travellers|trekkers|victims|missing|pax|scouts|brothers|sisters|workers|skiers|"
    r"runners|sailors|pilots|colleagues|adults|boys|girls|kids|tourers|campers|pilgrims|soldiers|surveyors|researchers"
)
_COUNT = re.compile(
    rf"\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{{1,2}})\s+(?:\w+\s+){{0,2}}?(?:{_PEOPLE})\b",
    re.IGNORECASE,
)
_FIGURES = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12,
}  # fmt: skip
_GROUP = re.compile(
    rf"\b(?:(?:crew|team|party|group|family|rope)\s+of|all)\s+({'|'.join(_FIGURES)}|\d{{1,2}})\b|\b({'|'.join(_FIGURES)})\s+of\s+them\b",
    re.IGNORECASE,
)
_PAIR_OF = re.compile(
    r"\b(?:husband and wife|his wife|her husband|a couple from|the couple|both of them|the pair|"
    r"a pair of|twins|the brothers|the sisters)\b",
    re.IGNORECASE,
)
_SOUGHT = re.compile(
    r"\b(?:missing|look(?:ing)?\s+for|search\w*\s+for|sought|lost|still out|overdue|locate|rescue|"
    r"not\s+(?:returned|come\s+back)|unaccounted)\b",
    re.IGNORECASE,
)


_LABELLED = re.compile(  # "Injured: one. Missing: two."
    rf"\b(?:missing|injured|hurt|wounded|buried)\s*[:=]\s*(one|{'|'.join(_FIGURES)}|\d{{1,2}})\b", re.IGNORECASE
)
_COMPANIONS = re.compile(  # "travelling with two friends": they are not missing
    rf"\b(?:with|his|her)\s+(?:his\s+|her\s+)?(?:{'|'.join(_FIGURES)}|\d{{1,2}})\s+(?:friends|colleagues|companions)\b",
    re.IGNORECASE,
)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text; one far too long comes in pieces, since reading takes the square of its length."""
    whole = [sentence for sentence in SENTENCE.split(text) if sentence]
    return [one[at : at + _LONGEST] for one in whole for at in range(0, len(one), _LONGEST)]


def names_in(prompt: str) -> tuple[str, ...]:
    """Names of people: capitalised words that stand neither after an article or a preposition of place nor alone."""
    found: dict[str, None] = {}
    no_names = _NO_NAMES | set(re.findall(r"\b[Tt]he (?:[a-z]+ )?([A-Z][a-zé]+)\b", prompt))
    mid_sentence = _mid_sentence(prompt)
    for sentence in sentences_of(prompt):
        for match in re.finditer(r"\b([A-Z][a-zé]{1,14})\b(?:['’]s\b)?", sentence):
            before, after = sentence[: match.start()], sentence[match.end(1) :]
            if match[1] in no_names or _PLACE_BEFORE.search(before) or _PLACE_AFTER.match(after):
                continue
            first = not before.strip(" \"'")
            if first and not _NAME_AFTER.match(after) and match[1] not in mid_sentence:
                continue
            found.setdefault(match[1])
    return tuple(found)


def _mid_sentence(prompt: str) -> frozenset[str]:
    """Capitalised words that stand within a sentence after a lower-case word."""
    return frozenset(re.findall(r"[a-z,] ([A-Z][a-zé]{1,14})\b", prompt))


def count_victims(prompt: str, names: tuple[str, ...]) -> int:
    """Returns the number of people missing, by count words in sentences about a search, else by names."""
    labelled = [_number(match[1]) for match in _LABELLED.finditer(prompt)]
    if labelled:
        return max(1, min(sum(labelled), 12))
    prompt = _COMPANIONS.sub(" ", prompt)
    counts = [
        _number(match[1])
        for sentence in sentences_of(prompt)
        if _SOUGHT.search(sentence)
        for match in _COUNT.finditer(sentence)
    ]
    if not counts:
        counts = [_number(word) for pair in _GROUP.findall(prompt) for word in pair if word]
    if not counts and not names:
        counts = [_number(match[1]) for match in _COUNT.finditer(prompt)]
    if counts:
        return max(1, min(counts[0], 12))
    return max(1, min(len(names), 12), 2 if _PAIR_OF.search(prompt) and len(names) != 1 else 1)


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _FIGURES.get(word.lower(), 1)
