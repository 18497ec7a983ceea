"""The wind's disturbance: the velocity that no output explains, and its consequences."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose
from esar_ros.mission.errors import UsageError
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety import envelope
from esar_ros.safety.inputs import Findings
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.surroundings.observed_space import ObservedSpace
from esar_ros.safety.wind import WindDisturbance
from esar_ros.sim.physics.dynamics import Quadrotor, SetPoint
from esar_ros.sim.weather.gusts import Gusts

Kit = SimpleNamespace
STEP = 0.05  # s
EAST = np.array([1.0, 0.0, 0.0])


def watched(velocities: list[np.ndarray], given: list[np.ndarray]) -> list[float]:
    wind, speeds = WindDisturbance(), []
    for n, (velocity, asked) in enumerate(zip(velocities, given, strict=True)):
        wind = wind.updated(10.0 + n * STEP, velocity, asked)
        speeds.append(wind.rms)
    return speeds


@pytest.mark.parametrize("lag", [0.3, 1.0, 1.4])
def test_a_slow_autopilot_is_no_wind(lag: float) -> None:
    """The autopilot responds to steps and reversals in first order, and stays behind its commands."""
    given = [5.0 * EAST if (n // 100) % 2 else -5.0 * EAST for n in range(800)]
    velocity, measured = np.zeros(3), []
    for asked in given:
        velocity = velocity + (0.8 * asked - velocity) * STEP / lag
        measured.append(velocity)
    assert max(watched(measured, given)) < 0.05


@pytest.mark.parametrize(
    ("velocity", "asked"), [(2.0 * EAST, 0.0 * EAST), (-1.0 * EAST, 3.0 * EAST), (5.0 * EAST, 3.0 * EAST)]
)
def test_blown_away_back_or_on_it_is_the_winds(velocity: np.ndarray, asked: np.ndarray) -> None:
    beyond = min(abs(float(velocity[0] - end)) for end in (0.0, float(asked[0])))
    assert watched([velocity] * 600, [asked] * 600)[-1] == pytest.approx(beyond, rel=0.01)


def test_a_gap_begins_anew() -> None:
    wind = WindDisturbance().updated(10.0, 1.0 * EAST, np.zeros(3)).updated(10.05, 3.0 * EAST, np.zeros(3))
    assert wind.rms > 0.0 and wind.updated(20.0, 3.0 * EAST, np.zeros(3)).rms == 0.0


def test_outputs_are_kept_by_half_seconds_and_only_those_that_explain_a_velocity() -> None:
    wind = WindDisturbance()
    for n in range(600):
        wind = wind.updated(10.0 + n * STEP, np.zeros(3), (n * STEP) * EAST)
    starts, fastest = [each[0] for each in wind.outputs], wind.outputs[-1][2]
    assert min(np.diff(starts)) > 0.45 and starts[0] >= 10.0 + 599 * STEP - 4.5
    assert fastest[0] == pytest.approx(599 * STEP)


def test_a_vehicle_taken_over_in_motion_has_time_to_stop() -> None:
    """An autopilot that flew home by itself is taken over at 5 m/s."""
    stopping = [5.0 * EAST * math.exp(-n * STEP) for n in range(400)]
    assert max(watched(stopping, [np.zeros(3)] * 400)) < 0.1


def greatest_rms(mean_wind: float, seed: int) -> float:
    """Returns the greatest disturbance in a minute of the simulator's vehicle in gusty wind (m/s)."""
    rng = np.random.default_rng(seed)
    body, gusts = Quadrotor(Pose(np.array([0.0, 0.0, 20.0]))), Gusts(seed, "uav1")
    body.float_at(Pose(np.array([0.0, 0.0, 20.0])))
    heading = rng.uniform(-math.pi, math.pi)
    mean = mean_wind * np.array([math.cos(heading), math.sin(heading), 0.0])
    wind, asked, greatest, air = WindDisturbance(), np.zeros(3), 0.0, mean
    for n in range(round(60.0 / STEP)):
        if n % 200 == 199:
            turn = rng.uniform(-math.pi, math.pi)
            asked = rng.uniform(0.0, 5.0) * np.array([math.cos(turn), math.sin(turn), 0.0])
        for k in range(5):
            speed = float(np.linalg.norm(body.velocity - air))
            air = mean + gusts.next(5 * n + k, mean, speed, 20.0, 1.0)
            body.advance(SetPoint(values=asked).as_array(), air, 5)
        wind = wind.updated(10.0 + n * STEP, body.velocity.copy(), asked)
        if n > 200:  # the gusts begin all at once
            greatest = max(greatest, wind.rms)
    return greatest


