"""The outcome of a mission on a machine that is cold, busy or told to stop.

`cold` flies missions of a minute with nothing compiled or drawn, beside busy loops at normal priority, and counts those
that end with a score. `signals` sends SIGINT and SIGTERM at random moments between the start of the mission's clock and
the command's end, and counts those that leave a bag which `esar score` reads and a result that says `aborted`.

    ./esar exec python benchmarks/first_mission.py cold --missions 10 --busy 2
    ./esar exec python benchmarks/first_mission.py signals --moments 20
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from page import Table, add_page, write_page

from esar_ros.mission.task import load_task

TASK = "aotai-first"
SECONDS = 60.0
CLOCK_RUNS = "Arming"  # the first line of a mission whose clock runs
SCORED = ("exit 0, stop", "exit 0, timeout")  # ended by the planner, which has found everybody, or by the clock
CLI = (sys.executable, "-m", "esar_ros.app.cli")


class Mission:
    """One `esar mission` of a minute, as a process with its output in a file."""

    def __init__(self, folder: Path, arguments: list[str], environment: dict[str, str]) -> None:
        task = json.loads(load_task(TASK).model_dump_json(by_alias=True, exclude_none=True))
        (folder / "task.json").write_text(json.dumps(task | {"t_max": SECONDS}), encoding="utf-8")
        self.out, self._said = folder / "out", folder / "said"
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                [*CLI, "mission", "--task", str(folder / "task.json"), "--out", str(self.out), *arguments],
                stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, env={**os.environ, **environment},
                start_new_session=True,
            )  # fmt: skip
        self.began = time.monotonic()

    def wait_for_clock(self) -> float:
        """Returns how long (s) it took until the mission's clock ran."""
        while CLOCK_RUNS not in self.said() and self.process.poll() is None:
            time.sleep(0.05)
        return time.monotonic() - self.began

    def said(self) -> str:
        """Returns everything it has printed."""
        return self._said.read_text(encoding="utf-8", errors="replace")

    def end(self) -> str:
        """Returns how the mission ended, by its result and by its bag scored again; what is wrong, else."""
        code = self.process.wait()
        try:
            result = json.loads((self.out / "result.json").read_text(encoding="utf-8"))
        except OSError:
            return f"exit {code}, no result: {self.said().splitlines()[-1]}"
        again = self.out / "again.json"
        scored = subprocess.run(
            [*CLI, "score", str(self.out / "bag"), "--json", str(again)], capture_output=True, text=True, check=False
        )
        if scored.returncode:
            return f"exit {code}, {result['end']}, but its bag: {scored.stderr.strip()}"
        same = json.loads(again.read_text(encoding="utf-8"))["metrics"] == result["metrics"]
        return f"exit {code}, {result['end']}" + ("" if same else ", but its bag scores otherwise")


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Runs endless loops beside what is measured."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def cold(arguments: argparse.Namespace) -> int:
    """Prints a line a mission, and returns 1 when one of them has no score."""
    scored, rows = 0, []
    for number in range(arguments.missions):
        with tempfile.TemporaryDirectory() as name, busy(arguments.busy):
            cache = {"ESAR_CACHE": f"{name}/cache", "NUMBA_CACHE_DIR": f"{name}/cache/numba"}
            mission = Mission(Path(name), arguments.rest, cache)
            clock = mission.wait_for_clock()
            how = mission.end()
            scored += how in SCORED
            took = time.monotonic() - mission.began
            rows.append((number + 1, how, clock, took))
            print(f"{number + 1:3}: {how}; clock after {clock:.0f} s, end after {took:.0f} s", flush=True)
    print(f"{scored} of {arguments.missions} cold missions beside {arguments.busy} busy loops ended with a score")
    if arguments.page:
        about = (
            f"Missions of {SECONDS:.0f} s with nothing compiled or drawn, beside busy loops at normal priority: "
            f"**{scored} of {arguments.missions} ended with a score.**"
        )
        conditions = {"task": TASK, "busy loops": arguments.busy, "flags of the mission": " ".join(arguments.rest)}
        table = Table(("mission", "ended", "clock runs after, s", "ended after, s"), rows)
        write_page(__file__, "Cold missions on a busy machine", about, conditions, [table], "cold")
    return int(scored < arguments.missions)


def signals(arguments: argparse.Namespace) -> int:
    """Prints a line a signal, and returns 1 when one of them cost the score."""
    chosen = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        whole = Mission(Path(name), arguments.rest, {})
        whole.wait_for_clock()
        clock = time.monotonic()
        how = whole.end()
        print(f"uninterrupted: {how}", flush=True)
        if not how.startswith("exit 0"):
            return 1
        longest = time.monotonic() - clock
    kept, rows = 0, []
    waiting = [number for number in (signal.SIGINT, signal.SIGTERM) for _ in range(arguments.moments)]
    total = len(waiting)
    while waiting:
        with tempfile.TemporaryDirectory() as name:
            mission = Mission(Path(name), arguments.rest, {})
            mission.wait_for_clock()
            moment = chosen.uniform(0.0, longest)
            clock = time.monotonic()
            while mission.process.poll() is None and time.monotonic() - clock < moment:
                time.sleep(0.01)
            if mission.process.poll() is not None:
                how = mission.end()
                print(f"ended by itself before {moment:5.1f} s: {how}", flush=True)
                if how not in SCORED:
                    return 1
                longest = 0.95 * longest  # this flight was quicker than the one measured
                continue
            number = waiting.pop()
            mission.process.send_signal(number)
            sent = time.monotonic()
            mission.process.wait()
            took = time.monotonic() - sent
            how = mission.end()
            # One that comes after the mission's end finds it scored.
            kept += how in (*SCORED, "exit 130, aborted", "exit 130, stop", "exit 130, timeout")
            rows.append((number.name, moment, how, took))
            print(f"{number.name} after {moment:5.1f} s: {how}; ended {took:.1f} s later", flush=True)
    print(f"{kept} of {total} left a bag that scores as the result does")
    if arguments.page:
        about = (
            f"Missions of {SECONDS:.0f} s that are sent a signal at a random moment after their clock began to run: "
            f"**{kept} of {total} left a bag that scores as the result does.**"
        )
        conditions = {"task": TASK, "seed": arguments.seed, "flags of the mission": " ".join(arguments.rest)}
        table = Table(("signal", "after, s", "ended", "took to end, s"), rows)
        write_page(__file__, "Missions told to stop", about, conditions, [table], "signals")
    return int(kept < total)


def main() -> int:
    """Runs what is asked for."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("cold", help="missions with empty caches beside busy loops")
    one.add_argument("--missions", type=int, default=10)
    one.add_argument("--busy", type=int, default=2, help="busy loops (default: %(default)s)")
    two = verbs.add_parser("signals", help="missions told to stop at random moments")
    two.add_argument("--moments", type=int, default=20, help="of each signal (default: %(default)s)")
    two.add_argument("--seed", type=int, default=0)
    for verb in (one, two):
        add_page(verb)
    arguments, arguments_rest = parser.parse_known_args()
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 99))  # no other graph on this machine is met
    arguments.rest = arguments_rest  # flags of `esar mission`
    return cold(arguments) if arguments.verb == "cold" else signals(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
