"""Carving: lowering the log-odds of space that a depth image shows free, from blocks over octants and bricks to voxels.

Lengths are in voxels. A box is skipped when nothing in it can be free by this image, lowered at
once when everything is, and looked into otherwise, so the result equals a test of every voxel.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from esar_ros.mapping.kernels.blocks import (
    ABSENT,
    ALL,
    BRICKS,
    FRAME,
    FREE_TILE,
    MIN_LOG_ODDS,
    MISS,
    NEVER_SEEN,
    OCCUPIED_FROM,
    SIDE,
    VOLUME,
    Blocks,
    release_slot,
    take_slot,
)
from esar_ros.mapping.kernels.integration import TILE, Frame, Lens, note_change
from esar_ros.mapping.kernels.kernel import inlined, kernel

OCTANT = np.uint64(0x00330033)  # the bricks of a block's first octant
BLOCK_RADIUS = SIDE / 2 * math.sqrt(3.0)
NEAREST = 0.5  # voxels; nothing nearer to the camera's plane is carved

SKIP, MIXED, CLEAR = 0, 1, 2  # how a box stands in an image


@inlined
def in_camera(lens: Lens, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A vector along the map's axes, along the camera's."""
    right, down, forward = lens.right, lens.down, lens.forward
    return (
        right[0] * x + right[1] * y + right[2] * z,
        down[0] * x + down[1] * y + down[2] * z,
        forward[0] * x + forward[1] * y + forward[2] * z,
    )


@inlined
def box_in_view(
    lens: Lens,
    pyramid: NDArray[np.float32],
    center: tuple[float, float, float],
    extent: tuple[float, float, float],
    share: float,
) -> int:
    """SKIP, MIXED or CLEAR: a cube around a centre, given from the camera in map axes.

    `extent` is half of what a block spans along the camera's axes, `share` the cube's edge in blocks.
    """
    x, y, z = in_camera(lens, center[0], center[1], center[2])
    ex, ey, ez = extent[0] * share, extent[1] * share, extent[2] * share
    radius = BLOCK_RADIUS * share
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
    minimum, maximum = pyramid[level, j0, i0, 0], pyramid[level, j0, i0, 1]
    for j in range(j0, j1 + 1):
        for i in range(i0, i1 + 1):
            minimum = min(minimum, pyramid[level, j, i, 0])
            maximum = max(maximum, pyramid[level, j, i, 1])
    # No pixel's clearance along its ray exceeds this, see carve_brick.
    if maximum <= near or (maximum - near) * (distance + radius) < lens.margin * near:
        return SKIP
    inside = left >= 0 and upper >= 0 and right < lens.width and lower < lens.height
    deepest = distance + radius
    if inside and deepest < lens.reach and minimum - far > lens.margin + lens.noise * deepest:
        return CLEAR
    return MIXED


@inlined
def missed(count: int) -> tuple[int, int, int]:
    """A log-odds count after one miss, whether its voxel became free, and whether it stopped being occupied."""
    was_occupied = count >= OCCUPIED_FROM
    freed = count == NEVER_SEEN or (was_occupied and count - MISS < OCCUPIED_FROM)
    after = max((0 if count == NEVER_SEEN else count) - MISS, MIN_LOG_ODDS)
    return after, int(freed), int(freed and was_occupied)


@inlined
def lower_run(blocks: Blocks, slot: int, start: int, stop: int) -> tuple[int, int, bool]:
    """Counts a miss in a run of voxels; returns those now free, those no longer occupied, and if all are settled."""
    freed, cleared, settled = 0, 0, True
    for k in range(start, stop):
        count, now_free, no_more = missed(int(blocks.log_odds[slot, k]))
        blocks.log_odds[slot, k] = count
        freed, cleared, settled = freed + now_free, cleared + no_more, settled and count == MIN_LOG_ODDS
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
                if count == MIN_LOG_ODDS:
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
                count, now_free, no_more = missed(int(count))
                blocks.log_odds[slot, start + offset] = count
                freed, cleared, settled = freed + now_free, cleared + no_more, settled + (count == MIN_LOG_ODDS)
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
    freed, cleared = 0, 0
    settled_bricks = blocks.saturated[slot]
    for octant in range(8):
        i, j, k = octant >> 2, (octant >> 1) & 1, octant & 1
        first = (i << 5) | (j << 3) | (k << 1)
        of_octant = OCTANT << np.uint64(first)
        if settled_bricks & of_octant == of_octant:
            continue
        middle = (center[0] + 8.0 * i - 4.0, center[1] + 8.0 * j - 4.0, center[2] + 8.0 * k - 4.0)
        whole = box_in_view(lens, pyramid, middle, extent, 0.5)
        if whole == SKIP:
            continue
        for part in range(8):
            i, j, k = part >> 2, (part >> 1) & 1, part & 1
            brick = first | (i << 4) | (j << 2) | k
            brick_bit = np.uint64(1) << np.uint64(brick)
            if settled_bricks & brick_bit:
                continue
            x, y, z = middle[0] + 4.0 * i - 2.0, middle[1] + 4.0 * j - 2.0, middle[2] + 4.0 * k - 2.0
            seen = whole
            if whole == MIXED:
                seen = box_in_view(lens, pyramid, (x, y, z), extent, 0.25)
            if seen == SKIP:
                continue
            hit_mask = frame.hit_masks[row, brick]
            start = brick << 6
            if seen == CLEAR and hit_mask == 0:
                more_free, more_cleared, settled = lower_run(blocks, slot, start, start + BRICKS)
            else:
                more_free, more_cleared, settled = carve_brick(
                    depth, lens, blocks, slot, start, hit_mask, x - 1.5, y - 1.5, z - 1.5
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
    """Lower every voxel that an image of free_depth shows free.

    The box (2, 3) is the first and last block in its view.
    """
    right, down, forward = lens.right, lens.down, lens.forward
    half = SIDE / 2.0
    extent = (
        half * (abs(right[0]) + abs(right[1]) + abs(right[2])),
        half * (abs(down[0]) + abs(down[1]) + abs(down[2])),
        half * (abs(forward[0]) + abs(forward[1]) + abs(forward[2])),
    )
    for bx in range(box[0, 0], box[1, 0] + 1):
        for by in range(box[0, 1], box[1, 1] + 1):
            for bz in range(box[0, 2], box[1, 2] + 1):
                slot = int(blocks.table[bx, by, bz])
                if slot == FREE_TILE:
                    continue
                x = bx * SIDE + half - lens.origin[0]
                y = by * SIDE + half - lens.origin[1]
                z = bz * SIDE + half - lens.origin[2]
                seen = box_in_view(lens, pyramid, (x, y, z), extent, 1.0)
                if seen == SKIP:
                    continue
                row = (bx - frame.lower[0]) * frame.shape[1] + by - frame.lower[1]
                row = row * frame.shape[2] + bz - frame.lower[2]
                untouched = seen == CLEAR and not frame.hit_masks[row].any()
                fresh = slot == ABSENT
                if fresh:
                    slot = take_slot(blocks, bx, by, bz)
                blocks.touched[slot] = blocks.counters[FRAME]
                if untouched:
                    freed, cleared, settled = lower_run(blocks, slot, 0, VOLUME)
                    if settled:
                        blocks.saturated[slot] = ALL
                else:
                    freed, cleared = carve_mixed(depth, lens, blocks, frame, pyramid, row, slot, (x, y, z), extent)
                if freed > 0:
                    note_change(blocks, frame, row, slot, freed, -cleared)
                if blocks.saturated[slot] == ALL or (fresh and freed == 0):
                    release_slot(blocks, bx, by, bz)
