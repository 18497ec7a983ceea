"""The presets by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from esar_ros.sim.terrain.settlements import farmyard, lake_cabins, park, streets
from esar_ros.sim.terrain.settlements.plan import Plan

PRESETS: dict[str, Callable[[int, float], Plan]] = {
    "farmyard": farmyard.lay_out,
    "park": park.lay_out,
    "street": streets.lay_out,
    "lake_cabins": lake_cabins.lay_out,
}


@lru_cache(8)
def plan_of(preset: str, seed: int, size: float) -> Plan:
    """The plan of a preset on a square of a side (m): the same every time."""
    return PRESETS[preset](seed, size)
