"""The separation of vehicles of one mission."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from esar_ros.geometry.frames import FARTHEST, FASTEST
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.surroundings.obstacles import NO_LIMITS
from esar_ros.safety.traffic import (
    OtherVehicle,
    Team,
    gaps,
    in_the_air,
    layer_height,
    layer_velocity,
    separation_limits,
)
from helpers.full import mostly_full


def test_far_away_nothing_is_changed(kit: SimpleNamespace, limits: Limits) -> None:
    other = OtherVehicle(kit.NOW, np.array([80.0, 0.0, 20.0]), np.zeros(3))
    scene = kit.Scene(limits, velocity=[5.0, 0.0, 0.0], others=(other,))
    assert not scene.decide([5.0, 0.0, 0.0]).changed


def test_near_it_slows_and_too_near_it_parts(kit: SimpleNamespace, limits: Limits) -> None:
    def answer(x: float):  # type: ignore[no-untyped-def]
        other = OtherVehicle(kit.NOW, np.array([x, 0.0, 20.0]), np.zeros(3))
        return kit.Scene(limits, others=(other,)).decide([1.0, 0.0, 0.0])

    assert Reason.TRAFFIC in answer(limits.separation + 0.2).reasons
    assert answer(limits.separation - 2.0).velocity[0] < 0.0
    assert answer(0.6).breach


def test_an_impossible_report_is_left_out(kit: SimpleNamespace, limits: Limits) -> None:
    other = OtherVehicle(kit.NOW, np.array([math.nan, 0.0, 20.0]), np.zeros(3))
    assert not kit.Scene(limits, velocity=[5.0, 0.0, 0.0], others=(other,)).decide([5.0, 0.0, 0.0]).changed


@pytest.mark.parametrize("seed", mostly_full(range(12), 6))
def test_two_that_fly_at_each_other_stay_apart(kit: SimpleNamespace, limits: Limits, seed: int) -> None:
    """Both fly under governors, with delay, lag, gusts and noise; one has the other's reports 0.2 s late."""
    rng = np.random.default_rng(seed)
    site = Site(kit.square(200.0), 120.0, np.zeros(3))
    heading = rng.uniform(-math.pi, math.pi)
    start = 30.0 * np.array([math.cos(heading), math.sin(heading), rng.uniform(-0.1, 0.1)])
    flights = [
        kit.Rollout(
            kit.World(np.zeros((0, 4)), 18, 24, math.pi / 2.0),
            Governor(limits, site),
            site,
            np.random.default_rng([seed, n]),
            position=np.array([0.0, 0.0, 30.0]) + sign * start,
            lag=0.3,
            delay=2,
            gust=0.5,
        )
        for n, sign in enumerate((1.0, -1.0))
    ]
    reports: list[list[OtherVehicle]] = [[], []]
    for n, flight in enumerate(flights):
        flight.others = lambda n=n: tuple(reports[1 - n][:-4][-1:])  # type: ignore[misc]
    nearest = math.inf
    for _ in range(300):
        for n, flight in enumerate(flights):
            reports[n].append(OtherVehicle(flight.now, flight.position.copy(), flight.velocity.copy()))
        for n, flight in enumerate(flights):
            to = flights[1 - n].position - flight.position
            wish = 6.0 * to / max(float(np.linalg.norm(to)), 1e-6)
            flight.fly(lambda f, v=wish: Command(f.now, v), kit.STEP)  # type: ignore[misc]
        nearest = min(nearest, float(np.linalg.norm(flights[0].position - flights[1].position)))
    assert nearest > 2.0 * limits.body_radius + 1.0
    assert all(answer.mode is not Mode.TERMINATE for flight in flights for answer in flight.answers)


@pytest.mark.parametrize(
    ("changes", "usable"),
    [
        ({}, True),
        ({"stamp": math.nan}, False),
        ({"position": np.array([math.nan, 0.0, 0.0])}, False),
        ({"position": np.array([0.0, 0.0, -FARTHEST])}, False),
        ({"velocity": np.array([0.0, math.inf, 0.0])}, False),
        ({"velocity": np.array([0.0, -FASTEST, 0.0])}, False),
    ],
)
def test_a_report_that_cannot_be_is_not_usable(changes: dict[str, object], usable: bool) -> None:
    report = OtherVehicle(1.0, np.zeros(3), np.zeros(3))
    assert replace(report, **changes).is_finite() is usable  # type: ignore[arg-type]


