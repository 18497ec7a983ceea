"""Ages, the clock, and how a hold ends."""

from __future__ import annotations

import math

import numpy as np
import pytest

from esar_ros.mission.modes import Reason
from esar_ros.safety.watch import Clock, Hold, Motion, Scan, age_text, usable


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
    hold = Hold().update(Reason.STALE_RANGES, 1.0, 0.3)
    assert hold.reason is Reason.STALE_RANGES
    hold = hold.update(Reason.NONE, 1.1, 0.3)
    assert hold.reason is Reason.STALE_RANGES
    again = hold.update(Reason.STALE_COMMAND, 1.2, 0.3)
    assert again.reason is Reason.STALE_COMMAND and again.good_since is None
    assert hold.update(Reason.NONE, 1.4, 0.3).reason is Reason.NONE


def test_no_hold_no_wait() -> None:
    assert Hold().update(Reason.NONE, 1.0, 0.3) == Hold()


# -- position and velocity ----------------------------------------------------------------------


def slips(places: list[list[float]], velocity: list[float], step: float = 0.05) -> list[float]:
    """Slip after each of these positions, step s apart."""
    motion, given = Motion(), []
    for n, place in enumerate(places):
        motion = motion.moved(10.0 + n * step, np.array(place), np.array(velocity), 1.0, 2.0)
        given.append(motion.slip)
    return given


def test_a_position_that_moves_as_its_velocity_says_does_not_slip() -> None:
    assert max(slips([[0.3 * n, -0.1 * n, 0.0] for n in range(200)], [6.0, -2.0, 0.0])) < 1e-9


def test_a_jump_is_seen_at_once_and_forgotten() -> None:
    given = slips([[0.0, 0.0, 0.0]] * 3 + [[30.0, 0.0, 0.0]] * 200, [0.0, 0.0, 0.0])
    assert given[2] == 0.0
    assert given[3] == pytest.approx(30.0)
    assert given[-1] < 0.3


def test_a_stuck_estimator_is_seen_after_as_many_metres_as_it_pretends_to_fly() -> None:
    given = slips([[7.0, 7.0, 7.0]] * 60, [4.0, 0.0, 0.0])
    assert 0.5 < 0.05 * next(n for n, slip in enumerate(given) if slip > 2.0) < 0.8


def test_after_a_gap_or_a_step_back_it_begins_anew() -> None:
    still = np.zeros(3)
    motion = Motion().moved(10.0, still, still, 1.0, 2.0)
    for stamp in (11.5, 9.0):
        assert motion.moved(stamp, np.array([90.0, 0.0, 0.0]), still, 1.0, 2.0).slip == 0.0
    assert motion.moved(10.0, np.array([90.0, 0.0, 0.0]), still, 1.0, 2.0) is motion


# -- ranges that repeat ---------------------------------------------------------------------------

AHEAD = np.array([1.0, 0.0, 0.0])


def scans(images: list[np.ndarray], speed: float = 4.0) -> list[float]:
    """Way repeated after each of these scans, 0.1 s apart at a speed (m/s)."""
    scan, given = Scan(), []
    for n, image in enumerate(images):
        scan = scan.taken(10.0 + 0.1 * n, image.astype(np.float32), 0.1 * n * speed * AHEAD, speed)
        given.append(scan.repeated)
    return given


def test_a_stuck_sensor_is_seen_by_the_way_flown() -> None:
    stuck = np.array([[5.0, math.nan, math.inf]])
    np.testing.assert_allclose(scans([stuck] * 5), [0.0, 0.4, 0.8, 1.2, 1.6], atol=1e-9)


def test_one_range_that_changes_is_enough() -> None:
    assert max(scans([np.array([[5.0, math.inf, 7.0 + 1e-6 * n]]) for n in range(20)])) == 0.0


@pytest.mark.parametrize("nothing", [math.inf, math.nan, -math.inf])
def test_open_air_has_nothing_to_repeat(nothing: float) -> None:
    assert max(scans([np.full((3, 4), nothing)] * 50)) == 0.0


def test_standing_it_may_see_the_same_for_ever() -> None:
    """However far the odometry drifts."""
    scan = Scan()
    for n in range(1000):
        scan = scan.taken(10.0 + 0.1 * n, np.ones((2, 2), dtype=np.float32), 0.05 * n * AHEAD, 0.1)
    assert scan.repeated == 0.0


def test_the_same_scan_asked_again_counts_once() -> None:
    image = np.ones((2, 2), dtype=np.float32)
    scan = Scan().taken(10.0, image, 0.0 * AHEAD, 4.0)
    assert scan.taken(10.0, image, 9.0 * AHEAD, 4.0) is scan
