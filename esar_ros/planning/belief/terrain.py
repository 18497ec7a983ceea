"""Ground heights as far as the flight has shown them: under the vehicle, and where things were seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector

_NEAR = 150.0  # m around the vehicle within which samples count
_SPACING = 5.0  # m between two samples
_RIDGE = 40.0  # m, steadies the slope: samples that spread less than this tell little of it
_STEEPEST = 1.2  # m/m


class Terrain:
    """A plane through the samples around a place."""

    def __init__(self) -> None:
        self._samples: list[Vector] = []

    def add(self, point: Vector) -> None:
        """A point (3,) on the ground, map frame; ignored beside an earlier one of late."""
        if not np.isfinite(point).all():
            return
        if self._samples and float(np.linalg.norm(self._samples[-1][:2] - point[:2])) < _SPACING:
            return
        self._samples.append(np.array(point, dtype=np.float64))

    def plane(self, place: Vector) -> tuple[float, NDArray[np.float64]] | None:
        """Height (m) at a place (2,) and slope (2,) m/m there; None while nothing is known."""
        if not self._samples:
            return None
        samples = np.array(self._samples[-400:])
        offset = samples[:, :2] - place[:2]
        distance = np.linalg.norm(offset, axis=1)
        near = distance <= max(_NEAR, float(distance.min()) + 1.0)
        offset, height = offset[near], samples[near, 2]
        weight = np.exp(-distance[near] / 60.0)
        level = float(weight @ height / weight.sum())
        middle = weight @ offset / weight.sum()
        spread = offset - middle
        normal = (spread * weight[:, None]).T @ spread / weight.sum() + np.eye(2) * _RIDGE
        slope = np.linalg.solve(normal, (spread * weight[:, None]).T @ (height - level) / weight.sum())
        steepness = float(np.linalg.norm(slope))
        if steepness > _STEEPEST:
            slope = slope * (_STEEPEST / steepness)
        return level - float(slope @ middle), slope
