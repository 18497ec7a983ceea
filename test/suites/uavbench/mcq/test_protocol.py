"""Answers are read as stated or not at all; orders treat every place alike."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.suites.uavbench.mcq.item import LETTERS, OPTIONS
from esar_ros.suites.uavbench.mcq.protocol import (
    PROTOCOLS,
    Outcome,
    may_be_shuffled,
    order_of,
    read_as_paper,
    read_as_stated,
)
from helpers.questions import make_item

OPTION_TEXTS = ("A steep climb", "Hold", "Descend slowly", "Answer now", "Go", "A-frame survey", "Turn")

STATED = {
    "C": "C",
    "C.": "C",
    "(C)": "C",
    "**C**": "C",
    "Answer: C": "C",
    "**Answer:** C": "C",
    "The answer is **C**.": "C",
    "Answer: (E)": "E",
    "Answer: option C": "C",
    "Answer: C- Descend slowly": "C",
    '{"answer": "D"}': "D",
    '```json\n{"answer": "D"}\n```': "D",
    "B- Hold": "B",
    "B) Hold position until the gust is over": "B",
    "A steep climb": "A",
    "answer: a steep climb.": "A",
    "Answer: A-frame survey": "F",
    "Answer: C. On second thought, answer: D": "D",
    "It cannot be (B).\nAnswer: G": "G",
    "<think>Answer: B, or (A)?</think>\nC": "C",
    "so it is B</think>Answer: C": "C",
    "I think\n\nE\n": "E",
}
UNREAD = (
    "",
    "Considering all of this",
    "I choose C",
    "A climb is best",
    "Answer: A climb",
    "The answer is a matter of taste",
    "Both (A) and (B)",
    "(A) is wrong. **B** is right.",
    "B- Climb",
    "<think>Answer: B",
    "answer: h",
    "?",
)


@pytest.mark.parametrize("text", STATED)
def test_a_stated_letter_is_read(text: str) -> None:
    assert read_as_stated(text, "stop", OPTION_TEXTS) == (Outcome.ANSWERED, LETTERS.index(STATED[text]))


@pytest.mark.parametrize("text", UNREAD)
def test_nothing_is_guessed(text: str) -> None:
    assert read_as_stated(text, "stop", OPTION_TEXTS) == (Outcome.UNPARSED, None)


def test_an_answer_that_was_cut_is_none() -> None:
    assert read_as_stated("Answer: C, or rather", "length", OPTION_TEXTS) == (Outcome.TRUNCATED, None)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(LETTERS), st.text(max_size=60))
def test_the_asked_for_ending_is_read_after_any_words(letter: str, words: str) -> None:
    text = f"<think>{words.replace('<', '')}</think>{words.replace('<', '')}\nAnswer: {letter}"
    assert read_as_stated(text, "stop", OPTION_TEXTS) == (Outcome.ANSWERED, LETTERS.index(letter))


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=80))
def test_any_words_are_read_without_an_error(text: str) -> None:
    for protocol in PROTOCOLS.values():
        outcome, place = protocol.read(text, "stop", OPTION_TEXTS)
        assert (place is not None) == (outcome is Outcome.ANSWERED)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("C", "C"),
        ("c) yes", "C"),
        ("Answer: C", "A"),
        ("Considering", "C"),
        ("Both", "B"),
        ("I say E", "E"),
        ("Yes!", "E"),
    ],
)
def test_the_paper_makes_a_letter_of_nearly_any_words(text: str, letter: str) -> None:
    assert read_as_paper(text, "stop", OPTION_TEXTS) == (Outcome.ANSWERED, LETTERS.index(letter))


def test_the_paper_reads_no_letter_from_words_without_one() -> None:
    assert read_as_paper("", "stop", OPTION_TEXTS) == (Outcome.UNPARSED, None)
    assert read_as_paper("Sorry 1", "length", OPTION_TEXTS) == (Outcome.TRUNCATED, None)


def test_a_prompt_holds_all_that_is_needed_and_not_the_key() -> None:
    item = make_item(reason="SECRET")
    for protocol in PROTOCOLS.values():
        system, user = protocol.messages(item, order_of(item, 3))
        assert (system["role"], user["role"]) == ("system", "user")
        assert item.description in user["content"] and item.question in user["content"]
        shown = [f"{LETTERS[i]}- {item.options[place]}" for i, place in enumerate(order_of(item, 3))]
        assert "\n".join(shown) in user["content"]
        assert "SECRET" not in user["content"]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 500), st.integers(0, OPTIONS - 1))
def test_over_seven_orders_the_right_option_stands_once_in_each_place(number: int, key: int) -> None:
    item = make_item(number, key=key)
    orders = [order_of(item, i) for i in range(OPTIONS)]
    assert orders[0] == tuple(range(OPTIONS))
    assert all(sorted(order) == list(range(OPTIONS)) for order in orders)
    assert sorted(order.index(key) for order in orders) == list(range(OPTIONS))
    assert orders == [order_of(item, i) for i in range(OPTIONS)]


def test_the_wrong_options_are_shuffled_too() -> None:
    items = [make_item(i) for i in range(40)]
    rest = [[place for place in order_of(item, 1) if place != item.key] for item in items]
    assert sum(places != sorted(places) for places in rest) > 35


@pytest.mark.parametrize(
    "text", ["All of the above", "None of the others", "Both A and C", "Do what option B says", "Either of the options"]
)
def test_options_that_name_places_are_not_shuffled(text: str) -> None:
    item = make_item()
    assert may_be_shuffled(item)
    assert not may_be_shuffled(make_item(options=(*item.options[:6], text)))


def test_words_that_look_like_letters_are_shuffled() -> None:
    assert may_be_shuffled(make_item(question="Is the best option a climb or a descent?"))
