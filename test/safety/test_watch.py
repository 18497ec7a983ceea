"""Ages, the clock, position against velocity, repeated scans, and the end of a hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission.modes import Reason
from esar_ros.safety.watch import Clock, Hold, MotionConsistency, PositionResidual, ScanRepetition, age_text, usable


@pytest.mark.parametrize(
    ("stamp", "good"),
    [(10.0, True), (9.8, True), (9.79, False), (10.02, True), (10.03, False), (math.nan, False), (-math.inf, False)],
)
def test_usable(stamp: float, good: bool) -> None:
    assert usable(stamp, 10.0, 0.2, 0.02) is good


def test_texts_say_what_is_wrong() -> None:
    assert age_text("ranges", None, 10.0) == "no ranges"
    assert age_text("ranges", 9.5, 10.0) == "ranges 0.50 s old"
    assert age_text("ranges", 10.5, 10.0) == "ranges from 0.50 s ahead"
    assert age_text("ranges", math.nan, 10.0) == "ranges has no stamp"


def test_clock_jumps_and_settles() -> None:
    assert not Clock().settling
    clock, step, jumped = Clock().advance(10.0, 1.0, 0.5)
    assert math.isinf(step) and not jumped and not clock.settling
    clock, step, jumped = clock.advance(10.05, 1.0, 0.5)
    assert step == pytest.approx(0.05) and not jumped
    clock, _, jumped = clock.advance(3.0, 1.0, 0.5)
    assert jumped and clock.settling
    clock, _, jumped = clock.advance(3.4, 1.0, 0.5)
    assert not jumped and clock.settling
    clock, _, jumped = clock.advance(3.5, 1.0, 0.5)
    assert not jumped and not clock.settling
    _, _, jumped = clock.advance(5.0, 1.0, 0.5)
    assert jumped


def test_hold_ends_after_the_release_time_without_a_cause() -> None:
    hold = Hold().updated(Reason.STALE_RANGES, 1.0, 0.3)
    assert hold.reason is Reason.STALE_RANGES
    hold = hold.updated(Reason.NONE, 1.1, 0.3)
    assert hold.reason is Reason.STALE_RANGES
    again = hold.updated(Reason.STALE_COMMAND, 1.2, 0.3)
    assert again.reason is Reason.STALE_COMMAND and again.clear_since is None
    assert hold.updated(Reason.NONE, 1.4, 0.3).reason is Reason.NONE


def test_no_hold_no_wait() -> None:
    assert Hold().updated(Reason.NONE, 1.0, 0.3) == Hold()


# -- position and velocity ----------------------------------------------------------------------


def flown(
    places: list[list[float]], velocity: list[float], step: float = 0.05, memory: float = 2.0
) -> list[MotionConsistency]:
    """Returns the comparison after each of these positions, step (s) apart; residuals up to 2 m are forgotten."""
    motion, given = MotionConsistency(residuals=(PositionResidual(memory, 2.0),)), []
    for n, place in enumerate(places):
        motion = motion.updated(10.0 + n * step, np.array(place), np.array(velocity), 1.0)
        given.append(motion)
    return given


def residuals(*arguments: Any, **more: Any) -> list[float]:
    """Returns the length (m) of the residual after each position."""
    return [motion.residuals[0].size for motion in flown(*arguments, **more)]


def test_a_position_that_moves_as_its_velocity_says_leaves_no_residual() -> None:
    assert max(residuals([[0.3 * n, -0.1 * n, 0.0] for n in range(200)], [6.0, -2.0, 0.0])) < 1e-9


def test_a_jump_is_seen_at_once_and_never_forgotten() -> None:
    given = flown([[0.0, 0.0, 0.0]] * 3 + [[30.0, 0.0, 0.0]] * 2000, [0.0, 0.0, 0.0])
    assert given[2].exceeded is None
    for motion in given[3:]:
        assert motion.exceeded is not None and motion.exceeded.size == pytest.approx(30.0)


def test_a_position_that_goes_another_way_than_its_velocity_is_seen() -> None:
    """As far aside as the velocity leads ahead: within its reach, and yet in a wrong frame."""
    given = flown([[0.0, 0.2 * n, 0.0] for n in range(30)], [4.0, 0.0, 0.0], memory=60.0)
    first = next(n for n, motion in enumerate(given) if motion.exceeded is not None)
    assert math.hypot(0.2 * first, 0.2 * first) == pytest.approx(2.0, abs=0.4)


def test_a_jump_lasts_until_the_position_is_back() -> None:
    places = [[0.0, 0.0, 0.0]] * 3 + [[30.0, 0.0, 0.0]] * 50 + [[1.5, 0.0, 0.0]] * 100
    given = flown(places, [0.0, 0.0, 0.0])
    assert given[52].exceeded is not None and given[53].exceeded is None
    assert given[-1].residuals[0].size < 0.2, "what is left of it is forgotten"


def test_a_small_residual_is_forgotten() -> None:
    assert residuals([[0.0, 0.0, 0.0]] * 3 + [[1.9, 0.0, 0.0]] * 200, [0.0, 0.0, 0.0])[-1] < 0.02


def wandering(stated: float, drift: float = 0.0, seed: int = 0, seconds: float = 200.0) -> MotionConsistency:
    """Returns the comparison of a hover whose velocity errs as PX4's was measured to: 0.26 m/s, for 2.5 s."""
    rng, step, error = np.random.default_rng(seed), 0.05, np.zeros(3)
    motion = MotionConsistency(residuals=(PositionResidual(2.0, 2.0), PositionResidual(60.0, 5.0)))
    kept = math.exp(-step / 2.5)
    for n in range(int(seconds / step)):
        error = kept * error + math.sqrt(1.0 - kept**2) * 0.26 * rng.standard_normal(3) * (1.0, 1.0, 0.6)
        place = np.array([drift * n * step + 1e-3 * (n % 2), 0.0, 0.0])
        motion = motion.updated(n * step, place, error, 1.0, stated)
        if motion.exceeded is not None:
            break
    return motion


