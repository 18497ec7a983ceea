"""Files of others: their bytes, and bounds of what compressed ones may hold, which must fill neither memory nor disk.

zstd packs 32 000 zeros into a byte. A mission's messages shrink to a third, a grid of zeros to a thousandth.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.errors import UsageError

FLOOR = 64 << 20  # bytes that any compressed data may hold
RATIO = 200  # times its own size that more data may hold


class TooLarge(ValueError):
    """Compressed data that holds more bytes than it may."""

    def __init__(self, most: int) -> None:
        super().__init__(f"its compressed data hold more than {most / 1e6:.0f} MB")


def bound(size: int) -> int:
    """Most bytes that compressed data of a size may hold."""
    return max(FLOOR, RATIO * size)


def content(path: Path, most: int = -1) -> bytes:
    """Returns a file's bytes, the first `most` of them (-1: all). Raises UsageError: not to be read, empty."""
    try:
        with path.open("rb") as file:
            data = file.read(most)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "check the path") from None
    if not data:
        raise UsageError(f"{path} is empty (0 bytes)", "copy it again from where it was recorded")
    return data


def read_arrays(path: Path, most: int) -> dict[str, NDArray[Any]]:
    """All arrays of a .npz file, of at most so many bytes together. Raises ValueError for whatever is wrong with it."""
    try:
        with zipfile.ZipFile(path) as parts:
            size = sum(part.file_size for part in parts.infolist())
        if size > most:
            raise TooLarge(most)
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except ValueError:
        raise
    # A damaged archive fails with many errors, an array whose header lies about its shape with MemoryError.
    except (OSError, LookupError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(" ".join(str(error).split()) or type(error).__name__) from None
