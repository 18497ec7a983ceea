"""A valley of an elevation model alone, and with a photograph, relief finer than its cells and its own horizon.

`python -m esar_ros.sim.valley_sheet N44W072.hgt --centre 44.2575,-71.2970` writes one JPEG: above what the model's
square gives alone, below the same view with everything. The orthophoto is made up here: woods, meadows, a clear-cut and
a road on the model's ground, lit by a sun of its own. Needs rasterio and pyproj (the extra `geo`).
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import os
import tempfile
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import HIGH
from esar_ros.sim.contact_sheet import write
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.terrain.land_cover import ALBEDO, LandCover
from esar_ros.sim.terrain.map_ground import generate
from esar_ros.sim.terrain.map_import import ImportOptions, import_map
from esar_ros.sim.terrain.map_layers import WORLD_COVER, Square
from esar_ros.sim.terrain.maps import PlaceMap, load_map, load_spec, place_map
from esar_ros.sim.terrain.relief import surface_normals
from esar_ros.sim.world.world import World

_MAP = "valley"
_CELL = (960, 400)  # px of an image
_FIELD = math.radians(75.0)  # of view
_SUN = (0.5, 0.35, 0.79)  # towards the photograph's
_SKY = 0.35  # light of the photograph's sky, over the sun's
_TEXEL = 1.0  # m
_CLEAR_CUT = (-420.0, -60.0, -560.0, -330.0)  # m, map frame: west, east, south, north
_ROAD = ((-990.0, -700.0), (-520.0, -520.0), (-120.0, -260.0), (240.0, -300.0), (600.0, -90.0), (990.0, 60.0))


def photograph(place: PlaceMap) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """A made-up orthophoto (n, n, 3) RGB at _TEXEL and its land cover (m, m) at 10 m, ESA WorldCover's classes.

    Rows run from north to south.
    """
    rng = np.random.default_rng(place.seed)
    side = int(place.size / _TEXEL)
    axis = (np.arange(side) + 0.5) * _TEXEL - place.size / 2
    east, north = np.meshgrid(axis, -axis)
    at = np.stack([east, north], axis=-1)
    cover = place.cover_at(at)
    west, far_east, south, far_north = _CLEAR_CUT
    cut = (east > west) & (east < far_east) & (north > south) & (north < far_north)
    cover = np.where(cut & (cover == LandCover.FOREST), LandCover.GRASS, cover)
    patches = cv2.GaussianBlur(rng.normal(size=(side, side)), (0, 0), 25.0)
    crowns = cv2.GaussianBlur(rng.normal(size=(side, side)), (0, 0), 1.6)
    uneven = 1.0 + 0.20 * patches / patches.std() + 0.16 * crowns / crowns.std()
    colour = ALBEDO[cover] * np.clip(uneven, 0.4, 1.8)[..., None]
    colour[cut] = (colour * (1.0 + 0.15 * np.sin(north / 2.5))[..., None] * (1.15, 0.95, 0.9))[cut]  # rows of brash
    line = (np.array(_ROAD) * (1.0, -1.0) + place.size / 2) / _TEXEL
    road = np.zeros((side, side), np.uint8)
    cv2.polylines(road, [np.rint(line).astype(np.int32).reshape(-1, 1, 2)], False, 255, 4, cv2.LINE_AA)
    colour = np.where(road[..., None] > 100, np.array([0.24, 0.21, 0.17]), colour)
    normals = cv2.resize(surface_normals(place.heights, place.cell)[::-1], (side, side))
    lit = colour * (_SKY + np.maximum(normals @ np.array(_SUN, np.float32), 0.0))[..., None]
    share = np.clip(1.3 * lit, 0.0, 1.0)
    seen = np.where(share <= 0.0031308, 12.92 * share, 1.055 * share ** (1.0 / 2.4) - 0.055)
    classes = np.zeros(len(LandCover), np.uint8)  # what WorldCover does not tell apart, the character decides
    for number, kind in sorted(WORLD_COVER.items(), reverse=True):
        classes[kind] = number
    return (255.0 * seen).astype(np.uint8), classes[cover[5::10, 5::10]]


def sheet(
    source: Path, centre: tuple[float, float], at: tuple[float, float], up: float, yaw: float
) -> NDArray[np.uint8]:
    """RGB image of two views; at (m) and up (m above ground) of the camera, yaw rad. Raises UsageError."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        os.environ["ESAR_MAPS"] = scratch
        bare = ImportOptions(_MAP, "alpine", centre=centre, name="valley")
        import_map(source, bare, folder)
        spec, _ = load_spec(_MAP)
        smooth = spec.model_copy(update={"relief": spec.relief.model_copy(update={"finer": None})})
        before = place_map(smooth, generate(smooth, folder))
        picture, classes = photograph(load_map(_MAP))
        square = Square(*centre, bare.size)
        photo, cover = folder / "photo.tif", folder / "cover.tif"
        _geotiff(photo, np.moveaxis(picture, -1, 0), square)
        _geotiff(cover, classes[None], square)
        import_map(source, dataclasses.replace(bare, photo=photo, cover=cover), folder)
        after = load_map(_MAP)
    return np.vstack([_view(place, at, up, yaw) for place in (before, after)])


def _geotiff(path: Path, bands: NDArray[np.uint8], square: Square) -> None:
    import rasterio

    count, rows, columns = bands.shape
    cell, half = square.size / columns, square.size / 2
    with rasterio.open(
        path, "w", driver="GTiff", height=rows, width=columns, count=count, dtype="uint8", crs=square.projection,
        transform=rasterio.transform.from_origin(-half, half, cell, cell),
    ) as file:  # fmt: skip
        file.write(bands)


def _view(place: PlaceMap, at: tuple[float, float], up: float, yaw: float) -> NDArray[np.uint8]:
    world = World(place, 0)
    eye = np.array([*at, float(world.ground_height(at)) + up])
    renderer = Renderer(world, *_CELL, _FIELD, quality=HIGH)
    image = renderer.render([Pose(eye, quaternion_from_rotation(optical_rotation(yaw, -0.16)))], 0.0).rgb[0]
    renderer.close()
    return np.asarray(image)


def _pair(text: str) -> tuple[float, float]:
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"'{text}'", "two numbers, separated by a comma") from None
    return first, second


def main() -> None:
    """Writes the sheet."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__)
    parser.add_argument("file", type=Path, help="elevation model")
    parser.add_argument("--centre", required=True, help="LAT,LON in degrees")
    parser.add_argument("--at", default="-150,-700", help="X,Y of the camera in m, map frame (default %(default)s)")
    parser.add_argument("--up", type=float, default=90.0, help="m above ground (default %(default)s)")
    parser.add_argument("--heading", type=float, default=150.0, help="degrees from east, counter-clockwise")
    parser.add_argument("--out", type=Path, default=Path("docs/images/valley.jpg"), help="(default %(default)s)")
    arguments = parser.parse_args()
    yaw = math.radians(arguments.heading)
    write(sheet(arguments.file, _pair(arguments.centre), _pair(arguments.at), arguments.up, yaw), arguments.out)
    print(arguments.out)


if __name__ == "__main__":
    main()
