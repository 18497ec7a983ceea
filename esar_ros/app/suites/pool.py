"""A pool of processes that ends with the command: by Ctrl-C, by SIGTERM, and when the command is killed."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

from esar_ros.mission.system.processes import die_with_parent


@contextmanager
def interruptible_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Gives a pool whose waiting jobs are dropped where the command ends early; SIGTERM counts as Ctrl-C meanwhile.

    Ctrl-C ends the jobs that run, too, wherever they are; after an error they come to their end.
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, initializer=_begin)
    try:
        yield pool
    except (KeyboardInterrupt, GeneratorExit):  # the latter: a generator that holds it is not read to its end
        for process in set(multiprocessing.active_children()) - others:
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        signal.signal(signal.SIGTERM, before)


def _begin() -> None:
    """Leaves Ctrl-C to the command, and makes SIGTERM and the command's end this process's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent()
