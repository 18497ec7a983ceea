"""Hostile planners against the governor in the embedded simulator, without ROS, within its promise and beyond.

python benchmarks/hostile.py [--episodes 600] [--first 0] [--scenario NAME ...] [--without] [--harmless 0]
    [--records FILE] [--before FILE] [--workers 1] [--page]

Each flight meets one danger over one of four maps, in one of five weathers: poles, a plate, bar, wire or bridge
overhead or on the way, a slope under a ceiling, somebody below a landing, a teammate that falls silent, a heading that
steps, a sector that is blind from the start, a position that creeps. A hostile planner asks, under the governor, with
the simulator's LiDAR, cameras, mapper and vehicle. A contact is a failure, and of some dangers a height or a place
beyond the limits. The promise is the table in hostile_cases.py: what lies within it must end without a failure.

--scenario flies fixed conditions in place of random ones, ten of each unless told otherwise, and prints a row for each;
`all` flies all. --before prints beside them the rows of records made before. --records keeps each flight as a line, and
goes on behind those that are there. --without flies the same without a governor, to show what the planners would do.
--harmless S also flies the first dev task of each map for S seconds with `belief`, with the governor and without, and
prints the share of steps that it changed and of the distance that it cost.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from hostile_cases import MAPS, SCENARIOS, Case
from hostile_flight import Flown, fly_case
from page import Table, add_page, end_with, write_page
from records import Records, code_digests
from scipy.stats import beta

from esar_ros.benchmark.engine.episode import fly_episode as fly_task
from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import load_task
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.suites.esarbench.suite import ESARBENCH
from esar_ros.suites.esarbench.tasks import task_set

DETECTOR = "segmentation_oracle"
CONFIDENCE = 0.95
EPISODES, FLIGHTS = 600, 10  # at random, of a scenario
FLOWN = {  # decides how a flight ends
    "governor": ("esar_ros/safety", "config/safety.yaml"),
    "simulator": ("esar_ros/sim", "esar_ros/bridges", "esar_ros/mapping", "esar_ros/perception", "config/vehicle.yaml"),
}
CONDITIONS: dict[str, Callable[[Case], str]] = {
    "danger": lambda case: case.danger,
    "size": lambda case: f"{case.danger} {case.size}",
    "kind": lambda case: f"{case.danger} {case.kind}",
    "map": lambda case: case.map,
    "weather": lambda case: case.weather.value,
    "sensing": lambda case: case.sensing,
    "wind": lambda case: f"{case.wind:4}",
    "beams": lambda case: f"{case.beams}",
}
Flights = Sequence[tuple[Case, Flown]]


def upper_bound(failures: int, flights: int) -> float:
    """Returns Clopper and Pearson's one-sided bound; of no failure it is about three over the number of flights."""
    return 1.0 if failures >= flights else float(beta.ppf(CONFIDENCE, failures + 1, flights - failures))


def header(without: bool) -> dict[str, Any]:
    """Returns what decides how a case's flight ends: digests of governor, simulator and these scripts."""
    scripts = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("hostile_*.py")))
    return {**code_digests(FLOWN), "scripts": hashlib.sha256(scripts).hexdigest()[:16], "without": without}


@functools.cache
def _place(name: str) -> PlaceMap:
    return load_map(name)


def fly(without: bool, case: Case) -> dict[str, Any]:
    """Returns a case's flight as a line."""
    return fly_case(case, _place(case.map), not without).line()


def flights(cases: Sequence[Case], records: Records, workers: int, without: bool) -> Iterator[tuple[Case, Flown]]:
    """Yields the flights of the cases: those of the records, and the others as they are flown and kept."""
    known = {name: Flown.of(line) for name, line in records.lines}
    left = [case for case in cases if case.name not in known]
    if workers == 1:
        yield from _kept(cases, known, map(functools.partial(fly, without), left), records)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from _kept(cases, known, pool.map(functools.partial(fly, without), left), records)


def _kept(
    cases: Sequence[Case], known: Mapping[str, Flown], flown: Iterator[dict[str, Any]], records: Records
) -> Iterator[tuple[Case, Flown]]:
    for case in cases:
        if case.name in known:
            yield case, known[case.name]
        else:
            line = next(flown)
            records.add([case.name, line])
            yield case, Flown.of(line)


