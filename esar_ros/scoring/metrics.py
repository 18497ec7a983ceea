"""The benchmark's metrics as pure functions (ESARBench equations 2 to 7, appendices B and D).

Positions are (N, 3) arrays in the map frame (m), times are s, shares lie in 0..1. Nothing here returns NaN:
an empty set of reports scores 0, and callers leave out positions that are not finite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from esar_ros.mission.thresholds import Thresholds

Floats = NDArray[np.float64]

# m: assignments whose lengths differ by less than about this are equally short; far below any sensor, above rounding.
TIE_TOLERANCE = 1.0e-7


@dataclass(frozen=True)
class Match:
    """One report assigned to one truth, by index; distance in m."""

    report: int
    truth: int
    distance: float


def distances(reports: ArrayLike, truths: ArrayLike) -> Floats:
    """(N, M) Euclidean distances between (N, 3) reports and (M, 3) truths."""
    a = np.asarray(reports, dtype=np.float64).reshape(-1, 3)
    b = np.asarray(truths, dtype=np.float64).reshape(-1, 3)
    return np.asarray(np.linalg.norm(a[:, None, :] - b[None, :, :], axis=2))


def _solve(cost: Floats, reports: Floats, truths: Floats) -> list[tuple[int, int]]:
    """Least-cost one-to-one pairs; sorted by position first, so that ties break alike in any order."""
    rows = np.lexsort(reports.T[::-1])
    columns = np.lexsort(truths.T[::-1])
    picked_rows, picked_columns = linear_sum_assignment(cost[np.ix_(rows, columns)])
    return sorted((int(rows[r]), int(columns[c])) for r, c in zip(picked_rows, picked_columns, strict=True))


def assign(reports: ArrayLike, truths: ArrayLike, gate: float) -> list[Match]:
    """Hungarian assignment over all distances, without a gate (appendix B).

    The paper does not say which of several equally short assignments counts; here it is the one with the most pairs
    strictly closer than gate (m). Otherwise the gate plays no part.
    """
    a = np.asarray(reports, dtype=np.float64).reshape(-1, 3)
    b = np.asarray(truths, dtype=np.float64).reshape(-1, 3)
    if not len(a) or not len(b):
        return []
    lengths = distances(a, b)
    return [Match(r, t, float(lengths[r, t])) for r, t in _solve(lengths - TIE_TOLERANCE * (lengths < gate), a, b)]


def assign_gated(
    reports: ArrayLike,
    truths: ArrayLike,
    gate: float,
    allowed: NDArray[np.bool_] | None = None,
    penalty: NDArray[np.int64] | None = None,
) -> list[Match]:
    """As many one-to-one pairs closer than gate (strictly) as possible, then at the minimum total distance.

    allowed: (N, M), pairs that may match at all; None allows every pair. penalty: (N, M) whole numbers >= 0; where
    the number of pairs stays the same, the minimum total penalty comes before distance.
    """
    a = np.asarray(reports, dtype=np.float64).reshape(-1, 3)
    b = np.asarray(truths, dtype=np.float64).reshape(-1, 3)
    if not len(a) or not len(b):
        return []
    lengths = distances(a, b)
    possible = lengths < gate if allowed is None else (lengths < gate) & allowed
    # Costs in three orders, each worth more than all lesser ones together: a refused pair, a penalty, metres.
    pairs = min(lengths.shape) + 1
    unit = pairs * gate
    cost = lengths if penalty is None else lengths + unit * penalty
    worst = 0 if penalty is None else int(penalty.max())
    refused = pairs * (worst * unit + gate)
    picked = _solve(np.where(possible, cost, refused), a, b)
    return [Match(r, t, float(lengths[r, t])) for r, t in picked if possible[r, t]]


def share(part: float, whole: float) -> float:
    """part / whole, 0 of nothing."""
    return float(part) / float(whole) if whole > 0 else 0.0


def success_rate(reports: ArrayLike, victims: ArrayLike, gate: float) -> float:
    """Equation 4 with appendix B: assign over all distances, then keep what is strictly closer than gate."""
    found = sum(match.distance < gate for match in assign(reports, victims, gate))
    return share(found, len(np.asarray(victims).reshape(-1, 3)))


def success_rate_gated_first(reports: ArrayLike, victims: ArrayLike, gate: float) -> float:
    """Secondary figure: gate first, then assign; an added wrong report cannot change it."""
    return share(len(assign_gated(reports, victims, gate)), len(np.asarray(victims).reshape(-1, 3)))


def efficiency(elapsed: float, t_max: float) -> float:
    """Et: the share of the allowed time that is left, never below 0."""
    return max(0.0, 1.0 - elapsed / t_max)


def time_weighted_success(sr: float, elapsed: float, t_max: float) -> float:
    """TSR, equation 5."""
    return max(0.0, sr * (1.0 - elapsed / t_max))


def clue_score(located: int, exact: int, total: int, thresholds: Thresholds) -> float:
    """CDS, equation 6."""
    return thresholds.weight_clue_located * share(located, total) + thresholds.weight_clue_exact * share(exact, total)


def rescue_score(safe: bool, sr: float, cds: float, elapsed: float, t_max: float, thresholds: Thresholds) -> float:
    """RS, equation 7."""
    victims = sr * (thresholds.weight_success + thresholds.weight_efficiency * efficiency(elapsed, t_max))
    return thresholds.weight_safety * float(safe) + victims + thresholds.weight_clues * cds


def path_length(times: ArrayLike, positions: ArrayLike, spacing: float) -> float:
    """Returns the length (m) of a track, sampled at least `spacing` s apart plus its last point.

    times: (N,) s, ascending. Sampling keeps the noise of a 20 Hz position from being counted as flight.
    """
    t = np.asarray(times, dtype=np.float64)
    p = np.asarray(positions, dtype=np.float64).reshape(-1, 3)
    if len(t) < 2:
        return 0.0
    # The first sample of each spacing-long slot; a millionth of a slot absorbs rounding of the stamps.
    slots = np.floor((t - t[0]) / spacing + 1e-6)
    keep = np.concatenate(([True], np.diff(slots) > 0))
    keep[-1] = True
    return float(np.linalg.norm(np.diff(p[keep], axis=0), axis=1).sum())
