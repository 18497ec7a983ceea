"""The governor in flight: foolish planners, random worlds, wind, delay, noise, faults."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site


def hostile(kind: str, rng: np.random.Generator):  # type: ignore[no-untyped-def]
    """Returns a planner that means harm."""
    heading = rng.uniform(-math.pi, math.pi)
    memory: dict[str, Any] = {"velocity": rng.normal(0.0, 5.0, 3), "stamp": 0.0}

    def policy(flight) -> Command | None:  # type: ignore[no-untyped-def]
        now, p = flight.now, flight.position
        if kind == "rock":
            things = flight.world.things
            gaps = np.hypot(things[:, 0] - p[0], things[:, 1] - p[1]) - things[:, 3]
            to = things[np.argmin(gaps), :3] - p
            to[2] = 0.0 if math.isinf(to[2]) else to[2]
            velocity = to / max(np.linalg.norm(to), 1e-6) * 20.0
        elif kind == "dive":
            velocity = np.array([4.0 * math.cos(heading), 4.0 * math.sin(heading), -6.0])
        elif kind == "leave":
            velocity = np.array([12.0 * math.cos(heading), 12.0 * math.sin(heading), 0.5])
        elif kind == "climb":
            velocity = np.array([2.0, 0.0, 9.0])
        elif kind == "shake":
            velocity = 10.0 * np.sign(math.sin(3.0 * now)) * np.array([math.cos(heading), math.sin(heading), 0.3])
        elif kind == "freeze":
            if now - memory["stamp"] > 3.0:
                memory["stamp"], memory["velocity"] = now, rng.normal(0.0, 6.0, 3)
            return Command(memory["stamp"], memory["velocity"])
        elif kind == "nan":
            velocity = rng.normal(0.0, 8.0, 3)
            if rng.random() < 0.3:
                velocity[rng.integers(3)] = rng.choice([math.nan, math.inf, -math.inf, 1e308, 5e-324])
        else:
            if rng.random() < 0.05:
                memory["velocity"] = rng.normal(0.0, 6.0, 3)
            velocity = memory["velocity"]
        return Command(now, velocity, float(rng.normal(0.0, 2.0)))

    return policy


KINDS = ("rock", "dive", "leave", "climb", "shake", "freeze", "nan", "wander")


def fly(kit: SimpleNamespace, limits: Limits, seed: int, seconds: float):  # type: ignore[no-untyped-def]
    """Flies one rollout with everything random but the kind of hostile planner, which takes turns."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 14))
    # What hangs in the air may be in the blind cone of a scan that ends 30 degrees up, where climbing is
    # allowed by assumption; so either everything stands on the ground, or the scan reaches straight up.
    hanging = bool(rng.random() < 0.5)
    radius = rng.uniform(0.8, 5.0, count)
    height = rng.uniform(0.0, 25.0, count) if hanging else rng.uniform(0.0, 1.0, count) * radius
    z = np.where(rng.random(count) < 0.5, math.inf, height)
    things = np.column_stack([rng.uniform(-45.0, 45.0, (count, 2)), z, radius])
    start = np.array([0.0, 0.0, rng.uniform(5.0, 25.0)])
    gap = np.linalg.norm(np.where(np.isinf(things[:, :3]), 0.0, things[:, :3] - start), axis=1) - things[:, 3]
    things = things[gap > 4.0]
    if not len(things):
        things = np.array([[20.0, 0.0, math.inf, 2.0]])
    site = Site(kit.square(rng.uniform(25.0, 60.0)), 35.0, np.zeros(3))
    flight = kit.Rollout(
        kit.World(things, 24, 60, math.pi / 2 if hanging else math.pi / 6),
        Governor(limits, site),
        site,
        rng,
        position=start,
        lag=rng.uniform(0.1, 0.35),
        delay=int(rng.integers(0, 3)),
        gust=rng.uniform(0.0, 1.0),
        noise=rng.uniform(0.0, 0.05),
        use_map=bool(rng.random() < 0.5),
    )
    broken = rng.choice(["odometry", "ranges", "map", "none"], p=[0.1, 0.1, 0.1, 0.7])
    first = int(rng.integers(20, 100))

    def faults(step: int) -> set[str]:
        return {broken} if first <= step < first + 40 else set()

    return flight.fly(hostile(KINDS[seed % len(KINDS)], rng), seconds, faults)


RECOVERIES = {Reason.FLOOR, Reason.OBSTACLE, Reason.FENCE, Reason.CEILING, Reason.BREACH}


