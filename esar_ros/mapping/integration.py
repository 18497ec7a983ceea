"""Projective integration of depth pictures: hits first, then free space from coarse to fine.

Per frame: (1) the end points of all cameras set bits in hit masks; (2) for each camera a min/max
pyramid of its depth is made, and (3) the blocks, then the bricks of its view are projected into it:
wholly occluded ones are skipped, those wholly in front of everything seen are carved at once, and
only the rest are tested voxel by voxel; no voxel with a hit in this frame is carved; (4) each hit
voxel is raised once. Steps 3 of different cameras commute, so their order does not matter.

All lengths in these kernels are in voxels from the map's least corner.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from esar_ros.mapping.blocks import (
    ABSENT,
    ALL,
    BRICKS,
    FREE_TILE,
    FREE_TOTAL,
    HIT,
    LEAST,
    MISS,
    MOST,
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
from esar_ros.mapping.kernel import inlined, kernel

TILE = 8  # px, edge of the pyramid's base tiles
BLOCK_RADIUS = SIDE / 2 * math.sqrt(3.0)
NEAREST = 0.5  # voxels; nothing nearer to the camera's plane is carved

SKIP, MIXED, CLEAR = 0, 1, 2  # how a box stands in a picture
HITS, CHANGED = 0, 1  # counters of a frame


class Frame(NamedTuple):
    """Scratch of one integration: the box of blocks that it can reach. Masks and flags are zero in between."""

    lower: NDArray[np.int64]  # (3,) block
    shape: NDArray[np.int64]  # (3,) blocks
    hit_masks: NDArray[np.uint64]  # (rows, 64): voxels hit, a word a brick; rows in C order over the box
    hits: NDArray[np.int64]  # row << 12 | voxel offset
    flagged: NDArray[np.bool_]  # (rows,) already listed in changed
    changed: NDArray[np.int64]  # rows of blocks in which a voxel's class changed
    counters: NDArray[np.int64]  # (2,)


class View(NamedTuple):
    """One depth picture in voxel units."""

    depth: NDArray[np.float32]  # (H, W) m, planar
    pinhole: NDArray[np.float64]  # fx, fy, cx, cy in px
    rotation: NDArray[np.float64]  # (3, 3) optical frame to map
    origin: NDArray[np.float64]  # (3,) voxels
    reach: float  # voxels, Euclidean
    per_metre: float  # voxels a metre
    margin: float  # voxels along a ray in front of a surface that are left alone
    noise: float  # further margin as a share of the range


@kernel
def mark_hits(view: View, frame: Frame, world: NDArray[np.int64]) -> None:
    """Set the bit of every voxel of the world (a shape in voxels) in which a depth pixel ends."""
    depth, turn, origin = view.depth, view.rotation, view.origin
    fx, fy, cx, cy = view.pinhole
    height, width = depth.shape
    reach2 = view.reach * view.reach
    count = frame.counters[HITS]
    for v in range(height):
        dy = (v + 0.5 - cy) / fy
        ax = turn[0, 1] * dy + turn[0, 2]
        ay = turn[1, 1] * dy + turn[1, 2]
        az = turn[2, 1] * dy + turn[2, 2]
        for u in range(width):
            d = depth[v, u]
            if not (d > 0.0 and d < np.inf):
                continue
            dx = (u + 0.5 - cx) / fx
            z = d * view.per_metre
            if z * z * (1.0 + dx * dx + dy * dy) > reach2:
                continue
            px = origin[0] + (ax + turn[0, 0] * dx) * z
            py = origin[1] + (ay + turn[1, 0] * dx) * z
            pz = origin[2] + (az + turn[2, 0] * dx) * z
            if not (0.0 <= px < world[0] and 0.0 <= py < world[1] and 0.0 <= pz < world[2]):
                continue
            x, y, k = int(px), int(py), int(pz)
            row = (
                ((x >> 4) - frame.lower[0]) * frame.shape[1] + (y >> 4) - frame.lower[1]
            ) * frame.shape[2] + (k >> 4) - frame.lower[2]
            offset = voxel_offset(x & 15, y & 15, k & 15)
            bit = np.uint64(1) << np.uint64(offset & 63)
            if frame.hit_masks[row, offset >> 6] & bit == 0:
                frame.hit_masks[row, offset >> 6] |= bit
                frame.hits[count] = (row << 12) | offset
                count += 1
    frame.counters[HITS] = count


@kernel
def depth_pyramid(depth: NDArray[np.float32], per_metre: float, reach: float) -> NDArray[np.float32]:
    """Least and greatest free depth of square tiles, (levels, rows, columns, 2) in voxels.

    Level 0 has tiles of TILE px, each next level doubles them. A pixel that frees nothing counts as
    0, one with nothing in range as twice the reach.
    """
    height, width = depth.shape
    rows, columns = (height + TILE - 1) // TILE, (width + TILE - 1) // TILE
    levels, left = 1, max(rows, columns)
    while left > 1:
        left = (left + 1) // 2
        levels += 1
    pyramid = np.empty((levels, rows, columns, 2), np.float32)
    far = np.float32(2.0 * reach)
    for j in range(rows):
        for i in range(columns):
            least, most = far, np.float32(0.0)
            for v in range(j * TILE, min(height, j * TILE + TILE)):
                for u in range(i * TILE, min(width, i * TILE + TILE)):
                    d = np.float32(depth[v, u] * per_metre)
                    d = min(d, far) if d > 0.0 else np.float32(0.0)
                    least, most = min(least, d), max(most, d)
            pyramid[0, j, i, 0], pyramid[0, j, i, 1] = least, most
    for level in range(1, levels):
        below_rows, below_columns = rows, columns
        rows, columns = (rows + 1) // 2, (columns + 1) // 2
        for j in range(rows):
            for i in range(columns):
                least, most = far, np.float32(0.0)
                for b in range(2 * j, min(2 * j + 2, below_rows)):
                    for a in range(2 * i, min(2 * i + 2, below_columns)):
                        least = min(least, pyramid[level - 1, b, a, 0])
                        most = max(most, pyramid[level - 1, b, a, 1])
                pyramid[level, j, i, 0], pyramid[level, j, i, 1] = least, most
    return pyramid


@kernel
def box_in_view(
    view: View,
    pyramid: NDArray[np.float32],
    x: float,
    y: float,
    z: float,
    ex: float,
    ey: float,
    ez: float,
    radius: float,
    slant: float,
) -> int:
    """SKIP, MIXED or CLEAR: a box around (x, y, z) with half-extents e, all along the camera's axes.

    `radius` is the box's circumscribed sphere, `slant` the greatest length of a ray a unit of depth.
    """
    near, far = z - ez, z + ez
    if far < NEAREST or near > view.reach:
        return SKIP
    distance = math.sqrt(x * x + y * y + z * z)
    if distance - radius > view.reach:
        return SKIP
    if near < NEAREST:
        return MIXED
    fx, fy, cx, cy = view.pinhole
    height, width = view.depth.shape
    left = cx + fx * min((x - ex) / near, (x - ex) / far)
    right = cx + fx * max((x + ex) / near, (x + ex) / far)
    upper = cy + fy * min((y - ey) / near, (y - ey) / far)
    lower = cy + fy * max((y + ey) / near, (y + ey) / far)
    if right < 0 or lower < 0 or left >= width or upper >= height:
        return SKIP
    i0, i1 = int(max(left, 0.0)) // TILE, int(min(right, width - 1.0)) // TILE
    j0, j1 = int(max(upper, 0.0)) // TILE, int(min(lower, height - 1.0)) // TILE
    level = 0
    while i1 - i0 > 2 or j1 - j0 > 2:
        i0, i1, j0, j1, level = i0 >> 1, i1 >> 1, j0 >> 1, j1 >> 1, level + 1
    least, most = pyramid[level, j0, i0, 0], pyramid[level, j0, i0, 1]
    for j in range(j0, j1 + 1):
        for i in range(i0, i1 + 1):
            least = min(least, pyramid[level, j, i, 0])
            most = max(most, pyramid[level, j, i, 1])
    if (most - near) * slant < view.margin:
        return SKIP
    inside = left >= 0 and upper >= 0 and right < width and lower < height
    if inside and distance + radius < view.reach:
        if least - far > view.margin + view.noise * (distance + radius):
            return CLEAR
    return MIXED


@inlined
def lower_run(blocks: Blocks, slot: int, start: int, stop: int) -> tuple[int, int, bool]:
    """Count a miss in a run of voxels; returns those that became free, that stopped being occupied, all LEAST."""
    freed, cleared, settled = 0, 0, True
    for k in range(start, stop):
        count = blocks.log_odds[slot, k]
        if count == NEVER_SEEN:
            count = 0
            freed += 1
        elif count >= OCCUPIED_FROM and count - MISS < OCCUPIED_FROM:
            freed += 1
            cleared += 1
        count = max(count - MISS, LEAST)
        blocks.log_odds[slot, k] = count
        settled = settled and count == LEAST
    return freed, cleared, settled


@kernel
def carve_brick(
    view: View, blocks: Blocks, slot: int, start: int, hit_mask: int, x: float, y: float, z: float
) -> tuple[int, int]:
    """Test each voxel of a brick against its pixel; (x, y, z) is the first voxel's centre from the camera.

    Returns how many voxels became free and how many stopped being occupied.
    """
    turn, depth = view.rotation, view.depth
    fx, fy, cx, cy = view.pinhole
    height, width = depth.shape
    reach2 = view.reach * view.reach
    freed, cleared = 0, 0
    for i in range(4):
        for j in range(4):
            gx, gy = x + i, y + j
            bx = turn[0, 0] * gx + turn[1, 0] * gy
            by = turn[0, 1] * gx + turn[1, 1] * gy
            bz = turn[0, 2] * gx + turn[1, 2] * gy
            flat = gx * gx + gy * gy
            for k in range(4):
                gz = z + k
                offset = (i << 4) | (j << 2) | k
                if hit_mask & (np.uint64(1) << np.uint64(offset)):
                    continue
                pz = bz + turn[2, 2] * gz
                square = flat + gz * gz
                if pz < NEAREST or square > reach2:
                    continue
                inverse = 1.0 / pz
                u = cx + fx * (bx + turn[2, 0] * gz) * inverse
                v = cy + fy * (by + turn[2, 1] * gz) * inverse
                if not (0.0 <= u < width and 0.0 <= v < height):
                    continue
                d = depth[int(v), int(u)]
                if not d > 0.0:
                    continue
                if d < np.inf:
                    distance = math.sqrt(square)
                    clearance = (d * view.per_metre * inverse - 1.0) * distance
                    if clearance < view.margin + view.noise * distance:
                        continue
                count = blocks.log_odds[slot, start + offset]
                if count == NEVER_SEEN:
                    count = 0
                    freed += 1
                elif count >= OCCUPIED_FROM and count - MISS < OCCUPIED_FROM:
                    freed += 1
                    cleared += 1
                blocks.log_odds[slot, start + offset] = max(count - MISS, LEAST)
    return freed, cleared


@inlined
def note_change(blocks: Blocks, frame: Frame, row: int, slot: int, freed: int, occupied: int) -> None:
    """Book a block's newly free voxels and its change of occupied ones, and list it as changed."""
    blocks.free[slot] += freed
    blocks.occupied[slot] += occupied
    blocks.counters[FREE_TOTAL] += freed
    blocks.counters[OCCUPIED_TOTAL] += occupied
    if not frame.flagged[row]:
        frame.flagged[row] = True
        frame.changed[frame.counters[CHANGED]] = row
        frame.counters[CHANGED] += 1


