"""`esar incident fly DIR`: rehearses the planned sorties in the embedded simulator, on the incident's own map.

With `--world px4` the graph flies one, as `esar mission` flies a search of one's own.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from esar_ros.app import mission, prepare
from esar_ros.app.incident.plan import plan_as_by_default
from esar_ros.app.mission import VIEW_PORT
from esar_ros.benchmark.engine.episode import fly_episode
from esar_ros.benchmark.engine.mission import VEHICLE, EpisodeResult
from esar_ros.flight.limits import load_pilot_limits
from esar_ros.incident.features import Sortie
from esar_ros.incident.formats import kml
from esar_ros.incident.probability import stand
from esar_ros.incident.rasters import POA
from esar_ros.incident.rehearsal import (
    POSES,
    REHEARSAL,
    flown_search,
    keep,
    lay_people,
    least_height,
    promised,
    rehearsal_task,
    route_of,
)
from esar_ros.incident.store import Incident
from esar_ros.mission import names
from esar_ros.mission.clues import PERSON
from esar_ros.mission.errors import UsageError, seed_number, suggest
from esar_ros.mission.names import PX4
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.system.incident_files import MAPS, file_stem, planned_flight
from esar_ros.mission.task import Task
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.detectors.chosen import create_chosen
from esar_ros.sim.assets.meshes import assets
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.suites.esarbench.own_search import NOON
from esar_ros.suites.esarbench.suite import ESARBENCH

MOST_PEOPLE = 15  # of a task


def declare(verbs: Any) -> None:
    """Adds the verb and its arguments."""
    parser = verbs.add_parser(
        "fly", help="rehearse the planned sorties (else those by default) in the simulator, on the incident's own map"
    )
    parser.add_argument("dir", type=Path, metavar="DIR", help="the incident's folder")
    parser.add_argument("--sortie", metavar="NAME", help="one of them (default: each, one after the other)")
    parser.add_argument(
        "--people", type=int, default=10, metavar="N", help="laid by the POA, 1 to 15 (default: %(default)s)"
    )
    parser.add_argument("--seed", type=seed_number, default=0, help="of who lies where (default: %(default)s)")
    parser.add_argument(
        "--detector",
        default=names.DEFAULT_DETECTOR,
        metavar="NAME[:FILE]",
        help="who looks (default: %(default)s)",
    )
    parser.add_argument("--preset", default="paper", choices=tuple(names.PRESETS), help="images (default: %(default)s)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="for results (default: DIR/rehearsal)")
    parser.add_argument(
        "--world", default="embedded", choices=("embedded", PX4),
        help="embedded: a rehearsal, with people laid; px4: the graph flies PX4 (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--port", type=int, default=0, help="of the server that draws images, for px4")
    parser.add_argument(
        "--cot", default="", metavar="HOST:PORT", help="of px4: tell ATAK there what is flown and found"
    )
    parser.add_argument(
        "--view", type=int, nargs="?", const=VIEW_PORT, metavar="PORT", help="of px4: serve a page to watch it"
    )


def run(arguments: argparse.Namespace) -> int:
    """Flies the sorties and prints what each did. Raises UsageError."""
    if arguments.world == PX4:
        return mission.main(mission_of(arguments))
    if not 1 <= arguments.people <= MOST_PEOPLE:
        raise UsageError(f"--people {arguments.people}", f"1 to {MOST_PEOPLE}")
    create_chosen(arguments.detector)  # wrong weights are told before anything is drawn
    incident = Incident.open(arguments.dir)
    if not incident.search.sorties:
        plan_as_by_default(arguments.dir)
        incident = Incident.open(arguments.dir)
    sorties = _sorties(incident, arguments.sortie)
    now = stand(incident)[0].normalised  # by which the sorties were planned
    poa = replace(incident.rasters(POA)[0], values=now.astype(np.float32))
    console = Console(highlight=False, soft_wrap=True)
    place = _place(incident, console)
    variants = {pose: [name.partition("/")[2] for name in assets() if name.startswith(f"{PERSON}_{pose.value}/")]
                for pose in POSES}  # fmt: skip
    people = lay_people(poa, place, arguments.people, variants, np.random.default_rng(arguments.seed))
    console.print(
        f"{len(people)} people lie hidden by the POA; by the plan's POD "
        f"{100.0 * promised(sorties, poa):.0f} % of those on the map should be found"
        f"{_coarser(arguments.preset)}"
    )
    out, found = arguments.out or arguments.dir / REHEARSAL, set()
    for sortie in sorties:
        noon = datetime.now().replace(hour=NOON, minute=0, second=0, microsecond=0).astimezone()
        task = rehearsal_task(incident.search.name, place.id, sortie, place, people, noon, arguments.seed)
        flown = _fly(task, sortie, place, RunConditions(arguments.preset, detector=arguments.detector), console)
        found |= {victim.id for victim in flown.result.victims if victim.found}
        folder = out / file_stem(sortie.name)
        keep(folder, sortie, flown.result)
        name = f"rehearsal of {sortie.name}"
        kml.write(flown_search(name, sortie, flown.result, flown.track[VEHICLE], place.origin), folder / "flown.kml")
        console.print(_told(sortie, flown))
    console.print(f"Found {len(found)} of {len(people)}. Results and flown.kml of each sortie: {out}")
    return 0


def mission_of(arguments: argparse.Namespace) -> list[str]:
    """Returns the arguments of `esar mission` by which the graph flies a planned sortie. Raises UsageError."""
    flight = planned_flight(arguments.dir, arguments.sortie or "")
    words = {
        "--incident": str(arguments.dir), "--sortie": flight.sortie, "--world": arguments.world,
        "--preset": arguments.preset, "--detector": arguments.detector,
        "--port": str(arguments.port),
    }  # fmt: skip
    if arguments.out:
        words["--out"] = str(arguments.out)
    if arguments.cot:
        words["--cot"] = arguments.cot
    if arguments.view is not None:
        words["--view"] = str(arguments.view)
    return [f"{flag}={value}" for flag, value in words.items()]


def _coarser(preset: str) -> str:
    """Returns what coarser pictures than those that a plan counts do to its promise; empty for those."""
    counted, drawn = load_vehicle().image.width, names.PRESETS[preset][0]
    if drawn >= counted:
        return ""
    return f", in pictures {counted} px wide; these are {drawn} px wide, so fewer will be"


def _sorties(incident: Incident, name: str | None) -> list[Sortie]:
    """Returns the sorties that are flown. Raises UsageError."""
    planned = {sortie.name: sortie for sortie in incident.search.sorties}
    if name is None:
        return list(planned.values())
    if name not in planned:
        raise UsageError(f"--sortie {name}", suggest(name, planned))
    return [planned[name]]


def _place(incident: Incident, console: Console) -> PlaceMap:
    """Returns the incident's map, drawn and with all kernels compiled. Raises UsageError."""
    folders = [str((incident.folder / MAPS).resolve()), os.environ.get("ESAR_MAPS", "")]
    os.environ["ESAR_MAPS"] = os.pathsep.join(filter(None, folders))  # also for the process that prepares
    map_id = incident.about.get("map", "")
    with console.status("Preparing") as status:
        prepare.ensure(map_id, lambda stage: status.update(f"Preparing: {stage}"))
    return load_map(map_id)


