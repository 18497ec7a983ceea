"""Nobody below: what vetoes the ground under a landing, and where the vehicle lands instead."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose, Vector, quaternion_from_rpy
from esar_ros.mission.modes import Mode, Reason
from esar_ros.mission.observation import SeenClue
from esar_ros.safety.failsafe import LAST_CHARGE
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, SafeCommand
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.surroundings import landing_site
from esar_ros.safety.surroundings.landing_site import Ground, LandingSite, people_of

Kit = SimpleNamespace
NOBODY: tuple[Vector, ...] = ()
POSES = {
    "standing": [[0.0, 0.0, 0.2 + 0.25 * n, 0.2] for n in range(7)],
    "sitting": [[0.3 * n, 0.0, 0.2, 0.2] for n in range(3)] + [[0.0, 0.0, 0.2 + 0.2 * n, 0.2] for n in range(4)],
    "lying": [[0.25 * n - 0.75, 0.0, 0.15, 0.18] for n in range(7)],
}


def body(pose: str, x: float = 0.0, y: float = 0.0) -> list[list[float]]:
    """Returns the spheres (x, y, z, radius) of somebody in a pose."""
    return [[x + thing[0], y + thing[1], *thing[2:]] for thing in POSES[pose]]


def world(kit: Kit, things: list[list[float]]) -> Any:
    return kit.World(np.array(things, dtype=np.float64).reshape(-1, 4), 24, 60)


def at(x: float, y: float, height: float, tilt: float = 0.0) -> Pose:
    return Pose(np.array([x, y, height]), quaternion_from_rpy(tilt, -tilt, 1.0))


def ground(
    kit: Kit, limits: Limits, things: list[list[float]], pose: Pose, people: tuple[Vector, ...] = NOBODY
) -> Ground:
    return Ground(world(kit, things).image(pose, 1.0), pose.position, people, limits)


def everywhere(place: Vector) -> bool:
    return True


# -- the ground below -----------------------------------------------------------------------------


@pytest.mark.parametrize("pose", POSES)
@pytest.mark.parametrize("height", [5.0, 3.5, 2.5])
@pytest.mark.parametrize("beside", [0.0, 1.0])
def test_whoever_is_below_vetoes_the_spot(kit: Kit, limits: Limits, pose: str, height: float, beside: float) -> None:
    for turn in (0.0, 2.0, 4.0):
        there = body(pose, beside * math.cos(turn), beside * math.sin(turn))
        assert "out of the ground below" in ground(kit, limits, there, at(0.0, 0.0, height)).veto()


@pytest.mark.parametrize("height", [5.0, 3.0, 1.0, 0.6, 0.2])
@pytest.mark.parametrize("tilt", [0.0, 0.1])
def test_bare_ground_is_clear_however_the_vehicle_tilts(kit: Kit, limits: Limits, height: float, tilt: float) -> None:
    assert ground(kit, limits, [], at(0.0, 0.0, height, tilt)).veto() == ""
    assert ground(kit, limits, body("lying", 3.5), at(0.0, 0.0, height, tilt)).veto() == "", "beyond the clearance"
    stone = [[0.5, 0.0, 0.0, 0.2]]
    assert ground(kit, limits, stone, at(0.0, 0.0, height, tilt)).veto() == "", "no higher than the ground is rough"


def test_a_slope_is_no_person_and_a_person_on_it_is_one(kit: Kit, limits: Limits) -> None:
    for things, vetoed in (([], False), (body("sitting"), True)):
        image = world(kit, things).image(at(0.0, 0.0, 4.0), 1.0)
        slope = replace(image, pose=Pose(image.pose.position, quaternion_from_rpy(0.35, 0.2, 1.0)))
        assert bool(Ground(slope, image.pose.position, NOBODY, limits).veto()) is vetoed


def test_so_near_the_ground_that_it_stands_nothing_is_vetoed(kit: Kit, limits: Limits) -> None:
    """A stone beside the vehicle that stands; but above somebody's head the ground is far."""
    stone = [[1.2, 0.0, 0.2, 0.3]]
    assert ground(kit, limits, stone, at(0.0, 0.0, 0.4)).veto() == ""
    assert ground(kit, limits, stone, at(0.0, 0.0, 0.7)).veto()
    assert ground(kit, limits, body("standing"), at(0.0, 0.0, 2.3)).veto()