def test_a_vehicle_at_the_same_place_is_above(limits: Limits) -> None:
    """Any direction would do; a division by zero would not."""
    [(direction, distance)] = gaps([OtherVehicle(1.0, np.zeros(3), np.zeros(3))], np.zeros(3), 1.0, limits)
    assert np.array_equal(direction, [0.0, 0.0, 1.0]) and distance == 0.0


def test_alone_it_has_no_limits_of_separation(limits: Limits) -> None:
    assert separation_limits([], np.ones(3), limits) is NO_LIMITS


def test_what_a_silent_vehicle_may_reach_grows_until_it_has_stopped(limits: Limits) -> None:
    """By its last speed and gain at first, then by its braking; it has no end only while it could fly on."""
    other = OtherVehicle(100.0, np.array([60.0, 0.0, 20.0]), np.array([-4.0, 0.0, 0.0]))
    distances = [gaps([other], np.array([0.0, 0.0, 20.0]), 100.0 + age, limits)[0][1] for age in np.arange(0, 20, 0.1)]
    assert distances[0] == 60.0 and (np.diff(distances) <= 1e-9).all()
    at_end = 4.0 + 0.5 * limits.acceleration * (2.0 / limits.acceleration) ** 2
    reach = at_end + 2.0 * (limits.traffic_age - 2.0 / limits.acceleration) + limits.stopping_distance(6.0)
    assert distances[-1] == distances[-50] == pytest.approx(60.0 - reach)


def test_a_silent_vehicle_may_be_at_any_height(limits: Limits) -> None:
    """It climbs or sinks into its layer, or falls; right below it the way out is level."""
    other = OtherVehicle(100.0, np.array([20.0, 0.0, 80.0]), np.zeros(3))
    [(direction, distance)] = gaps([other], np.array([0.0, 0.0, 20.0]), 110.0, limits)
    assert np.array_equal(direction, [1.0, 0.0, 0.0]) and distance < 20.0
    [(direction, distance)] = gaps([other], np.array([20.0, 0.0, 20.0]), 110.0, limits)
    assert direction[2] == 0.0 and distance == 2.0 * limits.body_radius  # no breach: it need not be there


def test_a_silent_vehicle_that_stood_at_home_or_has_no_charge_left_is_not_in_the_air(
    kit: SimpleNamespace, limits: Limits
) -> None:
    site = Site(kit.square(200.0), 120.0, np.zeros(3))
    pad = OtherVehicle(100.0, np.array([4.0, 0.0, 0.5]), np.zeros(3))
    away = OtherVehicle(100.0, np.array([90.0, 0.0, 0.5]), np.zeros(3))
    assert in_the_air([pad, away], site, 100.5, limits) == [pad, away]
    flying = [
        replace(pad, position=pad.position + [0.0, 0.0, limits.floor + 0.5]), replace(pad, velocity=np.full(3, 1.0)),
    ]  # fmt: skip
    assert in_the_air([pad, *flying], site, 110.0, limits) == flying, "above home, or still moving"
    assert in_the_air([pad], None, 110.0, limits) == [pad], "no home is known"
    assert in_the_air([pad, away], site, 110.0, limits) == [away]
    assert in_the_air([away], site, 101.0 + limits.endurance, limits) == []


def test_every_vehicle_counts_the_team_alike_and_layers_keep_their_distance(limits: Limits) -> None:
    names = ["uav2", "uav10", "left", "uav1"]
    teams = [Team.of(name, [other for other in names if other != name]) for name in names]
    assert sorted(team.rank for team in teams) == [0, 1, 2, 3] and {team.size for team in teams} == {4}
    heights = sorted(team.in_layer(limits.return_height, limits) for team in teams)
    assert heights[0] == limits.return_height and (np.diff(heights) == limits.layer_spacing).all()
    edge = 0.5 * (limits.layer_spacing - limits.separation)
    assert layer_velocity(np.array([5.0, 0.0, 0.0]), edge, limits)[0] == 0.0
    assert layer_velocity(np.array([5.0, 0.0, 0.0]), 0.2, limits)[0] == 5.0
    assert Team(3, 4).in_layer(10.0, limits, ceiling=30.0) == 25.0 and Team(3, 4).in_layer(40.0, limits, 30.0) == 40.0


def test_a_layer_lies_below_every_ceiling(kit: SimpleNamespace, limits: Limits) -> None:
    assert layer_height(Site(kit.square(99.0), 60.0, np.zeros(3)), 0.0, limits) == limits.return_height
    assert layer_height(Site(kit.square(99.0), 30.0, np.zeros(3)), 0.0, limits) is None
    assert layer_height(Site(kit.square(99.0), 60.0, np.zeros(3), top=70.0), 60.0, limits) is None


