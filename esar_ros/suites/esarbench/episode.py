"""One episode of a benchmark as a record: flown, or scored 0 with the reason why not."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from esar_ros.benchmark.engine.conditions import task_digest, with_files
from esar_ros.benchmark.engine.missions import MissionSuite
from esar_ros.benchmark.engine.run_description import describe_run
from esar_ros.benchmark.runner.job import AGENT_ERROR, OK, Job
from esar_ros.benchmark.runner.records import Flown, Status
from esar_ros.benchmark.runner.worker import timing
from esar_ros.mission.briefing import mission_id
from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import Task, load_task
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.planning.agent_call import AgentError, stack_trace
from esar_ros.planning.registry import create as create_method
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.scoring.referee import Referee
from esar_ros.scoring.truth import TrueClue, TrueVictim
from esar_ros.sim.terrain.maps import PlaceMap, load_map


class EmbeddedEpisode:
    """Flies in the embedded simulator, in this process."""

    def __init__(self, suite: MissionSuite) -> None:
        self._suite = suite

    def prepare(self) -> None:
        """Checks that episodes can be flown on this machine. Raises UsageError."""
        from esar_ros.sim.render.graphics import headless_context

        headless_context().release()

    def run(self, job: Job, in_agent: Callable[[bool], None]) -> Flown:
        """Flies an episode; returns the part of its record that depends on the flight."""
        from esar_ros.benchmark.engine.episode import fly_episode

        began, cpu = time.monotonic(), time.process_time()
        task = load_task(job.task)
        try:
            flown = fly_episode(self._suite, task, job.planner, job.seed, _conditions(job), _place(task.map), in_agent)
        except AgentError as error:  # before there was anything to fly
            return replace(failed(job, AGENT_ERROR, str(error), time.monotonic() - began), trace=stack_trace(error))
        return Flown(
            OK if flown.error is None else AGENT_ERROR,
            flown.error,
            flown.result,
            flown.track,
            timing(time.monotonic() - began, time.process_time() - cpu, flown.simulated),
            with_files(_conditions(job), job.planner),
            flown.trace,
            task_digest(task),
        )


def failed(job: Job, status: Status, reason: str, wall: float) -> Flown:
    """Returns what is recorded of an episode not flown to its end: everything 0, Isafe = 0, with its reason."""
    task = load_task(job.task)
    place: PlaceMap | None = None
    with suppress(UsageError, OSError):
        place = _place(task.map)
    method_eligible = True
    with suppress(Exception):  # a method that cannot even be made is why we are here
        method_eligible = create_method(job.planner).eligible
    judge = OfflineJudge()
    about = describe_run(
        mission_id(task, job.planner, job.seed),
        place.digest if place is not None else "",
        job.planner,
        job.seed,
        replace(_conditions(job), judge=judge.name),
        method_eligible=method_eligible,
    )
    victims, clues = _truth(task, place)
    referee = Referee(task, victims, clues, load_thresholds(), about, {"uav1": (0.0, 0.0, 0.0)})
    referee.begin(0)
    referee.fail(0, reason)
    referee.advance(0)
    return Flown(status, reason, referee.result(judge), {}, timing(wall, 0.0, 0.0))


def _conditions(job: Job) -> RunConditions:
    assert isinstance(job.conditions, RunConditions)
    return job.conditions


def _truth(task: Task, place: PlaceMap | None) -> tuple[tuple[TrueVictim, ...], tuple[TrueClue, ...]]:
    """Returns the objects' positions (m) on the ground, at 0 m where even the map cannot be loaded."""

    def at(xy: tuple[float, float]) -> tuple[float, float, float]:
        return xy[0], xy[1], float(place.ground_height(xy)) if place is not None else 0.0

    return (
        tuple(TrueVictim(id=v.id, name=v.name, pose=v.pose.value, position=at(v.position)) for v in task.victims),
        tuple(
            TrueClue(id=c.id, kind=c.kind.value, description=c.description, position=at(c.position)) for c in task.clues
        ),
    )


@lru_cache(maxsize=1)
def _place(map_id: str) -> PlaceMap:
    return load_map(map_id)