def test_where_no_range_shows_the_ground_nothing_is_known(kit: Kit, limits: Limits) -> None:
    image = world(kit, body("standing")).image(at(0.0, 0.0, 3.0), 1.0)
    for value in (math.nan, math.inf, -math.inf):
        blind = replace(image, ranges=np.full_like(image.ranges, value))
        site = Ground(blind, image.pose.position, NOBODY, limits).site(None, everywhere)
        assert site == LandingSite()
        told = Ground(blind, image.pose.position, (np.array([0.0, 0.0, 0.0]),), limits).site(None, everywhere)
        assert told.veto and told.aim is None, "nor another spot"


def test_a_detected_person_vetoes_within_the_clearance_and_two_metres(kit: Kit, limits: Limits) -> None:
    room = limits.clearance + 2.0
    for away, vetoed in ((0.0, True), (room - 0.01, True), (room + 0.01, False)):
        told = (np.array([30.0, 30.0, 0.0]), np.array([0.0, away, -1.0]), np.array([math.nan, 0.0, 0.0]))
        assert ("a person was detected" in ground(kit, limits, [], at(0.0, 0.0, 4.0), told).veto()) is vetoed


def clue(kind: str, probability: float) -> SeenClue:
    return SeenClue(1, kind, "", probability, np.array([1.0, 2.0, 3.0]), np.eye(3), 2, 5.0, 0.0, 1.0)


def test_people_are_detections_of_people_that_are_likely() -> None:
    seen = people_of([clue("person", 0.5), clue("person", 0.49), clue("tent", 0.9)])
    assert [where.tolist() for where in seen] == [[1.0, 2.0, 3.0]]


# -- another spot ---------------------------------------------------------------------------------


def test_it_goes_to_the_nearest_clear_spot(kit: Kit, limits: Limits) -> None:
    """West of somebody who lies across; the other near spots are taken by stones."""
    turns = 2.0 * math.pi / 16 * np.arange(16)
    stones = [[3.0 * math.cos(turn), 3.0 * math.sin(turn), 0.2, 0.5] for turn in turns if abs(turn - math.pi) > 0.9]
    site = ground(kit, limits, [*body("sitting"), *stones], at(0.0, 0.0, 4.0)).site(None, everywhere)
    assert site.veto and site.aim is not None
    assert site.aim[:2] == pytest.approx([-3.0, 0.0], abs=0.1) or math.hypot(*site.aim[:2]) > 4.0
    assert site.aim[2] == 4.0, "at its height"
    seen = ground(kit, limits, [*body("sitting"), *stones], at(float(site.aim[0]), float(site.aim[1]), 4.0))
    assert not seen.veto()


def test_it_stays_where_no_spot_is_clear_or_none_can_be_reached(kit: Kit, limits: Limits) -> None:
    field = [[x, y, 0.1, 0.5] for x in np.arange(-9.0, 9.1, 1.5) for y in np.arange(-9.0, 9.1, 1.5)]
    assert ground(kit, limits, field, at(0.0, 0.0, 4.0)).site(None, everywhere).aim is None
    asked: list[Vector] = []

    def nowhere(place: Vector) -> bool:
        asked.append(place)
        return False

    site = ground(kit, limits, body("standing"), at(0.0, 0.0, 4.0)).site(None, nowhere)
    assert site.veto and site.aim is None and len(asked) > 16


