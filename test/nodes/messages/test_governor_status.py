"""The governor's statuses as a bridge trusts them: the end of a flight counts only from one who repeats it alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from esar_ros.mission.modes import Mode
from esar_ros.msg import SafetyStatus
from esar_ros.nodes.messages.governor_status import INSISTS, GovernorStatus

NORMAL, LAND, TERMINATE = SafetyStatus.MODE_NORMAL, SafetyStatus.MODE_LAND, SafetyStatus.MODE_TERMINATE


def status(mode: int) -> SafetyStatus:
    return SafetyStatus(mode=mode, has_height=True, height=3.0)


@pytest.fixture
def authority() -> Any:
    return SimpleNamespace(complaint="")


@pytest.fixture
def told(authority: Any) -> GovernorStatus:
    return GovernorStatus(authority)


def test_nothing_is_known_before_the_first_status(told: GovernorStatus) -> None:
    assert (told.mode, told.height, told.is_known) == (Mode.UNKNOWN, None, False)


def test_a_termination_is_believed_from_who_repeats_it(told: GovernorStatus) -> None:
    for n in range(21):
        told.take(status(TERMINATE), n * 0.02)
    assert told.mode is Mode.HOLD
    for n in range(21, 30):
        told.take(status(TERMINATE), n * 0.02)
    assert told.mode is Mode.TERMINATE


def test_one_among_the_governors_is_not_believed_however_often(told: GovernorStatus) -> None:
    for n in range(500):
        told.take(status(TERMINATE if n % 2 else NORMAL), n * 0.02)
        assert told.mode is not Mode.TERMINATE


def test_one_alone_is_not_believed_however_long_ago(told: GovernorStatus) -> None:
    told.take(status(TERMINATE), 0.0)
    assert told.mode is Mode.HOLD
    told.take(status(NORMAL), 10.0)
    told.take(status(TERMINATE), 10.1)
    assert told.mode is Mode.HOLD


def test_with_another_writer_it_holds_and_nothing_of_it_is_taken(told: GovernorStatus, authority: Any) -> None:
    told.take(status(LAND), 0.0)
    assert (told.mode, told.height) == (Mode.LAND, 3.0)
    told.take(status(TERMINATE), 0.1)
    authority.complaint = "a stranger writes"
    for n in range(100):
        told.take(status(TERMINATE), 0.2 + n * 0.02)
        assert (told.mode, told.height) == (Mode.HOLD, None)
    authority.complaint = ""
    told.take(status(TERMINATE), 0.2 + 2.0 * INSISTS)
    assert told.mode is Mode.HOLD, "the time with the stranger does not count"


def test_a_mode_that_nobody_knows_is_told(told: GovernorStatus) -> None:
    told.take(status(200), 0.0)
    assert not told.is_known and told.mode is Mode.HOLD
