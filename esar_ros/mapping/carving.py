"""Carving: lowering what a depth picture shows free, from blocks over octants and bricks to voxels.

Lengths are in voxels. A box is skipped when nothing in it can be free by this picture, lowered at
once when everything is, and looked into otherwise, so the result equals a test of every voxel.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from esar_ros.mapping.blocks import (
    ABSENT,
    ALL,
    BRICKS,
    FREE_TILE,
    LEAST,
    MISS,
    NEVER_SEEN,
    OCCUPIED_FROM,
    SIDE,
    VOLUME,
    Blocks,
    release_slot,
    take_slot,
)
from esar_ros.mapping.integration import TILE, Frame, Lens, note_change
from esar_ros.mapping.kernel import inlined, kernel

OCTANT = np.uint64(0x00330033)  # the bricks of a block's first octant
BLOCK_RADIUS = SIDE / 2 * math.sqrt(3.0)
NEAREST = 0.5  # voxels; nothing nearer to the camera's plane is carved

SKIP, MIXED, CLEAR = 0, 1, 2  # how a box stands in a picture


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


@kernel
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
    """Lower every voxel that a picture of free_depth shows free.

    The box (2, 3) is the first and last block in its view.
    """
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
                if fresh:
                    slot = take_slot(blocks, bx, by, bz)
                if untouched:
                    freed, cleared, settled = lower_run(blocks, slot, 0, VOLUME)
                    if settled:
                        blocks.saturated[slot] = ALL
                else:
                    freed, cleared = carve_mixed(
                        depth, lens, blocks, frame, pyramid, row, slot, (x, y, z), (ex, ey, ez)
                    )
                if freed > 0:
                    note_change(blocks, frame, row, slot, freed, -cleared)
                if blocks.saturated[slot] == ALL or (fresh and freed == 0):
                    release_slot(blocks, bx, by, bz)
