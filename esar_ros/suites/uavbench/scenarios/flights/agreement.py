"""Agreement of predicted risk with flown outcome: our rules against our simulator, with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

SCHEMA = "esar-scenario-agreement/1"
_DRAWS = 1000
_HARMED = 2  # outcome level from which a flight counts as one that went wrong


def agreement_of(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Returns the agreement of flight results; shares are null where no flight allows them."""
    flown = [result for result in results if result["status"] == "flown"]
    predicted = np.array([result["predicted"]["risk_level"] for result in flown], dtype=np.float64)
    score = np.array([result["predicted"]["risk_score"] for result in flown], dtype=np.float64)
    outcome = np.array([result["outcome_level"] for result in flown], dtype=np.float64)
    matrix = np.zeros((3, 4), dtype=np.int64)
    for level, ended in zip(predicted.astype(int), outcome.astype(int), strict=True):
        matrix[level - 1, ended] += 1
    factors: Counter[str] = Counter()
    harmed: Counter[str] = Counter()
    for result in flown:
        factors.update(result["predicted"]["factors"])
        harmed.update(result["predicted"]["factors"] if result["outcome_level"] >= _HARMED else ())
    return {
        "schema": SCHEMA,
        "flights": dict(sorted(Counter(result["status"] for result in results).items())),
        "matrix": matrix.tolist(),  # rows: predicted level 1 to 3, columns: outcome level 0 to 3
        "spearman": _with_interval(_spearman, predicted, outcome),
        "auc_of_risk_score": _with_interval(_auc, score, outcome),
        "factors_without_harm": sorted(name for name in factors if not harmed[name]),
        "collisions": sum(result["metrics"]["collisions"] for result in flown),
        "geofence_breaches": sum(result["metrics"]["geofence_breach"] for result in flown),
        "altitude_violations": sum(result["metrics"]["altitude_violation"] for result in flown),
    }


def _spearman(one: NDArray[np.float64], other: NDArray[np.float64]) -> float | None:
    """Returns the rank correlation; None where one of both does not vary."""
    a, b = rankdata(one), rankdata(other)
    if a.size < 2 or np.ptp(a) == 0.0 or np.ptp(b) == 0.0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def _auc(score: NDArray[np.float64], outcome: NDArray[np.float64]) -> float | None:
    """Returns how often a flight that went wrong has the higher score; None where all or none went wrong."""
    wrong = outcome >= _HARMED
    n, m = int(wrong.sum()), int((~wrong).sum())
    if not n or not m:
        return None
    ranks = rankdata(score)
    return float((ranks[wrong].sum() - n * (n + 1) / 2.0) / (n * m))


def _with_interval(measure: Any, one: NDArray[np.float64], other: NDArray[np.float64]) -> dict[str, Any] | None:
    """Returns a measure and its 95 % interval by the bootstrap over flights; draws without a value are left out."""
    value = measure(one, other)
    if value is None:
        return None
    random, found = np.random.default_rng(0), []
    for _ in range(_DRAWS):
        drawn = random.integers(one.size, size=one.size)
        if (again := measure(one[drawn], other[drawn])) is not None:
            found.append(again)
    low, high = np.percentile(found, (2.5, 97.5))
    return {"value": round(value, 4), "low": round(float(low), 4), "high": round(float(high), 4)}
