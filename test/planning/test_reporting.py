"""The report policy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esar_ros.mission.decision import ReportType
from esar_ros.planning.reporting import ReportingSettings, ReportPolicy
from esar_ros.scoring.metrics import success_rate


@pytest.fixture
def policy() -> Any:
    made = ReportPolicy(ReportingSettings())
    made.reset(100)
    return made


def test_a_clue_becomes_one_report(policy: Any, observe: Any, clue: Any) -> None:
    seen = observe(clues=(clue(text="red tent", kind="tent"),))
    (report,) = policy.reports(seen)
    assert (report.type, report.kind, report.text, report.confidence) == (ReportType.CLUE, "tent", "red tent", 0.9)
    np.testing.assert_array_equal(report.position, [50.0, 0.0, 0.0])
    assert policy.reports(seen) == ()


def test_a_person_is_a_victim(policy: Any, observe: Any, clue: Any) -> None:
    (report,) = policy.reports(observe(clues=(clue(kind="person", text=""),)))
    assert (report.type, report.kind, report.text) == (ReportType.VICTIM, "person", "person")


def test_a_kind_in_words_stands_in_for_a_missing_text(policy: Any, observe: Any, clue: Any) -> None:
    (report,) = policy.reports(observe(clues=(clue(kind="sleeping_bag", text=""),)))
    assert report.text == "sleeping bag"


@pytest.mark.parametrize(
    ("kind", "lack"),
    [
        ("tent", {"probability": 0.49}),
        ("tent", {"covariance": np.diag([0.1, 9.1, 0.1])}),
        ("tent", {"position": (np.nan, 0.0, 0.0)}),
        ("person", {"views": 1}),
        ("person", {"probability": 0.59}),
        ("person", {"covariance": np.diag([0.1, 0.1, 9.1])}),
    ],
)
def test_each_requirement_holds_a_report_back_until_it_is_met(
    policy: Any, observe: Any, clue: Any, kind: Any, lack: Any
) -> None:
    assert policy.reports(observe(clues=(clue(kind=kind, **lack),))) == ()
    assert len(policy.reports(observe(clues=(clue(kind=kind),)))) == 1


def test_covariance_counts_along_its_longest_axis(policy: Any, observe: Any, clue: Any) -> None:
    """Diagonal entries below 9 m^2, but a standard deviation of 3.9 m along the diagonal."""
    tilted = np.full((3, 3), 5.0) + np.eye(3) * 0.1
    assert policy.reports(observe(clues=(clue(covariance=tilted),))) == ()


def test_an_object_merged_into_another_is_not_reported_again(policy: Any, observe: Any, clue: Any) -> None:
    assert len(policy.reports(observe(clues=(clue(1, probability=0.4), clue(2, position=(53, 0, 0)))))) == 1
    assert policy.reports(observe(clues=(clue(1, position=(51, 0, 0)),))) == ()
    assert policy.reports(observe(clues=(clue(1, position=(80, 0, 0)),))) == ()


def test_two_objects_side_by_side_are_two_reports(policy: Any, observe: Any, clue: Any) -> None:
    assert len(policy.reports(observe(clues=(clue(1), clue(2, position=(51, 0, 0)))))) == 2


def test_victims_first_and_the_cap_keeps_room_for_them(observe: Any, clue: Any) -> None:
    policy = ReportPolicy(ReportingSettings(kept_for_victims=2))
    policy.reset(4)
    clues = [clue(i, position=(20.0 * i, 0, 0), probability=0.5 + 0.01 * i) for i in range(1, 6)]
    reports = policy.reports(observe(clues=(*clues, clue(9, kind="person"))))
    assert [r.kind for r in reports] == ["person", "tent"]
    assert reports[1].confidence == pytest.approx(0.55), "the surest clue"
    later = observe(clues=(*clues, *(clue(i, kind="person", position=(0, 30.0 * i, 0)) for i in range(10, 15))))
    assert [r.kind for r in policy.reports(later)] == ["person", "person"]
    assert policy.reports(later) == ()


def test_after_the_last_look_a_victim_more_likely_there_than_not_is_told(policy: Any, observe: Any, clue: Any) -> None:
    person = clue(1, kind="person", probability=0.55)
    assert policy.reports(observe(clues=(person,))) == ()
    assert policy.reports(observe(clues=(clue(1, kind="person", probability=0.45),)), looked_at={1}) == ()
    assert policy.reports(observe(clues=(person,)), looked_at={2}) == ()
    assert len(policy.reports(observe(clues=(person,)), looked_at={1})) == 1
    assert policy.reports(observe(clues=(clue(3, probability=0.45),)), looked_at={3}) == (), (
        "a clue needs what it needs"
    )


def test_reset_forgets(policy: Any, observe: Any, clue: Any) -> None:
    seen = observe(clues=(clue(),))
    policy.reports(seen)
    policy.reset(100)
    assert len(policy.reports(seen)) == 1


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    frames=st.lists(st.lists(st.tuples(st.integers(1, 6), st.booleans(), st.integers(1, 5)), max_size=6), max_size=8),
    cap=st.integers(0, 12),
)
def test_never_more_than_the_cap_and_each_object_once(observe: Any, clue: Any, frames: Any, cap: Any) -> None:
    policy = ReportPolicy(ReportingSettings(kept_for_victims=3))
    policy.reset(cap)
    places = []
    for frame in frames:
        clues = {
            i: clue(i, kind="person" if person else "rope", position=(100.0 * i, 0, 0), views=views)
            for i, person, views in frame
        }
        places += [tuple(r.position) for r in policy.reports(observe(clues=tuple(clues[i] for i in sorted(clues))))]
    assert len(places) <= cap
    assert len(places) == len(set(places))


_PLACES = st.lists(st.tuples(*[st.integers(-300, 300)] * 3), min_size=1, max_size=4, unique=True)


@settings(deadline=None, max_examples=80)
@given(victims=_PLACES, reported=st.integers(1, 4), wrong=_PLACES)
def test_a_wrong_report_takes_no_find_from_exact_ones(victims: Any, reported: Any, wrong: Any) -> None:
    """Appendix B assigns before it gates; by the triangle inequality no exact match is given up for a shorter sum."""
    right = victims[:reported]
    assert success_rate(right + wrong, victims, 10.0) >= success_rate(right, victims, 10.0)


def test_a_wrong_report_can_take_an_inexact_find_away() -> None:
    """A position must be sure: 9 m off, one further report makes another assignment the shorter one."""
    victims = [(0.0, 0.0, 0.0), (20.0, 0.0, 0.0)]
    right = [(9.0, 0.0, 0.0)]
    assert success_rate(right, victims, 10.0) == 0.5
    assert success_rate([*right, (-20.0, 0.0, 0.0)], victims, 10.0) == 0.0
