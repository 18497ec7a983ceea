"""Shipped episodes in settlements: the files that were made, and every promise of theirs kept."""

from __future__ import annotations

import dataclasses
import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose
from esar_ros.mission.errors import UsageError
from esar_ros.mission.map_files import settlement_maps
from esar_ros.mission.resources import resource
from esar_ros.scoring.object_goal import UAV_ON
from esar_ros.sim.assets.households.catalogue import HOUSEHOLDS
from esar_ros.sim.assets.meshes import HOUSEHOLD, assets
from esar_ros.sim.terrain.maps import load_map
from esar_ros.sim.world.world import World
from esar_ros.suites.uav_on.conditions import UavOnConditions
from esar_ros.suites.uav_on.episodes import EpisodeEntry
from esar_ros.suites.uav_on.flight import fly
from esar_ros.suites.uav_on.oracle import Oracle
from esar_ros.suites.uav_on.scenes import Scene
from esar_ros.suites.uav_on.shortest import Occupancy
from esar_ros.suites.uav_on.stand_ins import generator, shipped
from esar_ros.suites.uav_on.stand_ins.proof import CLEAR, faults, opened, seeing, ways_to
from helpers.full import mostly_full
from helpers.steps import SETTINGS, GeometricWorld

LEAST_OF_A_KIND = {"small": 0.5, "mid": 0.1, "big": 0.1}  # shares of the test set's sizes


@pytest.fixture(scope="module")
def mini() -> tuple[Scene, ...]:
    return shipped.mini()


@pytest.fixture(scope="module")
def farm(mini: tuple[Scene, ...]) -> tuple[Scene, World]:
    return mini[0], opened(mini[0])


def test_sets_are_of_the_size_that_is_told(mini: tuple[Scene, ...]) -> None:
    assert [scene.map for scene in mini] == list(generator.MAPS) and set(generator.MAPS) == set(settlement_maps())
    assert sum(len(scene.episodes) for scene in mini) == 24
    test = shipped.test()
    assert [len(scene.episodes) for scene in test] == [100] * 4
    for scene in (*mini, *test):
        assert len({entry.episode.id for entry in scene.episodes}) == len(scene.episodes)
        assert {entry.episode.scene for entry in scene.episodes} == {scene.name} and len(scene.objects) <= 254
    sizes = [entry.episode.goal.size_class for scene in test for entry in scene.episodes]
    for size, least in LEAST_OF_A_KIND.items():
        assert sum(one is not None and one.value == size for one in sizes) >= least * len(sizes)
    folder = resource(shipped.DIRECTORY)
    assert sum(path.stat().st_size for path in folder.rglob("*.json")) < 1_000_000


def test_families_are_many_and_descriptions_fit_their_size() -> None:
    goals = {entry.episode.goal.name for scene in shipped.test() for entry in scene.episodes}
    assert len(goals) >= 50
    for scene in shipped.test():
        by_name = {placed.name: placed for placed in scene.objects}
        for entry in scene.episodes:
            asset = assets()[by_name[str(entry.document["object_name"])].asset]
            length, width, _ = asset.size
            area = float(entry.episode.goal.size.split("=")[1].split()[0])
            assert area == pytest.approx(length * width, abs=0.06)
            assert entry.episode.goal.description == generator.described(asset)


def test_a_changed_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "uav-on"
    shutil.copytree(resource(shipped.DIRECTORY), folder)
    monkeypatch.setattr(shipped, "resource", lambda name: folder)
    assert len(shipped.shipped("mini")) == 4
    path = folder / "mini" / "standin_park_mini.episodes.json"
    path.write_text(path.read_text().replace('"episode_id": "0"', '"episode_id": "9"'))
    with pytest.raises(UsageError, match=r"standin_park_mini\.episodes\.json: not the file that was shipped"):
        shipped.shipped("mini")


@pytest.mark.parametrize("index", mostly_full(range(4)))
def test_mini_keeps_every_promise(mini: tuple[Scene, ...], index: int) -> None:
    world = opened(mini[index])
    assert list(faults(mini[index], world)) == []
    glide(mini[index], world)


@pytest.mark.full
@pytest.mark.parametrize("index", range(4))
def test_all_four_hundred_keep_every_promise(index: int) -> None:
    scene = shipped.test()[index]
    world = opened(scene)
    assert list(faults(scene, world)) == []
    glide(scene, world)


