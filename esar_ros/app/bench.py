"""`esar bench`: many tasks by many methods, several at a time; goes on where it was ended."""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from esar_ros import suites
from esar_ros.app import prepare
from esar_ros.app.arguments import ON_OFF, Parser, on_off, shown
from esar_ros.benchmark.report.junit import Case, exit_code, write_junit
from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import DEFAULT_QUALITY
from esar_ros.suites import find_suite, suite_names

if TYPE_CHECKING:
    from esar_ros.benchmark.runner.run import Progress
    from esar_ros.benchmark.suite import Suite

INTERRUPTED = 130
QUIET_PERIOD = 10.0  # s between lines where the output is no terminal
MIN_LIMIT = 600.0  # s of wall time any episode may take
NEAR = 1.3  # times: ends of a time range that count as one time
SLOWEST = 4.0  # s of wall time a second of the mission may take, beyond that


def add_arguments(parser: argparse.ArgumentParser, suite: Suite) -> None:
    """Flags of `esar bench` for a suite."""
    add = parser.add_argument
    names = ", ".join(suite_names())
    add("--suite", default=suites.DEFAULT, metavar="NAME", help=f"benchmark: {names} (default %(default)s)")
    add("--tasks", default="mini", metavar="SET|FILE|ID,ID", help="set of tasks, file of ids, or ids (default mini)")
    add("--planners", default=suite.default_planner, metavar="A,B", help="methods, by commas (default %(default)s)")
    add("--seeds", type=int, default=1, metavar="N", help="repetitions; each flies the task's seed + 0, 1, ...")
    add("--workers", type=int, default=0, metavar="K", help="episodes at a time (default: one a CPU)")
    add("--out", default="bench", metavar="DIR", help="folder of the results; the same one goes on (default bench)")
    add("--limit", type=int, default=None, metavar="N", help="only the first N tasks; any such part is balanced")
    for option in suite.options:
        choices, kind = option.choices or None, on_off if option.choices == ON_OFF else str
        flag = f"--{option.name}"
        add(flag, type=kind, default=option.default, choices=choices, metavar=option.metavar, help=option.about)
    add("--timeout", type=float, default=0.0, metavar="S", help="wall time an episode may take (default: by t_max)")
    add("--ray", default="", metavar="ADDRESS", help='fly on a Ray cluster; "local" starts one here (extra ray)')
    add("--junit", default="", metavar="FILE", help="JUnit report for CI, each episode a test case")
    add("--list-planners", action="store_true", help="name every method, with what one lacks here, and end")


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
        parts += [f"{progress.rate:.1f} an hour", f"{time_range(*progress.left)} left"]
    if progress.errors:
        parts.append(f"{progress.errors} with errors")
    if progress.note:
        parts.append(progress.note)
    return ", ".join(parts)


def time_range(low: float, high: float) -> str:
    """A time from low to high seconds in words; the middle alone where they are near each other."""
    if high <= NEAR * low or high < 60.0:
        return span((low + high) / 2.0)
    if high < 3600.0:
        return f"{int(low // 60.0)} to {math.ceil(high / 60.0)} min"
    return f"{low / 3600.0:.1f} to {high / 3600.0:.1f} h"


def span(seconds: float) -> str:
    """A time in words of one or two units."""
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def main(argv: list[str]) -> int:
    """Run the command."""
    first = Parser(prog="esar bench", add_help=False)
    first.add_argument("--suite", default=suites.DEFAULT)
    suite = find_suite(first.parse_known_args(argv)[0].suite)
    about = "Fly many tasks by many methods; the same command goes on. Exit code 1 if an episode ended with an error."
    parser = Parser(prog="esar bench", description=about)
    add_arguments(parser, suite)
    arguments = parser.parse_args(argv)
    if arguments.list_planners:
        for planner in suite.planners:
            print(_listed(suite, planner), flush=True)
        return 0
    return bench(suite, arguments)


def _listed(suite: Suite, planner: str) -> str:
    """Returns a method's name, and beside it what it needs that is not here."""
    try:
        suite.plan((), (planner,), 1, {})
    except UsageError as lack:
        return f"{planner:<20} not here: {lack}"
    return planner


