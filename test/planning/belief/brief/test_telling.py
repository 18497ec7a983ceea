"""A reading in words."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.planning.belief.brief.facts import Direction, Distance
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.brief.telling import Run, measure, questions, summary, told
from esar_ros.planning.belief.brief.tokens import sentences

STORY = (
    "You take off 300 m north of the hut. Anna and Ben are missing. They went south of it for 20 minutes, then 400 m "
    "west.\nThe gully 200 m east of the hut was searched in vain. A dog barked, 70 m."
)


def meanings(text: str) -> list[tuple[str, ...]]:
    return [line.meanings for line in told(text, parse_brief(text))]


def test_each_sentence_has_its_meaning() -> None:
    assert meanings(STORY) == [
        ("the drone starts 300 m north (0°) from the hut",),
        (),
        ("1333 m by walking time south (180°) from the hut", "400 m west (270°) from there"),
        ("200 m east (90°) from the hut, searched in vain",),
        (),
    ]


def test_words_are_marked_as_understood_or_not() -> None:
    last = told(STORY, parse_brief(STORY))[-1]
    assert last.runs == (Run("A dog barked, ", None), Run("70 m", False), Run(".", None))
    first = told(STORY, parse_brief(STORY))[0]
    assert [run.words for run in first.runs if run.is_read] == ["300 m north"]


def test_what_was_not_read_is_told_with_what_it_is() -> None:
    text = (
        "Two men, Bo, 30, and Al, 34, left the inn. POA 50/30/20.\nDo not fly at the dam, he was at 34.0012N 107.3110E."
    )
    first, shares, last = told(text, parse_brief(text))
    assert first.warnings == ()
    assert "Two (a number of people)" in first.aside and "34 (an age)" in first.aside
    assert shares.warnings == ("not understood: 50/30/20 (percentages or shares)",)
    order, point = last.warnings
    assert order == "not obeyed: Do not fly at the dam"
    assert point.startswith("not understood: 34.0012N 107.3110E (coordinates: it is not known where the drone starts")


def test_each_kind_of_what_was_not_read_is_asked_once() -> None:
    text = "Do not fly at the dam. Keep away from the school. POA 50/30/20."
    asked = questions(text, parse_brief(text))
    assert len(asked) == 2 and asked[0].endswith(": Do not fly at the dam; Keep away from the school")
    assert questions("She is 300 m north of you.", parse_brief("She is 300 m north of you.")) == ()


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            STORY,
            (
                "missing: 2: Anna, Ben",
                "the drone starts 300 m north (0°) from the hut",
                "1 passage was not read, which widens the search",
            ),
        ),
        (
            "A man waits at the hut. The drone is at the hut.",
            (
                "missing: 1; waiting, or unable to move",
                "the drone starts at the hut",
                "nothing was understood of where they are",
            ),
        ),
        ("", ("missing: 1", "the drone's start is not told", "nothing was understood of where they are")),
    ],
)
def test_the_summary(text: str, lines: tuple[str, ...]) -> None:
    assert summary(parse_brief(text)) == lines


@pytest.mark.parametrize(
    ("bearing", "words"),
    [(0.0, "north (0°)"), (359.9, "north (0°)"), (44.0, "north-east (44°)"), (200.0, "south-south-west (200°)")],
)
def test_a_bearing_in_words(bearing: float, words: str) -> None:
    assert measure(None, Direction(math.radians(90.0 - bearing))) == words
    assert measure(Distance(50.0, 0.1), Direction(math.radians(90.0 - bearing))) == f"50 m {words}"


@given(
    st.lists(st.sampled_from(["300 m", "north", "of the hut", "he", "went", "100", ".", "\n", "it", "A", ",", "from"]))
)
def test_no_word_of_a_sentence_is_lost(words: list[str]) -> None:
    text = " ".join(words)
    lines = told(text, parse_brief(text))
    assert (
        "".join("".join(run.words for run in line.runs) for line in lines).split()
        == "".join(sentence.text for sentence in sentences(text)).split()
    )


def test_a_sentence_without_effect_is_said_once() -> None:
    text = "Anna is missing. Power line across the valley. Do not land on the glacier. She went 300 m north."
    assert [line.unused for line in told(text, parse_brief(text))] == ["", "Power line across the valley.", "", ""]


def test_a_sentence_that_says_that_they_wait_is_used() -> None:
    text = "Two hikers are 300 m north of the hut. They said that they would stay there. The weather is fine."
    lines = told(text, parse_brief(text))
    assert [bool(line.unused) for line in lines] == [False, False, True]
