"""PX4's own landings as the vehicle's state tells them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from esar_ros.bridges.px4 import state
from esar_ros.nodes.px4_bridge import Px4BridgeNode


@pytest.mark.parametrize(
    ("mode", "height", "down"),
    [
        ("LAND", 30.0, True), ("RETURN", 30.0, False), ("RETURN", 4.0, True), ("RETURN", None, False),
        ("HOLD", 4.0, False),
    ],
)  # fmt: skip
def test_px4_s_own_return_comes_down_where_the_ground_is_near(mode: str, height: float | None, down: bool) -> None:
    """Its mode is the same all the way: without this the ground that it lands on is an obstacle within reach."""
    bridge = SimpleNamespace(
        _state=SimpleNamespace(nav_state=getattr(state, mode)),
        _told=SimpleNamespace(height=height),
        _offboard=SimpleNamespace(running=None),
    )
    assert Px4BridgeNode._is_coming_down(bridge) is down  # type: ignore[arg-type]
