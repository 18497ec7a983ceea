"""The governor in each situation, one at a time."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose
from esar_ros.mission.errors import UsageError
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, SafeCommand, State
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site


def on_ground(scene, armed: bool = True):  # type: ignore[no-untyped-def]
    scene.state = replace(scene.state, armed=armed, landed=True)
    return scene


def run(kit: SimpleNamespace, limits: Limits, governor: Governor, seconds: float, asked: object, **scene: object):  # type: ignore[no-untyped-def]
    """Lets an ideal vehicle obey the governor for seconds; returns all answers and the last position."""
    position = np.array(scene.pop("position"), dtype=np.float64)
    velocity, now = np.array(scene.pop("velocity", np.zeros(3)), dtype=np.float64), scene.pop("now", kit.NOW)
    battery, landed = scene.pop("battery", 0.9), scene.pop("landed", False)
    answers: list[SafeCommand] = []
    window = None
    for n in range(round(seconds / kit.STEP)):
        window = window if n % 20 else None
        view = kit.Scene(
            limits, position=position, velocity=velocity, site=governor.site, now=now, window=window, **scene
        )
        window = view.window
        view.state = replace(view.state, battery=battery, landed=landed)
        answers.append(view.decide(asked, governor=governor))
        velocity = answers[-1].velocity.copy()
        position = position + velocity * kit.STEP
        landed = position[2] <= 0.05
        now += kit.STEP
    return answers, position


# Transparent, slower, turned aside


def test_open_air_passes_unchanged(kit: SimpleNamespace, limits: Limits) -> None:
    answer = kit.Scene(limits, velocity=[4.0, 1.0, 0.0]).decide([4.1, 1.0, 0.0], 0.3)
    assert (answer.mode, answer.reason, answer.changed, answer.text) == (Mode.NORMAL, Reason.NONE, False, "")
    assert answer.velocity.tolist() == [4.1, 1.0, 0.0] and answer.yaw_rate == 0.3
    assert answer.height == pytest.approx(20.0, abs=0.01)
    assert answer.stopping_distance == pytest.approx(17.01 / 5 + math.sqrt(17) * 0.35, abs=0.01)


def test_too_fast_is_slowed_in_the_same_direction(kit: SimpleNamespace, limits: Limits) -> None:
    answer = kit.Scene(limits, velocity=[6.0, 0.0, -0.5]).decide([12.0, 0.0, -1.0])
    np.testing.assert_allclose(answer.velocity, [6.0, 0.0, -0.5])
    assert answer.mode is Mode.SLOW and answer.reasons == (Reason.SPEED,)


def test_turning_too_fast(kit: SimpleNamespace, limits: Limits) -> None:
    answer = kit.Scene(limits).decide([0.0, 0.0, 0.0], -3.0)
    assert answer.yaw_rate == -limits.yaw_rate and answer.reasons == (Reason.YAW_RATE,)


def test_speeding_up_takes_time_and_slowing_does_not(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(500.0), 120.0, np.zeros(3)))
    answers, _ = run(kit, limits, governor, 1.0, [5.0, 0.0, 0.0], position=[0.0, 0.0, 20.0])
    speeds = [a.velocity[0] for a in answers]
    np.testing.assert_allclose(np.diff(speeds), limits.acceleration * kit.STEP, atol=1e-9)
    assert answers[-1].reasons == (Reason.ACCELERATION,)
    scene = kit.Scene(limits, now=kit.NOW + 1.0, velocity=[3.0, 0.0, 0.0])
    assert scene.decide([0.5, 0.0, 0.0], governor=governor).velocity.tolist() == [0.5, 0.0, 0.0]


def test_stops_before_a_pillar_and_slides_along(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(500.0), 120.0, np.zeros(3)))
    world = kit.World(np.array([[15.0, 0.0, math.inf, 3.0]]), 24, 180)
    answers, position = run(kit, limits, governor, 8.0, [5.0, 0.0, 0.0], position=[0.0, 0.0, 20.0], world=world)
    assert 1.6 < world.distance(position) < 2.6 and answers[-1].reason is Reason.OBSTACLE
    answers, position = run(
        kit, limits, governor, 6.0, [2.0, 2.0, 0.0], position=position, world=world, now=kit.NOW + 8.0
    )
    assert position[1] > 4.0 and world.distance(position) > 1.5


def test_works_by_ranges_alone_but_slowly(kit: SimpleNamespace, limits: Limits) -> None:
    scene = kit.Scene(limits, velocity=[4.0, 0.0, 0.0])
    scene.window = replace(scene.window, stamp=kit.NOW - 3.0)
    answer = scene.decide([4.0, 0.0, 0.0])
    np.testing.assert_allclose(answer.velocity, [limits.speed_without_map, 0.0, 0.0])
    assert answer.mode is Mode.SLOW and answer.reasons == (Reason.STALE_MAP,)
    assert scene.decide([1.0, 0.0, 0.0]).reason is Reason.NONE


def test_works_by_the_map_where_ranges_are_blind(kit: SimpleNamespace, limits: Limits) -> None:
    world = kit.World(np.array([[8.0, 0.0, math.inf, 2.0]]))
    scene = kit.Scene(limits, world=world, velocity=[5.0, 0.0, 0.0])
    ranges = scene.ranges.ranges.copy()
    ranges[:, 18:54] = math.nan  # the half ahead
    scene.ranges = replace(scene.ranges, ranges=ranges)
    answer = scene.decide([5.0, 0.0, 0.0])
    assert answer.velocity[0] < 4.0 and Reason.OBSTACLE in answer.reasons


def test_squeezed_between_two_walls_it_stays(kit: SimpleNamespace, limits: Limits) -> None:
    world = kit.World(np.array([[101.2, 0.0, math.inf, 100.0], [-101.2, 0.0, math.inf, 100.0]]), 24, 180)
    answer = kit.Scene(limits, world=world).decide([0.0, 0.0, 0.0])
    assert abs(answer.velocity[0]) < 1e-6


def test_unseen_ahead_stops_and_unseen_above_slows(kit: SimpleNamespace, limits: Limits) -> None:
    scene = kit.Scene(limits, velocity=[0.0, 0.0, 3.0])
    scene.window = replace(scene.window, cells=np.zeros_like(scene.window.cells))
    answer = scene.decide([0.0, 0.0, 3.0])
    np.testing.assert_allclose(answer.velocity, [0.0, 0.0, limits.speed_unseen_up], atol=1e-6)
    assert answer.reason is Reason.UNKNOWN_SPACE
    scene = kit.Scene(limits, velocity=[3.0, 0.0, 0.0])
    scene.window = replace(scene.window, cells=np.zeros_like(scene.window.cells))
    scene.ranges = replace(scene.ranges, ranges=np.full((24, 72), math.nan, dtype=np.float32))
    answer = scene.decide([3.0, 0.0, 0.0])
    assert np.linalg.norm(answer.velocity) == 0.0 and answer.reason is Reason.UNKNOWN_SPACE


# Height and fence


def test_climbs_back_above_the_floor(kit: SimpleNamespace, limits: Limits) -> None:
    answer = kit.Scene(limits, position=[20.0, 0.0, 2.2]).decide([0.0, 0.0, -1.0])
    assert answer.mode is Mode.CLIMB and answer.reason is Reason.FLOOR
    governor = Governor(limits, Site(kit.square(500.0), 120.0, np.zeros(3)))
    _, position = run(kit, limits, governor, 4.0, [0.0, 0.0, -1.0], position=[20.0, 0.0, 2.2])
    assert limits.floor - limits.floor_deadband - 0.1 <= position[2] <= limits.floor + 0.2


def test_descent_ends_at_the_floor(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(500.0), 120.0, np.zeros(3)))
    answers, position = run(kit, limits, governor, 12.0, [0.0, 0.0, -2.0], position=[0.0, 0.0, 12.0])
    assert position[2] == pytest.approx(limits.floor, abs=0.3) and answers[-1].reason is Reason.FLOOR


def test_climb_ends_at_the_ceiling(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(500.0), 30.0, np.zeros(3)))
    answers, position = run(kit, limits, governor, 8.0, [0.0, 0.0, 2.0], position=[0.0, 0.0, 22.0])
    assert position[2] == pytest.approx(30.0, abs=0.3) and answers[-1].reason is Reason.CEILING


def test_above_the_ceiling_it_comes_down(kit: SimpleNamespace, limits: Limits) -> None:
    site = Site(kit.square(500.0), 30.0, np.zeros(3))
    answer = kit.Scene(limits, position=[0.0, 0.0, 33.0], velocity=[0.0, 0.0, -0.8], site=site).decide([0.0, 0.0, 1.0])
    assert answer.velocity[2] < 0.0 and answer.reason is Reason.CEILING and not answer.breach
    assert kit.Scene(limits, position=[0.0, 0.0, 41.0], site=site).decide([0.0, 0.0, 0.0]).breach


def test_no_climb_where_the_ground_was_never_seen(kit: SimpleNamespace, limits: Limits) -> None:
    scene = kit.Scene(limits, position=[0.0, 0.0, 80.0], velocity=[0.0, 0.0, 1.0])
    answer = scene.decide([0.0, 0.0, 1.0])
    assert answer.height is None and answer.velocity[2] <= 1e-6 and Reason.CEILING in answer.reasons


def test_ground_out_of_sight_is_remembered(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(500.0), 120.0, np.zeros(3)))
    answers, position = run(kit, limits, governor, 8.0, [0.0, 0.0, 1.5], position=[0.0, 0.0, 55.0])
    assert answers[-1].height is None and answers[-1].velocity[2] == 1.5 and position[2] > 65.0


def test_stops_inside_the_fence(kit: SimpleNamespace, limits: Limits) -> None:
    site = Site(kit.square(40.0), 120.0, np.zeros(3))
    answers, position = run(kit, limits, Governor(limits, site), 15.0, [6.0, 1.0, 0.0], position=[0.0, 0.0, 20.0])
    assert position[0] == pytest.approx(40.0 - limits.fence_margin, abs=0.3)
    assert answers[-1].reason is Reason.FENCE and answers[-1].velocity[1] > 0.9


def test_comes_back_over_the_fence(kit: SimpleNamespace, limits: Limits) -> None:
    site = Site(kit.square(40.0), 120.0, np.zeros(3))
    answers, position = run(kit, limits, Governor(limits, site), 8.0, [6.0, 0.0, 0.0], position=[43.0, 0.0, 20.0])
    assert answers[0].breach and answers[0].reason is Reason.BREACH and position[0] < 40.0


# Take-off, landing, ground


def test_not_armed_gives_nothing(kit: SimpleNamespace, limits: Limits) -> None:
    answer = on_ground(kit.Scene(limits, position=[0.0, 0.0, 0.1]), armed=False).decide([1.0, 0.0, 1.0])
    assert not answer.velocity.any() and answer.reason is Reason.NOT_FLYING


def test_takes_off_straight_up_unchanged(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(40.0), 120.0, np.zeros(3)))
    on_ground(kit.Scene(limits, position=[0.0, 0.0, 0.05])).decide([0.0, 0.0, 0.0], governor=governor)
    answers, position = run(
        kit, limits, governor, 5.0, [0.0, 0.0, 1.5], position=[0.0, 0.0, 0.05], now=kit.NOW + kit.STEP, landed=True
    )
    assert position[2] > 6.0
    assert {r for a in answers for r in a.reasons} <= {Reason.ACCELERATION}


def test_a_slope_beside_does_not_bend_the_take_off_but_a_roof_ends_it(kit: SimpleNamespace, limits: Limits) -> None:
    slope = kit.World(np.array([[6.0, 0.0, -8.0, 10.0]]), 24, 180)
    for world, free in ((slope, True), (kit.World(np.array([[0.0, 0.0, 6.0, 2.0]]), 24, 180, math.pi / 2), False)):
        governor = Governor(limits, Site(kit.square(40.0), 120.0, np.zeros(3)))
        ground = on_ground(kit.Scene(limits, world=world, position=[0.0, 0.0, 0.05]))
        ground.decide([0.0, 0.0, 0.0], governor=governor)
        _, position = run(
            kit, limits, governor, 3.0, [0.0, 0.0, 1.5], position=[0.0, 0.0, 0.05], now=kit.NOW + kit.STEP,
            landed=True, world=world,
        )  # fmt: skip
        assert position[0] == 0.0
        assert bool(position[2] > 3.0) is free, position


def test_no_way_sideways_before_the_floor_is_left(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(40.0), 120.0, np.zeros(3)))
    on_ground(kit.Scene(limits, position=[0.0, 0.0, 0.05])).decide([0.0, 0.0, 0.0], governor=governor)
    scene = kit.Scene(limits, position=[0.0, 0.0, 1.5], velocity=[0.0, 0.0, 1.0], now=kit.NOW + kit.STEP)
    answer = scene.decide([2.0, 0.0, 0.1], governor=governor)
    assert answer.velocity[0] == 0.0 and Reason.FLOOR in answer.reasons and answer.mode is Mode.SLOW


def test_on_the_ground_no_way_sideways(kit: SimpleNamespace, limits: Limits) -> None:
    answer = on_ground(kit.Scene(limits, position=[0.0, 0.0, 0.05])).decide([1.0, 0.0, 0.1])
    assert answer.velocity[0] == 0.0 and Reason.NOT_FLYING in answer.reasons


def test_without_a_site_it_stays_on_the_ground(kit: SimpleNamespace, limits: Limits) -> None:
    scene = on_ground(kit.Scene(limits, position=[0.0, 0.0, 0.05]))
    answer = scene.decide([0.0, 0.0, 1.0], governor=Governor(limits))
    assert not answer.velocity.any() and answer.mode is Mode.HOLD and answer.reason is Reason.FENCE


# Modes


def test_battery_reserve_returns_home_and_lands(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(100.0), 60.0, np.zeros(3)))
    answers, position = run(
        kit, limits, governor, 75.0, [3.0, 0.0, 0.0], position=[30.0, -20.0, 18.0], battery=limits.battery_return
    )
    modes = [a.mode for a in answers]
    assert modes[0] is Mode.RETURN and modes[-1] is Mode.LAND and answers[-1].reason is Reason.BATTERY_RESERVE
    assert math.hypot(position[0], position[1]) <= limits.home_radius + 1.0 and position[2] < 0.3
    assert all(a <= b for a, b in pairwise(modes)), "never less severe by itself"


def test_far_away_it_turns_back_earlier(kit: SimpleNamespace, limits: Limits) -> None:
    site = Site(kit.square(2000.0), 120.0, np.zeros(3))
    near, far = (kit.Scene(limits, position=[x, 0.0, 20.0], site=site) for x in (50.0, 1500.0))
    for scene in (near, far):
        scene.state = replace(scene.state, battery=0.3)
    assert near.decide([0.0, 0.0, 0.0]).mode is Mode.NORMAL
    assert far.decide([0.0, 0.0, 0.0]).mode is Mode.RETURN


def test_empty_battery_lands_here(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(100.0), 60.0, np.zeros(3)))
    answers, position = run(
        kit, limits, governor, 20.0, [3.0, 0.0, 0.0], position=[30.0, 0.0, 10.0], battery=limits.battery_land
    )
    assert answers[-1].mode is Mode.LAND and answers[0].reason is Reason.BATTERY_EMPTY
    assert position[2] < 0.1 and abs(position[0] - 30.0) < 0.5


def test_a_battery_that_stops_reporting_keeps_its_last_word(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(100.0), 60.0, np.zeros(3)))
    scene = kit.Scene(limits)
    scene.state = replace(scene.state, battery=0.05)
    assert scene.decide([0.0, 0.0, 0.0], governor=governor).mode is Mode.LAND
    governor.clear()
    later = kit.Scene(limits, now=kit.NOW + 0.05)
    later.state = replace(later.state, battery=math.nan)
    assert later.decide([0.0, 0.0, 0.0], governor=governor).mode is Mode.LAND


def test_lost_pilot_holds_then_returns(kit: SimpleNamespace, limits: Limits) -> None:
    quick = limits.model_copy(update={"link_return": 1.0})
    governor = Governor(quick, Site(kit.square(100.0), 60.0, np.zeros(3)))
    first = kit.Scene(quick, position=[50.0, 0.0, 20.0], heartbeat_age=0.6).decide([1.0, 0.0, 0.0], governor=governor)
    assert first.mode is Mode.HOLD and first.reason is Reason.LINK
    for n in range(1, 20):
        between = kit.Scene(quick, position=[50.0, 0.0, 20.0], now=kit.NOW + n * 0.05, heartbeat_age=0.6)
        between.decide([1.0, 0.0, 0.0], governor=governor)
    later = kit.Scene(quick, position=[50.0, 0.0, 20.0], now=kit.NOW + 1.0, heartbeat_age=1.6).decide(
        [1.0, 0.0, 0.0], governor=governor
    )
    assert later.mode is Mode.RETURN and later.reason is Reason.LINK
    back = kit.Scene(quick, position=[50.0, 0.0, 20.0], now=kit.NOW + 1.05).decide([1.0, 0.0, 0.0], governor=governor)
    assert back.mode is Mode.RETURN, "latched: a pilot that comes back has to be cleared"
    assert governor.clear()
    free = kit.Scene(quick, position=[50.0, 0.0, 20.0], now=kit.NOW + 1.6).decide([0.0, 0.0, 0.0], governor=governor)
    assert free.mode in (Mode.NORMAL, Mode.HOLD)


def test_return_without_ranges_stands_and_landing_does_not(kit: SimpleNamespace, limits: Limits) -> None:
    for battery, moves in ((limits.battery_return, False), (limits.battery_land, True)):
        scene = kit.Scene(limits, position=[30.0, 0.0, 30.0], velocity=[0.0, 0.0, -0.7])
        scene.state = replace(scene.state, battery=battery)
        scene.ranges = replace(scene.ranges, stamp=kit.NOW - 1.0)
        assert bool(scene.decide([0.0, 0.0, 0.0]).velocity.any()) is moves


def test_return_climbs_over_what_is_in_the_way(kit: SimpleNamespace, limits: Limits) -> None:
    wall = np.array([[15.0, y, z, 3.0] for y in range(-12, 13, 3) for z in range(0, 31, 3)], dtype=np.float64)
    governor = Governor(limits, Site(kit.square(100.0), 90.0, np.zeros(3)))
    world = kit.World(wall, 24, 120)
    answers, position = run(
        kit, limits, governor, 90.0, [0.0, 0.0, 0.0], position=[30.0, 0.0, 28.0], battery=0.2, world=world
    )
    assert math.hypot(position[0], position[1]) <= limits.home_radius + 1.0
    assert min(a.clearance for a in answers[:600] if a.clearance is not None) > limits.body_radius


def test_termination_is_final(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(100.0), 60.0, np.zeros(3)))
    governor.terminate()
    assert not governor.clear()
    for n in range(5):
        scene = kit.Scene(limits, now=kit.NOW + n * 0.05, velocity=[1.0, 0.0, 0.0])
        scene.state = replace(scene.state, battery=0.01)
        answer = scene.decide([1.0, 0.0, 0.0], governor=governor)
        assert answer.mode is Mode.TERMINATE and not answer.velocity.any()
    scene.state = None
    assert scene.decide([1.0, 0.0, 0.0], governor=governor).mode is Mode.TERMINATE


# Repeated steps, sites, counting


def test_asked_again_it_answers_the_same(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(100.0), 60.0, np.zeros(3)))
    scene = kit.Scene(limits)
    first = scene.decide([3.0, 0.0, 0.0], governor=governor)
    again = scene.decide([3.0, 0.0, 0.0], governor=governor)
    assert first.velocity.tobytes() == again.velocity.tobytes()
    assert (first.reasons, first.interventions) == (again.reasons, again.interventions) == ((Reason.ACCELERATION,), 1)


def test_a_site_is_not_loosened_in_flight(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(100.0), 60.0, np.zeros(3)))
    kit.Scene(limits, velocity=[0.0, 0.0, -1.0]).decide([0.0, 0.0, 0.0], governor=governor)
    for loose in (Site(kit.square(101.0), 60.0, np.zeros(3)), Site(kit.square(100.0), 61.0, np.zeros(3))):
        with pytest.raises(UsageError):
            governor.set_site(loose)
    governor.set_site(Site(kit.square(90.0), 50.0, np.zeros(3)))
    for later in (60.0, 61.0):  # the second once the step of the clock has settled
        below = kit.Scene(limits, position=[0.0, 0.0, 0.05], now=kit.NOW + later)
        on_ground(below).decide([0.0] * 3, governor=governor)
    governor.set_site(Site(kit.square(101.0), 70.0, np.zeros(3)))


def test_interventions_count_steps_changed_in_flight(kit: SimpleNamespace, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(500.0), 60.0, np.zeros(3)))
    for n in range(4):
        scene = kit.Scene(limits, now=kit.NOW + n * 0.05, velocity=[6.0, 0.0, 0.0])
        answer = scene.decide([9.0 if n % 2 else 6.0, 0.0, 0.0], governor=governor)
    assert answer.interventions == 2


def test_a_vehicle_found_in_the_air_is_flying(kit: SimpleNamespace, limits: Limits) -> None:
    """A restarted governor takes over where the vehicle is, at the speed it has."""
    state = State(kit.NOW, Pose(np.array([0.0, 0.0, 20.0])), np.array([4.0, 0.0, 0.0]), True, False, 0.9)
    scene = kit.Scene(limits, velocity=[4.0, 0.0, 0.0], state=state)
    answer = scene.ask(Command(kit.NOW, np.array([4.0, 0.0, 0.0])))
    assert not answer.changed


def test_started_again_in_a_take_off_it_knows_the_column(kit: SimpleNamespace, limits: Limits) -> None:
    beside = kit.World(things=np.array([[0.9, 0.0, 1.5, 0.5]]))  # a stone nearer than the body allows
    scene = kit.Scene(limits, beside, position=[0.0, 0.0, 1.5])
    assert not scene.decide([0.0, 0.0, 1.0]).breach
    away = kit.Scene(limits, beside, position=[0.0, 0.0, 1.5], site=Site(kit.square(500.0), 120.0, np.full(3, 40.0)))
    assert away.decide([0.0, 0.0, 1.0]).breach
    high = kit.Scene(
        limits, beside, position=[0.0, 0.0, 1.5], site=Site(kit.square(500.0), 120.0, np.array([0, 0, -9.0]))
    )
    assert high.decide([0.0, 0.0, 1.0]).breach


def test_leaves_a_keep_out_zone_the_short_way(kit: SimpleNamespace, limits: Limits) -> None:
    site = Site(kit.square(500.0), 120.0, np.zeros(3), (kit.square(10.0) + [50.0, 0.0],))
    answer = kit.Scene(limits, position=[42.0, 0.0, 20.0], site=site).decide([0.0, 0.0, 0.0])
    assert answer.breach and Reason.KEEP_OUT in answer.reasons
    assert answer.velocity[0] < 0.0 and answer.velocity[1] == 0.0


def test_stays_below_the_ceiling_above_sea_level(kit: SimpleNamespace, limits: Limits) -> None:
    site = Site(kit.square(500.0), 120.0, np.zeros(3), top=22.0)
    near = kit.Scene(limits, position=[0.0, 0.0, 21.9], velocity=[0.0, 0.0, 1.0], site=site).decide([0.0, 0.0, 1.0])
    assert near.velocity[2] < 0.2 and Reason.CEILING in near.reasons
    above = kit.Scene(limits, position=[0.0, 0.0, 25.0], site=site).decide([0.0, 0.0, 0.0])
    assert above.velocity[2] < 0.0 and not above.breach
    assert kit.Scene(limits, position=[0.0, 0.0, 40.0], site=site).decide([0.0, 0.0, 0.0]).breach


def test_slow_in_poor_sight(kit: SimpleNamespace, limits: Limits) -> None:
    site = Site(kit.square(500.0), 120.0, np.zeros(3), speed=4.0)
    answer = kit.Scene(limits, velocity=[5.0, 0.0, 0.0], site=site).decide([5.0, 0.0, 0.0])
    assert np.linalg.norm(answer.velocity) == pytest.approx(4.0)
    assert answer.reason is Reason.CONDITIONS


def test_commands_at_their_own_rate_pass_unchanged(kit: SimpleNamespace, limits: Limits) -> None:
    """A governor asked at 50 Hz lets a 20 Hz pilot's ramp pass, though it comes in steps of 50 ms."""
    governor, speed, gain, stamp, changed = None, 0.0, 0.0, kit.NOW, 0
    place = np.array([0.0, 0.0, 20.0])
    for step in range(100):
        now = kit.NOW + 0.02 * step
        if now - stamp >= 0.05 - 1e-9:
            stamp += 0.05
            gain = min(gain + 15.0 * 0.05, 2.0)
            speed = min(speed + gain * 0.05, 4.0)
        place = place + [0.02 * speed, 0.0, 0.0]
        scene = kit.Scene(limits, position=place, velocity=[speed, 0.0, 0.0], now=now)
        governor = governor or scene.governor()
        answer = scene.ask(Command(stamp, np.array([speed, 0.0, 0.0])), governor)
        changed += answer.changed
    assert speed > 3.0
    assert changed == 0
