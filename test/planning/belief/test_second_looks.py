"""Second looks: Bayes' rule with what is believed of a place, and what earlier second looks have shown."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.mission.observation import SeenClue
from esar_ros.planning.belief.detection_probability import TABLE_RANGE
from esar_ros.planning.belief.second_looks import ConfirmSettings, SecondLooks

AREA = ConfirmSettings().area


def seen(identity: int, score: float, kind: str = "person", place: tuple[float, float] = (50.0, 0.0)) -> SeenClue:
    at = np.array([*place, 0.0])
    return SeenClue(identity, kind, f"a {kind}", score, at, np.eye(3), 1, 40.0, 0.0, 1.0)


def odds(p: float) -> float:
    return p / (1.0 - p)


def test_where_as_many_are_believed_as_where_it_was_measured_the_stated_probability_holds() -> None:
    looks = SecondLooks(ConfirmSettings())
    assert looks.probability(seen(1, 0.3), 1.0 / AREA) == pytest.approx(0.3)
    assert looks.probability(seen(1, 0.3), None) == pytest.approx(0.3)


@given(st.floats(0.01, 0.99), st.floats(0.0, 1e-3), st.floats(0.0, 1e-3))
def test_the_odds_grow_with_what_is_believed_of_the_place_within_limits(score: Any, one: Any, other: Any) -> None:
    looks = SecondLooks(ConfirmSettings(swing=(0.1, 3.0)))
    low, high = (odds(looks.probability(seen(1, score), density)) for density in sorted((one, other)))
    assert low <= high * (1.0 + 1e-9)
    assert 0.1 * odds(score) <= low * (1.0 + 1e-9) and high <= 3.0 * odds(score) * (1.0 + 1e-9)


def test_a_score_of_one_stays_one() -> None:
    assert SecondLooks(ConfirmSettings()).probability(seen(1, 1.0), 0.0) == pytest.approx(1.0, abs=1e-4)


def test_looks_that_bear_nothing_out_lower_the_odds_of_the_next_things_of_its_sort() -> None:
    looks = SecondLooks(ConfirmSettings())
    for number in range(1, 11):
        looks.begin(seen(number, 0.2), 0.2)
        looks.begin(seen(number, 0.2), 0.9)  # the other side: no second stake
    looks.take_in([seen(number, 0.05) for number in range(1, 11)])
    assert odds(looks.probability(seen(11, 0.3), None)) == pytest.approx(odds(0.3) / 3.0)
    assert looks.probability(seen(11, 0.3, kind="tent"), None) == pytest.approx(0.3)
    assert odds(looks.probability(seen(10, 0.3), None)) == pytest.approx(odds(0.3) / 2.8), "its own look is no news"


def test_looks_that_came_true_as_often_as_stated_change_nothing() -> None:
    looks = SecondLooks(ConfirmSettings())
    for number in range(1, 5):
        looks.begin(seen(number, 0.5), 0.5)
    looks.take_in([seen(1, 0.8), seen(2, 0.9)])
    assert looks.probability(seen(5, 0.4), None) == pytest.approx(0.4)
    looks.take_in([seen(1, 0.1), seen(2, 0.1)])
    assert looks.probability(seen(5, 0.4), None) == pytest.approx(0.4), "what was borne out stays so"


def test_one_side_then_the_other_then_no_more() -> None:
    looks, thing, here = SecondLooks(ConfirmSettings(standoff=14.0, looks=2)), seen(1, 0.3), np.zeros(3)
    assert looks.is_open(thing)
    assert looks.viewpoint(thing, here) == pytest.approx([36.0, 0.0])
    looks.done(1)
    assert looks.is_open(thing)
    assert looks.viewpoint(thing, here) == pytest.approx([64.0, 0.0])
    looks.done(1)
    assert not looks.is_open(thing)
    assert looks.is_open(seen(2, 0.3))
    assert looks.finished == {1}


def test_from_how_far_it_is_looked_at() -> None:
    assert SecondLooks(ConfirmSettings(standoff=12.0, height=16.0)).slant == 20
    assert SecondLooks(ConfirmSettings(standoff=500.0)).slant == TABLE_RANGE


def test_right_above_it_a_side_is_chosen() -> None:
    at = SecondLooks(ConfirmSettings(standoff=14.0)).viewpoint(seen(1, 0.3), np.array([50.0, 0.0, 20.0]))
    assert math.dist(at, (50.0, 0.0)) == pytest.approx(14.0)


def test_what_a_look_costs() -> None:
    looks = SecondLooks(ConfirmSettings(standoff=14.0))
    assert looks.seconds(seen(1, 0.3), np.zeros(3), 4.0, 3.0) == pytest.approx(36.0 / 4.0 + 6.0)
    assert looks.seconds(seen(1, 0.3), np.array([49.0, 0.0, 0.0]), 4.0, 3.0) == pytest.approx(6.0)


def test_small_images_are_taken_from_nearer_but_never_from_too_near() -> None:
    looks = SecondLooks(ConfirmSettings(standoff=12.0, height=16.0, sharp=0.7, nearest=10.0))
    far, here = np.full(TABLE_RANGE + 1, 0.9), np.array([50.0, 0.0, 20.0])
    near = np.where(np.arange(TABLE_RANGE + 1) <= 15, 0.8, 0.3)
    blind = np.zeros(TABLE_RANGE + 1)
    ranges = []
    for pod in (far, near, blind):
        looks.see_with(pod)
        beside = float(np.linalg.norm(looks.viewpoint(seen(1, 0.3), here) - seen(1, 0.3).position[:2]))
        assert beside / looks.height == pytest.approx(12.0 / 16.0)
        ranges.append((looks.slant, round(math.hypot(beside, looks.height))))
    assert ranges == [(20, 20), (15, 15), (10, 10)]