@kernel
def carve_mixed(
    view: View,
    blocks: Blocks,
    frame: Frame,
    pyramid: NDArray[np.float32],
    row: int,
    slot: int,
    center: tuple[float, float, float],
    extent: tuple[float, float, float],
    slant: float,
) -> tuple[int, int]:
    """Carve a block brick by brick; its centre is given from the camera in map axes.

    Returns how many voxels became free and how many stopped being occupied.
    """
    turn = view.rotation
    freed, cleared = 0, 0
    settled_bricks = blocks.saturated[slot]
    for brick in range(BRICKS):
        brick_bit = np.uint64(1) << np.uint64(brick)
        if settled_bricks & brick_bit:
            continue
        x = center[0] - 6.0 + 4.0 * (brick >> 4)
        y = center[1] - 6.0 + 4.0 * ((brick >> 2) & 3)
        z = center[2] - 6.0 + 4.0 * (brick & 3)
        seen = box_in_view(
            view,
            pyramid,
            turn[0, 0] * x + turn[1, 0] * y + turn[2, 0] * z,
            turn[0, 1] * x + turn[1, 1] * y + turn[2, 1] * z,
            turn[0, 2] * x + turn[1, 2] * y + turn[2, 2] * z,
            extent[0] / 4,
            extent[1] / 4,
            extent[2] / 4,
            BLOCK_RADIUS / 4,
            slant,
        )
        if seen == SKIP:
            continue
        hit_mask = frame.hit_masks[row, brick]
        start = brick << 6
        if seen == CLEAR and hit_mask == 0:
            more_free, more_cleared, settled = lower_run(blocks, slot, start, start + BRICKS)
            if settled:
                settled_bricks |= brick_bit
        else:
            more_free, more_cleared = carve_brick(view, blocks, slot, start, hit_mask, x - 1.5, y - 1.5, z - 1.5)
        freed += more_free
        cleared += more_cleared
    blocks.saturated[slot] = settled_bricks
    return freed, cleared


