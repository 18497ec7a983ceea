"""`esar bench`: many tasks by many methods, several at a time; goes on where it was ended."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from esar_ros.app import prepare
from esar_ros.app.arguments import Parser
from esar_ros.mission import defaults
from esar_ros.mission.errors import UsageError

if TYPE_CHECKING:
    from esar_ros.benchmark.runner.run import Progress

INTERRUPTED = 130
QUIET_PERIOD = 10.0  # s between lines where the output is no terminal
MIN_LIMIT = 600.0  # s of wall time any episode may take
SLOWEST = 4.0  # s of wall time a second of the mission may take, beyond that


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of `esar bench`."""
    add = parser.add_argument
    add("--tasks", default="mini", metavar="SET|FILE|ID,ID", help="set of tasks, file of ids, or ids (default mini)")
    add("--planners", default=defaults.PLANNER, metavar="A,B", help="methods, by commas (default %(default)s)")
    add("--seeds", type=int, default=1, metavar="N", help="repetitions; each flies the task's seed + 0, 1, ...")
    add("--workers", type=int, default=0, metavar="K", help="episodes at a time (default: one a CPU)")
    add("--out", default="bench", metavar="DIR", help="folder of the results; the same one goes on (default bench)")
    add("--preset", default="paper", choices=("paper", "fast"), help="pictures: paper 640x480, fast 320x240")
    add("--limit", type=int, default=None, metavar="N", help="only the first N tasks; any such part is balanced")
    add("--governor", default="on", choices=("on", "off"), help="safety governor (default on)")
    add("--odometry", default="noisy", choices=("noisy", "true"), help="off as an estimator's (default), or true")
    add("--detector", default=defaults.DETECTOR, metavar="NAME[:FILE]", help="clue detector (default %(default)s)")
    add("--timeout", type=float, default=0.0, metavar="S", help="wall time an episode may take (default: by t_max)")
    add("--ray", default="", metavar="ADDRESS", help='fly on a Ray cluster; "local" starts one here (extra ray)')
    add("--list-planners", action="store_true", help="name every method, one a line, and end")


class BenchLine:
    """Progress: rewritten in place on a terminal, a line now and then elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._live = self._stream.isatty()
        self._printed = -QUIET_PERIOD
        self._last = ""

    def show(self, progress: Progress) -> None:
        """Show where it stands."""
        text = words(progress)
        now = time.monotonic()
        if self._live:
            self._stream.write("\r\x1b[2K" + text)
        elif text != self._last and (now - self._printed >= QUIET_PERIOD or progress.done == progress.total):
            self._printed, self._last = now, text
            self._stream.write(text + "\n")
        self._stream.flush()

    def close(self) -> None:
        """End the line."""
        if self._live:
            self._stream.write("\n")
            self._stream.flush()


def words(progress: Progress) -> str:
    """One line: how many of how many, rate, time left, errors."""
    parts = [f"  {progress.done} of {progress.total} episodes"]
    if progress.left is not None:
        parts += [f"{progress.rate:.1f} an hour", f"{span(progress.left)} left"]
    if progress.errors:
        parts.append(f"{progress.errors} with errors")
    if progress.note:
        parts.append(progress.note)
    return ", ".join(parts)


def span(seconds: float) -> str:
    """A time in words of one or two units."""
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def main(argv: list[str]) -> int:
    """Run the command."""
    parser = Parser(prog="esar bench", description="Fly many tasks by many methods; the same command goes on.")
    add_arguments(parser)
    arguments = parser.parse_args(argv)
    if arguments.list_planners:
        from esar_ros.planning.registry import names

        print("\n".join(names()))
        return 0
    return bench(arguments)


def bench(arguments: argparse.Namespace) -> int:
    """Fly what is not done yet. 0 all done, 130 interrupted. Raises UsageError."""
    from esar_ros.benchmark.runner.episode import EmbeddedEpisode, failed
    from esar_ros.benchmark.runner.log import log_test_run
    from esar_ros.benchmark.runner.plan import choose_tasks, make_plan
    from esar_ros.benchmark.runner.run import run
    from esar_ros.benchmark.runner.store import Store
    from esar_ros.benchmark.runner.worker_pool import LocalPool, Pool
    from esar_ros.mission.task import load_task
    from esar_ros.perception.detectors.chosen import absolute
    from esar_ros.suites.esarbench.suite import ESARBENCH

    if not 0 <= arguments.workers <= 1024:
        raise UsageError(f"--workers {arguments.workers}", "between 1 and 1024, or 0 for one a CPU")
    if not arguments.timeout >= 0.0:  # also where it is no number
        raise UsageError(f"--timeout {arguments.timeout:g}", "seconds of wall time, or 0 for the default")
    plan = make_plan(
        choose_tasks(ESARBENCH, arguments.tasks, arguments.limit),
        tuple(part.strip() for part in arguments.planners.split(",") if part.strip()),
        arguments.seeds,
        preset=arguments.preset,
        governor=arguments.governor == "on",
        odometry=arguments.odometry,
        detector=absolute(arguments.detector),
    )
    limit = arguments.timeout if arguments.timeout > 0.0 else MIN_LIMIT + SLOWEST * plan.longest
    folder = Path(arguments.out)
    store = Store(folder, plan.settings)
    line = BenchLine()
    pool: Pool
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        count = log_test_run(plan, folder)
        what = "Going on with" if store.resumed else "Flying"
        print(f"{what} {len(plan.jobs)} episodes into {os.path.relpath(folder)}", flush=True)
        if count is not None:
            print(f"  {plan.test_tasks} tasks of the test split: test run {count} of this user, logged", flush=True)
        if all(job.id in store.done for job in plan.jobs):
            print("  all done already")
            return 0
        for map_id in sorted({load_task(job.task).map for job in plan.jobs if job.id not in store.done}):
            prepare.ensure(map_id, lambda text: print(f"  {text}", flush=True))
        if arguments.ray:
            from esar_ros.benchmark.runner.ray_pool import RayPool

            pool = RayPool(arguments.ray, arguments.workers, EmbeddedEpisode(ESARBENCH), limit)
        else:
            pool = LocalPool(arguments.workers or len(os.sched_getaffinity(0)), EmbeddedEpisode(ESARBENCH), limit)
        progress = run(plan, store, pool, line.show, failed)
        line.close()
        print(
            f"Done: {progress.total} episodes, {progress.errors} with errors in this run; see {folder}/episodes.jsonl"
        )
        return 0
    except KeyboardInterrupt:
        line.close()
        done = sum(job.id in store.done for job in plan.jobs)
        print(f"Interrupted with {done} of {len(plan.jobs)} done; the same command goes on", file=sys.stderr)
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)
        store.close()


def _interrupt(signum: int, frame: object) -> None:
    raise KeyboardInterrupt
