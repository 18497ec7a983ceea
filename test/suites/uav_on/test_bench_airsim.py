"""A benchmark in a server's scenes: what it is told to be, what it may fly, and its records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from esar_ros.benchmark.runner.plan import choose_tasks
from esar_ros.bridges.airsim.client import AirSimError
from esar_ros.mission.errors import UsageError
from esar_ros.suites.uav_on import episode
from esar_ros.suites.uav_on.conditions import UavOnConditions
from esar_ros.suites.uav_on.scenes import SETS, find_task, task_ids
from esar_ros.suites.uav_on.suite import UAV_ON
from helpers.steps import GeometricWorld, Scripted, go

THERE = {"world": "airsim", "scenes": "127.0.0.1:30000"}


@pytest.fixture(autouse=True)
def read_sets_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(SETS, "smoke")  # it is made, not read


class Scenes:
    """Opens worlds of pure geometry."""

    def __init__(self, address: str) -> None:
        self.address, self.closed, self.fails = address, 0, False
        self.asked: list[str] = []
        made.append(self)

    def open(self, scene: str, settings: Any) -> GeometricWorld:
        self.asked.append(scene)
        world = GeometricWorld()
        if self.fails:
            world.fly = lambda target, seconds: refuse()  # type: ignore[method-assign]
        return world

    def close(self) -> None:
        self.closed += 1


made: list[Scenes] = []


def refuse() -> None:
    raise AirSimError("connection lost")


@pytest.fixture
def flyer(monkeypatch: pytest.MonkeyPatch) -> episode.UavOnEpisode:
    made.clear()
    monkeypatch.setattr(episode, "AirSimScenes", Scenes)
    monkeypatch.setattr(episode, "create", lambda name, settings: Scripted([go("up"), go("stop")]))
    return episode.UavOnEpisode()


def lost(folder: Path) -> str:
    """A file with an episode in a scene that is not here."""
    document = {**find_task(task_ids("mini")[0]).entry.document, "map_name": "Barnyard_test", "episode_id": "5"}
    path = folder / "theirs.json"
    path.write_text(json.dumps([document]), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("planners", "options", "what"),
    [
        (("random",), {"world": "airsim"}, "needs --scenes HOST:PORT"),
        (("random",), {"scenes": "h:1"}, "needs --scenes HOST:PORT"),
        (("random",), {"world": "airsim", "scenes": "h"}, "HOST:PORT"),
        (("random", "oracle"), THERE, "oracle uses ground truth"),
        (("clip_h_labels",), THERE, "clip_h_labels uses ground truth"),
    ],
)
def test_what_cannot_be_flown_is_refused_at_once(planners: tuple[str, ...], options: dict[str, str], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        UAV_ON.plan(task_ids("mini")[:1], planners, 1, options)


def test_it_is_said_not_to_be_run_on_unreal_and_where_the_server_is_decides_nothing() -> None:
    tasks = task_ids("mini")[:2]
    plan = UAV_ON.plan(tasks, ("random",), 1, THERE)
    other = UAV_ON.plan(tasks, ("random",), 1, THERE | {"scenes": "elsewhere:41451"})
    embedded = UAV_ON.plan(tasks, ("random",), 1, {})
    (conditions,) = plan.settings.conditions
    assert conditions.as_text["world"] == "airsim (not run on Unreal)"
    assert plan.settings.hash == other.settings.hash != embedded.settings.hash
    assert conditions.differing(embedded.settings.conditions[0]) == ("world",)
    assert plan.at_once == 1 and embedded.at_once is None
    assert UAV_ON.maps(plan.jobs) == [] and UAV_ON.maps(embedded.jobs) == ["standin_farmyard", "standin_park"]


def test_episodes_in_scenes_that_are_not_here_are_flown_there(tmp_path: Path, flyer: episode.UavOnEpisode) -> None:
    plan = UAV_ON.plan(choose_tasks(UAV_ON, lost(tmp_path)), ("random",), 1, THERE)
    record = flyer.run(plan.jobs[0], lambda inside: None)
    assert (record.status, record.result.end) == ("ok", "stop")
    assert record.result.scene == "Barnyard_test" and record.result.map == ""
    assert isinstance(record.conditions, UavOnConditions) and record.conditions.world == "airsim"
    assert [(one.address, one.asked) for one in made] == [("127.0.0.1:30000", ["Barnyard_test"])]
    assert episode.failed(plan.jobs[0], "infrastructure_error", "x", 1.0).result.scene == "Barnyard_test"


def test_a_server_that_is_lost_is_asked_anew_for_the_next_episode(flyer: episode.UavOnEpisode) -> None:
    plan = UAV_ON.plan(task_ids("mini")[:2], ("random",), 1, THERE)
    flyer.run(plan.jobs[0], lambda inside: None)
    made[0].fails = True
    with pytest.raises(AirSimError, match="connection lost"):
        flyer.run(plan.jobs[1], lambda inside: None)
    assert made[0].closed == 1
    made[0].fails = False
    assert flyer.run(plan.jobs[1], lambda inside: None).status == "ok"
    assert len(made) == 1
