"""`esar incident new DIR`: a folder for a search, with its map, its words and the first POA."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console

from esar_ros.app.incident.places import position
from esar_ros.incident.canopy import read_canopy
from esar_ros.incident.features import CHI_SQUARE_95, Area, Place, PlaceKind, Search
from esar_ros.incident.formats.geotiff import geotiff_bytes
from esar_ros.incident.ground import Ground, read_ground
from esar_ros.incident.prior.laying import CELL, lay
from esar_ros.incident.prior.mixing import Prior
from esar_ros.incident.prior.terrain import Terrain, distance_to
from esar_ros.incident.rasters import CANOPY, ELEVATION, OFFSET, raster_on
from esar_ros.incident.sources import polygons
from esar_ros.incident.sources.intake import Intake
from esar_ros.incident.sources.ways import read_ways
from esar_ros.incident.store import Incident
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.system.incident_files import MAPS, PACKAGE
from esar_ros.mission.task_files import read_text
from esar_ros.planning.belief.brief.telling import questions, summary, told
from esar_ros.planning.belief.brief.tokens import LONGEST
from esar_ros.planning.methods.patterns.lost_persons import Found, load_lost_persons
from esar_ros.sim.terrain.map_import import CHARACTERS, ImportOptions, import_map
from esar_ros.sim.terrain.map_spec import SIZES

SIZE = 4000.0  # m, side of the map
MARGIN = 1.05  # of the side of the map, that elevation is kept
_START, _IPP = "the drone's start", "the initial planning point"  # from which an incident's words are counted
LAYERS = ("photo", "cover", "tracks")  # of the map, whose files stay where they are
SAMPLES = 1025  # heights a side of the map that is flown


def declare(verbs: Any) -> None:
    """Adds the verb and its arguments."""
    persons = load_lost_persons().categories
    parser = verbs.add_parser("new", help="begin: map, words, where somebody was last seen, the first POA")
    parser.add_argument("dir", type=Path, metavar="DIR", help="a folder that is made")
    parser.add_argument("--dem", type=Path, required=True, metavar="FILE", help="elevation model, m above the sea")
    parser.add_argument(
        "--ipp",
        required=True,
        metavar="LAT,LON[,±M]",
        help="initial planning point, and its radius of 95 %%",
    )
    parser.add_argument("--brief", type=Path, required=True, metavar="FILE", help="text: what is known")
    parser.add_argument("--subject", default="hiker", metavar="KIND", help=f"of {', '.join(persons)} (default: hiker)")
    parser.add_argument(
        "--domain", default="temperate_mountains", metavar="NAME", help="of its statistics (default: %(default)s)"
    )
    parser.add_argument(
        "--ways", type=Path, metavar="FILE", help="trails and roads as lines (GeoJSON, KML, GPX, GeoPackage)"
    )
    parser.add_argument(
        "--drainages", action="store_true", help="lay as much of the POA in drainages as such people were found there"
    )
    parser.add_argument(
        "--canopy", type=Path, metavar="FILE", help="raster of the ground under crowns, percent: lowers the POD there"
    )
    looks = parser.add_argument_group("what the rehearsal's map looks like").add_argument
    looks("--photo", type=Path, metavar="FILE", help="orthophoto: the ground's colours")
    looks("--cover", type=Path, metavar="FILE", help="land cover as ESA WorldCover has it: where woods and water are")
    looks("--tracks", type=Path, metavar="FILE", help="lines to draw on it (default: those of --ways)")
    looks("--character", choices=sorted(CHARACTERS), default="alpine", help="plants, and colours without a photo")
    parser.add_argument("--area", type=Path, metavar="FILE", help="polygon of what is searched (GeoJSON, KML, GPX)")
    parser.add_argument("--size", type=float, default=SIZE, metavar="M", help="side of the map (default: %(default)g)")
    parser.add_argument("--time", metavar="ISO", help="when it happened, with its zone; default: now")


def run(arguments: argparse.Namespace) -> int:
    """Makes the folder. Raises UsageError."""
    words = _words(arguments.brief)
    latitude_longitude, sigma = _ipp(arguments.ipp)
    persons = load_lost_persons()
    if arguments.subject not in persons.categories:
        raise UsageError(f"--subject {arguments.subject}", suggest(arguments.subject, persons.categories))
    domains = persons.categories[arguments.subject]
    if arguments.domain not in domains:
        raise UsageError(f"--domain {arguments.domain} of {arguments.subject}", suggest(arguments.domain, domains))
    _check_published(arguments.subject, persons.found(arguments.subject), arguments)
    time = _time(arguments.time)
    where = position("--ipp", latitude_longitude)
    if not SIZES[0] <= arguments.size <= SIZES[1]:
        raise UsageError(f"--size {arguments.size:g}", f"between {SIZES[0]:g} and {SIZES[1]:g} m")
    ground = read_ground(arguments.dem, (where.latitude, where.longitude))
    ground = _about(ground, where.latitude, where.longitude, arguments.size, arguments.dem)
    ipp = Place("IPP", PlaceKind.IPP, where, sigma, time.timestamp())
    coarse = ground.coarser(CELL)
    search = Search(arguments.dir.name, places=[ipp])
    if arguments.area is not None:
        search.areas = _area(arguments.area, Intake(where))
    search.rasters = [raster_on(ground, ground.heights, "elevation", ELEVATION)]
    if arguments.ways is not None:
        search.rasters.append(raster_on(coarse, distance_to(read_ways(arguments.ways, coarse), coarse), "ways", OFFSET))
    if arguments.canopy is not None:
        search.rasters.append(raster_on(coarse, read_canopy(arguments.canopy, coarse), "canopy", CANOPY))
    about = {"subject": arguments.subject, "domain": arguments.domain, "drainages": "yes" * arguments.drainages}
    prior, terrain = lay(search, about, words)
    if arguments.area is not None and not any(area.poa is not None for area in search.areas):
        raise UsageError(f"--area {arguments.area}: none of it lies on the map", "give one about the IPP")
    map_id = "incident_" + (re.sub(r"[^a-z0-9]+", "_", arguments.dir.name.casefold()).strip("_")[:40] or "valley")
    about |= {
        "map": map_id, "time": time.isoformat(), "by_words": f"{prior.by_words:g}", "terrain": terrain.told,
        "character": arguments.character, "size": f"{arguments.size:g}",
    }  # fmt: skip
    layers = {"photo": arguments.photo, "cover": arguments.cover, "tracks": arguments.tracks or arguments.ways}
    about |= {layer: str(path.resolve()) for layer, path in layers.items() if path is not None}
    if (arguments.dir / PACKAGE).exists():
        raise UsageError(f"{arguments.dir} holds an incident already", "name another folder")
    draw_map(arguments.dir, search, about, str(arguments.dem))
    incident = Incident.create(arguments.dir, search, about, words)
    say(incident, prior, terrain, words)
    return 0


def _check_published(subject: str, found: Found, arguments: argparse.Namespace) -> None:
    """Raises UsageError where terrain is to count of which nothing is published for such people."""
    if arguments.drainages and not found.in_drainages:
        raise UsageError(f"--drainages of {subject}: no share is published", "leave it out")
    if arguments.ways is not None and not found.offsets:
        raise UsageError(f"--ways of {subject}: no distances from trails are published", "leave it out")


def draw_map(folder: Path, search: Search, about: Mapping[str, str], dem: str = "") -> None:
    """Makes the map that is flown of the search's elevation, unless it is there; dem: the file that this is of.

    Raises UsageError.
    """
    map_id = about["map"]
    endings = ("yaml", "npz", *(["png"] if "photo" in about else []))
    if all((folder / MAPS / f"{map_id}.{ending}").is_file() for ending in endings):
        return
    elevation = next(raster for raster in search.rasters if raster.unit == ELEVATION)
    ipp = next(place.position for place in search.places if place.kind is PlaceKind.IPP)
    photo, cover, tracks = (Path(about[layer]) if layer in about else None for layer in LAYERS)
    options = ImportOptions(
        map_id, about.get("character", "alpine"), float(about.get("size", SIZE)), SAMPLES,
        (ipp.latitude, ipp.longitude), search.name, photo=photo, cover=cover,
        tracks=tracks,
    )  # fmt: skip
    with TemporaryDirectory() as scratch:
        source = Path(scratch) / "elevation.tif"
        source.write_bytes(geotiff_bytes(elevation))
        try:
            import_map(source, options, folder / MAPS)
        except UsageError as error:  # the scratch file is gone when it is read
            raise UsageError(str(error).replace(str(source), dem or f"elevation of {folder}")) from None


def say(incident: Incident, prior: Prior, terrain: Terrain, words: str) -> None:
    """Prints what was read of the words, what was not, and the POA that was laid by them."""
    console = Console(highlight=False, soft_wrap=True, markup=False)
    for line in told(words, prior.facts):
        for meaning in line.meanings:
            console.print(f"  understood: {meaning.replace(_START, _IPP)}")
        for warning in line.warnings:
            console.print(f"  {warning}")
        if line.unused:
            console.print(f"  used for neither where nor who: {line.unused}")
    console.print(summary(prior.facts)[0])
    zones = f"(esar incident add {incident.folder} ZONES.geojson --no-fly)"
    for question in questions(words, prior.facts, zones):
        console.print(f"to decide: {question.replace(_START, _IPP)}")
    by = (
        f"{prior.by_words:.0%} by the words, the rest by distances of lost people ({incident.about['subject']})"
        f"{'; ' * bool(terrain.told)}{terrain.told}"
    )
    console.print(f"POA: {1.0 - prior.rest:.0%} on the map, {prior.rest:.0%} elsewhere; {by}")
    parts = sorted((area for area in incident.search.areas if area.poa is not None), key=lambda area: -(area.poa or 0))
    most = ", ".join(f"{area.name} {area.poa:.1%}" for area in parts[:5])
    console.print(f"Segments: {len(parts)}, the likeliest {most}")
    console.print(f"{incident.folder / 'incident.gpkg'}  (WGS 84; opens in any GIS)")
    console.print(f"Next: esar incident plan {incident.folder}")


def _words(path: Path) -> str:
    words = read_text(path, what="brief")
    if not words.strip():
        raise UsageError(f"brief {path} is empty", "give some words")
    if len(words) > LONGEST:
        raise UsageError(f"brief {path}: longer than {LONGEST} characters", "give the brief alone")
    return words


def _ipp(text: str) -> tuple[str, float]:
    """Returns LAT,LON as it was given, and the standard deviation (m) of which ±M is the radius of 95 %."""
    match = re.fullmatch(r"([^,]+,[^,]+?)(?:,\s*(?:±|\+-|\+/-)?\s*(\d+(?:\.\d*)?|\.\d+)\s*m?)?\s*", text)
    if match is None:
        raise UsageError(f"--ipp {text}", "LAT,LON or LAT,LON,±M, e.g. 44.2704,-71.3033,±100")
    return match[1], float(match[2] or 0.0) / math.sqrt(CHI_SQUARE_95)


def _time(text: str | None) -> datetime:
    if text is None:
        return datetime.now().astimezone().replace(microsecond=0)
    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise UsageError(f"--time {text}", "ISO 8601, e.g. 2026-06-01T14:30+02:00") from None
    if time.tzinfo is None:
        raise UsageError(f"--time {text} has no zone", f"add it: {text}Z, or {text}+02:00")
    return time


def _area(path: Path, intake: Intake) -> list[Area]:
    areas = polygons.read_ground(path, intake).areas
    if intake.faults or not areas:
        raise UsageError(f"--area {path}: {'; '.join(intake.faults) or 'holds no polygon'}", "give one of this search")
    return areas


def _about(ground: Ground, latitude: float, longitude: float, size: float, path: Path) -> Ground:
    """Returns the square of a size (m) about a point, with some more, since a map's axes are turned from the grid's.

    Raises UsageError where the model does not reach so far.
    """
    x, y = ground.to_grid(latitude, longitude)
    rows, columns = ground.heights.shape
    half = MARGIN * size / 2.0
    left, right = int((x - half - ground.west) // ground.cell), int((x + half - ground.west) // ground.cell) + 1
    top, bottom = int((ground.north - y - half) // ground.cell), int((ground.north - y + half) // ground.cell) + 1
    part = ground.heights[max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
    if left < 0 or top < 0 or right > columns or bottom > rows or not np.isfinite(part).mean() > 0.9:
        swapped = ground.to_grid(longitude, latitude) if abs(longitude) <= 90.0 else (np.inf, np.inf)
        on = 0.0 <= swapped[0] - ground.west <= columns * ground.cell
        on = on and 0.0 <= ground.north - swapped[1] <= rows * ground.cell
        cure = (
            "did you swap latitude and longitude?" if on else "give another model, a point on it, or a smaller --size"
        )
        raise UsageError(f"{path} does not reach {half:g} m about {latitude:.5f}, {longitude:.5f}", cure)
    return Ground(part, ground.west + left * ground.cell, ground.north - top * ground.cell, ground.cell, ground.crs)