def bench(suite: Suite, arguments: argparse.Namespace) -> int:
    """Fly what is not done yet. 0 all done, 1 if an episode has an error, 130 interrupted. Raises UsageError."""
    from esar_ros.benchmark.runner.log import log_test_run
    from esar_ros.benchmark.runner.plan import choose_tasks
    from esar_ros.benchmark.runner.run import run
    from esar_ros.benchmark.runner.store import EPISODES, Store
    from esar_ros.benchmark.runner.worker_pool import LocalPool, Pool

    if not 0 <= arguments.workers <= 1024:
        raise UsageError(f"--workers {arguments.workers}", "between 1 and 1024, or 0 for one a CPU")
    if not arguments.timeout >= 0.0:  # also where it is no number
        raise UsageError(f"--timeout {arguments.timeout:g}", "seconds of wall time, or 0 for the default")
    plan = suite.plan(
        choose_tasks(suite, arguments.tasks, arguments.limit),
        tuple(part.strip() for part in arguments.planners.split(",") if part.strip()),
        arguments.seeds,
        {option.name: getattr(arguments, option.name.replace("-", "_")) for option in suite.options},
    )
    workers = arguments.workers or len(os.sched_getaffinity(0))
    if plan.at_once is not None:
        workers = min(workers, plan.at_once)
    limit = arguments.timeout if arguments.timeout > 0.0 else MIN_LIMIT + SLOWEST * plan.max_time_limit
    folder = Path(arguments.out)
    store = Store(folder, plan.settings)
    line = BenchLine()
    pool: Pool
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        count = log_test_run(plan, folder, store.settings_hash)
        what = "Going on with" if store.resumed else "Flying"
        print(f"{what} {len(plan.jobs)} episodes into {shown(folder, arguments.out)}", flush=True)
        if count is not None:
            print(f"  {plan.test_tasks} tasks of the test split: test run {count} of this user, logged", flush=True)
        if all(job.id in store.done for job in plan.jobs):
            print("  all done already")
            return report(folder, arguments.suite, arguments.junit)
        for map_id in suite.maps([job for job in plan.jobs if job.id not in store.done]):
            quality = getattr(arguments, "quality", DEFAULT_QUALITY)
            prepare.ensure(map_id, lambda text: print(f"  {text}", flush=True), quality=quality)
        if arguments.ray:
            from esar_ros.benchmark.runner.ray_pool import RayPool

            pool = RayPool(arguments.ray, plan.at_once or arguments.workers, suite.episode(), limit)
        else:
            pool = LocalPool(workers, suite.episode(), limit)
        progress = run(plan, store, pool, line.show, suite.failed)
        line.close()
        print(f"Done: {progress.total} episodes; see {folder}/{EPISODES}")
        return report(folder, arguments.suite, arguments.junit)
    except KeyboardInterrupt:
        line.close()
        done = sum(job.id in store.done for job in plan.jobs)
        print(f"Interrupted with {done} of {len(plan.jobs)} done; the same command goes on", file=sys.stderr)
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)
        store.close()


def report(folder: Path, suite: str, junit: str) -> int:
    """Returns a benchmark's exit code: 1 where an episode of the folder, whichever run flew it, ended with an error.

    One line says how many did. junit: file of the JUnit report; empty: none. Raises UsageError.
    """
    from esar_ros.benchmark.runner.job import OK
    from esar_ros.benchmark.runner.records import read_episodes
    from esar_ros.benchmark.runner.store import EPISODES

    cases = [
        Case(
            record.planner,
            record.id,
            "" if record.status == OK else f"{record.status}: {record.reason}",
            record.timing.wall,
        )
        for record in read_episodes(folder, dict)
    ]
    if junit:
        write_junit(Path(junit), suite, cases)
    failed = Counter(f"{case.group} {case.fault.partition(':')[0].replace('_', ' ')}" for case in cases if case.fault)
    if failed:
        counts = ", ".join(f"{count} {what}" for what, count in failed.items())
        words = f"{failed.total()} of {len(cases)} episodes ended with an error and score 0 ({counts})"
        print(f"esar: {words}: their reasons are in {folder}/{EPISODES}", file=sys.stderr)
    return exit_code(cases)


def _interrupt(signum: int, frame: object) -> None:
    raise KeyboardInterrupt
