"""PX4's own landings as the vehicle's state tells them."""

from __future__ import annotations

import pytest

from esar_ros.bridges.px4 import state
from esar_ros.bridges.px4.descent import Descent


@pytest.mark.parametrize(
    ("mode", "touches", "height", "down"),
    [
        ("LAND", False, 30.0, True), ("RETURN", False, 30.0, False), ("RETURN", False, 4.0, True),
        ("RETURN", False, None, False), ("HOLD", False, 4.0, False), ("OFFBOARD", True, 4.0, True),
    ],
)  # fmt: skip
def test_px4_s_own_return_comes_down_where_the_ground_is_near(
    mode: str, touches: bool, height: float | None, down: bool
) -> None:
    """Its mode is the same all the way: without this the ground that it lands on is an obstacle within reach."""
    assert Descent().is_coming_down(getattr(state, mode), touches, height) is down


def test_ground_that_one_scan_does_not_show_ends_no_descent() -> None:
    descent = Descent()
    heights = [30.0, 4.0, None, 0.4, None]
    assert [descent.is_coming_down(state.RETURN, False, height) for height in heights] == [
        False,
        True,
        True,
        True,
        True,
    ]
    assert not descent.is_coming_down(state.RETURN, False, 12.0), "it climbs away"
    assert descent.is_coming_down(state.RETURN, False, 4.0)
    assert not descent.is_coming_down(state.HOLD, False, None)
    assert not descent.is_coming_down(state.RETURN, False, None), "another return, whose ground was not seen yet"
