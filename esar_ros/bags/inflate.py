"""Decompression of zstd and lz4 within bounds (mission/unpacking.py)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import lz4.frame
from backports import zstd

from esar_ros.mission.unpacking import TooLarge, bound

_PIECE = 1 << 20  # bytes decompressed at once
MAKERS = {"zstd": zstd.ZstdDecompressor, "lz4": lz4.frame.LZ4FrameDecompressor}


def pieces(decompressor: Any, data: Iterable[bytes], most: int) -> Iterator[bytes]:
    """Yields what a decompressor of zstd or lz4 makes of data, bit by bit. Raises TooLarge beyond most bytes."""
    total = 0
    for part in data:
        while out := decompressor.decompress(part, max_length=_PIECE):
            total += len(out)
            if total > most:
                raise TooLarge(most)
            yield out
            if decompressor.eof or decompressor.needs_input:
                break
            part = b""
        if decompressor.eof:
            return


def inflate(kind: str, data: bytes, most: int | None = None) -> bytes:
    """The whole content of compressed data, zstd or lz4. Raises TooLarge, EOFError where it ends early."""
    decompressor = MAKERS[kind]()
    out = b"".join(pieces(decompressor, [data], bound(len(data)) if most is None else min(most, bound(len(data)))))
    if not decompressor.eof:
        raise EOFError("compressed data end early")
    return out
