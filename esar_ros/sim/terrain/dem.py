"""A surveyed relief: an imported elevation model, and what is finer than its cells."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.mission.errors import UsageError
from esar_ros.mission.settings_file import StrictModel
from esar_ros.mission.unpacking import read_arrays
from esar_ros.sim.terrain.finer_relief import FinerRelief, add_finer_relief

_HEADERS = 4096  # bytes beside the numbers


class ImportedDem(StrictModel):
    """Heights that `esar maps import` wrote beside the map file."""

    kind: Literal["dem"]
    file: str = Field(pattern=r"^[A-Za-z0-9_.-]+\.npz$", description="beside the map file")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="of that file")
    cell: float = Field(gt=0.0, description="m between the elevation model's own samples")
    finer: FinerRelief | None = Field(None, description="relief that is added between those samples")


def imported_ground(
    relief: ImportedDem, folder: Path | None, samples: int, size: float, water_level: float | None
) -> tuple[NDArray[np.float64], NDArray[np.uint8] | None]:
    """Heights (samples, samples) in m, map frame, and land cover where it was imported, UNKNOWN where it is not told.

    water_level (m): of the sea, which stays level.
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
    if relief.finer is not None:
        add_finer_relief(heights, size / (samples - 1), relief.cell, relief.finer, water_level)
    return heights, None if cover is None else cover.astype(np.uint8)
