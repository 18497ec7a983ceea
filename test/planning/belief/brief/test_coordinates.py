"""Coordinates in a brief: read, placed, or said to be of no use."""

from __future__ import annotations

import math

import numpy as np
import pytest

from esar_ros.geometry.geodesy import Origin
from esar_ros.planning.belief.brief.coordinates import Ground, found_in, masked
from esar_ros.planning.belief.brief.facts import Move
from esar_ros.planning.belief.brief.parser import parse_brief

ORIGIN = Origin(34.0, 107.31, 2800.0)
HOME = np.array([100.0, -50.0])
AREA = 900.0 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
GROUND = Ground(ORIGIN, HOME, AREA)


def why(text: str, ground: Ground | None = GROUND) -> str:
    (left,) = parse_brief(text, ground).left
    return left.why


@pytest.mark.parametrize(
    "words",
    [
        "34.0012N 107.3110E", "34.0012° N, 107.3110° E", "N34.0012 E107.3110", "E 107.3110, N 34.0012",
        "34.0012, 107.3110", "lat 34.0012 lon 107.3110", "latitude: 34.0012, longitude: 107.3110",
        "N 34° 00.072' E 107° 18.66'", "N34 00.072 E107 18.66", "34deg 00.072' N 107deg 18.66' E",
        "34°00′04.32″N 107°18′39.6″E", "34 00 04.32 N, 107 18 39.6 E", "48S 713435 3764697", "UTM 48S 713435 3764697",
        "48S 713435 mE 3764697 mN", "MGRS 48SYC 13434 64696",
    ],
)  # fmt: skip
def test_all_forms_tell_a_point(words: str) -> None:
    (one,) = found_in(f"Last ping at {words}.")
    assert min(math.dist(point, (34.0012, 107.311)) for point in one.points) < 1e-5, one


@pytest.mark.parametrize(
    ("words", "sigma"),
    [
        ("34.0012N 107.3110E, accuracy 300 m", 300.0 / 1.51),
        ("34.0012N 107.3110E (accuracy about 1.5 km)", 1500.0 / 1.51),
        ("34.0012N 107.3110E ± 50 m", 50.0 / 1.51),
        ("34.0012N 107.3110E, more or less 300 m", 300.0 / 1.51),
        ("34.0012N 107.3110E", 15.0),
        ("34.001N 107.311E", 111.0 / math.sqrt(12.0)),
        ("34°00'N 107°18'E", 1850.0 / math.sqrt(12.0)),
        ("49SBV 512 667", 100.0 / math.sqrt(12.0)),
    ],
)
def test_an_accuracy_beside_them_or_their_digits_tell_how_sure(words: str, sigma: float) -> None:
    (one,) = found_in(words)
    assert one.sigma == pytest.approx(sigma, rel=0.01)


@pytest.mark.parametrize(
    "words", ["go 300 N 200 E of the hut", "1.25N 2.50E", "400 m N, 200 m E", "30 s, 20 s", "45 N"]
)
def test_ways_are_no_coordinates(words: str) -> None:
    assert found_in(words) == []


@pytest.mark.parametrize("words", ["99.123N 200.12345E", "34.0012N alone", "49SBV 123 4567", "///filled.count.soap"])
def test_what_cannot_be_placed_has_no_point(words: str) -> None:
    (one,) = found_in(words)
    assert one.points == ()


def test_a_ping_is_a_place_with_its_accuracy() -> None:
    east, north, _ = ORIGIN.to_enu(34.0012, 107.311, 2800.0)
    facts = parse_brief("Last cell ping at 34.0012N 107.3110E, accuracy 300 m.", GROUND)
    (move,) = facts.moves
    assert move.fix is not None and (move.fix.east, move.fix.north) == pytest.approx((east - 100.0, north + 50.0))
    assert move.fix.sigma == pytest.approx(300.0 / 1.51) and facts.left == () and facts.unread == 0.0


def test_a_band_is_told_from_a_hemisphere_by_the_area() -> None:
    """The S of "48S" is the band of 34 degrees north, or the southern hemisphere."""
    (move,) = parse_brief("She was seen at UTM 48S 713435 3764697.", GROUND).moves
    assert move.fix is not None and math.hypot(move.fix.east, move.fix.north) < 700.0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("He was seen at 51.5012N 0.1419W.", "outside the search area"),
        ("He was seen at 107.3110N 34.0012E.", "not valid"),
        ("He was seen at 34.0012N.", "not valid"),
        ("There is a mast at 34.0012N 107.3110E.", "not told who or what"),
        ("The drone is at 34.0052N 107.3110E.", "the drone starts"),
        ("The drone saw him at 34.0012N 107.3110E.", "may be the drone's"),
    ],
)
def test_what_is_not_used_is_said_and_why(text: str, reason: str) -> None:
    assert reason in why(text) and parse_brief(text, GROUND).moves == ()


def test_exchanged_latitude_and_longitude_are_said_and_not_used() -> None:
    ground = Ground(Origin(34.0, 47.31, 0.0), np.zeros(2), AREA)
    assert "exchanged" in why("He was seen at 47.3110, 34.0012.", ground)


def test_without_a_map_they_count_from_those_of_the_drone() -> None:
    text = "He was seen at 34.0050N 107.3100E."
    assert "not known where the drone starts" in why(text, None)
    facts = parse_brief(f"Drone launch at 34.0000N 107.3100E. {text}")
    assert facts.left == () and facts.start is not None
    (move,) = facts.moves
    assert isinstance(move, Move) and move.fix is not None
    assert (move.fix.east, move.fix.north) == pytest.approx((0.0, 554.6), abs=2.0)


def test_places_searched_in_vain_are_told_by_coordinates_too() -> None:
    (move,) = parse_brief("The hikers' tent at 34.0012N 107.3110E was searched in vain.", GROUND).moves
    assert move.searched


def test_a_mask_keeps_the_length_and_the_lines() -> None:
    assert masked("ab\ncd ef", [(1, 4), (3, 5)]) == "a \n   ef"
