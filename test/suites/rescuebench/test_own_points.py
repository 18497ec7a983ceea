"""Points of our own: by the paper's rules, proved, and walked by somebody who knows the way."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import RescuePoint, StandingPose, WalkAction
from esar_ros.sim.terrain.rescue_places.makers import MAKERS, rescue_site
from esar_ros.sim.walking.contacts import HALF_HEIGHT
from esar_ros.sim.walking.stage import DOOR, RescueStage
from esar_ros.sim.walking.walkable import WalkableGrid
from esar_ros.sim.walking.walker import Walker
from esar_ros.suites.rescuebench.files.points import point_document, write_points
from esar_ros.suites.rescuebench.generator import main
from esar_ros.suites.rescuebench.own_points import (
    RULES,
    flaws,
    own_place,
    own_points,
    shortest_ways,
    site_of,
)

FLOOR = np.array([0.0, 0.0, HALF_HEIGHT])


@pytest.fixture(scope="module")
def first_level() -> tuple[RescuePoint, ...]:
    return own_points(0, 6, 3, rescue_site("room"))


def follow(walker: Walker, way: NDArray[np.float64], within: float) -> bool:
    """Walk along corners at full speed. Returns whether the last one is come within some metres of."""
    corner = 0
    for _ in range(4000):
        if math.dist(way[-1][:2], walker.foot[:2]) < within and abs(way[-1][2] - walker.foot[2]) < 0.5:
            return True
        gap = way[corner] - walker.foot
        if corner < len(way) - 1 and math.hypot(*gap[:2]) < 0.25:
            corner += 1
            continue
        off = math.degrees(math.remainder(math.atan2(gap[1], gap[0]) - walker.yaw, math.tau))
        walker.action = WalkAction(0.0 if abs(off) > 20.0 else 1.0, min(max(off, -30.0), 30.0))
        walker.advance(0.1)
    return False


def test_a_seed_gives_the_same_points_and_another_gives_others(first_level: tuple[RescuePoint, ...]) -> None:
    again = own_points(0, 6, 3, rescue_site("room"))
    assert [p.victim.position.tolist() for p in again] == [p.victim.position.tolist() for p in first_level]
    assert [p.number for p in again] == list(range(6))
    other = own_points(0, 6, 4, rescue_site("room"))
    assert [p.victim.position.tolist() for p in other] != [p.victim.position.tolist() for p in first_level]


def test_the_first_level_keeps_the_papers_rules(first_level: tuple[RescuePoint, ...]) -> None:
    for point in first_level:
        assert flaws(point) == [] and point.time_limit == 180.0 and point.place == "Own_room_0"
        away = np.hypot(*(point.victim.position - point.ambulance.position)[:2])
        assert 5.0 <= away <= 15.0 and abs(point.victim.position[2] - point.start.position[2]) < 0.1
        assert np.hypot(*(point.start.position - point.ambulance.position)[:2]) <= 7.5
        metres = sum(
            float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
            for way in shortest_ways(point, site_of(point.place))
        )
        assert 3.0 < metres < 60.0 and point.description.startswith("Look for a person in")


def test_somebody_who_knows_the_way_walks_all_of_it(first_level: tuple[RescuePoint, ...]) -> None:
    stage = RescueStage(rescue_site("room"))
    for point in first_level[:3]:
        stage.set_up(point)
        there, back = shortest_ways(point, site_of(point.place))
        assert follow(stage.walker, there, 0.9)
        stage.pick_up()
        assert follow(stage.walker, back, 1.2)


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "levels"),
    [("room", (0,)), ("street", (1, 2)), ("suburb", (1, 2, 3, 4)), ("harbour", (1, 2)), ("desert", (1, 2))],
)
def test_every_place_has_points_that_somebody_walks(name: str, levels: tuple[int, ...]) -> None:
    site = rescue_site(name, 1)
    stage = RescueStage(site)
    for level in levels:
        for point in own_points(level, 4, 2, site):
            stage.set_up(point)
            for index in range(len(site.doors)):
                stage.open_door(index)
            there, back = shortest_ways(point, site_of(point.place))
            assert follow(stage.walker, there, 0.9), f"{point.title} of {point.place}: to the victim"
            stage.pick_up()
            assert follow(stage.walker, back, 1.5), f"{point.title} of {point.place}: to the stretcher"


def test_flaws_are_found(first_level: tuple[RescuePoint, ...]) -> None:
    point = first_level[0]
    far = dataclasses.replace(point, start=StandingPose(point.ambulance.position + [8.0, 0.0, 0.9], 0.0))
    assert "start too far from the ambulance" in flaws(far)
    assert any("m from the ambulance" in flaw for flaw in flaws(dataclasses.replace(point, victim=point.ambulance)))
    outside = dataclasses.replace(point, victim=StandingPose(np.array([20.0, 0.0, 0.9]), 0.0))
    assert "no way to the victim" in flaws(outside)
    upstairs = flaws(dataclasses.replace(point, level=4))
    assert any("climb" in flaw for flaw in upstairs) and "no door is needed" in upstairs
    beside = dataclasses.replace(point, start=point.victim)
    assert "start less than 2.5 m from the victim" in flaws(beside)


def test_the_points_of_a_file_are_checked_by_the_command(
    first_level: tuple[RescuePoint, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, good = tmp_path / "mine.jsonl", first_level[0]
    write_points(path, [point_document(good)])
    assert main(["--check", str(path)]) == 0 and "1 points" in capsys.readouterr().out
    bad = dataclasses.replace(good, victim=StandingPose(np.array([20.0, 0.0, 0.9]), 0.0))
    write_points(path, [point_document(good), point_document(bad)])
    assert main(["--check", str(path)]) == 1
    assert f"{path}: point 1: no way to the victim" in capsys.readouterr().out
    write_points(path, [point_document(dataclasses.replace(good, place="Moon"))])
    assert main(["--check", str(path)]) == 2
    assert "'Moon' is no place of our own" in capsys.readouterr().err


@pytest.mark.parametrize("level", [3, 4])
def test_behind_doors_and_upstairs_one_walks_once_they_are_open(level: int) -> None:
    site = rescue_site("suburb")
    (point,) = own_points(level, 1, 1, site)
    assert flaws(point) == []
    stage = RescueStage(site)
    victim, start = point.victim.position - FLOOR, point.start.position - FLOOR
    assert WalkableGrid.of(stage.world, site.area).path(start, victim) is None
    stage.set_up(point)
    for index in range(len(site.doors)):
        stage.open_door(index)
    way = WalkableGrid.of(stage.world, site.area).path(stage.walker.foot, victim)
    assert way is not None and (level == 3 or float(np.ptp(way[:, 2])) >= RULES[4].least_climb)
    assert follow(stage.walker, way, 0.9)
    assert all(name.startswith(DOOR) for name, thing in stage.world.objects.items() if thing.passable)


def test_a_place_without_doors_has_no_such_points() -> None:
    with pytest.raises(UsageError, match=r"Own_room_0 has no point of L4 \(level_3\)"):
        own_points(3, 1, 0, rescue_site("room"))


def test_places_are_found_by_name() -> None:
    for name in MAKERS:
        assert site_of(own_place(rescue_site(name, 2))) is rescue_site(name, 2)
    for bad in ("FlexibleRoom", "Own_room_x", "Own_moon_0"):
        with pytest.raises(UsageError):
            site_of(bad)