@pytest.mark.parametrize("seed", range(3))
def test_an_error_that_the_velocity_states_is_no_drift(seed: int) -> None:
    assert wandering(0.13, seed=seed).exceeded is None
    unstated = wandering(0.0, seed=seed).exceeded
    assert unstated is not None and unstated.memory == 60.0


@pytest.mark.parametrize("seed", range(3))
def test_a_drift_beyond_that_error_is_seen_still(seed: int) -> None:
    motion = wandering(0.13, 0.6, seed)
    assert motion.exceeded is not None and motion.stamp is not None and motion.stamp < 60.0


def test_who_states_a_great_error_is_not_believed_without_end() -> None:
    motion = wandering(50.0, seconds=150.0)
    assert [residual.allowed for residual in motion.residuals] == pytest.approx([8.0, 20.0], rel=0.01)
    assert all(residual.allowed <= 4.0 * residual.limit for residual in motion.residuals)


@pytest.mark.parametrize("stated", [1e10, 1e154, 1.7e308, math.inf])
def test_an_absurd_statement_breaks_nothing_and_is_soon_forgotten(stated: float) -> None:
    residual = PositionResidual(2.0, 3.0)
    for _ in range(100):
        residual = residual.updated(np.zeros(3), 0.05, stated)
        assert residual.allowed <= 4.0 * residual.limit + 1e-9
    for _ in range(60):
        residual = residual.updated(np.zeros(3), 0.05, 0.0)
    assert residual.allowed == residual.limit


def test_a_stuck_estimator_is_seen_after_as_many_metres_as_it_pretends_to_fly() -> None:
    given = flown([[7.0, 7.0, 7.0]] * 60, [4.0, 0.0, 0.0])
    assert 0.5 < 0.05 * next(n for n, motion in enumerate(given) if motion.stuck_distance > 2.0) < 0.8
    assert given[-1].exceeded is None


def test_a_stuck_estimator_that_goes_on_is_where_the_vehicle_has_come_meanwhile() -> None:
    stuck = flown([[7.0, 7.0, 7.0]] * 60, [4.0, 0.0, 0.0])[-1]
    for place, exceeded in ((11.0, False), (60.0, True)):
        after = stuck.updated(13.1, np.array([place, 7.0, 7.0]), np.zeros(3), 1.0)
        assert after.stuck_distance == 0.0 and (after.exceeded is not None) is exceeded


def test_a_stuck_estimator_stays_stuck_while_the_vehicle_is_held_for_it() -> None:
    stuck = flown([[7.0, 7.0, 7.0]] * 60, [4.0, 0.0, 0.0])[-1]
    for n in range(200):
        stuck = stuck.updated(13.0 + 0.05 * n, np.full(3, 7.0), np.zeros(3), 1.0)
    assert stuck.stuck_distance > 2.0


def test_a_stuck_estimator_is_seen_also_after_the_clock_was_set_back() -> None:
    motion = flown([[7.0, 7.0, 7.0]], [4.0, 0.0, 0.0])[0]
    for n in range(30):
        motion = motion.updated(5.0 + 0.05 * n, np.full(3, 7.0), np.array([4.0, 0.0, 0.0]), 1.0)
    assert motion.stuck_distance > 2.0


def test_a_stuck_estimator_may_have_gone_as_far_as_all_the_speeds_it_gave() -> None:
    """Those at its beginning and its end alone would make 12 m of the 30 m."""
    motion = flown([[0.0, 0.0, 0.0]], [4.0, 0.0, 0.0])[0]
    for n in range(1, 61):
        motion = motion.updated(10.0 + 0.05 * n, np.zeros(3), np.array([10.0, 0.0, 0.0]), 1.0)
    for place, exceeded in ((25.0, False), (40.0, True)):
        after = motion.updated(13.05, np.array([place, 0.0, 0.0]), np.zeros(3), 1.0)
        assert (after.exceeded is not None) is exceeded


