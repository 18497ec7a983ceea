"""Distances, walking times and compass words."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.planning.belief.brief.measures import angle_of, directions, distances


@pytest.mark.parametrize(
    ("text", "metres"),
    [
        ("roughly a hundred metres from the camp", 100),
        ("a hundred and fifty metres or so north of it", 150),
        ("half a kilometre north-west", 500),
        ("a couple of hundred metres on", 200),
        ("a few hundred yards past it", 270),
        ("two and a half kilometres", 2500),
        ("a good kilometre south", 1000),
        ("three quarters of a mile", 1207),
        ("1.5 km NNW of", 1500),
        ("150-200 m from the hut", 175),
        ("two to three hundred metres", 250),
        ("1,200 m east", 1200),
        ("ten minutes down the slope", 500),
        ("an hour's walk from here", 3000),
        ("thirty-five metres", 35),
    ],
)
def test_distances(text, metres):
    assert [distance.metres for distance in distances(text)] == [pytest.approx(metres, rel=0.01)]


@pytest.mark.parametrize(
    "text",
    [
        "five past ten in the morning",
        "at ten minutes to six",
        "forty minutes ago",
        "missing for two hours",
        "at 3,200 m altitude",
        "visibility of 300 m",
        "he is 45 and 1.80 m tall",
        "two days, three men, a red jacket",
        "",
    ],
)
def test_other_numbers_are_no_distances(text):
    assert distances(text) == []


def test_vague_words_are_less_sure():
    sure, vague = distances("two hundred metres, then a few hundred metres")
    assert vague.spread > sure.spread


@pytest.mark.parametrize(
    ("word", "degrees"),
    [("east", 0), ("north-east", 45), ("northwest", 135), ("south", -90), ("SSW", -112.5), ("west-north-west", 157.5)],
)
def test_compass_words(word, degrees):
    turn = math.degrees(angle_of(word)) - degrees
    assert (turn + 180) % 360 - 180 == pytest.approx(0.0, abs=1e-9)


def test_directions_in_a_text():
    found = directions("He went southwards, then N of the hut; the NW face. No, we don't say it.")
    assert [round(math.degrees(direction.angle)) for direction in found] == [-90, 90, 135]


@given(st.text(max_size=200))
def test_any_text_is_read(text):
    assert all(distance.metres > 0 for distance in distances(text))
    assert all(abs(direction.angle) <= math.pi for direction in directions(text))
