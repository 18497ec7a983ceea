"""An incident's folder as a mission needs it: its words, its map, and a sortie that is planned.

A GeoPackage is a data base of SQLite, so that launch files read it with the standard library alone.
"""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.task_files import parse_json, read_text

PACKAGE, BRIEF, MAPS, PLANS, FLIGHTS = "incident.gpkg", "brief.txt", "map", "plans", "flights"
ROUTE = "route"  # method that flies a plan
_LONGEST = 60  # characters of a file's name
PATIENCE = 1.5  # times the planned minutes, after which a flight ends


@dataclass(frozen=True)
class PlannedFlight:
    """A sortie of an incident as the options of a mission, named as those are."""

    brief: str  # path
    map: str  # id of a map
    start: str  # LAT,LON
    t_max: float  # s
    planner: str  # route:FILE
    sortie: str  # name


def planned_flight(folder: Path, sortie: str = "") -> PlannedFlight:
    """Returns a planned sortie, by its name or else the first, and puts the incident's map among those that are known.

    Raises UsageError where the folder holds no incident, or nothing is planned.
    """
    folder = folder.resolve()
    package = folder / PACKAGE
    if not package.is_file():
        raise UsageError(f"{folder} holds no {PACKAGE}", "make one: esar incident new")
    try:
        with closing(sqlite3.connect(f"file:{package}?mode=ro", uri=True)) as base:
            tables = {name for (name,) in base.execute("select name from sqlite_master")}
            about = dict(base.execute("select key, value from about"))
            minutes = dict(base.execute("select name, minutes from sorties")) if "sorties" in tables else {}
    except sqlite3.Error as error:
        raise UsageError(f"{package} is damaged: {error}", "take a copy of it, or make it anew") from None
    if not minutes:
        raise UsageError(f"nothing is planned in {folder}", f"esar incident plan {folder}")
    if sortie and sortie not in minutes:
        raise UsageError(f"sortie {sortie}", suggest(sortie, minutes))
    name = sortie or next(iter(minutes))
    plan = folder / PLANS / f"{file_stem(name)}.plan"
    content = parse_json(read_text(plan, what="plan"), f"plan {plan}")
    try:
        latitude, longitude = (float(part) for part in content["mission"]["plannedHomePosition"][:2])
        planned = float(minutes[name])
    except (KeyError, TypeError, ValueError, IndexError):
        raise UsageError(
            f"plan {plan} tells no home, or {package} no minutes", f"esar incident plan {folder}"
        ) from None
    known = os.environ.get("ESAR_MAPS", "").split(os.pathsep)
    os.environ["ESAR_MAPS"] = os.pathsep.join(filter(None, dict.fromkeys([str(folder / MAPS), *known])))
    return PlannedFlight(
        str(folder / BRIEF), str(about.get("map", "")), f"{latitude:.7f},{longitude:.7f}",
        round(60.0 * planned * PATIENCE), f"{ROUTE}:{plan}", name,
    )  # fmt: skip


def file_stem(text: str) -> str:
    """Returns a name by which a file may be called on any system: a sortie's plan, a find's picture."""
    return re.sub(r"[^\w.-]+", "_", text).strip("._")[:_LONGEST] or "unnamed"