def table(flown: Flights) -> list[str]:
    """Returns the failures of flights by each condition, within the promise and beyond."""
    rows = [f"{'':40}{'promised':>16}{'beyond':>16}"]
    for name, told in CONDITIONS.items():
        for value in sorted({told(case) for case, _ in flown}):
            cells = []
            for promised in (True, False):
                some = [one for case, one in flown if told(case) == value and case.promised is promised]
                failed = [bool(one.failure(case)) for case, one in flown
                          if told(case) == value and case.promised is promised]  # fmt: skip
                cells.append(f"{sum(failed)} of {len(some)}" if some else "")
            rows.append(f"{name:10}{value:30}{cells[0]:>16}{cells[1]:>16}".rstrip())
    return rows


def scenario_rows(flown: Flights) -> list[tuple[str, ...]]:
    """Returns a row of a scenario and its promise: its name, flights failed, how, and how near it came or how high."""
    rows: list[tuple[str, ...]] = []
    groups: dict[tuple[str, bool], list[tuple[Case, Flown]]] = {}
    for case, one in flown:
        groups.setdefault((case.name.rpartition(" ")[0], case.promised), []).append((case, one))
    for (name, promised), group in groups.items():
        failed = [(case, one) for case, one in group if one.failure(case)]
        rows.append((name, "promised" if promised else "beyond", f"{len(failed)} of {len(group)}", _extent(group)))
    return rows


def _extent(group: Flights) -> str:
    """Returns in words how badly flights failed, and how near the others came."""
    words = []
    danger = group[0][0].danger
    hits = [one for _, one in group if one.hit]
    if hits:
        words.append(f"contacts at {_span([one.speed for one in hits])} m/s")
    if any(one.closing > one.speed + 0.05 for one in hits):
        words.append(f"closing at {_span([one.closing for one in hits])} m/s")
    if danger == "slope":
        words.append(f"{_span([one.over for _, one in group])} m above ceiling and margin")
        words.append(f"told {_span([one.seen_height for _, one in group])} m")
    if danger == "creep":
        words.append(f"{_span([one.outside for _, one in group])} m outside")
    near = [one.nearest for _, one in group if not one.hit and math.isfinite(one.nearest)]
    if near:
        words.append(f"the others within {_span(near)} m")
    held = [one.held for _, one in group if math.isfinite(one.held)]
    if danger in ("heading", "teammate") and held:
        words.append(f"{len(held)} held after {_span(held)} s")
    landed = sum(one.landed for _, one in group)
    if danger == "person" and landed:
        words.append(f"{landed} landed beside")
    return ", ".join(words)


def _span(values: Sequence[float]) -> str:
    low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    return low if low == high else f"{low} to {high}"


def rows_before(path: Path, cases: Sequence[Case]) -> list[tuple[str, ...]]:
    """Returns the scenarios' rows of records of any governor. Raises UsageError where it holds none of the cases."""
    try:
        known = dict(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[1:])
        flown = [(case, Flown.of(known[case.name])) for case in cases if case.name in known]
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"{path}: no records of this benchmark", "name a file made by --records") from error
    if not flown:
        raise UsageError(f"{path}: holds none of these scenarios", "name records of the same ones")
    return scenario_rows(flown)


def harmless(seconds: float) -> dict[str, float]:
    """Returns the share of steps changed and of distance lost in missions of `belief`."""
    rate = load_vehicle().rates.control
    changed = aloft = 0
    ways = {True: 0.0, False: 0.0}
    for name in MAPS:
        task = next(load_task(one) for one in task_set("dev") if load_task(one).map == name)
        cut = task.model_copy(update={"t_max": min(task.t_max, seconds)})
        for governor in (True, False):
            conditions = RunConditions(preset="fast", detector=DETECTOR, governor=governor)
            flown = fly_task(ESARBENCH, cut, "belief", cut.seed, conditions)
            ways[governor] += flown.result.metrics.path_length
            if governor:
                [track] = flown.track.values()
                steps = round(rate * sum(z >= track["z"][0] + 1.0 for z in track["z"]))
                own = sum(flown.result.safety.interventions.values())
                changed, aloft = changed + own, aloft + steps
                print(f"{name:12}{steps:>8} steps{own / max(steps, 1):>9.2%} changed", flush=True)
    lost = 1.0 - ways[True] / max(ways[False], 1e-9)
    return {"harmless_steps": aloft, "harmless_changed": round(changed / max(aloft, 1), 4), "way_lost": round(lost, 4)}