def test_a_vehicle_without_a_team_knows_no_layer(kit: SimpleNamespace, limits: Limits) -> None:
    old = OtherVehicle(kit.NOW - 30.0, np.array([80.0, 0.0, 20.0]), np.zeros(3))
    scene = kit.Scene(limits, position=[0.0, 30.0, 20.0], velocity=[5.0, 0.0, 0.0], others=(old,))
    assert not scene.decide([5.0, 0.0, 0.0]).changed


def test_above_home_it_comes_down_whoever_is_silent(kit: SimpleNamespace, limits: Limits) -> None:
    scene = kit.Scene(limits, position=[1.0, 0.0, 20.0], velocity=[0.0, 0.0, -1.0])
    answer = scene.decide([0.0, 0.0, -1.0], governor=Governor(limits, scene.site, Team(0, 2)))
    assert answer.velocity[2] == -1.0 and Reason.TRAFFIC not in answer.reasons


def test_above_home_it_keeps_away_from_those_that_it_hears(kit: SimpleNamespace, limits: Limits) -> None:
    heard = OtherVehicle(kit.NOW, np.array([4.0, 0.0, 20.0]), np.zeros(3))
    silent = OtherVehicle(kit.NOW - 9.0, np.array([0.0, 4.0, 20.0]), np.zeros(3))
    scene = kit.Scene(limits, position=[1.0, 0.0, 20.0], others=(heard, silent))
    answer = scene.decide([0.0, 0.0, 0.0], governor=Governor(limits, scene.site, Team(0, 3)))
    assert answer.reason is Reason.TRAFFIC and answer.velocity[0] < 0.0 and answer.velocity[1] == 0.0


@pytest.mark.parametrize("above", [-30.0, -2.4, -1.6, 0.0, 1.9, 30.0])
def test_a_velocity_in_the_layer_is_given_again(limits: Limits, above: float) -> None:
    """Near the edge the level part is capped, not scaled: its own answer passes."""
    once = layer_velocity(np.array([5.0, 1.0, 0.0]), above, limits)
    np.testing.assert_allclose(layer_velocity(once, above, limits), once, atol=1e-12)


@pytest.mark.parametrize("heard_at_first", [True, False])
@pytest.mark.parametrize("seed", mostly_full(range(8), 2))
def test_two_that_do_not_hear_each_other_stay_apart(
    kit: SimpleNamespace, limits: Limits, seed: int, heard_at_first: bool
) -> None:
    """Both are asked to meet; reports end while they are near, or never come. Neither has ranges of the other."""
    rng = np.random.default_rng(seed)
    site = Site(kit.square(200.0), 120.0, np.array([150.0, 150.0, 0.0]))
    heading = rng.uniform(-math.pi, math.pi)
    start = 30.0 * np.array([math.cos(heading), math.sin(heading), 0.0])
    flights = [
        kit.Rollout(
            kit.World(np.zeros((0, 4)), 12, 24),
            Governor(limits, site, Team(n, 2)),
            site,
            np.random.default_rng([seed, n]),
            position=np.array([0.0, 0.0, rng.uniform(20.0, 50.0) if n else 20.0]) + sign * start,
        )
        for n, sign in enumerate((1.0, -1.0))
    ]
    reports: list[list[OtherVehicle]] = [[], []]
    for n, flight in enumerate(flights):
        flight.others = lambda n=n: tuple(reports[1 - n][-1:])  # type: ignore[misc]
    nearest = math.inf
    for step in range(500):
        apart = float(np.linalg.norm(flights[0].position - flights[1].position))
        nearest = min(nearest, apart)
        if heard_at_first and step < 100 and apart > 15.0:
            for n, flight in enumerate(flights):
                reports[n].append(OtherVehicle(flight.now, flight.position.copy(), flight.velocity.copy()))
        for n, flight in enumerate(flights):
            to = flights[1 - n].position - flight.position
            wish = 5.0 * to / max(float(np.linalg.norm(to)), 1e-6)
            flight.fly(lambda f, v=wish: Command(f.now, v), kit.STEP)  # type: ignore[misc]
    assert nearest > limits.separation - 0.5
    heights = [float(flight.position[2]) for flight in flights]
    assert heights == pytest.approx([limits.return_height, limits.return_height + limits.layer_spacing], abs=1.5)
