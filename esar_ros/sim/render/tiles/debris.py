"""Rock debris on snow: what falls from rock walls lies in fans and bands below them."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.render.tiles.shore import wide_noise
from esar_ros.sim.terrain.land_cover import ALBEDO, LandCover
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.terrain.relief import surface_normals

_REACH = (8.0, 18.0, 32.0, 50.0)  # m that debris has come down a slope
_LEAST = 0.75  # of a normal's z: steeper ground holds none
_COLOUR = 1.1 * ALBEDO[LandCover.ROCK]

Field = NDArray[np.float32]


def debris_share(place: PlaceMap, size: int) -> Field:
    """Share (size, size) of the ground that debris covers, 0 to 1: on snow and ice below rock, in patches."""
    n, texel = place.samples, place.size / size
    rock = (place.land_cover == LandCover.ROCK).astype(np.float32)
    if not rock.any():
        return np.zeros((size, size), dtype=np.float32)
    rock = cv2.GaussianBlur(rock, (0, 0), 1.5)
    normals = surface_normals(place.heights, place.cell).astype(np.float32)
    flat = np.maximum(np.hypot(normals[..., 0], normals[..., 1]), 1e-3)
    up_x, up_y = (cv2.GaussianBlur(-normals[..., k] / flat, (0, 0), 3.0) / np.float32(place.cell) for k in (0, 1))
    y, x = np.mgrid[0:n, 0:n].astype(np.float32)
    fallen = np.zeros((n, n), dtype=np.float32)
    for reach in _REACH:
        above = cv2.remap(rock, x + reach * up_x, y + reach * up_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        fallen = np.maximum(fallen, above * np.float32(1.0 - reach / (1.3 * _REACH[-1])))
    lies = np.isin(place.land_cover, (LandCover.SNOW, LandCover.ICE)) & (normals[..., 2] > _LEAST)
    share = cv2.resize(np.where(lies, fallen, 0.0), (size, size), interpolation=cv2.INTER_LINEAR)
    bands, patches = (wide_noise(size, texel, wave) for wave in (0.19, 0.9))
    patchy = np.clip((share + 0.16 * bands + 0.14 * patches - 0.42) / 0.22, 0.0, 1.0)
    return np.where(share > 0.05, patchy, 0.0).astype(np.float32)


def with_debris(
    place: PlaceMap, albedo: NDArray[np.uint8], names: list[str], kinds: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """An albedo (m, m, 3) of square roots and numbers of tiles (m, m) with debris over them.

    names, kinds: see tile_kinds; "blocks" is among the names.
    """
    share = debris_share(place, albedo.shape[0])[..., None]
    colour = (albedo / np.float32(255.0)) ** 2
    roots = 255.0 * np.sqrt(colour + 0.85 * share * (_COLOUR - colour))
    stones = np.where(share[..., 0] > 0.5, np.uint8(names.index("blocks")), kinds)
    return np.where(share > 0.0, np.clip(roots + 0.5, 0, 255).astype(np.uint8), albedo), stones