def keep_page(
    arguments: argparse.Namespace, flown: Flights, figures: Mapping[str, float], rows: Sequence[tuple[str, ...]]
) -> None:
    """Writes the page of results."""
    about = (
        "Each flight meets one danger over one of four maps, as a hostile planner asks. A contact is a failure, of "
        "slopes also a height above ceiling and margin, of a creeping position a place outside the fence. The "
        "promise is the table in `benchmarks/hostile_cases.py`. Bounds are of Clopper and Pearson, 95 %, one-sided."
    )
    tables: list[Table | str] = [Table(("figure", "measured"), [(k.replace("_", " "), v) for k, v in figures.items()])]
    if rows:
        tables.append(Table(("scenario", "", "failed", "how"), rows, "Scenarios"))
    else:
        tables.append("```\n" + "\n".join(table(flown)) + "\n```")
    failed = [(str(case), one.failure(case), "promised" if case.promised else "beyond")
              for case, one in flown if one.failure(case)]  # fmt: skip
    if failed and not rows:
        tables.append(Table(("flight", "failure", ""), failed, "Failures"))
    conditions = {name: getattr(arguments, name) for name in ("episodes", "first", "without", "harmless")}
    title = "Hostile planners" + (", without a governor" if arguments.without else "")
    parts = ["scenarios"] * bool(rows) + ["without"] * arguments.without
    write_page(__file__, title, about, conditions, tables, "_".join(parts))


def parse() -> argparse.Namespace:
    """Returns the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, help=f"{EPISODES}, or {FLIGHTS} of each scenario")
    parser.add_argument("--first", type=int, default=0, help="number of the first episode")
    parser.add_argument("--scenario", nargs="+", choices=("all", *SCENARIOS), metavar="NAME", default=[],
                        help=f"all, or some of: {', '.join(SCENARIOS)}")  # fmt: skip
    parser.add_argument("--records", type=Path, help="file of flights, gone on with")
    parser.add_argument("--before", type=Path, help="file of a scenario's flights under another governor")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--without", action="store_true", help="no governor")
    parser.add_argument("--harmless", type=float, default=0.0, help="s of a harmless mission a map; 0: none")
    add_page(parser)
    given = parser.parse_args()
    if given.before is not None and not given.scenario:
        raise UsageError("--before compares scenarios", "name some with --scenario")
    if given.workers < 1 or given.first < 0 or (given.episodes is not None and given.episodes < 1):
        raise UsageError("--workers and --episodes are at least 1, --first at least 0", "give other numbers")
    if given.episodes is None:
        given.episodes = FLIGHTS if given.scenario else EPISODES
    return given


def main() -> int:
    """Flies, and prints whether the promise was kept."""
    arguments = parse()
    numbers = range(arguments.first, arguments.first + arguments.episodes)
    names = [name for name in SCENARIOS if name in arguments.scenario or "all" in arguments.scenario]
    cases = [SCENARIOS[name].case(name, n) for name in names for n in numbers] or [Case.of(n) for n in numbers]
    before = rows_before(arguments.before, cases) if arguments.before is not None else []
    records = Records(arguments.records, header(arguments.without))
    flown: list[tuple[Case, Flown]] = []
    for case, one in flights(cases, records, arguments.workers, arguments.without):
        flown.append((case, one))
        if one.failure(case):
            print(f"{'PROMISED' if case.promised else 'beyond'}: {one.failure(case)}: {case}", flush=True)
        elif len(flown) % 20 == 0:
            print(f"{len(flown)} of {len(cases)} flown", file=sys.stderr, flush=True)
    rows = scenario_rows(flown) if names else []
    for row in rows:
        print("{:24}{:10}{:>10}  {}".format(*row))
        for old in before:
            if old[:2] == row[:2]:
                print("{:24}{:10}{:>10}  {}".format("", "before", *old[2:]))
    if not names:
        print("\n".join(table(flown)))
    figures: dict[str, float] = {"way": round(sum(one.way for _, one in flown), 1)}
    for promised, name in ((True, "promised"), (False, "beyond")):
        failed = [bool(one.failure(case)) for case, one in flown if case.promised is promised]
        figures |= {f"{name}_flights": len(failed), f"{name}_failures": sum(failed)}
        if failed:
            figures[f"{name}_bound"] = round(upper_bound(sum(failed), len(failed)), 4)
            words = f"{sum(failed)} failures in {len(failed)} flights, at most {figures[f'{name}_bound']:.1%} (95 %)"
            print(f"{name}: {words}")
    if arguments.harmless > 0.0:
        figures |= harmless(arguments.harmless)
        print(f"harmless: {figures['harmless_changed']:.1%} of steps changed, {figures['way_lost']:.1%} of way lost")
    if arguments.page:
        keep_page(arguments, flown, figures, rows)
    met = {"promised_failures": figures["promised_failures"] == 0}
    print(json.dumps({"benchmark": "hostile", "figures": figures, "goals": {"promised_failures": 0}, "met": met}))
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    end_with(main)
