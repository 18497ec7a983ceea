"""A position that is no longer the vehicle's: jumps are latched, drifts are noticed, a landing needs no position."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from helpers.full import mostly_full

Kit = SimpleNamespace
EAST = np.array([1.0, 0.0, 0.0])
LOST = 20  # steps, after which odometry ends


def replace_limits(limits: Limits, **changed: float) -> Limits:
    return limits.model_copy(update=changed)


class Astray:
    """A flight in a world without obstacles whose odometry is off by a test's offset."""

    def __init__(self, kit: Kit, limits: Limits) -> None:
        self.kit, self.limits = kit, limits
        self.site = Site(kit.square(60.0), 120.0, np.zeros(3))
        self.governor = Governor(limits, self.site)
        self.position, self.velocity, self.off, self.n = np.array([0.0, 0.0, 15.0]), np.zeros(3), np.zeros(3), 0
        self.battery, self.outside = 0.9, -np.inf

    def step(self, asked: np.ndarray):  # type: ignore[no-untyped-def]
        """Returns the answer to one command, which the vehicle follows at once."""
        now = self.kit.NOW + self.n * self.kit.STEP
        scene = self.kit.Scene(self.limits, position=self.position + self.off, velocity=self.velocity, now=now)
        scene.state = replace(scene.state, battery=self.battery)
        scene.ranges = replace(
            scene.world.image(Pose(self.position.copy()), now), pose=Pose(self.position + self.off)
        )  # measured where it is, placed where the odometry says
        answer = self.governor.decide(scene.state, Command(now, asked), scene.ranges, scene.window, now)
        self.velocity = answer.velocity
        self.position = self.position + self.velocity * self.kit.STEP
        self.outside = max(self.outside, self.site.outside(self.position))
        self.n += 1
        return answer

    def fly(self, asked: np.ndarray, seconds: float) -> list:  # type: ignore[type-arg]
        return [self.step(asked) for _ in range(round(seconds / self.kit.STEP))]


def test_a_jump_of_forty_metres_holds_until_a_person_clears_it(kit: Kit, limits: Limits) -> None:
    """The hold lasts as long as that takes, and the vehicle stays inside its true fence."""
    flight = Astray(kit, limits)
    assert flight.fly(3.0 * EAST, 5.0)[-1].mode is Mode.NORMAL
    flight.off = -40.0 * EAST
    answers = flight.fly(3.0 * EAST, 60.0)
    assert all(answer.mode is Mode.HOLD and answer.reason is Reason.ESTIMATOR for answer in answers)
    assert not any(answer.velocity.any() for answer in answers) and "a person clears" in answers[-1].text
    assert flight.outside < 0.0
    assert flight.governor.clear()
    assert flight.fly(1.0 * EAST, 5.0)[-1].mode is Mode.NORMAL


def test_a_jump_that_is_taken_back_ends_the_hold(kit: Kit, limits: Limits) -> None:
    flight = Astray(kit, limits)
    flight.fly(3.0 * EAST, 3.0)
    flight.off = -40.0 * EAST
    assert flight.fly(3.0 * EAST, 20.0)[-1].mode is Mode.HOLD
    flight.off = 0.5 * EAST
    assert flight.fly(1.0 * EAST, 5.0)[-1].mode is Mode.NORMAL


def test_a_jump_behind_a_gap_of_odometry_is_seen(kit: Kit, limits: Limits) -> None:
    flight = Astray(kit, limits)
    flight.fly(3.0 * EAST, 3.0)
    flight.n += 60
    flight.off = 40.0 * EAST
    assert flight.fly(1.0 * EAST, 10.0)[-1].reason is Reason.ESTIMATOR


@pytest.mark.parametrize("rate", mostly_full([0.15, 1.5, 0.3, 1.0], 2))
def test_a_drift_is_noticed_and_held(kit: Kit, limits: Limits, rate: float) -> None:
    """The hold begins before the drift is twice the room that is kept inside the fence."""
    flight, asked = Astray(kit, limits), np.zeros(3)
    for _ in range(round(2.0 * limits.drift_hold / rate / kit.STEP)):
        flight.off = flight.off - rate * kit.STEP * EAST
        answer = flight.step(asked)
    assert answer.mode is Mode.HOLD and answer.reason is Reason.ESTIMATOR


def test_without_a_place_it_lands_when_the_battery_is_empty(kit: Kit, limits: Limits) -> None:
    """The vehicle lands straight down by the ranges alone, whatever the fence says of the reported position."""
    flight = Astray(kit, limits)
    flight.fly(1.0 * EAST, 2.0)
    flight.off = 400.0 * EAST
    flight.fly(1.0 * EAST, 2.0)
    flight.battery = limits.battery_return
    assert not any(answer.velocity.any() for answer in flight.fly(1.0 * EAST, 2.0)), "it knows no way home"
    flight.battery = limits.battery_land
    answer = flight.fly(1.0 * EAST, 1.0)[-1]
    assert answer.mode is Mode.LAND and answer.velocity.tolist() == [0.0, 0.0, -limits.land_speed]
    flight.fly(1.0 * EAST, 15.0)
    assert flight.position[2] < 5.0, "past the floor"


