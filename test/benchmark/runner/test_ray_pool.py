"""Episodes on a Ray cluster of this machine: who is at fault, and when the clock of an episode begins."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="the extra ray is not installed")

from esar_ros.benchmark.runner.ray_pool import RayPool
from esar_ros.benchmark.runner.records import Record, read_episodes
from esar_ros.benchmark.runner.run import Progress, run
from esar_ros.benchmark.runner.store import Store
from helpers.light_episode import LightEpisode, failure, light_plan

pytestmark = [pytest.mark.full, pytest.mark.timeout(900)]


@pytest.fixture(autouse=True)
def helpers_are_found(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A Ray worker imports the light episode by its name."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(Path(__file__).parents[2]), os.environ["PYTHONPATH"])))
    yield


def flown(folder: Path, kinds: tuple[str, ...], count: int, workers: int, seconds: float, limit: float) -> Progress:
    plan = light_plan(count, kinds)
    store = Store(folder / "out", plan.settings)
    try:
        pool = RayPool("local", workers, LightEpisode(folder, seconds), limit)
        return run(plan, store, pool, lambda progress: None, failure)
    finally:
        store.close()


def test_what_dies_or_hangs_in_the_planner_is_the_methods_fault(tmp_path: Path) -> None:
    kinds = ("ok", "crash", "raise", "agent-crash", "agent-raise", "hang", "agent-hang")
    flown(tmp_path, kinds, 1, 2, 0.0, 5.0)
    by_kind: dict[str, Record[dict[str, int]]] = {one.planner: one for one in read_episodes(tmp_path / "out", dict)}
    assert {kind: (one.status, one.attempts) for kind, one in by_kind.items()} == {
        "ok": ("ok", 1),
        "crash": ("infrastructure_error", 2),
        "raise": ("infrastructure_error", 2),
        "agent-crash": ("agent_error", 1),
        "agent-raise": ("agent_error", 1),
        "hang": ("infrastructure_error", 2),
        "agent-hang": ("agent_error", 1),
    }
    for kind in ("agent-crash", "agent-hang"):
        assert "inside the planner" in str(by_kind[kind].reason)


def test_an_episode_that_is_slow_as_a_whole_is_not_the_methods_fault(tmp_path: Path) -> None:
    flown(tmp_path, ("slow",), 1, 1, 0.0, 3.0)
    (record,) = read_episodes(tmp_path / "out", dict)
    assert (record.status, record.attempts) == ("infrastructure_error", 2)


def test_an_episode_that_waits_for_a_cpu_is_not_late(tmp_path: Path) -> None:
    """More at a time than there are CPUs: the last would wait for several times the limit."""
    at_once = 3 * (os.cpu_count() or 1)
    progress = flown(tmp_path, ("ok",), at_once, at_once, 4.0, 9.0)
    assert (progress.done, progress.errors) == (at_once, 0)
