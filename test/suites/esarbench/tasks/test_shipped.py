"""The committed benchmark: size, balance, ground, sight, words, and that the stories still make exactly these files."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from esar_ros.flight.limits import load_pilot_limits
from esar_ros.mission.clues import ClueKind
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.mission.task import Task, load_task
from esar_ros.mission.task_files import BENCHMARK_DIRECTORY, benchmark_event, benchmark_index
from esar_ros.mission.weather import Weather, WeatherFamily
from esar_ros.scoring.difficulty import DISTANCE_QUARTILES
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.sim.assets.meshes import assets
from esar_ros.suites.esarbench.tasks import task_set
from esar_ros.suites.esarbench.tasks.generator import FARTHEST, MINI, SEED, make
from esar_ros.suites.esarbench.tasks.ground import flattest, site
from esar_ros.suites.esarbench.tasks.proof import unproved
from esar_ros.suites.esarbench.tasks.statistics import sight, statistics
from esar_ros.suites.esarbench.tasks.validation import check_task, distances, ground_of

MAPS = {"aotai", "lop_nur", "k2", "dapeng"}


@pytest.fixture(scope="module")
def tasks() -> dict[str, Task]:
    return {id: load_task(id) for id in task_set("all")}


def test_size_and_sets(tasks: dict[str, Task]) -> None:
    stats = statistics(task_set("all"))
    assert (stats.tasks, stats.events, stats.snapshots) == (600, 12, 60)
    assert stats.maps == dict.fromkeys(sorted(MAPS), 150)
    assert set(Counter(task.snapshot for task in tasks.values()).values()) == {10}
    assert set(stats.weathers) == {weather.value for weather in Weather}
    assert set(stats.clues) == {kind.value for kind in ClueKind}
    shares = np.array([stats.tiers[name] / 600 for name in ("simple", "medium", "hard", "extreme")])
    assert np.abs(shares - (0.25, 0.275, 0.264, 0.212)).max() < 0.02
    assert np.abs(np.array(stats.quartiles) / DISTANCE_QUARTILES - 1.0).max() < 0.05
    dev, test, mini = (task_set(name) for name in ("dev", "test", "mini"))
    assert (len(dev), len(test), len(mini)) == (200, 400, MINI)
    assert set(dev) | set(test) == set(tasks)
    assert {(tasks[id].map, tasks[id].event) for id in dev} == {
        ("aotai", "aotai-wu"), ("lop_nur", "lop-yu"), ("k2", "k2-descent"), ("dapeng", "dapeng-zhong"),
    }  # fmt: skip
    assert set(mini) <= set(dev)
    assert {tasks[id].map for id in mini} == MAPS
    assert {tasks[id].tier for id in mini} == set(stats.tiers)
    assert {tasks[id].weather.family for id in mini} == set(WeatherFamily)


def test_a_set_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown task set 'train': known: all, dev, test, mini, demo"):
        task_set("train")


@pytest.mark.parametrize("name", ["all", "dev", "test"])
def test_any_prefix_is_balanced(name: str, tasks: dict[str, Task]) -> None:
    ids = task_set(name)
    for key in (lambda t: t.map, lambda t: t.tier, lambda t: t.weather.family):
        whole = Counter(key(tasks[id]) for id in ids)
        for length in range(12, len(ids), 12):
            part = Counter(key(tasks[id]) for id in ids[:length])
            # No value is more than four tasks ahead of or behind its share.
            assert max(abs(part[v] - length * whole[v] / len(ids)) for v in whole) <= 4.0, (name, length)


def test_every_task_fits_its_map_and_is_as_hard_as_it_says(tasks: dict[str, Task]) -> None:
    for id, task in tasks.items():
        check_task(task, id)
        assert task.t_max == (1800.0 if task.map == "lop_nur" else 900.0)


def test_everything_is_seen_from_the_air_from_somewhere() -> None:
    seen = sight(task_set("all"))
    assert seen.unseen == 0
    assert seen.hidden < 0.25


def test_people_and_things_lie_free_of_plants_and_starts_in_free_air(tasks: dict[str, Task]) -> None:
    for task in {task.snapshot: task for task in tasks.values()}.values():
        things = np.array([v.position for v in task.victims] + [c.position for c in task.clues])
        assert site(task.map).free_of(things, 0.5).all(), task.snapshot
        apart = np.linalg.norm(things[:, None] - things[None], axis=2) + 99.0 * np.eye(len(things))
        assert apart.min() >= 1.9
        others = np.array([d.position for d in task.distractors])
        assert np.linalg.norm(others[:, None] - things[None], axis=2).min() >= 15.0
    for id, task in tasks.items():
        ground = site(task.map)
        start = np.array([task.start.position])
        assert ground.usable(start, flattest(task.map), gap=2.9).all(), id
        assert ground.world.contact(ground.stand(task.start.position) + (0.0, 0.0, 3.0), 2.0) is None, id


def test_the_oracle_has_time_for_every_task(tasks: dict[str, Task]) -> None:
    """Straight legs at the pilot's speeds, all climbing apart from all going, leave two fifths of the time."""
    limits = load_pilot_limits()
    slowest = 0.0
    for task in tasks.values():
        ground = ground_of(task.map)
        here, left = np.array(task.start.position), [np.array(v.position) for v in task.victims]
        needed = 80.0 / limits.take_off_speed  # up, to search height
        while left:
            left.sort(key=lambda spot: float(np.linalg.norm(spot - here)))
            spot = left.pop(0)
            way = np.linspace(here, spot, max(2, int(np.linalg.norm(spot - here))))
            height = np.diff(ground.ground_height(way))
            needed += float(np.linalg.norm(spot - here)) / limits.speed
            needed += float(np.clip(height, 0.0, None).sum()) / limits.speed_up
            needed -= float(np.clip(height, None, 0.0).sum()) / limits.speed_down
            here = spot
        slowest = max(slowest, needed / task.t_max)
        assert max(distances(task, ground)) < 1.35 * FARTHEST.get(task.map, 900.0)
    assert slowest < 0.6


