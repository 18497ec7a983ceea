"""The brief parser on phrasings of its own."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.planning.belief.brief.facts import Direction, Distance, Reference
from esar_ros.planning.belief.brief.parser import parse_brief


def degrees(direction: Direction | None) -> int | None:
    return None if direction is None else round(math.degrees(direction.angle))


def length(distance: Distance | None) -> float | None:  # m
    return None if distance is None else distance.metres


@pytest.mark.parametrize(
    ("text", "metres", "angle", "landmark"),
    [
        ("You will take off about 300 m north-east of the old mill.", 300, 45, "the old mill"),
        ("Launch position: half a kilometre south of the ford.", 500, -90, "the ford"),
        (
            "The drone has been set up two hundred yards to the west of the chapel, near the road.",
            182.88,
            180,
            "the chapel",
        ),
        ("We have the aircraft ready some 150 metres NW of the summit cross.", 150, 135, "the summit cross"),
        ("Your start is close to the upper hut.", None, None, "the upper hut"),
        ("The UAV stands 400 m from the car park.", 400, None, "the car park"),
    ],
)
def test_start(text: str, metres: Any, angle: Any, landmark: Any) -> None:
    start = parse_brief(f"A man is missing. {text} He wears blue.").start
    assert start is not None and start.landmark == landmark
    assert degrees(start.direction) == angle
    assert length(start.distance) == (pytest.approx(metres) if metres else None)


def test_a_way_from_the_landmark() -> None:
    facts = parse_brief(
        "Anna has been missing since noon. You start 200 m east of the lodge. "
        "She was last seen about three hundred metres south-west of the lodge."
    )
    (move,) = facts.moves
    assert (length(move.distance), degrees(move.direction), move.reference) == (300, -135, Reference.START)
    assert facts.victims == 1 and facts.names == ("Anna",)


def test_halves_of_ways_in_two_sentences_are_two() -> None:
    facts = parse_brief("The drone starts 50 m north of the bridge. He set off west. He fell 400 m from the bridge.")
    assert [None in (move.distance, move.direction) for move in facts.moves] == [True, True]


@pytest.mark.parametrize(
    ("brief", "first", "second"),
    [
        pytest.param(
            "Take-off is 100 m north of the tarn. They walked two hundred metres east of the tarn. "
            "From there tracks lead 150 m north.",
            (200, 0),
            (150, 90),
            id="a second way goes on from the first",
        ),
        pytest.param(
            "You start at the mill. Her radio was heard 700 m north and 250 m west of the mill.",
            (700, 90),
            (250, 180),
            id="two offsets are one place",
        ),
    ],
)
def test_two_moves_follow_each_other(brief: Any, first: Any, second: Any) -> None:
    facts = parse_brief(brief)
    assert [(length(m.distance), degrees(m.direction), m.reference) for m in facts.moves] == [
        (*first, Reference.START),
        (*second, Reference.PREVIOUS),
    ]


def test_a_way_on_from_the_landmark_that_was_left() -> None:
    facts = parse_brief("You start at the mill. Ida left the mill by the back door, north-east along the brook.")
    (move,) = facts.moves
    assert (degrees(move.direction), move.reference) == (45, Reference.START)


def test_abbreviations_and_degrees_do_not_hide_a_way() -> None:
    facts = parse_brief("You start at the mill. He is approx. 800 m from the mill, at 90° from it. It is 8 °C.")
    (move,) = facts.moves
    assert (length(move.distance), degrees(move.direction)) == (800, 0)


def test_what_is_said_to_the_vehicle_counts_before_a_launch_site() -> None:
    facts = parse_brief("He was seen 600 m west of the launch site of the gliders. You are at the chapel.")
    assert facts.start is not None and facts.start.landmark == "the chapel"


def test_wind_is_no_way() -> None:
    facts = parse_brief("A fresh wind from the north-east. We launch close to the pier. A westerly gale, 300 m sight.")
    assert facts.moves == ()


def test_names_of_places_are_no_way() -> None:
    facts = parse_brief("The drone waits near the jetty. They slept at the south beach and took the east trail.")
    assert facts.moves == ()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("We are looking for three hikers from Xi'an.", 3),
        ("Peng, 55, has been missing since dawn.", 1),
        ("Four young climbers are missing on the north face.", 4),
        ("Missing: two. Injured: one.", 3),
        ("", 1),
    ],
)
def test_number_of_missing(text: str, count: Any) -> None:
    assert parse_brief(text).victims == count


def test_statements_of_one_person_are_his() -> None:
    facts = parse_brief(
        "Missing are Maurice and Liliane. The drone starts 50 m north of the tent. "
        "Liliane went 200 m east of the tent. Maurice lies 100 m west of the tent."
    )
    assert [set(move.persons) for move in facts.moves] == [{"Liliane"}, {"Maurice"}]


def test_kinds_and_attitude() -> None:
    facts = parse_brief("He waits with a broken leg beside a blue rucksack; smoke was seen.")
    assert facts.stationary and facts.kinds >= {"backpack", "signal_flare"} and "tent" not in facts.kinds


def test_who_lies_somewhere_stays_there() -> None:
    assert parse_brief("The injured man lies below the cliff.").stationary
    assert not parse_brief("The hut lies below the cliff.").stationary


def test_not_reached() -> None:
    assert parse_brief("He cannot have reached the mark.").short_of_it
    assert not parse_brief("He reached the mark.").short_of_it


@given(st.text(max_size=400))
def test_any_text_gives_facts(text: str) -> None:
    assert parse_brief(text).victims >= 1


def test_a_foreign_text_gives_no_place() -> None:
    facts = parse_brief("一名登山者昨天在山脊附近失踪。")
    assert facts.start is None and facts.moves == () and facts.victims == 1


def test_companions_are_not_missing() -> None:
    assert parse_brief("The missing hiker is Wu, a man travelling with two friends.").victims == 1
    assert parse_brief("Two friends are missing. They left at dawn.").victims == 2


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("text", "references"),
    [
        ("The mill is 300 m north of the kiln. The kiln is 300 m south of the mill.", ["start", "previous"]),
        (
            "The drone is at the hut below the mill. A sock was found at the mill, 300 m north of the kiln. "
            "A shoe was found at the kiln, 500 m south of the mill.",
            ["other", "previous"],
        ),
    ],
)
def test_ways_that_begin_at_each_others_end_are_told_once(text: str, references: list[str]) -> None:
    """Neither begins at a known place, so that a walk from one to what it counts from would never end."""
    assert [move.reference.value for move in parse_brief(text).moves] == references


@pytest.mark.parametrize(
    "words",
    [
        "a ", "a-", "A ", "of ", "and ", "two a a ", "1,", "11 m ", "11 m north of ", "the ", "Ab ", "the hut of ",
        "wind from ", " ",
    ],
)  # fmt: skip
def test_a_brief_that_goes_round_in_circles_costs_no_time(words: Any) -> None:
    """The longest brief that a task may hold, made of one phrase: expressions that go back would take minutes."""
    began = time.process_time()
    assert parse_brief((words * 6000)[:5999] + ".").victims >= 1
    assert time.process_time() - began < 2.0


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        (
            "The hut is 350 m south of the drone's start. She was last seen 600 m north of the drone's start.",
            [(600, 90)],
        ),
        ("Our base is 2 km east of the drone's start. She was seen 450 m west of it.", [(2000, 0), (450, 180)]),
        ("The hut is 350 m south of the drone's start.", [(350, -90)]),  # nothing else tells of anybody
    ],
)
def test_where_a_place_lies_is_not_where_somebody_is(text: str, ways: list[tuple[int, int]]) -> None:
    moves = parse_brief(text).moves
    assert [(round(length(move.distance) or 0.0), degrees(move.direction)) for move in moves] == ways


def test_a_denial_of_what_its_sentence_tells_is_asked_about() -> None:
    facts = parse_brief("A boot was found 1200 m west of the drone's start; it isn't his.")
    assert [passage.content.value for passage in facts.left] == ["denied, or of others"]
    assert not parse_brief("She was last seen 300 m north of the drone's start, she could not walk.").left


def test_an_order_to_the_drone_makes_nobody_wait() -> None:
    assert not parse_brief("Stay below 120 m above the ground. He was seen 600 m north of the drone.").stationary
    assert parse_brief("He was told to stay below the cliff, 600 m north of the drone.").stationary


def test_an_age_between_commas_tells_of_nobody_else() -> None:
    assert parse_brief("Missing: Anna Berger, 67 years old, hiker, red anorak and a blue rucksack.").victims == 1