def test_the_limits_lie_between_wind_that_is_promised_and_wind_that_takes_control(limits: Limits) -> None:
    assert max(greatest_rms(12.0, seed) for seed in range(4)) < limits.blown_slow
    assert min(greatest_rms(18.0, seed) for seed in range(4)) > limits.blown_return


def blown_about(kit: Kit, limits: Limits, speed: float):  # type: ignore[no-untyped-def]
    """Returns the last answer of half a minute to 5 m/s east, with a drift north at a speed (m/s) beside it."""
    governor, position, given = kit.Scene(limits).governor(), np.array([30.0, 0.0, 20.0]), np.zeros(3)
    for n in range(600):
        velocity = given + [0.0, speed, 0.0]
        position = position + velocity * STEP
        scene = kit.Scene(limits, velocity=velocity, position=position, now=kit.NOW + n * STEP)
        answer = scene.decide([5.0, 0.0, 0.0], governor=governor)
        given = answer.velocity
    return answer


def test_the_more_it_has_the_vehicle_the_slower_and_then_home(kit: Kit, limits: Limits) -> None:
    calm, windy, stormy = (blown_about(kit, limits, speed) for speed in (0.5, 0.9, 1.5))
    assert calm.mode is Mode.NORMAL
    assert windy.mode is Mode.SLOW and windy.reasons == (Reason.CONDITIONS,) and "wind" in windy.text
    assert 1.0 < float(np.linalg.norm(windy.velocity)) < 4.0
    assert stormy.mode >= Mode.RETURN and stormy.reason is Reason.CONDITIONS


def nearest_to_the_pillar(kit: Kit, limits: Limits, asked: list[float], blind_after: float) -> float:
    """Returns the least distance (m) in half a minute to a pillar towards which a wind moves the vehicle, too.

    It is moved by 0.5 m/s from a place 8 m away; after some seconds the ranges are silent.
    """
    pillar = np.array([[40.0, 0.0, math.inf, 0.5]])
    governor, position, given, nearest = kit.Scene(limits).governor(), np.array([31.5, 0.0, 20.0]), np.zeros(3), 1e9
    image = None
    for n in range(600):
        velocity = given + 0.5 * EAST
        position = position + velocity * STEP
        scene = kit.Scene(limits, velocity=velocity, position=position, now=kit.NOW + n * STEP, world=kit.World(pillar))
        if n * STEP < blind_after:
            image = scene.ranges
        scene.ranges = image
        given = scene.decide(asked, governor=governor).velocity
        nearest = min(nearest, float(np.linalg.norm((position - pillar[0, :3])[:2])) - 0.5)
    return nearest


@pytest.mark.parametrize("asked", [[0.0, 0.0, 0.0], [5.0, 0.0, 0.0]])
@pytest.mark.parametrize("blind_after", [12.0, 60.0])
def test_the_wind_does_not_carry_it_into_what_it_stands_beside(
    kit: Kit, limits: Limits, asked: list[float], blind_after: float
) -> None:
    assert nearest_to_the_pillar(kit, limits, asked, blind_after) > limits.body_radius


class Carried:
    """A vehicle that a wind carries from 3 m beside a pillar towards it; the local map shows nothing."""

    def __init__(self, kit: Kit, limits: Limits, pillars: list[list[float]], battery: float = 0.9) -> None:
        self.kit, self.limits, self.battery = kit, limits, battery
        self.world = kit.World(np.array(pillars), 36, 180)
        self.governor = kit.Scene(limits).governor()
        self.position, self.given, self.n, self.nearest = np.array([30.0, 0.0, 20.0]), np.zeros(3), 0, math.inf

    def step(self, wind: float, ranges: str = "sound", odometry: bool = True):  # type: ignore[no-untyped-def]
        """Returns the answer a step later, to a hold; wind: m/s east. ranges: sound, stuck or silent."""
        velocity = self.given + wind * EAST
        self.position = self.position + velocity * STEP
        now = self.kit.NOW + self.n * STEP
        scene = self.kit.Scene(self.limits, self.world, velocity=velocity, position=self.position, now=now)
        scene.state = replace(scene.state, battery=self.battery) if odometry else None
        scene.window = replace(scene.window, stamp=-100.0)
        if ranges == "sound":
            self.ranges = scene.ranges.ranges
        scene.ranges = None if ranges == "silent" else replace(scene.ranges, ranges=self.ranges)
        answer = scene.ask(None, self.governor)
        self.given = answer.velocity
        self.nearest = min(self.nearest, self.world.distance(self.position))
        self.n += 1
        return answer