def test_a_spot_keeps_away_from_people_who_were_detected(kit: Kit, limits: Limits) -> None:
    told = (np.array([1.0, 0.0, 0.0]),)
    site = ground(kit, limits, [], at(0.0, 0.0, 4.0), told).site(None, everywhere)
    assert site.aim is not None and math.dist(site.aim[:2], told[0][:2]) > limits.clearance + 2.0


def test_a_steep_spot_is_none(kit: Kit, limits: Limits) -> None:
    image = world(kit, body("standing")).image(at(0.0, 0.0, 4.0), 1.0)
    for tilt, found in ((0.4, True), (0.6, False)):  # 0.42 and 0.68 m/m
        slope = replace(image, pose=Pose(image.pose.position, quaternion_from_rpy(tilt, 0.0, 1.0)))
        site = Ground(slope, image.pose.position, NOBODY, limits).site(None, everywhere)
        assert site.veto and (site.aim is not None) is found


def test_of_spots_as_good_as_each_other_it_goes_to_the_same_with_every_scan(kit: Kit, limits: Limits) -> None:
    """All around is as flat and as clear, and a vehicle that changed its mind with each scan would never arrive."""
    ways = set()
    for n in range(12):
        pose = at(0.0, 0.0, 4.0 + 0.01 * n)
        aim = ground(kit, limits, body("standing"), pose).site(None, everywhere).aim
        assert aim is not None
        ways.add(tuple(np.round(aim[:2], 3)))
    assert len(ways) == 1


def test_on_its_way_it_does_not_come_down_and_an_aim_that_is_taken_is_given_up(kit: Kit, limits: Limits) -> None:
    aim = np.array([3.0, 0.0, 4.0])
    here = at(0.0, 0.0, 4.0)
    going = ground(kit, limits, [], here).site(aim, everywhere)
    assert going.veto == "going to a clear spot" and going.aim is aim
    over = ground(kit, limits, body("sitting", -0.8), here).site(aim, everywhere)
    assert "out of the ground below" in over.veto and over.aim is aim, "it says who is below, and goes on"
    there = ground(kit, limits, [], at(2.7, 0.0, 4.0)).site(aim, everywhere)
    assert there == LandingSite(), "it has arrived"
    assert ground(kit, limits, body("sitting", 3.0), here).site(aim, everywhere) == LandingSite(), "free below"
    taken = ground(kit, limits, body("sitting", 1.5), here).site(aim, everywhere)
    assert taken.veto and taken.aim is not None
    assert min(math.dist(taken.aim[:2], thing[:2]) for thing in body("sitting", 1.5)) > limits.clearance
    told = ground(kit, limits, [], here, (np.array([5.0, 0.0, 0.0]),)).site(aim, everywhere)
    assert told == LandingSite()


# -- the kernels ----------------------------------------------------------------------------------


def spot(points: NDArray[np.float64], radius: float) -> tuple[float, float, float]:
    """Returns what `_spot` does at the origin, by least squares over the points (n, 4)."""
    inside = points[np.hypot(points[:, 0], points[:, 1]) <= radius]
    rows = np.column_stack([np.ones(len(inside)), inside[:, :2]])
    kept = np.ones(len(inside), dtype=bool)
    for _ in range(6):
        root = np.sqrt(inside[kept, 3])
        plane = np.linalg.lstsq(rows[kept] * root[:, None], inside[kept, 2] * root, rcond=None)[0]
        above = inside[:, 2] - rows @ plane
        kept = above <= 0.15
    slope = math.hypot(plane[1], plane[2])
    return float(above.max()) / math.hypot(1.0, slope), slope, float(plane[0])


