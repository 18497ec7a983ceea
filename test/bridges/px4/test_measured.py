"""The fake autopilot held to what PX4 1.17 in SITL was measured to do: a row a fact, with figure and tolerance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from fake_autopilot import FakeAutopilot
from fake_facts import DESCEND, HOLD, OFFBOARD, RTL
from loop import STEP, Loop

from esar_ros.bridges.px4.commands import End, Manoeuvre


@dataclass(frozen=True)
class Fact:
    """A figure measured on PX4. low, high: how far below and above it the fake may lie, in its unit."""

    name: str
    figure: float
    low: float
    high: float
    measure: Callable[[], float]


def until(loop: Loop, condition: Callable[[], bool], seconds: float = 60.0) -> float:
    """Returns the seconds until a condition is true."""
    begun = loop.now
    assert loop.run(seconds, condition)
    return loop.now - begun


def moving(true: float, **options: bool) -> Loop:
    """Returns a flight that has come to a true speed (m/s) within a minute."""
    loop = Loop(**options).fly(20.0)  # type: ignore[arg-type]
    asked = true / 0.88
    loop.velocity = np.array([asked, 0.0, 0.0])
    loop.run(8.0)
    loop.velocity = np.array([asked * true / loop.speed, 0.0, 0.0])
    loop.run(4.0)
    assert loop.speed == pytest.approx(true, rel=0.05)
    return loop


def way(loop: Loop) -> float:
    """Returns the farthest that it comes from here (m)."""
    start, far = loop.fake.body.position.copy(), 0.0
    for _ in range(round(12.0 / STEP)):
        loop.run(STEP)
        far = max(far, float(np.linalg.norm(loop.fake.body.position - start)))
    return far


def stop(speed: float) -> Callable[[], float]:
    def measure() -> float:
        loop = moving(speed)
        loop.velocity = np.zeros(3)
        return way(loop)

    return measure


def silent_governor() -> float:
    loop = moving(4.0)
    loop.velocity = None
    return way(loop)


def heartbeat_lost() -> float:
    loop = moving(2.0)
    loop.bridge_alive = False
    return until(loop, lambda: loop.fake.nav_state == RTL)


def heartbeat_back() -> float:
    loop = moving(2.0)
    loop.bridge_alive = False
    until(loop, lambda: loop.fake.nav_state == RTL)
    heartbeat = SimpleNamespace(timestamp=0, position=False, velocity=True, acceleration=False)

    def beat() -> bool:
        loop.fake.hear_heartbeat(heartbeat)
        return loop.fake.nav_state == OFFBOARD

    return until(loop, beat)


def agent_back() -> float:
    loop = moving(2.0)
    loop.fake.restart_agent()
    loop.run(STEP)
    return until(loop, lambda: loop.fake.linked)


def rises() -> float:
    loop = Loop().fly()
    loop.velocity = np.array([3.0, 0.0, 0.0])
    return until(loop, lambda: float(loop.fake.body.velocity[0]) > 0.632 * 3.0)


def reverses() -> float:
    loop = moving(2.7)
    start = float(loop.fake.body.velocity[0])
    loop.velocity = np.array([-3.0, 0.0, 0.0])
    return until(loop, lambda: float(loop.fake.body.velocity[0]) < start - 0.632 * (start + 3.0))


def comes_to() -> float:
    loop = Loop().fly()
    loop.velocity = np.array([4.0, 0.0, 0.0])
    loop.run(4.0)
    return loop.speed / 4.0


def arms() -> float:
    loop = Loop()
    loop.run(2.0)
    begun = loop.now
    assert loop.do(Manoeuvre.ARM).end is End.DONE
    return loop.now - begun


def external_dies() -> float:
    loop = moving(2.0, external=True)
    loop.bridge_alive = False
    return until(loop, lambda: loop.fake.nav_state == RTL)


def lost(what: str, mode: int) -> Callable[[], float]:
    def measure() -> float:
        loop = Loop(has_remote=True).fly()
        loop.fake.lose(what)
        return until(loop, lambda: loop.fake.nav_state == mode)

    return measure


def acknowledges() -> float:
    fake = FakeAutopilot()
    fake.advance(1.0)
    fake.hear_command(
        SimpleNamespace(
            timestamp=0, command=400, param1=1.0, target_system=1, target_component=1, source_system=1,
            source_component=191, from_external=True,
        )
    )  # fmt: skip
    for tick in range(1, 100):
        fake.advance(1.0 + 0.001 * tick)
        if any(name == "VehicleCommandAck" for name, _ in fake.speak()):
            return 0.001 * tick
    return math.inf


def unflown() -> float:
    loop = Loop()
    loop.run(2.0)
    loop.do(Manoeuvre.ARM)
    return until(loop, lambda: not loop.fake.armed)


def messages(seconds: float = 60.0) -> dict[str, list[SimpleNamespace]]:
    """Returns what an armed autopilot says in a while, by name."""
    loop = Loop().fly()
    heard: dict[str, list[SimpleNamespace]] = {}
    speak = loop.fake.speak

    def listened() -> list[tuple[str, SimpleNamespace]]:
        said = list(speak())
        for name, message in said:
            heard.setdefault(name, []).append(message)
        return said

    loop.fake.speak = listened  # type: ignore[assignment, method-assign]
    loop.run(seconds)
    return heard


def rate(name: str) -> Callable[[], float]:
    return lambda: Counter({name: len(said) for name, said in messages(20.0).items()})[name] / 20.0


def home_wanders() -> float:
    altitudes = [message.alt for message in messages()["HomePosition"]]
    return max(altitudes) - min(altitudes)


def estimate_is_off() -> float:
    """Returns the 95th percentile of the estimate's distance from the truth (m)."""
    loop, away = Loop().fly(), []
    for _ in range(600):
        loop.run(0.1)
        local = loop.state.newest("VehicleLocalPosition")
        away.append(float(np.linalg.norm(np.array([local.y, local.x, -local.z]) - loop.fake.body.position)))
    return float(np.percentile(away, 95.0))


