"""Rows that understand nothing: what the places and the wording of the right options give away by themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from esar_ros.suites.uavbench.mcq.blind import FOLDS, blind_words
from esar_ros.suites.uavbench.mcq.item import LETTERS, OPTIONS, Item
from esar_ros.suites.uavbench.mcq.protocol import may_be_shuffled, order_of

CHANCE, BLIND, NEAREST = "chance", "blind-words", "nearest"
REFERENCES: dict[str, str] = {
    CHANCE: "one in seven",
    "constant": "always the letter that is right most often in this set",
    "constant by style": "the letter that is right most often in the other folds' items of the style",
    "longest": "the option with most characters, the first of equals",
    BLIND: "a logistic regression on the words of the options alone, without description and question; five folds",
}
NEAREST_ABOUT = (
    "the option whose sentence embedding is nearest to that of description and question, the first of equals"
)
Encode = Callable[[Sequence[str]], NDArray[np.float32]]  # texts to rows of unit length


def number_of_orders(item: Item, orders: int) -> int:
    """Returns in how many of so many orders an item is asked: one where its texts name places."""
    return orders if may_be_shuffled(item) else 1


def reference_rows(items: Sequence[Item], orders: int) -> dict[str, dict[str, float]]:
    """Returns the scores of every reference by item id, for items asked in so many orders."""
    best = _most_common(item.key for item in items)
    by_style = _by_style(items)
    blind = blind_words(items)
    longest = {item.id: max(range(OPTIONS), key=lambda place: len(item.options[place])) for item in items}
    return {
        CHANCE: {item.id: 1.0 / OPTIONS for item in items},
        "constant": _shown(items, orders, lambda item: best),
        "constant by style": _shown(items, orders, lambda item: by_style[item.id]),
        "longest": {item.id: float(longest[item.id] == item.key) for item in items},
        BLIND: {item.id: float(blind[item.id] == item.key) for item in items},
    }


def nearest_row(items: Sequence[Item], encode: Encode) -> dict[str, float]:
    """Returns by item id whether the option nearest in meaning to description and question is the right one."""
    asked = encode([f"{item.description} {item.question}" for item in items])
    options = encode([option for item in items for option in item.options]).reshape(len(items), OPTIONS, -1)
    # Rounded, so that equal options stay equal whatever the machine's last bits.
    alike = np.round(np.einsum("id,iod->io", asked, options).astype(np.float64), 5)
    picks = np.argmax(alike, axis=1)
    return {item.id: float(pick == item.key) for item, pick in zip(items, picks, strict=True)}


def letters_right(items: Sequence[Item]) -> dict[str, int]:
    """Returns how often each letter is right."""
    counts = Counter(item.key for item in items)
    return {letter: counts[place] for place, letter in enumerate(LETTERS)}


def _shown(items: Sequence[Item], orders: int, pick: Callable[[Item], int]) -> dict[str, float]:
    """Scores of picking a letter, whatever option stands there."""
    scores = {}
    for item in items:
        shown = [order_of(item, number) for number in range(number_of_orders(item, orders))]
        scores[item.id] = sum(order[pick(item)] == item.key for order in shown) / len(shown)
    return scores


def _by_style(items: Sequence[Item]) -> Mapping[str, int]:
    """The commonest right letter of the other folds' items of each item's style."""
    ordered = sorted(items, key=lambda item: item.id)
    fold = {item.id: place % FOLDS for place, item in enumerate(ordered)}
    picks: dict[str, int] = {}
    for style in {item.style for item in items}:
        own = [item for item in ordered if item.style == style]
        for number in range(FOLDS):
            letter = _most_common(item.key for item in own if fold[item.id] != number)
            picks |= {item.id: letter for item in own if fold[item.id] == number}
    return picks


def _most_common(keys: Iterable[int]) -> int:
    """The commonest of some places, the first of equals; 0 of none."""
    counts = Counter(keys)
    return max(range(OPTIONS), key=lambda place: counts[place])
