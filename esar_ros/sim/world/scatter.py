"""Plants and loose rock of a place: where each stands, and the simple solids that rays and hulls meet.

They belong to the place, not to a run: the same map bears the same trees in every task.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from esar_ros.sim.assets.plant_meshes import BROADLEAF_TRUNK_RADIUS, CONIFER_CROWN_BASE, SHAPES, TREES
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.map_spec import PlantSpec
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.terrain.noise import uniform2
from esar_ros.sim.terrain.settlements.plan import PlannedTree

# Trees first: those that are drawn as billboards from afar. Only what a map file scatters appears on a map.
SPECIES: tuple[str, ...] = (
    "conifer", "broadleaf", "larch", "evergreen",
    "bush", "rock", "boulder", "tamarisk", "salt_block", "gobi_stone", "ice_block",
)  # fmt: skip
VARIANTS = 2  # meshes a species
NAMES = {name: "tree" if name in TREES else "bush" if name in ("bush", "tamarisk") else "rock" for name in SPECIES}
_SINK = {"rock": 0.18, "boulder": 0.22, "salt_block": 0.15, "gobi_stone": 0.18, "ice_block": 0.12}  # of the height
_SQUAT = {"rock": 1.15, "boulder": 1.2, "tamarisk": 1.5, "salt_block": 1.3, "gobi_stone": 1.25, "ice_block": 1.1}

# Solids: an upright ellipsoid (centre z, horizontal, vertical radius) or an upright cone (base z, radius, height).
ELLIPSOID, CONE = 0, 1


@dataclass(frozen=True, eq=False)
class Flora:
    """Instances, N of them; their order is their identity."""

    positions: NDArray[np.float32]  # (N, 3) m, foot
    height: NDArray[np.float32]  # (N,) m
    width: NDArray[np.float32]  # (N,) horizontal scale against height 1 meshes, m
    yaw: NDArray[np.float32]  # (N,) rad
    tint: NDArray[np.float32]  # (N,) brightness about 1
    species: NDArray[np.uint8]  # (N,) index into SPECIES
    variant: NDArray[np.uint8]  # (N,) 0..VARIANTS-1

    def __len__(self) -> int:
        return len(self.species)

    @property
    def crown_radius(self) -> NDArray[np.float32]:
        """Horizontal radius of each instance, m."""
        shares = np.array([SHAPES[name][1] for name in SPECIES], dtype=np.float32)
        return np.asarray(shares[self.species] * self.width, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Solids:
    """Ray-cast and collision proxies of a Flora; a broad-leaved tree has two (crown and trunk)."""

    shape: NDArray[np.float64]  # (P, 6): kind, x, y, z, radius, height or vertical radius
    owner: NDArray[np.int32]  # (P,) instance


def scatter(place: PlaceMap) -> Flora:
    """Plants and rocks of a place, the same every time."""
    parts = []
    for index, name in enumerate(SPECIES):
        spec = place.flora.get(name)
        if spec is not None:
            parts.append(_sites(place, index, spec))
    if place.plan is not None:
        parts.append(_planted(place.plan.trees, place.seed))
    table = np.concatenate(parts) if parts else np.zeros((0, 6))
    xy = table[:, :2]
    height = table[:, 2].astype(np.float32)
    species = table[:, 5].astype(np.uint8)
    z = place.ground_height(xy) - np.array([_SINK.get(name, 0.03) for name in SPECIES])[species] * height
    rng = np.random.default_rng(place.seed + 77)
    width = (
        height * rng.uniform(0.85, 1.15, len(height)) * np.array([_SQUAT.get(name, 1.0) for name in SPECIES])[species]
    )
    variant = rng.integers(0, VARIANTS, len(height)).astype(np.uint8)
    if place.larch_above is not None:
        # Larches thin the firs out gradually: of like size, so that what stands in the way stays the same.
        high = z + 18.0 * rng.standard_normal(len(z)) > place.larch_above
        species[(species == SPECIES.index("conifer")) & high] = SPECIES.index("larch")
    kept = ~(_on_tracks(place, xy) | _in_clearings(place, xy))
    return Flora(
        positions=np.column_stack([xy, z])[kept].astype(np.float32),
        height=height[kept],
        width=width[kept].astype(np.float32),
        yaw=table[kept, 3].astype(np.float32),
        tint=table[kept, 4].astype(np.float32),
        species=species[kept],
        variant=variant[kept],
    )


def _on_tracks(place: PlaceMap, xy: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Returns whether points (N, 2) lie on a track or just beside it."""
    out = np.zeros(len(xy), dtype=np.bool_)
    for name, line in place.tracks.items():
        reach = place.track_width[name] / 2 + 0.5
        steps = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
        s = np.arange(0.0, steps[-1], 0.5)
        dense = np.column_stack([np.interp(s, steps, line[:, 0]), np.interp(s, steps, line[:, 1])])
        out |= cKDTree(dense).query(xy, distance_upper_bound=reach)[0] < reach
    return out