@kernel
def carve(
    view: View, blocks: Blocks, frame: Frame, pyramid: NDArray[np.float32], box: NDArray[np.int64]
) -> None:
    """Lower every voxel that the picture shows free; box (2, 3) are the first and last blocks in its view."""
    turn, origin = view.rotation, view.origin
    fx, fy, cx, cy = view.pinhole
    height, width = view.depth.shape
    widest = max(cx, width - cx) / fx
    highest = max(cy, height - cy) / fy
    slant = math.sqrt(1.0 + widest * widest + highest * highest)
    half = SIDE / 2.0
    ex = half * (abs(turn[0, 0]) + abs(turn[1, 0]) + abs(turn[2, 0]))
    ey = half * (abs(turn[0, 1]) + abs(turn[1, 1]) + abs(turn[2, 1]))
    ez = half * (abs(turn[0, 2]) + abs(turn[1, 2]) + abs(turn[2, 2]))
    for bx in range(box[0, 0], box[1, 0] + 1):
        for by in range(box[0, 1], box[1, 1] + 1):
            for bz in range(box[0, 2], box[1, 2] + 1):
                slot = np.int64(blocks.index[bx, by, bz])
                if slot == FREE_TILE:
                    continue
                x = bx * SIDE + half - origin[0]
                y = by * SIDE + half - origin[1]
                z = bz * SIDE + half - origin[2]
                seen = box_in_view(
                    view,
                    pyramid,
                    turn[0, 0] * x + turn[1, 0] * y + turn[2, 0] * z,
                    turn[0, 1] * x + turn[1, 1] * y + turn[2, 1] * z,
                    turn[0, 2] * x + turn[1, 2] * y + turn[2, 2] * z,
                    ex,
                    ey,
                    ez,
                    BLOCK_RADIUS,
                    slant,
                )
                if seen == SKIP:
                    continue
                row = (bx - frame.lower[0]) * frame.shape[1] + by - frame.lower[1]
                row = row * frame.shape[2] + bz - frame.lower[2]
                untouched = seen == CLEAR and not frame.hit_masks[row].any()
                fresh = slot == ABSENT
                if fresh and untouched:
                    slot = take_slot(blocks, bx, by, bz, -MISS)
                    blocks.free[slot] = 0
                    freed, cleared = VOLUME, 0
                elif untouched:
                    freed, cleared, settled = lower_run(blocks, slot, 0, VOLUME)
                    if settled:
                        blocks.saturated[slot] = ALL
                else:
                    if fresh:
                        slot = take_slot(blocks, bx, by, bz, NEVER_SEEN)
                    freed, cleared = carve_mixed(
                        view, blocks, frame, pyramid, row, slot, (x, y, z), (ex, ey, ez), slant
                    )
                if freed > 0:
                    note_change(blocks, frame, row, slot, freed, -cleared)
                elif fresh:
                    release_slot(blocks, bx, by, bz, ABSENT)
                if not fresh and blocks.saturated[slot] == ALL:
                    release_slot(blocks, bx, by, bz, FREE_TILE)


