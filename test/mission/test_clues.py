"""Kinds of clues as texts name them."""

from __future__ import annotations

import pytest

from esar_ros.mission.clues import kinds_named


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("A Tent stood by two ropes; a light was seen.", ["tent", "rope", "light"]),
        ("Clear morning, light wind; he had a water bottle.", ["water_bottle"]),
        ("Light rain. She wore a light jacket and carried a trekking pole.", ["trekking_pole"]),
        ("They were content in Europe; a slight, lightly dressed woman.", []),
        ("Light rain, and later a light on the slope.", ["light"]),
    ],
)
def test_a_kind_is_named_by_its_own_name_as_a_thing(text: str, kinds: list[str]) -> None:
    assert kinds_named(text) == kinds
