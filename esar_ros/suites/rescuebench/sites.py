"""The site of a task: a place of our own by its name, or a stand-in made from the tracks of people in a checkout."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from esar_ros.sim.terrain.rescue_places.site import RescueSite
from esar_ros.suites.rescuebench.files.tracks import filed_as, read_tracks, tracks_of
from esar_ros.suites.rescuebench.own_points import site_of


def find_site(place: str, checkout: Path | None = None) -> RescueSite:
    """Returns the site of a place; checkout: whose tracks it is made from, None: one of our own. Raises UsageError."""
    return site_of(place) if checkout is None else _stand_in(filed_as(place), checkout)


@lru_cache(2)
def _stand_in(place: str, checkout: Path) -> RescueSite:
    from esar_ros.suites.rescuebench.stand_ins import stand_in

    tracks = read_tracks(tracks_of(checkout, place))
    return stand_in(place, sorted(tracks, key=lambda track: (track.level, track.point)))
