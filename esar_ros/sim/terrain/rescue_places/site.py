"""A place to rescue in: ground and what is built on it, its doors, and where an ambulance may stand."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.geodesy import Origin
from esar_ros.sim.terrain.map_spec import Horizon, PlantSpec
from esar_ros.sim.terrain.maps import PlaceMap, Structure
from esar_ros.sim.terrain.settlements.plan import Plan


class Area(NamedTuple):
    """A level rectangle along the axes, m, map frame."""

    low: tuple[float, float]
    high: tuple[float, float]

    def contains(self, xy: ArrayLike) -> NDArray[np.bool_]:
        """Returns whether points (..., 2) lie in it."""
        p = np.asarray(xy, dtype=np.float64)
        return np.asarray(((p >= self.low) & (p <= self.high)).all(axis=-1))


class Doorway(NamedTuple):
    """The place of a door; map frame."""

    position: tuple[float, float, float]  # m, of the middle of its sill
    yaw: float  # rad, through it


@dataclass(frozen=True, eq=False)
class RescueSite:
    """A place with the facts that a rescue needs."""

    name: str
    seed: int
    place: PlaceMap
    area: Area  # where people walk
    home: tuple[Area, ...]  # where an ambulance may stand
    doors: tuple[Doorway, ...] = ()
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)  # m, where its own frame begins in that of its tasks


def place_map(
    name: str,
    words: str,
    seed: int,
    size: float,
    heights: NDArray[np.float32],
    land_cover: NDArray[np.uint8],
    plan: Plan,
    structures: tuple[Structure, ...] = (),
    flora: dict[str, PlantSpec] | None = None,
    horizon: Horizon = "flat",
    water_level: float | None = None,
) -> PlaceMap:
    """The map of a site's ground, plan and furniture; words: what it is. Its place on Earth is a middling one."""
    total = hashlib.sha256(heights.tobytes() + land_cover.tobytes() + plan.digest.encode())
    total.update(repr([tuple(item) for item in structures]).encode())
    for array in (heights, land_cover):
        array.setflags(write=False)
    return PlaceMap(
        id=f"rescue_{name}",
        name=words,
        size=size,
        origin=Origin(50.1, 8.7, 110.0),
        utc_offset=1.0,
        seed=seed,
        heights=heights,
        land_cover=land_cover,
        water_level=water_level,
        flora=flora or {},
        digest=total.hexdigest(),
        structures=structures,
        horizon=horizon,
        plan=plan,
    )
