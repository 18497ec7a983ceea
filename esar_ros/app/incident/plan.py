"""`esar incident plan DIR`: the next flights, by the POS that a minute of each brings."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from esar_ros.app.arguments import Parser
from esar_ros.app.incident.places import position
from esar_ros.flight.limits import load_pilot_limits
from esar_ros.incident.features import Place, PlaceKind, Position
from esar_ros.incident.formats import kml, qgc_plan, wpml
from esar_ros.incident.pod import Curves
from esar_ros.incident.probability import closed_cells, open_sky, poa_ground, stand
from esar_ros.incident.rasters import POA
from esar_ros.incident.sorties import Flights, plan
from esar_ros.incident.store import Incident
from esar_ros.incident.terrain_way import LOWEST, TerrainWay
from esar_ros.mission import names
from esar_ros.mission.briefing import CEILING
from esar_ros.mission.errors import UsageError
from esar_ros.mission.system.incident_files import PLANS, file_stem
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.mission.weather import Weather

TOLD = 0.001  # of the POA
MARGIN = 10.0  # m, of the range of a sensor by which the ground is seen


def declare(verbs: Any) -> None:
    """Adds the verb and its arguments."""
    parser = verbs.add_parser("plan", help="the next sorties: routes, what each is worth, files for ground stations")
    parser.add_argument("dir", type=Path, metavar="DIR", help="the incident's folder")
    parser.add_argument("--vehicles", type=int, default=1, metavar="N", help="that fly (default: 1)")
    parser.add_argument("--minutes", type=float, default=25.0, metavar="MIN", help="of a battery (default: 25)")
    parser.add_argument("--home", metavar="LAT,LON", help="where they start (default: the last home, else the IPP)")
    parser.add_argument("--height", type=float, default=40.0, metavar="M", help="above ground (default: 40)")
    parser.add_argument(
        "--max-height", type=float, default=CEILING, metavar="M",
        help="allowed above the lowest ground below; at most the governor's %(default)g, which is the default",
    )  # fmt: skip
    parser.add_argument(
        "--speed", type=float, default=5.0, metavar="M/S", help="over ground (default: 5, the pilot's here)"
    )
    parser.add_argument("--detector", default=names.DEFAULT_DETECTOR, metavar="NAME", help="whose measured POD counts")
    parser.add_argument("--weather", choices=[each.value for each in Weather], default=Weather.CLEAR.value)


def run(arguments: argparse.Namespace) -> int:
    """Plans, and keeps the sorties in the incident in place of those before. Raises UsageError."""
    for flag, value, least, most in (
        ("--vehicles", arguments.vehicles, 1, 20), ("--minutes", arguments.minutes, 1.0, 600.0),
        ("--height", arguments.height, 5.0, CEILING), ("--max-height", arguments.max_height, 20.0, CEILING),
        ("--speed", arguments.speed, 1.0, 25.0),
    ):  # fmt: skip
        if not least <= value <= most:
            raise UsageError(f"{flag} {value:g}", f"between {least:g} and {most:g}")
    incident = Incident.open(arguments.dir)
    ground, (now, _) = poa_ground(incident), stand(incident)
    home = position("--home", arguments.home) if arguments.home else _home(incident)
    vehicle = load_vehicle()
    focal, sight = vehicle.image.model.fx, vehicle.lidar.range_max - MARGIN
    detection = Curves(arguments.detector, arguments.weather).of(focal, None, home.longitude)
    curve = detection.curves.beside(arguments.height).person
    pilot = load_pilot_limits()
    climb = min(pilot.speed_up, pilot.speed_down)
    flights = Flights(curve, arguments.height, arguments.speed, climb, ceiling=arguments.max_height, sight=sight)
    closed = closed_cells(incident.search, ground)
    sorties = plan(
        now.normalised * open_sky(incident, incident.rasters(POA)[0]),
        ground,
        home,
        arguments.vehicles,
        arguments.minutes,
        flights,
        closed,
    )
    search, former = incident.search, incident.search.sorties
    search.sorties = [replace(sortie, name=f"sortie {sortie.name}") for sortie in sorties]
    if not any(place.kind is PlaceKind.HOME and place.position == home for place in search.places):
        search.places.append(Place("home", PlaceKind.HOME, home))
    incident.save()
    folder = incident.folder / PLANS
    console = Console(highlight=False, soft_wrap=True, markup=False)
    for stem in {file_stem(sortie.name) for sortie in (*former, *search.sorties)}:
        for ending in ("plan", "kmz"):  # nobody is to fly what was planned before
            (folder / f"{stem}.{ending}").unlink(missing_ok=True)
    qgc_plan.write(search, folder)
    kml.write(search, folder / "plan.kml")
    try:
        wpml.write(search, folder)
    except UsageError as error:  # what DJI's format cannot hold others can
        console.print(f"not for DJI: {error}")
    for sortie in search.sorties:
        console.print(
            f"{sortie.name}: POS {sortie.pos:.1%}, {sortie.hectares:.1f} ha, {sortie.minutes:.1f} min, "
            f"{len(sortie.waypoints)} waypoints"
        )
    steep = float(now.normalised[TerrainWay(ground, flights.height, flights.ceiling, flights.sight).closed].sum())
    if steep >= TOLD:
        console.print(
            f"not flown over: {steep:.1%} of the POA, on ground too steep to keep {LOWEST * flights.height:g} m above "
            f"the highest near it, well below the ceiling of {flights.ceiling:g} m, within the range of the ranges"
        )
    console.print(f"together: POS {sum(sortie.pos or 0.0 for sortie in search.sorties):.1%}")
    console.print(
        f"POD as {arguments.detector} was measured in pictures of the simulator, at {arguments.height:g} m: it "
        "compares ways; on real photographs it is less"
    )
    console.print(f"{folder}: .plan for QGroundControl, .kmz (WPML) for DJI, plan.kml")
    return 0


def plan_as_by_default(folder: Path) -> None:
    """Plans as the command does without any option. Raises UsageError."""
    parser = Parser(prog="esar incident")
    declare(parser.add_subparsers())
    run(parser.parse_args(["plan", str(folder)]))


def _home(incident: Incident) -> Position:
    for kind in (PlaceKind.HOME, PlaceKind.IPP):
        for place in reversed(incident.search.places):
            if place.kind is kind:
                return place.position
    raise UsageError(f"{incident.folder} has neither a home nor an IPP", "give --home LAT,LON")
