"""The echoes of a range sensor: a beam without an echo means free space only while the sensor is healthy.

A blind sensor shows in three ways. Ground is known to be so near below that beams cannot miss it; the local map has an
obstacle on the path of a beam; or far fewer beams return than a few metres of flight earlier. Where either of the first
two holds in a sector, its cells without an echo are unknown instead of free. Where such cells outnumber all echoes, or
the third holds, the sensor is blind. Towards the sky, or out over an edge, most beams rightly return nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector, magnitude
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.safety.inputs import RangeImageData

_OCCUPIED = 2
SURE_RANGE = 20.0  # m, within which a healthy sensor gets an echo in any weather: the simulator's has 24 m in dense fog
_COLUMNS = 60  # that are examined, spread over the scan: a sector has five of them
_SECTOR = math.radians(30.0)  # rad of azimuth that are judged together
_BLIND_SECTOR = 0.5  # missing echoes for each near one that returned, from which a sector is blind
_MIN_MISSING_IN_SCAN = 30  # missing echoes, fewer than which say nothing about a scan
_MIN_MISSING_IN_SECTOR = 3  # the same of a sector
_SKY = math.radians(30.0)  # rad of elevation, from which most beams rightly return nothing
_MIN_USUAL_SHARE = 0.15  # share of cells with an echo below which no collapse can be told
_COLLAPSE, _RECOVERY = 1.0 / 3.0, 1.0 / 2.0  # of the usual share
_MEMORY = 3.0  # m of flight over which the usual share is forgotten
_FIRST_CELL = 2  # cells from the sensor: nearer ones may be occupied by the coarseness of the map alone


@njit(cache=True, nogil=True)
def _count(  # type: ignore[no-untyped-def]
    ranges,
    grid,
    rotation,
    sensor,
    height,
    slope,
    reach,
    has_window,
    cells,
    origin,
    resolution,
    returned,
    missing_returns,
):
    """Counts the echoes within reach (returned) and those that are missing of each column examined (missing_returns).

    Returns the number of cells with an echo from any distance, and of those below the sky, and of all below the sky.
    """
    azimuth_min, azimuth_step, elevation_min, elevation_step = grid
    echoes = answered = examined = 0
    start = (sensor - origin) / resolution
    elevation = elevation_min + (np.arange(ranges.shape[0]) + 0.5) * elevation_step
    cos_elevation, sin_elevation = np.cos(elevation), np.sin(elevation)
    for c in range(0, ranges.shape[1], max(ranges.shape[1] // _COLUMNS, 1)):
        azimuth = azimuth_min + (c + 0.5) * azimuth_step
        ca, sa = math.cos(azimuth), math.sin(azimuth)
        for r in range(ranges.shape[0]):
            examined += 1 if elevation[r] < _SKY else 0
            measured = ranges[r, c]
            if math.isfinite(measured) or measured == -np.inf:
                echoes += 1
                answered += 1 if elevation[r] < _SKY else 0
                returned[c] += 1 if measured <= reach else 0
                continue
            bx, by, bz = cos_elevation[r] * ca, cos_elevation[r] * sa, sin_elevation[r]
            x = rotation[0, 0] * bx + rotation[0, 1] * by + rotation[0, 2] * bz
            y = rotation[1, 0] * bx + rotation[1, 1] * by + rotation[1, 2] * bz
            z = rotation[2, 0] * bx + rotation[2, 1] * by + rotation[2, 2] * bz
            # Ground that falls away at `slope` is met after height / (sin - slope cos) of the depression.
            drop = -z - slope * math.sqrt(x * x + y * y)
            if drop > 0.0 and height <= reach * drop:  # a height of NaN is none
                missing_returns[c] += 1
                continue
            if not has_window:
                continue
            for n in range(_FIRST_CELL, int(reach / resolution) + 1):
                px, py, pz = start[0] + n * x, start[1] + n * y, start[2] + n * z
                if not (0.0 <= px < cells.shape[0] and 0.0 <= py < cells.shape[1] and 0.0 <= pz < cells.shape[2]):
                    break
                if cells[int(px), int(py), int(pz)] == _OCCUPIED:
                    missing_returns[c] += 1
                    break
    return echoes, answered, examined


_NO_CELLS = np.zeros((1, 1, 1), dtype=np.uint8)


@dataclass(frozen=True)
class EchoCounts:
    """The echoes of a scan: per column those from near and those that are missing, and all of them."""

    returned: NDArray[np.int64]  # (columns,), within SURE_RANGE
    missing_returns: NDArray[np.int64]  # (columns,)
    echoes: int  # from any distance
    answered: int  # of them below the sky
    cells: int  # below the sky, examined

    @staticmethod
    def of(image: RangeImageData, height: float | None, slope: float, window: OccupancyWindow | None) -> EchoCounts:
        """Returns the counts of a range image.

        height: m of the sensor above ground that falls no steeper than slope (m/m); None: not known.
        """
        ranges = np.ascontiguousarray(image.ranges, dtype=np.float32)
        returned = np.zeros(ranges.shape[1], dtype=np.int64)
        missing_returns = np.zeros(ranges.shape[1], dtype=np.int64)
        counted = _count(
            ranges, (image.azimuth_min, image.azimuth_step, image.elevation_min, image.elevation_step),
            image.pose.rotation, image.pose.position, math.nan if height is None else height, slope,
            min(SURE_RANGE, image.range_max), window is not None,
            window.cells if window else _NO_CELLS,
            np.asarray(window.origin, dtype=np.float64) if window else image.pose.position,
            window.resolution if window else 1.0,
            returned, missing_returns,
        )  # fmt: skip
        return EchoCounts(returned, missing_returns, *counted)

    @property
    def share(self) -> float:
        """Share of the cells below the sky that have an echo, 0..1; 0 of a scan that looks at the sky alone."""
        return self.answered / self.cells if self.cells else 0.0

    def is_blind(self) -> bool:
        """Returns whether as many echoes are missing as returned; a few missing ones say nothing."""
        return bool(self.missing_returns.sum() >= max(self.echoes, _MIN_MISSING_IN_SCAN))

    def blind_columns(self, image: RangeImageData) -> NDArray[np.bool_]:
        """Returns a mask (columns,) of those in whose sector too many echoes are missing."""
        half = max(int(0.5 * _SECTOR / image.azimuth_step), 0)
        around = np.arange(-half, half + 1)
        columns = (np.arange(len(self.returned))[:, None] + around) % len(self.returned)
        missing_returns, returned = self.missing_returns[columns].sum(axis=1), self.returned[columns].sum(axis=1)
        return np.asarray((missing_returns >= _MIN_MISSING_IN_SECTOR) & (missing_returns >= _BLIND_SECTOR * returned))


@dataclass(frozen=True)
class EchoMonitor:
    """The usual share of echoes in recent scans, and the newest scan as far as it can be trusted."""

    stamp: float | None = None  # s, of the newest scan
    position: Vector | None = None  # m, map: where it was taken
    usual: float = 0.0  # share of cells with an echo, forgotten with the distance flown
    text: str = ""  # reason for which the sensor counts as blind
    trusted: RangeImageData | None = None  # the newest scan with blind sectors unknown; None where the sensor is blind

    def updated(
        self, image: RangeImageData, height: float | None, slope: float, window: OccupancyWindow | None
    ) -> EchoMonitor:
        """Returns the state after a scan taken height (m) above ground of at most this slope (m/m); None: not known."""
        counts = EchoCounts.of(image, height, slope, window)
        position = image.pose.position
        distance = 0.0 if self.position is None else magnitude(position - self.position)
        min_share = self.usual * (_RECOVERY if self.text else _COLLAPSE)
        if counts.is_blind():
            text = f"the range sensor is blind: {counts.missing_returns.sum()} echoes missing, {counts.echoes} came"
            return EchoMonitor(image.stamp, position, self.usual, text)
        if self.usual >= _MIN_USUAL_SHARE and counts.share < min_share:
            text = f"the range sensor is blind: {counts.share:.0%} of its cells answer, {self.usual:.0%} did"
            return EchoMonitor(image.stamp, position, self.usual, text)
        usual = max(counts.share, self.usual * math.exp(-distance / _MEMORY))
        return EchoMonitor(image.stamp, position, usual, "", _without_free(image, counts.blind_columns(image)))


def _without_free(image: RangeImageData, blind: NDArray[np.bool_]) -> RangeImageData:
    """Returns the image with the free cells of blind columns unknown."""
    if not blind.any():
        return image
    free = np.isposinf(image.ranges) & blind
    return replace(image, ranges=np.where(free, np.float32(np.nan), image.ranges))
