"""Projective integration of depth pictures: hits first, then free space from coarse to fine.

Per frame: (1) the end points of all cameras set bits in hit masks; (2) for each camera the depth
that is free around each pixel is found and a min/max pyramid of it made, and (3) the blocks, their
octants and bricks are projected into it: wholly occluded ones are skipped, those wholly in front of
everything seen are carved at once, and only the rest are tested voxel by voxel; no voxel with a hit
in this frame is carved; (4) each hit voxel is raised once. Steps 3 of different cameras commute, so
their order does not matter.

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
OCTANT = np.uint64(0x00330033)  # the bricks of a block's first octant
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


class Lens(NamedTuple):
    """Pinhole, pose and limits of one picture as plain numbers, which kernels keep in registers."""

    fx: float
    fy: float
    cx: float
    cy: float
    width: float
    height: float
    right: tuple[float, float, float]  # the optical frame's axes in the map
    down: tuple[float, float, float]
    forward: tuple[float, float, float]
    origin: tuple[float, float, float]  # voxels
    reach: float  # voxels, Euclidean
    per_metre: float  # voxels a metre
    margin: float  # voxels along a ray in front of a surface that are left alone
    noise: float  # further margin as a share of the range


@kernel
def mark_hits(depth: NDArray[np.float32], lens: Lens, frame: Frame, world: tuple[float, float, float]) -> None:
    """Set the bit of every voxel of the world (a shape in voxels) in which a depth pixel (m) ends."""
    height, width = depth.shape
    reach2 = lens.reach * lens.reach
    ox, oy, oz = lens.origin
    count = frame.counters[HITS]
    for v in range(height):
        dy = (v + 0.5 - lens.cy) / lens.fy
        ax = lens.down[0] * dy + lens.forward[0]
        ay = lens.down[1] * dy + lens.forward[1]
        az = lens.down[2] * dy + lens.forward[2]
        for u in range(width):
            d = depth[v, u]
            if not (d > 0.0 and d < np.inf):
                continue
            dx = (u + 0.5 - lens.cx) / lens.fx
            z = d * lens.per_metre
            if z * z * (1.0 + dx * dx + dy * dy) > reach2:
                continue
            px = ox + (ax + lens.right[0] * dx) * z
            py = oy + (ay + lens.right[1] * dx) * z
            pz = oz + (az + lens.right[2] * dx) * z
            if not (0.0 <= px < world[0] and 0.0 <= py < world[1] and 0.0 <= pz < world[2]):
                continue
            x, y, k = int(px), int(py), int(pz)
            row = (
                (((x >> 4) - frame.lower[0]) * frame.shape[1] + (y >> 4) - frame.lower[1]) * frame.shape[2]
                + (k >> 4)
                - frame.lower[2]
            )
            offset = voxel_offset(x & 15, y & 15, k & 15)
            bit = np.uint64(1) << np.uint64(offset & 63)
            if frame.hit_masks[row, offset >> 6] & bit == 0:
                frame.hit_masks[row, offset >> 6] |= bit
                frame.hits[count] = (row << 12) | offset
                count += 1
    frame.counters[HITS] = count


@kernel
def free_depth(depth: NDArray[np.float32], per_metre: float) -> NDArray[np.float32]:
    """How far every pixel's surroundings are free, in voxels: the least depth of its 3x3 neighbours.

    0 where a pixel frees nothing, inf where nothing is in range. Without the neighbours, voxels that a
    grazing ray only just misses would be freed although the surface runs through them.
    """
    height, width = depth.shape
    across = np.empty((height, width), np.float32)
    out = np.empty((height, width), np.float32)
    for v in range(height):
        for u in range(width):
            d = depth[v, u]
            out[v, u] = d * np.float32(per_metre) if d > 0.0 else np.float32(0.0)
        across[v, 0] = min(out[v, 0], out[v, min(1, width - 1)])
        across[v, width - 1] = min(out[v, max(width - 2, 0)], out[v, width - 1])
        for u in range(1, width - 1):
            across[v, u] = min(min(out[v, u - 1], out[v, u]), out[v, u + 1])
    for v in range(height):
        above, below = max(v - 1, 0), min(v + 1, height - 1)
        for u in range(width):
            out[v, u] = min(min(across[above, u], across[v, u]), across[below, u])
    return out


@kernel
def depth_pyramid(depth: NDArray[np.float32], reach: float) -> NDArray[np.float32]:
    """Least and greatest free depth of square tiles, (levels, rows, columns, 2) in voxels.

    Level 0 has tiles of TILE px, each next level doubles them. Depth is cut off at twice the reach.
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
                    d = min(depth[v, u], far)
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


