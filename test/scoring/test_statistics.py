"""Intervals and comparisons: by hand, against simulated truth, and properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.scoring import statistics
from esar_ros.scoring.statistics import Unit, compare, estimate, estimates, holm, least_p, over_seeds, sign_flip


def units(events: int, snapshots: int = 2, tasks: int = 3) -> list[Unit]:
    return [
        Unit(f"e{e}", f"e{e}s{s}", f"e{e}s{s}t{t}")
        for e in range(events)
        for s in range(snapshots)
        for t in range(tasks)
    ]


def test_constant_values_have_no_width() -> None:
    found = estimate(dict.fromkeys(units(3), 0.4), draws=200)
    assert found is not None
    assert (found.mean, found.low, found.high) == pytest.approx((0.4, 0.4, 0.4))
    assert (found.tasks, found.events) == (18, 3)


def test_nothing_has_no_estimate() -> None:
    assert estimate({}) is None
    assert estimates({}) == {} and estimates({"sr": {}}) == {}
    assert compare({"a": {}, "b": {}}) == ()


def test_what_is_not_finite_is_refused() -> None:
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="not finite"):
            estimate({unit: bad for unit in units(1)})
    with pytest.raises(ValueError, match="same tasks"):
        estimates({"a": dict.fromkeys(units(2), 0.0), "b": dict.fromkeys(units(1), 0.0)})


def test_same_seed_same_interval_and_any_order() -> None:
    values = {unit: float(i % 5) for i, unit in enumerate(units(4))}
    backwards = dict(reversed(values.items()))
    assert estimate(values, draws=300) == estimate(backwards, draws=300)
    assert estimate(values, draws=300) != estimate(values, draws=300, seed=1)
    several = estimates({"x": values, "y": values}, draws=300)
    assert several["x"] == several["y"] == estimate(values, draws=300)


def test_a_draw_takes_events_then_snapshots_then_tasks() -> None:
    """By plain loops: the same distribution as drawing level by level."""
    rng = np.random.default_rng(3)
    shape = [units(1, 1, 5), [Unit("e1", "s", "a")], [Unit("e2", f"s{i}", f"t{i}") for i in range(4)]]
    values = {unit: float(rng.normal(i, 1.0)) for i, part in enumerate(shape) for unit in part}
    tree: dict[str, dict[str, list[float]]] = {}
    for unit, value in values.items():
        tree.setdefault(unit.event, {}).setdefault(unit.snapshot, []).append(value)
    means = []
    for _ in range(20_000):
        drawn: list[float] = []
        for e in rng.integers(0, len(tree), len(tree)):
            snapshots = list(list(tree.values())[e].values())
            for s in rng.integers(0, len(snapshots), len(snapshots)):
                drawn += list(np.array(snapshots[s])[rng.integers(0, len(snapshots[s]), len(snapshots[s]))])
        means.append(np.mean(drawn))
    low, high = np.quantile(means, [0.025, 0.975])
    found = estimate(values, draws=20_000)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.05)


def test_the_interval_covers_the_truth_where_events_differ() -> None:
    """Event effects dominate: treating tasks as independent covers far less than the hierarchy does."""
    rng = np.random.default_rng(5)
    places = units(12, 3, 5)
    covered = naive = 0
    for trial in range(120):
        effect = {f"e{e}": rng.normal() for e in range(12)}
        values = {unit: effect[unit.event] + float(rng.normal(0.0, 0.5)) for unit in places}
        found = estimate(values, draws=300, seed=trial)
        assert found is not None
        covered += found.low <= 0.0 <= found.high
        data = np.array(list(values.values()))
        naive += abs(data.mean()) <= 1.96 * data.std() / math.sqrt(len(data))
    assert covered >= 0.85 * 120
    assert naive <= 0.6 * 120


def test_comparisons_are_paired_and_corrected() -> None:
    rng = np.random.default_rng(1)
    places = units(10)
    hard = {unit: float(rng.normal()) for unit in places}  # tasks differ far more than methods do
    better = {unit: value + 0.1 + float(rng.normal(0, 0.02)) for unit, value in hard.items()}
    same = dict(hard)
    found = {(c.a, c.b): c for c in compare({"base": hard, "better": better, "same": same}, draws=500)}
    assert found["base", "better"].difference.high < 0.0
    assert found["base", "better"].p == pytest.approx(2 / 2**10)
    assert found["base", "better"].p_holm == pytest.approx(3 * 2 / 2**10)
    assert found["base", "same"].p == found["base", "same"].p_holm == 1.0
    one = compare({"base": hard, "better": better, "same": same}, against="base", draws=500)
    assert [(c.a, c.b) for c in one] == [("better", "base"), ("same", "base")]
    assert one[0].p_holm == pytest.approx(2 * one[0].p)


def test_only_tasks_that_both_flew_are_compared() -> None:
    a = dict.fromkeys(units(3), 1.0)
    b = {unit: 0.5 for unit in units(2)}
    (found,) = compare({"a": a, "b": b}, draws=100)
    assert found.difference.tasks == 12 and found.difference.mean == 0.5
    assert compare({"a": a, "b": {Unit("x", "y", "z"): 1.0}}) == ()


def test_few_events_prove_little() -> None:
    assert sign_flip([5.0]) == 1.0
    assert sign_flip([1.0, 1.0, 1.0, 1.0]) == 2 / 16
    assert sign_flip([1.0, -1.0]) == 1.0
    assert sign_flip([0.0, 0.0, 0.0]) == 1.0
    assert sign_flip([]) == 1.0
    # 3, 1, 1: sums of at least 5 have all signs alike; 3 + 1 - 1 = 3 is less.
    assert sign_flip([3.0, 1.0, 1.0]) == 2 / 8
    # By drawing, where patterns are too many: as a sum of twenty equal terms, 2 / 2^20 but for the draw itself.
    assert sign_flip([1.0] * 20, draws=1000) == pytest.approx(1 / 1001) == least_p(20, draws=1000)
    assert [least_p(events) for events in (4, 16, 17)] == [2 / 16, 2 / 2**16, 1 / 10_001]


def test_sign_flip_keeps_its_level() -> None:
    rng = np.random.default_rng(2)
    assert np.mean([sign_flip(list(rng.normal(size=10))) <= 0.05 for _ in range(400)]) <= 0.08


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(0.0, 1.0), max_size=12))
def test_holm_never_lowers_and_keeps_the_order(p_values: list[float]) -> None:
    corrected = holm(p_values)
    assert all(p <= c <= 1.0 for p, c in zip(p_values, corrected, strict=True))
    assert all(
        corrected[i] <= corrected[j]
        for i in range(len(p_values))
        for j in range(len(p_values))
        if p_values[i] < p_values[j]
    )


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.floats(0.0, 1.0)), min_size=1, max_size=30))
def test_intervals_lie_within_the_values_and_are_never_nan(rows: list[tuple[int, int, float]]) -> None:
    values = {Unit(f"e{e}", f"e{e}s{s}", f"t{i}"): value for i, (e, s, value) in enumerate(rows)}
    found = estimate(values, draws=50)
    assert found is not None
    assert min(values.values()) - 1e-9 <= found.low <= found.high <= max(values.values()) + 1e-9


def test_seeds_of_a_task_are_averaged_first() -> None:
    task, other = units(1, 1, 2)
    assert over_seeds({(task, 1): 0.0, (task, 2): 1.0, (other, 1): 0.2}) == {task: 0.5, other: 0.2}
    assert statistics.DRAWS == 10_000
