"""ArduCopter's flight modes, in the words and numbers in which the rules of bridges/px4 speak of modes.

Numbers by ArduPilot's source, ArduCopter/mode.h, `Mode::Number` (HEARTBEAT.custom_mode).
"""

from __future__ import annotations

from typing import Final

from esar_ros.bridges.px4.state import HOLD, LAND, OFFBOARD, RETURN

GUIDED, RTL, LANDING, BRAKE = 4, 6, 9, 17
# What each of the rules' modes is: GUIDED obeys velocities, BRAKE stands and takes no stick's word.
TO_COPTER: Final[dict[int, int]] = {OFFBOARD: GUIDED, HOLD: BRAKE, RETURN: RTL, LAND: LANDING}
_TO_RULES: Final = {copter: rules for rules, copter in TO_COPTER.items()}
NAMES: Final[dict[int, str]] = {
    0: "STABILIZE", 1: "ACRO", 2: "ALT_HOLD", 3: "AUTO", 4: "GUIDED", 5: "LOITER", 6: "RTL", 7: "CIRCLE", 9: "LAND",
    11: "DRIFT", 13: "SPORT", 14: "FLIP", 15: "AUTOTUNE", 16: "POSHOLD", 17: "BRAKE", 18: "THROW", 19: "AVOID_ADSB",
    20: "GUIDED_NOGPS", 21: "SMART_RTL", 22: "FLOWHOLD", 23: "FOLLOW", 24: "ZIGZAG", 25: "SYSTEMID", 26: "AUTOROTATE",
    27: "AUTO_RTL", 28: "TURTLE",
}  # fmt: skip
_BASE: Final = 100  # above all numbers of PX4's modes
_LAST: Final = 155  # with the base, the largest number of a message's field


class OtherMode(int):
    """A mode of ArduCopter that is none of the rules' own; it prints as ArduPilot calls it."""

    @property
    def copter(self) -> int:
        """ArduCopter's number."""
        return int(self) - _BASE

    def __format__(self, spec: str) -> str:
        """Returns ArduPilot's name, whatever the spec."""
        return copter_name(self.copter)


def copter_name(custom_mode: int) -> str:
    """ArduPilot's name of a mode."""
    return NAMES.get(custom_mode, f"mode {custom_mode}")


def nav_state(custom_mode: int) -> int:
    """A mode of ArduCopter by its number in the rules."""
    return _TO_RULES.get(custom_mode, OtherMode(_BASE + min(max(custom_mode, 0), _LAST)))