@inlined
def box_in_view(
    lens: Lens,
    pyramid: NDArray[np.float32],
    x: float,
    y: float,
    z: float,
    ex: float,
    ey: float,
    ez: float,
    radius: float,
) -> int:
    """SKIP, MIXED or CLEAR: a box around (x, y, z) with half-extents e, all along the camera's axes.

    `radius` is the box's circumscribed sphere.
    """
    near, far = z - ez, z + ez
    if far < NEAREST or near > lens.reach:
        return SKIP
    distance = math.sqrt(x * x + y * y + z * z)
    if distance - radius > lens.reach:
        return SKIP
    if near < NEAREST:
        return MIXED
    by_near, by_far = 1.0 / near, 1.0 / far
    left = lens.cx + lens.fx * (x - ex) * (by_far if x > ex else by_near)
    right = lens.cx + lens.fx * (x + ex) * (by_near if x > -ex else by_far)
    upper = lens.cy + lens.fy * (y - ey) * (by_far if y > ey else by_near)
    lower = lens.cy + lens.fy * (y + ey) * (by_near if y > -ey else by_far)
    if right < 0 or lower < 0 or left >= lens.width or upper >= lens.height:
        return SKIP
    i0, i1 = int(max(left, 0.0)) // TILE, int(min(right, lens.width - 1.0)) // TILE
    j0, j1 = int(max(upper, 0.0)) // TILE, int(min(lower, lens.height - 1.0)) // TILE
    level = 0
    while i1 - i0 > 2 or j1 - j0 > 2:
        i0, i1, j0, j1, level = i0 >> 1, i1 >> 1, j0 >> 1, j1 >> 1, level + 1
    least, most = pyramid[level, j0, i0, 0], pyramid[level, j0, i0, 1]
    for j in range(j0, j1 + 1):
        for i in range(i0, i1 + 1):
            least = min(least, pyramid[level, j, i, 0])
            most = max(most, pyramid[level, j, i, 1])
    # No pixel's clearance along its ray exceeds this, see carve_brick.
    if most <= near or (most - near) * (distance + radius) < lens.margin * near:
        return SKIP
    inside = left >= 0 and upper >= 0 and right < lens.width and lower < lens.height
    deepest = distance + radius
    if inside and deepest < lens.reach and least - far > lens.margin + lens.noise * deepest:
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


@inlined
def carve_brick(
    depth: NDArray[np.float32],
    lens: Lens,
    blocks: Blocks,
    slot: int,
    start: int,
    hit_mask: int,
    x: float,
    y: float,
    z: float,
) -> tuple[int, int, bool]:
    """Test each voxel of a brick against its pixel; (x, y, z) is the first voxel's centre from the camera.

    Returns as lower_run does.
    """
    right, down, forward = lens.right, lens.down, lens.forward
    reach2 = lens.reach * lens.reach
    freed, cleared, settled = 0, 0, 0
    for i in range(4):
        for j in range(4):
            gx, gy = x + i, y + j
            bx = right[0] * gx + right[1] * gy
            by = down[0] * gx + down[1] * gy
            bz = forward[0] * gx + forward[1] * gy
            flat = gx * gx + gy * gy
            for k in range(4):
                gz = z + k
                offset = (i << 4) | (j << 2) | k
                count = blocks.log_odds[slot, start + offset]
                if count == LEAST:
                    settled += 1
                    continue
                if hit_mask & (np.uint64(1) << np.uint64(offset)):
                    continue
                pz = bz + forward[2] * gz
                square = flat + gz * gz
                if pz < NEAREST or square > reach2:
                    continue
                inverse = 1.0 / pz
                u = lens.cx + lens.fx * (bx + right[2] * gz) * inverse
                v = lens.cy + lens.fy * (by + down[2] * gz) * inverse
                if not (0.0 <= u < lens.width and 0.0 <= v < lens.height):
                    continue
                d = depth[int(v), int(u)]
                distance = math.sqrt(square)
                if (d * inverse - 1.0) * distance < lens.margin + lens.noise * distance:
                    continue
                if count == NEVER_SEEN:
                    count = 0
                    freed += 1
                elif count >= OCCUPIED_FROM and count - MISS < OCCUPIED_FROM:
                    freed += 1
                    cleared += 1
                count = max(count - MISS, LEAST)
                blocks.log_odds[slot, start + offset] = count
                settled += count == LEAST
    return freed, cleared, settled == BRICKS


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


