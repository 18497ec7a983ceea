"""A flight as its autopilot logged it, whichever wrote it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
YEAR_2000 = 946_684_800.0  # s since 1970; a receiver without time gives 0, or its own epoch


def _nothing() -> Floats:
    return np.empty((0, 2))


@dataclass(frozen=True)
class FlightLog:
    """Columns of a log. Stamps are s of the log's own clock and rise; rows without a fix have nan for their place."""

    stamps: Floats  # (N,)
    latitude: Floats  # (N,) degrees WGS 84
    longitude: Floats  # (N,) degrees
    altitude: Floats  # (N,) m above mean sea level
    armed: NDArray[np.bool_] | None  # (N,); None: the log does not say
    utc: float  # s from the log's clock to UTC since 1970, nan where no receiver knew the time
    home: tuple[float, float, float] | None = None  # degrees, degrees, m; as last set
    attitude: Floats = field(default_factory=lambda: np.empty((0, 5)))  # (M, 5): stamp, then w, x, y, z, FLU in ENU
    charge: Floats = field(default_factory=_nothing)  # (K, 2): stamp, then 0..1
    modes: tuple[str, ...] = ()  # by name, each once, where the log names them
    cut: bool = False  # damaged, or it ends in the middle of a message


def column(values: object) -> Floats:
    """Returns values as (N,) float64."""
    return np.asarray(values, dtype=np.float64).reshape(-1)
