"""Every check matters: each has a scene that it alone keeps safe, shown by taking the check away."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety import envelope as envelope_module
from esar_ros.safety import memory as memory_module
from esar_ros.safety.acceleration import AccelerationLimit
from esar_ros.safety.envelope import Envelope
from esar_ros.safety.failsafe import Drain, Latch, battery_needed
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.surroundings.landing_site import Ground
from esar_ros.safety.surroundings.obstacles import NO_LIMITS
from esar_ros.safety.traffic import OtherVehicle, gaps
from esar_ros.safety.watch import Clock, Hold
from esar_ros.safety.wind import WindDisturbance
from helpers.governor_scenes import (
    Kit,
    battery,
    breach,
    column,
    conflicting_publisher,
    estimator,
    finite,
    heading,
    odometry,
    old_command,
    old_map,
    old_ranges,
    release,
    silent_ranges,
    somebody_below,
    unheard,
    unseen_ahead,
)

Safe = Callable[[Kit, Limits], bool]


def flight(kit: Kit, limits: Limits, things: list[list[float]], start: list[float], **more: Any):  # type: ignore[no-untyped-def]
    """Returns a flight with delay and lag, but in still air and without noise."""
    site = more.pop("site", Site(kit.square(500.0), 120.0, np.zeros(3)))
    world = kit.World(np.array(things, dtype=np.float64).reshape(-1, 4), 24, 90)
    return kit.Rollout(
        world,
        Governor(limits, site),
        site,
        np.random.default_rng(1),
        position=np.array(start),
        gust=0.0,
        noise=0.0,
        lag=0.3,
        **more,
    )


def towards(*velocity: float) -> Callable[[Any], Command]:
    return lambda vehicle: Command(vehicle.now, np.array(velocity))


def speed(kit: Kit, limits: Limits) -> bool:
    return kit.Scene(limits, velocity=[9.0, 0.0, 0.0]).decide([9.0, 0.0, 0.0]).velocity[0] <= limits.speed_horizontal


def acceleration(kit: Kit, limits: Limits) -> bool:
    return kit.Scene(limits).decide([4.0, 0.0, 0.0]).velocity[0] <= limits.acceleration * 0.05 + 1e-9


def yaw_rate(kit: Kit, limits: Limits) -> bool:
    return kit.Scene(limits).decide([0.0, 0.0, 0.0], 3.0).yaw_rate <= limits.yaw_rate


def pillar_by_ranges(kit: Kit, limits: Limits) -> bool:
    """The ball lies below the path, so that the air straight ahead is observed to be free."""
    run = flight(kit, limits, [[18.0, 0.0, 12.9, 2.0]], [0.0, 0.0, 15.0], use_map=False)
    return run.fly(towards(6.0, 0.0, 0.0), 14.0).nearest > limits.body_radius


def rock_by_map(kit: Kit, limits: Limits) -> bool:
    """A rock that only the map knows: glass to the scan, which measures the ground behind it."""
    world = kit.World(np.array([[6.0, 0.0, 16.0, 2.0]]))
    scene = kit.Scene(limits, world=world, velocity=[3.0, 0.0, -1.9])
    scene.ranges = kit.World().image(scene.state.pose, kit.NOW)
    return bool(np.linalg.norm(scene.decide([3.0, 0.0, -1.9]).velocity) < 3.3)


def closing(kit: Kit, limits: Limits) -> bool:
    """A vehicle that is too fast towards a pillar brakes harder than to the speed that would just be allowed."""
    world = kit.World(np.array([[9.0, 0.0, math.inf, 2.0]]), 24, 180)
    fast, calm = (kit.Scene(limits, world=world, velocity=[v, 0.0, 0.0]) for v in (6.0, 0.0))
    asked = np.array([4.2, 0.0, 0.0])
    allowed = _kept(calm, asked)[0]
    return _kept(fast, asked)[0] < allowed - 0.5


def _kept(scene: Any, asked: np.ndarray) -> np.ndarray:
    governor = scene.governor()
    after = governor._memory.after(scene.state, governor.site, governor.limits)
    view, _ = governor._build_scene(after, scene.state, scene.ranges, scene.window, False)
    return governor.envelope.keep(asked, scene.state, view, envelope_module.Findings())


def floor(kit: Kit, limits: Limits) -> bool:
    run = flight(kit, limits, [], [0.0, 0.0, 8.0]).fly(towards(0.0, 0.0, -2.0), 8.0)
    return run.nearest > limits.floor - 0.5


def fence(kit: Kit, limits: Limits) -> bool:
    run = flight(kit, limits, [], [0.0, 0.0, 15.0], site=Site(kit.square(25.0), 60.0, np.zeros(3)))
    return run.fly(towards(6.0, 0.0, 0.0), 8.0).outside < 0.0


def ceiling(kit: Kit, limits: Limits) -> bool:
    run = flight(kit, limits, [], [0.0, 0.0, 20.0], site=Site(kit.square(99.0), 25.0, np.zeros(3)))
    return run.fly(towards(0.0, 0.0, 2.0), 12.0).highest < 27.0


def unseen_climb(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits, velocity=[1.0, 0.0, 3.0])
    scene.window = replace(scene.window, cells=np.zeros_like(scene.window.cells))
    given = scene.decide([1.0, 0.0, 3.0]).velocity
    return given[2] <= limits.speed_unseen_up + 1e-6 and given[0] == pytest.approx(1.0)  # ahead it has seen


def false_landed(kit: Kit, limits: Limits) -> bool:
    """Believed 2 m above the ground, `landed` would let the vehicle descend past the floor."""
    governor, site = None, Site(kit.square(500.0), 120.0, np.full(3, -99.0))
    for later, said in ((0.0, True), (0.05, False)):
        scene = kit.Scene(limits, position=[30.0, 0.0, 2.0], now=kit.NOW + later, site=site)
        scene.state = replace(scene.state, landed=said)
        governor = governor or scene.governor()
        answer = scene.decide([0.0, 0.0, -0.1], governor=governor)
    return bool(answer.velocity[2] > 0.0)


def false_disarmed(kit: Kit, limits: Limits) -> bool:
    """Believed 2 m above the ground, a missing `armed` would let the vehicle descend past the floor."""
    governor, site = None, Site(kit.square(500.0), 120.0, np.full(3, -99.0))
    for later, armed in ((0.0, True), (0.05, False), (0.10, True)):
        scene = kit.Scene(limits, position=[30.0, 0.0, 2.0], now=kit.NOW + later, site=site)
        scene.state = replace(scene.state, armed=armed)
        governor = governor or scene.governor()
        answer = scene.decide([0.0, 0.0, -0.1], governor=governor)
    return bool(answer.velocity[2] > 0.0)


def jerk(kit: Kit, limits: Limits) -> bool:
    """From standing in the air, the second command may not yet change by the whole acceleration."""
    scene = kit.Scene(limits)
    governor = scene.governor()
    scene.decide([0.0, 0.0, 0.0], governor=governor)
    later = kit.Scene(limits, now=kit.NOW + 0.05)
    return later.decide([4.0, 0.0, 0.0], governor=governor).velocity[0] <= limits.jerk * 0.05**2 + 1e-9


def keep_out(kit: Kit, limits: Limits) -> bool:
    zone = kit.square(10.0) + [30.0, 0.0]
    run = flight(kit, limits, [], [0.0, 0.0, 15.0], site=Site(kit.square(99.0), 60.0, np.zeros(3), (zone,)))
    run.fly(towards(6.0, 0.0, 0.0), 12.0)
    return run.site.inside_keep_out(run.position) < 0.0


def traffic(kit: Kit, limits: Limits) -> bool:
    run = flight(kit, limits, [], [0.0, 0.0, 15.0])
    run.others = lambda: (OtherVehicle(run.now, np.array([30.0, 0.0, 15.0]), np.zeros(3)),)
    run.fly(towards(6.0, 0.0, 0.0), 7.2)  # when it would be there
    return float(np.linalg.norm(run.position - [30.0, 0.0, 15.0])) > limits.separation - 0.5


def silent_traffic(kit: Kit, limits: Limits) -> bool:
    """A vehicle reported half a second ago may have come nearer since."""

    def allowed(age: float) -> float:
        other = OtherVehicle(kit.NOW - age, np.array([14.0, 0.0, 20.0]), np.array([-5.0, 0.0, 0.0]))
        return float(kit.Scene(limits, velocity=[5.0, 0.0, 0.0], others=(other,)).decide([5.0, 0.0, 0.0]).velocity[0])

    return allowed(0.5) < allowed(0.0) - 0.1


def _traffic_as_reported(self: Governor, others: Any, state: Any, now: float) -> Any:
    return tuple(gaps(others, state.pose.position, -math.inf, self.limits))


def motion(kit: Kit, limits: Limits) -> bool:
    """The position jumps to another frame's; obstacles may then be anywhere."""
    governor = None
    for n, place in enumerate(([30.0, 5.0, 20.0], [5.0, 30.0, 20.0])):
        scene = kit.Scene(limits, position=place, now=kit.NOW + 0.05 * n, velocity=[0.1, 0.0, 0.0])
        governor = governor or scene.governor()
        answer = scene.decide([0.1, 0.0, 0.0], governor=governor)
    return answer.mode is Mode.HOLD and not answer.velocity.any()


