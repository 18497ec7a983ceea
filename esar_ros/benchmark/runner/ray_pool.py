"""Episodes on a Ray cluster (extra `ray`): the same jobs, the same records, on the cluster's machines.

Every machine needs the same esar_ros installed, with its maps. An episode runs in a Ray worker process of its own,
so graphics start fresh and a crash costs that episode alone.
"""

from __future__ import annotations

import time
from typing import Any

from esar_ros.benchmark.runner.job import Job
from esar_ros.benchmark.runner.worker import Episode, Finished, fly_job, worker_environment
from esar_ros.benchmark.runner.worker_pool import LOOK, Outcome
from esar_ros.mission.errors import UsageError, install


def fly_remotely(episode: Episode, job: Job) -> Finished:
    """Flies an episode on a Ray worker, as a local worker does. Raises UsageError when the machine cannot fly."""
    word = [False]

    def tell(inside: bool) -> None:
        word[0] = inside

    episode.prepare()
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
        self._running: dict[Any, tuple[Job, float]] = {}

    @property
    def room(self) -> int:
        """Number of jobs it can take on."""
        return self._count - len(self._running)

    def start(self, job: Job) -> None:
        """Begin an episode."""
        self._running[self._fly.remote(self._episode, job)] = (job, time.monotonic())

    def finished(self) -> list[Outcome]:
        """Returns the jobs that have ended since the last call."""
        ended = []
        if self._running:
            ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=LOOK)
            for reference in ready:
                job, since = self._running.pop(reference)
                ended.append(self._outcome(reference, job, time.monotonic() - since))
        now = time.monotonic()
        for reference, (job, since) in list(self._running.items()):
            if now - since > self._limit:
                del self._running[reference]
                self._ray.cancel(reference, force=True)
                reason = f"the episode took more than {self._limit:g} s"
                ended.append(Outcome(job, None, reason, wall=now - since))
        return ended

    def close(self) -> None:
        """Cancel what runs and leave the cluster."""
        for reference in self._running:
            self._ray.cancel(reference, force=True)
        self._ray.shutdown()

    def _outcome(self, reference: Any, job: Job, wall: float) -> Outcome:
        try:
            message: Finished = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, UsageError):
                raise UsageError(str(error.cause), "see ./esar doctor on that machine") from None
            return Outcome(job, None, _line(error), wall=wall)
        except Exception as error:  # the worker or its machine is gone
            return Outcome(job, None, _line(error), wall=wall)
        return Outcome(job, message.flown, message.reason, message.trace, wall=wall)


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise UsageError("--ray needs the package ray", install("ray")) from None
    return ray


def _line(error: BaseException) -> str:
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}"[:300]
