"""One episode of a benchmark as a record: flown, or scored 0 with the reason why not."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from esar_ros.benchmark.engine.agent import AgentError, call_agent, stack_trace
from esar_ros.benchmark.runner.job import AGENT_ERROR, OK, Job
from esar_ros.benchmark.runner.worker import timing
from esar_ros.mission.object_goal import StepPose
from esar_ros.sim.terrain.maps import load_map
from esar_ros.suites.uav_on.agents import create
from esar_ros.suites.uav_on.conditions import UavOnConditions, with_files
from esar_ros.suites.uav_on.embedded import EmbeddedWorld, OpenScene
from esar_ros.suites.uav_on.flight import FlownEpisode, FlownFrame, fly
from esar_ros.suites.uav_on.oracle import Insider
from esar_ros.suites.uav_on.result import make_goal_result, track_of
from esar_ros.suites.uav_on.scenes import FlownTask, Scene, find_task
from esar_ros.suites.uav_on.settings import SuiteSettings, load_suite_settings

FULL_STEP = 0.8  # of what a step covers in its time: what is told as the longest that arrives


class UavOnEpisode:
    """Flies in the embedded simulator, in this process."""

    def __init__(self) -> None:
        self._opened: OpenScene | None = None  # kept: episodes of a scene follow each other

    def prepare(self) -> None:
        """Checks that episodes can be flown on this machine. Raises UsageError."""
        from esar_ros.sim.render.graphics import headless_context

        headless_context().release()

    def run(self, job: Job, in_agent: Callable[[bool], None]) -> dict[str, Any]:
        """Fly an episode; the part of its record that depends on the flight, and the trace of an agent that failed."""
        began, cpu = time.monotonic(), time.process_time()
        task, settings, conditions = find_task(job.task), load_suite_settings(), conditions_of(job)
        try:
            agent = call_agent(lambda: create(job.planner, settings), in_agent)
            eligible = call_agent(lambda: bool(agent.eligible), in_agent)
        except AgentError as error:  # before there was anything to fly
            return failed(job, AGENT_ERROR, str(error), time.monotonic() - began) | {"trace": stack_trace(error)}
        opened = self._open(task.scene, settings)
        if isinstance(agent, Insider) and not eligible:
            longest = FULL_STEP * settings.vehicle.speed * conditions.step_time
            agent.show(opened.world, task.entry.episode, longest)
        world = EmbeddedWorld(opened)
        seed = zlib.crc32(f"{task.id}/{job.seed}".encode())
        flown = fly(world, task.entry.episode, task.id, agent, seed, conditions, settings, in_agent, not eligible)
        result = make_goal_result(task, flown, conditions.poses, eligible, opened.map_digest)
        return {
            "status": OK if flown.error is None else AGENT_ERROR,
            "reason": flown.error,
            "result": result.model_dump(mode="json", by_alias=True),
            "track": track_of(flown.frames),
            "timing": timing(time.monotonic() - began, time.process_time() - cpu, flown.seconds),
            "trace": flown.trace,
            "conditions": asdict(with_files(conditions, job.planner)),
        }

    def _open(self, scene: Scene, settings: SuiteSettings) -> OpenScene:
        if self._opened is None or (self._opened.scene.digest, self._opened.settings) != (scene.digest, settings):
            if self._opened is not None:
                self._opened.close()
            self._opened = OpenScene(scene, settings)
        return self._opened


def failed(job: Job, status: str, reason: str, wall: float) -> dict[str, Any]:
    """Record of an episode that could not be flown: it ends where it starts and fails."""
    task, conditions = find_task(job.task), conditions_of(job)
    eligible, map_digest = True, ""
    with suppress(Exception):  # an agent that cannot even be made is why we are here
        eligible = bool(create(job.planner, load_suite_settings()).eligible)
    with suppress(Exception):
        map_digest = load_map(task.scene.map).digest
    flown = _at_start(task, reason)
    result = make_goal_result(task, flown, conditions.poses, eligible, map_digest)
    return {
        "status": status,
        "reason": reason,
        "result": result.model_dump(mode="json", by_alias=True),
        "track": {},
        "timing": timing(wall, 0.0, 0.0),
    }


def conditions_of(job: Job) -> UavOnConditions:
    """A job's conditions."""
    assert isinstance(job.conditions, UavOnConditions)
    return job.conditions


def _at_start(task: FlownTask, reason: str) -> FlownEpisode:
    pose = StepPose.of(task.entry.episode.start).pose
    return FlownEpisode([FlownFrame(None, 0.0, False, pose, pose)], error=reason)