def test_on_the_ground_unarmed_it_may_be_carried(kit: Kit, limits: Limits) -> None:
    governor = Governor(limits, Site(kit.square(500.0), 120.0, np.zeros(3)))
    for n, x in enumerate((0.0, 30.0, 30.0)):
        scene = kit.Scene(limits, position=[x, 0.0, 0.05], now=kit.NOW + n * kit.STEP)
        scene.state = replace(scene.state, armed=False, landed=True)
        assert Reason.ESTIMATOR not in scene.decide([0.0, 0.0, 0.0], governor=governor).reasons


def test_a_position_that_is_stuck_does_not_let_the_vehicle_out_in_bites(kit: Kit, limits: Limits) -> None:
    flight = Astray(kit, limits)
    flight.fly(2.0 * EAST, 5.0)
    reported = flight.position.copy()
    for _ in range(round(120.0 / kit.STEP)):
        flight.off = reported - flight.position
        flight.step(2.0 * EAST)
    assert flight.outside < 0.0


@pytest.mark.parametrize("battery", mostly_full([55.0, -1.0, float("nan")]))
def test_a_lost_vehicle_whose_charge_cannot_be_comes_down_when_the_endurance_is_over(
    kit: Kit, limits: Limits, battery: float
) -> None:
    flight = Astray(kit, replace_limits(limits, endurance=60.0))
    flight.fly(2.0 * EAST, 3.0)
    flight.off, flight.battery = -40.0 * EAST, battery
    assert flight.fly(2.0 * EAST, 120.0)[-1].mode is Mode.LAND
    assert flight.position[2] < 10.0


def test_a_governor_started_again_outside_the_fence_takes_its_brief_and_leads_back(kit: Kit, limits: Limits) -> None:
    flight = Astray(kit, limits)
    flight.governor = Governor(limits)
    flight.position = np.array([61.0, 0.0, 15.0])
    flight.fly(np.zeros(3), 0.5)
    flight.governor.set_site(flight.site)
    flight.fly(np.zeros(3), 20.0)
    assert flight.site.outside(flight.position) < 0.0


@dataclass(frozen=True)
class Loss:
    """Faults that come when odometry ends, and what the governor is doing then."""

    ranges: str = "sound"  # none; stuck: from before; stuck later: once it backs off
    turned: bool = False  # the heading, by 90 degrees that no gyroscope tells
    battery: float = 0.9


def hold_without_odometry(kit: Kit, limits: Limits, loss: Loss = Loss()):  # type: ignore[no-untyped-def]
    """Returns the gaps (m) to a pole and the answers of a vehicle that lags, whose odometry ends after 1 s."""
    pole = kit.World(np.array([[2.6, 0.0, np.inf, 0.3]]))
    governor = Governor(limits, Site(kit.square(60.0), 120.0, np.array([30.0, 30.0, 0.0])))
    position, velocity, ranges = np.array([-0.9, 0.0, 15.0]), 0.9 * EAST, None
    gaps, answers = [], []
    for n in range(180):
        now = kit.NOW + n * kit.STEP
        scene = kit.Scene(limits, pole, position=position.copy(), velocity=velocity.copy(), now=now)
        scene.state = replace(scene.state, battery=loss.battery) if n < LOST else None
        if loss.turned and n == LOST - 1:
            turn = Pose(quaternion=np.array([0.0, 0.0, np.sin(np.pi / 4), np.cos(np.pi / 4)]))
            scene.state = replace(scene.state, pose=Pose(position.copy(), turn.quaternion), rates=np.zeros(3))
        if loss.ranges.startswith("stuck") and n >= (LOST + 30 if "later" in loss.ranges else LOST - 1):
            scene.ranges = replace(scene.ranges, ranges=ranges)
        ranges = scene.ranges.ranges
        image = None if loss.ranges == "none" else scene.ranges
        answer = governor.decide(scene.state, Command(now, np.zeros(3)), image, scene.window, now)
        if n >= LOST:
            velocity = velocity + (answer.velocity - velocity) * kit.STEP / 2.5  # as slowly as a vehicle in a gust
        position = position + velocity * kit.STEP
        gaps.append(float(np.hypot(*(position[:2] - [2.6, 0.0])) - 0.3))
        answers.append(answer)
    return gaps, answers


