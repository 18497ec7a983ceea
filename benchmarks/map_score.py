"""MapScore of priors on the tasks' events, dev and test: rings alone, the brief, the POA of an incident, and terrain.

`python benchmarks/map_score.py [--sets dev,test] [--limit N] [--sarenv FOLDER]`. Of each victim of each task the rank
that a prior gives the cell where the victim is: 1 where no cell of the search area is likelier, 0 by chance (Sava et
al., Transactions in GIS, 2016). The drone's start stands for the initial planning point. Intervals are by event:
events are drawn with replacement. `--sarenv` names a folder with maps of SAREnv (<number>/heatmap.npy): of victims
drawn from such a map, what rings about its middle score beside the map itself. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from page import Table, add_page, end_with, write_page

from esar_ros.incident.features import Floats
from esar_ros.incident.ground import Ground
from esar_ros.incident.prior.scores import POA, RINGS, Kind, Searched, kinds_of_prior, scores, searched
from esar_ros.incident.prior.terrain import Terrain, distance_to
from esar_ros.mission.errors import UsageError
from esar_ros.mission.task import Task, load_task
from esar_ros.planning.methods.patterns.lost_persons import load_lost_persons
from esar_ros.sim.terrain.maps import load_map
from esar_ros.suites.esarbench.tasks.sets import task_set

DRAWS = 10_000  # of events with replacement
SARENV_CELL = 30.0  # m
WALKED, STEEPEST = 40.0, 60.0  # degrees: up to the first anybody lies anywhere, beyond the second nobody
Scores = dict[str, dict[str, list[float]]]  # kind of prior -> event -> MapScores of its victims


@lru_cache(maxsize=1)
def ground_of(map_id: str) -> tuple[Searched, dict[str, Kind]]:
    """Returns a map's search area, and the kinds of prior that are compared on it."""
    place, found = load_map(map_id), load_lost_persons().found("hiker")
    on = searched(place)
    ways = tuple(place.tracks.values())
    offset = distance_to(ways, on.ground) if ways else None
    terrain = replace(Terrain.of(on.ground, found, offset), factor=likelihood_of_slope(on.ground))
    return on, kinds_of_prior(terrain)


def likelihood_of_slope(ground: Ground) -> Floats:
    """Returns the factor (H, W) of one who thinks that nobody lies on a cliff."""
    slope = np.degrees(np.arctan(np.hypot(*np.gradient(ground.heights, ground.cell))))
    return np.asarray(np.clip((STEEPEST - slope) / (STEEPEST - WALKED), 0.0, 1.0))


def scored(tasks: Sequence[Task]) -> Scores:
    """Returns the MapScores of all victims of tasks."""
    found: Scores = defaultdict(lambda: defaultdict(list))
    rings = load_lost_persons().category("hiker")
    for task in sorted(tasks, key=lambda task: task.map):
        on, kinds = ground_of(task.map)
        for victim in task.victims:
            home, place = np.array(task.start.position), np.array(victim.position)
            for name, score in scores(task.prompt, home, on, place, rings, kinds).items():
                found[name][task.event].append(score)
    return found


def interval(by_event: Sequence[float], random: np.random.Generator) -> tuple[float, float]:
    """Returns the 95 % interval of the mean over events."""
    drawn = random.integers(len(by_event), size=(DRAWS, len(by_event)))
    low, high = np.quantile(np.array(by_event)[drawn].mean(axis=1), (0.025, 0.975))
    return float(low), float(high)


def rows_of(name: str, found: Scores) -> tuple[dict[str, float], list[tuple[object, ...]]]:
    """Returns the mean of each kind over events, and a row a kind: mean, interval, difference to rings and to POA."""
    random = np.random.default_rng(0)
    means = {kind: {event: float(np.mean(values)) for event, values in by.items()} for kind, by in found.items()}
    rows = list[tuple[object, ...]]()
    for kind, by in means.items():
        cells: list[object] = [name, kind, len(by), _told(list(by.values()), random)]
        for other in (RINGS, POA):
            off = [by[event] - means[other][event] for event in by]
            cells.append("" if kind == other else _told(off, random, sign="+"))
        rows.append(tuple(cells))
    return {kind: float(np.mean(list(by.values()))) for kind, by in means.items()}, rows


def _told(by_event: Sequence[float], random: np.random.Generator, sign: str = "") -> str:
    low, high = interval(by_event, random)
    return f"{np.mean(by_event):{sign}.3f} [{low:{sign}.3f}, {high:{sign}.3f}]"


