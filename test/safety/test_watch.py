"""Ages, the clock, and how a hold ends."""

from __future__ import annotations

import math

import pytest

from esar_ros.safety.codes import Reason
from esar_ros.safety.watch import Clock, Hold, age_text, usable


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
