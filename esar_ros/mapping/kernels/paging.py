"""Rows of the block pool in a file, so that cold blocks leave memory and come back when they are touched.

A block's log-odds are 4096 bytes: one page of memory. The pool is therefore mapped from a file and
the system's own paging does the rest: what is dropped here is read again by the first access, with
no look-up, no second code path in the kernels, and the same bytes.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from esar_ros.mapping.errors import MapInputError


class PageFile:
    """A nameless file that holds rows of one length in bytes, a whole number of memory pages."""

    def __init__(self, folder: Path, row: int) -> None:
        """Creates the file in `folder`, which should lie on a disk: a memory file system saves nothing. Raises
        MapInputError."""
        if row % mmap.PAGESIZE:
            raise MapInputError(f"rows of {row} bytes are no whole pages of {mmap.PAGESIZE} bytes")
        self._row = row
        try:
            self._file = tempfile.TemporaryFile(dir=folder, prefix="voxels-")  # noqa: SIM115
        except OSError as error:
            raise MapInputError(f"no pages in {folder}: {error}") from None
        self._pages: mmap.mmap | None = None

    def rows(self, count: int) -> NDArray[np.int8]:
        """The first rows (count, row) of the file, made longer where needed. Raises MapInputError on a full disk."""
        try:
            # Disk space that is only promised would end the process when it turns out to be missing.
            os.posix_fallocate(self._file.fileno(), 0, count * self._row)
        except OSError as error:
            raise MapInputError(f"no room for {count} blocks on disk: {error}") from None
        self._pages = mmap.mmap(self._file.fileno(), count * self._row)
        return np.frombuffer(self._pages, np.int8).reshape(count, self._row)

    def drop(self, rows: NDArray[np.int64]) -> None:
        """Write sorted rows to the disk and take them out of memory."""
        if self._pages is None or not len(rows):
            return
        first = np.flatnonzero(np.r_[True, np.diff(rows) > 1])
        last = np.r_[first[1:], len(rows)] - 1
        for start, stop in zip(rows[first] * self._row, (rows[last] + 1) * self._row, strict=True):
            length = int(stop - start)
            self._pages.flush(int(start), length)
            self._pages.madvise(mmap.MADV_DONTNEED, int(start), length)
            os.posix_fadvise(self._file.fileno(), int(start), length, os.POSIX_FADV_DONTNEED)

    def resident(self) -> int:
        """Bytes of the file that this process has in memory now (Linux; 0 where the system does not say)."""
        inode = str(os.fstat(self._file.fileno()).st_ino)
        total, ours = 0, False
        try:
            with open("/proc/self/smaps") as lines:
                for line in lines:
                    words = line.split()
                    if "-" in words[0] and not words[0].endswith(":"):
                        ours = len(words) > 4 and words[4] == inode
                    elif ours and words[0] == "Rss:":
                        total += int(words[1]) * 1024
        except OSError:
            return 0
        return total
