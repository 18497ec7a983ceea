"""Places of reports on Earth: with the detector's error, and none where nobody knows it."""

from __future__ import annotations

import math
from types import SimpleNamespace as Message
from typing import Any

import pytest

from esar_ros.mission import names
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.record.rows import BriefRow
from esar_ros.scoring.result import Where, parse_result
from esar_ros.scoring.score import score
from esar_ros.scoring.whereabouts import told_reports

START, SECOND = 10_000_000_000, 1_000_000_000
ORIGIN = (33.95, 107.75, 2800.0)
LEVEL = [4.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]


@pytest.fixture
def where(fakes: Any, make_truth: Any) -> Any:
    """Returns where a tent that is reported at the map's origin is told to lie."""

    def told(spread: list[float], at: float = 1.0, origin: tuple[float, float, float] = ORIGIN) -> Where | None:
        record = EpisodeRecord()
        row = BriefRow(0, "m", "aotai", "", "clear", "", 300.0, (), (0.0, 0.0, 0.0), origin)
        record.take("uav1", names.BRIEF, row)
        clues = fakes.clues(5.0)
        clues.clues = [
            Message(
                id=1, kind="tent", probability=0.9, position=Message(x=at, y=0.0, z=0.0), views=2, covariance=spread
            )
        ]
        record.add("uav1", names.CLUES, clues)
        record.add("uav1", names.REPORTS, fakes.report(5.0, 1, "tent", (0.0, 0.0, 0.0), "orange tent"))
        result = score(record, make_truth(), OfflineJudge())
        again = parse_result(result.dump(), "this")
        assert again.dump() == result.dump()
        return again.reports[0].where

    return told


def test_a_report_lies_on_earth_with_the_error_of_its_object(where: Any) -> None:
    told = where(LEVEL)
    assert (told.latitude, told.longitude, told.altitude) == pytest.approx(ORIGIN, abs=1e-6)
    assert told.error == pytest.approx(2.0 * math.sqrt(5.991), abs=1e-5)
    assert told.words == "33.95000, 107.75000 ±5 m · 48S 754142 3760019 · MGRS 48SYC5414260019"


@pytest.mark.parametrize("spread", [[0.0] * 9, [math.inf] * 9, [math.nan] * 9])
def test_an_error_that_nobody_stated_is_not_told(where: Any, spread: list[float]) -> None:
    assert where(spread).error is None


def test_an_object_far_from_the_report_is_another(where: Any) -> None:
    assert where(LEVEL, at=6.0).error is None


def test_a_map_without_a_place_gives_none(where: Any) -> None:
    assert where(LEVEL, origin=(0.0, 0.0, 0.0)) is None


def test_reports_are_told_once_in_lines_as_they_come(fakes: Any) -> None:
    record = EpisodeRecord()
    record.take("uav1", names.BRIEF, BriefRow(0, "m", "aotai", "", "clear", "", 300.0, (), (0.0,) * 3, ORIGIN))
    for t, kind in ((5.0, "tent"), (7.0, "person")):
        record.add("uav1", names.REPORTS, fakes.report(t, int(t), kind, (0.0, 0.0, 0.0)))
    record.add("uav1", names.REPORTS, fakes.report(7.0, 8, "rope", (math.nan, 0.0, 0.0)))
    told = list(told_reports(record, START, START + 5 * SECOND, START + 8 * SECOND))
    assert told == [
        "7 s, uav1: person, 50% sure: 33.95000, 107.75000 · 48S 754142 3760019 · MGRS 48SYC5414260019",
        "7 s, uav1: rope, 50% sure",
    ]
