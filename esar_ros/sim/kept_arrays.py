"""Arrays that are made once a machine and kept in the cache, by the digest of what makes them."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import cache_directory
from esar_ros.scoring.result import write_atomically

Arrays = Mapping[str, NDArray[Any]]
_DIGITS = 16  # of a digest, in a file's name


def kept_arrays(path: Path, make: Callable[[], Arrays], smaller: bool = True) -> Arrays:
    """Returns arrays by name from a file (.npz), else made and kept there; a damaged file is made anew.

    smaller: whether the file is compressed, which takes longer to read.
    """
    try:
        with np.load(path) as kept:
            return dict(kept)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        made, content = make(), io.BytesIO()
        (np.savez_compressed if smaller else np.savez)(content, **made)  # type: ignore[arg-type]  # names of arrays
        with suppress(UsageError):  # a full or read-only disk costs only time
            write_atomically(path, content.getvalue())
        return made


def kept_path(folder: str, name: str, makers: tuple[Path, ...], also: str = "") -> Path:
    """Returns the cache's file for what some modules make: files, or folders with all of their modules.

    also: what else decides, such as the digest of what the modules are given.
    """
    digest = hashlib.sha256((_digest(makers) + also).encode()).hexdigest()[:_DIGITS]
    return cache_directory() / folder / f"{name}-{digest}.npz"


@cache
def _digest(makers: tuple[Path, ...]) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in _modules(makers))).hexdigest()


def _modules(makers: Iterable[Path]) -> Iterable[Path]:
    for path in makers:
        yield from sorted(path.glob("*.py")) if path.is_dir() else (path,)
