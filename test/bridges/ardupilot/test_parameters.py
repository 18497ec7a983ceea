"""Parameters of an ArduCopter: each that is unsafe is found, alone, and what is well is not."""

from __future__ import annotations

import pytest
from safe_copter import SAFE

from esar_ros.bridges.ardupilot.parameters import RULES, findings
from esar_ros.bridges.px4.parameters import Grade


def test_a_vehicle_that_is_set_up_has_no_findings() -> None:
    assert findings(SAFE) == [] and [rule.name for rule in RULES] == list(dict.fromkeys(rule.name for rule in RULES))
    assert {rule.name for rule in RULES} == set(SAFE)


@pytest.mark.parametrize(
    ("name", "values", "grade"),
    [
        ("GUID_TIMEOUT", (3.0, 0.0), Grade.UNSAFE),
        ("FS_GCS_ENABLE", (0,), Grade.NOTE),
        ("FS_THR_ENABLE", (0,), Grade.UNSAFE),
        ("FS_OPTIONS", (4, 20), Grade.NOTE),
        ("FS_EKF_ACTION", (0,), Grade.UNSAFE),
        ("FS_EKF_THRESH", (0.0, 1.5), Grade.UNSAFE),
        ("BATT_FS_LOW_ACT", (0, 5), Grade.UNSAFE),
        ("BATT_FS_CRT_ACT", (0, 5), Grade.UNSAFE),
        ("BATT_LOW_VOLT", (0.0,), Grade.NOTE),
        ("BATT_CRT_VOLT", (0.0,), Grade.NOTE),
        ("BATT_MONITOR", (0,), Grade.UNSAFE),
        ("FENCE_ENABLE", (0,), Grade.UNSAFE),
        ("FENCE_ACTION", (0,), Grade.UNSAFE),
        ("RTL_ALT", (1500.0, 0.0), Grade.UNSAFE),
        ("DISARM_DELAY", (0,), Grade.NOTE),
        ("GUID_OPTIONS", (16, 32, 128), Grade.NOTE),
        ("ARMING_CHECK", (0,), Grade.UNSAFE),
    ],
)
def test_each_value_that_is_not_well_is_the_only_finding(name: str, values: tuple[float, ...], grade: Grade) -> None:
    for value in values:
        (found,) = findings(SAFE | {name: value})
        assert (found.name, found.value, found.grade) == (name, value, grade)


@pytest.mark.parametrize("name", SAFE)
def test_each_that_lacks_is_named(name: str) -> None:
    (found,) = findings({key: value for key, value in SAFE.items() if key != name})
    assert (found.name, found.value, found.grade) == (name, None, Grade.MISSING)


@pytest.mark.parametrize("name", ["MAV_SYSID", "SYSID_THISMAV"])
def test_the_system_id_by_the_name_that_its_firmware_has(name: str) -> None:
    assert findings(SAFE | {name: 2.0}, system_id=2) == []
    (found,) = findings(SAFE | {name: 1.0}, system_id=2)
    assert (found.name, found.grade) == (name, Grade.UNSAFE)
    (found,) = findings(SAFE, system_id=2)
    assert found.grade is Grade.MISSING
