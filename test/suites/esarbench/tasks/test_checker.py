"""The checker finds what is untrue, unclaimed or a coordinate, and passes every shipped brief's kind of sentence."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.weather import Weather
from esar_ros.suites.esarbench.tasks import wording
from esar_ros.suites.esarbench.tasks.checker import faults
from esar_ros.suites.esarbench.tasks.claims import Claim, Situation
from esar_ros.suites.esarbench.tasks.validation import ground_of

PLACE = ground_of("aotai")
FACTS = Situation(
    map="aotai",
    day=date(2021, 10, 3),
    local_time=datetime(2021, 10, 3, 14, 20),
    weather=Weather.FOG,
    wind_speed=3.0,
    wind_direction=0.0,  # from the west
    start=(0.0, 0.0),
    places={"east": (200.0, 0.0), "wood": (-160.0, -300.0), "low": (0.0, -300.0)},
    lines={"way": np.array([[0.0, 0.0], [300.0, 0.0]])},
    victims=({"id": "wu", "name": "Wu", "position": [150.0, 10.0], "variant": "curled_red"},),
    clues=({"kind": "tent", "variant": "dome_orange", "description": "orange dome tent", "position": [0, 0]},),
)
TRUE = [
    Claim("direction", "east", ("start", "east")),
    Claim("distance", "about two hundred metres", ("start", "east")),
    Claim("distance", "a couple of hundred metres", ("start", "wu")),
    Claim("downhill", "downhill", ("start", "low")),
    Claim("walk", "ten minutes", ("way",)),
    Claim("days", "two days ago", ("2021-10-01",)),
    Claim("days", "for two days", ("2021-10-01",)),
    Claim("clock", "14:20"),
    Claim("clock", "2:20 pm"),
    Claim("clock", "twenty past two in the afternoon"),
    Claim("weather", "fog on the ground"),
    Claim("wind", "a light breeze from the west"),
    Claim("wears", "a red", ("wu",)),
    Claim("item", "an orange tent", ("tent",)),
    Claim("cover", "among the trees", ("wood", "FOREST", "150")),
    Claim("story", "had a fever"),
]
FALSE = [
    (Claim("direction", "north-east", ("start", "east")), "bearing"),
    (Claim("distance", "about four hundred metres", ("start", "east")), "200 m"),
    (Claim("distance", "right beside", ("start", "east")), "200 m"),
    (Claim("distance", "about a kilometre", ("start", "east")), "200 m"),
    (Claim("uphill", "uphill", ("start", "low")), "ground goes"),
    (Claim("walk", "well over an hour", ("way",)), "300 m long"),
    (Claim("days", "yesterday", ("2021-10-01",)), "2 days"),
    (Claim("clock", "14:25"), "14:20"),
    (Claim("clock", "twenty past two at night"), "14:20"),
    (Claim("light", "it is dark"), "sun stands"),
    (Claim("weather", "dense fog"), "fog"),
    (Claim("weather", "a clear sky"), "fog"),
    (Claim("wind", "a light breeze from the east"), "bearing"),
    (Claim("wind", "a strong wind from the west"), "3.0 m/s"),
    (Claim("wears", "a blue", ("wu",)), "curled_red"),
    (Claim("item", "a blue tent", ("tent",)), "colour"),
    (Claim("item", "a rope", ("rope",)), "no rope"),
    (Claim("item", "a rucksack", ("tent",)), "backpack"),
    (Claim("cover", "at the shore", ("wood", "WATER", "50")), "no WATER"),
    (Claim("story", "three hundred metres on"), "measure"),
    (Claim("direction", "upwards", ("start", "east")), "cannot be read"),
    (Claim("rumour", "perhaps"), "no such kind"),
]


def brief(claim: Claim) -> str:
    return f"Wu is missing: {claim.words}."


@pytest.mark.parametrize("claim", TRUE, ids=lambda claim: claim.words)
def test_a_true_statement_passes(claim: Claim) -> None:
    assert faults(brief(claim), [claim], FACTS, PLACE, []) == []


@pytest.mark.parametrize(("claim", "fault"), FALSE, ids=lambda part: getattr(part, "words", ""))
def test_an_untrue_statement_is_found(claim: Claim, fault: str) -> None:
    found = faults(brief(claim), [claim], FACTS, PLACE, [])
    assert len(found) == 1
    assert fault in found[0]


@pytest.mark.parametrize(
    "words",
    [
        "He went north-west.", "It is three hundred metres away.", "He left two hours ago.", "Since yesterday.",
        "A red thing lay there.", "There is a tent.", "Fog everywhere.", "It is 14:20.", "He climbs uphill.",
    ],
)  # fmt: skip
def test_what_nobody_claimed_is_found(words: str) -> None:
    assert any("claimed nowhere" in fault for fault in faults(f"Wu is missing. {words}", [], FACTS, PLACE, []))


def test_a_claim_excuses_one_statement_and_no_other() -> None:
    said = [Claim("direction", "east", ("start", "east")), Claim("direction", "south-west", ("start", "wood"))]
    assert faults("Wu went east, then south-west.", said, FACTS, PLACE, []) == []
    for text in ("Wu went east, then south-west, then east.", "Wu went south-east, then south-west."):
        assert faults(text, said, FACTS, PLACE, []) != []
    assert faults("Wu went west to the east hut.", said[:1], FACTS, PLACE, ["the east hut"]) != []


@pytest.mark.parametrize("words", ["at 33.95", "x=5", "about 250 m on", "33° north", "latitude"])
def test_coordinates_are_found(words: str) -> None:
    assert any("coordinate" in fault for fault in faults(f"Wu is missing {words}.", [], FACTS, PLACE, []))


def test_a_claim_that_is_not_said_and_a_victim_not_named_are_found() -> None:
    found = faults("Somebody is missing.", [Claim("story", "with a dog")], FACTS, PLACE, [])
    assert found == ["'with a dog' is claimed and not said", "Wu is not named"]


@settings(deadline=None)
@given(st.floats(0.0, 5000.0), st.integers(0, 999))
def test_every_distance_is_said_so_that_it_is_true(metres: float, seed: int) -> None:
    words = wording.distance(metres, np.random.default_rng(seed))
    facts = replace(FACTS, places={"there": (metres, 0.0)})
    claim = Claim("distance", words, ("start", "there"))
    assert faults(brief(claim), [claim], facts, PLACE, []) == []
    wrong = replace(FACTS, places={"there": (3.0 * metres + 100.0, 0.0)})
    assert faults(brief(claim), [claim], wrong, PLACE, []) != []


@settings(deadline=None)
@given(st.floats(-3.14, 3.14))
def test_every_direction_is_said_so_that_it_is_true(angle: float) -> None:
    there = (100.0 * float(np.cos(angle)), 100.0 * float(np.sin(angle)))
    claim = Claim("direction", wording.direction((0.0, 0.0), there), ("start", "there"))
    assert faults(brief(claim), [claim], replace(FACTS, places={"there": there}), PLACE, []) == []
    behind = replace(FACTS, places={"there": (-there[0], -there[1])})
    assert faults(brief(claim), [claim], behind, PLACE, []) != []


@settings(deadline=None)
@given(st.integers(0, 287), st.sampled_from(["digits", "half", "words"]))
def test_every_hour_is_said_so_that_it_is_true(fives: int, style: str) -> None:
    moment = datetime(2021, 10, 3, fives // 12, 5 * (fives % 12))
    claim = Claim("clock", wording.clock(moment, style))
    assert faults(brief(claim), [claim], replace(FACTS, local_time=moment), PLACE, []) == []


@pytest.mark.parametrize("weather", list(Weather))
def test_every_wording_of_a_weather_is_its_own(weather: Weather) -> None:
    for words in wording.WEATHER[weather]:
        claim = Claim("weather", words)
        for other in Weather:
            found = faults(brief(claim), [claim], replace(FACTS, weather=other), PLACE, [])
            assert (found == []) is (other is weather), (words, other)


@settings(deadline=None)
@given(st.floats(0.0, 10.0), st.floats(-3.14, 3.14), st.integers(0, 99))
def test_every_wind_is_said_so_that_it_is_true(speed: float, blows_to: float, seed: int) -> None:
    claim = Claim("wind", wording.wind(speed, blows_to, np.random.default_rng(seed)))
    facts = replace(FACTS, wind_speed=speed, wind_direction=blows_to)
    assert faults(brief(claim), [claim], facts, PLACE, []) == []
