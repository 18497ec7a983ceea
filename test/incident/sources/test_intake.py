"""The intake: coordinates that are nowhere, swapped, of another place; faults counted; heights' references."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from esar_ros.incident.features import Mover, Position, Track
from esar_ros.incident.sources.intake import Intake

NEAR = Position(34.0, 107.0)
GPX = Path("walk.gpx")

NOON = 1_767_000_000.0  # s since 1970


def track(
    intake: Intake, latitude: list[float], longitude: list[float], time: list[float] | None = None
) -> list[Track]:
    heights = [10.0] * len(latitude)
    return intake.track(
        GPX, "walk", Mover.PERSON, latitude, longitude, heights, [NOON + t for t in time or range(len(latitude))]
    )


@pytest.mark.parametrize("wrong", [-NOON, -NOON - 1e9, 900_000_000.0 - NOON, 4e9, 1e12])
def test_times_that_cannot_be_are_left_out_and_counted(wrong: float) -> None:
    intake = Intake(NEAR)
    (found,) = track(intake, [34.0, 34.001, 34.002], [107.0, 107.0, 107.0], [0.0, wrong, 2.0])
    np.testing.assert_array_equal(found.time, [NOON, np.nan, NOON + 2.0])
    assert "1 of 3 times lie before 2000 or in the future" in intake.faults[0]


def test_a_longitude_counts_from_minus_to_plus_180() -> None:
    assert Position(44.0, 288.701).longitude == pytest.approx(-71.299)
    assert Position(44.0, -180.0).longitude == -180.0


def test_a_track_of_the_search_is_taken_as_it_is() -> None:
    intake = Intake(NEAR)
    (found,) = track(intake, [34.0, 34.001], [107.0, 107.002])
    assert found.latitude.tolist() == [34.0, 34.001]
    assert found.source == "walk.gpx"
    assert intake.faults == []


@pytest.mark.parametrize(
    ("latitude", "longitude", "near", "said"),
    [
        ([107.0, 107.1], [34.0, 34.1], None, "swapped"),
        ([107.0, 107.1], [34.0, 34.1], NEAR, "swapped"),
        ([7.0, 7.1], [46.0, 46.1], Position(46.0, 7.0), "swapped"),
        ([34.0, 34.1], [-107.0, -107.1], NEAR, "north, south, east or west is lost"),
        ([51.0, 51.1], [12.0, 12.1], NEAR, "more than 50 km from the search"),
    ],
)
def test_a_track_of_another_place_is_refused_with_its_cause(
    latitude: list[float], longitude: list[float], near: Position | None, said: str
) -> None:
    intake = Intake(near)
    assert track(intake, latitude, longitude) == []
    (line,) = intake.faults
    assert said in line


def test_points_without_a_fix_are_left_out_and_counted() -> None:
    intake = Intake(NEAR)
    (found,) = track(intake, [0.0, 34.0, np.nan, 34.001], [0.0, 107.0, 107.0, 107.0])
    assert found.time.tolist() == [NOON + 1.0, NOON + 3.0]
    assert intake.faults == ["walk.gpx: walk: 2 of 4 points have no position: they are left out"]


def test_points_far_from_the_search_part_a_track_and_are_counted() -> None:
    intake = Intake(NEAR)
    latitude, longitude = [34.0, 34.001, 51.0, 100.0, 34.002, 34.003], [107.0, 107.0, 0.5, 107.0, 107.0, 107.0]
    before, after = track(intake, latitude, longitude)
    assert (before.name, before.latitude.tolist()) == ("walk, part 1", [34.0, 34.001])
    assert (after.name, after.latitude.tolist(), after.time.tolist()) == (
        "walk, part 2",
        [34.002, 34.003],
        [NOON + 4.0, NOON + 5.0],
    )
    (line,) = intake.faults
    assert "2 of 6 points lie more than 50 km from the search" in line


def test_a_search_at_the_antimeridian_reaches_over_it() -> None:
    intake = Intake(Position(-16.8, 179.99))
    (found,) = track(intake, [-16.8, -16.8, -16.8], [179.999, -179.999, -179.99])
    assert len(found.longitude) == 3 and intake.faults == []


def test_a_polygon_may_reach_the_search_from_afar() -> None:
    def square(side: float, east: float = 0.0) -> np.ndarray:
        corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        return corners * side / 2.0 + (107.0 + east, 34.0)

    intake = Intake(NEAR)
    assert intake.why_not_area(square(3.0)) is None, "around it"
    assert intake.why_not_area(square(3.0, 1.8)) is None, "its edge is 28 km away"
    assert "more than 50 km" in str(intake.why_not_area(square(1.0, 1.8)))
    assert "swapped" in str(intake.why_not_area(square(0.1)[:, ::-1]))


def test_a_clock_that_goes_back_is_put_in_order_and_said() -> None:
    intake = Intake(NEAR)
    (found,) = track(intake, [34.0, 34.1, 34.2], [107.0, 107.0, 107.0], [5.0, 9.0, 7.0])
    assert found.latitude.tolist() == [34.0, 34.2, 34.1]
    assert "its clock goes back" in intake.faults[0]


def test_a_fault_of_many_files_is_one_line() -> None:
    intake = Intake()
    for number in range(1000):
        intake.fault(f"{number}.JPG", "it has no position", "it is left out")
    assert intake.faults == ["0.JPG and 999 more: it has no position: it is left out"]


def test_heights_above_the_ellipsoid_need_the_geoid() -> None:
    heights = np.array([100.0, 101.0])
    assert Intake(undulation=48.0).above_sea(heights, GPX, "walk").tolist() == [52.0, 53.0]
    without = Intake()
    assert np.isnan(without.above_sea(heights, GPX, "walk")).all()
    assert "--geoid" in without.faults[0]
