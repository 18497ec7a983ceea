"""Noise that depends on (seed, sensor, time) alone: asking twice, or more often, changes nothing."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray


class Noise:
    """Seeded normal noise of one sensor of one vehicle."""

    def __init__(self, seed: int, vehicle: str, sensor: str) -> None:
        self._key = np.array([seed, zlib.crc32(f"{vehicle}/{sensor}".encode())], dtype=np.uint64)

    def normal(self, tick: int, size: int) -> NDArray[np.float64]:
        """Independent standard normals of a sample tick, (size,)."""
        return np.random.Generator(np.random.Philox(counter=[0, 0, 0, tick], key=self._key)).standard_normal(size)

    def uniform(self, tick: int, size: int) -> NDArray[np.float64]:
        """Independent numbers in [0, 1) of a sample tick, of their own beside its normals, (size,)."""
        return np.random.Generator(np.random.Philox(counter=[0, 0, 1, tick], key=self._key)).random(size)

    def drift(self, time: float, period: float, size: int) -> NDArray[np.float64]:
        """A slow error of about unit size that changes over a period (s), continuous in time; (size,)."""
        position = time / period
        knot = int(position)
        share = position - knot
        channel = 1 << 40  # ticks of samples never reach this
        one, other = self.normal(channel + knot, size), self.normal(channel + knot + 1, size)
        return np.asarray(one * (1.0 - share) + other * share)
