"""The benchmark's metrics, written a second time from the text of the ESARBench paper alone.

It exists to be compared with ``esar_ros.scoring``: it shares no line, no helper and no library call with it, and it is
written for reading, by enumeration instead of by algorithm. What the paper leaves open is a named argument here.

Equations and appendices are quoted at each function; distances are Euclidean in three dimensions, in metres.
"""

from collections.abc import Iterator, Sequence
from itertools import permutations

Point = tuple[float, float, float]

ROUNDING = 1e-9  # m: two sums of the same distances in another order


def distance(a: Point, b: Point) -> float:
    """``||C_pred - C_gt||_2`` of equation 2."""
    return ((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2) ** 0.5


def assignments(predictions: int, targets: int) -> Iterator[list[tuple[int, int]]]:
    """Every complete one-to-one assignment of the smaller side into the larger, as (prediction, target) pairs."""
    if predictions >= targets:
        for chosen in permutations(range(predictions), targets):
            yield [(prediction, target) for target, prediction in enumerate(chosen)]
    else:
        for chosen in permutations(range(targets), predictions):
            yield list(enumerate(chosen))


def victims_found(predicted: Sequence[Point], actual: Sequence[Point], threshold: float) -> int:
    """Appendix B: the assignment with the smallest total distance over all N x M pairs; then strictly within E.

    The paper does not say which of several equally short assignments counts: here the one that finds most.
    """
    best, found = None, 0
    for pairs in assignments(len(predicted), len(actual)):
        total = sum(distance(predicted[p], actual[t]) for p, t in pairs)
        within = sum(distance(predicted[p], actual[t]) < threshold for p, t in pairs)
        if best is None or total < best - ROUNDING or (total < best + ROUNDING and within > found):
            best, found = total, within
    return found


def success_rate(predicted: Sequence[Point], actual: Sequence[Point], threshold: float) -> float:
    """Equation 4: SR = N_found / N_total."""
    return victims_found(predicted, actual, threshold) / len(actual)


def time_weighted(sr: float, time: float, time_limit: float) -> float:
    """Equation 5: TSR = max(0, SR (1 - T / Tmax))."""
    return max(0.0, sr * (1.0 - time / time_limit))


def clues_located_literally(reported: Sequence[Point], actual: Sequence[Point], threshold: float) -> int:
    """Appendix D to the letter: a clue counts if any report lies strictly within E. One report may serve several."""
    return sum(any(distance(report, clue) < threshold for report in reported) for clue in actual)


def most_pairs(allowed: Sequence[Sequence[bool]]) -> int:
    """The largest number of (report, clue) pairs, each report and each clue used once, by trying everything."""
    if not allowed:
        return 0
    first, rest = allowed[0], allowed[1:]
    best = most_pairs(rest)
    for clue, permitted in enumerate(first):
        if permitted:
            without = [[ok and column != clue for column, ok in enumerate(row)] for row in rest]
            best = max(best, 1 + most_pairs(without))
    return best


def clue_discovery(
    reported: Sequence[tuple[str, Point]],
    actual: Sequence[tuple[str, Point]],
    threshold: float,
    means: Sequence[Sequence[bool]],
) -> float:
    """Equation 6: CDS = 0.5 C_loc / C_total + 0.5 C_exact / C_total, each report for one clue and each clue once.

    Args:
        means: ``means[i][j]``: the judge says that the text of report ``i`` names clue ``j`` (appendix D).
    """
    near = [[distance(report[1], clue[1]) < threshold for clue in actual] for report in reported]
    exact = [[ok and same for ok, same in zip(row, says, strict=True)] for row, says in zip(near, means, strict=True)]
    total = len(actual)
    return 0.5 * most_pairs(near) / total + 0.5 * most_pairs(exact) / total


def rescue_score(safe: bool, sr: float, cds: float, time: float, time_limit: float) -> float:
    """Equation 7 with W_safe = 0.1, W_base = W_time = W_clue = 0.3; E_t is not defined: 1 - T / Tmax, not below 0."""
    efficiency = max(0.0, 1.0 - time / time_limit)
    return 0.1 * (1 if safe else 0) + sr * (0.3 + 0.3 * efficiency) + 0.3 * cds
