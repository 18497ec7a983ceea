"""Kernels that read the voxel map. Points and lengths are in voxels from the map's lower corner."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, UNKNOWN
from esar_ros.mapping.kernels.blocks import (
    ABSENT,
    BRICKS,
    NEVER_SEEN,
    OCCUPIED_FROM,
    SIDE,
    VOLUME,
    Blocks,
    voxel_offset,
)
from esar_ros.mapping.kernels.kernel import inlined, kernel

_SIGNS = np.uint64(0x8080808080808080)
_LOW_BITS = np.uint64(0x7F7F7F7F7F7F7F7F)
_TO_SIGN = np.uint64(0x0101010101010101 * (128 - OCCUPIED_FROM))


@inlined
def count_at(blocks: Blocks, x: int, y: int, z: int) -> int:
    """Log-odds count of a voxel; NEVER_SEEN outside the world."""
    nx, ny, nz = blocks.table.shape
    count = NEVER_SEEN
    if 0 <= x < nx * SIDE and 0 <= y < ny * SIDE and 0 <= z < nz * SIDE:
        slot = blocks.table[x >> 4, y >> 4, z >> 4]
        if slot >= 0:
            count = int(blocks.log_odds[slot, voxel_offset(x & 15, y & 15, z & 15)])
    return count


@inlined
def class_of(count: int) -> int:
    """UNKNOWN, FREE or OCCUPIED for a log-odds count."""
    return UNKNOWN if count == NEVER_SEEN else (OCCUPIED if count >= OCCUPIED_FROM else FREE)


@kernel
def counts_at(blocks: Blocks, points: NDArray[np.float64]) -> NDArray[np.int8]:
    """Log-odds counts at points (N, 3)."""
    out = np.empty(len(points), np.int8)
    for n in range(len(points)):
        out[n] = count_at(blocks, math.floor(points[n, 0]), math.floor(points[n, 1]), math.floor(points[n, 2]))
    return out


@kernel
def cast_rays(
    blocks: Blocks,
    origins: NDArray[np.float64],
    directions: NDArray[np.float64],
    reach: float,
    through_unknown: bool,
    distances: NDArray[np.float64],
    states: NDArray[np.uint8],
) -> None:
    """Walk rays (N, 3) voxel by voxel (Amanatides and Woo, 1987) until something is not free.

    Fills in the distance to that voxel's face and its class, or the reach and FREE.
    """
    position, step = np.empty(3, np.int64), np.empty(3, np.int64)
    side, per_voxel = np.empty(3), np.empty(3)
    for n in range(len(origins)):
        for a in range(3):
            position[a] = math.floor(origins[n, a])
            d = directions[n, a]
            step[a] = 1 if d > 0 else -1
            per_voxel[a] = np.inf if d == 0 else abs(1.0 / d)
            ahead = position[a] + 1.0 - origins[n, a] if d > 0 else origins[n, a] - position[a]
            side[a] = np.inf if d == 0 else ahead * per_voxel[a]
        travelled = 0.0
        state = FREE
        while travelled <= reach:
            here = class_of(count_at(blocks, position[0], position[1], position[2]))
            if here == OCCUPIED or (here == UNKNOWN and not through_unknown):
                state = here
                break
            a = 0
            if side[1] < side[a]:
                a = 1
            if side[2] < side[a]:
                a = 2
            travelled = side[a]
            side[a] += per_voxel[a]
            position[a] += step[a]
        distances[n] = min(travelled, reach)
        states[n] = state


@inlined
def box_distance2(px: float, py: float, pz: float, x: float, y: float, z: float, edge: float) -> float:
    """Squared distance of a point from the cube of this edge with lower corner (x, y, z)."""
    dx = max(x - px, 0.0, px - x - edge)
    dy = max(y - py, 0.0, py - y - edge)
    dz = max(z - pz, 0.0, pz - z - edge)
    return dx * dx + dy * dy + dz * dz


@kernel
def nearest_in_block(
    blocks: Blocks,
    slot: int,
    corner: tuple[float, float, float],
    p: tuple[float, float, float],
    unknown_too: bool,
    best: float,
    nearest: NDArray[np.float64],
) -> float:
    """Squared distance to the nearest obstacle's voxel in a block if below `best`, else `best`."""
    for brick in range(BRICKS):
        x = corner[0] + 4.0 * (brick >> 4)
        y = corner[1] + 4.0 * ((brick >> 2) & 3)
        z = corner[2] + 4.0 * (brick & 3)
        if box_distance2(p[0], p[1], p[2], x, y, z, 4.0) >= best:
            continue
        for k in range(BRICKS):
            count = blocks.log_odds[slot, (brick << 6) | k]
            if count < OCCUPIED_FROM and not (unknown_too and count == NEVER_SEEN):
                continue
            vx, vy, vz = x + (k >> 4), y + ((k >> 2) & 3), z + (k & 3)
            square = box_distance2(p[0], p[1], p[2], vx, vy, vz, 1.0)
            if square < best:
                best = square
                nearest[0] = min(max(p[0], vx), vx + 1.0)
                nearest[1] = min(max(p[1], vy), vy + 1.0)
                nearest[2] = min(max(p[2], vz), vz + 1.0)
    return best


