"""UAVBench's scenarios: the cost of making, checking and flying them, and how flights under the governor end.

python benchmarks/uavbench.py [--flights 300] [--scenarios 2000] [--many 50000] [--seed 7] [--workers 1]
    [--records FILE] [--page]

Scenarios are those that `./esar scenarios generate` makes, levels 1 to 3 in turn. Multirotors without faults are flown:
none of them may touch what the governor is told of, nor leave the fence or the altitude band.

--records keeps each flight as a line, and goes on behind those that are there: three hundred take an hour of a core.
A file of flights by other code, limits or seed is refused.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from page import Table, add_page, end_with, goal_table, write_page
from records import Records, code_digests
from scipy.stats import beta

from esar_ros.suites.uavbench.scenarios.findings import ERROR
from esar_ros.suites.uavbench.scenarios.flights.flight import Options, try_to_fly
from esar_ros.suites.uavbench.scenarios.generate import scenario, written
from esar_ros.suites.uavbench.scenarios.scene import Scene
from esar_ros.suites.uavbench.scenarios.taxonomy import Family
from esar_ros.suites.uavbench.scenarios.validate import validate

GOALS: dict[str, Any] = {
    "ms_of_making": 6.0,  # CPU, a scenario
    "ms_of_checking": 0.8,
    "with_errors": 0,
    "ms_of_checking_many": 0.8,  # CPU, a scenario, of the command on one file of them
    "peak_MB_of_checking_many": 300.0,
    "ms_of_checking_folder": 1.2,  # the same scenarios, a file each
    "peak_MB_of_checking_folder": 300.0,
    "speedup_of_two_workers": (1.7, ">="),
    "cpu_s_per_flown_s": 0.04,
    "collisions": 0,
    "fence_breaches": 0,
    "altitude_violations": 0,
    "flights_that_failed": 0,
}
BREACHES = {
    "collisions": "collisions",
    "fence_breaches": "geofence_breach",
    "altitude_violations": "altitude_violation",
}
FLOWN = {  # what decides how a flight ends
    "governor": ("esar_ros/safety",),
    "pilot": ("esar_ros/flight",),
    "vehicle": ("esar_ros/sim/physics", "esar_ros/sim/weather/gusts.py", "esar_ros/bridges/odometry_error.py"),
    "scenarios": ("esar_ros/suites/uavbench/scenarios",),
    "settings": (
        "config/safety.yaml", "config/pilot.yaml", "config/vehicle.yaml", "config/scenarios/pairs.yaml",
        "config/scenarios/risk.yaml",
    ),
}  # fmt: skip
CONFIDENCE = 0.95
_DISTINCT = 2000  # scenarios of the file of many


def files(seed: int, count: int) -> dict[str, float]:
    """Returns CPU ms a scenario that is made and checked, and how many have errors."""
    scenario(seed, 0)  # which loads the tables
    began = time.process_time()
    made = [written(scenario(seed, number)) for number in range(count)]
    between = time.process_time()
    found = [validate(content) for content in made]
    ended = time.process_time()
    wrong = sum(any(finding.severity == ERROR for finding in one.findings) for one in found)
    return {
        "ms_of_making": 1e3 * (between - began) / count,
        "ms_of_checking": 1e3 * (ended - between) / count,
        "with_errors": wrong,
    }


def many(seed: int, count: int) -> dict[str, float]:
    """Returns bytes, CPU ms a scenario and peak memory of `scenarios validate` on so many in one file and in a folder.

    The folder's files are links to those of _DISTINCT scenarios. speedup_of_two_workers: by the clock, of the file.
    """
    lines = [json.dumps(scenario(seed, number)) + "\n" for number in range(min(count, _DISTINCT))]
    with TemporaryDirectory() as name:
        file, folder = Path(name) / "many.jsonl", Path(name) / "many"
        folder.mkdir()
        with file.open("w") as together:
            for number, line in enumerate(itertools.islice(itertools.cycle(lines), count)):
                together.write(line)
                if number < len(lines):
                    (folder / f"{number}.json").write_text(line)
                else:
                    os.link(folder / f"{number % len(lines)}.json", folder / f"{number}.json")
        figures = {"bytes_of_each_of_many": file.stat().st_size / count}
        for what, path in (("many", file), ("folder", folder)):
            seconds, used = checked(path, 1)
            figures[f"ms_of_checking_{what}"] = 1e3 * (used.ru_utime + used.ru_stime) / count
            figures[f"peak_MB_of_checking_{what}"] = used.ru_maxrss / 1024.0
            if what == "many":
                figures["speedup_of_two_workers"] = seconds / checked(path, 2)[0]
    return figures


def checked(path: Path, workers: int) -> tuple[float, resource.struct_rusage]:
    """Returns the seconds that `scenarios validate` takes by the clock, and what it used."""
    command = [sys.executable, "-m", "esar_ros.app.cli", "scenarios", "validate", str(path), "--workers", str(workers)]
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit("scenarios validate found errors in what generate made")
    return time.monotonic() - began, used


def to_fly(seed: int) -> Iterator[int]:
    """Yields the numbers of scenarios of multirotors without faults."""
    for number in itertools.count():
        data = scenario(seed, number)
        if Scene(data).family is Family.ROTOR and not data["faults"]:
            yield number


def fly(seed: int, number: int) -> dict[str, Any]:
    """Returns a flight's number, CPU seconds and result."""
    scene = Scene(scenario(seed, number))
    began = time.process_time()
    result = try_to_fly(scene, Options())
    return {"number": number, "cpu": time.process_time() - began, "result": result}


