"""The checks of a governor's inputs, one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.checks import InputChecks
from esar_ros.safety.inputs import Command, Findings
from esar_ros.safety.limits import Limits

NOW = 100.0  # s


@pytest.fixture
def checks(limits: Limits) -> InputChecks:
    made = InputChecks()
    made.limits = limits
    return made


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("turning", [False, True])
def test_a_command_is_finite_in_all_its_parts(checks: InputChecks, bad: float, turning: bool) -> None:
    velocity = np.array([1.0, 0.0, 0.0 if turning else bad])
    findings = Findings()
    assert checks._check_command(Command(NOW, velocity, bad if turning else 0.0), NOW, findings) is None
    assert findings.reasons == [Reason.NON_FINITE] and findings.mode is Mode.HOLD


@pytest.mark.parametrize(("lost_since", "expected"), [(None, NOW), (97.0, 97.0), (103.0, NOW)])
def test_silence_counts_from_its_begin_and_from_now_where_the_clock_went_back(
    checks: InputChecks, limits: Limits, lost_since: float | None, expected: float
) -> None:
    findings = Findings()
    assert checks._check_link(lost_since, limits.heartbeat_age + 0.1, NOW, findings) == expected
    assert findings.reasons == [Reason.LINK]
    assert checks._check_link(lost_since, limits.heartbeat_age, NOW, Findings()) is None