@pytest.mark.parametrize(("battery", "mode"), [(0.9, Mode.HOLD), (0.15, Mode.RETURN)])
def test_without_odometry_it_backs_off_from_what_its_ranges_show(
    kit: Kit, limits: Limits, battery: float, mode: Mode
) -> None:
    """A vehicle that was accelerating when odometry was lost drifts on for metres, whatever it is told."""
    gaps, answers = hold_without_odometry(kit, limits, Loss(battery=battery))
    assert min(gaps) > limits.body_radius + 0.3
    assert all(answer.mode is mode for answer in answers[LOST:])
    assert all((Reason.OBSTACLE in answer.reasons) is bool(answer.velocity.any()) for answer in answers[LOST:])
    backed = [float(np.linalg.norm(answer.velocity)) for answer in answers[LOST:]]
    assert 0.0 < max(backed) <= limits.push_speed + 1e-9
    assert sum(backed) * kit.STEP <= limits.clearance + limits.push_speed * kit.STEP


@pytest.mark.parametrize(
    "loss", [Loss(ranges="none"), Loss(ranges="stuck"), Loss(turned=True)], ids=["none", "stuck", "turned"]
)
def test_without_odometry_it_stands_where_ranges_or_heading_cannot_be_trusted(
    kit: Kit, limits: Limits, loss: Loss
) -> None:
    gaps, answers = hold_without_odometry(kit, limits, loss)
    assert min(gaps) < limits.body_radius, "there was something to back off from"
    assert all(answer.mode is Mode.HOLD and not answer.velocity.any() for answer in answers[LOST:])


def test_without_odometry_it_stops_backing_off_once_its_ranges_are_stuck(kit: Kit, limits: Limits) -> None:
    _, answers = hold_without_odometry(kit, limits, Loss(ranges="stuck later"))
    assert any(answer.velocity.any() for answer in answers[LOST : LOST + 30])
    assert not any(answer.velocity.any() for answer in answers[LOST + 30 :])


def beside_a_wall(kit: Kit, limits: Limits):  # type: ignore[no-untyped-def]
    """Returns a governor that hovers a metre beside a pole, and its scene at a step."""
    pole = kit.World(np.array([[1.3, 0.0, np.inf, 0.3]]))
    site = Site(kit.square(60.0), 120.0, np.array([30.0, 30.0, 0.0]))

    def at(n: int):  # type: ignore[no-untyped-def]
        return kit.Scene(limits, pole, position=[0.0, 0.0, 15.0], now=kit.NOW + n * kit.STEP)

    governor = Governor(limits, site)
    assert at(0).ask(None, governor).velocity[0] < 0.0
    return governor, at


def test_without_odometry_it_backs_off_by_no_more_than_the_clearance(kit: Kit, limits: Limits) -> None:
    """A thing that stays as near moves with the vehicle; with a position all is as before."""
    governor, at = beside_a_wall(kit, limits)
    way = np.zeros(3)
    for n in range(1, 200):
        scene = at(n)
        scene.state = None
        answer = scene.ask(None, governor)
        way = way + answer.velocity * kit.STEP
    assert not answer.velocity.any()
    assert limits.clearance <= np.linalg.norm(way) <= limits.clearance + limits.push_speed * kit.STEP
    assert at(200).ask(None, governor).velocity[0] < 0.0
    scene = at(201)
    scene.state = None
    assert scene.ask(None, governor).velocity[0] < 0.0, "it is counted from the last position on"


def test_a_scan_that_was_blind_when_odometry_was_lost_moves_nothing(kit: Kit, limits: Limits) -> None:
    governor, at = beside_a_wall(kit, limits)
    blind = at(1)
    blind.ranges = replace(blind.ranges, ranges=np.full_like(blind.ranges.ranges, np.inf))
    assert "blind" in blind.ask(None, governor).text
    scene = at(2)
    scene.state = None
    assert not scene.ask(None, governor).velocity.any()


@pytest.mark.parametrize("flew", [True, False], ids=["after a flight", "from the start"])
def test_a_landed_vehicle_whose_position_is_lost_is_not_lifted(kit: Kit, limits: Limits, flew: bool) -> None:
    """On the ground all that is below it is nearer than the clearance."""
    governor = Governor(limits, Site(kit.square(60.0), 120.0, np.array([30.0, 30.0, 0.0])))
    if flew:
        kit.Scene(limits, position=[0.0, 0.0, 15.0], now=kit.NOW - kit.STEP).ask(None, governor)
    for n in range(20):
        scene = kit.Scene(limits, position=[0.0, 0.0, 0.3], now=kit.NOW + n * kit.STEP)
        scene.state = replace(scene.state, landed=True) if flew else None
        answer = scene.ask(None, governor)
        assert answer.mode is Mode.HOLD and not answer.velocity.any()
