"""Means with intervals, and methods compared pairwise, over tasks that come in snapshots and events.

600 tasks are 12 events, so tasks are no independent draws. Intervals are the percentiles of a hierarchical bootstrap
(Davison and Hinkley 1997, section 3.8; Saravanan et al. 2020): events are drawn with replacement, within each drawn
event its snapshots, within each drawn snapshot its tasks. A figure of a draw is the mean over all tasks drawn.
A comparison is of differences per task. Its interval is drawn in the same way; its p-value is that of a sign-flip
test with the event as the unit (Fisher 1935, section 21): were two methods alike, each event could as well have come
out with the other sign. It is exact up to 16 events, and with n of them never below 2 / 2^n: few events prove little,
however many tasks they hold. With more of them 10 000 patterns of signs are drawn. Holm (1979) corrects the p-values
of all pairs of one score.
Everything is seeded, and nothing is NaN: no tasks, no figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

DRAWS = 10_000
LEVEL = 0.95
SEED = 20_260_101
EXACT = 16  # events up to which every pattern of signs is tried

Floats = NDArray[np.float64]


@dataclass(frozen=True, order=True)
class Unit:
    """Position of a task in the hierarchy of events and snapshots."""

    event: str
    snapshot: str
    task: str


@dataclass(frozen=True)
class Estimate:
    """Mean over n tasks of a number of events, with its interval."""

    mean: float
    low: float
    high: float
    tasks: int
    events: int

    @property
    def has_interval(self) -> bool:
        """True from two tasks on: one task has no spread."""
        return self.tasks > 1


@dataclass(frozen=True)
class Comparison:
    """Mean difference a - b over the tasks that both flew; p two-sided, p_holm corrected over the table."""

    a: str
    b: str
    difference: Estimate
    p: float
    p_holm: float


def estimate(
    values: Mapping[Unit, float], draws: int = DRAWS, level: float = LEVEL, seed: int = SEED
) -> Estimate | None:
    """Mean of one value per task with its interval; None of nothing. Raises ValueError unless all are finite."""
    if not values:
        return None
    units = sorted(values)
    data = _column(values, units)
    drawn = _resample(units, data[:, None], draws, seed)[:, 0]
    return _summary(data, drawn, units, level)


def estimates(
    columns: Mapping[str, Mapping[Unit, float]], draws: int = DRAWS, level: float = LEVEL, seed: int = SEED
) -> dict[str, Estimate]:
    """Several figures of the same tasks from the same draws. Raises ValueError where their tasks differ."""
    units = sorted(next(iter(columns.values()), {}))
    if not units:
        return {}
    if any(sorted(column) != units for column in columns.values()):
        raise ValueError("the figures are not of the same tasks")
    data = np.column_stack([_column(column, units) for column in columns.values()])
    drawn = _resample(units, data, draws, seed)
    return {name: _summary(data[:, i], drawn[:, i], units, level) for i, name in enumerate(columns)}


def compare(
    methods: Mapping[str, Mapping[Unit, float]],
    against: str | None = None,
    draws: int = DRAWS,
    level: float = LEVEL,
    seed: int = SEED,
) -> tuple[Comparison, ...]:
    """Every pair of methods, or every method with `against`, on the tasks that both flew; without any, left out."""
    pairs = list(combinations(methods, 2)) if against is None else [(m, against) for m in methods if m != against]
    found: list[tuple[str, str, Estimate, float]] = []
    for a, b in pairs:
        units = sorted(set(methods[a]) & set(methods[b]))
        if not units:
            continue
        data = _column(methods[a], units) - _column(methods[b], units)
        drawn = _resample(units, data[:, None], draws, seed)[:, 0]
        sums: dict[str, float] = {}
        for unit, difference in zip(units, data, strict=True):
            sums[unit.event] = sums.get(unit.event, 0.0) + float(difference)
        found.append((a, b, _summary(data, drawn, units, level), sign_flip(list(sums.values()), draws, seed)))
    corrected = holm([p for *_, p in found])
    return tuple(Comparison(a, b, e, p, h) for (a, b, e, p), h in zip(found, corrected, strict=True))


def sign_flip(sums: Sequence[float], draws: int = DRAWS, seed: int = SEED) -> float:
    """Two-sided p-value of a sum of independent terms that are symmetric about zero, by `draws` sign patterns.

    It is exact up to EXACT terms.
    """
    terms = np.asarray(sums, dtype=np.float64)
    if len(terms) <= EXACT:
        patterns = np.arange(1 << len(terms))
        signs = 1.0 - 2.0 * ((patterns[:, None] >> np.arange(len(terms))) & 1)
    else:
        drawn = np.random.default_rng(seed).integers(0, 2, (draws, len(terms)))
        signs = np.vstack([np.ones(len(terms)), 1.0 - 2.0 * drawn])
    # Sums of the same terms in another order differ in the last bits.
    observed = abs(float(terms.sum())) - 1e-9 * (1.0 + float(np.abs(terms).sum()))
    return float(np.mean(np.abs(signs @ terms) >= observed))


def least_p(events: int, draws: int = DRAWS) -> float:
    """Returns the p-value below which that of so many events cannot be."""
    return 2.0 / 2**events if events <= EXACT else 1.0 / (draws + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction, in the order given; keeps order and stays at or below 1."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = highest
    return corrected


def over_seeds(runs: Mapping[tuple[Unit, int], float]) -> dict[Unit, float]:
    """One value per task: the mean over its seeds."""
    gathered: dict[Unit, list[float]] = {}
    for (unit, _), value in sorted(runs.items()):
        gathered.setdefault(unit, []).append(value)
    return {unit: float(np.mean(values)) for unit, values in gathered.items()}


def _column(values: Mapping[Unit, float], units: Sequence[Unit]) -> Floats:
    column = np.array([values[unit] for unit in units], dtype=np.float64)
    if not np.isfinite(column).all():
        raise ValueError("a value that is not finite cannot be averaged")
    return column


def _summary(data: Floats, drawn: Floats, units: Sequence[Unit], level: float) -> Estimate:
    low, high = np.quantile(drawn, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Estimate(float(data.mean()), float(low), float(high), len(units), len({unit.event for unit in units}))


def _resample(units: Sequence[Unit], data: Floats, draws: int, seed: int) -> Floats:
    """(draws, columns) means of hierarchical resamples of the (tasks, columns) data; units are sorted.

    Drawing k tasks of a snapshot with replacement is drawing how often each is taken: a multinomial. A draw of the
    whole needs only sums and counts per snapshot, so levels are drawn from the outside in.
    """
    random = np.random.default_rng(seed)
    events: dict[str, dict[str, list[int]]] = {}
    for row, unit in enumerate(units):
        events.setdefault(unit.event, {}).setdefault(unit.snapshot, []).append(row)
    totals = np.zeros((draws, data.shape[1]))
    counts = np.zeros(draws)
    taken = random.multinomial(len(events), np.full(len(events), 1.0 / len(events)), size=draws)
    for column, snapshots in enumerate(events.values()):
        # Each time an event is taken its snapshots are drawn anew, and so on down.
        for time in range(int(taken[:, column].max())):
            who = np.flatnonzero(taken[:, column] > time)
            share = np.full(len(snapshots), 1.0 / len(snapshots))
            chosen = random.multinomial(len(snapshots), share, size=len(who))
            for inner, rows in enumerate(snapshots.values()):
                for again in range(int(chosen[:, inner].max())):
                    which = who[chosen[:, inner] > again]
                    weights = random.multinomial(len(rows), np.full(len(rows), 1.0 / len(rows)), size=len(which))
                    totals[which] += weights @ data[rows]
                    counts[which] += len(rows)
    return np.asarray(totals / counts[:, None])
