"""Incidents as tasks: seeded, on land, told in words, and each thing where somebody was."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.task import Distractor, PlacedClue, Task, Victim, load_task
from esar_ros.mission.weather import Weather
from esar_ros.scoring.difficulty import difficulty
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.sim.world.world import World
from esar_ros.suites.esarbench.incidents.course import live_through
from esar_ros.suites.esarbench.incidents.generator import make_task, make_tasks
from esar_ros.suites.esarbench.incidents.routes import draw_route
from esar_ros.suites.esarbench.incidents.scene import FARTHEST, NEAREST, distances, resting_places
from esar_ros.suites.esarbench.incidents.things import leave_things, pack
from esar_ros.suites.esarbench.incidents.walk import WALKER, Stage, Walk, downhill, tobler, towards
from esar_ros.suites.esarbench.incidents.wording import clock, day
from esar_ros.suites.esarbench.tasks.files import write_tasks


@pytest.fixture(scope="module")
def world() -> World:
    return World(load_map("dapeng"), seed=0)


@pytest.fixture(scope="module")
def place(world: World) -> PlaceMap:
    return world.place


@pytest.fixture(scope="module")
def tasks(world: World) -> list[Task]:
    return [make_task(world, 3, number) for number in range(8)]


def test_files_are_tasks_and_the_same_for_the_same_seed(tmp_path: Path, world: World, tasks: list[Task]) -> None:
    files = write_tasks(tasks[:2], tmp_path / "a")
    again = write_tasks(make_tasks(2, 3, ["dapeng"]), tmp_path / "b")
    assert [path.read_bytes() for path in files] == [path.read_bytes() for path in again]
    assert (tmp_path / "a" / "tasks.txt").read_text().splitlines() == [str(path) for path in files]
    assert [load_task(str(path)) for path in files] == tasks[:2]
    other = make_task(world, 4, 0)
    assert other.victims != tasks[0].victims and other.prompt != tasks[0].prompt


def test_people_and_things_lie_on_land_that_can_be_walked(tasks: list[Task], place: PlaceMap) -> None:
    for task in tasks:
        things: list[Victim | PlacedClue | Distractor] = [*task.victims, *task.clues, *task.distractors]
        lying = np.array([thing.position for thing in things])
        assert place.contains(lying).all() and not place.is_water(lying).any()
        assert np.degrees(place.slope(lying)).max() <= 30.1
        assert (place.cover_at(lying) != LandCover.ROCK).all()
        apart = np.linalg.norm(lying[:, None] - lying[None], axis=-1) + 1e9 * np.eye(len(lying))
        assert apart.min() > 1.4


def test_starts_are_level_free_and_at_the_papers_distances(tasks: list[Task], world: World) -> None:
    for task in tasks:
        start = np.array(task.start.position)
        away = distances(world.place, start, [np.array(victim.position) for victim in task.victims])
        assert NEAREST < min(away) and max(away) < FARTHEST
        assert math.degrees(float(world.place.slope(start))) <= 18.0 and not world.place.is_water(start)
        above = np.array([*start, float(world.place.ground_height(start))])
        assert all(world.contact(above + [0.0, 0.0, height], 1.0) is None for height in (2.0, 8.0, 20.0))
        assert difficulty(away, task.weather, task.local_time, [c.kind for c in task.clues]) == (
            task.difficulty,
            task.tier,
        )


def test_briefs_name_who_is_missing_and_hold_no_coordinates(tasks: list[Task]) -> None:
    for task in tasks:
        assert all(victim.name in task.prompt for victim in task.victims)
        assert not re.search(r"\d\.\d|\d\s*[,;/]\s*-?\d|\d°|latitude|longitude|coordinate|\d{4,}", task.prompt)
        assert "metres" in task.prompt or "walk" in task.prompt or "right by where you take off" in task.prompt
        assert "{" not in task.prompt and "  " not in task.prompt and len(task.prompt) > 300
    assert len({task.prompt.split()[0] for task in tasks}) > 3  # several voices
    assert all(3 <= len(task.clues) <= 12 for task in tasks)


def test_a_time_and_its_day_are_rounded_together() -> None:
    now, late, earlier = (datetime(2025, 5, 3, 0, 20), datetime(2025, 5, 2, 23, 55), datetime(2025, 5, 2, 23, 50))
    assert (clock(late), day(late, now)) == ("00:00", "today")
    assert (clock(earlier), day(earlier, now)) == ("23:45", "yesterday")
    assert day(earlier, late) == "yesterday" and day(late, late) == "today", "late is remembered as midnight, too"
    assert day(datetime(2025, 4, 29, 12, 0), now) == "four days ago"


def test_what_they_left_lies_where_they_were(place: PlaceMap) -> None:
    kinds, mechanisms = set(), set()
    for seed in range(15):
        random = np.random.default_rng(seed)
        incident = live_through(place, Weather.FOG, random)
        people = None if incident is None else resting_places(incident, random)
        if incident is None or people is None:
            continue
        mechanisms.add(incident.mechanism)
        been = np.array([mark.at for walk in incident.walks for mark in walk.marks])
        assert not place.is_water(been).any()
        for thing in leave_things(incident, pack(incident, random), people, False, 2.0, random):
            kinds.add(thing.kind)
            near = incident.route.line if thing.why == "older" else been
            assert np.linalg.norm(near - thing.at, axis=1).min() < 20.0
    assert len(kinds) >= 7 and len(mechanisms) >= 6


def test_time_runs_and_stages_follow_each_other(place: PlaceMap) -> None:
    for seed in range(4):
        incident = live_through(place, Weather.CLEAR, np.random.default_rng(seed))
        for walk in () if incident is None else incident.walks:
            assert (np.diff([mark.time for mark in walk.marks]) >= 0.0).all()
            stages = [mark.stage for mark in walk.marks]
            assert stages[0] is Stage.ROUTE and incident is not None
            assert incident.seen.time <= walk.time


def test_walkers_slow_on_slopes_keep_off_the_sea_and_go_where_they_want(place: PlaceMap) -> None:
    # Tobler 1993: 6 km/h at 5 % down, 5.04 km/h on the level.
    assert 3.6 * tobler(np.array([-0.05, 0.0])) == pytest.approx([6.0, 5.037], abs=1e-3)
    assert tobler(np.array(0.3)) < tobler(np.array(-0.3)) < tobler(np.array(0.0))
    top = np.array([-168.0, 213.0])
    walk = Walk(place, WALKER, np.random.default_rng(1), top, 0.0)
    walk.roam(downhill, 400.0, 2.0)
    assert place.ground_height(walk.at) < place.ground_height(top) - 60.0
    walk = Walk(place, WALKER, np.random.default_rng(1), top, 0.0)
    walk.roam(towards(top + [0.0, -150.0]), 260.0, 3.0)
    assert np.hypot(*(walk.at - top - [0.0, -150.0])) < 60.0
    walk = Walk(place, WALKER, np.random.default_rng(2), np.array([500.0, 190.0]), 0.0)
    walk.roam(lambda _: 0.0, 2000.0, 3.0)
    assert not place.is_water(np.array([mark.at for mark in walk.marks])).any()


def test_routes_keep_to_tracks_and_need_one(place: PlaceMap) -> None:
    tracks = np.concatenate(list(place.tracks.values()))
    for seed in range(6):
        route = draw_route(place, np.random.default_rng(seed))
        assert max(np.linalg.norm(tracks - at, axis=1).min() for at in route.line) < 5.0
        assert all(0 < fork.vertex < len(route.line) for fork in route.forks)
    with pytest.raises(UsageError, match="no track"):
        draw_route(replace(place, tracks={}), np.random.default_rng(0))
