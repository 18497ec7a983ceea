"""Numbers, distances, walking times, directions, and ways made of both."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.planning.belief.brief.facts import WALKING_SPEED, Direction, Distance, Way
from esar_ros.planning.belief.brief.lexicon import TAG_OF
from esar_ros.planning.belief.brief.measures import angle_of, measured
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.brief.tokens import sentences


def ways(text: str) -> list[Way]:
    """Returns the distances, directions and ways of a text in order."""
    rows = measured(sentence.items for sentence in sentences(text))
    values = [item.value for row in rows for item in row if item.tag in "LDT"]
    halves = {Distance: lambda one: Way(one, None), Direction: lambda one: Way(None, one), Way: lambda one: one}
    return [halves[type(value)](value) for value in values]


def distances(text: str) -> list[Distance]:
    return [way.distance for way in ways(text) if way.distance is not None]


def bearings(text: str) -> list[float]:
    angles = [way.direction.angle for way in ways(text) if way.direction is not None]
    return [round((90.0 - math.degrees(angle)) % 360.0, 1) for angle in angles]


@pytest.mark.parametrize(
    ("text", "metres"),
    [
        ("roughly a hundred metres from the camp", 100),
        ("a hundred and fifty metres or so north of it", 150),
        ("half a kilometre north-west", 500),
        ("a couple of hundred metres on", 200),
        ("a few hundred yards past it", 274),
        ("two and a half kilometres", 2500),
        ("a mile and a half", 2414),
        ("a good kilometre south", 1000),
        ("three quarters of a mile", 1207),
        ("3/4 mile", 1207),
        ("1.5 km NNW of", 1500),
        ("150-200 m from the hut", 175),
        ("between 1000 and 1400 m", 1200),
        ("two to three hundred metres", 250),
        ("1,200 m east", 1200),
        ("thirty-five metres", 35),
        ("four five zero metres", 450),
        ("seven-forty metres", 740),
        ("fifteen hundred yards", 1372),
        ("decimal eight nautical miles", 1482),
        ("four cables", 741),
        ("half a klick east", 500),
        ("six hundred feet", 183),
        ("ten minutes down the slope", 10 * WALKING_SPEED),
        ("an hour's walk from here", 60 * WALKING_SPEED),
        ("three quarters of an hour on foot", 45 * WALKING_SPEED),
    ],
)
def test_distances(text: str, metres: float) -> None:
    assert [distance.metres for distance in distances(text)] == [pytest.approx(metres, rel=0.01)]


@pytest.mark.parametrize(
    "text",
    [
        "five past ten in the morning", "at ten minutes to six", "forty minutes ago", "at 3,200 m altitude",
        "visibility of 300 m", "he is 45 and 1.80 m tall", "two days, three men, a red jacket", "holes up to 30 m deep",
        "fifty miles an hour", "wind of 14 m/s", "a speed of 15 to 20 mph", "M 22, phone 0155-2030", "",
    ],
)  # fmt: skip
def test_other_numbers_are_no_distances(text: str) -> None:
    assert distances(text) == []


@pytest.mark.parametrize(
    ("text", "metres", "bearing"),
    [
        ("500 N of the barn", 500, 0),
        ("then 600 W up the lane", 600, 270),
        ("three hundred back west", 300, 270),
        ("N 900 m along the railway", 900, 0),
        ("Offset E: -250 m", 250, 270),
        ("North minus six hundred", 600, 180),
        ("dE = +400", 400, 90),
        ("500 @ 110", 500, 110),
        ("Hdg 315 / 900 m", 900, 315),
        ("200 deg 550 m", 550, 200),
        ("500 m on 250 degrees", 500, 250),
        ("six hundred feet, north-west", 183, 315),
        ("two kilometres due east", 2000, 90),
        (".4 mi @ 230", 644, 230),
        ("brg 285 1.4 km", 1400, 285),
        ("bearing 285 400 m", 400, 285),
        ("compass 10, 900 m", 900, 10),
    ],
)
def test_a_distance_and_the_direction_beside_it_are_a_way(text: str, metres: float, bearing: float) -> None:
    (way,) = ways(text)
    assert way.distance is not None and way.distance.metres == pytest.approx(metres, rel=0.01)
    assert bearings(text) == [bearing]


def test_vague_words_are_less_sure() -> None:
    sure, vague = distances("two hundred metres, then a few hundred metres")
    assert vague.spread > sure.spread


@pytest.mark.parametrize(
    ("word", "degrees"),
    [("east", 0), ("north-east", 45), ("northwest", 135), ("south", -90), ("SSW", -112.5), ("west-north-west", 157.5)],
)
def test_compass_words(word: str, degrees: float) -> None:
    turn = math.degrees(angle_of(word)) - degrees
    assert (turn + 180) % 360 - 180 == pytest.approx(0.0, abs=1e-9)


def test_directions_in_a_text() -> None:
    assert bearings("He went southwards, then N of the hut; the NW slope. No, we don't say it.") == [180, 0, 315]
    assert bearings("They slept at the south beach and took the East Ridge.") == [], "parts of names"
    assert bearings("The water is 9 degrees, the air -4 C, at 12 °C in the sun.") == [], "temperatures"


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert all(distance.metres > 0 for distance in distances(text))
    assert all(0.0 <= bearing <= 360.0 for bearing in bearings(text))


_NUMBERED = sorted(word for word, tag in TAG_OF.items() if tag in "dehqvpsufa&gjkzobD") + ["12", "3.5", "/", "-", ","]


@given(st.lists(st.sampled_from(_NUMBERED), min_size=1, max_size=12))
def test_any_words_of_numbers_and_units_are_read(words: list[str]) -> None:
    assert parse_brief(" ".join(words)).victims >= 1


@pytest.mark.parametrize(
    ("text", "metres"),
    [
        ("twenty point five km north", 20_500.0),
        ("two plus half a mile north", 2.5 * 1609.0),
        ("five eighths of a mile north", 0.625 * 1609.0),
        ("half past several", None),
        ("ten from dozen miles", None),
    ],
)
def test_numbers_of_several_words(text: str, metres: float | None) -> None:
    told = [distance.metres for distance in distances(text)]
    assert told == ([] if metres is None else [pytest.approx(metres)])