def stuck_ranges(kit: Kit, limits: Limits) -> bool:
    """The last scan comes again and again under new stamps, while a pillar comes nearer, and there is no map."""
    run = flight(kit, limits, [[35.0, 0.0, math.inf, 2.0]], [0.0, 0.0, 15.0], use_map=False)
    fast = flight_limits(limits)
    run.governor = Governor(fast, run.site)
    return run.fly(towards(5.0, 0.0, 0.0), 12.0, lambda n: {"scan"} if n > 40 else set()).nearest > limits.body_radius


def flight_limits(limits: Limits) -> Limits:
    """Returns limits that are as fast by ranges alone as with a map."""
    return limits.model_copy(update={"speed_without_map": limits.speed_horizontal})


def trusted_speed(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits, velocity=[5.0, 0.0, 0.0])
    scene.state = replace(scene.state, deviation=0.5 * (limits.deviation_slow + limits.deviation_hold))
    return scene.decide([5.0, 0.0, 0.0]).velocity[0] <= 0.5 * limits.speed_horizontal + 1e-9


def conditions(kit: Kit, limits: Limits) -> bool:
    """The brief's weather is fog."""
    site = Site(kit.square(500.0), 120.0, np.zeros(3), speed=limits.speed_poor_sight)
    answer = kit.Scene(limits, velocity=[5.0, 0.0, 0.0], site=site).decide([5.0, 0.0, 0.0])
    return bool(np.linalg.norm(answer.velocity) <= limits.speed_poor_sight + 1e-9)


