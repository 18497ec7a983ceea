"""ArduCopter's parameters on which a flight by this graph depends: what each must be, and what happens otherwise.

Values are those of ArduPilot 4.7 (development, July 2025: ArduCopter/Parameters.cpp, libraries/AC_Fence, AP_Arming,
AP_BattMonitor). A parameter that a firmware does not have is named, too: some were renamed from 4.6 to 4.7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from esar_ros.bridges.px4.parameters import Finding, Grade, Rule

LONGEST_LOSS = 1.0  # s without set-points until it stops
LOWEST_RETURN = 15.0  # m above home: the default, which is below most trees
_SYSTEM_ID: Final = ("MAV_SYSID", "SYSID_THISMAV")  # since 4.7, and before


def _one_of(*values: int) -> Callable[[float], bool]:
    return lambda value: value in values


RULES: Final = (
    Rule(
        "GUID_TIMEOUT",
        lambda v: 0.0 < v <= LONGEST_LOSS,
        "set 1.0: for so long (3 s by default) the last velocity is flown on when the bridge or its link dies",
    ),
    Rule(
        "FS_GCS_ENABLE",
        lambda v: v > 0.0,
        "0: when the bridge dies it stops and hovers until its battery failsafe, also when nobody is left to talk to "
        "it; set 1 (return) where a ground station is connected all the time",
        Grade.NOTE,
    ),
    Rule(
        "FS_THR_ENABLE",
        lambda v: v > 0.0,
        "0: a lost remote control changes nothing, and nobody can take over; set 1 (return)",
    ),
    Rule(
        "FS_OPTIONS",
        lambda v: not int(v) & 0b0100,
        "bit 2 goes on in GUIDED when the remote control is lost: nobody can take over",
        Grade.NOTE,
    ),
    Rule("FS_EKF_ACTION", _one_of(1, 2, 3), "set 1 (land): otherwise a lost position is only reported"),
    Rule("FS_EKF_THRESH", lambda v: 0.0 < v <= 1.0, "set 0.8: 0 turns the check of the estimator off"),
    Rule(
        "BATT_FS_LOW_ACT",
        _one_of(1, 2, 3, 4, 6, 7),
        "set 2 (return): otherwise a low battery is only reported, or the motors stop in the air (5)",
    ),
    Rule(
        "BATT_FS_CRT_ACT",
        _one_of(1, 2, 3, 4, 6, 7),
        "set 1 (land): otherwise a critical battery is only reported, or the motors stop in the air (5)",
    ),
    Rule("BATT_LOW_VOLT", lambda v: v > 0.0, "0: no voltage counts as low; set it, or BATT_LOW_MAH", Grade.NOTE),
    Rule("BATT_CRT_VOLT", lambda v: v > 0.0, "0: no voltage counts as critical; set it, or BATT_CRT_MAH", Grade.NOTE),
    Rule("BATT_MONITOR", lambda v: v > 0.0, "0: no battery is measured, and it is not armed"),
    Rule("FENCE_ENABLE", lambda v: v > 0.0, "0: ArduPilot's own fence is off; set 1, FENCE_RADIUS and FENCE_ALT_MAX"),
    Rule("FENCE_ACTION", _one_of(1, 2, 3, 4, 5), "0: that its own fence is left is only reported; set 1 (return)"),
    Rule(
        "RTL_ALT",
        lambda v: v > 100.0 * LOWEST_RETURN,
        f"it returns at this height (cm above home): {LOWEST_RETURN:.0f} m is the default; set it above everything "
        "that stands on the way",
    ),
    Rule(
        "DISARM_DELAY",
        lambda v: v > 0.0,
        "set 10: otherwise an armed vehicle that never took off stays armed",
        Grade.NOTE,
    ),
    Rule(
        "GUID_OPTIONS",
        lambda v: not int(v) & 0b1011_0000,
        "bits 4 and 5: a velocity of zero is no place that it keeps; bit 7: the wind turns it, and its cameras",
        Grade.NOTE,
    ),
    Rule("ARMING_CHECK", lambda v: v > 0.0, "0: nothing is checked before it is armed; set 1 (all)"),
)  # fmt: skip


def findings(values: Mapping[str, float], system_id: int | None = None) -> list[Finding]:
    """Returns what needs a person's eye, in the table's order; as `bridges.px4.parameters.findings` for PX4."""
    found = []
    for rule in RULES:
        value = values.get(rule.name)
        if value is None:
            found.append(Finding(rule.name, None, Grade.MISSING, f"the vehicle has no such parameter; {rule.text}"))
        elif not rule.is_well(value):
            found.append(Finding(rule.name, value, rule.grade, rule.text))
    name = next((name for name in _SYSTEM_ID if name in values), _SYSTEM_ID[0])
    if system_id is not None and values.get(name) != system_id:
        text = f"commands go to system {system_id}: set it, or system_id in config/ardupilot.yaml"
        grade = Grade.UNSAFE if name in values else Grade.MISSING
        found.append(Finding(name, values.get(name), grade, text))
    return found
