"""One episode of a benchmark as a record: walked, or scored 0 with the reason why not."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from esar_ros.benchmark.runner.job import AGENT_ERROR, OK, Job
from esar_ros.benchmark.runner.records import Flown, Status, Tracks
from esar_ros.benchmark.runner.worker import timing
from esar_ros.geometry.frames import Vector
from esar_ros.mission.rescue import FASTEST, RescuePoint
from esar_ros.planning.agent_call import AgentError, call_agent, make_agent, stack_trace
from esar_ros.sim.terrain.rescue_places.site import RescueSite
from esar_ros.suites.rescuebench.agents import create
from esar_ros.suites.rescuebench.conditions import RescueConditions, with_files
from esar_ros.suites.rescuebench.embedded import EmbeddedWorld, insight
from esar_ros.suites.rescuebench.machine import TaskMachine, WalkerState
from esar_ros.suites.rescuebench.oracle import Insider
from esar_ros.suites.rescuebench.own_points import shortest_track
from esar_ros.suites.rescuebench.result import make_rescue_result
from esar_ros.suites.rescuebench.sets import find_task
from esar_ros.suites.rescuebench.settings import load_suite_settings
from esar_ros.suites.rescuebench.sites import find_site
from esar_ros.suites.rescuebench.walk import WalkedEpisode, WalkedFrame, walk


class RescueEpisode:
    """Walks in the embedded simulator, in this process."""

    def __init__(self) -> None:
        self._world: EmbeddedWorld | None = None  # kept: episodes in a place follow each other

    def prepare(self) -> None:
        """Checks that episodes can be walked on this machine. Raises UsageError."""
        from esar_ros.sim.render.graphics import headless_context

        headless_context().release()

    def run(self, job: Job, in_agent: Callable[[bool], None]) -> Flown:
        """Walks an episode; returns the part of its record that depends on the walk."""
        began, cpu = time.monotonic(), time.process_time()
        task, conditions = find_task(job.task), _conditions(job)
        site = find_site(task.point.place, task.checkout)
        try:
            agent = make_agent(lambda: create(job.planner), in_agent)
            eligible = call_agent(lambda: bool(agent.eligible), in_agent)
        except AgentError as error:  # before there was anything to walk
            return replace(failed(job, AGENT_ERROR, str(error), time.monotonic() - began), trace=stack_trace(error))
        if isinstance(agent, Insider) and not eligible:
            agent.show(*insight(task.point, site))
        world = self._open(task.point.place, site, conditions.population == "busy")
        seed = zlib.crc32(f"{task.id}/{job.seed}".encode())
        walked = walk(world, task.point, task.id, agent, seed, conditions, in_agent)
        eligible = eligible and conditions.truth == "none"
        reference = _reference(task.point, site, conditions)
        result = make_rescue_result(task, walked, job.seed, eligible, world.stage.site.place.digest, reference)
        return Flown(
            OK if walked.error is None else AGENT_ERROR,
            walked.error,
            result,
            _track(walked),
            timing(time.monotonic() - began, time.process_time() - cpu, walked.seconds),
            with_files(conditions),
            walked.trace,
            task.digest,
        )

    def _open(self, place: str, site: RescueSite, busy: bool) -> EmbeddedWorld:
        if self._world is None or self._world.stage.site is not site or self._world.busy != busy:
            if self._world is not None:
                self._world.close()
            self._world = EmbeddedWorld(place, load_suite_settings(), site, busy=busy)
        return self._world


def failed(job: Job, status: Status, reason: str, wall: float) -> Flown:
    """Returns what is recorded of an episode that could not be walked: it ends where it starts and fails."""
    task, conditions = find_task(job.task), _conditions(job)
    eligible, digest = True, ""
    with suppress(Exception):  # an agent that cannot even be made is why we are here
        eligible = bool(create(job.planner).eligible)
    eligible = eligible and conditions.truth == "none"
    reference = None
    with suppress(Exception):
        site = find_site(task.point.place, task.checkout)
        digest, reference = site.place.digest, _reference(task.point, site, conditions)
    result = make_rescue_result(task, _at_start(task.point, reason), job.seed, eligible, digest, reference)
    return Flown(status, reason, result, {}, timing(wall, 0.0, 0.0))


def _conditions(job: Job) -> RescueConditions:
    assert isinstance(job.conditions, RescueConditions)
    return job.conditions


def _reference(point: RescuePoint, site: RescueSite, conditions: RescueConditions) -> Vector | None:
    """The shortest walk of a task, a place for every step at full speed; None where a stand-in shows no way."""
    try:
        return shortest_track(point, site, FASTEST * conditions.step)
    except ValueError:
        return None


def _at_start(point: RescuePoint, reason: str) -> WalkedEpisode:
    start = WalkerState(point.start.position, point.start.yaw, False)
    machine = TaskMachine(point.victim.position, point.stretcher.position, start, point.time_limit)
    return WalkedEpisode(machine, [WalkedFrame(None, point.start)], error=reason)


def _track(walked: WalkedEpisode) -> Tracks:
    """Returns the walker's places after each step, for drawing: x, y, z (m, map)."""
    places = np.array([frame.body.position for frame in walked.frames]).round(3)
    return {"walker": {axis: column.tolist() for axis, column in zip("xyz", places.T, strict=True)}}