@pytest.mark.parametrize(("battery", "mode"), [(0.9, Mode.HOLD), (0.15, Mode.RETURN)])
def test_blind_it_backs_off_from_what_its_last_scan_showed(
    kit: Kit, limits: Limits, battery: float, mode: Mode
) -> None:
    """It was on the move when its ranges ended, so that it came to rest nowhere."""
    flight = Carried(kit, limits, [[34.0, 0.0, math.inf, 1.0]], battery)
    flight.step(0.7)
    assert all(flight.step(0.7, "silent").mode is mode for _ in range(300))
    assert limits.body_radius < flight.nearest < limits.clearance


def test_a_return_that_went_blind_keeps_its_place(kit: Kit, limits: Limits) -> None:
    flight = Carried(kit, limits, [[60.0, 0.0, math.inf, 1.0]], battery=0.15)
    assert flight.step(0.0).velocity.any(), "on its way home"
    for n in range(400):
        assert flight.step(0.0 if n < 20 else 0.5, "silent").mode is Mode.RETURN
    assert abs(flight.position[0] - 30.0) < 1.0


def test_of_a_stuck_sensor_the_first_scan_is_where_it_says(kit: Kit, limits: Limits) -> None:
    flight = Carried(kit, limits, [[33.6, 0.0, math.inf, 1.0]])
    flight.step(0.7)
    answers = [flight.step(0.7, "stuck") for _ in range(round(1.2 / 0.7 / STEP))]
    assert "same ranges" in answers[-1].text and answers[-1].velocity[0] < -0.1


def test_after_a_while_without_a_position_the_last_scan_says_nothing(kit: Kit, limits: Limits) -> None:
    flight = Carried(kit, limits, [[32.2, 0.0, math.inf, 1.0]])
    flight.step(0.0)
    assert flight.step(0.0, "silent").velocity[0] < 0.0
    flight.step(0.0, "silent", odometry=False)
    assert not flight.step(0.0, "silent").velocity.any()


def test_squeezed_between_two_pillars_the_wind_carries_it_into_neither(kit: Kit, limits: Limits) -> None:
    flight = Carried(kit, limits, [[32.4, 0.0, math.inf, 1.0], [27.6, 0.0, math.inf, 1.0]])
    for n in range(600):
        flight.step(0.6 * math.copysign(1.0, math.sin(0.5 * n * STEP)))
    assert flight.nearest > limits.body_radius


@pytest.mark.parametrize("blind", [False, True])
def test_a_hold_comes_back_to_where_it_came_to_rest(kit: Kit, limits: Limits, blind: bool) -> None:
    """It has come that way, so that it knows it to be free when neither ranges nor map show it."""
    governor, station = kit.Scene(limits).governor(), np.array([30.0, 0.0, 20.0])

    def held(east: float, speed: float, n: int) -> np.ndarray:
        scene = kit.Scene(limits, velocity=speed * EAST, position=station + east * EAST, now=kit.NOW + n * STEP)
        if blind and n > 1:
            scene.ranges, scene.window = None, None
        answer = scene.ask(None, governor)
        assert answer.mode is Mode.HOLD and answer.changed
        return answer.velocity

    assert not held(-0.1, 2.0, 0).any(), "it is still stopping"
    assert not held(0.0, 0.1, 1).any(), "it came to rest"
    back = np.array([held(0.5 * STEP * n, 0.5, n + 1)[0] for n in range(1, 140)])
    east = 0.5 * STEP * np.arange(1, 140)
    assert not back[east <= limits.push_deadband].any()
    strayed = (east > 0.5) & (east < 2.9)
    wanted = np.minimum(east[strayed], limits.push_speed)
    if blind:  # no faster than what stops there
        wanted = np.minimum(wanted, [limits.allowed_speed(away) for away in east[strayed]])
    np.testing.assert_allclose(back[strayed], -wanted)
    assert not back[(east > 3.05) & (east < 3.25)].any(), "no gust carries it so far: it stays where it is now"


