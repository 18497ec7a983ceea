"""The vehicle's start as an entity of its own: others are located from it, and it is located from a landmark."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from esar_ros.planning.belief.brief.facts import Reference
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.prior import PriorSettings, sample

HOME = np.array([100.0, 50.0])
WORDINGS = (
    "where you take off", "your take-off point", "your start", "the drone", "where you start",
)  # fmt: skip
MORE_WORDINGS = (
    "the launch point", "the launch site", "the take-off site", "where the drone is launched", "home", "the home point",
    "you", "your position", "your starting point", "the point where you take off", "the place you start from",
    "the spot from which you fly", "the start", "take-off", "where your drone will take off", "the UAV",
    "the aircraft's launch position", "the drone's take-off point", "the take-off point of the drone",
    "your launch pad",
)  # fmt: skip
COMPASS = ("east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east")
DISTANCES = {
    "300 m": 300.0,
    "1.2 kilometres": 1200.0,
    "six hundred yards": 540.0,
    "half a mile": 804.5,
    "2000 ft": 609.6,
}
SAMPLES = 2000


def seen(wording: str, direction: str = "north", distance: str = "300 m") -> str:
    return f"A hiker is missing. Last seen {distance} {direction} of {wording}. He wears blue."


def ends(text: str, seed: int = 0) -> NDArray[np.float64]:
    """Returns the person's positions in the prior, from the start (S, 2) m."""
    settings = PriorSettings(samples=SAMPLES)
    return sample(parse_brief(text), None, HOME, settings, np.random.default_rng(seed)).ends - HOME


def centre(text: str, seed: int = 0) -> NDArray[np.float64]:
    """Median of the prior, from the start (2,) m."""
    middle: NDArray[np.float64] = np.median(ends(text, seed), axis=0)
    return middle


def unit(direction: str) -> NDArray[np.float64]:
    angle = COMPASS.index(direction) * math.pi / 4.0
    return np.array([math.cos(angle), math.sin(angle)])


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("direction", COMPASS)
def test_the_prior_lies_where_the_start_is_left_for(wording: str, direction: str) -> None:
    for distance, metres in DISTANCES.items():
        points = ends(seen(wording, direction, distance))
        for place in (np.median(points, axis=0), np.mean(points, axis=0)):
            along = float(place @ unit(direction))
            turned = math.acos(along / float(np.linalg.norm(place)))
            assert 0.75 * metres < along < 1.2 * metres + 30.0, (distance, place)
            assert turned < math.radians(10.0), (distance, place)


@pytest.mark.parametrize("direction", COMPASS[:4])
def test_the_opposite_word_mirrors_the_prior(direction: str) -> None:
    opposite = COMPASS[COMPASS.index(direction) + 4]
    for wording in WORDINGS:
        there, back = centre(seen(wording, direction), seed=1), centre(seen(wording, opposite), seed=2)
        assert float(there @ unit(direction)) > 200.0, wording
        assert there == pytest.approx(-back, abs=25.0), wording


@pytest.mark.parametrize("wording", WORDINGS[1:] + MORE_WORDINGS)
def test_another_wording_of_the_start_is_the_same_prior(wording: str) -> None:
    for direction, distance in (("north", "300 m"), ("south-west", "half a mile")):
        told = ends(seen(wording, direction, distance))
        assert np.array_equal(told, ends(seen(WORDINGS[0], direction, distance)))


@pytest.mark.parametrize("wording", WORDINGS + MORE_WORDINGS)
@pytest.mark.parametrize(
    "sentence",
    [
        "Her phone was last heard some 400 metres to the north of {}, at dusk.",
        "From {}, go 400 m north: she was seen there.",
        "She was seen about 400 m due north from {}.",
        "400 m north of {} a shepherd spotted her.",
        "LKP 400 m N of {}.",
    ],
)
def test_sentences_that_place_somebody_by_the_start(sentence: str, wording: str) -> None:
    facts = parse_brief(f"Anna is missing. {sentence.format(wording)}")
    assert facts.start is None
    (move,) = facts.moves
    assert move.reference is Reference.VEHICLE
    assert move.distance is not None and move.distance.metres == pytest.approx(400.0)
    assert move.direction is not None and move.direction.angle == pytest.approx(math.pi / 2)


def test_two_offsets_from_the_start_are_one_place() -> None:
    told = centre("He is missing. He was seen 400 m north and 300 m west of your take-off point.")
    assert told == pytest.approx([-300.0, 400.0], abs=50.0)


@pytest.mark.parametrize(
    "text",
    [
        "You take off 300 m north of the hut. He was seen 200 m east of your take-off point.",
        "He was seen 200 m east of your take-off point. You take off 300 m north of the hut.",
        "You take off 300 m north of the hut, and he was seen 200 m east of your take-off point.",
    ],
)
def test_the_start_is_placed_and_places(text: str) -> None:
    facts = parse_brief(text)
    assert facts.start is not None and facts.start.landmark == "the hut"
    assert facts.start.direction is not None and facts.start.direction.angle == pytest.approx(math.pi / 2)
    assert [move.reference for move in facts.moves] == [Reference.VEHICLE]
    assert centre(text) == pytest.approx([200.0, 0.0], abs=40.0)


def test_a_place_seen_from_the_start_places_others() -> None:
    """The hut lies 300 m south of the start and she east of the hut; the start lies 300 m north of the hut."""
    told = centre("The hut is 300 m south of where you take off. She was seen 400 m east of the hut.")
    assert told == pytest.approx([400.0, -300.0], abs=50.0)
    same = centre("You take off 300 m north of the hut. She was seen 400 m east of the hut.")
    assert told == pytest.approx(same, abs=15.0)


@pytest.mark.parametrize(
    "text",
    [
        "You take off from the bridge, and he was last seen 300 m north of it.",
        "He was last seen 300 m north of the bridge where you take off.",
    ],
)
def test_somebody_placed_in_a_sentence_with_the_vehicle_is_not_the_vehicle(text: str) -> None:
    assert centre(f"A man is missing. {text}")[1] > 150.0


@pytest.mark.parametrize(
    ("text", "landmark"),
    [
        ("You take off 300 m north of the hut.", "the hut"),
        ("Your start is 300 m north of the start of the ridge path.", "the start of the ridge path"),
        ("The drone waits 300 m north of the launch site of the gliders.", "the launch site of the gliders"),
        ("You start 300 m north of the home farm.", "the home farm"),
        ("The place where you take off is 300 m north of the hut.", "the hut"),
        ("300 m north of the hut is where you take off.", "the hut"),
    ],
)
def test_a_landmark_stays_a_landmark(text: str, landmark: str) -> None:
    facts = parse_brief(f"A man is missing. {text}")
    assert facts.start is not None and facts.start.landmark.startswith(landmark)
    assert facts.moves == ()
    assert facts.start.distance is not None and facts.start.distance.metres == 300.0
    assert facts.start.direction is not None and facts.start.direction.angle == pytest.approx(math.pi / 2)