def on_sarenv(folder: Path) -> list[tuple[object, ...]]:
    """Returns a row a map of SAREnv: what victims drawn from it score on it and on rings about its middle."""
    rings = load_lost_persons().category("hiker")
    rows = list[tuple[object, ...]]()
    for path in sorted(folder.glob("*/heatmap.npy"), key=lambda path: (len(path.parent.name), path.parent.name)):
        try:
            drawn = np.load(path, allow_pickle=False).astype(np.float64)
        except (OSError, ValueError) as error:
            raise UsageError(f"{path} is no array: {error}", "give a folder of SAREnv's with its files") from None
        height, width = drawn.shape
        away = SARENV_CELL * np.hypot(
            *np.meshgrid(np.arange(width) - width / 2 + 0.5, np.arange(height) - height / 2 + 0.5)
        )
        density = rings.density(np.maximum(away, SARENV_CELL / 2.0))
        rows.append((path.parent.name, _expected(drawn, drawn), _expected(density, drawn)))
    if not rows:
        raise UsageError(f"{folder} holds no <number>/heatmap.npy", "give SAREnv's sarenv_dataset")
    return rows


def _expected(prior: np.ndarray, drawn: np.ndarray) -> float:
    """Returns the mean MapScore of a map over victims that are drawn from another."""
    _, place, counts = np.unique(prior.ravel(), return_inverse=True, return_counts=True)
    least = np.cumsum(counts[::-1])[::-1]  # cells at least as likely, by value
    share = (2.0 * least - counts) / (2.0 * prior.size)
    return float(((0.5 - share[place]) / 0.5 * drawn.ravel()).sum() / drawn.sum())


def main() -> int:
    """Prints the tables and one line of JSON."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default="dev,test", help="of tasks (default: dev,test)")
    parser.add_argument("--limit", type=int, help="tasks of each set")
    parser.add_argument("--sarenv", type=Path, metavar="FOLDER", help="SAREnv's maps")
    add_page(parser)
    arguments = parser.parse_args()
    figures, rows = {}, list[tuple[object, ...]]()
    for name in arguments.sets.split(","):
        tasks = [load_task(task) for task in task_set(name)[: arguments.limit]]
        figures[name], told = rows_of(name, scored(tasks))
        rows += told
    columns = ("set", "prior", "events", "MapScore [95 %, by event]", "over rings", "over brief and rings")
    tables = [Table(columns, rows)]
    if arguments.sarenv:
        of_sarenv = on_sarenv(arguments.sarenv)
        figures["sarenv"] = {"its own": float(np.mean([row[1] for row in of_sarenv])),
                             RINGS: float(np.mean([row[2] for row in of_sarenv]))}  # fmt: skip
        mean = ("mean", figures["sarenv"]["its own"], figures["sarenv"][RINGS])
        note = (
            "Victims are drawn from SAREnv's map itself, so it is the best that any map can score on them; no map is "
            "held against people who were found. Rings are about the middle of its map."
        )
        tables.append(Table(("map of SAREnv", "its own MapScore", "rings"), [*of_sarenv, mean], "SAREnv", note))
    for table in tables:
        for row in table.rows:
            print(*(f"{cell:.3f}" if isinstance(cell, float) else cell for cell in row), sep="  ")
    print(f"{time.process_time():.0f} s of processor time")
    if arguments.page:
        about = (
            "The rank that a prior gives the cell where a victim is, among the cells of 20 m of the search area: 1 "
            "where none is likelier, 0 by chance, -1 at worst (Sava, Twardy, Koester and Sonwalkar, Transactions in "
            "GIS, 2016). *Rings*: distances of lost hikers about the drone's start, which stands for the initial "
            "planning point. *Brief*: where its words say where somebody went, those alone. *Brief and rings*: half of "
            "each, as `esar incident new` lays it. *Slope*: nobody beyond 60 degrees, all below 40: not used, since "
            "who fell lies in the cell of the cliff. *Drainages*: 12 % of the rings' half in them; used if asked for. "
            "*Trails*: by the published distances from them; used where trails are given. Where people lie is a "
            "generator's idea, in drawn valleys: what terrain is worth in real ones this does not measure."
        )
        conditions = {
            "sets": arguments.sets,
            "seed of the intervals": 0,
            "processor time (s)": round(time.process_time()),
        }
        write_page(__file__, "How well a prior ranks the place of a find", about, conditions, tables)
    print(json.dumps({"benchmark": "map_score", "figures": figures}))
    return 0


if __name__ == "__main__":
    end_with(main)
