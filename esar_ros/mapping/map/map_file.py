"""The voxel map as one file: signature, JSON header, a checksummed zstd frame with the blocks, end mark.

Blocks are sorted by their place in the world, so equal maps give equal files.
"""

from __future__ import annotations

import io
import json
import math
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.kernels.blocks import ABSENT, FREE_TILE, FREE_TOTAL, NEXT_SLOT, OCCUPIED_TOTAL, VOLUME, Blocks
from esar_ros.mission.unpacking import TooLarge, bound

SIGNATURE = b"esarvox1"
END = b"esarvend"  # a frame that lacks its last bytes reads like a whole one
_LEVEL = 1  # of zstd
_CHUNK = 1024  # blocks compressed at a time
_MAX_HEADER = 4096  # bytes
_MAX_EXTRA = 1 << 28  # numbers
_MAX_WORLD = 1 << 28  # blocks of the world, seen or not
_MAX_SPARSE = 1 << 30  # bytes of a map in a small file: a large area of which nothing was seen


@dataclass(frozen=True)
class MapContent:
    """Content of a map file, arrays in the order of the index."""

    resolution: float
    first_cell: NDArray[np.int64]
    index: NDArray[np.int32]  # slots counted from 1 in this file's order, FREE_TILE, ABSENT
    free: NDArray[np.int32]
    occupied: NDArray[np.int32]
    saturated: NDArray[np.uint64]
    log_odds: NDArray[np.int8]
    extras: dict[str, NDArray[Any]]  # what else was saved with the map


def write(
    path: Path,
    blocks: Blocks,
    resolution: float,
    first_cell: NDArray[np.int64],
    extras: Mapping[str, NDArray[Any]],
) -> None:
    """Write atomically; an older file stays until the new one is whole. Extras are arrays of plain numbers."""
    further = {name: np.ascontiguousarray(array) for name, array in extras.items()}
    flat = blocks.table.ravel()
    tiles = np.flatnonzero(flat == FREE_TILE).astype(np.int32)
    stored = np.flatnonzero(flat > FREE_TILE).astype(np.int32)
    slots = flat[stored]
    header = json.dumps(
        {
            "resolution": resolution,
            "first_cell": first_cell.tolist(),
            "shape": list(blocks.table.shape),
            "tiles": len(tiles),
            "blocks": len(stored),
            "extras": {name: [array.dtype.str, list(array.shape)] for name, array in further.items()},
        }
    ).encode()
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        file.write(SIGNATURE + struct.pack("<I", len(header)) + header)
        packer = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
        with packer.stream_writer(file, closefd=False) as stream:
            for array in (tiles, stored, blocks.free[slots], blocks.occupied[slots], blocks.saturated[slots]):
                stream.write(array.tobytes())
            for start in range(0, len(slots), _CHUNK):
                stream.write(blocks.log_odds[slots[start : start + _CHUNK]].data)
            for array in further.values():
                stream.write(array.tobytes())
        file.write(END)
    os.replace(part, path)


def read(path: Path) -> MapContent:
    """Read a whole file. Raises MapInputError when it is foreign, truncated or damaged."""
    raw = path.read_bytes()
    if not raw.startswith(SIGNATURE):
        raise MapInputError(f"{path} is not a voxel map")
    try:
        (length,) = struct.unpack_from("<I", raw, len(SIGNATURE))
        start = len(SIGNATURE) + 4
        if length > _MAX_HEADER or not raw.endswith(END):
            raise ValueError("its end is missing")
        header = json.loads(raw[start : start + length])
        resolution = float(header["resolution"])
        shape = tuple(int(n) for n in header["shape"])
        first_cell = np.array([int(n) for n in header["first_cell"]], np.int64)
        tiles, stored = int(header["tiles"]), int(header["blocks"])
        if len(shape) != 3 or len(first_cell) != 3 or not (0.0 < resolution < math.inf) or min(shape) <= 0:
            raise ValueError("header contradicts itself")
        if math.prod(shape) > _MAX_WORLD:
            raise ValueError("the world is too large")
        if min(tiles, stored) < 0 or tiles + stored > math.prod(shape):
            raise ValueError("more blocks than the world has")
        extras = {name: _room_for(*kind) for name, kind in header.get("extras", {}).items()}
        content = sum(array.nbytes for array in extras.values()) + 4 * tiles + (VOLUME + 20) * stored
        if content > (most := max(_MAX_SPARSE, bound(len(raw)))):
            raise TooLarge(most)
        body = io.BytesIO(memoryview(raw)[start + length : -len(END)])
        with zstandard.ZstdDecompressor().stream_reader(body) as stream:
            tile_ids, ids = np.empty(tiles, np.int32), np.empty(stored, np.int32)
            free, occupied = np.empty(stored, np.int32), np.empty(stored, np.int32)
            saturated = np.empty(stored, np.uint64)
            log_odds = np.empty((stored, VOLUME), np.int8)
            arrays: list[NDArray[Any]] = [tile_ids, ids, free, occupied, saturated, log_odds, *extras.values()]
            for array in arrays:
                _fill(stream, array)
            if stream.read(1):
                raise ValueError("more data than the header says")
        index = np.full(shape, ABSENT, np.int32)
        index.reshape(-1)[tile_ids] = FREE_TILE
        index.reshape(-1)[ids] = np.arange(1, stored + 1)
    # Whatever a header may claim: sizes without end, numbers of thousands of digits, bottomless nesting.
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise MapInputError(f"{path} is damaged or truncated: {error}") from None
    except (struct.error, zstandard.ZstdError) as error:
        raise MapInputError(f"{path} is damaged or truncated: {error}") from None
    return MapContent(resolution, first_cell, index, free, occupied, saturated, log_odds, extras)


def restore(blocks: Blocks, content: MapContent) -> None:
    """Fill an empty pool that has room for it."""
    stored = len(content.log_odds)
    rows = slice(FREE_TILE + 1, FREE_TILE + 1 + stored)
    blocks.table[...] = content.index
    blocks.free[rows] = content.free
    blocks.occupied[rows] = content.occupied
    blocks.saturated[rows] = content.saturated
    blocks.log_odds[rows] = content.log_odds
    tiles = int(np.count_nonzero(content.index == FREE_TILE))
    blocks.counters[NEXT_SLOT] = FREE_TILE + 1 + stored
    blocks.counters[FREE_TOTAL] = int(content.free.sum()) + tiles * VOLUME
    blocks.counters[OCCUPIED_TOTAL] = int(content.occupied.sum())


def _room_for(kind: str, shape: list[int]) -> NDArray[Any]:
    """An array for one of the extras. Raises ValueError or TypeError for what is no array of plain numbers."""
    size = tuple(int(n) for n in shape)
    if np.dtype(kind).kind not in "biuf" or math.prod(size) > _MAX_EXTRA or min(size, default=0) < 0:
        raise ValueError(f"no array of {kind} and shape {size}")
    return np.empty(size, kind)


def _fill(stream: zstandard.ZstdDecompressionReader, array: NDArray[Any]) -> None:
    """Read an array's bytes from a stream. Raises ValueError when it ends before."""
    view = array.reshape(-1).view(np.uint8).data
    filled = 0
    while filled < len(view):
        got = stream.readinto(view[filled:])
        if not got:
            raise ValueError("it ends early")
        filled += got
