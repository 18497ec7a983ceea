"""Parameters of a vehicle: each that is unsafe is found, alone, and what is well is not."""

from __future__ import annotations

import pytest
from safe_parameters import SAFE

from esar_ros.bridges.px4.parameters import RULES, Grade, findings


def test_a_vehicle_that_is_set_up_has_no_findings() -> None:
    assert findings(SAFE) == [] and {rule.name for rule in RULES if not rule.of_simulator} == set(SAFE)
    assert findings(SAFE | {"MAV_SYS_ID": 2}, system_id=2) == []


@pytest.mark.parametrize(
    ("name", "values", "grade"),
    [
        ("COM_OBL_RC_ACT", (0, 1, 2, 6, 7), Grade.UNSAFE),
        ("COM_OF_LOSS_T", (1.1, 60.0, -1.0), Grade.UNSAFE),
        ("COM_FAIL_ACT_T", (10.1, 25.0), Grade.NOTE),
        ("NAV_RCL_ACT", (0, 5, 6), Grade.UNSAFE),
        ("COM_RCL_EXCEPT", (4, 8, 12, 31), Grade.NOTE),
        ("COM_RC_OVERRIDE", (0, 2), Grade.NOTE),
        ("NAV_DLL_ACT", (5, 6), Grade.UNSAFE),
        ("COM_LOW_BAT_ACT", (0, 1), Grade.UNSAFE),
        ("GF_ACTION", (0, 1, 4), Grade.UNSAFE),
        ("GF_MAX_HOR_DIST", (0.0,), Grade.UNSAFE),
        ("GF_MAX_VER_DIST", (0.0,), Grade.UNSAFE),
        ("RTL_RETURN_ALT", (30.0, 0.0), Grade.UNSAFE),
        ("COM_DISARM_LAND", (0.0, -1.0), Grade.UNSAFE),
        ("COM_DISARM_PRFLT", (-1.0,), Grade.NOTE),
        ("COM_MODE_ARM_CHK", (0,), Grade.NOTE),
        ("UXRCE_DDS_SYNCT", (0,), Grade.NOTE),
        ("SIM_BAT_DRAIN", (60.0, 600.0), Grade.NOTE),
    ],
)
def test_each_value_that_is_not_well_is_the_only_finding(name: str, values: tuple[float, ...], grade: Grade) -> None:
    for value in values:
        (found,) = findings(SAFE | {name: value})
        assert (found.name, found.value, found.grade) == (name, value, grade)


@pytest.mark.parametrize(
    ("name", "value"),
    [("COM_OBL_RC_ACT", 3), ("COM_OBL_RC_ACT", 4), ("NAV_RCL_ACT", 1), ("NAV_RCL_ACT", 3), ("COM_RCL_EXCEPT", 3),
     ("COM_RC_OVERRIDE", 3), ("NAV_DLL_ACT", 2), ("COM_LOW_BAT_ACT", 2), ("GF_ACTION", 2), ("GF_ACTION", 5),
     ("COM_OF_LOSS_T", 0.0), ("SIM_BAT_DRAIN", 86400.0)],
)  # fmt: skip
def test_other_choices_are_well_too(name: str, value: float) -> None:
    assert findings(SAFE | {name: value}) == []


@pytest.mark.parametrize("name", list(SAFE))
def test_what_the_firmware_does_not_have_is_named(name: str) -> None:
    (found,) = findings({other: value for other, value in SAFE.items() if other != name})
    assert (found.name, found.value, found.grade) == (name, None, Grade.MISSING)


def test_another_system_is_named() -> None:
    (found,) = findings(SAFE | {"MAV_SYS_ID": 1}, system_id=2)
    assert found.name == "MAV_SYS_ID" and found.grade is Grade.UNSAFE and "system 2" in found.text
