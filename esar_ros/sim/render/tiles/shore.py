"""Colours of the shore by the distance to the water line: wet ground, shallows, lines of foam."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.render.detail_textures import paint_noise
from esar_ros.sim.terrain.land_cover import ALBEDO, LandCover
from esar_ros.sim.terrain.maps import PlaceMap

_SHALLOW = np.array([0.075, 0.210, 0.205], dtype=np.float32)
_FOAM = np.float32(0.72)
_WET = 5.0  # m inland that waves reach
_FAR = 160.0  # m from the line, beyond which colours stay

Field = NDArray[np.float32]


def with_shore(place: PlaceMap, albedo: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """An albedo (m, m, 3) of square roots with the shore drawn by distance instead of by the cover's squares."""
    away = _water_distance(place, albedo.shape[0])
    near = np.abs(away) < _FAR
    colour = (albedo.astype(np.float32) / 255.0) ** 2
    size = albedo.shape[0]
    dry = cv2.resize((place.land_cover == LandCover.WATER).astype(np.float32), (size, size)) < 0.01
    land, sea = _spread(colour, dry & (away < -place.cell)), ALBEDO[LandCover.WATER]
    slow, broken, quick = (wide_noise(size, place.size / size, wave) for wave in (0.11, 0.23, 0.8))
    surf = place.horizon == "sea"
    reach = _WET * (1.0 + 0.35 * slow) if surf else np.float32(1.0)
    wet = np.clip(1.0 + away / np.maximum(reach, 0.5), 0.0, 1.0)[..., None]
    ground = land * (1.0 - 0.42 * wet)
    clear = np.exp(-np.maximum(away, 0.0) / 2.5)[..., None]  # how far down to the bottom one sees
    water = sea + np.exp(-np.maximum(away, 0.0) / 45.0)[..., None] * (_SHALLOW - sea)
    out = np.where((away > 0.0)[..., None], water + clear * (0.75 * ground - water), ground)
    if surf:
        for at, width, bend, share in ((0.3, 1.1, 0.8, 0.85), (4.0, 1.5, 2.4, 0.75), (10.0, 2.2, 4.0, 0.6)):
            line = np.exp(-(((away - at - bend * slow - 0.7 * quick) / width) ** 2))
            there = np.clip(0.55 + 0.45 * np.roll(broken, int(37 * at), axis=1) + 0.3 * quick, 0.0, 1.0)
            out += (share * line * there)[..., None] * (_FOAM - out)
    roots = np.clip(255.0 * np.sqrt(np.maximum(out, 0.0)) + 0.5, 0, 255).astype(np.uint8)
    return np.where(near[..., None], roots, albedo)


def _water_distance(place: PlaceMap, size: int) -> Field:
    """Metres (size, size) from the water line, above 0 on the water's side; smooth across the cover's squares."""
    texel = place.size / size
    water = (place.land_cover == LandCover.WATER).astype(np.float32)
    share = cv2.GaussianBlur(cv2.resize(water, (size, size)), (0, 0), 1.4 * place.cell / texel)
    inside = (share > 0.5).astype(np.uint8)
    away = cv2.distanceTransform(inside, cv2.DIST_L2, 5) - cv2.distanceTransform(1 - inside, cv2.DIST_L2, 5)
    return np.asarray(cv2.GaussianBlur(away, (0, 0), 1.5) * texel, dtype=np.float32)


def _spread(colour: Field, known: NDArray[np.bool_]) -> Field:
    """Colours with those of the known texels spread over the others."""
    share = known.astype(np.float32)
    wide = cv2.GaussianBlur(colour * share[..., None], (0, 0), 6.0)
    mean = wide / np.maximum(cv2.GaussianBlur(share, (0, 0), 6.0), 1e-4)[..., None]
    return np.where(known[..., None], colour, mean)


def wide_noise(size: int, texel: float, wave: float) -> Field:
    """Noise (size, size) of about unit deviation; wave: its tile's texels a metre."""
    tile = paint_noise()
    at = (np.arange(size, dtype=np.float32) * np.float32(texel * wave)) % tile.shape[0]
    x, y = np.meshgrid(at, at)
    wrapped = cv2.copyMakeBorder(tile, 0, 1, 0, 1, cv2.BORDER_WRAP)
    return np.asarray(cv2.remap(wrapped, x, y, cv2.INTER_LINEAR))
