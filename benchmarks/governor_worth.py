"""The worth and the cost of the safety governor: the same missions flown with it and without.

python benchmarks/governor_worth.py [--planner random] [--tasks mini] [--limit N] [--minutes M] [--out FOLDER]

Each task is flown twice, one after the other, so that a run that is ended early still compares the same tasks, in the
stratified order of `esar bench`; the same command goes on. FOLDER/on and FOLDER/off are folders of `esar bench`, which
`esar report FOLDER/on FOLDER/off --by governor` shows in full. Differences are per task, with that report's intervals
and p-values.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from page import Table, add_page, write_page

from esar_ros.benchmark.report.bench_results import read_bench
from esar_ros.benchmark.runner.plan import choose_tasks
from esar_ros.benchmark.runner.records import read_episodes
from esar_ros.benchmark.runner.run import run
from esar_ros.benchmark.runner.store import Store
from esar_ros.benchmark.runner.worker_pool import LocalPool
from esar_ros.scoring.result import Result
from esar_ros.scoring.statistics import Unit, compare, estimate
from esar_ros.suites.esarbench.suite import ESARBENCH

LIMIT = 4.0  # s of wall time a second of the longest mission may take
WAYS = ("on", "off")  # of the governor
DETECTOR = "segmentation_oracle"  # what is seen is no part of the question, and costs least
COMPARED = ("crashed", "safe", "coverage", "path_length", "safe_flight_distance", "rs")


def fly(tasks: tuple[str, ...], planner: str, preset: str, root: Path, minutes: float) -> None:
    """Flies both flights of each task that are not in the folder yet; none is begun after so many minutes."""
    options = {"preset": preset, "detector": DETECTOR}
    plans = {way: ESARBENCH.plan(tasks, (planner,), 1, {**options, "governor": way}) for way in WAYS}
    stores = {way: Store(root / way, plan.settings) for way, plan in plans.items()}
    until = time.monotonic() + 60.0 * minutes
    try:
        for number in range(len(tasks)):
            for way, plan in plans.items():
                job = plan.jobs[number]
                if job.id in stores[way].done:
                    continue
                if way == "on" and time.monotonic() > until:
                    return
                pool = LocalPool(1, ESARBENCH.episode(), LIMIT * plan.max_time_limit)
                run(replace(plan, jobs=(job,)), stores[way], pool, lambda progress: None, ESARBENCH.failed)
                print(f"{job.task_id}, governor {way}", file=sys.stderr, flush=True)
    finally:
        for store in stores.values():
            store.close()


def values(root: Path, way: str) -> dict[str, dict[Unit, float]]:
    """Returns each figure's value per task."""
    found: dict[str, dict[Unit, float]] = {figure: {} for figure in COMPARED}
    for episode in read_bench([root / way], ESARBENCH.reader()).episodes:
        for figure in COMPARED:
            found[figure][episode.unit] = episode.figures[figure]
    return found


def contacts(root: Path, way: str, tasks: set[str]) -> int:
    """Returns the contacts of all these missions."""
    records = [record for record in read_episodes(root / way, Result) if record.task in tasks]
    return sum(record.result.safety.collisions for record in records)


def main() -> int:
    """Flies and compares."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--planner", default="random")
    parser.add_argument("--tasks", default="mini")
    parser.add_argument("--limit", type=int, help="only the first N tasks")
    parser.add_argument("--preset", default="fast", choices=("fast", "paper"))
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no further task after so long")
    parser.add_argument("--out", default="", metavar="FOLDER", help="keep the flights there, and go on from there")
    add_page(parser)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(arguments.out or temporary)
        tasks = choose_tasks(ESARBENCH, arguments.tasks, arguments.limit)
        fly(tasks, arguments.planner, arguments.preset, root, arguments.minutes)
        figures, rows = compared(root)
    print(f"{'':22}{'governor on':>14}{'off':>10}   difference per task (95 %), p")
    for name, on, off, difference in rows:
        print(f"{name:22}{on:>14}{off:>10}   {difference}")
    goals, met = {"contacts_on": 0}, {"contacts_on": figures["contacts_on"] == 0}
    print(json.dumps({"benchmark": "governor_worth", "figures": figures, "goals": goals, "met": met}))
    if arguments.page:
        about = (
            "Each task flown with the safety governor and without, in the engine with the segmentation oracle and "
            "noisy odometry. Differences are per task; 95 % intervals by bootstrap over events, snapshots and tasks, "
            "p by a sign-flip test over events."
        )
        conditions = {key: getattr(arguments, key) for key in ("planner", "tasks", "limit", "preset")}
        table = Table(("", "governor on", "off", "difference per task, p"), rows)
        write_page(__file__, "What the governor is worth", about, conditions | {"flown": figures["tasks"]}, [table])
    return 0 if all(met.values()) else 1


def compared(root: Path) -> tuple[dict[str, float], list[tuple[str, str, str, str]]]:
    """Returns figures by name, and the table's rows, over the tasks that both flew."""
    flown = {way: values(root, way) for way in WAYS}
    both = set(flown["on"]["coverage"]) & set(flown["off"]["coverage"])
    names = {unit.task for unit in both}
    figures: dict[str, float] = {"tasks": len(both)}
    rows = []
    for way in WAYS:
        figures[f"contacts_{way}"] = contacts(root, way, names)
    rows.append(("contacts", f"{figures['contacts_on']}", f"{figures['contacts_off']}", f"{len(both)} tasks"))
    for figure in COMPARED:
        columns = {way: {unit: flown[way][figure][unit] for unit in both} for way in WAYS}
        [pair] = compare(columns)
        means = {way: estimate(column) for way, column in columns.items()}
        for way, mean in means.items():
            assert mean is not None
            figures[f"{figure}_{way}"] = round(mean.mean, 4)
        d = pair.difference
        figures |= {f"{figure}_difference": round(d.mean, 4), f"{figure}_p": round(pair.p, 4)}
        difference = f"{d.mean:+.3f} ({d.low:+.3f} to {d.high:+.3f}), {pair.p:.3f}"
        rows.append((figure, f"{figures[f'{figure}_on']:.3f}", f"{figures[f'{figure}_off']:.3f}", difference))
    return figures, rows


if __name__ == "__main__":
    sys.exit(main())
