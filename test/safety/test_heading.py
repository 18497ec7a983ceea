"""A heading that turns otherwise than its rates: as a number, and in flight towards a pillar."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose, quaternion_from_rpy
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.watch import HeadingResidual

Kit = SimpleNamespace
DEG = math.pi / 180.0


def facing(yaw: float, roll: float = 0.0, pitch: float = 0.0) -> Pose:
    return Pose(np.zeros(3), quaternion_from_rpy(roll, pitch, yaw))


def after(steps: Sequence[tuple[float, float, float | None]], **tilt: float) -> HeadingResidual:
    """Returns the residual after odometry of stamps (s), headings and rates (deg, deg/s about base_link's z)."""
    residual = HeadingResidual()
    for stamp, yaw, rate in steps:
        rates = None if rate is None else np.array([0.0, 0.0, rate * DEG])
        residual = residual.updated(stamp, facing(yaw * DEG, **tilt), rates)
    return residual


# -- the residual ---------------------------------------------------------------------------------


def test_a_turn_that_the_rates_explain_is_none() -> None:
    """One turn and a half at 57 deg/s, the start of it ramped."""
    turning = [(0.05 * n, 57.0 * 0.05 * n, 57.0) for n in range(190)]
    assert abs(after(turning).angle) < 1e-9
    ramp = [(0.05 * n, 0.5 * 100.0 * (0.05 * n) ** 2, 100.0 * 0.05 * n) for n in range(12)]
    assert abs(after(ramp).angle) < 1e-9


def test_tilted_the_rates_about_the_vertical_count() -> None:
    """Rolled by 30 degrees, a turn about the vertical at 1 rad/s is one of the body about its y and z."""
    roll, residual = 0.5, HeadingResidual()
    for n in range(100):
        rates = facing(0.05 * n, roll).rotation.T @ np.array([0.0, 0.0, 1.0])
        residual = residual.updated(0.05 * n, facing(0.05 * n, roll), rates)
    assert abs(residual.angle) < 1e-9


@pytest.mark.parametrize("degrees", [25.0, 90.0, -90.0, 180.0])
@pytest.mark.parametrize("rate", [0.0, None])
def test_a_step_is_noticed_and_lasts_until_it_is_back(degrees: float, rate: float | None) -> None:
    steady = [(0.05 * n, 0.0, rate) for n in range(20)]
    wrong = [(1.0 + 0.05 * n, degrees, rate) for n in range(2000)]
    if rate is None and abs(degrees) < 40.0:
        assert not after([*steady, *wrong]).exceeds_limit(), "without rates it may have turned so fast"
        return
    assert after([*steady, wrong[0]]).exceeds_limit()
    assert after([*steady, *wrong]).exceeds_limit(), "it is not forgotten"
    back = after([*steady, *wrong, (101.0, 0.0, rate)])
    assert not back.exceeds_limit()


def test_less_than_twenty_degrees_and_a_bias_of_the_rates_are_borne() -> None:
    assert not after([(0.0, 0.0, 0.0), (0.05, 19.0, 0.0)]).exceeds_limit()
    assert not after([(0.05 * n, 0.0, 1.0) for n in range(6000)]).exceeds_limit()
    assert after([(0.05 * n, 0.0, 4.0) for n in range(6000)]).exceeds_limit()


def test_after_a_gap_it_may_have_turned() -> None:
    assert not after([(0.0, 0.0, 0.0), (0.5, 90.0, 0.0)]).exceeds_limit()
    assert after([(0.0, 0.0, 0.0), (0.19, 45.0, 0.0)]).exceeds_limit()
    assert after([(0.0, 0.0, 0.0), (0.21, 75.0, 0.0)]).exceeds_limit(), "not so far"
    assert (
        after([(0.0, 0.0, 0.0), (0.05, 90.0, None)]).exceeds_limit()
        and after([(0.0, 0.0, None), (0.05, 90.0, 0.0)]).exceeds_limit()
    )


def test_the_same_odometry_again_changes_nothing() -> None:
    once = after([(0.0, 0.0, 0.0), (0.05, 15.0, 0.0)])
    assert once.angle == pytest.approx(15.0 * DEG)
    assert after([(0.0, 0.0, 0.0), (0.05, 15.0, 0.0), (0.05, 15.0, 0.0)]).angle == once.angle


def frozen(seconds: float, wobble: float = 0.0) -> list[tuple[float, float, float | None]]:
    """Odometry that turned at 30 deg/s for a second and then repeats its heading; wobble: deg/s, of its rates."""
    turning = [(0.05 * n, 1.5 * n, 30.0) for n in range(21)]
    repeated = [(1.0 + 0.05 * n, 30.0, 30.0 + wobble * (n % 2)) for n in range(1, round(20 * seconds) + 1)]
    return [*turning, *repeated]


def test_odometry_that_was_frozen_in_a_turn_is_believed_again_when_it_moves() -> None:
    assert after(frozen(4.0)).exceeds_limit(), "as long as it repeats"
    for yaw in (32.0, 60.0, -100.0):
        moves = [*frozen(4.0), (5.05, yaw, 1.0)]
        assert not after(moves).exceeds_limit(), "meanwhile it may have turned"
        assert after([*moves, (5.10, yaw + 45.0, 1.0)]).exceeds_limit(), "now it may not"


def test_odometry_that_comes_twice_while_it_is_frozen_changes_nothing() -> None:
    twice = [step for step in frozen(4.0) for _ in range(2)]
    assert after(twice).exceeds_limit()
    assert not after([*twice, (5.05, 32.0, 1.0), (5.05, 32.0, 1.0)]).exceeds_limit()


def test_what_its_rates_led_to_but_for_little_is_not_forgotten_with_the_freeze() -> None:
    led = [*frozen(1.0), (2.05, 75.0, 30.0)]
    assert 10.0 < after(led).angle / DEG < 20.0
    assert after([*led, (2.10, 90.0, 30.0)]).exceeds_limit()


def test_a_compass_that_sticks_alone_stays_lost_and_a_moment_excuses_no_jump() -> None:
    stuck = frozen(4.0, wobble=0.1)
    assert after(stuck).exceeds_limit() and after([*stuck, (5.05, 32.0, 1.0)]).exceeds_limit()
    assert not after([*stuck, (5.05, 150.0, 1.0)]).exceeds_limit(), "it is where the rates led"
    assert after([*frozen(0.1), (1.15, 100.0, 1.0)]).exceeds_limit()


def test_a_heading_that_was_lost_before_odometry_froze_is_lost_behind_it() -> None:
    lost = [(0.0, 0.0, 0.0), (0.05, 60.0, 1.0)]
    again = [(0.05 * n, 60.0, 1.0) for n in range(2, 80)]
    assert after(lost).exceeds_limit() and after([*lost, *again, (4.0, 61.0, 2.0)]).exceeds_limit()


# -- in flight ------------------------------------------------------------------------------------


def flight(kit: Kit, limits: Limits, things: list[list[float]], **more: object) -> Any:
    site = Site(kit.square(500.0), 120.0, np.zeros(3))
    world = kit.World(np.array(things, dtype=np.float64).reshape(-1, 4), 24, 90)
    at = np.array([0.0, 0.0, 15.0])
    rng = np.random.default_rng(1)
    return kit.Rollout(world, Governor(limits, site), site, rng, position=at, gust=0.0, use_map=False, **more)


@pytest.mark.parametrize("with_rates", [True, False], ids=["rates", "no rates"])
@pytest.mark.parametrize("degrees", [60.0, 90.0, -90.0, 180.0])
def test_a_heading_that_turns_by_itself_holds_before_a_pillar(
    kit: Kit, limits: Limits, degrees: float, with_rates: bool
) -> None:
    """At 5 m/s, 9 m before the pillar: once turned away from it, the ranges show nothing ahead."""
    limits = limits.model_copy(update={"speed_without_map": limits.speed_horizontal})
    run = flight(kit, limits, [[29.0, 0.0, math.inf, 2.0]], slew=degrees * DEG, with_rates=with_rates)
    onset = 80
    ahead = np.array([5.0, 0.0, 0.0])
    run.fly(lambda vehicle: Command(vehicle.now, ahead), 8.0, lambda n: {"heading"} if n >= onset else set())
    assert run.answers[onset - 1].velocity[0] > 3.0
    assert run.answers[onset].mode is Mode.HOLD and Reason.ESTIMATOR in run.answers[onset].reasons, "at once"
    assert run.nearest > limits.body_radius
    assert all(answer.mode is Mode.HOLD for answer in run.answers[onset:])


def test_cleared_it_takes_the_heading_as_it_is(kit: Kit, limits: Limits) -> None:
    run = flight(kit, limits, [], slew=0.5 * math.pi)
    still = lambda vehicle: Command(vehicle.now, np.zeros(3))  # noqa: E731
    run.fly(still, 2.0, lambda n: {"heading"} if n >= 20 else set())
    assert run.answers[-1].mode is Mode.HOLD and run.governor.clear()
    run.fly(still, 2.0, lambda n: {"heading"})
    assert run.answers[-1].mode is Mode.NORMAL


def test_carried_by_a_person_it_may_turn_and_in_the_air_a_lost_heading_stays_lost(kit: Kit, limits: Limits) -> None:
    scenes = []
    governor = kit.Scene(limits).governor()
    for n, (armed, yaw) in enumerate(((False, 0.0), (False, 2.0), (True, 2.0), (True, 0.5), (True, 0.5))):
        scene = kit.Scene(limits, position=[0.0, 0.0, 0.1], now=kit.NOW + kit.STEP * n)
        pose = Pose(scene.state.pose.position, quaternion_from_rpy(0.0, 0.0, yaw))
        scene.state = replace(scene.state, pose=pose, armed=armed, landed=not armed)
        scenes.append(Reason.ESTIMATOR in scene.decide([0.0] * 3, governor=governor).reasons)
    assert scenes == [False, False, False, True, True]


def test_rates_that_are_no_numbers_make_odometry_unusable(kit: Kit, limits: Limits) -> None:
    scene = kit.Scene(limits)
    scene.state = replace(scene.state, rates=np.array([0.0, math.nan, 0.0]))
    assert Reason.STALE_ODOMETRY in scene.decide([0.1, 0.0, 0.0]).reasons
