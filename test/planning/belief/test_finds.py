"""Assignment of reports to the missing, its probability, and what is left of each person to search for."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.decision import Report, ReportType
from esar_ros.mission.observation import Observation
from esar_ros.planning.belief.finds import Finds


class Person:
    """Believed around one place (2,), within 50 m of it."""

    def __init__(self, place: Any) -> None:
        self.place, self.sure = np.array(place, float), 0.0
        self.found: np.ndarray | None = None

    def density_at(self, place: Any) -> float:
        return 0.01 if np.linalg.norm(self.place - place[:2]) < 50.0 else 0.0001

    def settle(self, place: Any, sure: Any) -> None:
        self.found, self.sure = np.array(place[:2]), sure

    def be_sure(self, sure: Any) -> None:
        self.sure = sure


def told(place: Any, confidence: float = 0.9, kind: str = "person") -> Any:
    sort = ReportType.VICTIM if kind == "person" else ReportType.CLUE
    return Report(type=sort, kind=kind, text=kind, position=np.array([*place, 0.0]), confidence=confidence)


@pytest.fixture
def east() -> Any:
    return Person((100.0, 0.0))


@pytest.fixture
def west() -> Any:
    return Person((-100.0, 0.0))


def test_it_is_his_who_is_believed_there(east: Any, west: Any) -> None:
    finds = Finds([east, west], 0.8)
    assert finds.take_in([told((-90.0, 5.0), 0.7)])
    assert (east.sure, west.sure) == (0.0, 0.7)
    assert finds.expected == pytest.approx(0.7)


@pytest.mark.parametrize(("probability", "sure"), [(0.79, 0.79), (0.8, 1.0), (0.98, 1.0)])
def test_from_a_probability_on_a_find_is_not_doubted(east: Any, probability: Any, sure: Any) -> None:
    finds = Finds([east], 0.8)
    finds.take_in([told((100.0, 0.0), probability)])
    assert east.sure == sure
    finds.weigh([(np.array([100.0, 0.0, 0.0]), 0.3)])
    assert east.sure == 0.3, "until later looks say otherwise"


def test_a_report_beside_a_find_is_of_the_same(east: Any, west: Any) -> None:
    finds = Finds([east, west], 0.8)
    finds.take_in([told((100.0, 0.0))])
    assert not finds.take_in([told((106.0, 0.0))])
    assert west.found is None
    assert len(finds.reports) == 2


def test_a_surer_find_elsewhere_takes_the_place_of_a_doubtful_one(east: Any) -> None:
    finds = Finds([east], 0.8)
    finds.take_in([told((0.0, 80.0), 0.6)])
    assert not finds.take_in([told((0.0, -80.0), 0.5)])
    assert finds.take_in([told((100.0, 0.0), 0.9)])
    assert east.found == pytest.approx([100.0, 0.0])


def test_a_doubtful_find_is_surer_to_be_his_who_has_none(east: Any) -> None:
    other: Any = Person((100.0, 20.0))
    finds = Finds([east, other], 0.8)
    finds.take_in([told((100.0, 0.0), 0.6), told((100.0, 30.0), 0.7)])
    assert sorted((east.sure, other.sure)) == [0.6, 0.7]


def test_later_looks_change_what_is_believed_of_a_find(east: Any, west: Any) -> None:
    finds = Finds([east, west], 0.8)
    finds.take_in([told((100.0, 0.0), 0.7)])
    finds.weigh([(np.array([103.0, 0.0, 0.0]), 0.1), (np.array([99.0, 0.0, 0.0]), 0.2), (np.array([0.0, 0, 0]), 0.9)])
    assert (east.sure, west.sure) == (0.2, 0.0)
    finds.weigh([])
    assert east.sure == 0.2, "out of sight it stays as it was"


def test_who_is_found_elsewhere_is_missing_no_more(east: Any) -> None:
    finds = Finds([east], 0.8)
    here, there = np.array([100.0, 0.0]), np.array([100.0, 30.0])
    assert finds.missing_at(here) == pytest.approx(0.01)
    finds.take_in([told(here, 0.7)])
    assert finds.missing_at(here) == pytest.approx(0.01), "the find itself is weighed as before it was reported"
    assert finds.missing_at(there) == pytest.approx(0.003)


def test_clues_are_nobody_s_find(east: Any, clue: Any) -> None:
    finds = Finds([east], 0.8)
    assert not finds.take_in([told((100.0, 0.0), kind="tent")])
    assert east.found is None
    assert finds.covers(clue(1, "tent", (104.0, 0.0, 0.0)))
    assert not finds.covers(clue(1, "tent", (120.0, 0.0, 0.0)))
    assert not finds.covers(clue(1, "person", (104.0, 0.0, 0.0)))


def test_a_find_in_doubt_may_be_looked_at_again(east: Any, clue: Any) -> None:
    finds = Finds([east], 0.8)
    finds.take_in([told((100.0, 0.0), 0.7)])
    assert not finds.covers(clue(1, "person", (100.0, 0.0, 0.0)))
    finds.weigh([(np.array([100.0, 0.0, 0.0]), 0.85)])
    assert finds.covers(clue(1, "person", (100.0, 0.0, 0.0)))


def test_what_a_teammate_tells_is_taken_in_once(observe: Callable[..., Observation]) -> None:
    finds = Finds([], 0.8)
    first, second = told((0.0, 0.0)), told((50.0, 0.0))
    mate = SimpleNamespace(vehicle="uav2", reports=(first,))
    seen = observe(team=(mate,))
    assert finds.of_mates(seen) == [first]
    assert finds.of_mates(seen) == []
    mate.reports = (first, second)
    assert finds.of_mates(seen) == [second]
