"""The brief as models get it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from esar_ros.mission.observation import Brief
from esar_ros.planning.exchange import clean_lines
from esar_ros.planning.sectors import mission_words


@pytest.mark.parametrize(
    ("text", "most", "told"),
    [
        ("Missing: 2\r\n\n  Seen:\t hut \x00", 99, "Missing: 2\nSeen: hut"),
        ("one\ntwo", 5, "one\n…"),
        ("a" * 9, 4, "aaa…"),
        (" \n ", 9, ""),
    ],
)
def test_lines_are_kept_and_cleaned(text: str, most: int, told: str) -> None:
    assert clean_lines(text, most) == told


def test_a_model_gets_the_lines_of_a_form(brief: Callable[..., Brief]) -> None:
    form = "Missing: 2\nDrone: hut"
    assert f'"{form}"' in mission_words(brief(prompt=form))