def _in_clearings(place: PlaceMap, xy: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Returns whether points (N, 2) lie in a clearing or so near that a crown would reach in."""
    if not len(place.clearings):
        return np.zeros(len(xy), dtype=np.bool_)
    radius = place.clearings[:, 2] + 4.0
    distance, nearest = cKDTree(place.clearings[:, :2]).query(xy, distance_upper_bound=float(radius.max()))
    return np.asarray(distance < np.append(radius, 0.0)[nearest])


def solids(flora: Flora) -> Solids:
    """Proxies that follow the meshes: cones for firs and larches, ellipsoids for crowns, bushes and rocks."""
    shape, owner = [], []
    for index, name in enumerate(SPECIES):
        own = np.flatnonzero(flora.species == index)
        x, y, z = flora.positions[own].astype(np.float64).T
        h = flora.height[own].astype(np.float64)
        w = flora.width[own].astype(np.float64)
        centre, wide, high = SHAPES[name]
        if name in ("conifer", "larch"):
            base = z + CONIFER_CROWN_BASE * h
            rows = [[np.full_like(x, CONE), x, y, base, wide * w, (1.0 - CONIFER_CROWN_BASE) * h]]
        else:
            rows = [[np.full_like(x, ELLIPSOID), x, y, z + centre * h, wide * w, high * h]]
            if name in TREES:
                rows.append([np.full_like(x, CONE), x, y, z, BROADLEAF_TRUNK_RADIUS * w, centre * h])
        for row in rows:
            shape.append(np.stack(row, axis=1))
            owner.append(own)
    return Solids(np.concatenate(shape), np.concatenate(owner).astype(np.int32))


def _planted(trees: Sequence[PlannedTree], seed: int) -> NDArray[np.float64]:
    """Rows (N, 6) as `_scatter` has them: x, y, height, yaw, tint, species."""
    rng = np.random.default_rng(seed + 78)
    rows = [
        (*tree.xy, tree.height, rng.uniform(0.0, 2.0 * math.pi), rng.uniform(0.75, 1.25), SPECIES.index(tree.species))
        for tree in trees
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 6)


def _sites(place: PlaceMap, index: int, spec: PlantSpec) -> NDArray[np.float64]:
    shares = np.zeros(256)
    for name, share in spec.share.items():
        shares[LandCover[name.upper()]] = share
    many_small = SPECIES[index] not in TREES and spec.steepest > 1.05
    count = int(place.size / spec.spacing)
    rows = np.empty((count * count, 6))
    used = _scatter(
        place.heights,
        place.land_cover,
        place.size,
        place.seed + 1000 * (index + 1),
        spec.spacing,
        spec.height[0],
        spec.height[1],
        shares,
        spec.steepest,
        many_small,
        rows,
    )
    rows = rows[:used]
    rows[:, 5] = index
    return rows


@njit(cache=True, nogil=True)
def _scatter(h, cover, size, seed, spacing, low, high, shares, steepest, many_small, out):  # type: ignore[no-untyped-def]
    """One jittered site a grid cell, kept by the share of the ground it falls on. Returns how many."""
    n = h.shape[0]
    cell = size / (n - 1)
    count = int(size / spacing)
    used = 0
    for row in range(count):
        for column in range(count):
            x = (column + 0.5 + 0.8 * (uniform2(column, row, seed) - 0.5)) * spacing
            y = (row + 0.5 + 0.8 * (uniform2(column, row, seed + 1) - 0.5)) * spacing
            i = min(n - 2, max(1, int(x / cell + 0.5)))
            j = min(n - 2, max(1, int(y / cell + 0.5)))
            if uniform2(column, row, seed + 2) >= shares[cover[j, i]]:
                continue
            gx = (h[j, i + 1] - h[j, i - 1]) / (2.0 * cell)
            gy = (h[j + 1, i] - h[j - 1, i]) / (2.0 * cell)
            if math.sqrt(gx * gx + gy * gy) > steepest:
                continue
            u = uniform2(column, row, seed + 3)
            out[used, 0] = x - size / 2.0
            out[used, 1] = y - size / 2.0
            out[used, 2] = low + (high - low) * u * u if many_small else low + (high - low) * u
            out[used, 3] = 6.283185307179586 * uniform2(column, row, seed + 4)
            out[used, 4] = 0.75 + 0.5 * uniform2(column, row, seed + 5)
            used += 1
    return used