def glide(scene: Scene, world: World) -> None:
    """The oracle's plan of every episode ends in a stop within reach, and nothing comes near it on the way."""
    for entry in scene.episodes:
        episode, oracle = entry.episode, Oracle()
        last = np.array(episode.start.position)

        def touching(position: np.ndarray) -> bool:
            nonlocal last
            before, last = last, np.array(position)
            return world.contact_along(before, last, 0.25 + 0.2) is not None

        oracle.show(world, episode, 20.0)
        flown = fly(GeometricWorld(touching), episode, episode.id, oracle, 0, UavOnConditions(), SETTINGS)
        contacts = [frame.contact for frame in flown.frames]
        assert (flown.error, flown.stopped, any(contacts)) == (None, True, False), episode.id
        assert math.dist(last, episode.targets[0]) <= UAV_ON.near, episode.id


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", ["mini", "test"])
def test_the_files_are_made_again_to_the_byte(name: str) -> None:
    folder = resource(shipped.DIRECTORY)
    made = generator.files(generator.SEED, [one for one in generator.SETS if one.name == name])
    index = json.loads(made.pop(generator.INDEX))
    assert index["sets"][name] == json.loads((folder / generator.INDEX).read_text(encoding="utf-8"))["sets"][name]
    assert len(made) == 8
    for file, text in made.items():
        assert (folder / file).read_text(encoding="utf-8") == text, file


def test_scenes_were_made_for_the_grounds_that_are_shipped() -> None:
    folder = resource(shipped.DIRECTORY)
    for path in folder.rglob("*.scene.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        assert content["map_digest"] == load_map(content["map"]).digest, path.name


def with_episode(scene: Scene, **changes: object) -> Scene:
    """The scene with its first episode changed, and no others."""
    entry = scene.episodes[0]
    changed = dataclasses.replace(entry.episode, **changes)  # type: ignore[arg-type]
    return dataclasses.replace(scene, episodes=(EpisodeEntry(entry.document, changed),))


def test_a_start_in_a_house_is_found_out(farm: tuple[Scene, World]) -> None:
    scene, world = farm
    assert world.place.plan is not None
    x, y = next(piece.xy for piece in world.place.plan.pieces if piece.kind == "house")
    start = Pose(np.array([x, y, float(world.ground_height((x, y))) + 2.0]))
    told = list(faults(with_episode(scene, start=start), world, paths=False))
    assert "episode 0: its start is not free" in told


def test_every_other_broken_promise_is_found_out(farm: tuple[Scene, World]) -> None:
    scene, world = farm
    entry = scene.episodes[0]
    assert list(faults(with_episode(scene), world, paths=False)) == []
    far = Pose(entry.episode.start.position + np.array([0.0, 0.0, 1.0]) + [70.0, 0.0, 0.0])
    assert any("not within 50 m" in line for line in faults(with_episode(scene, start=far), world, paths=False))
    goal = dataclasses.replace(entry.episode.goal, description="A thing.")
    assert any("description" in line for line in faults(with_episode(scene, goal=goal), world, paths=False))
    straight = entry.document["info"]["twentysix"] + 1.0
    assert any("straight" in line for line in faults(with_episode(scene, straight=straight), world, paths=False))
    moved = Pose(entry.episode.start.position + np.array([0.0, 0.0, 4.0]))
    assert any("ways of" in line for line in faults(with_episode(scene, start=moved), world))


def test_what_stands_behind_walls_is_not_seen() -> None:
    world = World(load_map("standin_street"), 0)
    assert world.place.plan is not None
    thing = world.spawn("ball", "household_ball", world.resting_pose((0.0, 0.0), 0.0))
    assert len(seeing(world, thing)) == 12  # the middle of a crossing
    house = next(piece for piece in world.place.plan.pieces if piece.kind == "house" and piece.height > 5.0)
    thing = world.move("ball", world.resting_pose(house.xy, 0.0))
    assert seeing(world, thing) == []


def test_ways_lead_round_what_is_in_the_way() -> None:
    blocked = np.zeros((40, 9, 3), dtype=np.bool_)
    blocked[20, :8] = True
    cells, start, goal = Occupancy(np.zeros(3), blocked), np.array([15.5, 0.5, 1.5]), np.array([25.5, 0.5, 1.5])
    ways = ways_to(cells, start, goal)
    assert ways is not None
    assert ways[0] == pytest.approx(10.0 + 16.0)  # over to the gap and back
    assert 10.0 < ways[1] < ways[0]
    assert ways_to(cells, np.array([20.5, 0.5, 1.5]), goal) is None
    inside = ways_to(cells, start, np.array([20.5, 0.5, 1.5]))  # of what stands in a cell: on from the nearest free one
    assert inside is not None and inside[0] == pytest.approx(5.0)
    free = Occupancy(np.zeros(3), np.zeros((40, 9, 3), dtype=np.bool_))
    straight = ways_to(free, start, goal)
    assert straight is not None and straight == pytest.approx((10.0, 10.0))


def test_sizes_are_of_the_outline() -> None:
    known = {name: generator.size_class(assets()[f"{HOUSEHOLD}_{name}"]).value for name in HOUSEHOLDS}
    assert (known["teapot"], known["picnic_table"], known["truck"]) == ("small", "small", "big")
    assert math.isclose(sum(generator.SHARES.values()), 1.0) and CLEAR > 0.5
