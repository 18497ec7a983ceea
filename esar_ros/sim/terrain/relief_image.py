"""A place from above as a walking map draws it: hill shading, land cover, contours, water, tracks."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.tracks import Track

# Colours of a printed map, sRGB 0..1.
MAP_COLOURS: dict[LandCover, tuple[float, float, float]] = {
    LandCover.GRASS: (0.80, 0.84, 0.62),
    LandCover.ROCK: (0.66, 0.63, 0.60),
    LandCover.SNOW: (0.96, 0.97, 0.99),
    LandCover.SAND: (0.93, 0.84, 0.62),
    LandCover.DIRT: (0.74, 0.63, 0.49),
    LandCover.FOREST: (0.47, 0.62, 0.42),
    LandCover.BLOCKFIELD: (0.74, 0.72, 0.68),
    LandCover.WATER: (0.42, 0.64, 0.78),
    LandCover.SALT: (0.90, 0.88, 0.84),
    LandCover.GOBI: (0.72, 0.65, 0.56),
    LandCover.CLAY: (0.84, 0.72, 0.53),
    LandCover.ICE: (0.70, 0.84, 0.92),
    LandCover.SCRUB: (0.64, 0.73, 0.50),
    LandCover.PAVED: (0.78, 0.77, 0.75),
}


def photographed(relief: NDArray[np.uint8], imagery: NDArray[np.uint8] | None) -> NDArray[np.uint8]:
    """Returns a relief (n, n, 3) RGB, north up, with a map's photograph over it where that shows the ground.

    imagery: as a PlaceMap has it, (k, k, 4) RGBA, rows south to north; None: none is known.
    """
    if imagery is None:
        return relief
    shown = cv2.resize(np.ascontiguousarray(imagery[::-1]), relief.shape[1::-1], interpolation=cv2.INTER_AREA)
    return np.where(shown[..., 3:] > 127, shown[..., :3], relief)


def relief_image(
    heights: NDArray[np.float32],
    cover: NDArray[np.uint8],
    size: float,
    seed: int,
    tracks: Sequence[Track],
    pixels: int,
) -> NDArray[np.uint8]:
    """North-up image (pixels, pixels, 3) RGB of a map's heights and land cover, (n, n) each, side `size` m."""
    n = heights.shape[0]
    z = _resample(heights.astype(np.float32), pixels)
    step = size / pixels
    gy, gx = np.gradient(z, step)
    # Flat country is drawn with more relief, mountains with less: the image's contrast stays about the same.
    exaggeration = float(np.clip(0.5 / max(float(np.percentile(np.hypot(gx, gy), 80)), 1e-3), 0.3, 6.0))
    shade = _hill_shade(gx * exaggeration, gy * exaggeration)
    # High ground stands out a little in mountains.
    span = float(z.max() - z.min())
    shade *= 1.0 + 0.16 * min(span / 800.0, 1.0) * ((z - z.mean()) / max(span, 1.0))
    palette = np.array([MAP_COLOURS[kind] for kind in LandCover], dtype=np.float32)
    colour = np.stack([_resample(palette[cover][..., k], pixels) for k in range(3)], axis=-1)
    share = _resample((cover == LandCover.FOREST).astype(np.float32), pixels)
    dots = np.random.default_rng(seed).random((pixels, pixels), dtype=np.float32)
    colour *= (1.0 - 0.22 * share * dots)[..., None]
    water = _resample((cover == LandCover.WATER).astype(np.float32), pixels)
    colour *= (water + (1.0 - water) * shade)[..., None]
    if (cover == LandCover.WATER).any():
        # Shallow water is light, the shore a fine line.
        far = cv2.distanceTransform((water > 0.5).astype(np.uint8), cv2.DIST_L2, 5) * step
        deep = np.clip(far / 350.0, 0.0, 1.0) ** 0.5
        colour *= (1.0 - water * 0.32 * deep)[..., None]
        shore = np.clip(1.0 - np.abs(water - 0.5) * 2.4, 0.0, 1.0)
        colour *= (1.0 - 0.35 * shore)[..., None]
    _draw_contours(colour, z, water)
    image = np.ascontiguousarray(np.clip(colour[::-1] * 255.0, 0, 255).astype(np.uint8))
    for track in tracks:
        _draw_track(image, track, size, cover, n)
    return image


