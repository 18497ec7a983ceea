"""Names for the numbers of msg/SafetyStatus.msg, msg/Report.msg and msg/VehicleState.msg (a test holds them equal)."""

from __future__ import annotations

MODES: dict[int, str] = {
    0: "unknown",
    1: "normal",
    2: "slow",
    3: "hold",
    4: "climb",
    5: "return",
    6: "land",
    7: "terminate",
}

REASONS: dict[int, str] = {
    0: "none",
    1: "non_finite",
    2: "speed",
    3: "acceleration",
    4: "yaw_rate",
    5: "fence",
    6: "ceiling",
    7: "floor",
    8: "obstacle",
    9: "unknown_space",
    10: "stale_command",
    11: "stale_odometry",
    12: "stale_ranges",
    13: "stale_map",
    14: "clock_jump",
    15: "battery_reserve",
    16: "battery_empty",
    17: "link",
    18: "not_flying",
    19: "breach",
    20: "keep_out",
    21: "traffic",
    22: "estimator",
    23: "conditions",
}
REASON_NOT_FLYING = 18

CLUE, VICTIM = 1, 2
ON_GROUND, FLYING, LANDING = 1, 2, 3
DECISION_DONE, DECISION_THINKING, DECISION_STOP = 1, 2, 3


def mode_name(value: int) -> str:
    """Word for SafetyStatus.mode."""
    return MODES.get(value, str(value))


def reason_name(value: int) -> str:
    """Word for SafetyStatus.reason."""
    return REASONS.get(value, str(value))
