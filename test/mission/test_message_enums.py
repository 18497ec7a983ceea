"""Enums stay equal to the constants of the interface files they mirror."""

from __future__ import annotations

import re
from enum import IntEnum
from pathlib import Path

import pytest

from esar_ros.mission.decision import DecisionStatus, GoalType, HeightReference, ReportType
from esar_ros.mission.modes import Landed, MissionPhase, Mode, Reason, mode_name, reason_name
from esar_ros.mission.resources import resource
from esar_ros.scoring.truth import End


def constants(message: str, prefix: str) -> dict[int, str]:
    text = Path(resource("msg"), f"{message}.msg").read_text()
    return {int(v): n.lower() for n, v in re.findall(rf"^\w+ {prefix}(\w+)=(\d+)", text, re.MULTILINE)}


@pytest.mark.parametrize(
    ("message", "prefix", "enum"),
    [
        ("SafetyStatus", "MODE_", Mode),
        ("SafetyStatus", "REASON_", Reason),
        ("VehicleState", "LANDED_", Landed),
        ("Decision", "", DecisionStatus),
    ],
)
def test_an_enum_equals_its_message(message: str, prefix: str, enum: type[IntEnum]) -> None:
    assert {one.value: one.name.lower() for one in enum} == constants(message, prefix)


def test_the_types_of_a_report_equal_the_message() -> None:
    known = {one.value: one.name.lower() for one in ReportType}
    assert known | {0: "unknown"} == constants("Report", "")


def test_phases_equal_the_message() -> None:
    assert {one.value: one.name.lower() for one in MissionPhase} == constants("MissionState", "(?!END_)")


def test_goals_equal_the_message() -> None:
    of_type = {one.value: one.name.lower() for one in GoalType} | {0: "unknown"}
    of_height = {one.value: one.name.lower() for one in HeightReference} | {0: "unknown"}
    assert of_height == constants("Goal", "HEIGHT_")
    assert of_type == constants("Goal", "(?!HEIGHT_)")


def test_endings_equal_the_message() -> None:
    assert {end.code: end.value for end in End} == {
        code: name for code, name in constants("MissionState", "END_").items() if code
    }


def test_a_number_has_its_name_and_an_unknown_one_is_shown_as_it_is() -> None:
    assert (mode_name(6), mode_name(77)) == ("land", "77")
    assert (reason_name(18), reason_name(77)) == ("not_flying", "77")
