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
from esar_ros.safety.obstacles import NO_LIMITS
from esar_ros.safety.site import Site
from esar_ros.safety.traffic import OtherVehicle, gaps, separation_limits
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
            kit.World(np.zeros((0, 4)), 12, 24),
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
