"""`blind-words`: picks an option by the wording of the seven alone, having seen neither description nor question.

A conditional logit over the options (McFadden 1974): words and pairs of neighbouring words of an option, and the ranks
of its length and of its number among the seven. Fitted with a quadratic penalty on four fifths of the items and asked
about the rest, so what it reaches is what the wording of a set gives away. Deterministic.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from esar_ros.suites.uavbench.mcq.item import OPTIONS, Item

FOLDS = 5
PENALTY = 1.0  # of half the squared weights, against the sum of the log losses
_LEAST = 2  # options of a fold's training items that hold a feature
_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

Floats = NDArray[np.float64]


def blind_words(items: Sequence[Item]) -> dict[str, int]:
    """Returns by item id the place that the wording points to, from a fit on the other folds' items."""
    fold = {item.id: place % FOLDS for place, item in enumerate(sorted(items, key=_spread))}
    features = [features_of(item.options) for item in items]
    picks: dict[str, int] = {}
    for number in range(FOLDS):
        rows = [i for i, item in enumerate(items) if fold[item.id] != number]
        asked = [i for i, item in enumerate(items) if fold[item.id] == number]
        counts = Counter(name for i in rows for option in features[i] for name in option)
        column = {name: i for i, name in enumerate(sorted(name for name, n in counts.items() if n >= _LEAST))}
        weights = _fit(_matrix([features[i] for i in rows], column), np.array([items[i].key for i in rows], dtype=int))
        utilities = (_matrix([features[i] for i in asked], column) @ weights).reshape(-1, OPTIONS)
        # Rounded, so that equal options stay equal whatever the machine's last bits: the first of them is picked.
        for i, row in zip(asked, np.round(utilities, 9), strict=True):
            picks[items[i].id] = int(np.argmax(row))
    return picks


def _spread(item: Item) -> str:
    return sha256(f"fold\0{item.id}".encode()).hexdigest()


def features_of(options: Sequence[str]) -> list[list[str]]:
    """Returns the features of each of the options that are shown together."""
    found = []
    for option in options:
        words = _WORD.findall(option.lower())
        found.append(sorted({*words, *(f"{a} {b}" for a, b in pairwise(words))}))
    for place, rank in enumerate(_ranks([len(option) for option in options])):
        found[place].append(f"#length {rank}")
    numbers = [_NUMBER.search(option) for option in options]
    if all(numbers):
        values = [float(match[0]) for match in numbers if match]
        for place, rank in enumerate(_ranks(values)):
            found[place].append(f"#number {rank}")
    return found


def _ranks(values: Sequence[float]) -> list[int]:
    """Returns how many of the values are lower than each."""
    return [sum(other < value for other in values) for value in values]


def _matrix(features: Sequence[Sequence[Sequence[str]]], column: dict[str, int]) -> csr_matrix:
    """Presence of each feature (columns) in each option (rows, seven an item)."""
    starts, columns = [0], []
    for item in features:
        for option in item:
            columns += [column[name] for name in option if name in column]
            starts.append(len(columns))
    return csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(starts) - 1, len(column)))


def _fit(matrix: csr_matrix, keys: NDArray[np.int_]) -> Floats:
    """Weights that maximise the penalised likelihood of the right options."""
    right = np.zeros((len(keys), OPTIONS))
    right[np.arange(len(keys)), keys] = 1.0
    transposed = matrix.T.tocsr()

    def loss(weights: Floats) -> tuple[float, Floats]:
        utility = (matrix @ weights).reshape(-1, OPTIONS)
        utility -= utility.max(axis=1, keepdims=True)
        exponents = np.exp(utility)
        sums = exponents.sum(axis=1, keepdims=True)
        value = float((np.log(sums[:, 0]) - (utility * right).sum(axis=1)).sum())
        gradient = transposed @ (exponents / sums - right).ravel() + PENALTY * weights
        return value + 0.5 * PENALTY * float(weights @ weights), gradient

    if not matrix.shape[1]:
        return np.zeros(0)
    return np.asarray(minimize(loss, np.zeros(matrix.shape[1]), jac=True, method="L-BFGS-B").x)