@kernel
def nearest_obstacles(
    blocks: Blocks,
    points: NDArray[np.float64],
    r_max: float,
    unknown_too: bool,
    distances: NDArray[np.float64],
    nearest: NDArray[np.float64],
) -> None:
    """Exact distance of each point (N, 3) from the nearest obstacle's voxel, and the nearest point of that.

    Searches shells of blocks outwards and stops when no further shell can be nearer. Beyond r_max
    the distance is inf and the point NaN.
    """
    nx, ny, nz = blocks.table.shape
    for n in range(len(points)):
        px, py, pz = points[n]
        cx, cy, cz = math.floor(px / SIDE), math.floor(py / SIDE), math.floor(pz / SIDE)
        margin = SIDE * 1.0
        for a in range(3):
            inside = points[n, a] - math.floor(points[n, a] / SIDE) * SIDE
            margin = min(margin, inside, SIDE - inside)
        # The least float above r_max^2, so that an obstacle at exactly r_max is found.
        best = np.nextafter(r_max * r_max, np.inf)
        limit = best
        nearest[n, :] = np.nan
        shell = 0
        while shell == 0 or ((shell - 1) * SIDE + margin) ** 2 < best:
            for bx in range(cx - shell, cx + shell + 1):
                for by in range(cy - shell, cy + shell + 1):
                    edge = abs(bx - cx) == shell or abs(by - cy) == shell
                    for bz in range(cz - shell, cz + shell + 1, 1 if edge or shell == 0 else 2 * shell):
                        x, y, z = float(bx * SIDE), float(by * SIDE), float(bz * SIDE)
                        square = box_distance2(px, py, pz, x, y, z, float(SIDE))
                        if square >= best:
                            continue
                        slot = ABSENT
                        if 0 <= bx < nx and 0 <= by < ny and 0 <= bz < nz:
                            slot = int(blocks.table[bx, by, bz])
                        if slot == ABSENT:
                            if unknown_too:
                                best = square
                                nearest[n, 0] = min(max(px, x), x + SIDE)
                                nearest[n, 1] = min(max(py, y), y + SIDE)
                                nearest[n, 2] = min(max(pz, z), z + SIDE)
                            continue
                        occupied = blocks.occupied[slot]
                        if occupied == 0 and not (unknown_too and blocks.free[slot] < VOLUME):
                            continue
                        best = nearest_in_block(blocks, slot, (x, y, z), (px, py, pz), unknown_too, best, nearest[n])
            shell += 1
        distances[n] = math.sqrt(best) if best < limit else np.inf


