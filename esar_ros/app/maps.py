"""`esar maps`: list the places, show one as an image with its facts, import one from an elevation model."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from esar_ros.app.arguments import Parser
from esar_ros.geometry.coordinates import grid_position
from esar_ros.mission.errors import UsageError
from esar_ros.mission.map_files import known_maps, settlement_maps, shipped_maps, user_map_directory
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.map_import import CHARACTERS, MAX_HOLE, ImportOptions, import_map
from esar_ros.sim.terrain.map_sheet import position_words, save_sheet
from esar_ros.sim.terrain.maps import PlaceMap, load_map, load_spec


def main(argv: list[str]) -> int:
    """Run the command."""
    arguments = _parser().parse_args(argv)
    return {"list": _list, "show": _show, "import": _import}[arguments.verb](arguments)


def _parser() -> Parser:
    parser = Parser(prog="esar maps", description="The places to fly in.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="all maps, shipped and imported")
    show = verbs.add_parser("show", help="facts of a map, and an image of it")
    show.add_argument("map")
    show.add_argument("--out", type=Path, help="PNG to write; default <map>.png here")
    show.add_argument("--pixels", type=int, default=1400, help="of the image's map, 200 to 4000; default 1400")
    new = verbs.add_parser("import", help="make a map from a GeoTIFF with heights (m above mean sea level)")
    new.add_argument("file", type=Path)
    new.add_argument("--id", required=True, help="small letters, digits and _")
    new.add_argument("--character", choices=sorted(CHARACTERS), required=True, help="decides land cover and plants")
    new.add_argument("--photo", type=Path, help="orthophoto (GeoTIFF): the ground's colour; its own light is taken out")
    new.add_argument("--cover", type=Path, help="raster of ESA WorldCover's classes: land cover, and plants by it")
    new.add_argument("--tracks", type=Path, help="lines of a GIS (GeoJSON, GeoPackage, KML, GPX): tracks and roads")
    new.add_argument("--name")
    new.add_argument("--size", type=float, default=2000.0, help="m, side of the square; default 2000")
    new.add_argument("--samples", type=int, default=1025, help="heights a side, a power of two plus one; default 1025")
    new.add_argument("--centre", metavar="LAT,LON", help="degrees; default the middle of the file's heights")
    new.add_argument("--crs", help="of a file that does not say its own, e.g. EPSG:32648")
    new.add_argument("--max-hole", type=float, default=MAX_HOLE, help=f"m, widest gap to fill; default {MAX_HOLE:.0f}")
    new.add_argument("--out", type=Path, help="folder for the map; default the first of ESAR_MAPS, else the cache")
    return parser


def _list(_: argparse.Namespace) -> int:
    table = Table("map", "place", "side (m)", "centre (deg)", "UTM", "altitude (m)", "from")
    for map_id in known_maps():
        spec, _text = load_spec(map_id)
        where = position_words(spec.origin.latitude, spec.origin.longitude, 4)
        origin = "shipped" if map_id in (*shipped_maps(), *settlement_maps()) else "imported"
        grid = grid_position(spec.origin.latitude, spec.origin.longitude)
        zone = "–" if grid is None else f"{grid.zone}{grid.band}"
        table.add_row(map_id, spec.name, f"{spec.size:.0f}", where, zone, f"{spec.origin.altitude:.0f}", origin)
    Console().print(table)
    return 0


def _show(arguments: argparse.Namespace) -> int:
    if not 200 <= arguments.pixels <= 4000:
        raise UsageError(f"--pixels {arguments.pixels}", "between 200 and 4000")
    spec, _ = load_spec(arguments.map)
    place = load_map(arguments.map)
    path = arguments.out or Path(f"{arguments.map}.png")
    try:
        save_sheet(place, path, arguments.pixels)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {path}: {error}", "choose another --out, ending in .png") from None
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"[bold]{spec.name}[/bold] ({place.id}): {spec.character}")
    for name, value in facts(place).items():
        console.print(f"  {name:<14} {value}")
    console.print(f"Picture: {path}")
    return 0


def facts(place: PlaceMap) -> dict[str, str]:
    """Returns facts about a place for people, in words and numbers."""
    origin = place.origin
    rng = np.random.default_rng(0)
    xy = rng.uniform(-place.size / 2, place.size / 2, (40_000, 2))
    land = xy[~place.is_water(xy)]
    slopes = np.degrees(place.slope(land))
    low, middle, high = np.percentile(slopes, [10, 50, 90])
    share = np.bincount(place.land_cover.ravel(), minlength=len(LandCover)) / place.land_cover.size
    covers = sorted(
        ((float(share[kind]), kind.name.lower()) for kind in LandCover if share[kind] >= 0.0005), reverse=True
    )
    out = {
        "centre": f"{position_words(origin.latitude, origin.longitude, 5)}, {origin.altitude:.0f} m AMSL",
        "extent": f"{place.size:.0f} m x {place.size:.0f} m, a height every {place.cell:.2f} m",
        "heights": f"{place.heights.min() + origin.altitude:.0f} to {place.heights.max() + origin.altitude:.0f} m AMSL",
        "slope": f"{low:.0f} / {middle:.0f} / {high:.0f} deg (10 / 50 / 90 % of the land), "
        f"{100 * float((slopes >= 45.0).mean()):.0f} % at least 45 deg",
        "land cover": ", ".join(f"{name} {100 * value:.1f} %" for value, name in covers),
    }
    grid = grid_position(origin.latitude, origin.longitude)
    if grid is not None:
        side = "east" if grid.convergence >= 0.0 else "west"
        out["grid"] = (
            f"centre at UTM {grid.utm}, MGRS {grid.mgrs} ({grid.crs}); grid north lies "
            f"{abs(grid.convergence):.2f} deg {side} of the map's north there"
        )
    if place.water_level is not None:
        out["water"] = f"level at {place.water_level + origin.altitude:.0f} m AMSL"
    if place.tracks:
        lengths = {name: float(np.hypot(*np.diff(line, axis=0).T).sum()) for name, line in place.tracks.items()}
        out["tracks"] = ", ".join(f"{name} {length / 1000:.1f} km" for name, length in lengths.items())
    if place.structures:
        names = [item.asset.removeprefix("structure_").split("/")[0].replace("_", " ") for item in place.structures]
        out["structures"] = ", ".join(f"{names.count(name)} {name}" for name in dict.fromkeys(names))
    out["local time"] = f"UTC{place.utc_offset:+.1f} h"
    return out


def _import(arguments: argparse.Namespace) -> int:
    options = ImportOptions(
        id=arguments.id,
        character=arguments.character,
        size=arguments.size,
        samples=arguments.samples,
        centre=None if arguments.centre is None else _centre(arguments.centre),
        name=arguments.name,
        crs=arguments.crs,
        max_hole=arguments.max_hole,
        photo=arguments.photo,
        cover=arguments.cover,
        tracks=arguments.tracks,
    )
    made = import_map(arguments.file, options, arguments.out)
    filled = f", {100 * made.filled:.1f} % of the ground filled in" if made.filled else ""
    covered = f", land cover of {100 * made.covered:.0f} % told" if arguments.cover else ""
    tracks = f", {len(made.spec.tracks)} tracks" if arguments.tracks else ""
    around = f", {100 * made.around:.0f} % of the ground to the horizon known" if made.around else ""
    print(f"Map {made.spec.id}: {made.path} ({made.cell:.1f} m cells{filled}{covered}{tracks}{around})")
    if arguments.out is not None and arguments.out.resolve() != user_map_directory().resolve():
        print(f"To use it: export ESAR_MAPS={arguments.out.resolve()}")
    print(f"Look at it: esar maps show {made.spec.id}")
    return 0


def _centre(text: str) -> tuple[float, float]:
    parts = text.split(",")
    try:
        latitude, longitude = (float(part) for part in parts)
    except ValueError:
        raise UsageError(f"--centre {text}", "two numbers, LAT,LON in degrees") from None
    if not (math.isfinite(latitude) and abs(latitude) <= 89.0 and math.isfinite(longitude) and abs(longitude) <= 180.0):
        raise UsageError(f"--centre {text}", "degrees: latitude within 89, longitude within 180")
    return latitude, longitude
