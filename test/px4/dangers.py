"""The dangers of flying PX4 from a companion, one after another: `./esar exec python test/px4/dangers.py`.

Each is brought about on the fake autopilot, with the bridge's own rules in the loop, and what happened is printed with
the seconds after which it did; then how far it takes to stop. Flown on the fake, not on PX4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from fake_facts import DESCEND, EXTERNAL, HOLD, OFFBOARD, RTL, TAKE_OFF, TERMINATION
from loop import STEP, Loop
from rich.console import Console
from rich.table import Table

from esar_ros.bridges.px4.commands import End, Manoeuvre
from esar_ros.bridges.px4.frames import LocalFrame
from esar_ros.bridges.px4.state import mode_name
from esar_ros.bridges.px4.versions import EXTERNAL_IN, EXTERNAL_OUT, IN, OPTIONAL_OUT, OUT
from esar_ros.nodes.graph.mission import PX4_TAU
from esar_ros.nodes.px4 import messages
from esar_ros.safety.limits import load_limits

SPEEDS = (1.0, 2.0, 3.0, 4.0, 5.0)  # m/s
FOREVER = 60.0  # s


@dataclass(frozen=True)
class Happened:
    """One danger's outcome. seconds: until it happened; NaN where it has no time."""

    danger: str
    what: str
    seconds: float
    well: bool


def _until(loop: Loop, condition: Callable[[], bool], seconds: float = FOREVER) -> float:
    """Returns the seconds until a condition is true, inf if it never is."""
    begun = loop.now
    return loop.now - begun if loop.run(seconds, condition) else math.inf


def _moving(speed: float = 4.0, **options: object) -> Loop:
    loop = Loop(**options).fly()  # type: ignore[arg-type]
    loop.velocity = np.array([speed, 0.0, 0.0])
    loop.run(8.0)
    return loop


def bridge_dies() -> list[Happened]:
    """The heartbeat stops with its process."""
    loop = _moving()
    loop.bridge_alive = False
    after = _until(loop, lambda: loop.fake.nav_state == RTL)
    return [Happened("the bridge dies", "PX4's own failsafe: it returns", after, after <= 1.2)]


def bridge_stops_shortly() -> list[Happened]:
    """For less than PX4's second."""
    loop = _moving()
    stopped = loop.now
    loop.bridge_alive = False
    loop.run(0.6)
    loop.bridge_alive = True
    loop.run(5.0)
    stays = not loop.modes_since(stopped)
    return [Happened("the bridge stops for 0.6 s", "stays in offboard, and flies on", math.nan, stays)]


def heartbeat_returns() -> list[Happened]:
    """A bridge that was started again finds PX4 still wishing for offboard."""
    loop = _moving()
    fresh = loop.started_again()
    fresh.velocity, begun = np.array([4.0, 0.0, 0.0]), loop.now
    after = _until(fresh, lambda: fresh.fake.intention == HOLD)
    fresh.run(5.0)
    quiet = not fresh.heartbeats_since(begun) and OFFBOARD not in fresh.modes_since(begun)
    what = "asks for hold before anything is sent; stays there"
    return [Happened("the bridge is killed and back within a second", what, after, quiet and after < 0.5)]


def governor_falls_silent() -> list[Happened]:
    """Nobody says what is safe any more; PX4 would fly the last velocity for ever."""
    loop = _moving()
    loop.velocity, begun, start = None, loop.now, loop.fake.body.position.copy()
    after = _until(loop, lambda: loop.fake.nav_state == HOLD)
    loop.run(0.1)
    way = 0.0

    def turns() -> bool:
        nonlocal way
        further = float(np.linalg.norm(loop.fake.body.position - start))
        way, over = max(way, further), further < way
        return over

    _until(loop, turns)
    last = max(loop.heartbeats_since(0.0)) - begun
    points = [(at, output.setpoint) for at, output in loop.sent if at > begun and output.setpoint is not None]
    zero = next(at for at, point in points if not any(point.velocity)) - begun
    return [
        Happened("the governor falls silent at 4 m/s", "a zero set-point", zero, zero < 0.3),
        Happened("", "hold", after, after < 0.5),
        Happened("", f"the last heartbeat; {way:.1f} m until it stands", last, last < 0.5),
    ]


def landing_is_asked_for() -> list[Happened]:
    """With a safe command that is not zero: PX4 takes set-points in every mode, and then never lands."""
    loop = _moving(1.0)
    asked = loop.now
    outcome = loop.do(Manoeuvre.LAND)
    landed = loop.now - asked
    quiet = not loop.setpoints_since(asked) and outcome.end is End.DONE and not loop.fake.armed
    entered = [at for at, mode in loop.fake.modes if at > asked and mode == OFFBOARD]
    after = _until(loop, lambda: loop.fake.nav_state == loop.fake.intention == HOLD)
    return [
        Happened("land under a command of 1 m/s", "no set-point is sent; landed and disarmed", landed, quiet),
        Happened(
            "PX4 is in offboard again after the landing",
            "the mode is reset to hold",
            after,
            bool(entered) and after < 3,
        ),
    ]


