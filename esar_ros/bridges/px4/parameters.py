"""PX4 parameters on which a flight by this graph depends: what each must be, and what happens otherwise.

Values are those of PX4 1.17 (src/modules/commander/commander_params.yaml, src/modules/navigator). A parameter that a
firmware does not have is named, too: nobody has looked at what stands in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

LONGEST_LOSS = 1.0  # s without set-points until PX4 acts
LONGEST_DELAY = 10.0  # s of hold before a failsafe acts
LEAST_DRAIN = 3600.0  # s in which SITL's battery may drain
LOWEST_RETURN = 30.0  # m above home: the default, which is below most trees on a slope


class Grade(Enum):
    """The weight of a finding."""

    UNSAFE = "unsafe"  # a vehicle may fall, fly away, or not be stopped
    NOTE = "note"  # a choice that a person should have made on purpose
    MISSING = "missing"


@dataclass(frozen=True)
class Finding:
    """A parameter that needs a person's eye. value: None where the vehicle has none of this name."""

    name: str
    value: float | None
    grade: Grade
    text: str


@dataclass(frozen=True)
class Rule:
    """A parameter, when a value of it is well, and what follows otherwise."""

    name: str
    is_well: Callable[[float], bool]
    text: str  # what happens otherwise, and what to set
    grade: Grade = Grade.UNSAFE
    of_simulator: bool = False  # a vehicle lacks it


def _one_of(*values: int) -> Callable[[float], bool]:
    return lambda value: value in values


RULES: Final = (
    Rule(
        "COM_OBL_RC_ACT",
        _one_of(3, 4, 5),
        "set 5 (hold), 3 (return) or 4 (land): otherwise a bridge that dies leaves the vehicle to a person's "
        "sticks (0 to 2) or drops it (6, 7)",
    ),
    Rule(
        "COM_OF_LOSS_T",
        lambda v: 0.0 <= v <= LONGEST_LOSS,
        "set 1.0: for so long the last velocity is flown on when the bridge dies",
    ),
    Rule(
        "COM_FAIL_ACT_T",
        lambda v: 0.0 <= v <= LONGEST_DELAY,
        "set 5.0: for so long it holds before a failsafe acts",
        Grade.NOTE,
    ),
    Rule(
        "NAV_RCL_ACT",
        _one_of(1, 2, 3),
        "set 2 (return): otherwise a lost remote control stops the motors in the air (5, 6) or does nothing",
    ),
    Rule(
        "COM_RCL_EXCEPT",
        lambda v: not int(v) & 0b1100,
        "bits 2 and 3 leave out offboard and external modes: a lost remote control then changes nothing, and "
        "nobody can take over",
        Grade.NOTE,
    ),
    Rule(
        "COM_RC_OVERRIDE",
        lambda v: int(v) & 1 == 1,
        "set 1, or 3 for offboard too: otherwise sticks do not take over, the mode switch alone does",
        Grade.NOTE,
    ),
    Rule(
        "NAV_DLL_ACT",
        _one_of(0, 1, 2, 3),
        "a lost ground station stops the motors in the air (5, 6): set 0, or 2 (return); above 0 it arms with"
        " a ground station alone",
    ),
    Rule(
        "COM_LOW_BAT_ACT",
        _one_of(2, 3),
        "set 3 (return, then land): otherwise an empty battery is only reported, and the governor alone brings it home",
    ),
    Rule(
        "GF_ACTION",
        _one_of(2, 3, 5),
        "set 2 (hold) or 3 (return): 0 and 1 do nothing at PX4's own fence, 4 stops the motors in the air",
    ),
    Rule(
        "GF_MAX_HOR_DIST",
        lambda v: v > 0.0,
        "0: PX4's own fence is off; set the radius of your area (m)",
    ),
    Rule(
        "GF_MAX_VER_DIST",
        lambda v: v > 0.0,
        "0: PX4's own ceiling is off; set it (m above home)",
    ),
    Rule(
        "RTL_RETURN_ALT",
        lambda v: v > LOWEST_RETURN,
        f"it returns at this height (m above home): {LOWEST_RETURN:.0f} is the default; set it above "
        "everything that stands on the way",
    ),
    Rule(
        "COM_DISARM_LAND",
        lambda v: v > 0.0,
        "set 2.0: otherwise its motors run on after a landing of its own",
    ),
    Rule(
        "COM_DISARM_PRFLT",
        lambda v: v > 0.0,
        "set 10.0: otherwise an armed vehicle that never took off stays armed",
        Grade.NOTE,
    ),
    Rule(
        "COM_MODE_ARM_CHK",
        _one_of(1),
        "0: a mode of its own (mode: external) is not registered in the air: a bridge that was started again "
        "flies on in offboard",
        Grade.NOTE,
    ),
    Rule(
        "UXRCE_DDS_SYNCT",
        _one_of(1),
        "set 1: otherwise its stamps are of another clock, and measurements count as of their arrival",
        Grade.NOTE,
    ),
    Rule(
        "SIM_BAT_DRAIN",
        lambda v: v >= LEAST_DRAIN,
        "set 86400: SITL's battery drains in so many seconds, by default a minute, and the governor lands before it is "
        "empty",
        Grade.NOTE,
        of_simulator=True,
    ),
)


def findings(values: Mapping[str, float], system_id: int | None = None) -> list[Finding]:
    """Returns what needs a person's eye, in the table's order.

    values: the vehicle's parameters by name. system_id: the one that commands go to; None: any.
    """
    found = [_judged(rule, values.get(rule.name)) for rule in RULES]
    if system_id is not None:
        text = f"commands go to system {system_id}: set it, or system_id in config/px4.yaml"
        found.append(_judged(Rule("MAV_SYS_ID", _one_of(system_id), text), values.get("MAV_SYS_ID")))
    return [finding for finding in found if finding is not None]


def _judged(rule: Rule, value: float | None) -> Finding | None:
    if value is None and rule.of_simulator:
        return None
    if value is None:
        return Finding(rule.name, None, Grade.MISSING, f"the vehicle has no such parameter; {rule.text}")
    return None if rule.is_well(value) else Finding(rule.name, value, rule.grade, rule.text)
