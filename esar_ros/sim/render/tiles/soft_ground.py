"""Tiles of what grows, lies and is trodden: turf, litter of a forest, earth, sand, snow, a street."""

from __future__ import annotations

import math

import numpy as np

from esar_ros.sim.render.tiles.fields import (
    SIDE,
    SPAN,
    TEXEL,
    Field,
    blend,
    cells,
    leaning,
    noise,
    step,
    stones,
    tinted,
)

Tile = tuple[Field, Field]  # height in m; colour against the map's own, (SIDE, SIDE, 3)
_GREY = (1.55, 1.32, 2.5)  # stones on green ground


def turf() -> Tile:
    """Alpine grass: tussocks, short turf, straw, herbs in round patches, bare spots, a few stones."""
    broad, middle, fine = noise(1, 14.0, 1.6, 1.0), noise(2, 3.0, 0.4, 0.8), noise(3, 0.5, 0.08, 0.3)
    small, herbs = cells(4, 0.62, 0.95, 0.12), cells(9, 1.7, 0.9, 0.12)
    tall = step(-0.3, 1.0, broad + 0.5 * middle)
    tussock = np.clip(small.gap / 0.5, 0.0, 1.0) ** 0.7 * (0.3 + 0.7 * small.lot(1)) * tall
    herb = step(0.10, 0.42, herbs.gap + 0.12 * fine) * (herbs.lot(1) < 0.12)
    bare = step(1.55, 2.1, 0.8 * noise(5, 9.0, 1.2, 1.2) + 0.6 * middle + 0.35 * fine)
    loose = stones(41, {0.6: 0.008, 0.3: 0.012})
    height = 0.085 * tussock + 0.030 * middle + 0.008 * fine + 0.08 * herb + 0.07 * broad - 0.03 * bare
    straw = step(-0.5, 2.0, noise(6, 10.0, 0.6, 1.2) + 0.5 * tussock + 0.3 * fine)
    colour = tinted((1.0, 1.0, 1.0), 1.0 + 0.10 * middle + 0.10 * fine)
    colour = colour * blend(tinted((0.90, 0.97, 0.90), np.ones_like(fine)), (1.48, 1.22, 1.55), straw)
    colour = blend(colour, tinted((0.66, 0.76, 0.70), 1.0 + 0.15 * fine), 0.8 * herb)
    colour = blend(colour, tinted((1.75, 1.15, 2.5), 1.0 + 0.15 * fine), 0.8 * bare)
    colour = blend(colour, tinted(_GREY, loose.tone(5, 0.7, 1.2) * (1.0 + 0.1 * fine)), loose.there)
    return np.maximum(height, loose.height + 0.05 * broad + 0.02), colour


def litter() -> Tile:
    """Forest floor: needles, moss, ferns, deadwood, some stones."""
    fine, middle, broad = noise(111, 0.35, 0.08, 0.3), noise(112, 2.2, 0.3, 0.7), noise(113, 9.0, 1.2, 1.0)
    ferns = cells(114, 0.85, 0.95, 0.12)
    moss = step(0.1, 1.1, broad + 0.55 * middle + 0.2 * fine)
    fern = step(0.05, 0.40, ferns.gap + 0.15 * fine) * (ferns.lot(1) < 0.30) * step(-0.9, 0.4, broad)
    wood, tone = _deadwood(115)
    loose = stones(116, {0.7: 0.012, 0.35: 0.02})
    height = 0.03 * middle + 0.008 * fine + 0.05 * moss + 0.20 * fern * (0.5 + ferns.lot(2)) + 0.05 * broad
    colour = tinted((1.22, 1.02, 1.12), 1.0 + 0.16 * fine + 0.16 * middle)
    colour = blend(colour, tinted((0.86, 1.16, 0.76), 1.0 + 0.2 * fine), 0.75 * moss)
    colour = blend(colour, tinted((0.94, 1.26, 0.82), 0.75 + 0.5 * ferns.lot(3) + 0.2 * fine), 0.8 * fern)
    colour = blend(colour, tinted((2.0, 1.7, 2.6), tone * (1.0 + 0.15 * fine)), np.asarray(wood > 0.0, np.float32))
    colour = blend(colour, tinted((1.6, 1.5, 2.1), loose.tone(5, 0.55, 1.1) * (1.0 + 0.1 * fine)), loose.there)
    return np.maximum(height, np.maximum(np.where(wood > 0.0, wood, -1.0), loose.height)), colour


