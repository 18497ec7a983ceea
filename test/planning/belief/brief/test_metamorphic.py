"""Turn or mirror the story and the reading follows; paraphrase it, or swap the names, and it stays.

The stories are the halves of the hand-written briefs that the rules were improved on.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TypeVar

import numpy as np
import phrasings
import pytest

from esar_ros.planning.belief.brief.facts import BriefFacts, Direction, Move, StartFact
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.prior import PriorSettings, sample

_POINTS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")
_LETTERS = ("N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE", "S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW")
_WORDS = {
    "N": "north", "NNE": "north-north-east", "NE": "north-east", "ENE": "east-north-east", "E": "east",
    "ESE": "east-south-east", "SE": "south-east", "SSE": "south-south-east", "S": "south", "SSW": "south-south-west",
    "SW": "south-west", "WSW": "west-south-west", "W": "west", "WNW": "west-north-west", "NW": "north-west",
    "NNW": "north-north-west",
}  # fmt: skip
_OF_WORD = {word.replace("-", ""): letters for letters, word in _WORDS.items()}
_COMPASS = re.compile(
    r"\b((?:north|south|east|west)(?:[- ]?(?:north|south|east|west)){0,2})|"
    r"((?<=\d )[NSEW]{1,3}\b|\b[NSEW]{1,3}\b(?!\.\s*[,A-Z]))",
    re.IGNORECASE,
)
_IN_DEGREES = re.compile(
    r"\d ?deg|\d°|degrees|bearing|bears|azimuth|\bhdg|heading \w+-|@|\b[0-3]\d\d\b[.,](?! )|on 0|zero|o'clock", re.I
)
_BY_FACING = re.compile(r"\bleft hand|\bright hand|behind you|dead ahead", re.I)
STORIES = [
    brief["text"]
    for half in ("written, improved on", "sixty, improved on")
    for brief in phrasings.HALVES[half]
    if _COMPASS.search(brief["text"]) and not _IN_DEGREES.search(brief["text"]) and not _BY_FACING.search(brief["text"])
]


def turned(text: str, quarters: int = 0, mirrored: bool = False) -> str:
    """Returns the story turned clockwise by quarters of a circle, or mirrored east for west."""

    def word(match: re.Match[str]) -> str:
        old = match[1] or match[2]
        letters = _OF_WORD[re.sub(r"[- ]", "", old.lower())] if match[1] else old
        if letters not in _LETTERS or (match[2] and not old.isupper()):
            return match[0]
        at = _LETTERS.index(letters)
        new = _LETTERS[(-at if mirrored else at + 4 * quarters) % 16]
        return new if match[2] else _WORDS[new].capitalize() if old[0].isupper() else _WORDS[new]

    return _COMPASS.sub(word, text)


Way = TypeVar("Way", Move, StartFact)


def turn_of(fact: Way, quarters: int, mirrored: bool) -> Way:
    if fact.direction is None:
        return fact
    angle = math.pi - fact.direction.angle if mirrored else fact.direction.angle - quarters * math.pi / 2.0
    return replace(fact, direction=Direction(angle))


def told(facts: BriefFacts) -> list[tuple[object, ...]]:
    """Returns what is compared: all that does not depend on the words."""
    ways: list[Move | StartFact] = [*([facts.start] if facts.start else []), *facts.moves]
    found: list[tuple[object, ...]] = [(facts.victims, facts.stationary, facts.short_of_it)]
    for way in ways:
        angle = None if way.direction is None else round(math.degrees(way.direction.angle), 3) % 360.0
        rest = (way.reference, way.searched) if isinstance(way, Move) else ()
        found.append((way.distance, angle, *rest))
    return found


@pytest.mark.parametrize(("quarters", "mirrored"), [(1, False), (2, False), (0, True)])
def test_the_reading_turns_with_the_story(quarters: int, mirrored: bool) -> None:
    assert len(STORIES) > 120
    wrong = []
    for text in STORIES:
        facts = parse_brief(text)
        follows = replace(
            facts,
            start=facts.start and turn_of(facts.start, quarters, mirrored),
            moves=tuple(turn_of(move, quarters, mirrored) for move in facts.moves),
        )
        if told(parse_brief(turned(text, quarters, mirrored))) != told(follows):
            wrong.append(turned(text, quarters, mirrored))
    assert not wrong


@pytest.mark.parametrize("text", STORIES[::9])
def test_the_prior_turns_with_the_story(text: str) -> None:
    def middle(words: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        random = np.random.default_rng(0)
        ends = sample(parse_brief(words), None, np.zeros(2), PriorSettings(samples=4000), random).ends
        return np.asarray(np.median(ends, axis=0))

    east, north = middle(text)
    width = 0.12 * math.hypot(east, north) + 40.0
    assert middle(turned(text, quarters=1)) == pytest.approx([north, -east], abs=width)
    assert middle(turned(text, quarters=2)) == pytest.approx([-east, -north], abs=width)
    assert middle(turned(text, mirrored=True)) == pytest.approx([-east, north], abs=width)


SAME = (
    (
        "Anna left the hut and walked 600 m north. The drone is 200 m west of the hut.",
        "The drone is 200 m west of the hut. Anna left the hut and walked 600 m north.",
        "You take off two hundred metres to the west of the hut. From the hut Anna went six hundred metres northwards.",
        "Anna was last seen 600 m N of the hut. T/O 200 m W of hut.",
        "LAST SEEN: 0.6 km N of the hut\nDRONE: 200 m W of the hut\nMISSING: Anna",
        "Hut = landmark. Drone start: 200 m W of hut. Last position: 600 m N of hut. Name: Anna.",
        "Anna is on a bearing of 000 degrees from the hut, range 600 m; your launch site is 200 m on 270 degrees from "
        "the hut.",
        "The hut lies 200 m east of you, and Anna was seen 600 m north of the hut.",
    ),
    (
        "He is missing. Last seen 450 m south-east of where you take off.",
        "Missing: 1 man. Four hundred and fifty metres SE of your launch point he was seen last.",
        "From your position go south-east, four five zero metres: that is where he was.",
        "A man. South-east of T/O, 450 m.",
        "You are north-west of him, he says, 450 metres.",
    ),
    (
        "From the lodge he walked 800 m east, then 300 m south. Drone at the lodge.",
        "Leg 1: E 800 m from lodge\nLeg 2: S 300 m\nDrone at lodge",
        "Drone: lodge. He set off from the lodge to the east for 0.8 km and there turned south; 300 m on he was lost.",
        "He was seen 800 m E and 300 m S of the lodge. You start from the lodge.",
        "T/O lodge. Fm lodge 800 E, then 300 S.",
    ),
)


@pytest.mark.parametrize("stories", SAME)
def test_a_paraphrase_is_the_same_place(stories: tuple[str, ...]) -> None:
    def line(text: str) -> tuple[float, float]:
        """Returns where the first reading ends, m from the drone's start, without its doubts."""
        facts = parse_brief(text)
        at = np.zeros(2)
        start = facts.start
        first = facts.moves[0]
        if first.reference.value != "vehicle" and start is not None and start.distance and start.direction:
            angle = start.direction.angle
            at -= start.distance.metres * np.array([math.cos(angle), math.sin(angle)])
        for number, move in enumerate(facts.moves):
            if number and move.reference.value != "previous":
                break
            assert move.distance is not None and move.direction is not None, text
            at += move.distance.metres * np.array([math.cos(move.direction.angle), math.sin(move.direction.angle)])
        return float(at[0]), float(at[1])

    for text in stories:
        assert line(text) == pytest.approx(line(stories[0]), abs=5.0), text
        assert parse_brief(text).victims == 1, text


@pytest.mark.parametrize("names", [("Maria", "Tomas"), ("Wu", "Li"), ("Femke", "Sanne")])
def test_names_are_names(names: tuple[str, str]) -> None:
    story = (
        "Missing are {} and {}. The drone starts 50 m north of the tent. {} went 200 m east of the tent. {} lies 100 m "
        "west of the tent."
    )
    facts = parse_brief(story.format(*names, *names))
    assert facts.names == names and facts.victims == 2
    assert [tuple(move.persons) for move in facts.moves] == [(name,) for name in names]
    assert told(facts) == told(parse_brief(story.format("Anna", "Ben", "Anna", "Ben")))
