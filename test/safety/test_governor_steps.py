"""The memory that one step of the governor leaves to the next: column, ground, charge, the place where it is lost."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.failsafe import LAST_CHARGE, Latch
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import SafeCommand
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.wind import WindDisturbance

Kit = SimpleNamespace
HERE = [30.0, 0.0, 20.0]
AWAY = [30.0, 0.0, 0.05]  # on the ground, away from home
DOWN = [0.0, 0.0, -0.7]


class Steps:
    """Asks one governor again and again, 50 ms later each time."""

    def __init__(self, kit: Kit, limits: Limits, site: Site | None) -> None:
        self.kit, self.governor, self.now = kit, Governor(limits, site), kit.NOW

    def __call__(
        self,
        asked: list[float],
        at: list[float],
        *,
        later: float = 0.05,
        blind: bool = False,
        velocity: Any = (0.0, 0.0, 0.0),
        world: Any = None,
        heartbeat_age: float = 0.0,
        touching_down: bool = False,
        **state: Any,
    ) -> SafeCommand:
        """Returns the answer; blind: neither ranges nor map show anything."""
        self.now += later
        scene = self.kit.Scene(
            self.governor.limits, world or self.kit.World(), at, velocity, now=self.now,
            heartbeat_age=heartbeat_age, touching_down=touching_down,
        )  # fmt: skip
        scene.state = replace(scene.state, **state)
        if blind:
            scene.ranges = replace(scene.ranges, ranges=np.full_like(scene.ranges.ranges, math.nan))
            scene.window = replace(scene.window, cells=np.zeros_like(scene.window.cells))
        answer: SafeCommand = scene.decide(asked, governor=self.governor)
        return answer


@pytest.fixture
def steps(kit: Kit, limits: Limits) -> Steps:
    return Steps(kit, limits, Site(kit.square(500.0), 120.0, np.zeros(3)))


# Take-off


@pytest.mark.parametrize("rests", [{"landed": True}, {"armed": False}])
def test_the_take_off_column_is_where_it_stood_however_that_was_said(steps: Steps, rests: dict[str, bool]) -> None:
    steps([0.0, 0.0, 0.0], AWAY, **rests)
    answer = steps([1.0, 0.0, 0.1], AWAY)
    assert answer.velocity[0] == 0.0 and Reason.FLOOR in answer.reasons


def test_landed_away_from_home_it_does_not_move_sideways(steps: Steps) -> None:
    answer = steps([1.0, 0.0, 0.1], AWAY, landed=True)
    assert answer.velocity[0] == 0.0 and Reason.NOT_FLYING in answer.reasons


@pytest.mark.parametrize("at", [[30.0, 0.0, 3.3], [31.8, 0.0, 2.9]])
def test_above_the_floor_or_beside_it_the_column_is_left_for_good(steps: Steps, at: list[float]) -> None:
    """The vehicle is then under way sideways, and goes on so even below the floor, back above the spot."""
    steps([0.0, 0.0, 0.0], AWAY, landed=True)
    for place in (at, [30.0, 0.0, 2.9]):
        steps.governor.clear()  # it moved in one step
        answer = steps([0.1, 0.0, 0.0], place, velocity=[0.1, 0.0, 0.0])
        assert answer.velocity[0] > 0.0 and Reason.FLOOR not in answer.reasons


def test_ground_too_near_to_measure_is_the_ground_from_which_the_ceiling_counts(steps: Steps) -> None:
    steps.now += 0.05
    scene = steps.kit.Scene(steps.governor.limits, position=AWAY, now=steps.now)
    ranges = np.full_like(scene.ranges.ranges, math.inf)
    ranges[:8] = -math.inf  # steeper than 45 degrees below the horizon
    scene.ranges = replace(scene.ranges, ranges=ranges)
    scene.window = replace(scene.window, cells=np.zeros_like(scene.window.cells))
    scene.state = replace(scene.state, landed=True)
    answer = scene.decide([0.0, 0.0, 0.1], governor=steps.governor)
    assert answer.velocity[2] == pytest.approx(0.1) and not answer.reasons


def test_ground_that_was_seen_counts_for_the_ceiling_while_nothing_is_seen(steps: Steps) -> None:
    steps([0.0, 0.0, 0.0], [0.0, 0.0, 40.0])
    steps.governor.clear()  # with its usual share of echoes
    assert Reason.CEILING not in steps([0.0, 0.0, 0.1], [0.0, 0.0, 40.0], blind=True).reasons


# On the ground


def test_disarmed_on_the_ground_it_is_not_flying(steps: Steps, kit: Kit) -> None:
    """The brief may then be widened, no command counts as changed, and a lost pilot brings nothing home."""
    steps.governor.limits = steps.governor.limits.model_copy(update={"link_return": 0.04})
    for _ in range(3):
        answer = steps([1.0, 0.0, 0.0], AWAY, armed=False, heartbeat_age=9.0)
    assert answer.changed and answer.interventions == 0
    assert answer.mode is Mode.HOLD and "not armed" in answer.text
    steps.governor.set_site(Site(kit.square(900.0), 120.0, np.zeros(3)))


def test_landed_a_lost_pilot_brings_nothing_home(steps: Steps) -> None:
    steps.governor.limits = steps.governor.limits.model_copy(update={"link_return": 0.04})
    for _ in range(3):
        answer = steps([1.0, 0.0, 0.0], AWAY, landed=True, heartbeat_age=9.0)
    assert answer.mode is Mode.HOLD and "on the ground" in answer.text and answer.interventions == 0


@pytest.mark.parametrize("rests", [{"landed": True}, {"armed": False}])
def test_what_stands_on_the_ground_breaches_nothing_and_shows_its_clearance(
    steps: Steps, kit: Kit, rests: dict[str, bool]
) -> None:
    """It was carried over the fence, beside a post."""
    steps.governor = Governor(steps.governor.limits, Site(kit.square(20.0), 120.0, np.zeros(3)))
    post = kit.World(np.array([[30.4, 0.0, math.inf, 0.1]]), 24, 180)
    answer = steps([0.0, 0.0, 0.0], AWAY, world=post, **rests)
    assert not answer.breach and answer.clearance == pytest.approx(0.05, abs=0.03)
    steps.governor.clear()  # it rose in one step
    answer = steps([0.0, 0.0, 0.0], HERE, world=post)
    assert answer.breach and answer.clearance == pytest.approx(0.3, abs=0.03)


# In the air without a site


def test_without_a_site_in_the_air_it_is_decided_all_the_same(kit: Kit, limits: Limits) -> None:
    steps = Steps(kit, limits, None)
    assert steps([0.1, 0.0, 0.0], HERE).velocity.tolist() == [0.1, 0.0, 0.0]
    assert steps([0.1, 0.0, 0.0], HERE, battery=limits.battery_return).mode is Mode.LAND, "home is here"


# Return and landing


def test_a_charge_that_falls_fast_brings_it_home(kit: Kit, limits: Limits) -> None:
    quick = limits.model_copy(update={"clock_gap": 10.0})
    steps = Steps(kit, quick, Site(kit.square(500.0), 120.0, np.zeros(3)))
    modes = [steps([0.0, 0.0, 0.0], HERE, later=10.0, battery=charge).mode for charge in (0.9, 0.7)]
    assert modes == [Mode.NORMAL, Mode.RETURN]


@pytest.mark.parametrize("blocked", [True, False])
def test_a_return_climbs_where_the_way_is_blocked_and_there_alone(kit: Kit, limits: Limits, blocked: bool) -> None:
    wall = kit.World(np.array([[-101.5, 0.0, math.inf, 100.0]] if blocked else np.zeros((0, 4))), 24, 180)
    steps = Steps(kit, limits, Site(kit.square(500.0), 120.0, np.array([-200.0, 0.0, 0.0])))
    at, low = [0.8, 0.0, limits.return_height], limits.battery_return
    answer = [steps([0.0, 0.0, 0.0], at, world=wall, battery=low) for _ in range(12)][-1]
    assert answer.mode is Mode.RETURN
    assert bool(answer.velocity[2] > 1.0) == blocked and bool(answer.velocity[0] < -1.0) != blocked


@pytest.mark.parametrize("charge", [0.06, LAST_CHARGE])
def test_only_the_last_of_the_charge_comes_down_beside_what_stands_there(steps: Steps, kit: Kit, charge: float) -> None:
    stump = kit.World(np.array([[31.4, 0.0, 2.0, 0.3]]), 24, 180)
    for height in (3.5, 3.465):
        answer = steps(
            [0.0, 0.0, 0.0], [30.0, 0.0, height], velocity=DOWN, world=stump, touching_down=True, battery=charge
        )
    assert answer.mode is Mode.LAND and bool(answer.velocity[2] < 0.0) is (charge == LAST_CHARGE)


def test_what_it_passes_closely_in_a_landing_is_no_breach(steps: Steps, kit: Kit, limits: Limits) -> None:
    post = kit.World(np.array([[30.4, 0.0, math.inf, 0.1]]), 24, 180)
    for height in (2.0, 1.965):
        answer = steps([0.0, 0.0, 0.0], [30.0, 0.0, height], velocity=DOWN, world=post, battery=LAST_CHARGE)
    assert answer.mode is Mode.LAND and bool(answer.velocity[2] < 0.0) and not answer.breach


def test_lost_with_an_empty_battery_it_lands_where_it_is(steps: Steps, limits: Limits) -> None:
    """The position jumps by 40 m; the charge is followed all the same."""
    steps([0.0, 0.0, 0.0], HERE)
    answer = steps([0.0, 0.0, 0.0], [70.0, 0.0, 20.0], velocity=DOWN, battery=limits.battery_land)
    assert answer.mode is Mode.LAND and Reason.ESTIMATOR in answer.reasons and answer.velocity.tolist() == DOWN


def test_lost_on_the_ground_it_is_pushed_no_farther_down(steps: Steps, limits: Limits) -> None:
    steps([0.0, 0.0, 0.0], HERE)
    for rests in ({"landed": True}, {"armed": False}):
        answer = steps([0.0, 0.0, 0.0], [70.0, 0.0, 0.05], battery=limits.battery_land, **rests)
        assert answer.mode is Mode.LAND and Reason.ESTIMATOR in answer.reasons and not answer.velocity.any(), rests


def test_landing_it_stands_while_its_odometry_is_silent_or_the_clock_settles(steps: Steps, limits: Limits) -> None:
    assert steps([0.0, 0.0, 0.0], HERE, velocity=DOWN, battery=limits.battery_land).velocity[2] < 0.0
    silent = steps([0.0, 0.0, 0.0], HERE, velocity=DOWN, stamp=0.0)
    assert silent.mode is Mode.LAND and not silent.velocity.any()
    steps.governor.clear()  # it has not moved since
    steps([0.0, 0.0, 0.0], HERE, velocity=DOWN, battery=limits.battery_land)
    settling = steps([0.0, 0.0, 0.0], HERE, later=5.0)
    assert settling.mode is Mode.LAND and Reason.CLOCK_JUMP in settling.reasons and not settling.velocity.any()


def test_a_turn_that_is_shortened_is_a_change(steps: Steps, kit: Kit, limits: Limits) -> None:
    assert kit.Scene(limits).decide([0.0, 0.0, 0.0], 3.0).changed


def test_a_battery_that_never_reported_brings_nothing_home(steps: Steps) -> None:
    assert steps([0.0, 0.0, 0.0], HERE, battery=None).mode is Mode.NORMAL


def test_terminated_it_does_not_even_back_off(steps: Steps, kit: Kit) -> None:
    steps.governor.terminate()
    answer = steps([0.0, 0.0, 0.0], HERE, world=kit.World(np.array([[31.3, 0.0, math.inf, 0.1]]), 24, 180))
    assert answer.mode is Mode.TERMINATE and not answer.velocity.any()


def test_a_return_without_ranges_stands_though_the_map_is_free(kit: Kit, limits: Limits) -> None:
    scene = kit.Scene(limits, position=[30.0, 0.0, 30.0])
    scene.state = replace(scene.state, battery=limits.battery_return)
    scene.ranges = replace(scene.ranges, stamp=kit.NOW - 1.0)
    answer = scene.decide([0.0, 0.0, 0.0])
    assert answer.mode is Mode.RETURN and not answer.velocity.any()


def test_the_way_of_a_gust_is_kept_in_free_flight_alone(steps: Steps, kit: Kit, limits: Limits) -> None:
    """Take-off, landing and touch-down go straight past what stands beside them."""
    scene = kit.Scene(limits, position=[0.0, 0.0, 4.0])
    memory = replace(steps.governor._memory, wind=WindDisturbance(mean_square=0.25))
    landing = replace(memory, latch=Latch(Mode.LAND, Reason.BATTERY_EMPTY, ""))
    taking_off = replace(memory, takeoff_column=np.zeros(3))
    for before, touching_down, drift in (
        (memory, False, 2.0), (memory, True, 0.0), (landing, False, 0.0), (taking_off, False, 0.0),
    ):  # fmt: skip
        built, _ = steps.governor._build_scene(before, scene.state, scene.ranges, scene.window, touching_down)
        assert built.drift == drift


def test_a_hold_tells_its_cause_and_then_what_it_waits_for(steps: Steps) -> None:
    for silent in (2.0, 2.05, 0.0):
        answer = steps([0.0, 0.0, 0.0], HERE, heartbeat_age=silent)
        assert answer.mode is Mode.HOLD and answer.reason is Reason.LINK
        assert ("waiting for steady inputs" in answer.text) is (silent == 0.0)
