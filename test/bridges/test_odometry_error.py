"""The odometry's error: stationary, smooth, and a function of seed, vehicle and stamp alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.bridges.odometry_error import GRID, OdometryError
from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission.vehicle import OdometryErrorSpec, load_vehicle
from esar_ros.safety.limits import load_limits
from esar_ros.safety.watch import MotionConsistency, PositionResidual

SPEC = OdometryErrorSpec(
    horizontal=0.5, vertical=0.8, position_time=30.0, tilt_deg=0.3, heading_deg=1.0, attitude_time=20.0
)
SIGMA = np.array([0.5, 0.5, 0.8, math.radians(0.3), math.radians(0.3), math.radians(1.0)])
SECOND = 1_000_000_000


def test_its_spread_is_the_stated_one_from_the_first_stamp_to_a_late_one() -> None:
    for ns in (0, 40 * SECOND):
        errors = np.array([OdometryError(SPEC, seed, "uav1").at(ns)[0] for seed in range(400)])
        # The deviation of a sample deviation of 400 is 3.5 %: five of them.
        np.testing.assert_allclose(errors.std(axis=0), SIGMA, rtol=0.18)
        assert (np.abs(errors.mean(axis=0)) < 5.0 * SIGMA / 20.0).all()


def test_it_forgets_over_its_correlation_time() -> None:
    pairs = []
    for seed in range(300):
        error = OdometryError(SPEC, seed, "uav1")
        pairs.append((error.at(0)[0][0], error.at(30 * SECOND)[0][0]))
    early, late = np.array(pairs).T
    # x'' + 2 w x' + w^2 x: correlation (1 + w t) exp(-w t), at one correlation time 2 / e.
    assert abs(np.corrcoef(early, late)[0, 1] - 2.0 / math.e) < 0.12


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**31), stamps=st.lists(st.integers(0, 5 * SECOND), min_size=1, max_size=6))
def test_a_bridge_started_again_is_wrong_by_what_it_was_before(seed: int, stamps: list[int]) -> None:
    one = OdometryError(SPEC, seed, "uav1")
    asked = [one.at(ns) for ns in stamps]  # in any order: a clock may be set back
    for ns, (error, rate) in zip(stamps, asked, strict=True):
        fresh_error, fresh_rate = OdometryError(SPEC, seed, "uav1").at(ns)
        np.testing.assert_array_equal(error, fresh_error)
        np.testing.assert_array_equal(rate, fresh_rate)


def test_its_rate_is_the_derivative_of_its_value() -> None:
    error = OdometryError(SPEC, 4, "uav1")
    values = np.array([error.at(k * GRID)[0] for k in range(400)])
    rates = np.array([error.at(k * GRID)[1] for k in range(400)])
    slope = np.diff(values, axis=0) / (GRID * 1e-9)
    between = 0.5 * (rates[1:] + rates[:-1])
    assert (np.abs(slope - between).max(axis=0) < 0.2 * SIGMA / 20.0).all()


def test_vehicles_and_seeds_err_independently() -> None:
    one = OdometryError(SPEC, 1, "uav1").at(SECOND)[0]
    assert not np.allclose(one, OdometryError(SPEC, 1, "uav2").at(SECOND)[0])
    assert not np.allclose(one, OdometryError(SPEC, 2, "uav1").at(SECOND)[0])


def test_an_estimate_is_the_truth_moved_and_turned_by_the_error() -> None:
    error = OdometryError(SPEC, 9, "uav1")
    value, rate = error.at(3 * SECOND)
    pose, velocity = Pose(np.array([5.0, -2.0, 30.0]), quaternion_from_yaw(0.7)), np.array([3.0, 1.0, 0.0])
    estimate = error.estimate(3 * SECOND, pose, velocity)
    np.testing.assert_allclose(estimate.pose.position - pose.position, value[:3])
    np.testing.assert_allclose(estimate.velocity - velocity, rate[:3])
    turned = estimate.pose.rotation @ pose.rotation.T
    angle = math.acos((np.trace(turned) - 1.0) / 2.0)
    np.testing.assert_allclose(angle, np.linalg.norm(value[3:]), atol=1e-7)


def test_covariances_are_those_of_the_error() -> None:
    error = OdometryError(SPEC, 0, "uav1")
    np.testing.assert_allclose(np.sqrt(np.diag(error.pose_covariance)), SIGMA)
    np.testing.assert_allclose(np.sqrt(np.diag(error.velocity_covariance)), SIGMA[:3] / 30.0)


def test_the_vehicle_file_has_an_error_a_mission_can_be_flown_with() -> None:
    spec = load_vehicle().odometry_error
    assert spec.horizontal > 0.0
    assert spec.vertical > 0.0
    assert spec.heading_deg > 0.0


# -- what the governor makes of it ----------------------------------------------------------------


def slip_deviation(spec: OdometryErrorSpec, step: float, memory: float) -> np.ndarray:
    """Standard deviation (3,) m of safety.watch.PositionResidual, stationary, of odometry every step (s).

    The rate of x'' + 2 w x' + w^2 x = noise is driven by white noise of density q = 4 w^3 sigma^2, and the trapezoid
    leaves of it a variance q step^3 / 12 a step, which the slip forgets with its time constant.
    """
    sigma, w = np.array([spec.horizontal, spec.horizontal, spec.vertical]), 1.0 / spec.position_time
    each = 4.0 * w**3 * sigma**2 * step**3 / 12.0
    return np.sqrt(each / (1.0 - math.exp(-2.0 * step / memory)))


def test_the_slip_of_its_estimates_is_what_the_model_says() -> None:
    limits, step = load_limits(), GRID * 1e-9
    slips = []
    for seed in range(40):
        error = OdometryError(SPEC, seed, "uav1")
        motion = MotionConsistency(residuals=(PositionResidual(limits.slip_memory, limits.slip_hold),))
        for k in range(400):
            off, rate = error.at(k * GRID)
            motion = motion.updated(k * step, off[:3], rate[:3], limits.clock_gap)
        slips.append(motion.residuals[0].size)
    expected = math.sqrt(float((slip_deviation(SPEC, step, limits.slip_memory) ** 2).sum()))
    assert math.sqrt(float(np.square(slips).mean())) == pytest.approx(expected, rel=0.25)
    assert max(slips) < 1e-3 * limits.slip_hold


def test_no_false_hold_by_it_even_if_position_and_velocity_erred_apart() -> None:
    """Then the slip is the error of velocity over the memory. In a thousand years of flight, as it is stated."""
    limits, spec = load_limits(), load_vehicle().odometry_error
    deviation = max(spec.horizontal, spec.vertical) / spec.position_time * limits.slip_memory
    assert steps_that_slip(limits.slip_hold / deviation, 1000.0 * 365.0 * 86400.0 / limits.slip_memory) < 1e-9


def test_a_velocity_that_is_off_by_a_quarter_of_a_metre_a_second_is_held_once_an_hour() -> None:
    """At about this error of velocity the limit begins to hold without need."""
    limits = load_limits()
    assert 0.2 < steps_that_slip(limits.slip_hold / (0.25 * limits.slip_memory), 3600.0 / limits.slip_memory) < 5.0


def steps_that_slip(deviations: float, independent: float) -> float:
    """Returns the expected number, of `independent` normal samples (3,), beyond `deviations` standard deviations."""
    tail = math.erfc(deviations / math.sqrt(2.0))
    tail += math.sqrt(2.0 / math.pi) * deviations * math.exp(-(deviations**2) / 2.0)
    return independent * tail


@pytest.mark.parametrize("gap", [0.05, 0.2, 0.5, 1.0])
def test_lost_messages_alone_never_hold(gap: float) -> None:
    """A gap of the greatest acceleration, half before and half braking, stays unobserved: gap^2 / 4 of distance."""
    limits = load_limits()
    before = MotionConsistency(residuals=(PositionResidual(limits.slip_memory, limits.slip_hold),))
    motion = before.updated(10.0, np.zeros(3), np.zeros(3), limits.clock_gap)
    fastest = 9.81 * math.tan(math.radians(32.0))
    way = np.array([fastest * gap**2 / 4.0, 0.0, 0.0])
    slip = motion.updated(10.0 + gap, way, np.zeros(3), limits.clock_gap).residuals[0].size
    assert slip == pytest.approx(fastest * gap**2 / 4.0)
    assert slip < limits.slip_hold - 0.25 * limits.slip_memory * math.exp(-1.0 / limits.slip_memory)
