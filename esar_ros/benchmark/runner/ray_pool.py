"""Episodes on a Ray cluster (extra `ray`): the same jobs, the same records, on the cluster's machines.

Every machine needs the same esar_ros installed, with its maps. An episode runs in a Ray worker process of its own,
so graphics start fresh and a crash costs that episode alone.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from esar_ros.benchmark.runner.job import Job
from esar_ros.benchmark.runner.worker import Episode, Finished, fly_job, worker_environment
from esar_ros.benchmark.runner.worker_pool import BLAMED, LOOK, Outcome
from esar_ros.mission.errors import UsageError, install, one_line

NODE_PATIENCE = 60.0  # s for a machine to answer after one of its processes has died


@dataclass(frozen=True)
class Told:
    """State of an episode that flies."""

    wall: float = 0.0  # s since it began; 0 while it waits for a CPU
    inside: bool = False  # the method has the word
    node: str = ""  # Ray's id of its machine
    word: float = 0.0  # s since the method has it


class Watch:
    """An actor that keeps what episodes tell while they fly."""

    def __init__(self) -> None:
        self._began: dict[str, float] = {}
        self._told: dict[str, Told] = {}
        self._told_at: dict[str, float] = {}

    def tell(self, name: str, inside: bool, node: str) -> None:
        """Hears from an episode."""
        self._told_at[name] = time.monotonic()
        self._began.setdefault(name, self._told_at[name])
        self._told[name] = Told(0.0, inside, node)

    def known(self) -> dict[str, Told]:
        """Returns what is known of each."""
        now = time.monotonic()
        return {
            name: replace(told, wall=now - self._began[name], word=now - self._told_at[name] if told.inside else 0.0)
            for name, told in self._told.items()
        }

    def forget(self, name: str) -> None:
        """Lets go of an episode that has ended."""
        self._began.pop(name, None)
        self._told.pop(name, None)
        self._told_at.pop(name, None)


def fly_remotely(episode: Episode, job: Job, name: str, watch: Any) -> Finished:
    """Flies an episode on a Ray worker, as a local worker does. Raises UsageError when the machine cannot fly.

    name: of this attempt; watch: the handle of a Watch, which has heard before the method has the word.
    """
    ray = _import_ray()
    node = ray.get_runtime_context().get_node_id()

    def tell(inside: bool) -> None:
        ray.get(watch.tell.remote(name, inside, node))

    episode.prepare()
    tell(False)
    return fly_job(episode, job, tell)


class RayPool:
    """Gives episodes to a cluster. Raises UsageError when it cannot be reached."""

    def __init__(self, address: str, count: int, episode: Episode, limit: float) -> None:
        """address: as ray.init takes it, "local" for this machine; count: episodes at a time, 0: one a CPU.

        limit: s of wall time an episode may take once it runs.
        """
        self._ray = ray = _import_ray()
        try:
            ray.init(address=address, log_to_driver=False, configure_logging=False, include_dashboard=None)
        except Exception as error:  # Ray raises many kinds
            raise UsageError(f"no Ray cluster at '{address}': {_line(error)}", "start one, or check --ray") from None
        self._count = count or max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._limit, self._episode = limit, episode
        remote = ray.remote(num_cpus=1, max_retries=0, max_calls=1, runtime_env={"env_vars": worker_environment()})
        self._fly = remote(fly_remotely)
        self._watch = ray.remote(**_on(ray.get_runtime_context().get_node_id()))(Watch).remote()
        self._begun = 0
        self._running: dict[Any, tuple[Job, str]] = {}

    @property
    def room(self) -> int:
        """Number of jobs it can take on."""
        return self._count - len(self._running)

    def start(self, job: Job) -> None:
        """Begin an episode."""
        self._begun += 1
        name = f"{self._begun} {job.id}"
        self._running[self._fly.remote(self._episode, job, name, self._watch)] = job, name

    def finished(self) -> list[Outcome]:
        """Returns the jobs that have ended since the last call."""
        if not self._running:
            return []
        ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=LOOK)
        known: dict[str, Told] = self._ray.get(self._watch.known.remote())
        ended = []
        for reference, (job, name) in list(self._running.items()):
            told = known.get(name, Told())
            if reference in ready:
                outcome = self._outcome(reference, job, told)
            elif told.wall > self._limit:
                self._ray.cancel(reference, force=True)
                agent = told.inside and told.word >= BLAMED * self._limit
                where = " and was inside the planner" if agent else ""
                reason = f"the episode took more than {self._limit:g} s{where}"
                outcome = Outcome(job, None, reason, agent=agent, wall=told.wall)
            else:
                continue
            del self._running[reference]
            self._watch.forget.remote(name)
            ended.append(outcome)
        return ended

    def close(self) -> None:
        """Cancel what runs and leave the cluster."""
        for reference in self._running:
            self._ray.cancel(reference, force=True)
        self._ray.shutdown()

    def _outcome(self, reference: Any, job: Job, told: Told) -> Outcome:
        errors = self._ray.exceptions
        try:
            message: Finished = self._ray.get(reference)
        except errors.RayTaskError as error:
            if isinstance(error.cause, UsageError):
                raise UsageError(str(error.cause), "see ./esar doctor on that machine") from None
            return Outcome(job, None, _line(error), wall=told.wall)
        except errors.WorkerCrashedError as error:
            agent = told.inside and self._lives(told.node)
            where = " inside the planner" if agent else ""
            return Outcome(job, None, f"{_line(error)}{where}", agent=agent, wall=told.wall)
        except Exception as error:  # its machine is gone
            return Outcome(job, None, _line(error), wall=told.wall)
        return Outcome(job, message.flown, message.reason, message.trace, wall=told.wall, ends=message.ends)

    def _lives(self, node: str) -> bool:
        """Returns whether a machine still works: one that went takes its processes along, whatever they were at."""
        try:
            answer = self._ray.remote(max_retries=0, **_on(node))(_answer).remote()
            self._ray.get(answer, timeout=NODE_PATIENCE)
        except Exception:  # Ray raises many kinds
            return False
        return True


def _answer() -> None:
    """Is run on a machine to see that it works."""


def _on(node: str) -> dict[str, Any]:
    """Returns the options of what costs no CPU and runs on one machine."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return {"num_cpus": 0, "scheduling_strategy": NodeAffinitySchedulingStrategy(node, soft=False)}


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise UsageError("--ray needs the package ray", install("ray")) from None
    return ray


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {one_line(str(error))}"[:300]
