"""The gate of a set of questions: its form, and that neither places nor wording give the answers away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.sparse import csr_matrix
from scipy.stats import chisquare

from esar_ros.suites.uavbench.mcq.baselines import BLIND, letters_right, reference_rows
from esar_ros.suites.uavbench.mcq.item import LETTERS, OPTIONS, STYLES, Item
from esar_ros.suites.uavbench.mcq.measures import Share, share
from esar_ros.suites.uavbench.mcq.reading import Finding

MAX_GAIN = 0.04  # share above chance that a row without understanding may reach
MIN_P = 0.01  # of the right letters being even
ALIKE = 0.9  # share of common word trigrams from which two texts are one
MARGIN = 0.10  # least relative difference between the numbers of the right and a wrong option
_LEAST_EXPECTED = 5  # times that a letter must be expected to be right; a smaller set says nothing
_RIGHT = re.compile(r"\b([A-G])\s+is\s+(?:right|correct|the\s+(?:right|correct|best))\b")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_CHUNK = 500  # questions that are compared with all others at a time


def gate(items: Sequence[Item]) -> tuple[list[Finding], dict[str, Share]]:
    """Returns what is wrong with a set, and how often each row without understanding is right."""
    rows = {name: share([own[item.id] for item in items]) for name, own in reference_rows(items, 1).items()}
    findings = [*_letters(items), *_given_away(rows, len(items)), *_reasons(items), *_numbers(items), *_pointers(items)]
    return [*findings, *_duplicates(items)], rows


def _given_away(rows: dict[str, Share], count: int) -> Iterator[Finding]:
    for name in ("longest", BLIND) if count >= _LEAST_EXPECTED * OPTIONS else ():
        found = rows[name]
        # By more than the margin, and by more than the luck of a small set.
        if found.value > 1.0 / OPTIONS + MAX_GAIN and found.low > 1.0 / OPTIONS:
            text = f"'{name}' is right {100 * found.value:.1f} % of the time, chance is {100 / OPTIONS:.1f} %"
            yield Finding("the set", f"{text}: the wording gives answers away", True)


def _letters(items: Sequence[Item]) -> Iterator[Finding]:
    groups = {"the set": list(items)}
    groups |= {f"style {style}": [item for item in items if item.style == style] for style in STYLES}
    for where, own in groups.items():
        if len(own) < _LEAST_EXPECTED * OPTIONS:
            continue
        counts = letters_right(own)
        p = float(chisquare(list(counts.values())).pvalue)
        if p <= MIN_P:
            shown = " ".join(f"{letter} {count}" for letter, count in counts.items())
            yield Finding(where, f"the right letters are uneven ({shown}; p = {p:.2g})", True)


def _reasons(items: Sequence[Item]) -> Iterator[Finding]:
    for item in items:
        named = {match[1] for match in _RIGHT.finditer(item.reason)}
        if named and LETTERS[item.key] not in named:
            yield Finding(item.id, f"the reason calls {min(named)} right, the key is {LETTERS[item.key]}", True)


def _numbers(items: Sequence[Item]) -> Iterator[Finding]:
    """Computed answers of one number: none of the wrong ones may be nearly the right one."""
    for item in items:
        if item.solution is None or not isinstance(item.solution.get("value"), int | float):
            continue
        values = [float(match[0]) if (match := _NUMBER.search(option)) else None for option in item.options]
        right = values[item.key]
        for place, value in enumerate(values):
            if place == item.key or right is None or value is None:
                continue
            if abs(value - right) < MARGIN * max(abs(right), abs(value)) * (1.0 - 1e-9):
                pair = f"{LETTERS[item.key]} and {LETTERS[place]}"
                yield Finding(item.id, f"options {pair} differ by less than 10 %", True)


def _pointers(items: Sequence[Item]) -> Iterator[Finding]:
    """Computed answers: each number that went into one stands in the description or the question."""
    for item in items:
        inputs = (item.solution or {}).get("inputs", {})
        told = {float(number) for number in _NUMBER.findall(f"{item.description} {item.question}")}
        for pointer, value in inputs.items() if isinstance(inputs, dict) else ():
            numbers = value if isinstance(value, list) else [value]
            missing = [n for n in numbers if isinstance(n, int | float) and abs(float(n)) not in told]
            if missing:
                yield Finding(item.id, f"cannot be answered: {pointer} ({missing[0]:g}) is not told", True)


def _duplicates(items: Sequence[Item]) -> Iterator[Finding]:
    """Pairs that have nearly the same word trigrams in question and options (in any order), and in the description."""
    columns: dict[str, int] = {}
    starts, indices = [0], []
    for item in items:
        asked = _trigrams(" ".join((item.question, *sorted(item.options))))
        indices += [columns.setdefault(text, len(columns)) for text in sorted(asked)]
        starts.append(len(indices))
    held = csr_matrix((np.ones(len(indices), dtype=np.int32), indices, starts), shape=(len(items), len(columns)))
    sizes = np.diff(starts)
    for start in range(0, len(items), _CHUNK):
        both = (held[start : start + _CHUNK] @ held.T).tocoo()
        rows = both.row + start
        alike = both.data >= ALIKE * (sizes[rows] + sizes[both.col] - both.data)
        for i, j in sorted(zip(rows[alike].tolist(), both.col[alike].tolist(), strict=True)):
            if j < i:
                a, b = _trigrams(items[i].description), _trigrams(items[j].description)
                if len(a & b) >= ALIKE * len(a | b):
                    yield Finding(items[i].id, f"is nearly the same as {items[j].id}", True)


def _trigrams(text: str) -> set[str]:
    words = text.lower().split()
    return {" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))}