def _resample(grid: NDArray[np.float32], pixels: int) -> NDArray[np.float32]:
    """(n, n) samples at corners to (pixels, pixels) pixel centres, averaged when it shrinks; rows stay south first."""
    n = grid.shape[0]
    sigma = 0.5 * (n - 1) / pixels
    source = cv2.GaussianBlur(grid, (0, 0), sigma) if sigma > 0.6 else grid
    at = ((np.arange(pixels, dtype=np.float32) + 0.5) * np.float32((n - 1) / pixels)).astype(np.float32)
    columns, rows = np.meshgrid(at, at)
    return np.asarray(
        cv2.remap(np.ascontiguousarray(source), columns, rows, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    )


def _hill_shade(gx: NDArray[np.float32], gy: NDArray[np.float32]) -> NDArray[np.float32]:
    """Brightness, 0.87 on level ground: a north-western sun, and a weaker one from the west for depth in shadow."""
    length = np.sqrt(gx * gx + gy * gy + 1.0)
    total = np.zeros_like(gx)
    for (east, north, up), weight in (((-0.5, 0.5, 0.7071), 0.75), ((-0.87, -0.1, 0.48), 0.25)):
        total += weight * np.clip((-gx * east - gy * north + up) / length, 0.0, None) / up
    return np.asarray(0.20 + 0.86 * (1.0 - np.exp(-1.5 * total)))


def _draw_contours(colour: NDArray[np.float32], z: NDArray[np.float32], water: NDArray[np.float32]) -> None:
    """Darken contour lines, every fifth stronger; about a dozen index lines over the map's range; in place."""
    span = float(z.max() - z.min())
    interval = next((step for step in (2.0, 5.0, 10.0, 20.0, 50.0) if span / step <= 45.0), 100.0)
    gy, gx = np.gradient(z)
    slope = np.hypot(gx, gy) + 1e-6  # m a pixel
    for every, strength in ((interval, 0.16), (5.0 * interval, 0.34)):
        off = np.abs(z / every - np.rint(z / every)) * every / slope  # px from the line
        crowded = np.clip(
            every / slope / 4.0 - 0.5, 0.0, 1.0
        )  # lines closer than a few px merge to grey: leave them out
        line = np.clip(1.1 - off, 0.0, 1.0) * crowded * (water < 0.02)
        colour *= (1.0 - strength * line)[..., None]


def _draw_track(image: NDArray[np.uint8], track: Track, size: float, cover: NDArray[np.uint8], n: int) -> None:
    """A dashed red line for foot paths, a double line for tracks wide enough to drive on."""
    pixels = image.shape[0]
    at = (track.line + size / 2) * (pixels / size)
    points = np.column_stack([at[:, 0], pixels - at[:, 1]])
    weight = max(1, round(pixels / 700))
    if track.width > 3.0:
        fixed = np.rint(points * 16).astype(np.int32).reshape(-1, 1, 2)
        cv2.polylines(image, [fixed], False, (96, 72, 52), weight + 2, cv2.LINE_AA, 4)
        cv2.polylines(image, [fixed], False, (250, 240, 214), weight, cv2.LINE_AA, 4)
        return
    steps = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    dash, gap = 7.0 * weight, 4.0 * weight
    for start in np.arange(0.0, steps[-1], dash + gap):
        s = np.linspace(start, min(start + dash, steps[-1]), 6)
        piece = np.column_stack([np.interp(s, steps, points[:, 0]), np.interp(s, steps, points[:, 1])])
        fixed = np.rint(piece * 16).astype(np.int32).reshape(-1, 1, 2)
        cv2.polylines(image, [fixed], False, (178, 40, 34), weight + 1, cv2.LINE_AA, 4)
