"""Far terrain: coarse ground from the map's border to the horizon. Seen, never reached.

It is the model's own around an imported map, as far as the model reaches, and else invented, of the place's kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from esar_ros.sim.terrain.land_cover import ALBEDO, LandCover
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.terrain.noise import fbm, ridged
from esar_ros.sim.terrain.surroundings import ALONG, OUTWARD, square_border

_FOREST, _SEA = np.array([0.050, 0.066, 0.032]), np.array([0.018, 0.045, 0.058])
_COLOURS_OF_THE_EDGE, _HEIGHT_OF_THE_EDGE = 150.0, 200.0  # m beyond the border that it tells what lies there
_SEEN_OFTEN = 0.005  # share of the map from which a land cover's colour is the map's own
_BLEND = 4.0  # rings or points over which the model's ground goes over into invented ground
_STEEP = (0.80, 0.68)  # z of the normal from which the model's slopes are rock
_SNOW, _CLIFF = np.array([0.74, 0.77, 0.81]), np.array([0.14, 0.135, 0.13])


@dataclass(frozen=True)
class Grid:
    """Vertices of far terrain, and its roughness."""

    outward: tuple[float, ...]  # m beyond the border
    along: int  # quads a side
    octaves: int  # of crests
    rough: float  # m, deviation of a relief of some 250 m, of peaks; hills have half of it


COARSE = Grid((0.0, 40.0, 120.0, 300.0, 700.0, 1500.0, 2800.0, 4600.0, 7000.0), 48, 4, 0.0)
FINE = Grid((0.0, 30.0, 90.0, 180.0, 320.0, 560.0, 1000.0, 1800.0, 3400.0, 7000.0), 64, 6, 45.0)
# Faces of peaks look at the eye: drawn with quads much longer than wide they are curtains.
PEAKS = Grid((0.0, 30.0, 70.0, *(120.0 * 1.28**k for k in range(16)), 7000.0), 64, 6, 45.0)
SURVEYED = Grid(OUTWARD, ALONG, 6, 45.0)  # where the model's ground around the map is known


@dataclass(frozen=True, eq=False)
class FarTerrain:
    """vertices (V, 6): position, normal; faces: (T, 3) a side; spheres (4, 4) about the sides: x y z r."""

    vertices: NDArray[np.float32]
    faces: tuple[NDArray[np.int32], ...]
    spheres: NDArray[np.float64]


def far_grid(place: PlaceMap, fine: bool) -> Grid:
    """Vertices for images; fine: of high quality."""
    if place.surroundings is not None:
        return SURVEYED
    if not fine:
        return COARSE
    return PEAKS if place.horizon == "peaks" else FINE


def build_far_terrain(place: PlaceMap, grid: Grid = COARSE) -> FarTerrain:
    """Ground from the place's border outwards."""
    half = place.size / 2
    border = square_border(half, grid.along)
    edge = place.ground_height(border)
    ring, rows = border.shape[0], len(grid.outward)
    points = np.empty((rows, ring, 3))
    for row, s in enumerate(grid.outward):
        points[row, :, :2] = xy = border * (1.0 + s / half)
        points[row, :, 2] = _height(place, xy, edge, s, grid)
    if grid is SURVEYED:
        points[..., 2] = _surveyed(place, edge, points[..., 2])
    flat = points.reshape(-1, 3)
    index = np.arange(len(flat)).reshape(rows, ring)
    faces, spheres = [], []
    for side in range(4):
        columns = np.arange(side * grid.along, (side + 1) * grid.along)
        a, b = index[:-1, columns], index[:-1, (columns + 1) % ring]
        c, d = index[1:, columns], index[1:, (columns + 1) % ring]
        triangles = np.concatenate([np.stack([a, b, d], -1).reshape(-1, 3), np.stack([a, d, c], -1).reshape(-1, 3)])
        faces.append(triangles.astype(np.int32))
        used = flat[np.unique(triangles)]
        centre = (used.min(axis=0) + used.max(axis=0)) / 2
        spheres.append([*centre, float(np.linalg.norm(used - centre, axis=1).max())])
    normals = np.zeros_like(flat)
    for triangles in faces:
        corner = flat[triangles]
        n = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        n *= np.sign(n[:, 2:])
        for k in range(3):
            np.add.at(normals, triangles[:, k], n)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)
    table = np.column_stack([flat, normals]).astype(np.float32)
    return FarTerrain(np.ascontiguousarray(table), tuple(faces), np.array(spheres))