def test_of_unseen_air_only_the_way_back_to_where_it_came_to_rest_is_free(kit: Kit, limits: Limits) -> None:
    """Ground that rises, or a wall, turns the way back into air where it never was."""
    site = Site(kit.square(500.0), 120.0, np.zeros(3))
    station, position = np.array([30.0, 0.0, 20.0]), np.array([31.0, 0.0, 20.0])
    state = kit.Scene(limits, position=position).state
    around = envelope.Scene(
        position, np.zeros(3), ObservedSpace(position, None, None, limits.own_radius), None, None, None, None,
        in_takeoff_column=False, landing=False, way_back=station - position,
    )  # fmt: skip
    for turn, flies in ((math.pi, True), (math.pi - 0.1, False), (0.0, False)):
        asked = 0.5 * np.array([math.cos(turn), math.sin(turn), 0.0])
        kept = envelope.Envelope(limits, site).keep(asked, state, around, Findings())
        assert bool(kept.any()) is flies
        assert not envelope.Envelope(limits, site).keep(asked, state, replace(around, way_back=None), Findings()).any()


@pytest.mark.parametrize("rate", [0.1, 1.0])
def test_blind_it_does_not_follow_a_creeping_position(kit: Kit, limits: Limits, rate: float) -> None:
    """Its own velocity has carried it nowhere, so that no way back is known to be free."""
    governor, at, velocity = kit.Scene(limits).governor(), np.array([30.0, 0.0, 20.0]), np.zeros(3)
    creep, farthest = rate * np.array([-0.6, 0.8, 0.0]), 0.0
    for n in range(2000):
        shown = at + creep * max(n - 20, 0) * STEP
        scene = kit.Scene(limits, velocity=velocity, position=shown, now=kit.NOW + n * STEP)
        if n > 20:
            scene.ranges, scene.window = None, None
        answer = scene.ask(None, governor)
        assert answer.mode >= Mode.HOLD
        velocity = velocity + (answer.velocity - velocity) * STEP / 0.3
        at = at + velocity * STEP
        farthest = max(farthest, math.dist(at, [30.0, 0.0, 20.0]))
    assert farthest < limits.push_deadband


def test_what_the_autopilot_flies_by_itself_is_not_the_winds(kit: Kit, limits: Limits) -> None:
    governor = kit.Scene(limits).governor()
    for n in range(400):
        scene = kit.Scene(
            limits, velocity=[4.0, 0.0, 0.0], position=[4.0 * n * STEP, 0.0, 20.0], now=kit.NOW + n * STEP
        )
        scene.state = replace(scene.state, obeyed=False)
        answer = scene.decide([0.0, 0.0, 0.0], governor=governor)
    assert answer.mode is not Mode.RETURN


@pytest.mark.parametrize(("forecast", "flies"), [(math.nan, True), (0.0, True), (12.0, True), (12.1, False)])
def test_more_wind_than_the_limit_in_the_brief_means_no_take_off_and_home(
    kit: Kit, limits: Limits, forecast: float, flies: bool
) -> None:
    site = Site(kit.square(300.0), 120.0, np.zeros(3), wind=forecast)
    aloft = kit.Scene(limits, site=site, position=[60.0, 0.0, 20.0]).decide([0.0, 1.0, 0.0])
    assert (Reason.CONDITIONS not in aloft.reasons) is flies
    if not flies:
        assert aloft.mode is Mode.RETURN and aloft.reason is Reason.CONDITIONS and aloft.velocity[0] < 0.0
    ground = kit.Scene(limits, site=site, position=[0.0, 0.0, 0.05])
    ground.state = replace(ground.state, landed=True)
    assert (float(ground.decide([0.0, 0.0, 1.0]).velocity[2]) > 0.0) is flies


def test_a_calmer_forecast_is_not_taken_in_flight(kit: Kit, limits: Limits) -> None:
    windy = Site(kit.square(300.0), 120.0, np.zeros(3), wind=13.0)
    for calm in (12.0, math.nan):
        assert replace(windy, wind=calm).is_looser_than(windy)
    assert not replace(windy, wind=14.0).is_looser_than(windy)
    unknown = replace(windy, wind=math.nan)
    assert not windy.is_looser_than(unknown) and not unknown.is_looser_than(unknown)


@pytest.mark.parametrize("wind", [-1.0, math.inf])
def test_a_forecast_that_cannot_be_is_refused(kit: Kit, wind: float) -> None:
    with pytest.raises(UsageError, match="forecast wind"):
        Site(kit.square(300.0), 120.0, np.zeros(3), wind=wind)
