"""A vehicle that follows as slowly as PX4 was measured to, under limits that say so and under limits that do not."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from esar_ros.mission.modes import Reason
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.traffic import OtherVehicle

Kit = SimpleNamespace
LAG = 1.4  # s


def knowing(limits: Limits, tau: float = LAG) -> Limits:
    return limits.model_copy(update={"tau": tau})


def vehicle(kit: Kit, limits: Limits, position: list[float], velocity: list[float], **more):  # type: ignore[no-untyped-def]
    """In still air and without noise, but with delay."""
    site = more.pop("site", Site(kit.square(300.0), 120.0, np.zeros(3)))
    world = more.pop("world", kit.World(np.zeros((0, 4)), 12, 36))
    return kit.Rollout(
        world, Governor(limits, site), site, np.random.default_rng(1),
        position=np.array(position), velocity=np.array(velocity), lag=LAG, delay=2, gust=0.0, noise=0.0, **more,
    )  # fmt: skip


def steadily(*velocity: float):  # type: ignore[no-untyped-def]
    return lambda flight: Command(flight.now, np.array(velocity))


def nearest_to_a_pillar(kit: Kit, limits: Limits, speed: float) -> float:
    world = kit.World(np.array([[16.0, 0.0, math.inf, 2.0]]), 12, 72)
    flight = vehicle(kit, limits, [0.0, 0.0, 15.0], [speed, 0.0, 0.0], world=world)
    return float(flight.fly(steadily(speed, 0.0, 0.0), 14.0).nearest)


@pytest.mark.parametrize("speed", [2.0, 5.0])
def test_it_stops_clear_of_an_obstacle(kit: Kit, limits: Limits, speed: float) -> None:
    assert nearest_to_a_pillar(kit, knowing(limits), speed) >= limits.clearance - 0.05
    assert nearest_to_a_pillar(kit, limits, speed) < limits.clearance - 0.5, "a model without its lag is optimistic"


def test_it_stops_inside_fence_ceiling_and_floor(kit: Kit, limits: Limits) -> None:
    site = Site(kit.square(30.0), 40.0, np.zeros(3))
    level = vehicle(kit, knowing(limits), [5.0, 0.0, 20.0], [5.0, 0.0, 0.0], site=site)
    level.fly(steadily(5.0, 0.0, 0.0), 12.0)
    assert level.outside <= -limits.fence_margin + 0.05
    up = vehicle(kit, knowing(limits), [0.0, 5.0, 25.0], [0.0, 0.0, 3.0], site=site)
    up.fly(steadily(0.0, 0.0, 3.0), 14.0)
    assert up.highest <= site.ceiling + limits.floor_deadband
    down = vehicle(kit, knowing(limits), [0.0, 5.0, 12.0], [0.0, 0.0, -2.0], site=site)
    lowest = min(float(down.fly(steadily(0.0, 0.0, -2.0), 0.05).position[2]) for _ in range(280))
    assert lowest >= limits.floor - limits.floor_deadband


def test_two_of_them_stay_apart(kit: Kit, limits: Limits) -> None:
    flights = [vehicle(kit, knowing(limits), [-sign * 25.0, 0.0, 30.0], [sign * 5.0, 0.0, 0.0]) for sign in (1.0, -1.0)]
    nearest = math.inf
    for _ in range(300):
        heard = [OtherVehicle(flight.now, flight.position.copy(), flight.velocity.copy()) for flight in flights]
        for number, flight in enumerate(flights):
            flight.others = lambda other=heard[1 - number]: (other,)  # type: ignore[misc]
            flight.fly(steadily(5.0 - 10.0 * number, 0.0, 0.0), kit.STEP)
        nearest = min(nearest, float(np.linalg.norm(flights[0].position - flights[1].position)))
    assert nearest >= limits.separation - limits.push_deadband


def test_the_stopping_distance_that_is_told_holds_the_lag(kit: Kit, limits: Limits) -> None:
    told = kit.Scene(knowing(limits), velocity=[3.0, 0.0, 0.0]).decide([3.0, 0.0, 0.0]).stopping_distance
    assert told == pytest.approx(3.0 * (LAG + limits.latency))


def test_a_longer_lag_slows_earlier(kit: Kit, limits: Limits) -> None:
    world = kit.World(np.array([[11.0, 0.0, math.inf, 2.0]]), 24, 72)
    speeds = []
    for tau in (0.0, 0.7, 1.4, 2.8):
        answer = kit.Scene(knowing(limits, tau), world=world, velocity=[3.0, 0.0, 0.0]).decide([5.0, 0.0, 0.0])
        assert Reason.OBSTACLE in answer.reasons or tau == 0.0
        speeds.append(float(answer.velocity[0]))
    assert speeds == sorted(speeds, reverse=True) and speeds[-1] < speeds[0]
