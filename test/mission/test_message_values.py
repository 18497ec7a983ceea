"""Words and row types stay equal to the interface files they mirror."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from esar_ros.mission import message_values
from esar_ros.mission.resources import resource
from esar_ros.scoring.truth import End


def constants(message: str, prefix: str) -> dict[int, str]:
    text = Path(resource("msg"), f"{message}.msg").read_text()
    return {int(v): n.lower() for n, v in re.findall(rf"^\w+ {prefix}(\w+)=(\d+)", text, re.MULTILINE)}


def test_modes_and_reasons_equal_the_message() -> None:
    assert message_values.MODES == constants("SafetyStatus", "MODE_")
    assert message_values.REASONS == constants("SafetyStatus", "REASON_")
    assert message_values.reason_name(message_values.REASON_NOT_FLYING) == "not_flying"
    assert message_values.mode_name(6) == "land"


@pytest.mark.parametrize(
    ("message", "prefix", "name", "value"),
    [
        ("Report", "", "clue", message_values.CLUE),
        ("Report", "", "victim", message_values.VICTIM),
        ("VehicleState", "LANDED_", "on_ground", message_values.ON_GROUND),
        ("VehicleState", "LANDED_", "flying", message_values.FLYING),
        ("Decision", "", "done", message_values.DECISION_DONE),
        ("Decision", "", "thinking", message_values.DECISION_THINKING),
        ("Decision", "", "stop", message_values.DECISION_STOP),
    ],
)
def test_single_constants_equal_their_messages(message: str, prefix: str, name: str, value: int) -> None:
    assert constants(message, prefix)[value] == name


def test_endings_equal_the_message() -> None:
    assert {end.code: end.value for end in End} == {
        code: name for code, name in constants("MissionState", "END_").items() if code
    }


def test_an_unknown_number_is_shown_as_it_is() -> None:
    assert message_values.reason_name(77) == "77"
    assert message_values.mode_name(77) == "77"
