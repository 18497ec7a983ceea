"""The kinds of places by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from esar_ros.mission.errors import UsageError, suggest
from esar_ros.sim.terrain.rescue_places import desert, harbour, room, street, suburb
from esar_ros.sim.terrain.rescue_places.site import RescueSite

MAKERS: dict[str, Callable[[int], RescueSite]] = {
    "room": room.lay_out,
    "street": street.lay_out,
    "suburb": suburb.lay_out,
    "harbour": harbour.lay_out,
    "desert": desert.lay_out,
}


@lru_cache(8)
def rescue_site(name: str, seed: int = 0) -> RescueSite:
    """A place of a kind and a seed, the same every time. Raises UsageError for an unknown kind."""
    if name not in MAKERS:
        raise UsageError(f"unknown rescue place '{name}'", suggest(name, MAKERS))
    return MAKERS[name](seed)
