"""Stored text embeddings: classes for an open-vocabulary detector without a text encoder at hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.errors import UsageError
from esar_ros.mission.unpacking import read_arrays

Vector32 = NDArray[np.float32]
TABLE = "prompts.npz"  # its name in the models' folders
_LARGEST = 256 << 20  # bytes of a table
_CURE = "make it again: esar models embed"


def load_table(path: Path) -> dict[str, Vector32]:
    """Word -> embedding (D,), unit length. Raises UsageError."""
    try:
        stored = read_arrays(path, _LARGEST)
        words, features = [str(word) for word in stored["words"]], stored["features"].astype(np.float32)
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is no table of text embeddings: {error}", _CURE) from None
    if features.ndim != 2 or len(features) != len(words) or not np.isfinite(features).all():
        raise UsageError(f"{path} holds {len(words)} words and embeddings of shape {features.shape}", _CURE)
    return dict(zip(words, _unit(features, path), strict=True))


def save_table(path: Path, table: Mapping[str, Vector32], encoder: str) -> None:
    """Write a table; encoder: which network made it. Raises UsageError."""
    try:
        with path.open("wb") as file:
            np.savez(file, words=list(table), features=np.stack(list(table.values())), encoder=encoder)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", "choose another --out") from None


def _unit(features: Vector32, source: Path) -> Vector32:
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    if not (lengths > 0.0).all():
        raise UsageError(f"{source} holds an embedding of length 0", _CURE)
    unit: Vector32 = (features / lengths).astype(np.float32)
    return unit
