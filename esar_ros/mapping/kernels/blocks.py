"""Storage of the voxel map: a table over the bounded world, and a pool of 16^3 blocks.

A block is 64 bricks of 4^3 voxels and a brick is one 64-byte cache line, so one uint64 word masks
a brick's voxels and one masks a block's bricks. Slot 0 of the pool is one shared block that is free
all over: blocks of settled air point to it and cost nothing.

Log-odds are int8 in units of 0.05; the values follow OctoMap's sensor model (Hornung et al., 2013:
P(hit) = 0.7, P(miss) = 0.4, clamping at 0.12 and 0.97).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from esar_ros.mapping.kernels.kernel import inlined, kernel
from esar_ros.mapping.kernels.paging import PageFile

UNIT = 0.05  # log-odds of one count
HIT = 17
MISS = 8
MIN_LOG_ODDS = -40
MAX_LOG_ODDS = 70
OCCUPIED_FROM = 10  # counts at and above are occupied, observed counts below are free
NEVER_SEEN = -128

SIDE = 16  # voxels along a block's edge
VOLUME = SIDE**3
BYTES_A_SLOT = VOLUME + 8 + 5 * 4
BRICKS = 64  # bricks in a block, and voxels in a brick

ABSENT = -1  # table entry of a block nobody has seen
FREE_TILE = 0  # the shared slot
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

# counters of a pool
NEXT_SLOT, SPARE, FREE_TOTAL, OCCUPIED_TOTAL, FRAME = 0, 1, 2, 3, 4


class Blocks(NamedTuple):
    """The map's arrays. Rows of the pool are slots; memory beyond the used slots is only reserved."""

    table: NDArray[np.int32]  # (nx, ny, nz) blocks: slot, FREE_TILE or ABSENT
    log_odds: NDArray[np.int8]  # (slots, 4096), see voxel_offset
    saturated: NDArray[np.uint64]  # (slots,) bricks whose voxels are all MIN_LOG_ODDS
    free: NDArray[np.int32]  # (slots,) voxels that are free
    occupied: NDArray[np.int32]  # (slots,) voxels that are occupied
    touched: NDArray[np.int32]  # (slots,) frame that last looked into the block
    altered: NDArray[np.int32]  # (slots,) frame in which a voxel last began or ceased to be occupied
    spare: NDArray[np.int32]  # (slots,) stack of released slots
    counters: NDArray[np.int64]  # (5,)


def reserve(table: NDArray[np.int32], slots: int, pages: PageFile | None = None) -> Blocks:
    """Returns an empty pool with room for `slots` slots beside the table, its log-odds in pages if given."""
    blocks = Blocks(
        table=table,
        log_odds=np.empty((slots, VOLUME), np.int8) if pages is None else pages.rows(slots),
        saturated=np.empty(slots, np.uint64),
        free=np.empty(slots, np.int32),
        occupied=np.empty(slots, np.int32),
        touched=np.zeros(slots, np.int32),
        altered=np.zeros(slots, np.int32),
        spare=np.empty(slots, np.int32),
        counters=np.zeros(5, np.int64),
    )
    blocks.log_odds[FREE_TILE] = MIN_LOG_ODDS
    blocks.saturated[FREE_TILE] = ALL
    blocks.free[FREE_TILE] = VOLUME
    blocks.occupied[FREE_TILE] = 0
    blocks.counters[NEXT_SLOT] = FREE_TILE + 1
    return blocks


def grown(blocks: Blocks, slots: int, pages: PageFile | None = None) -> Blocks:
    """Returns the same pool with room for the given number of slots."""
    larger = reserve(blocks.table, slots, pages)
    used = int(blocks.counters[NEXT_SLOT])
    if pages is None:  # else both pools are the same file
        larger.log_odds[:used] = blocks.log_odds[:used]
    for name in ("saturated", "free", "occupied", "touched", "altered", "spare"):
        getattr(larger, name)[:used] = getattr(blocks, name)[:used]
    larger.counters[:] = blocks.counters
    return larger


def rehoused(array: NDArray[Any], shift: NDArray[np.int64], shape: tuple[int, ...], fill: int) -> NDArray[Any]:
    """An array over a world's blocks or columns, moved by `shift` places into a larger world's."""
    out = (
        np.full((*shape, *array.shape[len(shape) :]), fill, array.dtype)
        if fill
        else np.zeros((*shape, *array.shape[len(shape) :]), array.dtype)
    )
    out[tuple(slice(int(s), int(s) + n) for s, n in zip(shift, array.shape[: len(shape)], strict=True))] = array
    return out


def slots_left(blocks: Blocks) -> int:
    """Returns how many blocks can still be allocated."""
    return len(blocks.log_odds) - int(blocks.counters[NEXT_SLOT]) + int(blocks.counters[SPARE])


@inlined
def voxel_offset(x: int, y: int, z: int) -> int:
    """Place of voxel (x, y, z), each 0..15, in its block: brick first, then the voxel in the brick."""
    return ((x >> 2) << 10) | ((y >> 2) << 8) | ((z >> 2) << 6) | ((x & 3) << 4) | ((y & 3) << 2) | (z & 3)


@kernel
def take_slot(blocks: Blocks, bx: int, by: int, bz: int) -> int:
    """Gives a block that is ABSENT or a FREE_TILE its own slot with the same content; the pool must have room."""
    if blocks.counters[SPARE] > 0:
        blocks.counters[SPARE] -= 1
        slot = int(blocks.spare[blocks.counters[SPARE]])
    else:
        slot = blocks.counters[NEXT_SLOT]
        blocks.counters[NEXT_SLOT] += 1
    settled = blocks.table[bx, by, bz] == FREE_TILE
    blocks.log_odds[slot, :] = MIN_LOG_ODDS if settled else NEVER_SEEN
    blocks.saturated[slot] = ALL if settled else np.uint64(0)
    blocks.free[slot] = VOLUME if settled else 0
    blocks.occupied[slot] = 0
    blocks.touched[slot] = blocks.counters[FRAME]
    blocks.altered[slot] = blocks.counters[FRAME]
    blocks.table[bx, by, bz] = slot
    return slot


@kernel
def release_slot(blocks: Blocks, bx: int, by: int, bz: int) -> None:
    """Takes back the slot of a block: all MIN_LOG_ODDS, it becomes a FREE_TILE; never seen, ABSENT."""
    slot = blocks.table[bx, by, bz]
    blocks.spare[blocks.counters[SPARE]] = slot
    blocks.counters[SPARE] += 1
    blocks.table[bx, by, bz] = FREE_TILE if blocks.saturated[slot] == ALL else ABSENT
