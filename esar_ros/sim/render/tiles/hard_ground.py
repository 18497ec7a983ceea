"""Tiles of rock, gravel, crusts and ice."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.render.tiles.fields import blend, cells, lot, noise, step, stones, tinted
from esar_ros.sim.render.tiles.soft_ground import Tile


def blocks() -> Tile:
    """Blockfield: angular blocks from 2 m down to gravel, lichen on the old ones, dark gaps."""
    pile = stones(51, {2.1: 0.03, 1.1: 0.20, 0.55: 0.5, 0.3: 0.75, 0.17: 1.0}, 0.75)
    fine, middle = noise(52, 0.4, 0.08, 0.5), noise(53, 2.5, 0.3, 0.8)
    colour = tinted((1.0, 1.0, 1.0), pile.tone(5, 0.74, 1.24) * (1.0 + 0.10 * fine + 0.06 * middle))
    warm = lot(pile.key, 6)[..., None]
    colour = colour * (1.0 + 0.12 * (warm - 0.5) * np.array([1.0, 0.2, -1.0], dtype=np.float32))
    lichen = step(0.3, 1.2, middle + 0.5 * fine) * (lot(pile.key, 7) < 0.55)
    return pile.height + 0.006 * fine, blend(colour, (0.86, 0.95, 0.66), 0.6 * lichen)


def gravel() -> Tile:
    """Gobi: dark gravel, pale sand in braided rills, stones one by one."""
    fine, middle = noise(61, 0.25, 0.08, 0.2), noise(62, 3.0, 0.4, 0.8)
    vein = 1.0 - np.abs(noise(63, 16.0, 1.2, 1.5, (1.0, 2.2), 0.6))
    rills = step(0.62, 0.95, vein + 0.10 * middle + 0.05 * fine)
    loose = stones(64, {0.5: 0.02, 0.28: 0.05, 0.16: 0.16}, 0.4)
    lies = loose.there * (1.0 - 0.7 * rills)
    colour = tinted((1.0, 1.0, 1.0), 0.95 + 0.11 * fine + 0.07 * middle)
    colour = blend(colour, tinted((1.5, 1.6, 1.6), 1.0 + 0.06 * fine), 0.7 * rills)
    colour = blend(colour, tinted((0.80, 0.78, 0.80), loose.tone(5, 0.65, 1.4)), 0.75 * lies)
    return 0.6 * np.maximum(loose.height, 0.0) * (lies > 0.3) - 0.03 * rills + 0.009 * fine + 0.03 * middle, colour


def salt() -> Tile:
    """Crust of a dry lake: polygons with upturned rims, tilted plates within, brown dust in their middles."""
    fine, middle = noise(91, 0.35, 0.08, 0.4), noise(92, 3.0, 0.35, 0.7)
    large, small = cells(93, 3.3, 0.9, 0.06), cells(97, 0.9, 0.95, 0.08)
    rim = np.exp(-((large.gap / 0.11) ** 2)) * (0.35 + 0.65 * step(-0.8, 0.8, middle))
    crack = np.exp(-((small.gap / 0.05) ** 2))
    rough = 0.35 + 0.65 * large.lot(1)
    height = 0.13 * rim + rough * (0.085 * small.tilt(2) + 0.022 * middle - 0.02 * crack) + 0.006 * fine
    dusty = 0.9 * noise(98, 9.0, 0.8, 1.0) - 1.4 * rim + 0.3 * fine + 1.2 * (large.lot(4) - 0.5)
    colour = tinted((1.0, 1.0, 1.0), 1.0 + 0.06 * fine + 0.06 * middle + 0.12 * (small.lot(5) - 0.5))
    colour = blend(colour, tinted((0.83, 0.79, 0.73), 1.0 + 0.08 * fine), 0.75 * step(-0.6, 0.9, dusty))
    return height, blend(colour, (1.22, 1.24, 1.26), 0.5 * step(0.35, 0.9, rim))


def clay() -> Tile:
    """Bed of a former lake: shrinkage cracks, rills, washed dust."""
    fine, middle = noise(101, 0.3, 0.08, 0.4), noise(102, 4.0, 0.5, 0.9)
    plates = cells(103, 0.75, 0.85, 0.08)
    crack = np.exp(-((plates.gap / 0.07) ** 2)) * step(-0.9, 0.6, middle)
    rill = step(0.75, 0.97, 1.0 - np.abs(noise(104, 10.0, 0.8, 1.4, (1.0, 2.5), 1.2)))
    height = 0.025 * np.clip(plates.gap / 0.3, 0.0, 1.0) - 0.04 * rill + 0.03 * middle + 0.008 * fine
    tone = 1.0 + 0.05 * fine + 0.08 * middle + 0.08 * (plates.lot(1) - 0.5)
    return height, tinted((1.0, 1.0, 1.0), tone * (1.0 - 0.40 * crack - 0.16 * rill))


def cliff() -> Tile:
    """Rock face seen from the side, its rows levels: beds of unequal thickness, joints, blocks, stains running down."""
    fine = noise(131, 0.5, 0.08, 0.5)
    beds, joints = noise(132, 8.0, 0.8, 1.3, (7.0, 1.0)), noise(133, 6.0, 0.8, 1.3, (1.0, 4.0))
    large, small = cells(134, 2.2, 0.95, 0.07), cells(138, 0.7, 0.95, 0.07)
    height = 0.14 * beds + 0.08 * joints + 0.55 * large.tilt(2) + 0.18 * small.tilt(2) + 0.008 * fine
    height = height + 0.02 * np.clip(large.gap / 0.1, 0.0, 1.0) + 0.02 * np.clip(small.gap / 0.1, 0.0, 1.0)
    stain = step(0.6, 1.6, noise(141, 8.0, 0.8, 1.2, (1.0, 7.0)))
    tone = 1.0 + 0.10 * fine + 0.12 * np.clip(beds, -2.0, 2.0) + 0.2 * (large.lot(5) - 0.5)
    return height, blend(tinted((1.0, 1.0, 1.0), tone), (0.66, 0.64, 0.61), 0.6 * stain)


def ice() -> Tile:
    """Glacier ice: blue, fractured, frosted; the cracks run together."""
    fine, middle = noise(151, 0.5, 0.08, 0.5), noise(152, 5.0, 0.5, 1.0)
    large, small = cells(153, 4.2, 0.95, 0.10), cells(157, 1.1, 0.95, 0.09)
    crack = np.exp(-((large.gap / 0.045) ** 2))
    height = 0.05 * np.clip(large.gap / 0.12, 0.0, 1.0) + 0.20 * large.tilt(2) + 0.10 * small.tilt(2) + 0.03 * middle
    frost = step(-0.3, 1.0, middle + 0.5 * fine)
    colour = blend(tinted((1.0, 1.0, 1.0), 1.0 + 0.05 * fine), (1.45, 1.22, 1.12), 0.7 * frost)
    return height, blend(colour, (0.66, 0.82, 0.93), 0.75 * crack)