@kernel
def cut_window(blocks: Blocks, first: NDArray[np.int64], out: NDArray[np.uint8]) -> None:
    """Classes of the box of voxels that starts at voxel `first`; UNKNOWN outside the world."""
    nx, ny, nz = blocks.table.shape
    for i in range(out.shape[0]):
        x = first[0] + i
        for j in range(out.shape[1]):
            y = first[1] + j
            if not (0 <= x < nx * SIDE and 0 <= y < ny * SIDE):
                out[i, j, :] = UNKNOWN
                continue
            column = ((x & 12) << 8) | ((y & 12) << 6) | ((x & 3) << 4) | ((y & 3) << 2)
            k = 0
            while k < out.shape[2]:
                z = first[2] + k
                run = min(SIDE - (z & 15), out.shape[2] - k)
                slot = ABSENT
                if 0 <= z < nz * SIDE:
                    slot = int(blocks.table[x >> 4, y >> 4, z >> 4])
                if slot == ABSENT:
                    out[i, j, k : k + run] = UNKNOWN
                else:
                    for m in range(run):
                        w = (z & 15) + m
                        out[i, j, k + m] = class_of(blocks.log_odds[slot, column | ((w >> 2) << 6) | (w & 3)])
                k += run


@kernel
def write_occupied(
    blocks: Blocks,
    chosen: NDArray[np.int32],
    starts: NDArray[np.int64],
    edge: float,
    corner: NDArray[np.float64],
    out: NDArray[np.float32],
) -> None:
    """Write what is occupied in the chosen blocks (M, 3), each from its row (M,) of `out` on.

    Rows (N, 4) are the centre's x, y, z in m, for voxels of this edge in a world with this lower
    corner, and z once more.
    """
    words = blocks.log_odds.view(np.uint64)
    for n in range(len(chosen)):
        slot = blocks.table[chosen[n, 0], chosen[n, 1], chosen[n, 2]]
        if slot < 0 or blocks.occupied[slot] == 0:
            continue
        m = starts[n]
        x0 = (chosen[n, 0] * SIDE + 0.5) * edge + corner[0]
        y0 = (chosen[n, 1] * SIDE + 0.5) * edge + corner[1]
        z0 = (chosen[n, 2] * SIDE + 0.5) * edge + corner[2]
        for word in range(VOLUME // 8):
            # Eight voxels at once: a byte carries into its sign bit when it is not negative and at least OCCUPIED_FROM.
            eight = words[slot, word]
            mask = ((eight & _LOW_BITS) + _TO_SIGN) & ~eight & _SIGNS
            if mask == 0:
                continue
            offset = 8 * word
            x = np.float32(x0 + (((offset >> 10) << 2) + ((offset >> 4) & 3)) * edge)
            first_y = (((offset >> 8) & 3) << 2) + ((offset >> 2) & 3)
            first_z = ((offset >> 6) & 3) << 2
            mask >>= np.uint64(7)
            for k in range(8):
                if mask & np.uint64(1):
                    z = np.float32(z0 + (first_z + (k & 3)) * edge)
                    out[m, 0] = x
                    out[m, 1] = np.float32(y0 + (first_y + (k >> 2)) * edge)
                    out[m, 2] = z
                    out[m, 3] = z
                    m += 1
                mask >>= np.uint64(8)


def occupied_in(blocks: Blocks, chosen: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number (M,) of occupied voxels in blocks (M, 3)."""
    slots = blocks.table[tuple(chosen.T)]
    return np.where(slots >= 0, blocks.occupied[np.maximum(slots, 0)], 0).astype(np.int64)


def list_occupied(
    blocks: Blocks, chosen: NDArray[np.int32], edge: float, corner: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Everything occupied in the chosen blocks (M, 3), in their order; rows as write_occupied has them."""
    counts = occupied_in(blocks, chosen)
    out = np.empty((int(counts.sum()), 4), np.float32)
    write_occupied(blocks, chosen, np.cumsum(counts) - counts, edge, corner, out)
    return out


@kernel
def gather_rows(
    rows: NDArray[np.float32], starts: NDArray[np.int64], counts: NDArray[np.int64], out: NDArray[np.float32]
) -> None:
    """Put runs of rows (N, 4), given by start and length, behind one another."""
    source, target = rows.reshape(-1), out.reshape(-1)
    m = 0
    for n in range(len(starts)):
        length = 4 * counts[n]
        target[m : m + length] = source[4 * starts[n] : 4 * starts[n] + length]
        m += length
