"""Judges of clue reports: does a report's wording mean the object at its position (ESARBench, appendix D)?

The judges in this file need no network.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

from pydantic import Field

from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, load_settings

TEXT_LENGTH = 2000  # characters of a report that a judge reads
_OTHER = "other"  # what the table knows to be none of the kinds
_SPELT = 5  # letters that a word needs before its spelling may be doubted


class Pair(NamedTuple):
    """A report and a clue that lies near it, in words."""

    report_text: str
    report_kind: str
    truth_description: str
    truth_kind: str


@dataclass(frozen=True)
class Judgement:
    """A judge's answers for some pairs, and the name of the judge that gave them: one that cannot answer defers to
    another."""

    answers: tuple[bool, ...]
    judge: str
    details: Mapping[str, str] = field(default_factory=dict)


class Judge(Protocol):
    """Decides on the pairs of one mission; name carries the version, for results."""

    @property
    def name(self) -> str:
        """Name of the judge in results, e.g. offline/2."""
        ...

    def decide(self, pairs: Sequence[Pair]) -> Judgement:
        """For each pair, whether the report names the object that the truth describes. Never raises."""
        ...


class LabelJudge:
    """Exact label: the report's kind is the clue's kind. What it says in words is not read."""

    name = "label"

    def decide(self, pairs: Sequence[Pair]) -> Judgement:
        """See Judge.decide."""
        return Judgement(tuple(pair.report_kind == pair.truth_kind for pair in pairs), self.name)


class _Words(StrictModel):
    """config/synonyms.yaml."""

    version: int
    similarity: float = Field(gt=0.5, le=1.0)
    kinds: dict[str, list[str]]
    others: list[str]
    breaks: list[str]
    negations: list[str]
    qualifiers: list[str]
    commands: list[str]


class OfflineJudge:
    """Reads the head of a report's text with a table of synonyms per kind.

    The text is cut at prepositions and conjunctions, and the first piece that names a kind decides: "backpack next to a
    tent" is a backpack, and listing every kind gains nothing. Inside a piece the longest phrase wins and the last one
    is the head noun: "tent rope" is a rope, "sleeping bag" is no bag. A negated piece names nothing, and so does a text
    that addresses its judge. A word that is not in the table counts as the one it is misspelt from. Where the text
    names no kind, its wording is compared with the description, and an empty text falls back on the report's kind.
    """

    def __init__(self, path: Path | None = None, similarity: float | None = None) -> None:
        """path: a synonym table, by default the package's own; similarity: overrides its own. Raises UsageError."""
        words = _load(path or resource("config/synonyms.yaml"))
        self.similarity = words.similarity if similarity is None else similarity
        self._name = f"offline/{words.version}"
        self._phrases: dict[tuple[str, ...], frozenset[str]] = {}
        for kind, phrases in words.kinds.items():
            for phrase in (kind.replace("_", " "), *phrases):
                key = _tokens(phrase)
                self._phrases[key] = self._phrases.get(key, frozenset()) | {kind}
        for phrase in words.others:
            self._phrases.setdefault(_tokens(phrase), frozenset({_OTHER}))
        self._singles = tuple(sorted(key[0] for key in self._phrases if len(key) == 1 and len(key[0]) >= _SPELT))
        self._known = {word for key in self._phrases for word in key}
        self._commands = {_stem(word) for word in words.commands}
        self._longest = max(len(phrase) for phrase in self._phrases)
        self._breaks = {_tokens(phrase) for phrase in words.breaks}
        self._negations = {_stem(word) for word in words.negations}
        self._qualifiers = {_stem(word) for word in words.qualifiers}

    @property
    def name(self) -> str:
        """Name and version of the table."""
        return self._name

    def decide(self, pairs: Sequence[Pair]) -> Judgement:
        """See Judge.decide."""
        return Judgement(tuple(self.match(*pair) for pair in pairs), self.name)

    def match(self, report_text: str, report_kind: str, truth_description: str, truth_kind: str) -> bool:
        """Returns whether one report names the object that the truth describes."""
        pieces = self._pieces(report_text)
        if not pieces:
            return report_kind == truth_kind
        if self._speaks_to_the_judge(report_text):
            return False
        for piece in pieces:
            if self._negations & set(piece):
                return False
            kinds = self._kinds(piece)
            if kinds:
                return truth_kind in kinds
        return self._head(pieces[0]) is not None and self._head(pieces[0]) == self._description_head(truth_description)

    def kinds(self, text: str) -> frozenset[str]:
        """Kinds that a text may mean; empty when it names none or is negated."""
        if self._speaks_to_the_judge(text):
            return frozenset()
        for piece in self._pieces(text):
            if self._negations & set(piece):
                return frozenset()
            if found := self._kinds(piece):
                return found - {_OTHER}
        return frozenset()

    def _speaks_to_the_judge(self, text: str) -> bool:
        return not self._commands.isdisjoint(_tokens(text[:TEXT_LENGTH]))

    def _pieces(self, text: str) -> list[tuple[str, ...]]:
        """Token groups between punctuation, prepositions and conjunctions, in order, without empty ones."""
        pieces: list[tuple[str, ...]] = []
        for clause in re.split(r"[,;:.!?()\[\]{}/\n]+", text[:TEXT_LENGTH]):
            tokens = _tokens(clause)
            start = i = 0
            while i < len(tokens):
                # A phrase of the table may hold a break word ("cup of noodles"): phrases go first.
                length = self._phrase_at(tokens, i)
                if length:
                    i += length
                    continue
                cut = next((n for n in (3, 2, 1) if tokens[i : i + n] in self._breaks), 0)
                if cut:
                    pieces.append(tokens[start:i])
                    start = i = i + cut
                else:
                    i += 1
            pieces.append(tokens[start:])
        return [piece for piece in pieces if piece]

    def _phrase_at(self, tokens: tuple[str, ...], i: int) -> int:
        for n in range(min(self._longest, len(tokens) - i), 0, -1):
            if tokens[i : i + n] in self._phrases:
                return n
        return 0

    def _kinds(self, piece: tuple[str, ...]) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        i = 0
        while i < len(piece):
            length = self._phrase_at(piece, i)
            # "light" before a noun is a shade, not a lamp: qualifiers only count as the head.
            if length and not (length == 1 and piece[i] in self._qualifiers and i + 1 < len(piece)):
                found = self._phrases[piece[i : i + length]]
            i += max(length, 1)
        return found or self._misspelt(piece)

    def _misspelt(self, piece: tuple[str, ...]) -> frozenset[str]:
        """Kinds of the last word that is nearly one of the table's."""
        for word in reversed(piece):
            if len(word) < _SPELT or word in self._known:
                continue
            similarity, meant = _nearest(word, self._singles)
            if similarity >= self.similarity:
                return self._phrases[(meant,)]
        return frozenset()

    def _head(self, piece: tuple[str, ...]) -> str | None:
        return piece[-1] if piece and len(piece[-1]) > 2 else None

    def _description_head(self, description: str) -> str | None:
        pieces = self._pieces(description)
        return self._head(pieces[0]) if pieces else None


def _load(path: Path) -> _Words:
    words = load_settings(_Words, path, "synonyms")
    if unknown := set(words.kinds) ^ set(KINDS):
        raise UsageError(f"{path}, key kinds: {sorted(unknown)}", f"name exactly {', '.join(KINDS)}")
    return words


@lru_cache(maxsize=4096)
def _nearest(word: str, known: tuple[str, ...]) -> tuple[float, str]:
    """The known word most like this one, and how like (0..1: twice the letters in common over all letters)."""
    return max((SequenceMatcher(None, word, other, autojunk=False).ratio(), other) for other in known)


@lru_cache(maxsize=4096)
def _tokens(text: str) -> tuple[str, ...]:
    """Lower-case stems of the words in a text, without accents, articles and punctuation."""
    plain = unicodedata.normalize("NFKD", re.sub(r"['’]s\b", "", text.lower().replace("n't", " not")))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return tuple(_stem(word) for word in re.findall(r"[a-z0-9]+", plain) if word not in ("a", "an", "the"))


def _stem(word: str) -> str:
    """Singular of a regular English plural; applied to both sides, so it only has to be consistent."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us")):
        return word[:-1]
    return word
