"""Ground around an imported map, of the same elevation model: what is seen to the horizon and never reached.

It is kept by rings about the map's square: of each ring ALONG points a side, counter-clockwise from the south-western
corner. Rings lie the farther apart the farther they are, about as far as their points. Where the model tells nothing,
heights are NaN.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.mission.errors import UsageError
from esar_ros.mission.settings_file import StrictModel
from esar_ros.mission.unpacking import read_arrays

REACH = 20_000.0  # m beyond the border
ALONG = 64  # points a side
OUTWARD = tuple(REACH * (1.12**k - 1.0) / (1.12**38 - 1.0) for k in range(39))  # m beyond the border
_WORTH = 500.0  # m beyond the border within which a ring is no horizon
_LEAST_KNOWN = 0.02  # of the points farther than that
_LARGEST = 1_000_000  # bytes, unpacked

Sampler = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]


class SurroundingsSpec(StrictModel):
    """Ground around the map that `esar maps import` wrote beside the map file."""

    file: str = Field(pattern=r"^[A-Za-z0-9_.-]+\.npz$", description="beside the map file")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="of that file")


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Rings (len(OUTWARD), 4 * ALONG): heights in m, map frame, NaN where not told; cover: LandCover."""

    heights: NDArray[np.float32]
    cover: NDArray[np.uint8]

    @property
    def known(self) -> float:
        """Share of the ground about the map, to REACH, whose height is told."""
        rows, width = np.isfinite(self.heights).mean(axis=1), np.gradient(np.array(OUTWARD)) * (1.0 + np.array(OUTWARD))
        return float((rows * width).sum() / width.sum())


def square_border(half: float, along: int) -> NDArray[np.float64]:
    """Points (4 * along, 2) on the border of a square of half a side (m), counter-clockwise."""
    t = np.linspace(-half, half, along + 1)[:-1]
    return np.concatenate(
        [
            np.column_stack([t, np.full(along, -half)]),
            np.column_stack([np.full(along, half), t]),
            np.column_stack([-t, np.full(along, half)]),
            np.column_stack([np.full(along, -half), -t]),
        ]
    )


def ring_points(half: float) -> NDArray[np.float64]:
    """Places (len(OUTWARD), 4 * ALONG, 2) of the rings' points, m, map frame."""
    return np.stack([square_border(half, ALONG) * (1.0 + s / half) for s in OUTWARD])


def sample_rings(height: Sampler, half: float) -> NDArray[np.float32] | None:
    """Heights of the rings; height: (m) at places east and north (m), NaN where it is not known.

    None where next to nothing is known beyond the map's neighbourhood.
    """
    at = ring_points(half)
    heights = height(at[..., 0], at[..., 1]).astype(np.float32)
    far = np.array(OUTWARD) >= _WORTH
    return heights if np.isfinite(heights[far]).mean() >= _LEAST_KNOWN else None


def pack(surroundings: Surroundings) -> bytes:
    """The file's bytes, the same every time."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, heights=surroundings.heights, cover=surroundings.cover)
    return buffer.getvalue()


def read_surroundings(spec: SurroundingsSpec, folder: Path) -> Surroundings:
    """Ground around a map as `pack` wrote it. Raises UsageError: file missing, changed or damaged."""
    path = folder / spec.file
    shape = (len(OUTWARD), 4 * ALONG)
    try:
        if hashlib.sha256(path.read_bytes()).hexdigest() != spec.sha256:
            raise UsageError(f"{path}: it is not what the map was made with", "import the map again")
        arrays = read_arrays(path, _LARGEST)
        made = Surroundings(arrays["heights"].astype(np.float32), arrays["cover"].astype(np.uint8))
    except (OSError, KeyError, ValueError) as error:
        raise UsageError(f"{path}: cannot read the ground around the map: {error}", "import the map again") from None
    if made.heights.shape != shape or made.cover.shape != shape:
        raise UsageError(f"{path}: {made.heights.shape} heights, not {shape}", "import the map again")
    return made
