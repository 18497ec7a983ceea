"""Reads questions strictly: what is wrong with each is told, and what cannot be asked at all is refused.

Labels before options ("A- ", "B) ") are taken off where most options have one, so an option that begins with the
article "A" keeps it. The right option is read by place, as the paper's script does, also where labels say otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from esar_ros.mission.errors import UsageError
from esar_ros.suites.uavbench.mcq.item import LETTERS, OPTIONS, SCHEMA, STYLES, Item
from esar_ros.suites.uavbench.mcq.sources import documents

_LABEL = re.compile(r"(?:\(([A-G])\)|([A-G])\s?[-–—.:)])\s+")
_MOST_LABELLED = 4  # options with a label from which it is taken for one
_LONGEST = 20_000  # characters of a text


@dataclass(frozen=True)
class Finding:
    """Something odd about a question: where it stands and what. is_error: it should be put right; else a note."""

    where: str
    text: str
    is_error: bool


class _Unusable(Exception):
    """A question that cannot be asked, and why."""


@dataclass(frozen=True)
class Reading:
    """Questions that can be asked, what is odd about any, and how many cannot be asked."""

    items: tuple[Item, ...]
    findings: tuple[Finding, ...]
    unusable: int


def read_items(paths: Iterable[Path]) -> Reading:
    """Reads the questions of some sources. Raises UsageError where a source cannot be read or holds none."""
    items: list[Item] = []
    findings: list[Finding] = []
    seen: dict[str, str] = {}
    unusable = 0
    for path in paths:
        before = len(items) + unusable
        for where, name, value, problem in documents(path):
            try:
                if problem:
                    raise _Unusable(problem)
                item = _item(value, name, where, findings)
                if item.id in seen:
                    raise _Unusable(f"the id '{item.id}' is that of {seen[item.id]}")
            except _Unusable as error:
                findings.append(Finding(where, str(error), True))
                unusable += 1
                continue
            seen[item.id] = where
            items.append(item)
        if len(items) + unusable == before:
            raise UsageError(f"{path} holds no questions", "give the questions")
    return Reading(tuple(items), tuple(findings), unusable)


def usable_items(paths: Iterable[Path]) -> Reading:
    """Reads questions to be asked. Raises UsageError as soon as one of them cannot be."""
    reading = read_items(paths)
    if reading.unusable:
        first = next(finding for finding in reading.findings if finding.is_error)
        more = f" (and {reading.unusable - 1} more)" if reading.unusable > 1 else ""
        raise UsageError(f"{first.where}: {first.text}{more}", "see ./esar mcq check")
    return reading


def _item(value: Mapping[str, Any], name: str, where: str, findings: list[Finding]) -> Item:
    """One question; adds what is odd about it. Raises _Unusable."""
    schema = value.get("schema_version", SCHEMA)
    if schema != SCHEMA:
        raise _Unusable(f"schema_version: {str(schema)[:60]!r} is not {SCHEMA}")
    style = _style(value)
    options = _options(value, where, findings)
    key = _key(value, options, where, findings)
    question = _text(value, "question")
    if not question.endswith("?"):
        findings.append(Finding(where, "question: does not end in a question mark", False))
    solution = value.get("solution")
    if solution is not None and not isinstance(solution, Mapping):
        raise _Unusable("solution: not an object")
    return Item(
        id=_text(value, "id") if "id" in value else name,
        scenario=_text(value, "scenario_name"),
        description=_text(value, "description"),
        question=question,
        options=options,
        key=key,
        reason=_text(value, "reason") if value.get("reason") else "",
        style=style,
        solution=dict(solution) if solution is not None else None,
    )


def _text(value: Mapping[str, Any], key: str) -> str:
    if key not in value:
        raise _Unusable(f"{key}: missing")
    text = value[key]
    if not _is_text(text):
        raise _Unusable(f"{key}: must be a text of at most {_LONGEST} characters")
    return str(text).strip()


def _is_text(value: Any) -> bool:
    """Returns whether a value is a text with something in it that can be written down (no half surrogates)."""
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST:
        return False
    return value.encode("utf-8", "replace").decode("utf-8") == value


def _style(value: Mapping[str, Any]) -> int:
    style = value.get("style_id")
    if isinstance(style, bool) or not isinstance(style, int) or style not in STYLES:
        raise _Unusable(f"style_id: must be 1 to {len(STYLES)}, is {str(style)[:40]!r}")
    name = value.get("style", STYLES[style])
    if name != STYLES[style]:
        raise _Unusable(f"style: {str(name)[:60]!r} is not style {style}, {STYLES[style]!r}")
    return style


def _options(value: Mapping[str, Any], where: str, findings: list[Finding]) -> tuple[str, ...]:
    given = value.get("choices")
    if not isinstance(given, list) or len(given) != OPTIONS:
        count = f"{len(given)}" if isinstance(given, list) else "no list"
        raise _Unusable(f"choices: must be {OPTIONS} texts, is {count}")
    if value.get("num_choices", OPTIONS) != OPTIONS:
        raise _Unusable(f"num_choices: must be {OPTIONS}")
    texts = []
    for place, text in enumerate(given):
        if not _is_text(text):
            raise _Unusable(f"choices/{place}: must be a text of at most {_LONGEST} characters")
        texts.append(" ".join(text.split()))
    labels = [_LABEL.match(text) for text in texts]
    if sum(label is not None for label in labels) >= _MOST_LABELLED:
        for letter, label in zip(LETTERS, labels, strict=True):
            if label is None:
                findings.append(Finding(where, f"option {letter} has no label as the others do", True))
            elif letter not in label.groups():
                named = label[1] or label[2]
                findings.append(Finding(where, f"option {letter} is labelled {named}; options are read by place", True))
        texts = [text[label.end() :] if label else text for text, label in zip(texts, labels, strict=True)]
    plain = [text.casefold() for text in texts]
    twice = next((place for place, text in enumerate(plain) if text in plain[:place]), None)
    if twice is not None:
        raise _Unusable(f"choices: options {LETTERS[plain.index(plain[twice])]} and {LETTERS[twice]} are equal")
    return tuple(texts)


def _key(value: Mapping[str, Any], options: tuple[str, ...], where: str, findings: list[Finding]) -> int:
    """Place of the right option, given as letter; as place from 0 or as text, which is told."""
    key = value.get("correct_choice")
    if isinstance(key, int) and not isinstance(key, bool) and 0 <= key < OPTIONS:
        findings.append(Finding(where, f"correct_choice: {key} is a place from 0, read as {LETTERS[key]}", False))
        return key
    if isinstance(key, str):
        bare = " ".join(key.split())
        if len(bare) == 1 and bare.upper() in LETTERS:
            return LETTERS.index(bare.upper())
        label = _LABEL.match(bare)
        plain = [option.casefold() for option in options]
        for text in (bare, bare[label.end() :] if label else bare):
            if text.casefold() in plain:
                place = plain.index(text.casefold())
                findings.append(Finding(where, f"correct_choice: a text, read as {LETTERS[place]}", False))
                return place
    raise _Unusable(f"correct_choice: must be a letter A to {LETTERS[-1]}, is {str(key)[:60]!r}")