def test_briefs_are_all_different_and_tell_names_and_no_places(tasks: dict[str, Task]) -> None:
    assert len({task.prompt for task in tasks.values()}) == 600
    first_words = Counter(" ".join(task.prompt.split()[:3]) for task in tasks.values())
    # No three words open more than a tenth of them.
    assert first_words.most_common(1)[0][1] <= 60
    for task in tasks.values():
        assert all(victim.name in task.prompt for victim in task.victims)
        assert 200 < len(task.prompt) < 1600


def test_descriptions_mean_their_kind_to_the_judge(tasks: dict[str, Task]) -> None:
    judge = OfflineJudge()
    for description, kind in {(c.description, c.kind.value) for task in tasks.values() for c in task.clues}:
        assert judge.kinds(description) == frozenset({kind}), description


def test_dev_shows_nothing_that_detectors_are_not_trained_on(tasks: dict[str, Task]) -> None:
    held_out = {name for name, asset in assets().items() if asset.held_out}
    used: dict[str, set[str]] = {"dev": set(), "test": set()}
    for task in tasks.values():
        names = [f"person_{v.pose.value}/{v.variant}" for v in task.victims]
        names += [f"{c.kind.value}/{c.variant}" for c in task.clues] + [d.asset for d in task.distractors]
        used[task.split] |= set(names)
    assert not used["dev"] & held_out
    assert used["test"] & held_out


def test_a_changed_event_file_is_noticed(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / BENCHMARK_DIRECTORY
    folder.mkdir(parents=True)
    for path in resource(BENCHMARK_DIRECTORY).glob("*.json"):
        (folder / path.name).write_bytes(path.read_bytes())
    text = (folder / "aotai-wu.json").read_text()
    (folder / "aotai-wu.json").write_text(text.replace('"speed": ', '"speed":  ', 1))
    monkeypatch.setattr("esar_ros.mission.task_files.resource", lambda name: tmp_path / name)
    benchmark_event.cache_clear()
    with pytest.raises(UsageError, match=r"aotai-wu\.json: differs from its checksum in index\.json"):
        benchmark_event("aotai-wu")
    benchmark_event.cache_clear()


def test_maps_are_those_the_tasks_were_made_on() -> None:
    for event, entry in benchmark_index()["events"].items():
        assert benchmark_event(event)["map_digest"] == ground_of(entry["map"]).digest, event


def test_one_event_made_twice_is_the_same_and_its_briefs_hold() -> None:
    one, other = make(SEED, ["aotai-wu"]), make(SEED, ["aotai-wu"])
    assert one.files == other.files
    assert unproved(one) == []
    event = json.loads(one.files["aotai-wu.json"])
    # What was laid out does not depend on the other events; conditions and starts do.
    shipped = benchmark_event("aotai-wu")
    assert event["places"] == shipped["places"]
    assert [s["clues"] for s in event["snapshots"]] == [s["clues"] for s in shipped["snapshots"]]
    moved = one.files["aotai-wu.json"].replace(event["snapshots"][0]["tasks"][0]["prompt"], "Go north.")
    assert unproved(type(one)(one.files | {"aotai-wu.json": moved}, one.claims)) != []


@pytest.mark.full
def test_the_stories_make_exactly_the_shipped_files_and_every_brief_holds() -> None:
    made = make()
    assert unproved(made) == []
    folder = resource(BENCHMARK_DIRECTORY)
    assert {path.name for path in folder.glob("*.json")} == set(made.files)
    for name, text in made.files.items():
        assert hashlib.sha256((folder / name).read_bytes()).digest() == hashlib.sha256(text.encode()).digest(), name
    assert sum(len(text) for text in made.files.values()) < 2_000_000


def test_distances_are_three_dimensional(tasks: dict[str, Task]) -> None:
    task = next(task for task in tasks.values() if task.map == "k2" and len(task.victims) == 1)
    ground = ground_of("k2")
    (v,) = task.victims
    dz = float(ground.ground_height(np.array(v.position)) - ground.ground_height(np.array(task.start.position)))
    flat = math.dist(v.position, task.start.position)
    assert distances(task, ground) == [pytest.approx(math.hypot(flat, dz))]
