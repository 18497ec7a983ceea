"""Level places: camp sites, resting places along a path, landings. The ground is cut and filled, plants stay away."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.mission.settings_file import StrictModel
from esar_ros.sim.terrain.land_cover import LandCover

_LEVEL = 0.06  # rise over run that a clearing keeps
_APRON = 2.2  # its edge meets the old ground at this many radii


class Clearings(StrictModel):
    """Positions and land cover of level places."""

    cover: str = Field(description="land cover in lower case")
    at: list[tuple[float, float, float]] = Field(default_factory=list, description="x, y and radius, m")
    every: float | None = Field(None, gt=20.0, description="m along each track, null for none")
    radius: float = Field(10.0, gt=0.0, description="m, of those along tracks")


def lay_clearings(
    spec: Clearings,
    heights: NDArray[np.float32],
    cover: NDArray[np.uint8],
    tracks: dict[str, NDArray[np.float64]],
    size: float,
) -> NDArray[np.float64]:
    """Level the ground and set its cover, both in place; returns x, y and radius (N, 3) of all clearings.

    Water keeps its level. A clearing that would lie in water, reach beyond the map, over its centre (whose height is
    fixed) or into another is left out.
    """
    wanted = list(spec.at)
    for line in tracks.values():
        steps = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
        if spec.every is not None:
            for s in np.arange(spec.every / 2, steps[-1], spec.every):
                wanted.append(
                    (float(np.interp(s, steps, line[:, 0])), float(np.interp(s, steps, line[:, 1])), spec.radius)
                )
    made: list[tuple[float, float, float]] = []
    for x, y, radius in wanted:
        apart = np.hypot(x, y) > _APRON * radius + 2.0 and all(
            np.hypot(x - a, y - b) > _APRON * max(radius, r) for a, b, r in made
        )
        if apart and _level(heights, cover, size, x, y, radius, LandCover[spec.cover.upper()]):
            made.append((x, y, radius))
    return np.array(made, dtype=np.float64).reshape(-1, 3)


def _level(
    heights: NDArray[np.float32], cover: NDArray[np.uint8], size: float, x: float, y: float, radius: float, kind: int
) -> bool:
    cell = size / (heights.shape[0] - 1)
    reach = _APRON * radius
    if max(abs(x), abs(y)) + reach > size / 2 - cell:
        return False
    low = np.floor((np.array([x, y]) - reach + size / 2) / cell).astype(int)
    high = np.ceil((np.array([x, y]) + reach + size / 2) / cell).astype(int) + 1
    part = np.s_[low[1] : high[1], low[0] : high[0]]
    east, north = np.meshgrid(
        np.arange(low[0], high[0]) * cell - size / 2 - x, np.arange(low[1], high[1]) * cell - size / 2 - y
    )
    away = np.hypot(east, north)
    h = heights[part].astype(np.float64)
    water = cover[part] == LandCover.WATER
    if (water & (away <= 1.1 * radius)).any():
        return False
    inside = away <= 1.3 * radius
    plane, *_ = np.linalg.lstsq(
        np.column_stack([east[inside], north[inside], np.ones(inside.sum())]), h[inside], rcond=None
    )
    slope = float(np.hypot(plane[0], plane[1]))
    tilt = plane[:2] * min(1.0, _LEVEL / max(slope, 1e-9))
    level = plane[2] + east * tilt[0] + north * tilt[1]
    t = np.clip((away / radius - 1.0) / (_APRON - 1.0), 0.0, 1.0)
    weight = np.where(water, 0.0, 1.0 - t * t * (3.0 - 2.0 * t))
    if water.any():
        level = np.maximum(level, h[water][0] + 0.3)
    heights[part] = (h + weight * (level - h)).astype(np.float32)
    cover[part][away <= 1.05 * radius] = kind
    return True