def _fly(task: Task, sortie: Sortie, place: PlaceMap, conditions: RunConditions, console: Console) -> EpisodeResult:
    """Returns what became of a sortie. Raises UsageError."""
    method = route_of(sortie, place.origin, load_pilot_limits().speed)
    columns = (TextColumn(f"  {sortie.name}"), BarColumn(), TextColumn("{task.completed:.0f} s flown"))
    with Progress(*columns, console=console, disable=not sys.stdout.isatty(), transient=True) as progress:
        bar = progress.add_task("", total=60.0 * sortie.minutes)
        return fly_episode(
            ESARBENCH, task, method.name, task.seed, conditions, place,
            in_agent=lambda inside: progress.advance(bar, float(inside)), method=method,
        )  # fmt: skip


def _told(sortie: Sortie, flown: EpisodeResult) -> str:
    """Returns what a sortie did, in two lines."""
    result, safety = flown.result, flown.result.safety
    metrics, battery = result.metrics, safety.battery_at_end
    planned = f"planned {sortie.minutes:.1f}, at {sortie.speed:g} m/s"
    if sortie.speed > (fastest := load_pilot_limits().speed):
        planned += f"; the simulated pilot flies {fastest:g} at most"
    low = least_height(flown.track[VEHICLE]["height"], sortie)
    lowest = "" if low is None else f", {low:.0f} m or more above ground"
    left = "" if battery is None else f", {100.0 * battery:.0f} % of the battery left"
    changed = ", ".join(f"{why} {count}" for why, count in safety.interventions.items()) or "none"
    return (
        f"{sortie.name}: {result.end_text}, {flown.simulated / 60.0:.1f} min ({planned}){lowest}{left}\n"
        f"  found {metrics.victims_found} of {metrics.victims}, false reports {metrics.false_reports}; "
        f"contacts {safety.collisions}, steps that the governor changed: {changed}"
    )
