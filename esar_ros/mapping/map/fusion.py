"""Whole maps into one: of another vehicle, of another flight, of another resolution."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.kernels.blocks import (
    ABSENT,
    ALL,
    BRICKS,
    FRAME,
    FREE_TILE,
    FREE_TOTAL,
    MAX_LOG_ODDS,
    MIN_LOG_ODDS,
    NEVER_SEEN,
    OCCUPIED_FROM,
    OCCUPIED_TOTAL,
    SIDE,
    VOLUME,
    Blocks,
    release_slot,
    take_slot,
    voxel_offset,
)
from esar_ros.mapping.kernels.kernel import kernel
from esar_ros.mapping.map.voxel_map import VoxelMap


def fuse(target: VoxelMap, source: VoxelMap) -> None:
    """Adds another map's log-odds to the target's, as independent evidence.

    A source of half, a quarter ... of the target's voxel edge is made coarser first. Raises
    MapInputError, with the target unharmed, for other ratios and where the source does not fit.
    """
    ratio = target.resolution / source.resolution
    halvings = round(float(np.log2(ratio))) if ratio >= 1.0 else -1
    if halvings < 0 or not np.isclose(2.0**halvings, ratio, rtol=1e-9):
        raise MapInputError(f"voxels of {source.resolution} m do not add up to voxels of {target.resolution} m")
    for _ in range(halvings):
        source = coarsened(source)
    chosen = source.known_blocks()
    if not len(chosen):
        return

    def shift() -> NDArray[np.int64]:
        return (source.first_cell - target.first_cell) // SIDE

    box = np.stack([chosen.min(axis=0), chosen.max(axis=0)]).astype(np.int64) + shift()
    if target.endless:
        target.make_room([box])
    elif (box[0] < 0).any() or (box[1] >= target.blocks.table.shape).any():
        raise MapInputError("the other map knows more than this one's world can hold")
    target.reserve(len(chosen))
    target.blocks.counters[FRAME] += 1
    places = np.ascontiguousarray(chosen + shift())
    changed = fuse_blocks(target.blocks, places, source.blocks, chosen)
    target.note_changes(places[changed])


def coarsened(source: VoxelMap) -> VoxelMap:
    """The same map with voxels of twice the edge.

    A voxel is as occupied as the most occupied of its eight; it is free only when all eight are.
    """
    edge = 2.0 * source.resolution
    out = VoxelMap(edge, source.lower, source.upper, endless=source.endless)
    chosen = source.known_blocks()
    base = (source.first_cell // SIDE).astype(np.int64)
    first = (out.first_cell // SIDE).astype(np.int64)
    parents = np.unique((chosen + base) >> 1, axis=0) - first
    out.reserve(len(parents))
    coarsen_blocks(source.blocks, base, out.blocks, np.ascontiguousarray(parents), first)
    return out


@kernel
def settle(blocks: Blocks, bx: int, by: int, bz: int, free: int, occupied: int) -> None:
    """Count a block that was written to anew, and book the totals against what it held before."""
    slot = blocks.table[bx, by, bz]
    blocks.free[slot], blocks.occupied[slot] = 0, 0
    saturated = np.uint64(0)
    for brick in range(BRICKS):
        lowest = True
        for offset in range(brick << 6, (brick + 1) << 6):
            count = blocks.log_odds[slot, offset]
            lowest = lowest and count == MIN_LOG_ODDS
            if count >= OCCUPIED_FROM:
                blocks.occupied[slot] += 1
            elif count != NEVER_SEEN:
                blocks.free[slot] += 1
        if lowest:
            saturated |= np.uint64(1) << np.uint64(brick)
    blocks.saturated[slot] = saturated
    blocks.altered[slot] = blocks.counters[FRAME]
    blocks.counters[FREE_TOTAL] += blocks.free[slot] - free
    blocks.counters[OCCUPIED_TOTAL] += blocks.occupied[slot] - occupied
    if saturated == ALL or blocks.free[slot] + blocks.occupied[slot] == 0:
        release_slot(blocks, bx, by, bz)


@kernel
def fuse_blocks(
    blocks: Blocks, places: NDArray[np.int64], other: Blocks, chosen: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Add the chosen blocks (N, 3) of another pool to the blocks at places (N, 3); returns where a class changed."""
    changed = np.zeros(len(chosen), np.bool_)
    for n in range(len(chosen)):
        bx, by, bz = places[n]
        theirs = other.table[chosen[n, 0], chosen[n, 1], chosen[n, 2]]
        slot = int(blocks.table[bx, by, bz])
        if slot == FREE_TILE and theirs == FREE_TILE:
            continue
        free, occupied = 0, 0
        if slot == ABSENT:
            slot = take_slot(blocks, bx, by, bz)
        elif slot == FREE_TILE:
            slot = take_slot(blocks, bx, by, bz)
            free = VOLUME
        else:
            free, occupied = blocks.free[slot], blocks.occupied[slot]
        for offset in range(VOLUME):
            more = int(other.log_odds[theirs, offset])
            if more == NEVER_SEEN:
                continue
            count = int(blocks.log_odds[slot, offset])
            both = more if count == NEVER_SEEN else min(max(count + more, MIN_LOG_ODDS), MAX_LOG_ODDS)
            blocks.log_odds[slot, offset] = both
            if (count >= OCCUPIED_FROM) != (both >= OCCUPIED_FROM) or count == NEVER_SEEN:
                changed[n] = True
        settle(blocks, bx, by, bz, free, occupied)
    return changed


@kernel
def coarsen_blocks(
    blocks: Blocks, base: NDArray[np.int64], out: Blocks, parents: NDArray[np.int64], first: NDArray[np.int64]
) -> None:
    """Fill blocks (N, 3) of an empty pool from the eight below each; base and first are the worlds' first blocks."""
    nx, ny, nz = blocks.table.shape
    for n in range(len(parents)):
        bx, by, bz = parents[n]
        slot = take_slot(out, bx, by, bz)
        for child in range(8):
            i, j, k = child >> 2, (child >> 1) & 1, child & 1
            sx, sy, sz = (
                2 * (bx + first[0]) + i - base[0],
                2 * (by + first[1]) + j - base[1],
                2 * (bz + first[2]) + k - base[2],
            )
            if not (0 <= sx < nx and 0 <= sy < ny and 0 <= sz < nz):
                continue
            below = int(blocks.table[sx, sy, sz])
            if below == ABSENT:
                continue
            for part in range(512):
                x, y, z = part >> 6, (part >> 3) & 7, part & 7
                maximum, whole = NEVER_SEEN, True
                for corner in range(8):
                    offset = voxel_offset(2 * x + (corner >> 2), 2 * y + ((corner >> 1) & 1), 2 * z + (corner & 1))
                    count = int(blocks.log_odds[below, offset])
                    maximum = max(maximum, count)
                    whole = whole and count != NEVER_SEEN
                if whole or maximum >= OCCUPIED_FROM:
                    out.log_odds[slot, voxel_offset(8 * i + x, 8 * j + y, 8 * k + z)] = maximum
        settle(out, bx, by, bz, 0, 0)
