"""Scores as probabilities, and looks from places apart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import UsageError
from esar_ros.perception.fusion.evidence import SUREST, Evidence, Reliability
from esar_ros.perception.settings import EvidenceSettings

HOW = EvidenceSettings(prior=0.5)


def direction(angle: float) -> np.ndarray:
    return np.array([math.cos(angle), math.sin(angle), 0.0])


def test_a_curve_makes_scores_probabilities() -> None:
    reliability = Reliability({"default": [(0.2, 0.1), (0.8, 0.7)], "person": [(0.0, 0.0), (1.0, 1.0)]})
    assert reliability.probability("tent", 0.5) == pytest.approx(0.4)
    assert reliability.probability("tent", 0.05) == pytest.approx(0.1)
    assert reliability.probability("person", 0.5) == pytest.approx(0.5)
    assert reliability.probability("person", 1.0) == SUREST, "no held-out set proves certainty"


def test_a_curve_that_falls_is_levelled() -> None:
    reliability = Reliability({"default": [(0.1, 0.2), (0.5, 0.8), (0.9, 0.6)]})
    assert [reliability.probability("tent", score) for score in (0.1, 0.5, 0.9)] == pytest.approx([0.2, 0.7, 0.7])


def test_no_score_is_sure_to_be_wrong() -> None:
    never_right = Reliability({"default": [(0.2, 0.0), (0.8, 0.7)]})
    assert never_right.probability("tent", 0.1) == pytest.approx(1.0 - SUREST), "no look could outweigh certainty"


def test_each_point_of_a_levelled_stretch_counts_alike() -> None:
    reliability = Reliability({"default": [(0.1, 0.6), (0.5, 0.5), (0.9, 0.1)]})
    assert [reliability.probability("tent", score) for score in (0.1, 0.5, 0.9)] == pytest.approx([0.4] * 3)


@pytest.mark.parametrize(
    "curves",
    [
        {"ufo": [(0.0, 0.0)]},
        {"tent": []},
        {"tent": [(0.5, 0.5), (0.5, 0.6)]},
        {"tent": [(0.0, 1.2)]},
        {"tent": [(float("nan"), 0.5)]},
        {"tent": [0.5]},
    ],
)
def test_bad_curves_are_refused(curves: Any) -> None:
    with pytest.raises(UsageError, match="reliability of"):
        Reliability(curves)


def test_pictures_from_one_place_are_one_look() -> None:
    evidence = Evidence()
    for _ in range(50):
        evidence.add("person", 0.7, direction(0.0), 30.0, HOW)
    assert evidence.views == 1
    assert evidence.probability(HOW) == pytest.approx(0.7)


@pytest.mark.parametrize(("angle", "distance"), [(HOW.look_angle * 1.1, 30.0), (0.0, 30.0 / HOW.look_ratio / 1.01)])
def test_another_angle_or_range_is_another_look(angle: Any, distance: Any) -> None:
    evidence = Evidence()
    evidence.add("person", 0.7, direction(0.0), 30.0, HOW)
    evidence.add("person", 0.7, direction(angle), distance, HOW)
    assert evidence.views == 2
    assert evidence.probability(HOW) > 0.75


def test_many_small_steps_are_another_look() -> None:
    evidence = Evidence()
    for step in range(20):
        evidence.add("tent", 0.6, direction(step * HOW.look_angle / 4), 30.0, HOW)
    assert evidence.views == pytest.approx(5, abs=1)


def test_a_weak_detection_seen_from_everywhere_stays_weak() -> None:
    """A red rock is red from all sides: evidence is bounded by twice the best look's."""
    evidence = Evidence()
    for step in range(12):
        evidence.add("person", 0.55, direction(step * 0.5), 30.0, HOW)
    assert evidence.views == 12
    assert evidence.probability(HOW) < 0.6


def test_a_picture_that_misses_it_speaks_against_it_and_is_no_view() -> None:
    evidence = Evidence()
    evidence.add("rope", 0.9, direction(0.0), 30.0, HOW)
    sure = evidence.probability(HOW)
    for step in range(1, 6):
        evidence.miss(direction(0.0), 30.0 - step, HOW)
        assert evidence.probability(HOW) < sure
        sure = evidence.probability(HOW)
    evidence.miss(direction(1.0), 25.0, HOW)
    assert evidence.probability(HOW) < sure < 0.5, "seen once in seven pictures"
    assert evidence.views == 1


