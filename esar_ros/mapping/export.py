"""The map for people: point files, pictures, georeferenced layers, a viewer.

Open3D (the viewer) and rasterio (GeoTIFF) are not part of the default install and are imported only here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.mapping.layers.ground_plan import HeightLayers
from esar_ros.mapping.mapper import Mapper
from esar_ros.mission.errors import UsageError

PICTURE_CELL = 2.0  # m a pixel
_UNKNOWN = (38, 40, 46)  # colour of what nobody has seen
# Colours from valley to summit, light throughout so that shading shows.
_RELIEF = np.array([(92, 140, 88), (168, 190, 120), (222, 205, 150), (176, 136, 108), (246, 246, 248)], float)
_SUN = np.array([-0.5, 0.5, 0.7]) / np.linalg.norm([-0.5, 0.5, 0.7])  # north-west, as on paper maps


@dataclass(frozen=True)
class MapPicture:
    """An RGB picture of the map, north up."""

    rgb: NDArray[np.uint8]  # (rows, columns, 3), first row in the north
    west: float  # m, map frame, left edge
    north: float  # m, map frame, upper edge
    cell: float  # m a pixel

    def write(self, path: Path) -> None:
        """As a PNG or JPEG file, by the path's suffix. Raises UsageError."""
        if not cv2.imwrite(str(path), cv2.cvtColor(self.rgb, cv2.COLOR_RGB2BGR)):
            raise UsageError(f"{path}: the picture cannot be written", "name a .png in a folder that is there")


