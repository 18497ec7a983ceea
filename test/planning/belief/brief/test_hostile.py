"""Any text is read: without an exception, in time that grows with its length."""

from __future__ import annotations

import random
import time

import pytest

from esar_ros.planning.belief.brief import lexicon
from esar_ros.planning.belief.brief.form import facts_of, reading_of
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.brief.telling import questions, summary, told
from esar_ros.planning.belief.brief.tokens import LONGEST

WORDS = [*sorted(lexicon.TAG_OF), *sorted(lexicon.PEOPLE)[::6], *sorted(lexicon.TERRAIN), *sorted(lexicon.CATEGORIES)]
WORDS += sorted(
    lexicon.word_set("Anna Lind Missing Name Correction Hut POA dist range nan inf accuracy ping MGRS UTM lat")
)
WORDS += ["do not fly", "no-fly zone", "keep out", "avoid", "per cent", "o'clock"]
NUMBERS = [
    "34.0012N", "107.3110E", "34.0012, 107.3110", "49S", "49SBV 12345 66789", "49S 251234 3766123", "31UDQ4825111932",
    "34°00'04\"N 107°18'40\"E", "S33.85 W70.12345", "1e9", "0", "00", "007", "1/2", "3/0", "0/0", "1,200", "12:30",
    "2026-11-24", "50/30/20", "5%", "²³¹", "①", "٣٤", "½", "9" * 400, "9" * 16, ".5", "-", "3.4.5", "1.2.", "337 612",
]  # fmt: skip
SIGNS = [
    *".,;:!?()-–—'\"/&+=@°%#…“”’′″\n\t±",
    "\u202e",
    "\u0000",
    "é",
    "漢字",
    "👍",
    "\u0301",
    "ﬁ",
    "İ",
    "ß",
    "\ufeff",
    "\u2028",
]
FULL, SAMPLE = 200_000, 1500
LONGER = 8  # times a text, for which the time may grow twice as much; a quadratic reading would take 64 times
LEAST_TIME = 0.02  # s that a short text counts as at least, so that a clock's grain decides nothing


def text_of(draw: random.Random) -> str:
    parts = []
    for _ in range(draw.randint(1, 40)):
        kind = draw.random()
        word = draw.choice(WORDS if kind < 0.6 else NUMBERS if kind < 0.8 else SIGNS)
        case = draw.random()
        parts += [word.upper() if case < 0.1 else word.capitalize() if case < 0.25 else word]
        parts += [draw.choice([" ", " ", " ", "", " ", ",", ". "])]
    return "".join(parts)


def read_many(count: int, seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(count):
        text = text_of(draw)
        facts = parse_brief(text)
        assert 0.0 <= facts.unread <= 1.0, text
        assert facts_of(reading_of(facts), text).victims == facts.victims, text
        shown = "".join(run.words for line in told(text, facts) for run in line.runs)
        assert set("".join(shown.split())) <= set(text), text
        assert summary(facts) and (not facts.left or questions(text, facts)), text


def test_any_words_are_read() -> None:
    read_many(SAMPLE, seed=1)


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_any_words_of_a_long_sample_are_read() -> None:
    read_many(FULL, seed=2)


@pytest.mark.parametrize("text", ["You take off 300 m north of it.", "The drone starts 300 m north of the 5."])
def test_a_start_by_what_is_not_named_is_a_reading(text: str) -> None:
    start = reading_of(parse_brief(text)).start
    assert start is not None and start.landmark and start.metres == pytest.approx(300.0)


@pytest.mark.parametrize("text", ["0 to 0 clicks north", "between 0 and 0 m", "0 or 0 miles east of the hut"])
def test_a_range_of_nothing_is_read(text: str) -> None:
    assert all(move.distance is None for move in parse_brief(text).moves)


@pytest.mark.parametrize("digits", [16, 400, 4301])
def test_a_number_of_too_many_digits_is_left(digits: int) -> None:
    number = "9" * digits
    facts = parse_brief(f"The drone starts at the hut. He is {number} m north of the hut, {number} missing.")
    assert facts.victims == 1 and number in {number[: one.end - one.start] for one in facts.left}


LONG = (
    "nan m north of inf. ", "minus dist ", "Mr. ", "Correction: ", "a.", "(", "x,", "1 of them ", "300 m north ",
    "34.0012N ", "34.0012N 107.3110E ", "50/30/20 ", "do not ", "the hut ", "12:30 ", "child ", "1 ", "\n", "é",
    "Name: A, B\n", "no-fly ", "accuracy ", "49SBV 12 34 ", "100 m short of the col. ", "5%", "d", "N", "//", "°",
)  # fmt: skip


@pytest.mark.parametrize(
    "word", [pytest.param(word, marks=[pytest.mark.full] if number % 3 else []) for number, word in enumerate(LONG)]
)
def test_a_long_text_takes_no_long_time(word: str) -> None:
    def seconds(characters: int) -> float:
        text = word * (characters // len(word))
        begin = time.process_time()
        facts = parse_brief(text)
        told(text, facts)
        questions(text, facts)
        taken = time.process_time() - begin
        said = any(one.end == len(text) for one in facts.left)
        assert said or characters <= LONGEST, "what is too long is said"
        return taken

    short = max(LEAST_TIME, seconds(LONGEST // LONGER))
    assert any(seconds(5 * LONGEST) <= 2 * LONGER * short for _ in range(3)), "once without the collector's pauses"