def test_what_creeps_is_seen_by_the_slow_memory_alone() -> None:
    creeping = [[0.02 * n, 0.0, 0.0] for n in range(600)]  # 0.4 m/s
    assert max(residuals(creeping, [0.0, 0.0, 0.0])) < 1.0
    assert flown(creeping, [0.0, 0.0, 0.0], memory=60.0)[-1].exceeded is not None


@pytest.mark.parametrize(("place", "exceeded"), [(90.0, True), (9.0, False)])
def test_after_a_gap_it_may_be_wherever_its_speed_could_bring_it(place: float, exceeded: bool) -> None:
    before = flown([[0.0, 0.0, 0.0]], [4.0, 0.0, 0.0])[0]
    after = before.updated(12.5, np.array([place, 0.0, 0.0]), np.zeros(3), 1.0)
    assert (after.exceeded is not None) is exceeded


def test_a_stamp_that_runs_back_hides_no_jump() -> None:
    still, away = np.zeros(3), np.array([90.0, 0.0, 0.0])
    before = flown([[0.0, 0.0, 0.0]], [0.0, 0.0, 0.0])[0]
    for stamp in (9.95, 10.0):
        assert before.updated(stamp, away, still, 1.0).updated(10.05, away, still, 1.0).exceeded is not None
    assert before.updated(5.0, away, still, 1.0).exceeded is not None


def test_after_a_clock_was_set_back_it_may_be_within_reach_of_one_gap() -> None:
    before = flown([[0.0, 0.0, 0.0]], [4.0, 0.0, 0.0])[0]
    for place, exceeded in ((3.9, False), (40.0, True)):
        after = before.updated(5.0, np.array([place, 0.0, 0.0]), np.zeros(3), 1.0)
        assert (after.exceeded is not None) is exceeded


# -- ranges that repeat ---------------------------------------------------------------------------

AHEAD = np.array([1.0, 0.0, 0.0])


def scans(images: list[np.ndarray], speed: float = 4.0) -> list[float]:
    """Returns the distance (m) repeated after each of these scans, 0.1 s apart at a speed (m/s)."""
    scan, given = ScanRepetition(), []
    for n, image in enumerate(images):
        scan = scan.updated(10.0 + 0.1 * n, image.astype(np.float32), Pose(0.1 * n * speed * AHEAD), speed)
        given.append(scan.repeated)
    return given


def test_a_stuck_sensor_is_seen_by_the_distance_flown() -> None:
    stuck = np.array([[5.0, math.nan, math.inf]])
    np.testing.assert_allclose(scans([stuck] * 5), [0.0, 0.4, 0.8, 1.2, 1.6], atol=1e-9)


def test_one_range_that_changes_is_enough() -> None:
    assert max(scans([np.array([[5.0, math.inf, 7.0 + 1e-6 * n]]) for n in range(20)])) == 0.0


def test_without_a_pose_another_scan_that_is_the_same_or_a_sensor_that_was_stuck_repeats() -> None:
    seen, other = np.ones((2, 2), dtype=np.float32), np.zeros((2, 2), dtype=np.float32)
    assert not ScanRepetition().repeats(10.0, seen)
    scan = ScanRepetition(10.0, seen, Pose(np.zeros(3)))
    assert scan.repeats(10.1, seen) and not scan.repeats(10.0, seen) and not scan.repeats(10.1, other)
    assert ScanRepetition(10.0, seen, Pose(np.zeros(3)), 0.1).repeats(10.1, other)


@pytest.mark.parametrize("nothing", [math.inf, math.nan, -math.inf])
def test_open_air_has_nothing_to_repeat(nothing: float) -> None:
    assert max(scans([np.full((3, 4), nothing)] * 50)) == 0.0


def test_standing_it_may_see_the_same_for_ever() -> None:
    """The odometry may drift as far as it likes."""
    scan = ScanRepetition()
    for n in range(1000):
        scan = scan.updated(10.0 + 0.1 * n, np.ones((2, 2), dtype=np.float32), Pose(0.05 * n * AHEAD), 0.1)
    assert scan.repeated == 0.0


@pytest.mark.parametrize(("rate", "repeated"), [(0.1, 0.0), (-0.1, 0.0), (1.0, 5.0), (-1.0, 5.0)])
def test_one_that_turns_on_the_spot_sees_other_ranges(rate: float, repeated: float) -> None:
    """A heading that drifts by less than 0.2 rad/s is the estimator's."""
    scan = ScanRepetition()
    for n in range(11):
        pose = Pose(np.zeros(3), quaternion_from_yaw(math.pi + 0.1 * n * rate))
        scan = scan.updated(10.0 + 0.1 * n, np.ones((2, 2), dtype=np.float32), pose, 0.0)
    assert scan.repeated == pytest.approx(repeated)


def test_the_same_scan_asked_again_counts_once() -> None:
    image = np.ones((2, 2), dtype=np.float32)
    scan = ScanRepetition().updated(10.0, image, Pose(0.0 * AHEAD), 4.0)
    assert scan.updated(10.0, image, Pose(9.0 * AHEAD), 4.0) is scan