def paint_far_terrain(
    place: PlaceMap, albedo: NDArray[np.uint8], grid: Grid = COARSE, up: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Albedo (V, 3) of the vertices; albedo (m, m, 3): the ground's texture, square roots of linear colour.

    up: (V,) z of the vertices' normals; where they are given, peaks are rock where no snow can lie.
    """
    paint = _paint_invented(place, albedo, grid, up)
    if grid is not SURVEYED or place.surroundings is None:
        return paint
    colours = _cover_colours(place, albedo)[place.surroundings.cover].reshape(-1, 3)
    if up is not None:
        steep = np.clip((_STEEP[0] - up) / (_STEEP[0] - _STEEP[1]), 0.0, 1.0)[:, None]
        colours = colours * (1.0 - steep) + ALBEDO[LandCover.ROCK] * steep
    away = np.minimum(1.0, np.array(grid.outward) / _COLOURS_OF_THE_EDGE)[:, None, None]
    rings = paint.reshape(len(grid.outward), -1, 3)
    own = rings[0] + (colours.reshape(rings.shape) - rings[0]) * away
    return np.asarray(rings + (own - rings) * _share(place)[..., None], dtype=np.float32).reshape(-1, 3)


def _surveyed(place: PlaceMap, edge: NDArray[np.float64], invented: NDArray[np.float64]) -> NDArray[np.float64]:
    """Heights (rings, points) of the model where it is known; at the border the map's own."""
    assert place.surroundings is not None
    heights = place.surroundings.heights.astype(np.float64)
    near = np.maximum(0.0, 1.0 - np.array(OUTWARD) / _HEIGHT_OF_THE_EDGE)[:, None]
    model = heights + np.nan_to_num(edge - heights[0]) * near
    share = _share(place)
    return np.where(share > 0.0, share * np.nan_to_num(model) + (1.0 - share) * invented, invented)


def _share(place: PlaceMap) -> NDArray[np.float64]:
    """Share (rings, points) of the model in what is drawn: 1 well within its data, 0 without."""
    assert place.surroundings is not None
    known = np.isfinite(place.surroundings.heights)
    if known.all():
        return np.ones(known.shape)
    around = np.concatenate([known[:, -8:], known, known[:, :8]], axis=1)
    return np.asarray(np.clip(distance_transform_edt(around)[:, 8:-8] / _BLEND, 0.0, 1.0) * known)


def _cover_colours(place: PlaceMap, albedo: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Albedo (classes, 3) of each land cover as the map shows it, of woods from above."""
    every = max(1, place.samples // 256)
    cover = place.land_cover[::every, ::every]
    at = (np.arange(0, place.samples, every) * (albedo.shape[0] - 1)) // (place.samples - 1)
    shown = (albedo[np.ix_(at, at)].astype(np.float64) / 255.0) ** 2
    out = ALBEDO.astype(np.float64)
    for kind in LandCover:
        own = cover == kind
        if kind is not LandCover.WATER and own.mean() > _SEEN_OFTEN:
            out[kind] = shown[own].mean(axis=0)
    out[LandCover.FOREST] = _FOREST
    return out


def _paint_invented(
    place: PlaceMap, albedo: NDArray[np.uint8], grid: Grid, up: NDArray[np.float32] | None
) -> NDArray[np.float32]:
    half = place.size / 2
    border = square_border(half, grid.along)
    edge = place.ground_height(border)
    size = albedo.shape[0]
    texel = np.clip(((border * 0.995 + half) / place.size * size).astype(int), 0, size - 1)
    at_edge = (albedo[texel[:, 1], texel[:, 0]].astype(np.float64) / 255.0) ** 2
    cut = np.isin(place.cover_at(border), (LandCover.PAVED, LandCover.WATER))
    if place.plan is not None and not cut.all():  # streets and lakes of settlements end at the map's edge
        at_edge[cut] = np.median(at_edge[~cut], axis=0)
    mean = ((albedo[::16, ::16].reshape(-1, 3).astype(np.float64) / 255.0) ** 2).mean(axis=0)
    paint = np.empty((len(grid.outward), border.shape[0], 3))
    for row, s in enumerate(grid.outward):
        blend = min(1.0, s / (100.0 if grid.rough else 300.0))  # colours of the border, drawn out, look like curtains
        paint[row] = at_edge * (1.0 - blend) + _colour(place, border * (1.0 + s / half), edge, mean) * blend
    if up is not None and place.horizon == "peaks":
        uneven = np.array([ridged(x / 420.0, y / 420.0, 3, place.seed + 911) for x, y in _rings(half, border, grid)])
        steep = np.clip((0.93 - up + 0.30 * (uneven - 0.45)) / 0.10, 0.0, 0.9)[:, None]
        peaks = (1.1 * ALBEDO[LandCover.SNOW]) * (1.0 - steep) + _CLIFF * steep
        away = np.repeat(np.minimum(1.0, np.array(grid.outward) / 100.0), len(border))[:, None]
        return np.asarray(paint.reshape(-1, 3) * (1.0 - away) + peaks * away, dtype=np.float32)
    return paint.reshape(-1, 3).astype(np.float32)


def _rings(half: float, border: NDArray[np.float64], grid: Grid) -> NDArray[np.float64]:
    """Places (V, 2) of all vertices."""
    return np.concatenate([border * (1.0 + s / half) for s in grid.outward])


def _hills(place: PlaceMap, xy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Broad relief (N,), about -1 to 1; colours follow it, too."""
    return np.array([fbm(x / 1900.0, y / 1900.0, 4, place.seed + 900, 0.5) for x, y in xy])


def _level(place: PlaceMap) -> float:
    return 0.0 if place.water_level is None else place.water_level


def _is_wet(place: PlaceMap, edge: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(edge <= _level(place) + 0.05)


def _height(
    place: PlaceMap, xy: NDArray[np.float64], edge: NDArray[np.float64], s: float, grid: Grid
) -> NDArray[np.float64]:
    """Heights (N,) at points (N, 2), s metres beyond the border, where the ground is at edge (N,)."""
    hills = _hills(place, xy)
    uneven = np.zeros(len(xy))
    if grid.rough:
        uneven = min(1.0, s / 150.0) * np.array([fbm(x / 260.0, y / 260.0, 3, place.seed + 903, 0.55) for x, y in xy])
    near = np.exp(-s / 600.0)
    grown = 1.0 - np.exp(-s / 2200.0)
    if place.horizon == "flat":
        return edge * near + (1.0 - near) * (float(edge.mean()) + 6.0 * hills)
    if place.horizon == "sea":
        level = _level(place)
        inland = level + 8.0 + 260.0 * grown * np.clip(0.35 + hills, 0.0, 1.2)
        land = np.maximum(edge * near + (1.0 - near) * inland + 0.5 * grid.rough * uneven, level + 2.0)
        return np.where(_is_wet(place, edge), level, land)
    crests = np.array([ridged(x / 3600.0, y / 3600.0, grid.octaves, place.seed + 907) for x, y in xy])
    if place.horizon == "peaks":
        low, high = float(edge.min()), float(place.heights.max())
        valley = low - 500.0 * min(1.0, s / 1200.0)
        peaks = valley + grown * 0.62 * (high - valley) * np.clip(crests, 0.0, 1.2)
        if grid.rough:  # flutings and buttresses
            ribs = np.array([ridged(x / 700.0, y / 700.0, 4, place.seed + 909) for x, y in xy])
            uneven = uneven + 5.0 * min(1.0, s / 900.0) * (ribs - 0.5)
        return edge * near + (1.0 - near) * peaks + grid.rough * uneven
    rise = 420.0 * grown * np.clip(crests - 0.15, 0.0, 1.2) + 70.0 * (1.0 - near) * hills
    return edge * near + (1.0 - near) * float(edge.mean()) + rise + 0.5 * grid.rough * uneven


def _colour(
    place: PlaceMap, xy: NDArray[np.float64], edge: NDArray[np.float64], mean: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Albedo (N, 3) at points (N, 2) far from the border; mean: of the place."""
    hills = _hills(place, xy)
    tone = (1.0 + 0.25 * hills)[:, None]
    if place.horizon == "flat":
        return mean * tone
    if place.horizon == "peaks":
        rock = np.clip(0.5 - 1.6 * hills, 0.0, 0.8)[:, None]
        return _SNOW * (1.0 - rock) + _CLIFF * rock
    if place.horizon == "sea":
        return np.where(_is_wet(place, edge)[:, None], _SEA, _FOREST * tone)
    return _FOREST * tone
