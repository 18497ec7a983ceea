"""Metrics against hand-worked cases, an exhaustive reference and properties that must always hold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.thresholds import load_thresholds
from esar_ros.scoring import metrics

E = 10.0
THRESHOLDS = load_thresholds()


def line(*xs: float) -> np.ndarray:
    return np.array([[x, 0.0, 0.0] for x in xs]).reshape(-1, 3)


# --- Appendix B: assignment over all distances, gate afterwards -----------------------------------------------------


def test_the_gate_is_strict() -> None:
    assert metrics.success_rate(line(10.0), line(0.0), E) == 0.0
    assert metrics.success_rate(line(np.nextafter(10.0, 0.0)), line(0.0), E) == 1.0


def test_several_reports_at_one_victim_find_it_once() -> None:
    assert metrics.success_rate(line(1.0, 2.0, 3.0), line(0.0, 50.0), E) == 0.5


def test_an_added_wrong_report_can_lower_the_success_rate() -> None:
    victims = line(0.0, 100.0)
    assert metrics.success_rate(line(5.0), victims, E) == 0.5
    # 5 -> 0 and -20 -> 100 costs 125 m; 5 -> 100 and -20 -> 0 costs 115 m, so the good match is lost.
    assert metrics.success_rate(line(5.0, -20.0), victims, E) == 0.0
    assert metrics.success_rate_gated_first(line(5.0, -20.0), victims, E) == 0.5


def test_an_added_wrong_report_can_raise_the_success_rate() -> None:
    victims = line(0.0, 100.0)
    before, after = line(5.0, -20.0), line(5.0, -20.0, 120.0)
    assert np.abs(after[2] - victims).max(axis=1).min() > E  # the added report is near nobody
    assert metrics.success_rate(before, victims, E) == 0.0
    assert metrics.success_rate(after, victims, E) == 0.5


def test_nothing_reported_or_nothing_there_is_zero_and_never_nan() -> None:
    assert metrics.success_rate([], line(0.0), E) == 0.0
    assert metrics.success_rate(line(0.0), [], E) == 0.0
    assert metrics.share(0, 0) == 0.0


# --- Equations 5 to 7 -----------------------------------------------------------------------------------------------


def test_rescue_score_by_hand() -> None:
    # SR 0.5 after 75 of 300 s, 3 of 4 clues located and 1 exact, safe.
    cds = metrics.clue_score(3, 1, 4, THRESHOLDS)
    assert cds == pytest.approx(0.5)
    assert metrics.time_weighted_success(0.5, 75.0, 300.0) == pytest.approx(0.375)
    assert metrics.rescue_score(True, 0.5, cds, 75.0, 300.0, THRESHOLDS) == pytest.approx(
        0.1 + 0.5 * (0.3 + 0.3 * 0.75) + 0.3 * 0.5
    )


def test_time_beyond_the_limit_earns_nothing_and_costs_nothing() -> None:
    assert metrics.efficiency(400.0, 300.0) == 0.0
    assert metrics.time_weighted_success(1.0, 400.0, 300.0) == 0.0


# --- Clues: gated first ---------------------------------------------------------------------------------------------


def test_one_report_scores_one_clue_of_a_camp() -> None:
    camp = line(0.0, 2.0, 4.0)
    assert len(metrics.assign_gated(line(2.0), camp, E)) == 1


def test_gating_first_takes_as_many_pairs_as_possible() -> None:
    # The nearest pair (1 -> 0) would leave 9 without a partner in reach of 18; the long way round keeps both.
    pairs = metrics.assign_gated(line(1.0, -9.0), line(0.0, 10.5), E)
    assert {(m.report, m.truth) for m in pairs} == {(0, 1), (1, 0)}


def test_penalties_come_before_distance_but_after_the_number_of_pairs() -> None:
    reports, truths = line(0.0), line(1.0, 5.0)
    assert metrics.assign_gated(reports, truths, E)[0].truth == 0
    assert metrics.assign_gated(reports, truths, E, penalty=np.array([[1, 0]]))[0].truth == 1
    pairs = metrics.assign_gated(line(1.0, -9.0), line(0.0, 10.5), E, penalty=np.array([[0, 9], [9, 9]]))
    assert len(pairs) == 2


# --- Path length ----------------------------------------------------------------------------------------------------


def test_path_length_of_a_straight_flight_counts_its_last_point() -> None:
    t = np.arange(0.0, 10.31, 0.05)
    assert metrics.path_length(t, np.outer(t, [3.0, 0.0, 4.0]), 1.0) == pytest.approx(5.0 * t[-1])


def test_path_length_does_not_count_noise_at_the_control_rate() -> None:
    t = np.arange(0.0, 100.0, 0.05)
    noise = np.random.default_rng(0).normal(0.0, 0.05, (len(t), 3))
    assert metrics.path_length(t, noise, 1.0) < 15.0
    assert np.linalg.norm(np.diff(noise, axis=0), axis=1).sum() > 200.0


def test_path_length_of_too_little_is_zero() -> None:
    assert metrics.path_length([], np.zeros((0, 3)), 1.0) == 0.0
    assert metrics.path_length([1.0], np.zeros((1, 3)), 1.0) == 0.0


# --- An independent, exhaustive reference ---------------------------------------------------------------------------


def every_assignment(n: int, m: int) -> list[list[tuple[int, int]]]:
    """All ways to pair min(n, m) reports and truths."""
    if n >= m:
        return [[(r, t) for t, r in enumerate(chosen)] for chosen in itertools.permutations(range(n), m)]
    return [list(enumerate(chosen)) for chosen in itertools.permutations(range(m), n)]


def slow_success_rate(reports: np.ndarray, victims: np.ndarray, gate: float) -> float:
    def total(pairs: list[tuple[int, int]]) -> float:
        return sum(float(np.sqrt(((reports[r] - victims[v]) ** 2).sum())) for r, v in pairs)

    best = min(every_assignment(len(reports), len(victims)), key=total)
    return sum(float(np.sqrt(((reports[r] - victims[v]) ** 2).sum())) < gate for r, v in best) / len(victims)


def slow_gated_count(reports: np.ndarray, truths: np.ndarray, gate: float, allowed: np.ndarray) -> int:
    """Largest number of pairs in the gate, by trying every assignment."""
    return max(
        sum(bool(allowed[r, t]) and float(np.sqrt(((reports[r] - truths[t]) ** 2).sum())) < gate for r, t in pairs)
        for pairs in every_assignment(len(reports), len(truths))
    )


def test_random_cases_agree_with_trying_every_assignment() -> None:
    rng = np.random.default_rng(7)
    for _ in range(400):
        n, m = rng.integers(0, 6), rng.integers(1, 5)
        reports, truths = rng.uniform(0.0, 40.0, (n, 3)), rng.uniform(0.0, 40.0, (m, 3))
        allowed = rng.random((n, m)) < 0.5
        gate = float(rng.choice([5.0, 10.0, 20.0]))
        everything = np.ones((n, m), dtype=bool)
        assert metrics.success_rate(reports, truths, gate) == slow_success_rate(reports, truths, gate)
        assert len(metrics.assign_gated(reports, truths, gate)) == slow_gated_count(reports, truths, gate, everything)
        assert len(metrics.assign_gated(reports, truths, gate, allowed)) == slow_gated_count(
            reports, truths, gate, allowed
        )


# --- Properties -----------------------------------------------------------------------------------------------------

coordinate = st.floats(-100.0, 100.0, allow_nan=False)
points = st.lists(st.tuples(coordinate, coordinate, coordinate), max_size=7)
some_points = st.lists(st.tuples(coordinate, coordinate, coordinate), min_size=1, max_size=5)


@settings(deadline=None, max_examples=150)
@given(points, some_points, st.floats(0.0, 1000.0), st.integers(0, 5), st.booleans())
def test_every_score_stays_within_its_bounds(
    reports: list[tuple[float, float, float]],
    truths: list[tuple[float, float, float]],
    elapsed: float,
    clues: int,
    safe: bool,
) -> None:
    sr = metrics.success_rate(reports, truths, E)
    cds = metrics.clue_score(clues, min(clues, 2), 5, THRESHOLDS)
    tsr = metrics.time_weighted_success(sr, elapsed, 300.0)
    rs = metrics.rescue_score(safe, sr, cds, elapsed, 300.0, THRESHOLDS)
    assert 0.0 <= tsr <= sr <= metrics.success_rate_gated_first(reports, truths, E) <= 1.0
    assert 0.0 <= cds <= 1.0
    assert 0.0 <= rs <= 1.0 + 1e-12


@settings(deadline=None, max_examples=150)
@given(st.data(), points, some_points)
def test_the_order_of_reports_and_truths_does_not_matter(
    data: st.DataObject, reports: list[tuple[float, float, float]], truths: list[tuple[float, float, float]]
) -> None:
    other_reports = data.draw(st.permutations(reports))
    other_truths = data.draw(st.permutations(truths))
    assert metrics.success_rate(reports, truths, E) == metrics.success_rate(other_reports, other_truths, E)
    assert metrics.success_rate_gated_first(reports, truths, E) == metrics.success_rate_gated_first(
        other_reports, other_truths, E
    )


@settings(deadline=None, max_examples=150)
@given(points, some_points, st.tuples(coordinate, coordinate, coordinate))
def test_an_added_report_never_lowers_a_gated_count(
    reports: list[tuple[float, float, float]],
    truths: list[tuple[float, float, float]],
    added: tuple[float, float, float],
) -> None:
    before = metrics.assign_gated(reports, truths, E)
    after = metrics.assign_gated([*reports, added], truths, E)
    assert len(after) >= len(before)
    assert len({m.report for m in after}) == len({m.truth for m in after}) == len(after)
    assert all(m.distance < E for m in after)