def test_a_place_that_only_missed_it_is_no_view_also_after_merging() -> None:
    first, second = Evidence(), Evidence()
    first.add("rope", 0.9, direction(0.0), 30.0, HOW)
    for _ in range(2):
        first.miss(direction(1.0), 30.0, HOW)
    second.add("rope", 0.9, direction(2.0), 30.0, HOW)
    second.miss(direction(1.0), 30.0, HOW)
    first.absorb(second, HOW)
    assert first.views == 2


def test_misses_can_be_left_out_of_account() -> None:
    deaf = HOW.model_copy(update={"missed": 0.5})
    evidence = Evidence()
    evidence.add("rope", 0.9, direction(0.0), 30.0, deaf)
    evidence.miss(direction(1.0), 20.0, deaf)
    assert evidence.probability(deaf) == pytest.approx(0.9)


def test_what_is_rarer_in_flight_than_where_scores_were_measured_is_less_sure() -> None:
    """Odds of 9 where every second detection was right are odds of 1 where every tenth object told of is."""
    seen = Evidence()
    seen.add("tent", 0.9, np.array([0.0, 0.0, -1.0]), 30.0, HOW)
    assert seen.probability(HOW.model_copy(update={"prior": 0.5})) == pytest.approx(0.9)
    assert seen.probability(HOW.model_copy(update={"prior": 0.1})) == pytest.approx(0.5)


def test_the_order_of_looks_does_not_matter() -> None:
    looks = [(0.9, 0.0), (0.6, 1.0), (0.2, 2.0)]
    first, second = Evidence(), Evidence()
    for evidence, order in ((first, looks), (second, looks[::-1])):
        for probability, angle in order:
            evidence.add("rope", probability, direction(angle), 30.0, HOW)
    assert first.probability(HOW) == pytest.approx(second.probability(HOW))


def test_a_probability_at_the_base_rate_is_no_evidence() -> None:
    """A score as often right as the average one says nothing about an object; one that is more often right does."""
    how = EvidenceSettings(prior=0.3, base_rate=0.8)
    for probability, factor in ((0.8, 1.0), (0.9, 9.0 / 4.0)):
        evidence = Evidence()
        evidence.add("tent", probability, direction(0.0), 30.0, how)
        odds = 0.3 / 0.7 * factor
        assert evidence.probability(how) == pytest.approx(odds / (1.0 + odds))


def test_the_kind_with_more_votes_wins_and_shares_the_probability() -> None:
    evidence = Evidence()
    evidence.add("tent", 0.8, direction(0.0), 30.0, HOW)
    evidence.add("backpack", 0.4, direction(0.0), 30.0, HOW)
    assert evidence.kind == "tent"
    assert evidence.probability(HOW) < 0.8 * 2.0 / 3.0


def test_of_kinds_with_as_many_votes_it_is_the_first_of_all_kinds() -> None:
    evidence = Evidence()
    for kind in reversed(KINDS):
        evidence.add(kind, 0.5, direction(0.0), 30.0, HOW)
    assert evidence.kind == KINDS[0]


@settings(deadline=None, max_examples=80)
@given(
    looks=st.lists(
        st.tuples(st.floats(0.02, 0.98), st.floats(0.0, 6.2), st.floats(1.0, 120.0)), min_size=1, max_size=12
    ),
    cut=st.integers(0, 12),
)
def test_probability_is_one_and_merging_loses_no_vote(looks: Any, cut: Any) -> None:
    whole, first, second = Evidence(), Evidence(), Evidence()
    for number, (probability, angle, distance) in enumerate(looks):
        for evidence in (whole, first if number < cut else second):
            evidence.add("rope", probability, direction(angle), distance, HOW)
    if second.votes:
        first.absorb(second, HOW)
    assert 0.0 < whole.probability(HOW) < 1.0
    assert first.votes["rope"] == pytest.approx(whole.votes["rope"])
    assert 1 <= first.views <= len(looks)