def _deadwood(seed: int) -> Tile:
    """Fallen stems and branches: height, 0 where none lies, and brightness; they cross the tile's edges."""
    rng = np.random.default_rng(seed)
    height, tone = np.zeros((SIDE, SIDE), dtype=np.float32), np.ones((SIDE, SIDE), dtype=np.float32)
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) * np.float32(TEXEL)
    for k in range(46):
        long, radius = (rng.uniform(4.0, 9.0), rng.uniform(0.11, 0.2)) if k < 7 else (rng.uniform(0.6, 2.4), 0.055)
        (at_x, at_y), angle = rng.uniform(0.0, SPAN, 2), rng.uniform(0.0, math.pi)
        dx, dy = (x - at_x + SPAN / 2) % SPAN - SPAN / 2, (y - at_y + SPAN / 2) % SPAN - SPAN / 2
        along, off = dx * math.cos(angle) + dy * math.sin(angle), dy * math.cos(angle) - dx * math.sin(angle)
        thin = radius * (1.0 - 0.45 * (along / long + 0.5))
        body = np.where(np.abs(along) < long / 2, 1.0 - (off / thin) ** 2, 0.0)
        h = (1.6 * thin * np.sqrt(np.maximum(body, 0.0))).astype(np.float32)
        tone = np.where(h > height, np.float32(rng.uniform(0.7, 1.25)), tone)
        height = np.maximum(height, h)
    return height, tone


def earth() -> Tile:
    """Trodden and driven ground: fine gravel pressed into dust, few loose stones; smoother than what lies beside it."""
    fine, middle, broad = noise(121, 0.3, 0.08, 0.3), noise(122, 2.5, 0.3, 0.8), noise(124, 9.0, 2.0, 1.0)
    loose = stones(123, {0.28: 0.02, 0.16: 0.10})
    colour = tinted((1.0, 1.0, 1.0), 1.0 + 0.11 * fine + 0.09 * middle + 0.06 * broad)
    colour = blend(colour, tinted((1.15, 1.2, 1.3), loose.tone(5, 0.65, 1.25)), 0.8 * loose.there)
    return np.maximum(0.009 * fine + 0.018 * middle, 0.7 * loose.height), colour


def sand() -> Tile:
    """Ripples of the wind large enough for a camera, on low undulations; dust in the troughs."""
    bent, fine, middle = noise(81, 12.0, 1.5, 1.4), noise(82, 0.3, 0.08, 0.3), noise(83, 5.0, 0.6, 1.0)
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) * np.float32(2.0 * np.pi / SIDE)
    phase = 46.0 * x + 27.0 * y + 2.6 * bent
    waves = np.sin(phase) + 0.35 * np.sin(2.0 * phase)
    strong = step(-1.2, 1.0, noise(84, 13.0, 3.0, 1.2))
    colour = tinted((1.0, 1.0, 1.0), 1.0 + 0.045 * fine + 0.05 * middle - 0.03 * waves * strong)
    return 0.022 * waves * strong + 0.08 * bent + 0.004 * fine, colour


def snow() -> Tile:
    """Wind-packed snow: sastrugi with steep noses, crust worn down in terraces, soft drifts over both, glazed spots.

    The ridges run on and into each other: single dark hollows on snow would be taken for footprints.
    """
    wind = 0.3  # rad
    drift = noise(72, 16.0, 3.0, 1.5, (2.2, 1.0), wind)
    coarse = noise(71, 3.2, 0.9, 1.2, (3.5, 1.0), wind)
    ridges = noise(75, 1.3, 0.25, 1.0, (4.0, 1.0), wind)
    fine = noise(74, 0.5, 0.08, 0.4, (1.6, 1.0), wind)
    layers = 1.0 * noise(76, 6.0, 0.6, 1.3, (4.0, 1.0), wind) + 0.22 * ridges
    worn = np.floor(layers) + step(0.0, 0.16, layers - np.floor(layers))
    bare = step(-0.9, 0.5, noise(73, 14.0, 3.0, 1.2))  # of soft snow
    carved = 0.050 * coarse - 0.040 * np.abs(ridges) * step(-1.5, 1.0, coarse)
    height = leaning((carved * (0.25 + 0.75 * bare)).astype(np.float32), wind, 3.5)
    height = height + 0.045 * worn * bare + 0.10 * drift + 0.002 * fine
    colour = tinted((1.0, 1.0, 1.0), 1.0 + 0.02 * fine + 0.04 * coarse * bare)
    colour = blend(colour, (0.80, 0.86, 0.92), 0.55 * bare * step(-0.2, 0.9, worn - 0.4 * coarse))
    return height, blend(colour, (1.06, 1.05, 1.03), 0.8 * (1.0 - bare))


def street() -> Tile:
    """Asphalt and concrete: grit, patches of another age, stains, a few fine cracks."""
    fine, middle, broad = noise(161, 0.25, 0.08, 0.1), noise(162, 2.0, 0.3, 0.9), noise(163, 12.0, 2.0, 1.2)
    slabs = cells(164, 5.0, 0.9, 0.06)
    crack = np.exp(-((slabs.gap / 0.012) ** 2)) * step(0.2, 1.0, middle + broad)
    colour = tinted((1.0, 1.0, 1.0), (1.0 + 0.09 * fine + 0.06 * middle + 0.07 * broad) * (1.0 - 0.35 * crack))
    return 0.004 * fine + 0.004 * middle, colour