def test_the_plane_is_the_one_of_least_squares() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        points = rng.uniform([-3.0, -3.0, -0.05, 0.1], [3.0, 3.0, 0.05, 1.0], (300, 4))
        slope = rng.uniform(-0.7, 0.7, 2)
        points[:, 2] += points[:, :2] @ slope - 4.0
        points[np.hypot(points[:, 0] - 0.4, points[:, 1]) < 0.4, 2] += rng.uniform(0.0, 1.5)
        assert landing_site._spot(points, 0.0, 0.0, 2.0) == pytest.approx(spot(points, 2.0), abs=1e-4)
        moved = points + [5.0, -7.0, 0.0, 0.0]
        assert landing_site._spot(moved, 5.0, -7.0, 2.0) == pytest.approx(spot(points, 2.0), abs=1e-4)


def test_few_points_or_those_of_one_side_show_no_spot() -> None:
    rng = np.random.default_rng(1)
    points = np.column_stack([rng.uniform(-1.0, 1.0, (100, 2)), np.full(100, -3.0), np.ones(100)])
    assert landing_site._spot(points, 0.0, 0.0, 2.0)[0] < 0.01
    for few in (points[:11], points[points[:, 0] > 0.0], points + [3.0, 0.0, 0.0, 0.0]):
        assert math.isnan(landing_site._spot(few, 0.0, 0.0, 2.0)[0])
    three = points[(points[:, 0] > 0.0) | (points[:, 1] > 0.0)]
    assert landing_site._spot(three, 0.0, 0.0, 2.0)[0] < 0.01


# -- the governor ---------------------------------------------------------------------------------


def come_down(
    kit: Kit,
    limits: Limits,
    things: list[list[float]],
    seconds: float = 40.0,
    charge: Callable[[float], float] = lambda t: 0.05,
    people: tuple[Vector, ...] = NOBODY,
    touching: bool = False,
    half: float = 500.0,
    spoil: Callable[[RangeImageData], RangeImageData] = lambda image: image,
    jump: float = 0.0,
) -> tuple[list[SafeCommand], NDArray[np.float64]]:
    """Returns the answers and the places (n, 3) of a vehicle that obeys them from 6 m on; jump: m, of its odometry."""
    home = np.full(3, -min(99.0, 0.9 * half))
    site = Site(kit.square(half), 120.0, home)
    governor, scenery = Governor(limits, site), world(kit, things)
    position, velocity = np.array([0.0, 0.0, 6.0]), np.zeros(3)
    answers: list[SafeCommand] = []
    places = [position]
    for n in range(round(seconds / kit.STEP)):
        now = kit.NOW + n * kit.STEP
        down = touching and bool(answers) and (answers[-1].height or 9.0) <= 5.0
        scene = kit.Scene(limits, scenery, position, velocity, site, now, touching_down=down)
        shift = [jump if n > 5 else 0.0, 0.0, 0.0]
        told = Pose(position + shift)
        state = replace(scene.state, pose=told, landed=position[2] < 0.05, battery=charge(now - kit.NOW))
        image = spoil(replace(scene.ranges, pose=told))
        command = Command(now, np.array([0.0, 0.0, -0.7]))
        answers.append(governor.decide(state, command, image, scene.window, now, touching_down=down, people=people))
        velocity = answers[-1].velocity
        position = np.maximum(position + velocity * kit.STEP, [-999.0, -999.0, 0.0])
        places.append(position)
    return answers, np.array(places)


@pytest.mark.parametrize("pose", POSES)
def test_a_touch_down_onto_somebody_stops_and_says_why(kit: Kit, limits: Limits, pose: str) -> None:
    answers, places = come_down(kit, limits, body(pose), 12.0, lambda t: 0.9, touching=True)
    assert places[-1, 2] > 3.5 and not answers[-1].velocity.any()
    assert "out of the ground below" in answers[-1].text and answers[-1].reason is Reason.OBSTACLE


def test_a_touch_down_onto_a_detected_person_stops(kit: Kit, limits: Limits) -> None:
    there = (np.array([1.0, 1.0, 0.0]),)
    answers, places = come_down(kit, limits, [], 12.0, lambda t: 0.9, there, touching=True)
    assert places[-1, 2] > 3.5 and "a person was detected 1.4 m" in answers[-1].text
    _, places = come_down(kit, limits, [], 12.0, lambda t: 0.9, touching=True)
    assert places[-1, 2] < 0.05, "nobody there"


