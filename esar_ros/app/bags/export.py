"""`esar export BAG|DIR --to kml,ply`: a bag, or an incident, for other people's tools, on the map or in space."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from esar_ros import __version__
from esar_ros.app.arguments import Parser
from esar_ros.incident.features import Search
from esar_ros.incident.formats import cot
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.system.incident_files import PACKAGE, PLANS
from esar_ros.scoring.result import write_atomically

SURFACES = {"ply": "cloud.ply", "glb": "mesh.glb"}
FEATURES = {
    "geojson": "search.geojson",
    "kml": "search.kml",
    "gpx": "search.gpx",
    "cot": "search.cot",
    "csv": "search.csv",
    "geotiff": "rasters",
    "plan": PLANS,
    "wpml": PLANS,
}
FORMATS = SURFACES | FEATURES
PICTURES = "finds"  # folder of the finds' images
PLANNED = {"plan", "wpml"}
SHOWS_PICTURES = {"geojson", "kml", "csv"}
VOXELS = (0.005, 10.0)  # m
_MODULES = {"csv": "table", "plan": "qgc_plan"}  # of formats that are not called as their module is


def main(argv: list[str]) -> int:
    """Run the command."""
    parser = Parser(
        prog="esar export",
        description="Write what a mission's bag holds for other people's tools. On the map (extra geo): track, finds "
        "with their error, ground that was seen. In space (extra open3d): the images with depth, fused into points "
        "(ply) or triangles (glb). How to open each: docs/how-to/coordinates.md",
    )
    parser.add_argument(
        "bag", help="folder of a mission, its bag (for ply and glb of --record full), or an incident's folder"
    )
    parser.add_argument(
        "--to",
        metavar="FORMATS",
        help=f"by commas, of {', '.join(FORMATS)} (default: {','.join(SURFACES)}; with --cot: cot)",
    )
    parser.add_argument("--out", metavar="DIR", help="where to write (default: beside the bag)")
    parser.add_argument(
        "--voxel",
        type=float,
        metavar="M",
        help="m, what ply and glb tell apart (default: a pixel's size where depth is cut off)",
    )
    parser.add_argument(
        "--cot", metavar="HOST:PORT", help="also send places, finds, areas and ways to ATAK by UDP: a client, or a "
        "multicast group such as 239.2.3.1:6969",
    )  # fmt: skip
    arguments = parser.parse_args(argv)
    host, port = cot.address_of(arguments.cot) if arguments.cot is not None else ("", 0)
    formats = _formats(arguments.to or ("cot" if port else ",".join(SURFACES)))
    if arguments.voxel is not None and not VOXELS[0] <= arguments.voxel <= VOXELS[1]:
        raise UsageError(f"--voxel {arguments.voxel:g}", f"give {VOXELS[0]:g} to {VOXELS[1]:g} m")
    given = Path(arguments.bag)
    bag = given / "bag" if (given / "bag").exists() else given
    beside = given / "export" if (given / PACKAGE).is_file() else bag.absolute().parent
    out = Path(arguments.out) if arguments.out else beside
    console = Console(highlight=False, soft_wrap=True)
    if features := [name for name in formats if name in FEATURES]:
        _write_features(_search_of(bag, features, out), features, out, console)
    if port:
        count = cot.send(_search_of(bag, [], out), host, port)
        console.print(f"{count} events sent to {host}:{port}, which says nothing of having them")
    if surfaces := [name for name in formats if name in SURFACES]:
        _write_surfaces(bag, surfaces, out, arguments.voxel, console)
    return 0


def _formats(text: str) -> list[str]:
    """Raises UsageError."""
    formats = list(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    for name in formats:
        if name not in FORMATS:
            raise UsageError(f"--to {name} is not written", suggest(name, FORMATS))
    if not formats:
        raise UsageError("--to names nothing", f"known: {', '.join(FORMATS)}")
    return formats


def _search_of(given: Path, formats: list[str], out: Path) -> Search:
    """Returns what is to be written, by what kind of thing is given. Raises UsageError."""
    from esar_ros.incident.flight import search_of
    from esar_ros.incident.store import Incident

    if (given / PACKAGE).is_file():
        return Incident.open(given).search
    return search_of(given, out / PICTURES if SHOWS_PICTURES & set(formats) else None)


def _write_features(search: Search, formats: list[str], out: Path, console: Console) -> None:
    """Raises UsageError."""
    for name in formats:
        path = out / FEATURES[name]
        if name == "geotiff" and not search.rasters:
            console.print("geotiff: the bag holds no grid of what was seen (it is kept from --record view on)")
            continue
        if name in PLANNED and not search.sorties:
            console.print(f"{name}: no sortie is planned (esar incident plan DIR)")
            continue
        write: Callable[[Search, Path], None]
        write = import_module(f"esar_ros.incident.formats.{_MODULES.get(name, name)}").write
        write(search, path)
        console.print(str(path))
    points = sum(len(track.time) for track in search.tracks)
    console.print(
        f"{len(search.finds)} finds, {len(search.tracks)} tracks of {points} points, {len(search.areas)} areas, "
        f"{len(search.rasters)} rasters (WGS 84; altitudes above mean sea level)"
    )


def _write_surfaces(bag: Path, formats: list[str], out: Path, voxel: float | None, console: Console) -> None:
    from esar_ros.benchmark.report.mission_surface import fuse_bag, origin_of
    from esar_ros.mapping.surface.files import glb_bytes, ply_bytes
    from esar_ros.mapping.surface.fusion import load_open3d

    load_open3d()  # before the bag is read
    columns = (TextColumn("  Fusing images"), BarColumn(), TextColumn("{task.completed:.0f} / {task.total:.0f}"))
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not sys.stdout.isatty()) as progress:
        task = progress.add_task("", total=math.inf)
        fused = fuse_bag(bag, voxel, lambda read, count, _: progress.update(task, completed=read, total=count))
    left_out = [f"{count} of {fused.taken} images, {why}" for why, count in fused.left_out.items()]
    if not fused.images:
        raise UsageError(f"{bag}: nothing is left to fuse", f"left out are {'; '.join(left_out)}")
    for words in left_out:
        console.print(f"left out: {words}")
    if fused.cut:
        console.print(f"{bag} is cut; what lies before the cut is there")
    if fused.damaged:
        console.print(f"warning: {bag} is damaged: {fused.damaged} chunks are not what their checksums say")
    origin = origin_of(bag, fused.frame)
    written = {}
    if "ply" in formats:
        cloud = fused.grid.cloud()
        written["ply"] = len(cloud.points), "points", ply_bytes(cloud, fused.frame, origin)
    if "glb" in formats:
        mesh = fused.grid.mesh()
        written["glb"] = len(mesh.triangles), "triangles", glb_bytes(mesh, fused.frame, f"esar {__version__}", origin)
    if not all(count for count, _, _ in written.values()):
        raise UsageError(f"{bag}: its {fused.images} images show no surface twice", "give a longer flight")
    console.print(
        f"{fused.images} images of {', '.join(fused.vehicles)} fused in frame {fused.frame}: "
        f"voxels of {fused.grid.voxel:.2g} m, depth up to {fused.grid.reach:.0f} m"
    )
    for name, (count, things, data) in written.items():
        write_atomically(out / FORMATS[name], data)
        console.print(f"{out / FORMATS[name]}  ({count:,} {things}, {len(data) / 1e6:.0f} MB)")
