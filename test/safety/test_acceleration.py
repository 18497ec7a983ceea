"""The limits of acceleration and jerk, one command at a time."""

from __future__ import annotations

import numpy as np
import pytest

from esar_ros.mission.modes import Reason
from esar_ros.safety.acceleration import MAX_STEP, AccelerationLimit
from esar_ros.safety.inputs import Command, Findings
from esar_ros.safety.limits import Limits

STEP = 0.05  # s
EAST, NORTH = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])


def limited(
    limits: Limits, velocity: np.ndarray, base: np.ndarray, before: AccelerationLimit, stamp: float = 10.0
) -> tuple[np.ndarray, AccelerationLimit, Findings]:
    findings = Findings()
    output, after = before.limited(velocity, base, Command(stamp, velocity), STEP, limits, findings)
    return output, after, findings


@pytest.mark.parametrize("share", [1.0, 0.4, 0.0])
def test_slowing_down_is_not_limited(limits: Limits, share: float) -> None:
    output, after, findings = limited(limits, share * 5.0 * EAST, 5.0 * EAST, AccelerationLimit())
    assert output.tolist() == (share * 5.0 * EAST).tolist() and not findings.reasons
    assert after == AccelerationLimit(10.0, 0.0)


@pytest.mark.parametrize("velocity", [6.0 * EAST, 5.0 * EAST + 1.0 * NORTH])
def test_speeding_up_and_turning_are_shortened_to_what_is_reached(limits: Limits, velocity: np.ndarray) -> None:
    base = 5.0 * EAST
    output, _, findings = limited(limits, velocity, base, AccelerationLimit())
    np.testing.assert_allclose(np.cross(output, velocity), 0.0, atol=1e-12)
    nearest = velocity * float(velocity @ base) / float(velocity @ velocity)
    reach = max(limits.acceleration * STEP, float(np.linalg.norm(nearest - base)))
    assert float(np.linalg.norm(output - base)) == pytest.approx(reach)
    assert findings.reasons == [Reason.ACCELERATION]


def test_the_rate_grows_by_no_more_than_jerk(limits: Limits) -> None:
    output, after, findings = limited(limits, 5.0 * EAST, np.zeros(3), AccelerationLimit(9.95, 0.5))
    speed_rate = 0.5 + limits.jerk * STEP
    assert output[0] == pytest.approx(speed_rate * STEP) and after.speed_rate == pytest.approx(speed_rate)
    assert Reason.ACCELERATION in findings.reasons


def test_a_new_command_is_granted_the_time_since_the_last_one(limits: Limits) -> None:
    for since, granted in ((0.15, 0.15), (5.0, MAX_STEP)):
        output, _, _ = limited(limits, 5.0 * EAST, np.zeros(3), AccelerationLimit(10.0 - since, limits.acceleration))
        assert output[0] == pytest.approx(limits.acceleration * granted)


def test_a_repeated_command_leaves_the_state(limits: Limits) -> None:
    before = AccelerationLimit(10.0, 1.0)
    assert limited(limits, 5.0 * EAST, np.zeros(3), before)[1] is before


def test_silence_after_a_command_is_granted_one_step(limits: Limits) -> None:
    """The change of one step is allowed where no command is, and the next command begins anew."""
    output, after = AccelerationLimit(10.0, 1.0).limited(
        5.0 * EAST, 5.2 * EAST, None, STEP, limits, findings := Findings()
    )
    assert output.tolist() == (5.0 * EAST).tolist() and not findings.reasons
    assert after == AccelerationLimit(None, 0.0)


def test_however_long_a_step_was_no_more_is_allowed_at_once(limits: Limits) -> None:
    for stamp in (10.0, 10.05):
        before = AccelerationLimit(10.0, limits.acceleration)
        output, _ = before.limited(5.0 * EAST, np.zeros(3), Command(stamp, 5.0 * EAST), 1.0, limits, Findings())
        assert output[0] == pytest.approx(limits.acceleration * MAX_STEP)


def test_a_ramp_as_steep_as_the_limit_passes_bit_by_bit(limits: Limits) -> None:
    for speed in np.linspace(0.0, 5.8, 60):
        asked = (speed + limits.acceleration * STEP) * EAST
        output, _, findings = limited(limits, asked, speed * EAST, AccelerationLimit(10.0, limits.acceleration))
        assert output.tobytes() == asked.tobytes() and not findings.reasons, speed


@pytest.mark.parametrize("speed", [0.0, 5e-324, 1.5e-162, 1e-150])
def test_however_small_the_speed_asked_for_slowing_down_passes(limits: Limits, speed: float) -> None:
    """Its square is zero or nearly so, and nothing is divided by it."""
    output, _, _ = limited(limits, speed * EAST, 5.0 * EAST, AccelerationLimit())
    assert output.tolist() == [speed, 0.0, 0.0]
