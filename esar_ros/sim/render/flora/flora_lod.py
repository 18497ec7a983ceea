"""Level of detail of plants and rocks in a view: full mesh, coarse mesh or billboard, by height in pixels."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.sim.assets.plant_meshes import TREES
from esar_ros.sim.world.raycast import Ground, cast_ground
from esar_ros.sim.world.scatter import SPECIES, VARIANTS, Flora

FINE_PX, COARSE_PX = 110.0, 30.0  # least height in px for the full and for the coarse mesh
_MIN_PX = 3.5  # bushes and rocks below are left out
_THIN_PX = 9.0  # below, every second tree stands for two; below half of it, every fourth for four
_HIDDEN_PX = 60.0  # below, what the ground hides is left out
_STEEP = 0.5  # sine of the view's dip from which billboards would lie flat and coarse meshes are kept
_BUCKETS = len(SPECIES) * VARIANTS * 2
_CAPACITY = 16_000  # instances a bucket
BILLBOARDS = 40_000  # greatest number a view

BILLBOARD_SPECIES = len(TREES)  # the first species


class FloraLod:
    """Instances by bucket (species, variant, detail) and billboards, for one view after another."""

    def __init__(self, flora: Flora, ground: Ground) -> None:
        self._ground = ground
        self._table = np.column_stack(
            [flora.positions, flora.yaw, flora.width, flora.height, flora.tint, np.ones(len(flora), dtype=np.float32)]
        ).astype(np.float32)
        self._kind = (flora.species.astype(np.int32) * VARIANTS + flora.variant).astype(np.int32)
        self._counts = np.zeros(_BUCKETS + 1, dtype=np.int64)
        self._rows = np.empty((_BUCKETS, _CAPACITY, 8), dtype=np.float32)
        self._sprites = np.empty((BILLBOARDS, 8), dtype=np.float32)

    def set_light(self, light: NDArray[np.float32]) -> None:
        """Share of direct sun (N,) that reaches each instance's foot."""
        self._table[:, 7] = light

    def select(
        self, present: NDArray[np.bool_], eye: NDArray[np.float64], planes: NDArray[np.float64], focal: float
    ) -> tuple[list[tuple[int, bool, NDArray[np.float32]]], NDArray[np.float32]]:
        """Buckets (species and variant, whether coarse, rows (K, 8)) and billboard rows (B, 8).

        Rows: foot x, y, z, yaw, horizontal scale, height, tint, sun share; a billboard's yaw is its kind.
        Arrays are overwritten by the next call.
        """
        _select(
            self._ground, self._table, self._kind, present, eye, planes, focal, self._counts, self._rows, self._sprites
        )
        buckets = [
            (index // 2, bool(index % 2), self._rows[index, : self._counts[index]])
            for index in range(_BUCKETS)
            if self._counts[index]
        ]
        return buckets, self._sprites[: self._counts[_BUCKETS]]

    def around(self, present: NDArray[np.bool_], xy: NDArray[np.float64], reach: float) -> list[NDArray[np.float32]]:
        """Rows (K, 8) by species and variant of all instances within reach (m) of a point (2,)."""
        gap = self._table[:, :2] - xy.astype(np.float32)
        close = present & ((gap * gap).sum(axis=1) < reach * reach)
        kinds = len(SPECIES) * VARIANTS
        return [np.ascontiguousarray(self._table[close & (self._kind == kind)]) for kind in range(kinds)]


@njit(cache=True, nogil=True)
def _behind_ground(ground, eye, dx, dy, dz):  # type: ignore[no-untyped-def]
    """Returns whether the ground hides the point at offset d (m) from the eye; cheaper than drawing it."""
    reach = math.sqrt(dx * dx + dy * dy + dz * dz)
    hit = cast_ground(ground, eye[0], eye[1], eye[2], dx / reach, dy / reach, dz / reach, reach - 2.0)
    return hit < math.inf


@njit(cache=True, nogil=True)
def _select(ground, table, kinds, present, eye, planes, focal, counts, rows, sprites):  # type: ignore[no-untyped-def]
    counts[:] = 0
    last = counts.shape[0] - 1
    for k in range(table.shape[0]):
        if not present[k]:
            continue
        height = table[k, 5]
        x = table[k, 0]
        y = table[k, 1]
        z = table[k, 2] + 0.5 * height
        ball = 0.62 * height + 0.5 * table[k, 4]
        outside = False
        for p in range(planes.shape[0]):
            if planes[p, 0] * x + planes[p, 1] * y + planes[p, 2] * z + planes[p, 3] < -ball:
                outside = True
                break
        if outside:
            continue
        dx = x - eye[0]
        dy = y - eye[1]
        dz = z - eye[2]
        distance = max(math.sqrt(dx * dx + dy * dy + dz * dz), 0.1)
        pixels = focal * height / distance
        kind = kinds[k]
        tree = kind < BILLBOARD_SPECIES * VARIANTS
        if not tree and pixels < _MIN_PX:
            continue
        steep = -dz / distance > _STEEP
        widen = 1.0
        if tree and not steep and pixels < _THIN_PX:
            few = pixels < 0.5 * _THIN_PX
            if k % (4 if few else 2) != 0:
                continue
            widen = 2.0 if few else 1.45
        if pixels < _HIDDEN_PX and _behind_ground(ground, eye, dx, dy, dz + 0.55 * height):
            continue
        if pixels >= COARSE_PX or not tree or steep:
            bucket = 2 * kind + (0 if pixels >= FINE_PX else 1)
            if counts[bucket] < rows.shape[1]:
                rows[bucket, counts[bucket]] = table[k]
                counts[bucket] += 1
            continue
        if counts[last] < sprites.shape[0]:
            row = sprites[counts[last]]
            row[:] = table[k]
            row[3] = kind
            row[4] *= widen
            counts[last] += 1
