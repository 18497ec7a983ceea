"""The ground of a settlement: a gentle slope with a slow swell, and its lakes and ponds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import cv2
import numpy as np
from numba import njit
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.mission.settings_file import StrictModel
from esar_ros.sim.terrain.noise import fbm
from esar_ros.sim.terrain.settlements.plan import Plan
from esar_ros.sim.terrain.settlements.presets import plan_of

_BANK = 22.0  # m over which the ground sinks to a shore
_SHORE = 0.3  # m that it stands above the water there
# LandCover's numbers: land_cover.py imports this module's neighbours.
_GRASS, _FOREST, _WATER, _PAVED = 0, 5, 7, 13


class SettlementGround(StrictModel):
    """Level enough for streets; what lies on it follows from the preset and the map's seed."""

    kind: Literal["settlement"]
    preset: Literal["farmyard", "park", "street", "lake_cabins"]
    tilt: float = Field(ge=0.0, le=0.06, description="rise over run")
    tilt_towards: float = Field(ge=0.0, lt=360.0, description="deg from east, counter-clockwise, where it rises")
    swell: float = Field(ge=0.0, le=3.0, description="m, of hollows and knolls")


def settlement_ground(
    relief: SettlementGround, samples: int, size: float, seed: int, water_level: float | None
) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Heights (n, n) in m, 0 at the centre, and land cover (n, n); row 0 the south edge.

    Ground that is to lie under water is lower than water_level, all other is higher.
    """
    plan = plan_of(relief.preset, seed, size)
    angle = np.radians(relief.tilt_towards)
    heights = _gentle(samples, size, seed, relief.tilt * np.cos(angle), relief.tilt * np.sin(angle), relief.swell)
    heights -= heights[samples // 2, samples // 2]
    cover = np.full((samples, samples), _GRASS, dtype=np.uint8)
    for wood in plan.woods:
        cover[_mask([wood], samples, size)] = _FOREST
    cover[_mask([surface.outline for surface in plan.surfaces if surface.paved], samples, size)] = _PAVED
    if water_level is not None:
        wet = _mask(plan.waters, samples, size)
        far = cv2.distanceTransform((~wet).astype(np.uint8), cv2.DIST_L2, 5) * (size / (samples - 1))
        share = np.clip(far / _BANK, 0.0, 1.0).astype(np.float64)
        bank = water_level + _SHORE
        heights = bank + (np.maximum(heights, bank) - bank) * (share * share * (3.0 - 2.0 * share))
        heights[wet] = water_level - 1.0
        cover[wet] = _WATER
    return heights, cover


def settlement_plan(relief: SettlementGround, size: float, seed: int) -> Plan:
    """Returns the plan of the things on the ground."""
    return plan_of(relief.preset, seed, size)


def _mask(outlines: Sequence[Sequence[tuple[float, float]]], samples: int, size: float) -> NDArray[np.bool_]:
    """Samples (n, n) within any of the outlines."""
    mask = np.zeros((samples, samples), dtype=np.uint8)
    for outline in outlines:
        at = (np.array(outline) + size / 2) * (samples - 1) / size
        cv2.fillPoly(mask, [np.rint(at * 16.0).astype(np.int32).reshape(-1, 1, 2)], 1, cv2.LINE_8, 4)
    return mask > 0


@njit(cache=True, nogil=True)
def _gentle(n, size, seed, east, north, swell):  # type: ignore[no-untyped-def]
    out = np.empty((n, n), np.float64)
    step = size / (n - 1)
    for j in range(n):
        for i in range(n):
            x = i * step - size / 2.0
            y = j * step - size / 2.0
            out[j, i] = east * x + north * y + swell * fbm(x / 170.0, y / 170.0, 2, seed + 500, 0.35)
    return out