def drain(kit: Kit, limits: Limits) -> bool:
    """The vehicle turns back earlier in a wind that empties the battery twice as fast as assumed."""
    governor = None
    for step in range(2000):
        charge = 0.6 - 2.0 / limits.endurance * step
        scene = kit.Scene(limits, position=[400.0, 0.0, 20.0], now=kit.NOW + step)
        scene.state = replace(scene.state, battery=charge)
        governor = governor or scene.governor()
        answer = scene.decide([0.0, 0.0, 0.0], governor=governor)
        if answer.mode >= Mode.RETURN:
            break
    needed = battery_needed(scene.site, scene.state.pose.position, limits, 2.0 / limits.endurance)
    assert needed > 1.2 * battery_needed(scene.site, scene.state.pose.position, limits)
    return charge > 0.97 * needed


def column_at_home(kit: Kit, limits: Limits) -> bool:
    """The governor is started in the air just above home: a stone beside the take-off is no breach."""
    beside = kit.World(np.array([[0.9, 0.0, 1.5, 0.5]]))
    return not kit.Scene(limits, beside, position=[0.0, 0.0, 1.5]).decide([0.0, 0.0, 1.0]).breach


def link(kit: Kit, limits: Limits) -> bool:
    return not kit.Scene(limits, velocity=[2.0, 0.0, 0.0], heartbeat_age=2.0).decide([2.0, 0.0, 0.0]).velocity.any()


def clock(kit: Kit, limits: Limits) -> bool:
    governor = Governor(limits, Site(kit.square(500.0), 120.0, np.zeros(3)))
    kit.Scene(limits, velocity=[2.0, 0.0, 0.0]).decide([2.0, 0.0, 0.0], governor=governor)
    back = kit.Scene(limits, now=kit.NOW - 50.0, velocity=[2.0, 0.0, 0.0])
    return not back.decide([2.0, 0.0, 0.0], governor=governor).velocity.any()


def settling(kit: Kit, limits: Limits) -> bool:
    limits = limits.model_copy(update={"release": 0.0})
    governor = Governor(limits, Site(kit.square(500.0), 120.0, np.zeros(3)))
    for now in (kit.NOW, kit.NOW - 50.0):
        kit.Scene(limits, now=now).decide([0.1, 0.0, 0.0], governor=governor)
    return not kit.Scene(limits, now=kit.NOW - 49.6).decide([0.1, 0.0, 0.0], governor=governor).velocity.any()


