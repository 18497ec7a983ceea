"""The surface that a bag's images show: fused for `esar export`, and as a picture in a mission's report."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from PIL import Image

from esar_ros.bags.files import open_bag
from esar_ros.bags.rgbd import RgbdBag
from esar_ros.geometry.geodesy import Origin
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.surface.fusion import REACH, GridFullError, SurfaceGrid
from esar_ros.mapping.surface.picture import view_from_above
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.bag import read_bag

SIZE = (1080, 608)  # px of the picture
QUALITY = 84  # of its JPEG
PICTURE_IMAGES = 300  # of the bag that the picture is made of at most, evenly taken: some seconds
PICTURE_BLOCKS = 50_000  # likewise of the grid

Told = Callable[[int, int, float], None]  # images passed, images that there are, voxel in m


@dataclass(frozen=True)
class FusedBag:
    """A grid into which a bag's images were fused, and of what."""

    grid: SurfaceGrid
    vehicles: tuple[str, ...]
    images: int  # fused
    taken: int  # depth images that were to be
    left_out: Mapping[str, int]  # of them, by why
    frame: str
    cut: bool
    damaged: int  # chunks of the bag


def fuse_bag(
    path: Path,
    voxel: float | None = None,
    tell: Told | None = None,
    most_images: int | None = None,
    **grid: int,
) -> FusedBag:
    """Fuses all coloured depth images of a bag, of all vehicles, reading it image by image.

    By default a voxel is as large as what a pixel covers at the farthest depth that is taken, REACH times the median of
    all pixels' depths; a voxel that is given brings that depth along. Where the grid is full, it is begun again with
    voxels twice as large. most_images: about how many to take, evenly over the flight. grid: see SurfaceGrid. Raises
    UsageError.
    """
    with open_bag(path) as bag:
        source = RgbdBag(bag, path)
        reach = REACH * source.look if voxel is None else voxel * source.focal
        size = reach / source.focal if voxel is None else voxel
        every = max(1, math.ceil(source.count / most_images)) if most_images else 1
        while True:
            surface, views, fused = SurfaceGrid(size, reach, **grid), 0, 0
            try:
                for view in source.images(every):
                    views += 1
                    fused += surface.integrate(view)
                    if tell is not None:
                        tell(source.read, source.count, size)
            except GridFullError:
                size *= 2.0
                continue
            except MapInputError as error:
                raise UsageError(f"{path}: {error}", "give depth in metres (32FC1) or millimetres (16UC1)") from None
            left_out = {
                "when nothing said where the camera was": source.unplaced,
                "without a colour image of the same moment": source.taken - source.unplaced - views,
                f"that show nothing within {reach:.0f} m": views - fused,
            }
            told = {why: count for why, count in left_out.items() if count}
            return FusedBag(surface, source.vehicles, fused, source.taken, told, source.frame, bag.cut, bag.damaged)


def origin_of(path: Path, frame: str) -> Origin | None:
    """Returns the geodetic origin of a bag's frame: of the map frame as a brief states it, of others None."""
    if frame != names.MAP:
        return None
    try:
        return read_bag(path, (names.BRIEF,)).origin
    except UsageError:  # the bag is another system's, which has something else under that name
        return None


def surface_jpeg(bag: Path | None) -> bytes | None:
    """Returns a picture of what a flight has seen; None without Open3D, or where the bag holds no images with depth."""
    if bag is None or find_spec("open3d") is None:
        return None
    try:
        mesh = fuse_bag(bag, most_images=PICTURE_IMAGES, most_blocks=PICTURE_BLOCKS).grid.mesh()
        pixels = view_from_above(mesh, *SIZE)
    except UsageError:
        return None
    if not len(mesh.triangles):
        return None
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=QUALITY)
    return out.getvalue()
