"""Cells of a box that a sphere fits into: for searches of ways through a world."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.frames import vector
from esar_ros.sim.world.collision import touch
from esar_ros.sim.world.raycast import NO_HIT
from esar_ros.sim.world.world import World


def occupied(
    world: World, low: ArrayLike, shape: tuple[int, int, int], cell: float, radius: float
) -> NDArray[np.bool_]:
    """Cells (nx, ny, nz) of side cell (m) above a corner low (3,) where a sphere (radius m) at the centre touches
    anything.
    """
    out = np.empty(shape, dtype=np.bool_)
    _fill(world.collision_scene(), vector(low), float(cell), float(radius), out)
    return out


@njit(cache=True, nogil=True)
def _fill(scene, low, cell, radius, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(out.shape[2]):
                x = low[0] + (i + 0.5) * cell
                y = low[1] + (j + 0.5) * cell
                z = low[2] + (k + 0.5) * cell
                out[i, j, k] = touch(*scene, x, y, z, radius)[0] != NO_HIT