def velocity_is_off() -> float:
    """Returns the standard deviation of the estimated velocity's error (m/s an axis)."""
    loop, errors = Loop().fly(), []
    for _ in range(1200):
        loop.run(0.1)
        local = loop.state.newest("VehicleLocalPosition")
        errors.append(np.array([local.vy, local.vx, -local.vz]) - loop.fake.body.velocity)
    return float(np.std(errors))


FACTS = [
    Fact("heartbeat stops: offboard is left (s)", 1.0, 0.1, 0.1, heartbeat_lost),
    Fact("heartbeat returns: offboard again (s)", 0.08, 0.03, 0.03, heartbeat_back),
    Fact("agent killed: topics are back (s)", 9.4, 0.1, 0.1, agent_back),
    Fact("63 % of a velocity from rest (s)", 1.22, 0.17, 0.18, rises),
    Fact("63 % of a reversal (s)", 2.8, 0.3, 0.3, reverses),
    Fact("share of the speed after 4 s", 0.8, 0.1, 0.1, comes_to),
    Fact("stop from 0.79 m/s (m)", 1.17, 0.12, 0.4, stop(0.79)),
    Fact("stop from 1.74 m/s (m)", 1.56, 0.1, 0.9, stop(1.74)),
    Fact("stop from 2.31 m/s (m)", 2.18, 0.1, 1.1, stop(2.31)),
    Fact("stop from 3.27 m/s (m)", 4.18, 0.2, 0.9, stop(3.27)),
    Fact("stop from 5.33 m/s (m)", 6.31, 0.3, 1.5, stop(5.33)),
    Fact("governor silent at 4 m/s: until it stands (m)", 5.4, 0.6, 0.6, silent_governor),
    Fact("arming to offboard (s)", 1.4, 0.2, 0.4, arms),
    Fact("node of an external mode dies: return (s)", 1.39, 0.2, 0.2, external_dies),
    Fact("remote control lost: hold (s)", 0.72, 0.05, 0.05, lost("remote control", HOLD)),
    Fact("remote control lost: return (s)", 5.72, 0.1, 0.1, lost("remote control", RTL)),
    Fact("critical battery: return (s)", 5.0, 0.1, 0.1, lost("charge", RTL)),
    Fact("satellites lost: descend (s)", 9.0, 0.5, 0.5, lost("satellites", DESCEND)),
    Fact("a command is answered (s)", 0.016, 0.006, 0.006, acknowledges),
    Fact("armed and not flown: disarmed (s)", 10.0, 1.5, 0.5, unflown),
    Fact("odometry (Hz)", 99.0, 50.0, 2.0, rate("VehicleOdometry")),  # a step of the loop takes one
    Fact("local position (Hz)", 49.0, 2.0, 2.0, rate("VehicleLocalPosition")),
    Fact("status (Hz)", 2.0, 0.2, 0.5, rate("VehicleStatus")),
    Fact("land detected (Hz)", 1.0, 0.2, 0.3, rate("VehicleLandDetected")),
    Fact("home is told (Hz)", 2.0, 0.3, 0.3, rate("HomePosition")),
    Fact("home's altitude wanders by (m)", 6.0, 0.5, 0.5, home_wanders),
    Fact("the estimate is off by (m)", 0.3, 0.2, 0.1, estimate_is_off),
    Fact("the estimated velocity is off by (m/s)", 0.2, 0.04, 0.06, velocity_is_off),
]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.name)
def test_the_fake_does_as_px4_was_measured_to(fact: Fact) -> None:
    assert fact.figure - fact.low <= fact.measure() <= fact.figure + fact.high


def test_the_heading_is_good_from_the_first_flight_on() -> None:
    loop = Loop()
    loop.run(5.0)
    good = lambda: bool(loop.state.newest("VehicleLocalPosition").heading_good_for_control)  # noqa: E731
    assert not good(), "on the ground it never is"
    loop.fly()
    assert good()
    loop.do(Manoeuvre.LAND)
    loop.run(2.0)
    assert good() and loop.state.newest("VehicleLocalPosition").heading_reset_counter == 1
    loop.fly()
    assert loop.state.newest("VehicleLocalPosition").heading_reset_counter == 2, "once after every take-off"