@kernel
def apply_hits(blocks: Blocks, frame: Frame) -> None:
    """Raise each voxel hit in this frame once, and leave the frame's masks and flags clean for the next."""
    for n in range(frame.counters[HITS]):
        row, offset = frame.hits[n] >> 12, frame.hits[n] & (VOLUME - 1)
        frame.hit_masks[row, offset >> 6] = 0
        bz = row % frame.shape[2] + frame.lower[2]
        by = row // frame.shape[2] % frame.shape[1] + frame.lower[1]
        bx = row // (frame.shape[2] * frame.shape[1]) + frame.lower[0]
        slot = np.int64(blocks.index[bx, by, bz])
        if slot == ABSENT:
            slot = take_slot(blocks, bx, by, bz, NEVER_SEEN)
        elif slot == FREE_TILE:
            slot = take_slot(blocks, bx, by, bz, LEAST)
        before = np.int64(blocks.log_odds[slot, offset])
        after = min((0 if before == NEVER_SEEN else before) + HIT, MOST)
        blocks.log_odds[slot, offset] = after
        blocks.saturated[slot] &= ~(np.uint64(1) << np.uint64(offset >> 6))
        if after >= OCCUPIED_FROM and before < OCCUPIED_FROM:
            note_change(blocks, frame, row, slot, 0 if before == NEVER_SEEN else -1, 1)
        # A first hit is enough to be occupied, so a voxel never becomes free here.
    for n in range(frame.counters[CHANGED]):
        frame.flagged[frame.changed[n]] = False
