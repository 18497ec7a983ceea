"""Projective integration of depth images: hits first, then free space from coarse to fine.

Per frame: (1) the end points of all cameras set bits in hit masks; (2) for each camera the depth
that is free around each pixel is found and a min/max pyramid of it made, and (3) the blocks, their
octants and bricks are projected into it: wholly occluded ones are skipped, those wholly in front of
everything seen are carved at once, and only the rest are tested voxel by voxel; no voxel with a hit
in this frame is carved; (4) each hit voxel is raised once. Steps 3 of different cameras commute, so
their order does not matter.

All lengths in these kernels are in voxels from the map's lower corner.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, Vector
from esar_ros.mapping.inputs import checked_pose
from esar_ros.mapping.kernels.blocks import (
    BRICKS,
    FRAME,
    FREE_TILE,
    FREE_TOTAL,
    HIT,
    MAX_LOG_ODDS,
    NEVER_SEEN,
    OCCUPIED_FROM,
    OCCUPIED_TOTAL,
    SIDE,
    VOLUME,
    Blocks,
    take_slot,
    voxel_offset,
)
from esar_ros.mapping.kernels.kernel import inlined, kernel

TILE = 8  # px, edge of the pyramid's base tiles
SURFACE_MARGIN = 0.9  # voxels in front of a surface that its own pixel does not free
NOISE_MARGIN = 2.0  # standard deviations of depth added to it
_FARTHEST = 1e12  # blocks; beyond it a pose is as good as infinitely far
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


class FrameScratch:
    """Memory of one integration after another; it grows to the largest frame."""

    def __init__(self) -> None:
        self._masks = np.zeros((0, BRICKS), np.uint64)
        self._flags = np.zeros(0, np.bool_)
        self._hits = np.empty(0, np.int64)

    def frame(self, low: NDArray[np.int64], shape: NDArray[np.int64], max_hits: int) -> Frame:
        """Returns a clean frame over a box of blocks with room for `max_hits` hits."""
        rows = int(np.prod(shape))
        if len(self._masks) < rows:
            self._masks = np.zeros((rows, BRICKS), np.uint64)
            self._flags = np.zeros(rows, np.bool_)
        if len(self._hits) < max_hits:
            self._hits = np.empty(max_hits, np.int64)
        changed = np.empty(rows, np.int64)
        return Frame(low, shape, self._masks, self._hits, self._flags, changed, np.zeros(2, np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes kept."""
        return self._masks.nbytes + self._flags.nbytes + self._hits.nbytes


class Lens(NamedTuple):
    """Pinhole, pose and limits of one image as plain numbers, which kernels keep in registers."""

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


def lens_of(model: CameraModel, pose: Pose, lower: Vector, resolution: float, reach: float, noise: float) -> Lens:
    """Lens of an image in a map with this lower corner (m) and voxel edge (m); the reach is in voxels.

    Raises MapInputError for a pose that is not finite or not rigid.
    """
    rotation, position = checked_pose(pose)
    right, down, forward = (tuple(axis) for axis in rotation.T.tolist())
    return Lens(
        fx=float(model.fx),
        fy=float(model.fy),
        cx=float(model.cx),
        cy=float(model.cy),
        width=float(model.width),
        height=float(model.height),
        right=right,
        down=down,
        forward=forward,
        origin=tuple(((position - lower) / resolution).tolist()),
        reach=float(reach),
        per_metre=1.0 / resolution,
        margin=SURFACE_MARGIN,
        noise=NOISE_MARGIN * float(noise),
    )


def blocks_in_view(lens: Lens) -> NDArray[np.int64]:
    """First and last block (2, 3) of the box around a view's frustum; it may lie outside the world."""
    u = np.array([-lens.cx, lens.width - lens.cx, -lens.cx, lens.width - lens.cx]) / lens.fx
    v = np.array([-lens.cy, -lens.cy, lens.height - lens.cy, lens.height - lens.cy]) / lens.fy
    axes = np.array([lens.right, lens.down, lens.forward])
    corners = np.stack([u, v, np.ones(4)], axis=1) @ axes * lens.reach
    low = np.maximum(np.minimum(corners.min(axis=0), 0.0), -lens.reach) + lens.origin
    high = np.minimum(np.maximum(corners.max(axis=0), 0.0), lens.reach) + lens.origin
    return as_blocks(np.stack([low, high]))


def as_blocks(positions: NDArray[np.float64]) -> NDArray[np.int64]:
    """Blocks (..., 3) in which positions in voxels lie; they may lie outside the world."""
    return np.floor(np.clip(positions / SIDE, -_FARTHEST, _FARTHEST)).astype(np.int64)


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
    """Returns the free distance of each pixel's surroundings in voxels: the minimum depth of its 3x3 neighbours.

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
    """Minimum and maximum free depth of square tiles, (levels, rows, columns, 2) in voxels.

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
            minimum, maximum = far, np.float32(0.0)
            for v in range(j * TILE, min(height, j * TILE + TILE)):
                for u in range(i * TILE, min(width, i * TILE + TILE)):
                    d = min(depth[v, u], far)
                    minimum, maximum = min(minimum, d), max(maximum, d)
            pyramid[0, j, i, 0], pyramid[0, j, i, 1] = minimum, maximum
    for level in range(1, levels):
        below_rows, below_columns = rows, columns
        rows, columns = (rows + 1) // 2, (columns + 1) // 2
        for j in range(rows):
            for i in range(columns):
                minimum, maximum = far, np.float32(0.0)
                for b in range(2 * j, min(2 * j + 2, below_rows)):
                    for a in range(2 * i, min(2 * i + 2, below_columns)):
                        minimum = min(minimum, pyramid[level - 1, b, a, 0])
                        maximum = max(maximum, pyramid[level - 1, b, a, 1])
                pyramid[level, j, i, 0], pyramid[level, j, i, 1] = minimum, maximum
    return pyramid


@inlined
def note_change(blocks: Blocks, frame: Frame, row: int, slot: int, freed: int, occupied: int) -> None:
    """Book a block's newly free voxels and its change of occupied ones, and list it as changed."""
    blocks.free[slot] += freed
    blocks.occupied[slot] += occupied
    blocks.counters[FREE_TOTAL] += freed
    blocks.counters[OCCUPIED_TOTAL] += occupied
    if occupied != 0:
        blocks.altered[slot] = blocks.counters[FRAME]
    if not frame.flagged[row]:
        frame.flagged[row] = True
        frame.changed[frame.counters[CHANGED]] = row
        frame.counters[CHANGED] += 1


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
        if slot <= FREE_TILE:
            slot = take_slot(blocks, bx, by, bz)
        blocks.touched[slot] = blocks.counters[FRAME]
        before = int(blocks.log_odds[slot, offset])
        after = min((0 if before == NEVER_SEEN else before) + HIT, MAX_LOG_ODDS)
        blocks.log_odds[slot, offset] = after
        blocks.saturated[slot] &= ~(np.uint64(1) << np.uint64(offset >> 6))
        if after >= OCCUPIED_FROM and before < OCCUPIED_FROM:
            note_change(blocks, frame, row, slot, 0 if before == NEVER_SEEN else -1, 1)
        # A first hit is enough to be occupied, so a voxel never becomes free here.
    for n in range(frame.counters[CHANGED]):
        frame.flagged[frame.changed[n]] = False
