"""The stopping rule in units of RS."""

from __future__ import annotations

import pytest

from esar_ros.planning.belief.stopping import Score


def test_time_costs_nothing_before_the_first_find() -> None:
    score = Score.of(900.0, 1, 6)
    assert score.cost(0.0) == 0.0 and score.pays(1e-9, 0.0) and not score.pays(0.0, 0.0)


def test_time_costs_what_efficiency_loses() -> None:
    score = Score.of(900.0, 2, 6)
    # RS after the first of two finds loses SR * 0.3 a Tmax.
    assert score.cost(1.0) == pytest.approx(0.5 * 0.3 / 900.0)
    assert score.cost(2.0) == score.cost(5.0) == pytest.approx(0.3 / 900.0)


def test_a_person_is_worth_less_late_and_a_clue_less_among_many() -> None:
    score = Score.of(900.0, 1, 6)
    assert score.person_value(0.0) == pytest.approx(0.6)
    assert score.person_value(900.0) == score.person_value(2000.0) == pytest.approx(0.3)
    assert score.clue_value(0) == pytest.approx(0.05) and score.clue_value(9) == pytest.approx(0.03)


def test_a_sure_clue_near_pays_a_faint_hope_does_not() -> None:
    score = Score.of(900.0, 1, 6)
    assert score.pays(score.clue_value(2) / 20.0, 1.0)
    assert not score.pays(0.02 * score.clue_value(2) / 20.0, 1.0)