def flights(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Returns the flights, those in the file of records first. Raises UsageError for a file of other flights."""
    records = Records(arguments.records, {"seed": arguments.seed, **code_digests(FLOWN)})
    numbers = list(itertools.islice(to_fly(arguments.seed), arguments.flights))
    known = {one["number"] for one in records.lines}
    with ProcessPoolExecutor(arguments.workers) as pool:
        for one in pool.map(partial(fly, arguments.seed), [number for number in numbers if number not in known]):
            print(told(one), flush=True)
            records.add(one)
    return [one for one in records.lines if one["number"] in numbers]


def told(one: dict[str, Any]) -> str:
    """Returns a flight in one line."""
    result = one["result"]
    if result["status"] != "flown":
        return f"{one['number']:5} {result['status']}: {result['why']}"
    broken = [name for name, metric in BREACHES.items() if result["metrics"][metric]]
    level, reached = result["outcome_level"], "{reached} of {of}".format(**result["waypoints"])
    words = f"{result['scenario']}: level {level}, {reached} waypoints in {result['seconds']:.0f} s"
    return f"{one['number']:5} {words}{', **' * bool(broken)}{', '.join(broken)}{'**' * bool(broken)}"


def outcome(flown: list[dict[str, Any]]) -> dict[str, float]:
    """Returns the figures of flights."""
    ended = [one for one in flown if one["result"]["status"] == "flown"]
    metrics = [one["result"]["metrics"] for one in ended]
    found = {name: int(sum(one[metric] for one in metrics)) for name, metric in BREACHES.items()}
    hit = sum(one["collisions"] > 0 for one in metrics)
    simulated = sum(one["result"]["seconds"] for one in ended)
    return {
        "flights": len(flown),
        "flights_that_failed": sum(one["result"]["status"] == "error" for one in flown),
        **found,
        "bound_of_collisions": float(beta.ppf(CONFIDENCE, hit + 1, len(ended) - hit)) if hit < len(ended) else 1.0,
        "flown_s": simulated,
        "cpu_s_per_flown_s": sum(one["cpu"] for one in ended) / max(simulated, 1e-9),
    }


def by_level(flown: list[dict[str, Any]]) -> Table:
    """Returns how flights ended: a row an outcome level, with the governor's most frequent reasons to step in."""
    results = [one["result"] for one in flown if one["result"]["status"] == "flown"]
    rows = []
    for level in sorted({result["outcome_level"] for result in results}):
        those = [result for result in results if result["outcome_level"] == level]
        reasons = Counter(reason for result in those for reason in result["interventions"])
        rows.append((
            level,
            len(those),
            100.0 * sum(result["waypoints"]["reached"] for result in those)
            / max(sum(result["waypoints"]["of"] for result in those), 1),
            statistics.median(result["seconds"] for result in those),
            ", ".join(f"{reason} {count}" for reason, count in reasons.most_common(4)) or "none",
        ))  # fmt: skip
    columns = ("outcome level", "flights", "waypoints reached, %", "median s", "the governor stepped in")
    return Table(columns, rows, "How they ended")


def main() -> int:
    """Measures; exit code 1 where a goal is missed."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--flights", type=int, default=300)
    parser.add_argument("--scenarios", type=int, default=2000, help="that are made and checked")
    parser.add_argument("--many", type=int, default=50_000, help="that the command checks, in a file and in a folder")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--workers", type=int, default=1, help="processes that fly")
    parser.add_argument("--records", type=Path, help="file of flights, gone on with")
    add_page(parser)
    arguments = parser.parse_args()
    flown = flights(arguments)  # first, since it is what may be refused
    figures = files(arguments.seed, arguments.scenarios) | many(arguments.seed, arguments.many) | outcome(flown)
    for name, value in figures.items():
        print(f"{name:26}{value:>10.4g}")
    met = {name: figures[name] <= goal for name, goal in GOALS.items() if name != "speedup_of_two_workers"}
    met["speedup_of_two_workers"] = figures["speedup_of_two_workers"] >= GOALS["speedup_of_two_workers"][0]
    if arguments.page:
        about = (
            "Scenarios made by rules, checked, and flown under the governor: multirotors without faults, levels 1 to 3 "
            "in turn. Collisions are with the ground and with traffic and obstacles, of which the governor is told. "
            "The bound is Clopper and Pearson's of the share of flights with a collision, 95 %, one-sided. CPU time of "
            "a flight is over the seconds from the mission's start; its take-off is not counted among them."
        )
        conditions = {name: getattr(arguments, name) for name in ("seed", "flights", "scenarios", "many", "workers")}
        tables = [goal_table(figures, GOALS, met), by_level(flown)]
        write_page(__file__, "UAVBench's scenarios", about, conditions, tables)
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    end_with(main)