def height_colors(heights: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Colours (N, 3) of heights (N,) in m, from the lowest to the highest."""
    if not len(heights):
        return np.zeros((0, 3), np.uint8)
    low, high = np.percentile(heights, (1.0, 99.0))
    share = np.clip((heights - low) / max(high - low, 1e-3), 0.0, 1.0)
    steps = np.linspace(0.0, 1.0, len(_RELIEF))
    return np.stack([np.interp(share, steps, _RELIEF[:, n]) for n in range(3)], axis=1).astype(np.uint8)


def write_ply(path: Path, points: NDArray[np.floating], colors: NDArray[np.uint8] | None = None) -> None:
    """Points (N, 3) in m, map frame, with colours (N, 3) as binary little-endian PLY 1.0."""
    if points.ndim != 2 or points.shape[1] != 3 or (colors is not None and colors.shape != points.shape):
        raise ValueError(f"no cloud of {points.shape} points with colours {None if colors is None else colors.shape}")
    kinds: list[tuple[str, str]] = [(axis, "<f4") for axis in "xyz"]
    lines = ["ply", "format binary_little_endian 1.0", "comment metres, east north up", f"element vertex {len(points)}"]
    lines += [f"property float {axis}" for axis in "xyz"]
    if colors is not None:
        kinds += [(color, "u1") for color in ("red", "green", "blue")]
        lines += [f"property uchar {color}" for color in ("red", "green", "blue")]
    rows = np.empty(len(points), kinds)
    for n, axis in enumerate("xyz"):
        rows[axis] = points[:, n]
    if colors is not None:
        for n, color in enumerate(("red", "green", "blue")):
            rows[color] = colors[:, n]
    path.write_bytes("\n".join([*lines, "end_header", ""]).encode() + rows.tobytes())


def map_picture(heights: HeightLayers) -> MapPicture:
    """Returns a map image of known ground and trees from above: colour by height, shaded, lit from the north-west."""
    step = max(1, round(PICTURE_CELL / heights.resolution))
    top = _coarser(np.where(np.isnan(heights.top), -np.inf, heights.top), step)
    known = np.isfinite(top)
    cell = step * heights.resolution
    surface = np.where(known, top, top[known].mean() if known.any() else 0.0)
    if min(surface.shape) > 1:
        dy, dx = np.gradient(surface, cell)
    else:
        dy, dx = np.zeros_like(surface), np.zeros_like(surface)
    light = (_SUN[2] - _SUN[0] * dx - _SUN[1] * dy) / np.sqrt(1.0 + dx**2 + dy**2)
    color = (
        height_colors(surface.ravel()).reshape(*surface.shape, 3) * np.clip(0.35 + 0.65 * light, 0.2, 1.0)[..., None]
    )
    rgb = np.where(known[..., None], color, _UNKNOWN).astype(np.uint8)
    return MapPicture(rgb[::-1], heights.origin[0], heights.origin[1] + len(rgb) * cell, cell)


def coverage_picture(mapper: Mapper) -> MapPicture:
    """Returns a map image of the view quality of each cell of the search area.

    Dark to bright by quality; the rest of the area grey, outside it black.
    """
    coverage = mapper.coverage
    levels = np.round(255 * np.sqrt(coverage.quality)).astype(np.uint8)
    color = cv2.cvtColor(cv2.applyColorMap(levels, cv2.COLORMAP_VIRIDIS), cv2.COLOR_BGR2RGB)
    rgb = np.where(coverage.covered[..., None], color, np.where(coverage.inside[..., None], 70, 20)).astype(np.uint8)
    north = coverage.origin[1] + len(rgb) * coverage.cell
    return MapPicture(rgb[::-1], coverage.origin[0], north, coverage.cell)


def write_geotiff(
    path: Path,
    layers: Mapping[str, NDArray[Any]],
    corner: tuple[float, float],
    cell: float,
    origin: tuple[float, float],
) -> None:
    """Layers (rows = y) of one shape as bands of a float32 GeoTIFF.

    `corner` is the lower corner (m, map frame), `origin` the latitude and longitude (degrees, WGS 84)
    of the map frame's origin; the projection is azimuthal equidistant around it. Needs rasterio.
    """
    try:
        import rasterio
    except ImportError:
        raise UsageError("a GeoTIFF needs rasterio", "pip install rasterio") from None
    arrays = {name: np.asarray(layer, np.float32) for name, layer in layers.items()}
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) != 1:
        raise ValueError(f"layers of one shape are expected, got {sorted(shapes)}")
    rows, columns = shapes.pop()
    crs = f"+proj=aeqd +lat_0={origin[0]!r} +lon_0={origin[1]!r} +datum=WGS84 +units=m +no_defs"
    transform = rasterio.Affine(cell, 0.0, corner[0], 0.0, -cell, corner[1] + rows * cell)
    profile = {"driver": "GTiff", "dtype": "float32", "count": len(arrays), "height": rows, "width": columns}
    options = {"crs": crs, "transform": transform, "nodata": float("nan"), "compress": "deflate"}
    with rasterio.open(path, "w", **profile, **options) as file:
        for band, (name, array) in enumerate(arrays.items(), start=1):
            file.write(array[::-1], band)
            file.set_band_description(band, name)


def height_bands(heights: HeightLayers) -> dict[str, NDArray[Any]]:
    """Returns the layers of a GeoTIFF by name; NaN where unknown."""
    return {
        "ground": heights.ground,
        "top": heights.top,
        "above_ground": heights.above_ground,
        "observed": heights.observed,
    }


def open3d_cloud(points: NDArray[np.floating]) -> Any:
    """Points (N, 3) as an Open3D point cloud coloured by height, for its viewer and files. Needs open3d."""
    try:
        import open3d
    except (ImportError, OSError):  # OSError: libraries of the system that it needs are not there
        raise UsageError("the viewer needs Open3D", "pip install open3d") from None
    cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(np.asarray(points, np.float64)))
    cloud.colors = open3d.utility.Vector3dVector(height_colors(points[:, 2]) / 255.0)
    return cloud


def show(points: NDArray[np.floating]) -> None:
    """Open Open3D's viewer on points (N, 3) and return when it is closed. Needs open3d and a display."""
    cloud = open3d_cloud(points)
    import open3d

    open3d.visualization.draw_geometries([cloud], window_name="occupied voxels")


def _coarser(values: NDArray[np.floating], step: int) -> NDArray[np.floating]:
    """The greatest of each step x step cells."""
    rows, columns = (n // step * step for n in values.shape)
    return np.asarray(values[:rows, :columns].reshape(rows // step, step, columns // step, step).max(axis=(1, 3)))
