"""Words of commands: each is what it means or one line that says what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.suites.rescuebench.protocol_server import words
from esar_ros.suites.rescuebench.protocol_server.names import CAMERAS, Kind, listed

PLAYER = next(name for name in listed(0) if words.thing_of(name)[0] is Kind.PLAYER)
VICTIM = next(name for name in listed(0) if words.thing_of(name)[0] is Kind.VICTIM)


def test_what_is_said_is_read() -> None:
    assert [words.camera_of(str(number)) for number in range(len(CAMERAS))] == list(range(len(CAMERAS)))
    assert words.placed_thing_of(VICTIM) == words.thing_of(VICTIM)
    words.check_player(PLAYER)
    assert words.number_of("-1e3") == -1000.0
    assert [words.channel_of(word) for word in ("0", "254.6", "255")] == [0, 255, 255]


@pytest.mark.parametrize(
    ("read", "word"),
    [
        (words.camera_of, str(len(CAMERAS))),
        (words.camera_of, "-1"),
        (words.camera_of, "01"),
        (words.thing_of, "nobody"),
        (words.placed_thing_of, f"{Kind.DRONE.value}1"),
        (words.check_player, VICTIM),
        (words.number_of, "nan"),
        (words.number_of, "inf"),
        (words.number_of, "1e9"),
        (words.channel_of, "256"),
        (words.channel_of, "-1"),
    ],
)
def test_what_means_nothing_is_refused_in_a_line(read: Callable[[str], Any], word: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(word)
    assert "\n" not in str(caught.value)


def test_what_is_no_number_is_no_number() -> None:
    with pytest.raises(ValueError):
        words.number_of("north")


def test_answers_are_plain_words() -> None:
    assert words.words_of([1.0, -2.34567]) == "1.000 -2.346"
    assert (words.digit_of(True), words.digit_of(False)) == ("1", "0")
