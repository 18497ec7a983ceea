"""ArduCopter's modes by the rules' numbers and ArduPilot's names."""

from __future__ import annotations

import pytest

from esar_ros.bridges.ardupilot.modes import NAMES, TO_COPTER, copter_name, nav_state
from esar_ros.bridges.px4.state import MODE_NAMES, mode_name


def test_the_rules_own_modes_go_there_and_back() -> None:
    assert {rules: nav_state(copter) for rules, copter in TO_COPTER.items()} == {rules: rules for rules in TO_COPTER}
    assert {copter_name(copter) for copter in TO_COPTER.values()} == {"GUIDED", "BRAKE", "RTL", "LAND"}


@pytest.mark.parametrize("custom", [number for number in NAMES if number not in TO_COPTER.values()])
def test_a_mode_that_is_none_of_them_is_told_by_ardupilots_name(custom: int) -> None:
    mode = nav_state(custom)
    assert mode not in MODE_NAMES and mode_name(mode) == NAMES[custom]


@pytest.mark.parametrize("custom", [30, 127, 155, 4_000_000_000])
def test_a_mode_that_nobody_knows_fits_the_messages_field(custom: int) -> None:
    assert 100 <= nav_state(custom) <= 255 and mode_name(nav_state(custom)).startswith("mode ")
