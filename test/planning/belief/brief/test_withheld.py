"""Clauses that deny, forbid, ask, share out, or tell of others are no ways, and are shown."""

from __future__ import annotations

import pytest

from esar_ros.planning.belief.brief.facts import Content
from esar_ros.planning.belief.brief.parser import corrected, parse_brief
from esar_ros.planning.belief.brief.telling import told

START = "The drone starts at the hut. "


@pytest.mark.parametrize(
    "words",
    [
        "She is certainly not 300 m south of the hut.",
        "He cannot have crossed it, so not west of the river.",
        "She did not go east.",
        "She didn't, her father says, go east.",
        "They never went 400 m north of the hut.",
        "No ground teams on the east-facing slopes.",
        "Is she 300 m south of the hut?",
        "It is unlikely that he is 300 m south of the hut.",
        "He was seen 300 m south of the hut. That report is false.",
        "He was seen 300 m south of the hut. That's wrong.",
        "He was seen 300 m south of the hut. Please ignore that.",
        "POA: north slope 50 %.",
        "Team 2 followed the path: POD 90 % within 20 m south of it.",
        "His friend is safe and walked 300 m east of the hut.",
        "Keep 660 feet away, south of the nest.",
        "Eagle's nest closure: 660 feet south of the tall cottonwood.",
    ],
)
def test_they_are_no_ways_and_are_shown(words: str) -> None:
    text = START + words
    facts = parse_brief(text)
    assert facts.moves == ()
    assert {one.content for one in facts.left} & {Content.DENIAL, Content.PROHIBITION}
    assert any(line.warnings for line in told(text, facts))


@pytest.mark.parametrize(
    "words",
    [
        "Ann has not returned, last seen 400 m east of the hut.",
        "He did not come home and was last seen 400 m east of the hut.",
        "Not at the hut, but 400 m east of it.",
        "No. He is 400 m east of the hut.",
        "He is 400 m east of the hut and cannot walk.",
    ],
)
def test_what_a_denial_does_not_hold_is_read(words: str) -> None:
    assert len(parse_brief(START + words).moves) == 1


@pytest.mark.parametrize(
    "words",
    [
        "She took a wrong turn at the hut and is 400 m east of it.",
        "He did not forget his map, but is 400 m east of the hut.",
        "He may ignore the signs, and was last seen 400 m east of the hut.",
        "He was last seen at 12 o'clock, 400 m east of the hut.",
    ],
)
def test_a_wrong_turn_and_a_time_of_day_take_nothing_back(words: str) -> None:
    (move,) = parse_brief(START + words).moves
    assert move.distance is not None and move.distance.metres == 400.0 and move.direction is not None


def test_a_back_that_is_broken_is_nobody_who_is_back() -> None:
    (move,) = parse_brief(START + "The man's back is broken, he lies 300 m south of the hut.").moves
    assert move.distance is not None and move.distance.metres == 300.0


@pytest.mark.parametrize(
    ("text", "victims", "names"),
    [
        ("Nobody knows where Anna, 8, is.", 1, ("Anna",)),
        ("Have you seen Anna and Ben, who are missing?", 2, ("Anna", "Ben")),
        ("Stay clear of the two climbers, who have been missing since noon.", 2, ()),
        ("Avoid flying over Ann and Bob, who are missing.", 2, ("Ann", "Bob")),
        ("Don't lose the three missing hikers from sight.", 3, ()),
        ("A man is missing. Stay clear of the two climbers on the wall.", 1, ()),
    ],
)
def test_who_is_missing_is_counted_in_them(text: str, victims: int, names: tuple[str, ...]) -> None:
    facts = parse_brief(text)
    assert facts.victims == victims and facts.names == names


@pytest.mark.parametrize("words", ["Ann is not at the hut.", "Nobody knows where Anna, 8, is."])
def test_one_that_tells_no_way_is_shown_and_widens_nothing(words: str) -> None:
    (line,) = told(words, facts := parse_brief(words))
    assert any(words.rstrip(".") in aside and "denied" in aside for aside in line.aside)
    assert facts.left == ()


def test_a_correction_that_denies_takes_back() -> None:
    text = START + "She is 300 m south of the hut."
    assert len(parse_brief(text).moves) == 1
    assert parse_brief(corrected(text, "she is not 300 m south of the hut")).moves == ()


def test_an_order_at_the_head_of_a_correction_leaves_it_one() -> None:
    text = corrected("Two men are missing.", "do not fly at the mill. Three men are missing")
    assert parse_brief(text).victims == 3


def test_coordinates_that_are_denied_are_not_used() -> None:
    (one,) = parse_brief("Drone at 34.0000N 107.3100E.\nShe was not seen at 34.0050N 107.3130E.").left
    assert one.content is Content.COORDINATES and "denied" in one.why


@pytest.mark.parametrize("words", ["He was seen at 1,980 m, going south-west."])
def test_a_height_is_no_distance(words: str) -> None:
    (move,) = parse_brief(START + words).moves
    assert move.distance is None


def test_a_vehicle_that_was_found_is_not_where_the_drone_starts() -> None:
    facts = parse_brief("Vehicle found at the trailhead. He planned to hunt 3 km north of the vehicle.")
    assert facts.start is None and all(move.reference.value == "start" for move in facts.moves)


def test_an_illness_and_a_team_are_no_names() -> None:
    assert parse_brief("Karl has dementia (Alzheimer's). Sector 3 was done by Bergwacht.").names == ()


def test_a_start_that_was_read_is_not_said_to_be_unused() -> None:
    text = "The drone stands at the mill."
    assert [line.unused for line in told(text, parse_brief(text))] == [""]