def latch(kit: Kit, limits: Limits) -> bool:
    """A battery that recovers does not end the return."""
    governor = Governor(limits, Site(kit.square(500.0), 120.0, np.zeros(3)))
    for n, charge in enumerate((limits.battery_return, 0.9)):
        scene = kit.Scene(limits, position=[30.0, 0.0, 20.0], now=kit.NOW + 0.05 * n)
        scene.state = replace(scene.state, battery=charge)
        mode = scene.decide([0.0, 0.0, 0.0], governor=governor).mode
    return mode is Mode.RETURN


def empty_battery(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits, position=[300.0, 0.0, 20.0])
    scene.state = replace(scene.state, battery=limits.battery_land)
    return scene.decide([0.0, 0.0, 0.0]).mode is Mode.LAND


def blown(kit: Kit, limits: Limits, speed: float) -> Any:
    """Returns the last answer to 5 m/s east, of a vehicle that flies the outputs and drifts north at a speed (m/s)."""
    governor, position, given = kit.Scene(limits).governor(), np.array([30.0, 0.0, 20.0]), np.zeros(3)
    for n in range(400):
        position = position + (given + [0.0, speed, 0.0]) * kit.STEP
        scene = kit.Scene(limits, velocity=given + [0.0, speed, 0.0], position=position, now=kit.NOW + n * kit.STEP)
        answer = scene.decide([5.0, 0.0, 0.0], governor=governor)
        given = answer.velocity
    return answer


def blown_home(kit: Kit, limits: Limits) -> bool:
    return blown(kit, limits, 2.0).mode is Mode.RETURN


def slower_in_wind(kit: Kit, limits: Limits) -> bool:
    return bool(np.linalg.norm(blown(kit, limits, 0.9).velocity) < 4.0)


def back_off(kit: Kit, limits: Limits) -> bool:
    """A vehicle that is blown into the margin leaves it by itself."""
    run = flight(kit, limits, [[3.2, 0.0, math.inf, 2.0]], [0.0, 0.0, 15.0]).fly(towards(0.0, 0.0, 0.0), 4.0)
    return run.world.distance(run.position) > 1.5


