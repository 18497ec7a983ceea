"""`esar export BAG --to ply,glb`: what a bag's cameras saw, as a coloured point cloud and a coloured mesh."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from esar_ros import __version__
from esar_ros.app.arguments import Parser
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.scoring.result import write_atomically

FORMATS = {"ply": "cloud.ply", "glb": "mesh.glb"}
VOXELS = (0.005, 10.0)  # m


def main(argv: list[str]) -> int:
    """Run the command."""
    parser = Parser(
        prog="esar export",
        description="Fuse the colour and depth images of a bag, of all its vehicles, into one surface: cloud.ply holds "
        "points, mesh.glb triangles, both in colour and in metres (extra open3d).",
    )
    parser.add_argument("bag", help="folder of a mission recorded with --record full, or a bag with images and depth")
    parser.add_argument("--to", default=",".join(FORMATS), metavar="FORMATS", help="by commas (default: %(default)s)")
    parser.add_argument("--out", metavar="DIR", help="where to write (default: beside the bag)")
    parser.add_argument(
        "--voxel",
        type=float,
        metavar="M",
        help="m, what is told apart (default: a pixel's size where depth is cut off)",
    )
    arguments = parser.parse_args(argv)
    formats = _formats(arguments.to)
    if arguments.voxel is not None and not VOXELS[0] <= arguments.voxel <= VOXELS[1]:
        raise UsageError(f"--voxel {arguments.voxel:g}", f"give {VOXELS[0]:g} to {VOXELS[1]:g} m")
    given = Path(arguments.bag)
    bag = given / "bag" if (given / "bag").exists() else given
    return _export(bag, formats, Path(arguments.out) if arguments.out else bag.absolute().parent, arguments.voxel)


def _formats(text: str) -> list[str]:
    """Raises UsageError."""
    formats = list(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    for name in formats:
        if name not in FORMATS:
            raise UsageError(f"--to {name} is not written", suggest(name, FORMATS))
    if not formats:
        raise UsageError("--to names nothing", f"known: {', '.join(FORMATS)}")
    return formats


def _export(bag: Path, formats: list[str], out: Path, voxel: float | None) -> int:
    from esar_ros.benchmark.report.mission_surface import fuse_bag, origin_of
    from esar_ros.mapping.surface.files import glb_bytes, ply_bytes
    from esar_ros.mapping.surface.fusion import load_open3d

    load_open3d()  # before the bag is read
    console = Console(highlight=False, soft_wrap=True)
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
    return 0
