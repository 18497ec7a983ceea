"""One episode of a benchmark as a record: flown, or scored 0 with the reason why not."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from esar_ros.benchmark.runner.job import AGENT_ERROR, OK, Job
from esar_ros.benchmark.runner.records import Flown, Status
from esar_ros.benchmark.runner.worker import timing
from esar_ros.bridges.airsim.client import AirSimError
from esar_ros.mission.object_goal import StepPose
from esar_ros.planning.agent_call import AgentError, call_agent, make_agent, stack_trace
from esar_ros.sim.terrain.maps import load_map
from esar_ros.suites.uav_on.agents import create
from esar_ros.suites.uav_on.conditions import AIRSIM, conditions_of, with_files
from esar_ros.suites.uav_on.flight import FlownEpisode, FlownFrame, StepWorld, fly
from esar_ros.suites.uav_on.oracle import Insider
from esar_ros.suites.uav_on.result import make_goal_result, track_of
from esar_ros.suites.uav_on.scenes import FlownTask, Scene, find_task
from esar_ros.suites.uav_on.settings import SuiteSettings, load_suite_settings
from esar_ros.suites.uav_on.worlds.airsim import AirSimScenes
from esar_ros.suites.uav_on.worlds.embedded import EmbeddedWorld, OpenScene

FULL_STEP = 0.8  # of what a step covers in its time: what is told as the longest that arrives


class UavOnEpisode:
    """Flies in the embedded simulator, in this process, or in a server's scenes."""

    def __init__(self) -> None:
        self._opened: OpenScene | None = None  # kept: episodes of a scene follow each other
        self._scenes: AirSimScenes | None = None

    def prepare(self) -> None:
        """Checks that episodes can be flown on this machine. Raises UsageError."""
        from esar_ros.sim.render.graphics import headless_context

        headless_context().release()

    def run(self, job: Job, in_agent: Callable[[bool], None]) -> Flown:
        """Flys an episode; returns the part of its record that depends on the flight."""
        began, cpu = time.monotonic(), time.process_time()
        conditions, settings = conditions_of(job), load_suite_settings()
        task = find_task(job.task, conditions.world == AIRSIM)
        try:
            agent = make_agent(lambda: create(job.planner, settings), in_agent)
            eligible = call_agent(lambda: bool(agent.eligible), in_agent)
        except AgentError as error:  # before there was anything to fly
            return replace(failed(job, AGENT_ERROR, str(error), time.monotonic() - began), trace=stack_trace(error))
        world: StepWorld
        map_digest = ""
        if conditions.world == AIRSIM:
            world = self._remote(conditions.server).open(task.scene.name, settings)
        else:
            opened = self._open(task.scene, settings)
            map_digest = opened.map_digest
            if isinstance(agent, Insider) and not eligible:
                longest = FULL_STEP * settings.vehicle.speed * conditions.step_time
                agent.show(opened.world, task.entry.episode, longest)
            world = EmbeddedWorld(opened)
        seed = zlib.crc32(f"{task.id}/{job.seed}".encode())
        try:
            flown = fly(world, task.entry.episode, task.id, agent, seed, conditions, settings, in_agent, not eligible)
        except AirSimError:
            self._remote(conditions.server).close()  # the next episode opens its scene anew
            raise
        result = make_goal_result(task, flown, conditions, eligible, map_digest)
        return Flown(
            OK if flown.error is None else AGENT_ERROR,
            flown.error,
            result,
            track_of(flown.frames),
            timing(time.monotonic() - began, time.process_time() - cpu, flown.seconds),
            with_files(conditions, job.planner),
            flown.trace,
            task.digest,
        )

    def _remote(self, server: str) -> AirSimScenes:
        if self._scenes is None:
            self._scenes = AirSimScenes(server)
        return self._scenes

    def _open(self, scene: Scene, settings: SuiteSettings) -> OpenScene:
        if self._opened is None or (self._opened.scene.digest, self._opened.settings) != (scene.digest, settings):
            if self._opened is not None:
                self._opened.close()
            self._opened = OpenScene(scene, settings)
        return self._opened


def failed(job: Job, status: Status, reason: str, wall: float) -> Flown:
    """Returns what is recorded of an episode that could not be flown: it ends where it starts and fails."""
    conditions = conditions_of(job)
    task = find_task(job.task, conditions.world == AIRSIM)
    eligible, map_digest = True, ""
    with suppress(Exception):  # an agent that cannot even be made is why we are here
        eligible = bool(create(job.planner, load_suite_settings()).eligible)
    with suppress(Exception):
        map_digest = load_map(task.scene.map).digest
    flown = _at_start(task, reason)
    result = make_goal_result(task, flown, conditions, eligible, map_digest)
    return Flown(status, reason, result, {}, timing(wall, 0.0, 0.0))


def _at_start(task: FlownTask, reason: str) -> FlownEpisode:
    pose = StepPose.of(task.entry.episode.start).pose
    return FlownEpisode([FlownFrame(None, 0.0, False, pose, pose)], error=reason)
