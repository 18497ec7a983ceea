"""The design: every prefix of an order is balanced, and conditions meet the shares asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.weather import Weather
from esar_ros.scoring.difficulty import DISTANCE_QUARTILES, distance_points, tier
from esar_ros.suites.esarbench.tasks.design import SnapshotDesign, draw_conditions, order_tasks

WEATHERS = (Weather.CLEAR, Weather.LIGHT_RAIN, Weather.FOG)


def scenes() -> list[SnapshotDesign]:
    return [
        SnapshotDesign(f"{place}-{event}", place, event == 0, points, WEATHERS, (1, 2, 3, 4))
        for place in ("one", "two")
        for event in range(3)
        for points in (-2, 0, 1, 2, 3)
    ]


def test_conditions_meet_tiers_and_quartiles() -> None:
    plan = scenes()
    draws = draw_conditions(plan, {"one": 800.0, "two": 800.0}, seed=3)
    tiers = Counter(tier(draw.score(plan)) for draw in draws)
    shares = [tiers[name] / len(draws) for name in ("simple", "medium", "hard", "extreme")]
    assert np.abs(np.array(shares) - (0.25, 0.275, 0.264, 0.212)).max() < 0.02
    quartiles = np.percentile([draw.distance for draw in draws], [25, 50, 75])
    assert np.abs(quartiles / np.array(DISTANCE_QUARTILES) - 1.0).max() < 0.05
    assert all(distance_points(draw.distance) == draw.distance_class for draw in draws)


def test_draws_do_not_hang_on_the_hash_seed() -> None:
    code = (
        "from esar_ros.suites.esarbench.tasks.design import SnapshotDesign, Weather, draw_conditions;"
        "s = [SnapshotDesign('e', 'm', False, p, tuple(Weather)[:6], (1, 2, 3, 4)) for p in (0, 1, 2)];"
        "print([(d.distance_class, d.weather.value, d.light, d.distance) for d in draw_conditions(s, {'m': 800.0}, 1)])"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(answers) == 1


def test_the_same_seed_draws_the_same_and_another_not() -> None:
    plan, far = scenes()[:3], {"one": 800.0}
    assert draw_conditions(plan, far, 1) == draw_conditions(plan, far, 1)
    assert draw_conditions(plan, far, 1) != draw_conditions(plan, far, 2)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy")), min_size=1, max_size=60))
def test_an_order_is_a_permutation_whose_prefixes_keep_shares(values: list[tuple[str, str]]) -> None:
    keys = [{"map": a, "tier": b} for a, b in values]
    order = order_tasks(keys, lambda position: {})
    assert sorted(order) == list(range(len(keys)))
    for name in ("map", "tier"):
        whole = Counter(key[name] for key in keys)
        for length in range(1, len(keys) + 1):
            part = Counter(keys[i][name] for i in order[:length])
            assert all(abs(part[v] - length * whole[v] / len(keys)) <= 3.0 for v in whole)
