"""Labels of objects on maps: what is too unlikely to be reported has none, and what may be one thing has one."""

from __future__ import annotations

import numpy as np
import pytest

from esar_ros.mission.observation import SeenClue
from esar_ros.planning.clue_labels import labels
from esar_ros.planning.reporting import ReportingSettings, Requirement, shared_settings

SETTINGS = ReportingSettings()


def seen(number: int, kind: str = "person", probability: float = 0.9, x: float = 0.0, sigma: float = 1.0) -> SeenClue:
    covariance = np.eye(3) * sigma**2
    return SeenClue(number, kind, kind, probability, np.array([x, 0.0, 0.0]), covariance, 1, 20.0, 0.0, 0.0)


def test_a_dozen_faint_persons_have_no_label() -> None:
    faint = [seen(n, probability=0.06 + 0.001 * n, x=40.0 * n) for n in range(12)]
    assert set(labels(faint, SETTINGS).values()) == {""}
    assert labels([*faint, seen(20, x=7.0)], SETTINGS)[20] == "person"


@pytest.mark.parametrize(
    ("apart", "sigma", "kind", "count"),
    [(4.0, 0.1, "person", 1), (6.0, 0.1, "person", 2), (20.0, 8.0, "person", 1), (4.0, 0.1, "tent", 2)],
    ids=["as near as reports of one", "apart", "within their uncertainty", "of other kinds"],
)
def test_several_that_may_be_one_have_one_label(apart: float, sigma: float, kind: str, count: int) -> None:
    words = labels([seen(1, sigma=sigma), seen(2, kind, 0.7, apart, sigma)], SETTINGS)
    assert [word for word in words.values() if word] == (["person ×2"] if count == 1 else ["person", kind])


def test_a_position_of_unknown_uncertainty_takes_nothing_far_away_into_its_label() -> None:
    words = labels([seen(1, sigma=float("inf")), seen(2, probability=0.7, x=50.0)], SETTINGS)
    assert sorted(words.values()) == ["person", "person"]


def test_a_candidate_is_what_no_policy_would_report() -> None:
    settings = ReportingSettings(clue=Requirement(probability=0.4), victim=Requirement(probability=0.6, last=0.3))
    assert [settings.is_candidate("tent", p) for p in (0.39, 0.4)] == [True, False]
    assert [settings.is_candidate("person", p) for p in (0.29, 0.3)] == [True, False]


def test_the_shipped_settings_are_read() -> None:
    assert shared_settings().is_candidate("person", 0.08) and not shared_settings().is_candidate("tent", 0.5)
