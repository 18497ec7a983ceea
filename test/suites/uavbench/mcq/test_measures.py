"""The Balanced Style Score, intervals and tests, against properties, a second calculation and published values."""

from __future__ import annotations

import random
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.suites.uavbench.mcq.item import STYLES
from esar_ros.suites.uavbench.mcq.measures import balanced_style_score, mcnemar, measure, share, wilson
from helpers.questions import make_item, make_items

COUNTS = st.lists(st.integers(0, 200), min_size=len(STYLES), max_size=len(STYLES))
getcontext().prec = 50


def bss(accuracies: list[float]) -> float:
    return float(balanced_style_score(np.array(accuracies)))


def test_a_style_without_a_score_has_no_bss() -> None:
    """It is no score of nought: a draw of missions may hold nothing of a style."""
    assert np.isnan(bss([0.5] * (len(STYLES) - 1) + [float("nan")]))


def twin(counts: list[int]) -> Decimal:
    """BSS in exact fractions and 50 digits, of right answers among 200 a style."""
    shares = [Fraction(count, 200) for count in counts]
    mean = sum(shares, Fraction(0)) / len(shares)
    if mean == 0:
        return Decimal(0)
    variance = sum(((one - mean) ** 2 for one in shares), Fraction(0)) / len(shares)

    def decimal(value: Fraction) -> Decimal:
        return Decimal(value.numerator) / Decimal(value.denominator)

    logs = [max(decimal(one), Decimal("1e-6")).ln() for one in shares]
    geometric = (sum(logs, Decimal(0)) / len(logs)).exp()
    return geometric * max(Decimal(0), 1 - decimal(variance).sqrt() / decimal(mean))


@settings(deadline=None, max_examples=60)
@given(COUNTS)
def test_bss_is_that_of_exact_arithmetic(counts: list[int]) -> None:
    assert bss([count / 200 for count in counts]) == pytest.approx(float(twin(counts)), abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(COUNTS, st.randoms())
def test_bss_does_not_depend_on_the_order_of_styles_and_is_at_most_the_geometric_mean(
    counts: list[int], rng: random.Random
) -> None:
    accuracies = [count / 200 for count in counts]
    geometric = float(np.exp(np.log(np.maximum(accuracies, 1e-6)).mean()))
    found = bss(accuracies)
    assert 0.0 <= found <= geometric + 1e-12
    rng.shuffle(accuracies)
    assert bss(accuracies) == pytest.approx(found, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(st.integers(20, 180), st.integers(1, 20))
def test_bss_falls_when_two_styles_move_apart(common: int, apart: int) -> None:
    even = [common / 200] * 10
    assert bss(even) == pytest.approx(common / 200)
    moved = [(common + apart) / 200, (common - apart) / 200, *even[2:]]
    further = [(common + apart + 1) / 200, (common - apart - 1) / 200, *even[2:]]
    if common - apart - 1 >= 0:
        assert bss(further) < bss(moved) < bss(even)


def test_bss_of_all_and_of_none() -> None:
    assert bss([1.0] * 10) == 1.0
    assert bss([0.0] * 10) == 0.0


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_newcombe_s_values(right: int, n: int, low: float, high: float) -> None:
    """Newcombe 1998, table I, method 3."""
    assert wilson(right / n, n) == pytest.approx((low, high), abs=5e-5)


def test_a_share_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing"):
        share([])


@pytest.mark.parametrize(("only_a", "only_b", "p"), [(0, 6, 0.03125), (1, 9, 22 / 1024), (5, 5, 1.0), (0, 0, 1.0)])
def test_mcnemar_is_the_exact_binomial(only_a: int, only_b: int, p: float) -> None:
    a = {f"a{i}": 1.0 for i in range(only_a)} | {f"b{i}": 0.0 for i in range(only_b)} | {"both": 1.0, "a alone": 1.0}
    b = {f"a{i}": 0.0 for i in range(only_a)} | {f"b{i}": 1.0 for i in range(only_b)} | {"both": 1.0}
    assert mcnemar(a, b) == (only_a, only_b, pytest.approx(p))


@pytest.fixture(scope="module")
def measured() -> dict[str, tuple[object, object]]:
    items = make_items(200)
    rng = np.random.default_rng(0)
    good = {item.id: float(rng.random() < 0.8) for item in items}
    part = {item.id: good[item.id] for item in items[:40]}
    poor = {item.id: float(item.style > 5) for item in items}
    return measure(items, {"good": good, "part": part, "poor": poor, "all": dict.fromkeys(good, 1.0)}, "good")  # type: ignore[return-value]


def test_measures_lie_in_their_intervals(measured: dict) -> None:  # type: ignore[type-arg]
    good, gain = measured["good"]
    for value, low, high in (good.mean, good.bss):
        assert low < value < high
    assert good.accuracy.low < good.accuracy.value < good.accuracy.high
    assert (gain.value, gain.low, gain.high) == (0.0, 0.0, 0.0)
    assert good.mean[0] == pytest.approx(good.accuracy.value)  # as many items in every style


def test_a_row_that_knows_half_of_the_styles_is_right_half_of_the_time_and_balanced_in_nothing(measured: dict) -> None:  # type: ignore[type-arg]
    poor, gain = measured["poor"]
    assert poor.accuracy.value == 0.5
    assert poor.sigma == pytest.approx((0.5, 0.5, 0.5))
    assert poor.bss == pytest.approx((0.0, 0.0, 0.0))
    assert gain.high < 0.0


def test_a_part_is_measured_on_what_was_asked(measured: dict) -> None:  # type: ignore[type-arg]
    part, gain = measured["part"]
    assert part.accuracy.n == 40
    assert gain.value == 0.0
    assert part.accuracy.high - part.accuracy.low > measured["good"][0].accuracy.high - measured["good"][0].accuracy.low


def test_items_of_a_mission_are_drawn_together() -> None:
    rng = np.random.default_rng(1)
    right = [float(rng.random() < 0.5) for _ in range(10)]
    widths = []
    for missions in (10, 100):
        items = [
            make_item(i, style=style, scenario=f"m{i % missions}", id=f"{style}/{i}")
            for style in STYLES
            for i in range(100)
        ]
        scores = {item.id: right[int(item.id.split("/")[1]) % 10] for item in items}
        found = measure(items, {"row": scores}, "row")["row"][0].mean
        assert found is not None
        widths.append(found[2] - found[1])
    assert widths[0] > 2.0 * widths[1]


def test_without_a_style_there_is_no_bss() -> None:
    items = make_items(45)[:9]
    found = measure(items, {"row": {item.id: 1.0 for item in items}}, "row")["row"][0]
    assert found.bss is None and found.mean is None and found.accuracy.value == 1.0
