"""An episode that takes milliseconds, for tests of the runner; what it does is told by the planner's name."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from esar_ros.benchmark.runner.job import AGENT_ERROR, OK, Job, Plan, Settings
from esar_ros.benchmark.runner.records import Flown, Status
from esar_ros.benchmark.runner.run import Progress, run
from esar_ros.benchmark.runner.store import Store
from esar_ros.benchmark.runner.worker import timing
from esar_ros.benchmark.runner.worker_pool import LocalPool
from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.planning.agent_call import make_agent


class LightEpisode:
    """Sleeps, then answers a number that depends on the job alone."""

    def __init__(self, folder: Path, seconds: float = 0.0, unfit: bool = False) -> None:
        self.folder, self.seconds, self.unfit = folder, seconds, unfit

    def prepare(self) -> None:
        if self.unfit:
            raise UsageError("this machine cannot draw", "mend it")

    def run(self, job: Job, in_agent: Callable[[bool], None]) -> Flown:
        with (self.folder / "begun.txt").open("a") as file:
            file.write(job.id + "\n")
        time.sleep(self.seconds)
        first = not (self.folder / f"{job.index}.seen").exists()
        (self.folder / f"{job.index}.seen").touch()
        if job.planner == "agent-hang":
            in_agent(True)
        if job.planner in ("hang", "agent-hang"):
            time.sleep(600.0)
        if job.planner == "agent-crash":
            in_agent(True)
        if job.planner in ("crash", "agent-crash") or (job.planner == "flaky" and first):
            os.kill(os.getpid(), signal.SIGSEGV)
        if job.planner == "agent-raise":
            return replace(record(AGENT_ERROR, "KeyError: 'x'", 0), trace="line 7 of the method")
        if job.planner == "half-emoji":
            return replace(record(AGENT_ERROR, "ValueError: fly \ud83d", 0), trace="ValueError: fly \ud83d")
        if job.planner == "raise":
            raise ValueError("the renderer\nsays no")
        digest = hashlib.sha256(job.id.encode()).hexdigest()
        flown = record(OK, None, int(digest[:6], 16))
        if job.planner == "edited":  # somebody has changed a file meanwhile
            assert isinstance(job.conditions, RunConditions)
            return replace(flown, conditions=replace(job.conditions, thresholds="t2"))
        if job.planner == "broken-file":
            make_agent(lambda: fail(UsageError("cannot read planners.yaml, not YAML", "mend the file")), in_agent)
        if job.planner == "slow":  # a call of the method, a step of the world, and so on: neither hangs
            while True:
                for inside in (True, False):
                    in_agent(inside)
                    time.sleep(0.2)
        if job.planner == "moved":
            return replace(flown, conditions=job.conditions, task_digest="another")
        return flown


def fail(error: Exception) -> None:
    raise error


def record(status: Status, reason: str | None, score: int) -> Flown:
    return Flown(status, reason, {"score": score}, {}, timing(time.time(), 0.0, 0.0))


def failure(job: Job, status: Status, reason: str, wall: float) -> Flown:
    return record(status, reason, 0)


def light_plan(count: int = 6, planners: tuple[str, ...] = ("ok",), version: str = "1") -> Plan:
    tasks = tuple(f"task{n}" for n in range(count))
    conditions = RunConditions("fast", version=version, thresholds="t1")
    settings = Settings("esarbench", tasks, tasks, planners, 1, (conditions,) * len(planners))
    names = [(task, planner) for task in tasks for planner in planners]
    jobs = tuple(Job(n, task, task, task, planner, 7, conditions) for n, (task, planner) in enumerate(names))
    return Plan(settings, jobs, 0, {job.task: 10.0 for job in jobs})


def light_run(plan: Plan, folder: Path, seconds: float = 0.0, workers: int = 2, limit: float = 30.0) -> Progress:
    store = Store(folder / "out", plan.settings)
    try:
        pool = LocalPool(workers, LightEpisode(folder, seconds), limit)
        return run(plan, store, pool, lambda progress: None, failure)
    finally:
        store.close()


if __name__ == "__main__":
    light_run(light_plan(int(sys.argv[2])), Path(sys.argv[1]), float(sys.argv[3]))
