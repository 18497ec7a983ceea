"""Places of tiles: by land cover, with the wandering borders of the ground's own colours, streets and tracks."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.render.ground_bake import GroundBake
from esar_ros.sim.render.tiles.light import FROZEN
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap

WALL = "cliff"  # of every slope too steep to be looked at from above
_TRACK = "earth"
_BY_COVER = {
    LandCover.GRASS: "turf",
    LandCover.ROCK: "blocks",
    LandCover.SNOW: "snow",
    LandCover.SAND: "sand",
    LandCover.DIRT: "earth",
    LandCover.FOREST: "litter",
    LandCover.BLOCKFIELD: "blocks",
    LandCover.WATER: "sand",
    LandCover.SALT: "salt",
    LandCover.GOBI: "gravel",
    LandCover.CLAY: "clay",
    LandCover.ICE: "ice",
    LandCover.SCRUB: "turf",
    LandCover.PAVED: "street",
}


def tile_kinds(place: PlaceMap, bake: GroundBake) -> tuple[list[str], NDArray[np.uint8]]:
    """Names of a place's tiles, frozen ones first and the wall's last; their numbers at its bake's texels (size, size).

    The bake's classes of surface decide borders, so that a colour and its tile end at the same place.
    """
    size, last = bake.size, place.samples - 1
    at = np.clip(np.rint((np.arange(size) + 0.5) * last / size).astype(np.int64), 0, last)
    cover = place.land_cover[np.ix_(at, at)]
    names = sorted({_BY_COVER[LandCover(kind)] for kind in np.unique(cover)} | {_TRACK})
    names.sort(key=lambda name: name not in FROZEN)
    number = {name: index for index, name in enumerate(names)}
    lookup = np.array([number.get(_BY_COVER[kind], 0) for kind in LandCover], dtype=np.uint8)
    kinds = lookup[cover]
    surface = bake.surface > 127  # grass, rock, earth; none of them: fine
    groups = (("turf", "salt", "ice"), ("blocks", "gravel"), ("earth", "litter", "clay"), ("snow", "sand", "street"))
    masks = (*(surface[..., k] for k in range(3)), ~surface[..., :3].any(axis=-1))
    for mask, group in zip(masks, groups, strict=True):
        own = [number[name] for name in group if name in number]
        strange = mask & ~np.isin(kinds, own)
        if own and strange.any():
            kinds[strange] = _nearest(np.isin(kinds, own), kinds, own[0])[strange]
    kinds[_tracks(place, size) & surface[..., 2]] = number[_TRACK]
    return [*names, WALL], kinds


def _nearest(known: NDArray[np.bool_], kinds: NDArray[np.uint8], default: int) -> NDArray[np.uint8]:
    """Each texel's nearest kind among the known ones within a few texels, else the default."""
    out = np.where(known, kinds, np.uint8(255))
    for _ in range(4):  # borders wander by a few texels
        grown = cv2.erode(out, np.ones((3, 3), np.uint8))
        out = np.where(out == 255, grown, out)
    return np.where(out == 255, np.uint8(default), out)


def _tracks(place: PlaceMap, size: int) -> NDArray[np.bool_]:
    texel = place.size / size
    mask = np.zeros((size, size), dtype=np.uint8)
    for name, line in place.tracks.items():
        points = np.rint((line + place.size / 2) / texel * 16.0 - 8.0).astype(np.int32).reshape(-1, 1, 2)
        cv2.polylines(mask, [points], False, 255, max(1, round(place.track_width[name] / texel)), cv2.LINE_AA, 4)
    return np.asarray(mask > 100)
