"""Integration of single range beams, as a LiDAR gives them: hits first, then free space along each beam.

A beam has no neighbours that say what lies around it, so unlike an image's pixel it frees exactly
the voxels it crosses. One scan lowers a voxel once, however many beams cross it, and never one that
was hit in the same scan. Lengths are in voxels from the map's lower corner.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from esar_ros.mapping.kernels.blocks import FRAME, FREE_TILE, MIN_LOG_ODDS, VOLUME, Blocks, take_slot, voxel_offset
from esar_ros.mapping.kernels.carving import missed
from esar_ros.mapping.kernels.integration import HITS, Frame, note_change
from esar_ros.mapping.kernels.kernel import inlined, kernel


@inlined
def mark(frame: Frame, x: int, y: int, z: int) -> None:
    """Set the bit of a voxel in a frame's masks and list it, unless it is listed already."""
    row = (((x >> 4) - frame.lower[0]) * frame.shape[1] + (y >> 4) - frame.lower[1]) * frame.shape[2]
    row += (z >> 4) - frame.lower[2]
    offset = voxel_offset(x & 15, y & 15, z & 15)
    bit = np.uint64(1) << np.uint64(offset & 63)
    if frame.hit_masks[row, offset >> 6] & bit == 0:
        frame.hit_masks[row, offset >> 6] |= bit
        frame.hits[frame.counters[HITS]] = (row << 12) | offset
        frame.counters[HITS] += 1


@kernel
def mark_beams(
    origin: NDArray[np.float64],
    directions: NDArray[np.float64],
    ranges: NDArray[np.float64],
    reach: float,
    margin: float,
    noise: float,
    world: NDArray[np.int64],
    hit: Frame,
    crossed: Frame,
) -> None:
    """Marks the cells where beams (N, 3), of unit length in map axes, end within the reach, and the cells crossed
    before.

    Ranges (N,) are inf where nothing is in range, and not positive or NaN where a beam has no measurement.
    """
    cell, step = np.empty(3, np.int64), np.empty(3, np.int64)
    side, per_voxel = np.empty(3), np.empty(3)
    for n in range(len(ranges)):
        length = ranges[n]
        if not length > 0.0:
            continue
        free = min(length - margin - noise * length if length <= reach else length, reach)
        if length <= reach:
            x = math.floor(origin[0] + directions[n, 0] * length)
            y = math.floor(origin[1] + directions[n, 1] * length)
            z = math.floor(origin[2] + directions[n, 2] * length)
            if 0 <= x < world[0] and 0 <= y < world[1] and 0 <= z < world[2]:
                mark(hit, x, y, z)
        for a in range(3):
            cell[a] = math.floor(origin[a])
            d = directions[n, a]
            step[a] = 1 if d > 0 else -1
            per_voxel[a] = np.inf if d == 0 else abs(1.0 / d)
            ahead = cell[a] + 1.0 - origin[a] if d > 0 else origin[a] - cell[a]
            side[a] = np.inf if d == 0 else ahead * per_voxel[a]
        while True:
            a = 0
            if side[1] < side[a]:
                a = 1
            if side[2] < side[a]:
                a = 2
            if side[a] > free:  # only what the beam crosses from face to face is known to be free
                break
            if 0 <= cell[0] < world[0] and 0 <= cell[1] < world[1] and 0 <= cell[2] < world[2]:
                mark(crossed, cell[0], cell[1], cell[2])
            side[a] += per_voxel[a]
            cell[a] += step[a]


@kernel
def apply_misses(blocks: Blocks, hit: Frame, crossed: Frame) -> None:
    """Lower each voxel crossed and not hit once, and leave the masks of what was crossed clean."""
    for n in range(crossed.counters[HITS]):
        row, offset = crossed.hits[n] >> 12, crossed.hits[n] & (VOLUME - 1)
        crossed.hit_masks[row, offset >> 6] = 0
        if hit.hit_masks[row, offset >> 6] & (np.uint64(1) << np.uint64(offset & 63)) != 0:
            continue
        bz = row % hit.shape[2] + hit.lower[2]
        by = row // hit.shape[2] % hit.shape[1] + hit.lower[1]
        bx = row // (hit.shape[2] * hit.shape[1]) + hit.lower[0]
        slot = int(blocks.table[bx, by, bz])
        if slot == FREE_TILE:
            continue
        if slot < FREE_TILE:
            slot = take_slot(blocks, bx, by, bz)
        blocks.touched[slot] = blocks.counters[FRAME]
        count = int(blocks.log_odds[slot, offset])
        if count == MIN_LOG_ODDS:
            continue
        count, freed, cleared = missed(count)
        blocks.log_odds[slot, offset] = count
        if freed > 0:
            note_change(blocks, hit, row, slot, freed, -cleared)