@inlined
def carve_mixed(
    depth: NDArray[np.float32],
    lens: Lens,
    blocks: Blocks,
    frame: Frame,
    pyramid: NDArray[np.float32],
    row: int,
    slot: int,
    center: tuple[float, float, float],
    extent: tuple[float, float, float],
) -> tuple[int, int]:
    """Carve a block by octants and bricks; its centre is given from the camera in map axes.

    Returns how many voxels became free and how many stopped being occupied.
    """
    right, down, forward = lens.right, lens.down, lens.forward
    freed, cleared = 0, 0
    settled_bricks = blocks.saturated[slot]
    for octant in range(8):
        first = ((octant >> 2) << 5) | (((octant >> 1) & 1) << 3) | ((octant & 1) << 1)
        of_octant = OCTANT << np.uint64(first)
        if settled_bricks & of_octant == of_octant:
            continue
        x = center[0] - 4.0 + 8.0 * (octant >> 2)
        y = center[1] - 4.0 + 8.0 * ((octant >> 1) & 1)
        z = center[2] - 4.0 + 8.0 * (octant & 1)
        whole = box_in_view(
            lens,
            pyramid,
            right[0] * x + right[1] * y + right[2] * z,
            down[0] * x + down[1] * y + down[2] * z,
            forward[0] * x + forward[1] * y + forward[2] * z,
            extent[0] / 2,
            extent[1] / 2,
            extent[2] / 2,
            BLOCK_RADIUS / 2,
        )
        if whole == SKIP:
            continue
        for part in range(8):
            brick = first | ((part >> 2) << 4) | (((part >> 1) & 1) << 2) | (part & 1)
            brick_bit = np.uint64(1) << np.uint64(brick)
            if settled_bricks & brick_bit:
                continue
            px = x - 2.0 + 4.0 * (part >> 2)
            py = y - 2.0 + 4.0 * ((part >> 1) & 1)
            pz = z - 2.0 + 4.0 * (part & 1)
            seen = whole
            if whole == MIXED:
                seen = box_in_view(
                    lens,
                    pyramid,
                    right[0] * px + right[1] * py + right[2] * pz,
                    down[0] * px + down[1] * py + down[2] * pz,
                    forward[0] * px + forward[1] * py + forward[2] * pz,
                    extent[0] / 4,
                    extent[1] / 4,
                    extent[2] / 4,
                    BLOCK_RADIUS / 4,
                )
            if seen == SKIP:
                continue
            hit_mask = frame.hit_masks[row, brick]
            start = brick << 6
            if seen == CLEAR and hit_mask == 0:
                more_free, more_cleared, settled = lower_run(blocks, slot, start, start + BRICKS)
            else:
                more_free, more_cleared, settled = carve_brick(
                    depth, lens, blocks, slot, start, hit_mask, px - 1.5, py - 1.5, pz - 1.5
                )
            if settled:
                settled_bricks |= brick_bit
            freed += more_free
            cleared += more_cleared
    blocks.saturated[slot] = settled_bricks
    return freed, cleared


@kernel
def carve(
    depth: NDArray[np.float32],
    lens: Lens,
    blocks: Blocks,
    frame: Frame,
    pyramid: NDArray[np.float32],
    box: NDArray[np.int64],
) -> None:
    """Lower every voxel that the picture (see free_depth) shows free; box (2, 3) are the first and last blocks in its view."""
    right, down, forward = lens.right, lens.down, lens.forward
    half = SIDE / 2.0
    ex = half * (abs(right[0]) + abs(right[1]) + abs(right[2]))
    ey = half * (abs(down[0]) + abs(down[1]) + abs(down[2]))
    ez = half * (abs(forward[0]) + abs(forward[1]) + abs(forward[2]))
    for bx in range(box[0, 0], box[1, 0] + 1):
        for by in range(box[0, 1], box[1, 1] + 1):
            for bz in range(box[0, 2], box[1, 2] + 1):
                slot = int(blocks.table[bx, by, bz])
                if slot == FREE_TILE:
                    continue
                x = bx * SIDE + half - lens.origin[0]
                y = by * SIDE + half - lens.origin[1]
                z = bz * SIDE + half - lens.origin[2]
                seen = box_in_view(
                    lens,
                    pyramid,
                    right[0] * x + right[1] * y + right[2] * z,
                    down[0] * x + down[1] * y + down[2] * z,
                    forward[0] * x + forward[1] * y + forward[2] * z,
                    ex,
                    ey,
                    ez,
                    BLOCK_RADIUS,
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
                        depth, lens, blocks, frame, pyramid, row, slot, (x, y, z), (ex, ey, ez)
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
        slot = int(blocks.table[bx, by, bz])
        if slot == ABSENT:
            slot = take_slot(blocks, bx, by, bz, NEVER_SEEN)
        elif slot == FREE_TILE:
            slot = take_slot(blocks, bx, by, bz, LEAST)
        before = int(blocks.log_odds[slot, offset])
        after = min((0 if before == NEVER_SEEN else before) + HIT, MOST)
        blocks.log_odds[slot, offset] = after
        blocks.saturated[slot] &= ~(np.uint64(1) << np.uint64(offset >> 6))
        if after >= OCCUPIED_FROM and before < OCCUPIED_FROM:
            note_change(blocks, frame, row, slot, 0 if before == NEVER_SEEN else -1, 1)
        # A first hit is enough to be occupied, so a voxel never becomes free here.
    for n in range(frame.counters[CHANGED]):
        frame.flagged[frame.changed[n]] = False
