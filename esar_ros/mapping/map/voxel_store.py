"""The bounded world of a map: its blocks, its growth, paging of cold blocks, and subscribers to changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.frames import Vector, vector
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.kernels import blocks as storage
from esar_ros.mapping.kernels.blocks import SIDE
from esar_ros.mapping.kernels.integration import FrameScratch
from esar_ros.mapping.kernels.paging import PageFile
from esar_ros.mapping.map import map_file

_MAX_BLOCKS = 1 << 28  # of an index that was asked for
_MAX_GROWN = 1 << 24  # of one that grew: 8 km x 8 km x 1 km of 1 m voxels
_GROWTH = 8  # blocks that a world grows by at least

S = TypeVar("S", bound="VoxelStore")


class VoxelStore:
    """Voxels of the box between two corners of the map frame (m, ENU), in blocks of 16^3.

    The box is widened to whole blocks, so that voxel edges are multiples of the resolution.
    """

    def __init__(
        self,
        resolution: float = 1.0,
        lower: ArrayLike = (-1000.0, -1000.0, -64.0),
        upper: ArrayLike = (1000.0, 1000.0, 192.0),
        reserved_blocks: int = 1 << 16,
        endless: bool = False,
        page_folder: Path | None = None,
    ) -> None:
        """Reserved blocks cost memory only once they are used; beyond them the pool doubles.

        An endless map's box grows with what its cameras see; otherwise what lies outside is clipped.
        With a page folder (on a disk) blocks live in a file there, and `evict` takes cold ones out of memory.
        """
        minimum, maximum = vector(lower), vector(upper)
        if not (math.isfinite(resolution) and resolution > 0.0 and np.isfinite([minimum, maximum]).all()):
            raise MapInputError(f"not a world: {resolution} m from {minimum.tolist()} to {maximum.tolist()}")
        edge = SIDE * resolution
        first = np.floor(minimum / edge + 1e-9).astype(np.int64)
        shape = np.ceil(maximum / edge - 1e-9).astype(np.int64) - first
        if not ((maximum > minimum).all() and float(np.prod(shape.astype(float))) <= _MAX_BLOCKS):
            raise MapInputError(f"no world of {resolution} m from {minimum.tolist()} to {maximum.tolist()}")
        self.resolution = float(resolution)
        self.endless = endless
        self._place(first * SIDE, shape)
        self._pages = None if page_folder is None else PageFile(page_folder, storage.VOLUME)
        table = np.full(tuple(shape), storage.ABSENT, np.int32)
        self.blocks = storage.reserve(table, max(reserved_blocks, 2), self._pages)
        self._cold_before = 0  # frames; blocks not touched since are out of memory
        self._scratch = FrameScratch()  # what frames hit
        self._crossed = FrameScratch()  # and what LiDAR beams cross
        self._changes: dict[str, list[NDArray[np.int64]]] = {}

    def _place(self, first_cell: NDArray[np.int64], shape: NDArray[np.int64]) -> None:
        """Makes a box of `shape` blocks the world."""
        self.first_cell: NDArray[np.int64] = first_cell  # of voxel (0, 0, 0), counted from the map's origin
        self.lower: Vector = np.asarray(first_cell * self.resolution, dtype=np.float64)
        self.shape: NDArray[np.int64] = shape * SIDE  # voxels
        self.upper: Vector = np.asarray((first_cell + self.shape) * self.resolution, dtype=np.float64)

    # ------------------------------------------------------------------ room

    def _clipped(self, box: NDArray[np.int64]) -> NDArray[np.int64]:
        """The part of a box (2, 3) of blocks inside the world; empty where first exceeds last."""
        last = np.array(self.blocks.table.shape) - 1
        return np.stack([np.clip(box[0], 0, last + 1), np.clip(box[1], -1, last)])

    def reserve(self, blocks: int) -> None:
        """Makes room for `blocks` more blocks; the pool at least doubles when it grows."""
        if storage.slots_left(self.blocks) < blocks:
            used = int(self.blocks.counters[storage.NEXT_SLOT])
            self.blocks = storage.grown(self.blocks, max(2 * len(self.blocks.log_odds), used + blocks), self._pages)

    def make_room(self, boxes: list[NDArray[np.int64]]) -> bool:
        """Let an endless world grow to hold boxes of blocks; whether it did, which moves its lower corner."""
        if not self.endless:
            return False
        low, high = np.min([b[0] for b in boxes], axis=0), np.max([b[1] for b in boxes], axis=0)
        table = self.blocks.table
        below, above = np.maximum(-low, 0), np.maximum(high - np.array(table.shape) + 1, 0)
        if not (below.any() or above.any()):
            return False
        below, above = np.where(below > 0, below + _GROWTH, 0), np.where(above > 0, above + _GROWTH, 0)
        shape = np.array(table.shape) + below + above
        if float(np.prod(shape.astype(float))) > _MAX_GROWN:
            corner = (self.first_cell + low * SIDE) * self.resolution
            raise MapInputError(f"a frame around {np.round(corner).tolist()} lies too far from the map to belong to it")
        size = (int(shape[0]), int(shape[1]), int(shape[2]))
        for pending in self._changes.values():
            moved = [np.stack(np.unravel_index(ids, table.shape)) + below[:, None] for ids in pending]
            pending[:] = [np.asarray(np.ravel_multi_index(tuple(ids), size), np.int64) for ids in moved]
        self.blocks = self.blocks._replace(table=storage.rehoused(table, below, size, storage.ABSENT))
        self._place(self.first_cell - below * SIDE, shape)
        return True

    @property
    def paged_blocks(self) -> int:
        """Number of blocks that were taken out of memory and not integrated into since."""
        used = int(self.blocks.counters[storage.NEXT_SLOT])
        return int(np.count_nonzero(self.blocks.touched[storage.FREE_TILE + 1 : used] < self._cold_before))

    def evict(self, idle_frames: int) -> int:
        """Pages out blocks that no frame has touched for `idle_frames` frames; returns how many blocks are paged out.

        A later read pages them in again unchanged. Needs a page folder.
        """
        if self._pages is None:
            raise MapInputError("nothing can leave memory: this map was made without a page folder")
        self._cold_before = max(int(self.blocks.counters[storage.FRAME]) + 1 - idle_frames, 0)
        used = int(self.blocks.counters[storage.NEXT_SLOT])
        cold = self.blocks.touched[:used] < self._cold_before
        cold[storage.FREE_TILE] = False
        self._pages.drop(np.flatnonzero(cold))
        return self.paged_blocks

    # ------------------------------------------------------------------ what is there and what has changed

    def known_blocks(self) -> NDArray[np.int32]:
        """Coordinates (N, 3) of all blocks in which something is known, sorted."""
        return self._coordinates(np.flatnonzero(self.blocks.table.ravel() != storage.ABSENT))

    def take_dirty(self, consumer: str) -> NDArray[np.int32]:
        """Sorted coordinates (N, 3) of blocks in which a voxel changed class since this consumer's last call.

        A consumer's first call gives all known blocks.
        """
        pending = self._changes.get(consumer)
        self._changes[consumer] = []
        if pending is None:
            return self.known_blocks()
        if not pending:
            return np.empty((0, 3), np.int32)
        ids = np.unique(np.concatenate(pending))
        return self._coordinates(ids)

    def _coordinates(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Blocks (N, 3) of places in the flattened table."""
        return np.stack(np.unravel_index(ids, self.blocks.table.shape), axis=1).astype(np.int32)

    @property
    def free_count(self) -> int:
        """Number of free voxels."""
        return int(self.blocks.counters[storage.FREE_TOTAL])

    @property
    def occupied_count(self) -> int:
        """Number of occupied voxels."""
        return int(self.blocks.counters[storage.OCCUPIED_TOTAL])

    @property
    def memory_bytes(self) -> int:
        """Memory in use, without what is merely reserved."""
        slots = int(self.blocks.counters[storage.NEXT_SLOT])
        scratch = self._scratch.nbytes + self._crossed.nbytes
        return slots * storage.BYTES_A_SLOT - self.paged_blocks * storage.VOLUME + self.blocks.table.nbytes + scratch

    def note_changes(self, blocks: NDArray[np.int64]) -> None:
        """Adds blocks (N, 3) in which a voxel's class changed to the pending changes of every consumer."""
        ids = np.asarray(np.ravel_multi_index(tuple(blocks.T), self.blocks.table.shape), dtype=np.int64)
        for pending in self._changes.values():
            pending.append(ids)
            if len(pending) >= 64:  # keeps what a slow consumer has to fetch bounded by the map
                pending[:] = [np.unique(np.concatenate(pending))]

    # ------------------------------------------------------------------ files

    def save(self, path: Path, extras: Mapping[str, NDArray[Any]] | None = None) -> None:
        """Write the map to one file, atomically, and further arrays with it."""
        map_file.write(path, self.blocks, self.resolution, self.first_cell, extras or {})

    @classmethod
    def load(cls: type[S], path: Path, endless: bool = False, page_folder: Path | None = None) -> S:
        """Read a map that save wrote. Raises MapInputError for any other file."""
        return cls.load_with_extras(path, endless, page_folder)[0]

    @classmethod
    def load_with_extras(
        cls: type[S], path: Path, endless: bool = False, page_folder: Path | None = None
    ) -> tuple[S, dict[str, NDArray[Any]]]:
        """A map and the further arrays in its file. Raises MapInputError."""
        content = map_file.read(path)
        lower = content.first_cell * content.resolution
        upper = (content.first_cell + np.array(content.index.shape) * SIDE) * content.resolution
        room = 2 * len(content.log_odds)
        out = cls(content.resolution, lower, upper, room if page_folder else max(1 << 16, room), endless, page_folder)
        if out.blocks.table.shape != content.index.shape:
            raise MapInputError(f"{path}: the world in it contradicts itself")
        map_file.restore(out.blocks, content)
        return out, content.extras
