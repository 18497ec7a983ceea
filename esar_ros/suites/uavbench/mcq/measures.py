"""The paper's measures over styles, with intervals.

Accuracy of each style a_s; their mean mu, population standard deviation sigma and geometric mean gm; the Balanced Style
Score BSS = gm max(0, 1 - sigma / mu). Shares have Wilson's interval (1927); mu, sigma, BSS and differences that of a
bootstrap over missions within styles, all items of a mission together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from esar_ros.suites.uavbench.mcq.item import STYLES, Item

DRAWS = 10_000
SEED = 20_260_101
FLOOR = 1e-6  # of an accuracy in the geometric mean
_Z = 1.959963984540054  # 97.5 % quantile of the normal distribution
_CHUNK = 1000  # draws at a time

Floats = NDArray[np.float64]
Interval = tuple[float, float]
Scores = Mapping[str, float]  # by item id: 1 right, 0 wrong, between them a mean over orders


@dataclass(frozen=True)
class Share:
    """A mean of scores from 0 to 1 over n items, with its interval."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Measures:
    """A row's measures. mean, sigma, bss: value, low, high; None where a style has no items."""

    accuracy: Share
    styles: Mapping[int, Share]
    mean: tuple[float, float, float] | None
    sigma: tuple[float, float, float] | None
    bss: tuple[float, float, float] | None


def wilson(value: float, n: int) -> Interval:
    """95 % score interval of a share of n trials; a mean of scores between 0 and 1 varies no more than a share."""
    centre = (value + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(max(0.0, value * (1 - value)) / n + _Z**2 / (4 * n**2))
    return max(0.0, centre - half), min(1.0, centre + half)


def share(values: Sequence[float]) -> Share:
    """Mean of some scores with its interval. Raises ValueError for none."""
    if not values:
        raise ValueError("a share of nothing")
    mean = math.fsum(values) / len(values)
    return Share(mean, *wilson(mean, len(values)), len(values))


def balanced_style_score(accuracies: Floats) -> Floats:
    """BSS of accuracies by style on the last axis; 0 where all are 0, NaN where one is."""
    mean = accuracies.mean(axis=-1)
    geometric = np.exp(np.log(np.maximum(accuracies, FLOOR)).mean(axis=-1))
    spread = accuracies.std(axis=-1) / np.where(mean > 0.0, mean, 1.0)
    return np.asarray(np.where(mean > 0.0, geometric * np.maximum(0.0, 1.0 - spread), 0.0 * mean))


def measure(items: Sequence[Item], rows: Mapping[str, Scores], reference: str) -> dict[str, tuple[Measures, Share]]:
    """Returns by row its measures over the items it has scores for, and its gain over the row `reference` on them."""
    names = list(rows)
    drawn = _drawn(items, [rows[name] for name in names], rows[reference])
    return {name: _row(items, rows[name], rows[reference], drawn[i]) for i, name in enumerate(names)}


def mcnemar(a: Scores, b: Scores) -> tuple[int, int, float]:
    """Items that a alone and b alone has right, of those that both were asked, and the exact two-sided p-value."""
    both = a.keys() & b.keys()
    only_a = sum(a[name] > b[name] for name in both)
    only_b = sum(a[name] < b[name] for name in both)
    if only_a + only_b == 0:
        return 0, 0, 1.0
    return only_a, only_b, float(binomtest(only_a, only_a + only_b, 0.5).pvalue)


def _row(items: Sequence[Item], scores: Scores, reference: Scores, drawn: Floats) -> tuple[Measures, Share]:
    """drawn: (draws, styles, 3) sums of scores, of the reference's scores, and counts."""
    values = [scores[item.id] for item in items if item.id in scores]
    accuracy = share(values)
    by_style: dict[int, list[float]] = {}
    for item in items:
        if item.id in scores:
            by_style.setdefault(item.style, []).append(scores[item.id])
    styles = {style: share(own) for style, own in sorted(by_style.items())}
    total = drawn.sum(axis=1)
    with np.errstate(invalid="ignore"):  # a draw may hold nothing that was asked
        gains = (total[:, 0] - total[:, 1]) / total[:, 2]
    gain = accuracy.value - math.fsum(reference[item.id] for item in items if item.id in scores) / len(values)
    gained = Share(gain, *_interval(gains), len(values))
    if len(styles) < len(STYLES):
        return Measures(accuracy, styles, None, None, None), gained
    with np.errstate(invalid="ignore"):  # a draw may hold nothing of a style that was asked in part
        shares = drawn[:, :, 0] / drawn[:, :, 2]
    exact = np.array([found.value for found in styles.values()])
    return (
        Measures(
            accuracy,
            styles,
            (float(exact.mean()), *_interval(shares.mean(axis=1))),
            (float(exact.std()), *_interval(shares.std(axis=1))),
            (float(balanced_style_score(exact)), *_interval(balanced_style_score(shares))),
        ),
        gained,
    )


def _interval(values: Floats) -> Interval:
    low, high = np.nanquantile(values, [0.025, 0.975])
    return float(low), float(high)


def _drawn(items: Sequence[Item], rows: Sequence[Scores], reference: Scores) -> Floats:
    """(rows, draws, styles, 3) sums over resampled missions; every row sees the same draws.

    Drawing k missions with replacement is drawing how often each is taken: a multinomial.
    """
    out = np.zeros((len(rows), DRAWS, len(STYLES), 3))
    for column, style in enumerate(STYLES):
        own = [item for item in items if item.style == style]
        missions = {name: i for i, name in enumerate(sorted({item.scenario for item in own}))}
        if not missions:
            continue
        sums = np.zeros((len(missions), len(rows), 3))
        for item in own:
            for i, scores in enumerate(rows):
                if item.id in scores:
                    sums[missions[item.scenario], i] += (scores[item.id], reference[item.id], 1.0)
        random = np.random.default_rng([SEED, style])
        for start in range(0, DRAWS, _CHUNK):
            taken = random.multinomial(len(missions), np.full(len(missions), 1.0 / len(missions)), size=_CHUNK)
            drawn = taken.astype(np.float64) @ sums.reshape(len(missions), -1)
            out[:, start : start + _CHUNK, column] = drawn.reshape(_CHUNK, len(rows), 3).transpose(1, 0, 2)
    return out
