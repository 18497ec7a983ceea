"""A surveyed relief: an imported elevation model, with detail below its cell size added."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.mission.errors import UsageError
from esar_ros.mission.settings_file import StrictModel
from esar_ros.mission.unpacking import read_arrays
from esar_ros.sim.terrain.noise import fbm

_HEADERS = 4096  # bytes beside the numbers


class ImportedDem(StrictModel):
    """Heights that `esar maps import` wrote beside the map file."""

    kind: Literal["dem"]
    file: str = Field(pattern=r"^[A-Za-z0-9_.-]+\.npz$", description="beside the map file")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="of that file")
    cell: float = Field(gt=0.0, description="m between the elevation model's own samples")
    detail: float = Field(0.06, ge=0.0, le=0.5, description="height of the added detail, m a metre of cell and slope")


def imported_ground(
    relief: ImportedDem, folder: Path | None, samples: int, size: float, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.uint8] | None]:
    """Heights (samples, samples) in m, map frame, and land cover where it was imported, UNKNOWN where it is not told.

    Raises UsageError: file missing, changed, or of another size.
    """
    path = (folder or Path()) / relief.file
    try:
        if hashlib.sha256(path.read_bytes()).hexdigest() != relief.sha256:
            raise UsageError(f"{path}: its heights are not those the map was made with", "import the map again")
        arrays = read_arrays(path, 8 * samples * samples + _HEADERS)
        heights, cover = arrays["heights"].astype(np.float64), arrays.get("cover")
    except (OSError, KeyError, ValueError) as error:
        raise UsageError(f"{path}: cannot read the map's heights: {error}", "import the map again") from None
    if heights.shape != (samples, samples) or (cover is not None and cover.shape != heights.shape):
        raise UsageError(f"{path}: {heights.shape} heights for a map of {samples}", "import the map again")
    _add_detail(heights, size / (samples - 1), size, relief.cell, relief.detail, seed)
    return heights, None if cover is None else cover.astype(np.uint8)


@njit(cache=True, nogil=True)
def _add_detail(h, step, size, cell, detail, seed):  # type: ignore[no-untyped-def]
    """Noise of wavelengths that the model's cells cannot hold, higher on steep ground; none where cells are finer."""
    n = h.shape[0]
    octaves = 0
    length = 2.0 * cell
    while length > 2.5 * step and octaves < 6:
        octaves += 1
        length *= 0.5
    if octaves == 0:
        return
    gentle = np.empty((n, n))
    for j in range(n):
        for i in range(n):
            a = min(i + 1, n - 1)
            b = max(i - 1, 0)
            c = min(j + 1, n - 1)
            d = max(j - 1, 0)
            gx = (h[j, a] - h[j, b]) / ((a - b) * step)
            gy = (h[c, i] - h[d, i]) / ((c - d) * step)
            gentle[j, i] = math.sqrt(gx * gx + gy * gy)
    for j in range(n):
        for i in range(n):
            x = i * step / (2.0 * cell)
            y = j * step / (2.0 * cell)
            strength = detail * cell * min(1.5, 0.08 + gentle[j, i])
            h[j, i] += strength * fbm(x, y, octaves, seed + 300, 0.55)