def assert_unharmed(kit: SimpleNamespace, flight, seed: int, limits: Limits) -> int:  # type: ignore[no-untyped-def]
    """Asserts I8 of the whole flight, and of each step the promises that need no knowledge of the world.

    Returns the number of steps.
    """
    text = f"seed {seed}"
    assert flight.nearest > limits.body_radius, text
    assert flight.outside < 0.0, text
    assert flight.highest < flight.site.ceiling + limits.ceiling_margin, text
    for (now, command, odometry, ranges), answer in zip(flight.asked, flight.answers, strict=True):
        at = f"{text}, {now:.2f} s"
        v, speed = answer.velocity, float(np.linalg.norm(answer.velocity))
        # I1
        assert np.isfinite(v).all() and abs(answer.yaw_rate) <= limits.yaw_rate, at
        assert math.hypot(v[0], v[1]) <= limits.speed_horizontal + 1e-6, at
        assert -limits.speed_down - 1e-6 <= v[2] <= limits.speed_up + 1e-6, at
        # I11
        assert answer.changed is bool(answer.reasons), at
        # I6 and I7: what is old leads to a hold, at once
        if now - odometry > limits.odometry_age + 1e-6:
            # It may back off from what the ranges show, which needs no position.
            most = limits.push_speed if Reason.OBSTACLE in answer.reasons else 0.0
            assert answer.mode >= Mode.HOLD and speed <= most, at
        old = command is None or now - command.stamp > limits.command_age + 1e-6
        if old or now - ranges > limits.ranges_age + 1e-6:
            assert answer.mode >= Mode.HOLD, at
        # I2 and I3
        if command is None or not np.isfinite(command.velocity).all():
            continue
        if not answer.changed:
            assert v.tobytes() == command.velocity.tobytes(), at
        elif not RECOVERIES & set(answer.reasons):
            # A hold comes back to where it came to rest.
            most = limits.push_speed if answer.mode is Mode.HOLD else float(np.linalg.norm(command.velocity))
            assert speed <= most + 1e-6, at
    kit.STEPS["flights"] += len(flight.answers)
    return len(flight.answers)


@pytest.mark.parametrize("block", range(4))
def test_no_breach_under_hostile_planners(kit: SimpleNamespace, limits: Limits, block: int) -> None:
    for seed in range(block * 10, block * 10 + 10):
        assert_unharmed(kit, fly(kit, limits, seed, 8.0), seed, limits)


@pytest.mark.parametrize("block", range(3))
def test_the_simulators_vehicle_in_wind_keeps_the_braking_model(
    kit: SimpleNamespace, limits: Limits, block: int
) -> None:
    """The vehicle's velocity controller and 10 m/s of gusty wind stay within the latency and deceleration assumed."""

    for seed in range(block * 4, block * 4 + 4):
        flown = fly(SimpleNamespace(**{**vars(kit), "Rollout": kit.Simulated}), limits, seed, 8.0)
        assert_unharmed(kit, flown, seed, limits)


@pytest.mark.parametrize("block", range(3))
def test_a_vehicle_as_slow_as_px4_keeps_a_braking_model_that_knows_it(
    kit: SimpleNamespace, limits: Limits, block: int
) -> None:
    """In calm air: such a vehicle answers gusts as slowly."""
    slow = limits.model_copy(update={"tau": 1.4})

    def rollout(*arguments: Any, **values: Any) -> Any:
        return kit.Rollout(*arguments, **{**values, "lag": 1.4, "gust": min(values["gust"], 0.3)})

    for seed in range(block * 8, block * 8 + 8):
        flown = fly(SimpleNamespace(**{**vars(kit), "Rollout": rollout}), slow, seed, 8.0)
        assert_unharmed(kit, flown, seed, slow)


@pytest.mark.full
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("block", range(20))
def test_no_breach_in_two_thousand_flights(kit: SimpleNamespace, limits: Limits, block: int) -> None:
    """The flights have 320 000 steps together; the default run has 6 400."""
    steps = 0
    for seed in range(1000 + block * 100, 1000 + block * 100 + 100):
        steps += assert_unharmed(kit, fly(kit, limits, seed, 8.0), seed, limits)
    assert steps >= 200_000 / 20


@pytest.mark.parametrize("seed", [1, 4, 6])
def test_answers_stay_within_the_promises_on_the_way(kit: SimpleNamespace, limits: Limits, seed: int) -> None:
    """I1 and I11 hold at every step of a flight; I14: flown again it is the same flight."""
    first, second = fly(kit, limits, seed, 4.0), fly(kit, limits, seed, 4.0)
    assert [a.velocity.tobytes() for a in first.answers] == [a.velocity.tobytes() for a in second.answers]
    assert [(a.mode, a.reasons, a.text) for a in first.answers] == [(a.mode, a.reasons, a.text) for a in second.answers]
    for answer in first.answers:
        assert np.isfinite(answer.velocity).all() and np.linalg.norm(answer.velocity) <= 7.0
        assert answer.changed is bool(answer.reasons)