def agent_is_killed() -> list[Happened]:
    """Nothing passes for 9.4 s, and then everything."""
    loop = _moving()
    loop.fake.restart_agent()
    died = loop.now
    returns = _until(loop, lambda: loop.fake.nav_state == RTL)
    back = returns + _until(loop, lambda: loop.fake.linked and loop.state.is_fresh("VehicleLocalPosition", loop.now))
    loop.run(5.0)
    kept = OFFBOARD not in loop.modes_since(died) and loop.fake.nav_state == RTL
    asked = loop.now
    again = loop.do(Manoeuvre.HOLD).end is loop.do(Manoeuvre.MISSION).end is End.DONE
    return [
        Happened("the agent is killed", "PX4 returns", returns, returns <= 1.2),
        Happened("", "topics are back; the return is not fought", back, kept),
        Happened("", "a person asks for hold, then mission: flies on", loop.now - asked, again),
    ]


def arming_is_refused() -> list[Happened]:
    """Offboard was accepted, and then PX4 says no."""
    loop = Loop()
    loop.run(2.0)
    loop.bridge.ask(Manoeuvre.ARM, loop.now)
    loop.run(STEP)
    loop.fake.preflight_ok, asked = False, loop.now
    loop.run(20.0, lambda: loop.bridge.running is None)
    outcome = loop.bridge.outcome(Manoeuvre.ARM)
    well = outcome is not None and outcome.end is End.FAILED and not loop.heartbeats_since(0.0)
    return [Happened("arming is refused", f"failed: {outcome.text if outcome else ''}", loop.now - asked, well)]


def on_the_ground() -> list[Happened]:
    """Home unknown, the heading not good for control, reasons that are wrong; then up to ten metres."""
    loop, frame = Loop(), LocalFrame()
    loop.run(2.0)
    unknown = loop.fake.home is None and not loop.state.newest("VehicleLocalPosition").heading_good_for_control
    begun = loop.now
    armed = loop.do(Manoeuvre.ARM).end is End.DONE
    arming = loop.now - begun
    loop.velocity = np.array([0.0, 0.0, 2.0])
    loop.run(1.0)
    frame.update(loop.state.newest("VehicleLocalPosition"))
    hovers = 1.0 + _until(loop, lambda: loop.fake.body.position[2] >= 5.0)
    loop.velocity = np.zeros(3)
    hovers += arming + _until(loop, lambda: loop.speed < 0.2)
    frame.update(loop.state.newest("VehicleLocalPosition"))
    landed = loop.do(Manoeuvre.LAND).end is End.DONE
    return [
        Happened("home and a good heading come after arming", "armed without, in offboard", arming, armed and unknown),
        Happened("", "5 m up, and hovers", hovers, hovers <= 10.0),
        Happened("", f"{frame.heading_resets} reset of the heading on the way", math.nan, frame.heading_resets == 1),
        Happened("its reasons for disarming are wrong", "the landing is seen by its status", math.nan, landed),
    ]


def external_mode() -> list[Happened]:
    """It lifts nothing, its node's death means a return, and none is registered while armed."""
    loop = Loop(external=True, on_loss=HOLD)
    loop.run(2.0)
    begun = loop.now
    up = loop.do(Manoeuvre.ARM).end is End.DONE and loop.modes_since(begun) == [TAKE_OFF, HOLD, EXTERNAL]
    arming, loop.bridge_alive = loop.now - begun, False
    returns = _until(loop, lambda: loop.fake.nav_state == RTL)
    fresh = loop.started_again()
    fresh.run(3.0)
    asked = fresh.now
    steps = [fresh.do(Manoeuvre.HOLD), fresh.do(Manoeuvre.MISSION)]
    flies = all(step.end is End.DONE for step in steps) and fresh.fake.nav_state == OFFBOARD
    return [
        Happened("an external mode cannot lift off", "PX4's take-off, hold, and only then the mode", arming, up),
        Happened("its node dies, COM_OBL_RC_ACT 5 (hold)", "PX4 returns all the same", returns, returns < 1.6),
        Happened(
            "no mode is registered while armed", "back by hold, then mission in offboard", fresh.now - asked, flies
        ),
    ]


def what_is_lost() -> list[Happened]:
    """PX4's own failsafes: nothing is sent against any of them."""
    found = []
    for what, modes in (
        ("remote control", (HOLD, RTL)), ("charge", (HOLD, RTL)), ("satellites", (DESCEND,)), ("fence", (HOLD, RTL)),
        ("ground station", (HOLD, RTL)),
    ):  # fmt: skip
        loop = Loop(has_remote=True, has_station=True).fly()
        begun = loop.now
        loop.fake.lose(what)
        for mode in modes:
            loop.run(20.0, lambda mode=mode, loop=loop: loop.fake.nav_state == mode)  # type: ignore[misc]
            well = loop.fake.nav_state == mode and not loop.commands_since(begun)
            title = f"lost: {what}" if mode == modes[0] else ""
            found.append(Happened(title, f"PX4: {mode_name(mode)}; not fought", loop.now - begun, well))
    asked = loop.now
    again = loop.do(Manoeuvre.HOLD).end is loop.do(Manoeuvre.MISSION).end is End.DONE
    found.append(Happened("", "a person asks for hold, then mission: flies on", loop.now - asked, again))
    return found


