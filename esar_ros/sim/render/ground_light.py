"""Light and lie of the ground as a texture: what changes only when the sun does, whatever the weather.

Rows run south to north, as the heights do.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.terrain.relief import surface_normals
from esar_ros.sim.world.scatter import Flora

OPENNESS_RANGE = 1.2  # that 255 stands for
_TREES = 2  # the first species, those that shade the ground
_BLOCK = 4  # samples, of the heights along a ray


class GroundLight:
    """`texture` (size, size, 4) uint8: square root of the sun's cosine times the share of it that the relief lets
    through; openness to the sky over OPENNESS_RANGE; share left by the shadows of trees and buildings; hold.

    Hold, 0..1: how readily a spot keeps snow, and above 0.8 water; steep ground keeps nothing.
    """

    def __init__(
        self, place: PlaceMap, flora: Flora, size: int, noise: NDArray[np.float32], solids: NDArray[np.float64]
    ) -> None:
        """solids (K, 15): boxes of the place's scenery; see world.scenery."""
        self._place, self._flora, self._solids = place, flora, solids
        self._normals = surface_normals(place.heights, place.cell)
        self._openness = _openness(place.heights, place.cell)
        self.texture = np.zeros((size, size, 4), dtype=np.uint8)
        _hold(self._normals, self._openness, place.size / size, noise, self.texture)
        self.sun_share = np.ones(place.heights.shape, dtype=np.float32)  # (n, n) of the sun's disc in sight

    def shine(self, to_sun: Vector) -> None:
        """Renew the texture and sun_share for a direction of the light; below the horizon there is none."""
        place, flora = self._place, self._flora
        shade = np.full(self.texture.shape[:2], 255, dtype=np.uint8)
        if to_sun[2] > 0.0:
            cast_shadows(place.heights, place.cell, to_sun[0], to_sun[1], to_sun[2], self.sun_share)
            trees = flora.species < _TREES
            _shade_trees(
                shade,
                flora.positions[trees],
                flora.height[trees],
                flora.crown_radius[trees],
                place.size,
                to_sun[0],
                to_sun[1],
                max(float(to_sun[2]), 0.12),
            )
            _shade_boxes(shade, self._solids, place, to_sun)
        else:
            self.sun_share[:] = 0.0
        self.texture[..., 2] = shade
        _light(self._normals, self.sun_share, self._openness, np.asarray(to_sun, dtype=np.float64), self.texture)

    def sun_share_at(self, xy: NDArray[np.float32]) -> NDArray[np.float32]:
        """Sun share of the nearest height sample to points (N, 2)."""
        place = self._place
        index = np.clip(np.rint((xy + place.size / 2) / place.cell).astype(np.int64), 0, place.samples - 1)
        return np.asarray(self.sun_share[index[:, 1], index[:, 0]], dtype=np.float32)

    def at(self, xy: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Texels (..., 4) of points (..., 2)."""
        size = self.texture.shape[0]
        texel = ((np.asarray(xy) + self._place.size / 2) / self._place.size * size).astype(np.int64)
        texel = np.clip(texel, 0, size - 1)
        return np.asarray(self.texture[texel[..., 1], texel[..., 0]])


def _openness(heights: NDArray[np.float32], cell: float) -> NDArray[np.float32]:
    """Ambient light by concavity and slope, 0.4 to 1.1."""
    n = heights.shape[0]
    reach = max(2, round(24.0 / cell))
    pad = np.pad(heights.astype(np.float64), reach, mode="edge")
    total = pad.cumsum(axis=0).cumsum(axis=1)
    total = np.pad(total, ((1, 0), (1, 0)))
    w = 2 * reach + 1
    mean = (total[w:, w:] - total[:-w, w:] - total[w:, :-w] + total[:-w, :-w])[:n, :n] / (w * w)
    return np.clip(0.95 - 0.06 * (mean - heights), 0.4, 1.1).astype(np.float32)


@njit(cache=True, nogil=True)
def _tile(noise, x, y):  # type: ignore[no-untyped-def]
    """Nearest sample of a wrapping square tile; x, y in texels."""
    return noise[math.floor(y) % noise.shape[0], math.floor(x) % noise.shape[0]]


@njit(cache=True, nogil=True)
def _hold(normals, openness, step, noise, out):  # type: ignore[no-untyped-def]
    m = out.shape[0]
    n = normals.shape[0]
    scale = (n - 1) / m
    for j in range(m):
        for i in range(m):
            b = min(n - 1, int((j + 0.5) * scale + 0.5))
            a = min(n - 1, int((i + 0.5) * scale + 0.5))
            up = normals[b, a, 2]
            broad = _tile(noise, (i + 0.5) * step * 0.35, (j + 0.5) * step * 0.35)
            fine = _tile(noise, (i + 0.5) * step * 2.3 + 40.0, (j + 0.5) * step * 2.3)
            rough = min(1.0, max(0.0, 0.5 + 0.22 * broad + 0.16 * fine))
            flat = min(1.0, max(0.0, (up - 0.55) / 0.3))
            level = min(1.0, max(0.0, (up - 0.975) / 0.02))
            hollow = min(1.0, max(0.0, 0.5 + 2.5 * (0.98 - openness[b, a]) + 0.25 * broad))
            keeps = 0.8 * flat * (0.25 + 0.75 * rough) + 0.2 * level * hollow
            out[j, i, 3] = int(255.0 * min(1.0, keeps))


@njit(cache=True, nogil=True)
def cast_shadows(h, cell, sx, sy, sz, out):  # type: ignore[no-untyped-def]
    """Share of the sun's disc seen from each sample, marching towards it; widened penumbra hides the grid."""
    n = h.shape[0]
    flat = math.sqrt(sx * sx + sy * sy) + 1e-9
    ux = sx / flat
    uy = sy / flat
    climb = sz / flat * cell
    highest = h.max()
    least = climb - 0.5 / 25.0 * cell  # m a step: what rises so over all the ground ahead has the whole disc
    by_columns = abs(ux) >= abs(uy)
    ahead = _find_tops(h, ux, uy, least)
    for j in range(n):
        for i in range(n):
            start = h[j, i] + 0.3
            strip = _strip(i, j, ux, uy, n)
            own = start - least * (i * ux + j * uy) - 1e-6
            share = 1.0
            t = 1.0
            while True:
                x = i + ux * t
                y = j + uy * t
                z = start + climb * t
                if x < 0.0 or y < 0.0 or x >= n - 1 or y >= n - 1 or z > highest:
                    break
                a = int(x)
                b = int(y)
                if own > ahead[strip, (a if by_columns else b) // _BLOCK]:
                    break
                u = x - a
                v = y - b
                ground = (h[b, a] * (1.0 - u) + h[b, a + 1] * u) * (1.0 - v)
                ground += (h[b + 1, a] * (1.0 - u) + h[b + 1, a + 1] * u) * v
                gap = z - ground
                share = min(share, gap / (t * cell) * 25.0 + 0.5)
                if share <= 0.0:
                    share = 0.0
                    break
                t += max(1.0, 0.35 * gap / cell)
            out[j, i] = share


@njit(cache=True, nogil=True)
def _strip(x, y, ux, uy, n):  # type: ignore[no-untyped-def]
    """Number of the strip along (ux, uy) that a place (samples) of a square of n samples lies in, not less than 1."""
    if ux == uy == 0.0:
        return 1  # straight up: from nowhere on
    across = y - x * (uy / ux) if abs(ux) >= abs(uy) else x - y * (ux / uy)
    return int((across + n) / _BLOCK) + 1


@njit(cache=True, nogil=True)
def _find_tops(h, ux, uy, rise):  # type: ignore[no-untyped-def]
    """Greatest height from a place on along (ux, uy), over a plane that rises so much (m) a step.

    By strip and by block of columns, or of rows where uy is greater than ux; -inf where no ground is.
    """
    n = h.shape[0]
    by_columns = abs(ux) >= abs(uy)
    tops = np.full((3 * n // _BLOCK + 4, n // _BLOCK + 1), -np.inf)
    nearest = rise * (min(ux, 0.0) + min(uy, 0.0)) if rise > 0.0 else rise * (max(ux, 0.0) + max(uy, 0.0))
    for b in range(n - 1):
        for a in range(n - 1):
            top = max(max(h[b, a], h[b, a + 1]), max(h[b + 1, a], h[b + 1, a + 1]))
            top -= rise * (a * ux + b * uy) + nearest  # of the patch's corner where the plane is lowest
            block = (a if by_columns else b) // _BLOCK
            first = last = _strip(a, b, ux, uy, n)
            for x, y in ((a + 1, b), (a, b + 1), (a + 1, b + 1)):
                one = _strip(x, y, ux, uy, n)
                first, last = min(first, one), max(last, one)
            for strip in range(first, last + 1):
                tops[strip, block] = max(tops[strip, block], top)
    blocks = tops.shape[1]
    on = 1 if (ux if by_columns else uy) > 0.0 else -1  # whether the way leads to greater numbers
    for strip in range(tops.shape[0]):
        for step in range(1, blocks):
            k = blocks - 1 - step if on > 0 else step
            tops[strip, k] = max(tops[strip, k], tops[strip, k + on])
    return tops


@njit(cache=True, nogil=True)
def _shade_trees(shade, feet, heights, radii, size, sx, sy, sz):  # type: ignore[no-untyped-def]
    """Darken the ground by each crown's shadow: a triangle from its foot, as long as the sun is low."""
    m = shade.shape[0]
    texel = size / m
    for k in range(feet.shape[0]):
        x0 = feet[k, 0] + size / 2.0
        y0 = feet[k, 1] + size / 2.0
        length = min(heights[k] / sz, 60.0)
        ex = -sx * length
        ey = -sy * length
        long = math.sqrt(ex * ex + ey * ey) + 1e-6
        ux = ex / long
        uy = ey / long
        r = radii[k]
        i0 = max(0, int((min(x0, x0 + ex) - r) / texel))
        i1 = min(m - 1, int((max(x0, x0 + ex) + r) / texel))
        j0 = max(0, int((min(y0, y0 + ey) - r) / texel))
        j1 = min(m - 1, int((max(y0, y0 + ey) + r) / texel))
        for j in range(j0, j1 + 1):
            for i in range(i0, i1 + 1):
                px = (i + 0.5) * texel - x0
                py = (j + 0.5) * texel - y0
                along = px * ux + py * uy
                across = abs(px * uy - py * ux)
                tapering = r * (1.0 - along / long) - across
                edge = r - math.sqrt(px * px + py * py) if along < 0.0 else tapering
                cover = min(1.0, max(0.0, edge / texel + 0.5))
                if cover > 0.0:
                    shade[j, i] = min(shade[j, i], int(255.0 * (1.0 - 0.85 * cover)))


def _shade_boxes(shade: NDArray[np.uint8], solids: NDArray[np.float64], place: PlaceMap, to_sun: Vector) -> None:
    """Darken the ground by the shadow of each box (K, 15): the hull of its corners as the sun lays them down."""
    if not len(solids):
        return
    signs = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    axes = solids[:, 6:].reshape(-1, 3, 3)
    corners = solids[:, None, :3] + np.einsum("sk,bk,bkc->bsc", signs, solids[:, 3:6], axes)
    above = np.clip(corners[..., 2] - place.ground_height(solids[:, :2])[:, None], 0.0, 60.0)
    laid = corners[..., :2] - above[..., None] * (to_sun[:2] / max(float(to_sun[2]), 0.12))
    texel = place.size / shade.shape[0]
    fixed = np.rint((laid + place.size / 2) / texel * 16.0 - 8.0).astype(np.int32)
    for hull, rise in zip(fixed, above.max(axis=1), strict=True):
        if rise > 0.5:
            cv2.fillConvexPoly(shade, cv2.convexHull(hull.reshape(-1, 1, 2)), 38, cv2.LINE_AA, 4)


@njit(cache=True, nogil=True)
def _light(normals, share, openness, to_sun, out):  # type: ignore[no-untyped-def]
    m = out.shape[0]
    n = normals.shape[0]
    scale = (n - 1) / m
    for j in range(m):
        v = (j + 0.5) * scale
        b = min(int(v), n - 2)
        v -= b
        for i in range(m):
            u = (i + 0.5) * scale
            a = min(int(u), n - 2)
            u -= a
            w00 = (1.0 - u) * (1.0 - v)
            w10 = u * (1.0 - v)
            w01 = (1.0 - u) * v
            w11 = u * v
            dot = 0.0
            for k in range(3):
                dot += to_sun[k] * (
                    normals[b, a, k] * w00
                    + normals[b, a + 1, k] * w10
                    + normals[b + 1, a, k] * w01
                    + normals[b + 1, a + 1, k] * w11
                )
            seen = share[b, a] * w00 + share[b, a + 1] * w10 + share[b + 1, a] * w01 + share[b + 1, a + 1] * w11
            direct = min(1.0, max(dot, 0.0) * seen)
            open_sky = openness[b, a] * w00 + openness[b, a + 1] * w10 + openness[b + 1, a] * w01
            open_sky += openness[b + 1, a + 1] * w11
            out[j, i, 0] = int(255.0 * math.sqrt(direct) + 0.5)
            out[j, i, 1] = int(255.0 * min(1.0, open_sky / OPENNESS_RANGE) + 0.5)
