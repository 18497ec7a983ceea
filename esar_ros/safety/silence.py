"""Whether a range sensor that reports nothing may be believed: silence is free air only while the sensor is sound.

Three things give a blind one away. Ground is known to be so near below that beams cannot miss it; the local map knows
something in a beam's way; or far fewer beams come back than a few metres of way before. Where either of the first two
holds in a sector, the sector's silence is unknown instead of free. Where it holds for more cells than answered at all,
or the third does, the sensor is blind. Looking up into the sky, or out over an edge, most beams rightly return nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.safety.inputs import RangeImageData

_OCCUPIED = 2
SURE = 20.0  # m, within which a sound sensor gets an echo in any weather: the simulator's reaches 24 m in dense fog
_LOOKED_AT = 60  # columns, spread over the scan: a sector has five of them
_SECTOR = math.radians(30.0)  # rad of azimuth that are judged together
_PART = 0.5  # missing echoes for each near one that came, from which a sector's silence is not believed
_SAY_NOTHING = 30  # missing echoes, fewer than which say nothing about a scan
_FEWEST = 3  # missing echoes that say anything about a sector
_USUAL = 0.15  # share of answering cells below which nothing can collapse
_COLLAPSE, _RECOVERY = 1.0 / 3.0, 1.0 / 2.0  # of the usual share
_FORGET = 3.0  # m of way over which the usual share is forgotten


@njit(cache=True, nogil=True)
def _count(  # type: ignore[no-untyped-def]
    ranges, grid, rotation, sensor, height, slope, reach, has_window, cells, origin, resolution, came, missing
):
    """Echoes from near, and silent cells in whose way something is known, a column; cells that answered, and all."""
    azimuth_min, azimuth_step, elevation_min, elevation_step = grid
    answered = looked_at = 0
    start = (sensor - origin) / resolution
    elevation = elevation_min + (np.arange(ranges.shape[0]) + 0.5) * elevation_step
    cos_elevation, sin_elevation = np.cos(elevation), np.sin(elevation)
    for c in range(0, ranges.shape[1], max(ranges.shape[1] // _LOOKED_AT, 1)):
        azimuth = azimuth_min + (c + 0.5) * azimuth_step
        ca, sa = math.cos(azimuth), math.sin(azimuth)
        for r in range(ranges.shape[0]):
            looked_at += 1
            measured = ranges[r, c]
            if math.isfinite(measured) or measured == -np.inf:
                answered += 1
                came[c] += 1 if measured <= reach else 0
                continue
            bx, by, bz = cos_elevation[r] * ca, cos_elevation[r] * sa, sin_elevation[r]
            x = rotation[0, 0] * bx + rotation[0, 1] * by + rotation[0, 2] * bz
            y = rotation[1, 0] * bx + rotation[1, 1] * by + rotation[1, 2] * bz
            z = rotation[2, 0] * bx + rotation[2, 1] * by + rotation[2, 2] * bz
            # Ground that falls away at `slope` is met after height / (sin - slope cos) of the depression.
            drop = -z - slope * math.sqrt(x * x + y * y)
            if drop > 0.0 and height <= reach * drop:  # a height of NaN is none
                missing[c] += 1
                continue
            if not has_window:
                continue
            # Nearer than two cells the map's own coarseness stands in the way.
            for n in range(2, int(reach / resolution) + 1):
                px, py, pz = start[0] + n * x, start[1] + n * y, start[2] + n * z
                if not (0.0 <= px < cells.shape[0] and 0.0 <= py < cells.shape[1] and 0.0 <= pz < cells.shape[2]):
                    break
                if cells[int(px), int(py), int(pz)] == _OCCUPIED:
                    missing[c] += 1
                    break
    return answered, looked_at


_NO_CELLS = np.zeros((1, 1, 1), dtype=np.uint8)


@dataclass(frozen=True)
class Answers:
    """What a scan answered: per column looked at, echoes from near and echoes that are missing; and in all."""

    came: NDArray[np.int64]
    missing: NDArray[np.int64]
    answered: int  # cells, from any distance
    cells: int  # looked at

    @staticmethod
    def of(image: RangeImageData, height: float | None, slope: float, window: OccupancyWindow | None) -> Answers:
        """Of a range image; height (m) of the sensor above ground that falls no steeper than slope, None: not known."""
        ranges = np.ascontiguousarray(image.ranges, dtype=np.float32)
        came, missing = np.zeros(ranges.shape[1], dtype=np.int64), np.zeros(ranges.shape[1], dtype=np.int64)
        answered, looked_at = _count(
            ranges, (image.azimuth_min, image.azimuth_step, image.elevation_min, image.elevation_step),
            image.pose.rotation, image.pose.position, math.nan if height is None else height, slope,
            min(SURE, image.range_max), window is not None,
            window.cells if window else _NO_CELLS,
            np.asarray(window.origin, dtype=np.float64) if window else image.pose.position,
            window.resolution if window else 1.0,
            came, missing,
        )  # fmt: skip
        return Answers(came, missing, answered, looked_at)

    @property
    def share(self) -> float:
        """Of all cells those that answered, 0..1."""
        return self.answered / self.cells

    def is_blind(self) -> bool:
        """Whether more echoes are missing than came at all; a few missing ones say nothing."""
        return bool(self.missing.sum() >= max(self.answered, _SAY_NOTHING))

    def deaf(self, image: RangeImageData) -> NDArray[np.bool_]:
        """Columns in whose sector too many echoes are missing."""
        half = max(int(0.5 * _SECTOR / image.azimuth_step), 0)
        around = np.arange(-half, half + 1)
        columns = (np.arange(len(self.came))[:, None] + around) % len(self.came)
        missing, came = self.missing[columns].sum(axis=1), self.came[columns].sum(axis=1)
        return np.asarray((missing >= _FEWEST) & (missing >= _PART * came))


@dataclass(frozen=True)
class Silence:
    """What the scans answered of late, and whether their silence may be believed."""

    stamp: float | None = None  # s, of the newest scan
    position: Vector | None = None  # m, where it was taken
    usual: float = 0.0  # share of cells that answered, forgotten with the way
    text: str = ""  # why the sensor counts as blind
    believed: RangeImageData | None = None  # the newest scan, silent sectors unknown

    def heard(
        self, image: RangeImageData, height: float | None, slope: float, window: OccupancyWindow | None
    ) -> Silence:
        """After a scan taken height (m) above the ground, None: not known."""
        if image.stamp == self.stamp:
            return self
        answers = Answers.of(image, height, slope, window)
        position = image.pose.position
        way = 0.0 if self.position is None else float(np.linalg.norm(position - self.position))
        fewest = self.usual * (_RECOVERY if self.text else _COLLAPSE)
        if answers.is_blind():
            text = f"the range sensor is blind: {answers.missing.sum()} echoes missing, {answers.answered} came"
            return Silence(image.stamp, position, self.usual, text)
        if self.usual >= _USUAL and answers.share < fewest:
            text = f"the range sensor is blind: {answers.share:.0%} of its cells answer, {self.usual:.0%} did"
            return Silence(image.stamp, position, self.usual, text)
        usual = max(answers.share, self.usual * math.exp(-way / _FORGET))
        return Silence(image.stamp, position, usual, "", _without(image, answers.deaf(image)))


def _without(image: RangeImageData, deaf: NDArray[np.bool_]) -> RangeImageData:
    """The image with the silence of these columns unknown."""
    if not deaf.any():
        return image
    silent = np.isposinf(image.ranges) & deaf
    return replace(image, ranges=np.where(silent, np.float32(np.nan), image.ranges))
