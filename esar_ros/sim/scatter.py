"""Plants and loose rock of a place: where each stands, and the simple solids that rays and hulls meet.

They belong to the place, not to a run: the same map bears the same trees in every task.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.sim.maps import PlaceMap, PlantSpec
from esar_ros.sim.noise import uniform2
from esar_ros.sim.plant_meshes import (
    BROADLEAF_CROWN,
    BROADLEAF_TRUNK_RADIUS,
    BUSH_CROWN,
    CONIFER_CROWN_BASE,
    CONIFER_RADIUS,
    ROCK_CROWN,
)

SPECIES: tuple[str, ...] = ("conifer", "broadleaf", "bush", "rock")
VARIANTS = 2  # meshes a species

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
        shares = np.array([CONIFER_RADIUS, BROADLEAF_CROWN[1], BUSH_CROWN[1], ROCK_CROWN[1]], dtype=np.float32)
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
    table = np.concatenate(parts) if parts else np.zeros((0, 6))
    xy = table[:, :2]
    height = table[:, 2].astype(np.float32)
    species = table[:, 5].astype(np.uint8)
    sink = np.where(species == SPECIES.index("rock"), 0.18, 0.03) * height
    z = place.ground_height(xy) - sink
    rng = np.random.default_rng(place.seed + 77)
    width = height * rng.uniform(0.85, 1.15, len(height))
    width[species == SPECIES.index("rock")] *= 1.15
    return Flora(
        positions=np.column_stack([xy, z]).astype(np.float32),
        height=height,
        width=width.astype(np.float32),
        yaw=table[:, 3].astype(np.float32),
        tint=table[:, 4].astype(np.float32),
        species=species,
        variant=rng.integers(0, VARIANTS, len(height)).astype(np.uint8),
    )


def solids(flora: Flora) -> Solids:
    """Proxies that follow the meshes: cones for firs, ellipsoids for crowns, bushes and rocks."""
    shape, owner = [], []
    for index, name in enumerate(SPECIES):
        own = np.flatnonzero(flora.species == index)
        x, y, z = flora.positions[own].astype(np.float64).T
        h = flora.height[own].astype(np.float64)
        w = flora.width[own].astype(np.float64)
        if name == "conifer":
            base = z + CONIFER_CROWN_BASE * h
            rows = [[np.full_like(x, CONE), x, y, base, CONIFER_RADIUS * w, (1.0 - CONIFER_CROWN_BASE) * h]]
        else:
            centre, wide, high = {"broadleaf": BROADLEAF_CROWN, "bush": BUSH_CROWN, "rock": ROCK_CROWN}[name]
            rows = [[np.full_like(x, ELLIPSOID), x, y, z + centre * h, wide * w, high * h]]
            if name == "broadleaf":
                rows.append([np.full_like(x, CONE), x, y, z, BROADLEAF_TRUNK_RADIUS * w, centre * h])
        for row in rows:
            shape.append(np.stack(row, axis=1))
            owner.append(own)
    return Solids(np.concatenate(shape), np.concatenate(owner).astype(np.int32))


def _sites(place: PlaceMap, index: int, spec: PlantSpec) -> NDArray[np.float64]:
    shares = np.zeros(256)
    shares[[0, 4]] = spec.open, 0.3 * spec.open
    shares[1] = 0.4 * spec.open
    shares[5] = spec.forest
    shares[6] = spec.blockfield
    steepest = 3.0 if SPECIES[index] == "rock" else 1.05
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
        steepest,
        rows,
    )
    rows = rows[:used]
    rows[:, 5] = index
    return rows


@njit(cache=True, nogil=True)
def _scatter(h, cover, size, seed, spacing, low, high, shares, steepest, out):  # type: ignore[no-untyped-def]
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
            out[used, 2] = low + (high - low) * u * u if steepest > 2.0 else low + (high - low) * u
            out[used, 3] = 6.283185307179586 * uniform2(column, row, seed + 4)
            out[used, 4] = 0.75 + 0.5 * uniform2(column, row, seed + 5)
            used += 1
    return used
