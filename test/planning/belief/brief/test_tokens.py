"""Sentences and items, and the time that they take."""

from __future__ import annotations

import time
import timeit

import pytest

from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.brief.tokens import LONGEST, Item, joined, rewritten, rule, sentences


def test_sentences_and_lines() -> None:
    told = sentences('He left. "North," he said." She is approx. 40.\nName: Mr. Li\n\nT/O hut.')
    assert [one.text for one in told] == [
        "He left.",
        '"North," he said."',
        "She is approx. 40.",
        "Name: Mr. Li",
        "T/O hut.",
    ]


def test_items_know_where_they_stand() -> None:
    text = "A man.\nHe went 300 m north-north-east."
    for sentence in sentences(text):
        assert text[sentence.start : sentence.start + len(sentence.text)] == sentence.text
        assert all(text[item.start : item.end] == item.value for item in sentence.items)
    assert [item.value for item in sentence.items] == ["He", "went", "300", "m", "north-north-east", "."]


def test_a_rule_rewrites_from_left_to_right() -> None:
    items = [Item(tag, tag, n, n + 1) for n, tag in enumerate("aabab")]
    row = rewritten(items, [rule("ab", lambda two: joined(two, "c")), rule("ac", lambda two: joined(two, "d"))])
    assert [(item.tag, item.low, item.start, item.end) for item in row] == [("d", "a a b", 0, 3), ("c", "a b", 3, 5)]


HOSTILE = (
    "a ", "north ", "300 m ", "300 m north of the ", "from the ", "of ", "one hundred and ", "the old ", "you ", "(",
    ") (", "1 ", "1, ", "north-", "south", "he ", "Anna and ", "two men, ", "sat ", "not ", "'", "\n", ". A", ": ", "x",
    "9", "337 612 ", "two o'clock, ", " " * 7, "they see you at 1 m ", "500 m back from it, ",
)  # fmt: skip


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=[pytest.mark.full] if number % 4 else []) for number, part in enumerate(HOSTILE)]
)
def test_hostile_text_is_read_in_linear_time(part: str) -> None:
    def seconds(length: int) -> float:
        text = (part * length)[:length]
        return timeit.timeit(lambda: parse_brief(text), timer=time.process_time, number=1)  # no collector's pauses

    seconds(1000)
    assert seconds(LONGEST) < 12.0 * seconds(LONGEST // 4) + 0.5, "four times as much text; the square would be 16"
    assert seconds(50 * LONGEST) < 3.0 * seconds(LONGEST) + 0.5, "what is longer is not read"


def test_a_long_text_is_read_as_far_as_it_may_be() -> None:
    start = "He is missing. Last seen 300 m north of where you take off. "
    facts = parse_brief(start + "No news. " * 200_000)
    assert facts.moves == parse_brief(start).moves
