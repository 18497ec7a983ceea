"""Does a report's wording mean the object that lies there (ESARBench, appendix D)? The offline, deterministic judge."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource


class Judge(Protocol):
    """Decides on one pair; name carries the version, for results."""

    @property
    def name(self) -> str:
        """What a result calls this judge, e.g. offline/1."""
        ...

    def match(self, report_text: str, report_kind: str, truth_description: str, truth_kind: str) -> bool:
        """Whether the report names the object that the truth describes. Never raises."""
        ...


class _Words(BaseModel):
    """config/synonyms.yaml."""

    model_config = ConfigDict(extra="forbid")

    version: int
    kinds: dict[str, list[str]]
    breaks: list[str]
    negations: list[str]
    qualifiers: list[str]


class OfflineJudge:
    """Reads the head of a report's text with a table of synonyms per kind.

    The text is cut at prepositions and conjunctions, and the first piece that names a kind decides: "backpack next
    to a tent" is a backpack, and listing every kind gains nothing. Inside a piece the longest phrase wins and the
    last one is the head noun: "tent rope" is a rope, "sleeping bag" is no bag. A negated piece names nothing. Where
    the text names no kind, its wording is compared with the description, and an empty text falls back on the
    report's kind.
    """

    def __init__(self, path: Path | None = None) -> None:
        """path: a synonym table, by default the package's own. Raises UsageError."""
        words = _load(path or resource("config/synonyms.yaml"))
        self._name = f"offline/{words.version}"
        self._phrases: dict[tuple[str, ...], frozenset[str]] = {}
        for kind, phrases in words.kinds.items():
            for phrase in (kind.replace("_", " "), *phrases):
                key = _tokens(phrase)
                self._phrases[key] = self._phrases.get(key, frozenset()) | {kind}
        self._longest = max(len(phrase) for phrase in self._phrases)
        self._breaks = {_tokens(phrase) for phrase in words.breaks}
        self._negations = {_stem(word) for word in words.negations}
        self._qualifiers = {_stem(word) for word in words.qualifiers}

    @property
    def name(self) -> str:
        """Name and version of the table."""
        return self._name

    def match(self, report_text: str, report_kind: str, truth_description: str, truth_kind: str) -> bool:
        """See Judge.match."""
        pieces = self._pieces(report_text)
        if not pieces:
            return report_kind == truth_kind
        for piece in pieces:
            if self._negations & set(piece):
                return False
            kinds = self._kinds(piece)
            if kinds:
                return truth_kind in kinds
        return self._head(pieces[0]) is not None and self._head(pieces[0]) == self._description_head(truth_description)

    def kinds(self, text: str) -> frozenset[str]:
        """Kinds that a text may mean; empty when it names none or is negated."""
        for piece in self._pieces(text):
            if self._negations & set(piece):
                return frozenset()
            if found := self._kinds(piece):
                return found
        return frozenset()

    def _pieces(self, text: str) -> list[tuple[str, ...]]:
        """Token groups between punctuation, prepositions and conjunctions, in order, without empty ones."""
        pieces: list[tuple[str, ...]] = []
        for clause in re.split(r"[,;:.!?()\[\]{}/\n]+", text[:2000]):
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
        return found

    def _head(self, piece: tuple[str, ...]) -> str | None:
        return piece[-1] if piece and len(piece[-1]) > 2 else None

    def _description_head(self, description: str) -> str | None:
        pieces = self._pieces(description)
        return self._head(pieces[0]) if pieces else None


def _load(path: Path) -> _Words:
    try:
        words = _Words.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"cannot read synonyms {path}: {error}", "mend the file") from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{path}, key {key}: {first['msg']}", "mend the file") from None
    if unknown := set(words.kinds) ^ set(KINDS):
        raise UsageError(f"{path}, key kinds: {sorted(unknown)}", f"name exactly {', '.join(KINDS)}")
    return words


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