def return_is_asked_for() -> list[Happened]:
    """By the action, from 30 m away."""
    loop = _moving()
    asked = loop.now
    done = loop.do(Manoeuvre.RETURN).end is End.DONE
    after = loop.now - asked
    home = _until(loop, lambda: not loop.fake.armed, 200.0)
    away = float(np.linalg.norm(loop.fake.body.position[:2]))
    return [
        Happened("return by the action", "PX4 returns, by its status", after, done),
        Happened("", f"on the ground {away:.1f} m from home, disarmed", after + home, away < 1.5),
    ]


def flight_is_terminated() -> list[Happened]:
    """It stays armed and obeys nothing until it is started again."""
    loop = Loop().fly()
    loop.fake.force_failsafe(TERMINATION)
    loop.run(10.0)
    refused = loop.do(Manoeuvre.HOLD)
    well = refused.end is End.REFUSED and "terminated" in refused.text and loop.fake.armed
    return [Happened("terminated: armed, and obeys nothing", f"refused: {refused.text}", math.nan, well)]


def origin_is_moved() -> list[Happened]:
    """By 10.3 m up, told with the wrong sign."""
    loop, frame, heights = Loop().fly(), LocalFrame(), []
    for step in range(100):
        if step == 50:
            loop.fake.estimator.raise_origin(10.3)
        loop.run(STEP)
        local = loop.state.newest("VehicleLocalPosition")
        frame.update(local)
        heights.append(float(frame.position(local)[2]))
    jump = float(np.abs(np.diff(heights)).max())
    what = f"odometry moves by {jump:.3f} m"
    return [Happened("the origin is moved 10.3 m up in flight", what, math.nan, jump < 0.1)]


def velocity_lags() -> list[Happened]:
    """Until 63 % of a change."""
    loop = Loop().fly()
    loop.velocity = np.array([3.0, 0.0, 0.0])
    rises = _until(loop, lambda: float(loop.fake.body.velocity[0]) > 0.632 * 3.0)
    loop.run(6.0)
    start = float(loop.fake.body.velocity[0])
    loop.velocity = np.array([-3.0, 0.0, 0.0])
    turns = _until(loop, lambda: float(loop.fake.body.velocity[0]) < start - 0.632 * (start + 3.0))
    return [
        Happened("a velocity is followed late", "63 % of 3 m/s from rest", rises, 1.0 < rises <= PX4_TAU),
        Happened("", "63 % of a reversal", turns, turns < 2.9),
    ]


def messages_differ() -> list[Happened]:
    """The agent announces no type hashes: the fields are compared."""
    names = (*OUT, *OPTIONAL_OUT, *IN, *EXTERNAL_IN, *EXTERNAL_OUT)
    lacking = {name: messages.lacking_fields(name) for name in names} if messages.is_built() else {}
    what = f"{len(lacking)} messages of px4_msgs compared field by field" if lacking else "px4_msgs is not built here"
    return [Happened("no type hash on the wire", what, math.nan, not any(lacking.values()))]


ALL = (
    bridge_dies, heartbeat_returns, governor_falls_silent, landing_is_asked_for, agent_is_killed, arming_is_refused,
    on_the_ground, external_mode, what_is_lost, flight_is_terminated, origin_is_moved, velocity_lags,
    bridge_stops_shortly, messages_differ, return_is_asked_for,
)  # fmt: skip


def stopping(speed: float) -> tuple[float, float, float]:
    """Returns the true speed (m/s) at a safe command of this speed, the way (m) to standstill, and the model's (m)."""
    loop = _moving(speed)
    true, start = loop.speed, loop.fake.body.position.copy()
    loop.velocity = np.zeros(3)
    loop.run(12.0)
    model = load_limits().model_copy(update={"tau": PX4_TAU}).stopping_distance(true)
    return true, float(np.linalg.norm(loop.fake.body.position - start)), model


def main() -> int:
    """Prints both tables; 1 if a row did not go well."""
    rows = [row for danger in ALL for row in danger()]
    table = Table("danger", "what happened, on the fake autopilot", "after (s)", "", title="Dangers")
    for row in rows:
        seconds = "" if math.isnan(row.seconds) else f"{row.seconds:.2f}"
        table.add_row(row.danger, row.what, seconds, "" if row.well else "NOT WELL")
    stops = Table("asked (m/s)", "true (m/s)", "way (m)", f"model, tau {PX4_TAU} s (m)", title="Stopping")
    ways = [(speed, *stopping(speed)) for speed in SPEEDS]
    for speed, true, way, model in ways:
        stops.add_row(f"{speed:.0f}", f"{true:.2f}", f"{way:.2f}", f"{model:.2f}")
    console = Console(width=140)
    console.print(table, stops)
    return 0 if all(row.well for row in rows) and all(way <= model for *_, way, model in ways) else 1


if __name__ == "__main__":
    raise SystemExit(main())
