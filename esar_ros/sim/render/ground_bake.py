"""Textures of the ground, about a metre a texel: albedo and kind of surface. Their light: ground_light.py.

Rows run south to north, as the heights do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.sim.render.detail_textures import paint_noise
from esar_ros.sim.terrain.land_cover import ALBEDO, LandCover
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.terrain.relief import surface_normals
from esar_ros.sim.terrain.settlements.plan import Surface

# Detail pattern of each class of land cover: grass also of salt and ice, rock also of gravel.
_GRASSY, _ROCKY, _FINE, _EARTHY = range(4)
_DETAIL = np.full(len(LandCover), _GRASSY, dtype=np.int64)
_DETAIL[[LandCover.ROCK, LandCover.BLOCKFIELD, LandCover.GOBI]] = _ROCKY
_DETAIL[[LandCover.SNOW, LandCover.SAND, LandCover.WATER, LandCover.PAVED]] = _FINE
_DETAIL[[LandCover.DIRT, LandCover.FOREST, LandCover.CLAY]] = _EARTHY
# Members of an IntEnum are no numbers to numba.
(_GRASS, _ROCK, _SNOW, _SAND, _DIRT, _FOREST, _BLOCKFIELD, _WATER, _SALT, _GOBI, _CLAY, _ICE, _SCRUB, _PAVED) = map(
    int, LandCover
)
_LARGEST = 2048  # texels along a side


class GroundBake:
    """`albedo` (size, size, 3): square roots of linear colour; `surface` (size, size, 4): see below."""

    def __init__(self, place: PlaceMap, noise: NDArray[np.float32]) -> None:
        self.size = min(2 * (place.samples - 1), _LARGEST)  # texels along a side
        self._place = place
        normals = surface_normals(place.heights, place.cell)
        self.albedo = np.empty((self.size, self.size, 3), dtype=np.uint8)
        self.surface = np.zeros((self.size, self.size, 4), dtype=np.uint8)  # weights of grass, rock, earth
        _paint(
            place.heights,
            place.land_cover,
            normals,
            place.size,
            noise,
            ALBEDO,
            _DETAIL,
            self.albedo,
            self.surface,
        )
        draped = np.zeros((self.size, self.size), np.bool_)
        if place.imagery is not None:
            draped = self._drape(place.imagery)
        if place.plan is not None:
            self._surface(place.plan.surfaces, noise)
        self._tread(draped)
        if place.water_level is not None:
            self._shallows()

    def _drape(self, imagery: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Lay a photograph over the painted ground, as bright in the mean; not where the trees stand that it shows.

        Returns where it lies (size, size).
        """
        shown = cv2.resize(imagery, (self.size, self.size), interpolation=cv2.INTER_AREA)
        step = self._place.size / self.size
        axis = (np.arange(self.size) + 0.5) * step - self._place.size / 2
        cover = self._place.cover_at(np.stack(np.meshgrid(axis, axis), axis=-1))
        on = (shown[..., 3] > 127) & (cover != LandCover.FOREST)
        if not on.any():
            return on
        photo, painted = (shown[on][:, :3] / np.float32(255.0)) ** 2, (self.albedo[on] / np.float32(255.0)) ** 2
        photo *= painted.mean() / max(float(photo.mean()), 1e-6)
        self.albedo[on] = np.clip(255.0 * np.sqrt(photo), 0.0, 255.0).astype(np.uint8)
        return on

    def _surface(self, surfaces: Sequence[Surface], noise: NDArray[np.float32]) -> None:
        """Paint streets, yards, paths and fields, later ones over earlier ones; never over water."""
        texel = self._place.size / self.size
        tiles = self.size // noise.shape[0] + 1
        grain = np.tile(noise, (tiles, tiles))[: self.size, : self.size]
        broad = cv2.resize(noise, (self.size, self.size), interpolation=cv2.INTER_CUBIC)
        for surface in surfaces:
            mask = np.zeros((self.size, self.size), dtype=np.uint8)
            at = (np.array(surface.outline) + self._place.size / 2) / texel
            cv2.fillPoly(mask, [np.rint(at * 16.0 - 8.0).astype(np.int32).reshape(-1, 1, 2)], 255, cv2.LINE_AA, 4)
            rows, columns = np.nonzero(mask)
            xy = np.stack([columns + 0.5, rows + 0.5], axis=-1) * texel - self._place.size / 2
            dry = ~self._place.is_water(xy)
            rows, columns, xy = rows[dry], columns[dry], xy[dry]
            tone = np.broadcast_to(np.array(surface.colour, dtype=np.float32), (len(rows), 3))
            if surface.spacing > 0.0:
                across = xy[:, 1] * np.cos(surface.yaw) - xy[:, 0] * np.sin(surface.yaw)
                odd = np.floor(across / surface.spacing).astype(np.int64) % 2 == 1
                tone = np.where(odd[:, None], np.array(surface.other, dtype=np.float32), tone)
            rough = 1.0 + 0.09 * grain[rows, columns] + 0.10 * broad[rows, columns]
            share = (mask[rows, columns].astype(np.float32) / 255.0)[:, None]
            old = (self.albedo[rows, columns].astype(np.float32) / 255.0) ** 2
            mixed = old + share * (tone * rough[:, None] - old)
            self.albedo[rows, columns] = np.clip(255.0 * np.sqrt(np.maximum(mixed, 0.0)), 0, 255).astype(np.uint8)
            pattern = (0, 0, 0) if surface.paved else (255, 0, 0) if tone[0, 1] > tone[0, 0] else (0, 0, 255)
            sure = share[:, 0] > 0.5
            self.surface[rows[sure], columns[sure], :3] = pattern

    def _tread(self, draped: NDArray[np.bool_]) -> None:
        """Draw the tracks: bare earth through plants, a trodden or driven line in snow, salt, sand and gravel.

        Not where a photograph is draped, which shows them.
        """
        texel = self._place.size / self.size
        for name, line in self._place.tracks.items():
            width = self._place.track_width[name]
            mask = np.zeros((self.size, self.size), dtype=np.uint8)
            points = np.rint((line + self._place.size / 2) / texel * 16.0 - 8.0).astype(np.int32).reshape(-1, 1, 2)
            cv2.polylines(mask, [points], False, 255, max(1, round(width / texel)), cv2.LINE_AA, 4)
            rows, columns = np.nonzero(np.where(draped, 0, mask))
            at = np.stack([columns + 0.5, rows + 0.5], axis=-1) * texel - self._place.size / 2
            cover = self._place.cover_at(at)
            share = mask[rows, columns].astype(np.float32) / 255.0 * min(1.0, width / texel)
            # Linear colours are kept as square roots; trodden snow and driven crust are darker kinds of themselves.
            old = (self.albedo[rows, columns].astype(np.float32) / 255.0) ** 2
            soft = np.isin(cover, (LandCover.SNOW, LandCover.ICE, LandCover.WATER))
            new = np.where(soft[:, None], old * (0.62, 0.66, 0.72), np.array([0.205, 0.165, 0.115]))
            # Wheels lay bare the pale dust under dark gravel, and grind pale crust and clay to something darker.
            new = np.where((cover == LandCover.GOBI)[:, None], np.array([0.470, 0.395, 0.300]), new)
            pale = np.isin(cover, (LandCover.SALT, LandCover.SAND, LandCover.CLAY))
            new = np.where(pale[:, None], np.array([0.250, 0.200, 0.145]), new)
            mixed = old + 0.85 * share[:, None] * (new - old)
            self.albedo[rows, columns] = np.clip(255.0 * np.sqrt(mixed), 0, 255).astype(np.uint8)
            earthy = (share > 0.4) & ~soft
            self.surface[rows[earthy], columns[earthy], :3] = (0, 0, 255)

    def _shallows(self) -> None:
        """Lighten water towards the shore, and whiten the sea's very edge with foam."""
        water = (self._place.land_cover == LandCover.WATER).astype(np.uint8)
        far = cv2.distanceTransform(cv2.copyMakeBorder(water, 1, 1, 1, 1, cv2.BORDER_REPLICATE), cv2.DIST_L2, 5)
        far = cv2.resize(far[1:-1, 1:-1], (self.size, self.size), interpolation=cv2.INTER_LINEAR) * self._place.cell
        wet = far > 0.0
        noise = np.tile(paint_noise(), (self.size // 256 + 1, self.size // 256 + 1))[: self.size, : self.size]
        shallow = np.exp(-far / 45.0)[..., None]
        surf = (far < 12.0) & (self._place.horizon == "sea")
        foam = np.clip(1.3 - np.abs(far - 4.0) / 3.0 + 0.8 * noise, 0.0, 1.0)[..., None] * surf[..., None]
        deep = (self.albedo.astype(np.float32) / 255.0) ** 2
        colour = deep + shallow * (np.array([0.075, 0.210, 0.205], dtype=np.float32) - deep)
        colour = colour + 0.75 * foam * (0.75 - colour)
        self.albedo[wet] = np.clip(255.0 * np.sqrt(colour[wet]), 0, 255).astype(np.uint8)


@njit(cache=True, nogil=True)
def _tile(noise, x, y):  # type: ignore[no-untyped-def]
    """Bilinear sample of a wrapping square tile; x, y in texels."""
    n = noise.shape[0]
    i = math.floor(x)
    j = math.floor(y)
    u = x - i
    v = y - j
    i0 = i % n
    j0 = j % n
    i1 = (i + 1) % n
    j1 = (j + 1) % n
    low = noise[j0, i0] * (1.0 - u) + noise[j0, i1] * u
    return low * (1.0 - v) + (noise[j1, i0] * (1.0 - u) + noise[j1, i1] * u) * v


@njit(cache=True, nogil=True)
def _paint(h, cover, normals, size, noise, palette, detail, albedo, surface):  # type: ignore[no-untyped-def]
    n = h.shape[0]
    m = albedo.shape[0]
    step = size / m
    cell = size / (n - 1)
    for j in range(m):
        for i in range(m):
            x = (i + 0.5) * step
            y = (j + 0.5) * step
            a = _tile(noise, x * 0.21, y * 0.21)
            b = _tile(noise, x * 1.1 + 91.0, y * 1.1)
            c = noise[(3 * j + i) % noise.shape[0], (3 * i + 5 * j) % noise.shape[0]]
            # Borders wander by a metre or two, so that the grid of classes does not show.
            u = min(n - 1, max(0, int((x + 3.0 * b + 1.2 * c) / cell + 0.5)))
            v = min(n - 1, max(0, int((y - 3.0 * b + 1.2 * c) / cell + 0.5)))
            kind = cover[v, u]
            there = cover[min(n - 1, int(y / cell + 0.5)), min(n - 1, int(x / cell + 0.5))]
            if kind in (_WATER, _PAVED) or there in (_WATER, _PAVED):  # but shores and kerbs stay where they are
                kind = there
            even = 0.4 if kind in (_SNOW, _SAND, _SALT, _GOBI) else 1.0
            tone = 1.0 + even * (0.16 * a + 0.15 * b + 0.05 * c)
            r = palette[kind, 0] * tone
            g = palette[kind, 1] * tone
            bl = palette[kind, 2] * tone
            if kind == _GRASS:  # greener in hollows, straw-coloured on dry patches
                dry = min(1.0, max(0.0, 0.35 + 0.55 * a + 0.25 * b))
                r += dry * 0.055
                g += dry * 0.022
                bl += dry * 0.012
            elif kind == _BLOCKFIELD:  # lichen and dark gaps between boulders
                lichen = min(1.0, max(0.0, b))
                r *= 1.0 - 0.17 * lichen
                g *= 1.0 - 0.13 * lichen
                bl *= 1.0 - 0.22 * lichen
            elif kind == _ROCK:
                strata = 0.5 + 0.5 * math.sin(h[v, u] * 0.9 + 3.0 * a)
                r *= 0.82 + 0.3 * strata
                g *= 0.82 + 0.3 * strata
                bl *= 0.84 + 0.3 * strata
            elif kind == _SALT:  # grey with dust in places, whiter where it is fresh
                dust = min(1.0, max(0.0, 0.45 + 0.45 * a + 0.2 * b))
                r -= dust * 0.085
                g -= dust * 0.098
                bl -= dust * 0.115
            elif kind == _GOBI:  # sand drifts between, dark desert varnish elsewhere
                drift = min(1.0, max(0.0, -0.3 + 0.55 * a - 0.2 * b))
                r += drift * 0.075
                g += drift * 0.060
                bl += drift * 0.038
            elif kind == _CLAY:  # in level beds, paler and redder by turns
                bed = 0.5 + 0.5 * math.sin(h[v, u] * 2.6 + 1.2 * a)
                r *= 0.84 + 0.26 * bed
                g *= 0.82 + 0.25 * bed
                bl *= 0.80 + 0.24 * bed
            elif kind == _ICE:  # blue where clean, white where frosted
                frost = min(1.0, max(0.0, 0.3 + 0.5 * b + 0.4 * c))
                r += frost * 0.30
                g += frost * 0.20
                bl += frost * 0.13
            elif kind == _SCRUB:  # dry grass between dark bushes
                dry = min(1.0, max(0.0, 0.3 + 0.5 * b))
                r += dry * 0.040
                g += dry * 0.026
                bl += dry * 0.006
            elif kind == _SAND:  # paler on crests
                r *= 1.0 + 0.07 * b
                g *= 1.0 + 0.07 * b
            steep = min(1.0, max(0.0, (0.80 - normals[v, u, 2]) / 0.14))
            if kind in (_GRASS, _FOREST, _SCRUB):
                mix = 0.55 * steep * min(1.0, max(0.0, 0.6 + b))
                r += mix * (0.17 - r)
                g += mix * (0.15 - g)
                bl += mix * (0.125 - bl)
            albedo[j, i, 0] = min(255, max(0, int(255.0 * math.sqrt(max(r, 0.0)))))
            albedo[j, i, 1] = min(255, max(0, int(255.0 * math.sqrt(max(g, 0.0)))))
            albedo[j, i, 2] = min(255, max(0, int(255.0 * math.sqrt(max(bl, 0.0)))))
            pattern = detail[kind]
            surface[j, i, 0] = 255 if pattern == _GRASSY else 0
            surface[j, i, 1] = 255 if pattern == _ROCKY else 0
            surface[j, i, 2] = 255 if pattern == _EARTHY else 0
