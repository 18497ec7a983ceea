"""The engine: whole short episodes in this process, equal when repeated, and what a failing method costs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.benchmark.engine.episode import fly_episode
from esar_ros.benchmark.engine.flight_stack import FlightStack
from esar_ros.benchmark.engine.mission import EpisodeResult, Mission
from esar_ros.benchmark.engine.wire import seconds
from esar_ros.benchmark.runner.job import AGENT_ERROR, INFRASTRUCTURE_ERROR, Job
from esar_ros.benchmark.runner.records import Status
from esar_ros.benchmark.runner.worker import fly_job
from esar_ros.mission.decision import Decision, Goal, GoalType
from esar_ros.mission.errors import UsageError
from esar_ros.mission.observation import Brief, Observation
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import Task, WeatherChange, Wind, load_task
from esar_ros.mission.vehicle import Body
from esar_ros.mission.weather import Weather
from esar_ros.perception.detectors.backend import Detection2D
from esar_ros.planning import registry
from esar_ros.scoring.result import parse_result
from esar_ros.scoring.truth import parse_truth
from esar_ros.sim.physics.battery import Battery
from esar_ros.suites.esarbench.episode import EmbeddedEpisode, failed
from esar_ros.suites.esarbench.suite import ESARBENCH

FAST = RunConditions(preset="fast", detector="segmentation_oracle")


def short(seconds: float) -> Task:
    return load_task("aotai-first").model_copy(update={"t_max": seconds})


def test_a_front_reaches_flight_images_and_the_record_within_an_episode() -> None:
    change = WeatherChange(at=1.0, over=10.0, weather=Weather.DENSE_FOG, wind=Wind(speed=6.0, direction=1.0))
    task = short(14.0).model_copy(update={"changes": (change,)})
    with Mission(ESARBENCH, FAST) as mission:
        mission.reset(task, 7)
        clear = mission.pictures()["front"]
        while not mission.ended:
            mission.step(Decision("wait", "to look", goal=Goal(GoalType.HOLD)))
        foggy, flown = mission.pictures()["front"], mission.result()
        assert mission.brief.weather == "clear" and mission.brief.wind_speed == 6.0
        assert mission._simulator is not None
        context = mission._simulator.context
        air = context.world.environment.air(context.simulation.clock.now)
    assert air.weather is Weather.DENSE_FOG and float(np.linalg.norm(air.wind)) == pytest.approx(6.0)
    assert float(foggy.std()) < 0.6 * float(clear.std()), "fog hides what was seen"
    assert flown.error is None
    truth = parse_truth(mission._referee.truth().dump(), "the record")
    assert truth.task.changes == (change,), "what was flown is in the record"
    begin = context.world.environment.changes[0].begin
    assert begin == pytest.approx(seconds(truth.start) + 1.0, abs=0.1), "times count from the mission's start"


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
    line = Failing.act.__code__.co_firstlineno + 5
    assert flown.error == f"ZeroDivisionError (test/benchmark/engine/test_episode.py, line {line})"
    assert "in act" in flown.trace
    assert flown.simulated == pytest.approx(2.0)
    result = flown.result
    assert result.end.value == "error"
    assert result.error == f"the planner failed: {flown.error}"
    assert (result.metrics.rs, result.metrics.safe) == (0.0, False)
    assert words[:2] == [True, False] and words.count(True) == words.count(False) == 5
    impossible = short(30.0).model_copy(update={"id": "impossible"})
    flown = fly_episode(ESARBENCH, impossible, "failing", 7, FAST)
    assert flown.error is not None
    assert flown.error.startswith("ValueError: cannot work with this (test/benchmark/engine/test_episode.py, line ")
    assert flown.result.end.value == "error"
    leaving = short(30.0).model_copy(update={"id": "leaving"})
    assert (fly_episode(ESARBENCH, leaving, "failing", 7, FAST).error or "").startswith("SystemExit: 3 (")


def test_a_method_that_fails_after_the_mission_had_ended_has_not_failed(failing: None) -> None:
    """The time is up between two frames, and at the next one it cannot any more."""
    flown = fly_episode(ESARBENCH, short(1.5), "failing", 7, FAST)
    assert (flown.error, flown.trace, flown.result.error) == (None, "", None)
    assert flown.result.end.value == "timeout" and flown.result.metrics.safe


JOB = Job(3, "aotai-first", "aotai-first", "", "zigzag", 7, FAST)


@pytest.mark.parametrize("status", [AGENT_ERROR, INFRASTRUCTURE_ERROR])
def test_an_episode_that_was_not_flown_has_a_whole_result_of_zeros(status: Status) -> None:
    record = failed(JOB, status, "the worker ended by signal 9", 1.5)
    assert (record.status, record.reason) == (status, "the worker ended by signal 9")
    result = parse_result(record.result.dump(), "test")
    assert result.error == "the worker ended by signal 9"
    assert (result.metrics.rs, result.metrics.sr, result.metrics.cds) == (0.0, 0.0, 0.0)
    assert not result.metrics.safe and "the run failed" in result.safety.reasons and not result.eligible
    assert len(result.victims) >= 1 and all(victim.position[2] != 0.0 for victim in result.victims)


def test_a_method_that_cannot_be_made_is_the_agents_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(parameters: Any) -> Any:
        raise RuntimeError("no model server")

    monkeypatch.setitem(registry._FACTORIES, "broken", broken)
    job = Job(0, "aotai-first", "aotai-first", "", "broken", 7, FAST)
    record = EmbeddedEpisode(ESARBENCH).run(job, lambda inside: None)
    line = broken.__code__.co_firstlineno + 1
    where = f"test/benchmark/engine/test_episode.py, line {line}"
    why = f"planner 'broken' cannot be made: RuntimeError: no model server ({where}): mend it"
    assert (record.status, record.reason) == (AGENT_ERROR, why)
    assert "in broken" in record.trace


@pytest.mark.parametrize(
    ("text", "told"),
    [("zigzag: [", "planners.yaml, not YAML"), ("zigzag: {colour: 1}", "planner zigzag, parameter colour: ")],
)
def test_a_settings_file_that_is_broken_while_a_run_goes_on_ends_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "planners.yaml"
    path.write_text(text)
    monkeypatch.setattr("esar_ros.planning.parameters.resource", lambda name: path)
    finished = fly_job(EmbeddedEpisode(ESARBENCH), JOB, lambda inside: None)
    assert finished.flown is None and finished.ends and told in finished.reason


class Answering:
    """Gives the answer that it is made with."""

    name, eligible, needs = "answering", True, frozenset[str]()

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def reset(self, brief: Brief, seed: int) -> None:
        pass

    def act(self, observation: Observation) -> Any:
        return self.answer


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (None, "act returned None, not a Decision"),
        (Goal(), "act returned a Goal, not a Decision"),
        (
            Decision("fly", "to nowhere", Goal(GoalType.WAYPOINT, np.full(3, np.nan))),
            "act returned a Decision whose goal is not finite: its position is array([nan, nan, nan])",
        ),
        (
            Decision("fly", "to nowhere", Goal(GoalType.WAYPOINT, np.zeros(2))),
            "act returned a Decision whose goal's position is array([0., 0.]), not 3 numbers",
        ),
    ],
)
def test_an_answer_that_is_no_decision_ends_the_episode_as_the_method_s_error_at_once(answer: Any, told: str) -> None:
    flown = fly_episode(ESARBENCH, short(300.0), "answering", 7, FAST, method=Answering(answer))
    line = Answering.act.__code__.co_firstlineno
    assert flown.error == f"{told} (act is defined at test/benchmark/engine/test_episode.py, line {line})"
    assert flown.simulated < 1.0
    result = flown.result
    assert (result.end.value, result.error) == ("error", f"the planner failed: {flown.error}")
    assert (result.metrics.rs, result.metrics.safe, result.planner_troubles) == (0.0, False, {})


def test_a_vehicle_that_the_governor_lands_ends_its_mission_in_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    full = Battery.of

    def small(body: Body) -> Battery:
        battery = full(body)
        battery.energy *= 0.05
        return battery

    monkeypatch.setattr(Battery, "of", staticmethod(small))
    waiting = Answering(Decision("wait", "until it is landed", Goal()))
    result = fly_episode(ESARBENCH, short(300.0), "answering", 7, FAST, method=waiting).result
    assert result.end.value == "landed" and result.end_text.startswith("landed by the governor: battery ")
    assert result.metrics.elapsed < 60.0 and result.metrics.efficiency == 0.0
    assert result.safety.landed_at_end and result.metrics.safe


def test_finds_of_a_detector_that_could_not_be_used_are_told(caplog: pytest.LogCaptureFixture) -> None:
    with Mission(ESARBENCH, FAST) as mission:
        mission.reset(short(1.0), 7)
        broken = Detection2D("person", 93.0, (10, 10, 20, 40), "person")
        detector = mission._sensing.detector
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(detector.backend, "detect", lambda frames: [[broken] for _ in frames])
            while not mission.ended:
                mission.step(Decision("wait", "to look", goal=Goal(GoalType.HOLD)))
        assert mission.result().error is None
    assert "detector segmentation_oracle: detections left out: 4 x score beside 0 to 1" in caplog.text


def test_an_object_that_is_no_method_is_not_flown() -> None:
    with pytest.raises(UsageError, match="planner 'odd' is no method: it has no name"):
        fly_episode(ESARBENCH, short(5.0), "odd", 7, FAST, method=object())  # type: ignore[arg-type]


def test_a_task_on_a_map_that_does_not_exist_is_told() -> None:
    with pytest.raises(UsageError, match="atlantis"):
        fly_episode(ESARBENCH, short(5.0).model_copy(update={"map": "atlantis"}), "zigzag", 7, FAST)


def test_a_mission_that_cannot_begin_is_not_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise OSError("no world")

    with Mission(ESARBENCH, FAST) as mission:
        with pytest.raises(RuntimeError, match="call reset"):
            mission.step(Decision("wait", "before anything"))
        mission.reset(short(3.0))
        monkeypatch.setattr(FlightStack, "begin", broken)
        with pytest.raises(OSError, match="no world"):
            mission.reset(short(3.0))
        with pytest.raises(RuntimeError, match="call reset"):
            mission.step(Decision("wait", "after a start that failed"))
