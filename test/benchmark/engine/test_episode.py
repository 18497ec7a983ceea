"""The engine: whole short episodes in this process, equal when repeated, and what a failing method costs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from esar_ros.benchmark.engine.episode import EpisodeResult, fly_episode
from esar_ros.benchmark.runner.job import AGENT_ERROR, INFRASTRUCTURE_ERROR, Job
from esar_ros.mission.decision import Decision
from esar_ros.mission.errors import UsageError
from esar_ros.mission.observation import Brief, Observation
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import Task, load_task
from esar_ros.planning import registry
from esar_ros.scoring.result import parse_result
from esar_ros.suites.esarbench.episode import EmbeddedEpisode, failed
from esar_ros.suites.esarbench.suite import ESARBENCH

FAST = RunConditions(preset="fast", detector="segmentation_oracle")


def short(seconds: float) -> Task:
    return load_task("aotai-first").model_copy(update={"t_max": seconds})


class Failing:
    """Decides twice, then cannot any more."""

    name, eligible, needs = "failing", True, frozenset({"views"})

    def __init__(self, parameters: Any) -> None:
        self.seen: list[Observation] = []

    def reset(self, brief: Brief, seed: int) -> None:
        if "impossible" in brief.mission_id:
            raise ValueError("cannot work\nwith this")
        if "leaving" in brief.mission_id:
            sys.exit(3)

    def act(self, observation: Observation) -> Decision:
        self.seen.append(observation)
        assert set(observation.views) == {"front", "left", "right", "down"}
        assert observation.grid is None, "was not asked for"
        if len(self.seen) == 3:
            raise ZeroDivisionError
        return Decision("wait", "to fail")


@pytest.fixture
def failing() -> Iterator[None]:
    registry.register("failing")(Failing)
    yield
    del registry._FACTORIES["failing"]


def test_an_episode_flies_and_is_the_same_when_flown_again() -> None:
    def once() -> EpisodeResult:
        return fly_episode(ESARBENCH, short(9.0), "zigzag", 7, FAST)

    first, second = once(), once()
    assert first.error is None
    result = first.result
    assert result.end.value == "timeout"
    assert result.metrics.elapsed == 9.0
    assert result.metrics.path_length > 5.0
    assert result.odometry == "noisy"
    assert not result.eligible, "the oracle detector uses ground truth"
    drop = {"timing"}
    assert result.model_dump(exclude=drop) == second.result.model_dump(exclude=drop)
    assert first.track == second.track
    track = first.track["uav1"]
    assert track["t"] == [float(n) for n in range(10)]
    assert len({len(values) for values in track.values()}) == 1
    assert track["z"][-1] - track["z"][0] > 3.0, "it took off"


def test_a_failing_method_scores_nothing_and_keeps_its_reason(failing: None) -> None:
    words: list[bool] = []
    flown = fly_episode(ESARBENCH, short(30.0), "failing", 7, FAST, in_agent=words.append)
    assert flown.error == "ZeroDivisionError"
    assert "in act" in flown.trace
    assert flown.simulated == pytest.approx(2.0)
    result = flown.result
    assert result.end.value == "error"
    assert result.error == "the planner failed: ZeroDivisionError"
    assert (result.metrics.rs, result.metrics.safe) == (0.0, False)
    assert words[:2] == [True, False] and words.count(True) == words.count(False) == 5
    impossible = short(30.0).model_copy(update={"id": "impossible"})
    flown = fly_episode(ESARBENCH, impossible, "failing", 7, FAST)
    assert flown.error == "ValueError: cannot work with this"
    assert flown.result.end.value == "error"
    leaving = short(30.0).model_copy(update={"id": "leaving"})
    assert fly_episode(ESARBENCH, leaving, "failing", 7, FAST).error == "SystemExit: 3"


JOB = Job(3, "aotai-first", "aotai-first", "", "zigzag", 7, FAST)


@pytest.mark.parametrize("status", [AGENT_ERROR, INFRASTRUCTURE_ERROR])
def test_an_episode_that_was_not_flown_has_a_whole_result_of_zeros(status: str) -> None:
    import json

    record = failed(JOB, status, "the worker ended by signal 9", 1.5)
    assert (record["status"], record["reason"]) == (status, "the worker ended by signal 9")
    result = parse_result(json.dumps(record["result"]), "test")
    assert result.error == "the worker ended by signal 9"
    assert (result.metrics.rs, result.metrics.sr, result.metrics.cds) == (0.0, 0.0, 0.0)
    assert not result.metrics.safe and "the run failed" in result.safety.reasons
    assert len(result.victims) >= 1 and all(victim.position[2] != 0.0 for victim in result.victims)


def test_a_method_that_cannot_be_made_is_the_agents_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(parameters: Any) -> Any:
        raise RuntimeError("no model server")

    monkeypatch.setitem(registry._FACTORIES, "broken", broken)
    job = Job(0, "aotai-first", "aotai-first", "", "broken", 7, FAST)
    record = EmbeddedEpisode(ESARBENCH).run(job, lambda inside: None)
    assert (record["status"], record["reason"]) == (AGENT_ERROR, "RuntimeError: no model server")
    assert "in broken" in record["trace"]


def test_a_task_on_a_map_that_does_not_exist_is_told() -> None:
    with pytest.raises(UsageError, match="atlantis"):
        fly_episode(ESARBENCH, short(5.0).model_copy(update={"map": "atlantis"}), "zigzag", 7, FAST)