@pytest.mark.parametrize("pose", POSES)
def test_a_landing_goes_beside_somebody(kit: Kit, limits: Limits, pose: str) -> None:
    answers, places = come_down(kit, limits, body(pose))
    assert all(answer.mode is Mode.LAND for answer in answers) and places[-1, 2] == 0.0
    assert math.hypot(*places[-1, :2]) > limits.clearance
    low = places[:, 2] < 2.5
    assert np.hypot(*places[low, :2].T).min() > limits.clearance, "it comes lower than that nowhere else"
    assert any("out of the ground below" in answer.text for answer in answers)


def test_a_landing_goes_aside_from_a_detected_person_whom_no_range_shows(kit: Kit, limits: Limits) -> None:
    there = np.array([0.5, 0.0, 0.0])
    _, places = come_down(kit, limits, [], people=(there,))
    assert places[-1, 2] == 0.0 and math.dist(places[-1, :2], there[:2]) > limits.clearance + 1.9


def test_a_landing_without_a_clear_spot_waits_above_the_floor_until_the_last_charge(kit: Kit, limits: Limits) -> None:
    field = [[x, y, 0.1, 0.6] for x in np.arange(-12.0, 12.1, 1.5) for y in np.arange(-12.0, 12.1, 1.5)]
    answers, places = come_down(kit, limits, field, 40.0, lambda t: 0.05 if t < 20.0 else LAST_CHARGE)
    waited = places[300:400]
    assert waited[:, 2].min() > limits.floor - 0.5 and np.hypot(*waited[:, :2].T).max() < 0.1
    assert places[-1, 2] < 1.0 and "ground below" not in answers[-1].text


def test_a_landing_keeps_within_the_fence(kit: Kit, limits: Limits) -> None:
    for room, lands in ((2.0, False), (3.2, True)):
        _, places = come_down(kit, limits, body("standing"), 20.0, half=limits.fence_margin + room)
        assert np.abs(places[:, :2]).max() <= room + 0.1 and bool(places[-1, 2] < 0.05) is lands


def test_without_a_position_a_landing_waits_above_somebody(kit: Kit, limits: Limits) -> None:
    for things, height in ((body("sitting"), 3.5), ([], -1.0)):
        answers, places = come_down(kit, limits, things, 15.0, jump=40.0)
        assert Reason.ESTIMATOR in answers[-1].reasons and answers[-1].mode is Mode.LAND
        assert places[-1, 2] > height and np.hypot(*places[-1, :2]) < 0.1
    _, places = come_down(kit, limits, body("sitting"), 15.0, lambda t: LAST_CHARGE, jump=40.0)
    assert places[-1, 2] < 1.5, "at the last charge it comes down"


def test_where_ranges_are_blind_a_landing_comes_down_as_the_promise_says(kit: Kit, limits: Limits) -> None:
    def blind(image: RangeImageData) -> RangeImageData:
        return replace(image, ranges=np.full_like(image.ranges, math.nan))

    _, places = come_down(kit, limits, body("lying"), 15.0, spoil=blind)
    assert places[-1, 2] < 1.5


def test_a_person_detected_changes_nothing_in_flight(kit: Kit, limits: Limits) -> None:
    scene = kit.Scene(limits, position=[0.0, 0.0, 4.0], velocity=[2.0, 0.0, 0.0])
    asked = Command(kit.NOW, np.array([2.0, 0.0, 0.0]))
    there = (np.array([0.0, 0.0, 0.0]),)
    given = scene.governor().decide(scene.state, asked, scene.ranges, scene.window, kit.NOW, people=there)
    assert given.mode is Mode.NORMAL and not given.changed