CHECKS: list[tuple[str, Any, str, Any, Safe]] = [
    ("finite command", Governor, "_check_command", lambda self, command, now, findings: command, finite),
    ("speed", Envelope, "limit_speed", lambda self, velocity, deviation, findings: velocity, speed),
    ("acceleration", AccelerationLimit, "limited", lambda self, velocity, *_: (velocity, self), acceleration),
    ("change", AccelerationLimit, "_limit_change", lambda self, velocity, *_: velocity, acceleration),
    ("jerk", AccelerationLimit, "_limit_jerk", lambda self, velocity, *_: velocity, jerk),
    ("keep-out", Envelope, "_keep_out", lambda self, scene: NO_LIMITS, keep_out),
    ("traffic", Envelope, "_traffic", lambda self, scene: NO_LIMITS, traffic),
    ("silent traffic", Governor, "_check_traffic", _traffic_as_reported, silent_traffic),
    ("reports", Governor, "_check_reports", lambda self, deaf_since, others, now: None, unheard),
    ("layer", Governor, "_check_layer", lambda self, scene, state, since, latch, *_: (scene, latch), unheard),
    ("way into the layer", Governor, "_limit_to_layer", lambda self, velocity, *_: velocity, unheard),
    ("estimator", Governor, "_check_estimator", lambda self, state, findings: None, estimator),
    ("motion", Governor, "_check_motion", lambda self, motion, state, findings: (state, motion), motion),
    ("below", Ground, "veto", lambda self: "", somebody_below),
    ("heading", Governor, "_check_heading", lambda self, heading, state, findings: (state, heading), heading),
    ("scan", Governor, "_check_scan", lambda self, scan, image, state, findings: (image, scan), stuck_ranges),
    ("armed", Governor, "_check_armed", lambda self, state, *_: state, false_disarmed),
    ("landed", Governor, "_check_landed", lambda self, state, *_: state, false_landed),
    ("echoes", Governor, "_check_echoes", lambda self, echoes, image, *_: (image, echoes), silent_ranges),
    ("trusted speed", Envelope, "_trusted_speed", lambda self, deviation: math.inf, trusted_speed),
    ("conditions", Envelope, "_conditions_speed", lambda self: math.inf, conditions),
    ("drain", Drain, "updated", lambda self, charge, now: self, drain),
    ("yaw rate", Governor, "_limit_yaw_rate", lambda self, rate, findings: rate, yaw_rate),
    ("ranges", Envelope, "_range_obstacles", lambda self, *a: _nothing(), pillar_by_ranges),
    ("map", Envelope, "_window_obstacles", lambda self, *a: _nothing(), rock_by_map),
    ("present velocity", Governor, "_closing_velocity", lambda self, state: np.zeros(3), closing),
    ("floor", Envelope, "_floor", lambda self, scene: NO_LIMITS, floor),
    ("fence", Envelope, "_fence", lambda self, scene: NO_LIMITS, fence),
    ("ceiling", Envelope, "_ceiling", lambda self, scene: NO_LIMITS, ceiling),
    ("unseen above", Envelope, "_unseen_climb", lambda self, asked, scene: NO_LIMITS, unseen_climb),
    ("unseen ahead", Envelope, "_slow_in_unseen", lambda self, velocity, scene, findings: velocity, unseen_ahead),
    ("column", Envelope, "_leave_ground_straight", lambda self, asked, landed, scene, findings: asked, column),
    ("column at home", memory_module, "column_at_home", lambda *_: None, column_at_home),
    ("odometry", Governor, "_check_odometry", lambda self, state, now, findings: state, odometry),
    ("command age", Governor, "_check_command", lambda self, command, now, findings: command, old_command),
    ("ranges age", Governor, "_check_ranges", lambda self, image, now, findings: image, old_ranges),
    ("map age", Governor, "_check_map", lambda self, window, now: window, old_map),
    ("link", Governor, "_check_link", lambda self, lost, age, now, findings: None, link),
    ("wind", Governor, "_check_wind", lambda self, wind, state, last_output: WindDisturbance(), blown_home),
    ("speed in wind", Governor, "_limit_wind", lambda self, velocity, wind, findings: velocity, slower_in_wind),
    ("authority", Governor, "_check_authority", lambda self, publisher, findings: None, conflicting_publisher),
    ("clock", Governor, "_check_clock", lambda self, clock, now, findings: (Clock(now), 0.05), clock),
    ("settling", Clock, "settling", property(lambda self: False), settling),
    ("release", Hold, "updated", lambda self, cause, now, wait: Hold(cause), release),
    ("failsafes", Governor, "_check_failsafes", lambda self, memory, state, now: Latch(), battery),
    ("charge", Governor, "_check_charge", lambda self, latch, charge: latch, empty_battery),
    ("latch", Latch, "raised", lambda self, mode, reason, text: Latch(Mode.NORMAL), latch),
    ("envelope", Governor, "_check_envelope", lambda self, state, scene, findings: None, breach),
]


def _nothing() -> Any:
    return envelope_module.Surroundings(NO_LIMITS, math.inf)


@pytest.mark.parametrize(("name", "owner", "method", "without", "safe"), CHECKS, ids=[c[0] for c in CHECKS])
def test_deleting_the_check_breaks_its_scene(
    kit: Kit,
    limits: Limits,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    owner: Any,
    method: str,
    without: Any,
    safe: Safe,
) -> None:
    assert safe(kit, limits), f"{name}: not safe with the check"
    monkeypatch.setattr(owner, method, without)
    assert not safe(kit, limits), f"{name}: safe without the check"


def test_backing_off_needs_its_speed(kit: Kit, limits: Limits) -> None:
    assert back_off(kit, limits)
    assert not back_off(kit, limits.model_copy(update={"push_speed": 0.0}))


def test_every_check_of_the_governor_is_in_the_list() -> None:
    """A check that is added has to bring the scene that needs it."""
    listed = {(owner, method) for _, owner, method, _, _ in CHECKS}
    for owner in (Governor, Envelope, AccelerationLimit):
        for method in dir(owner):
            if method.startswith(("_check_", "_limit_", "limit")):
                assert (owner, method) in listed, f"{owner.__name__}.{method}"


def test_reasons_name_the_check(kit: Kit, limits: Limits) -> None:
    scene = kit.Scene(limits, velocity=[2.0, 0.0, 0.0], heartbeat_age=2.0)
    assert scene.decide([2.0, 0.0, 0.0]).reason is Reason.LINK
