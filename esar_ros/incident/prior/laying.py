"""The first POA of an incident, laid from what its folder holds: so it can be laid again, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from esar_ros.incident.features import AreaKind, PlaceKind, Search
from esar_ros.incident.ground import Ground
from esar_ros.incident.prior.mixing import Prior, lay_prior, segments
from esar_ros.incident.prior.terrain import Terrain
from esar_ros.incident.probability import cells_in
from esar_ros.incident.rasters import ELEVATION, OFFSET, POA, raster_on
from esar_ros.mission.errors import UsageError
from esar_ros.planning.methods.patterns.lost_persons import load_lost_persons

CELL = 20.0  # m, of the POA
PRIOR = "prior"


def lay(search: Search, about: Mapping[str, str], words: str) -> tuple[Prior, Terrain]:
    """Lays POA and segments of a search anew from its elevation, its initial planning point, the area that is searched
    and the words.

    about: subject and domain of the statistics, and whether drainages count. Raises UsageError where the search has no
    elevation or no initial planning point.
    """
    elevation = next((raster for raster in search.rasters if raster.unit == ELEVATION), None)
    ipp = next((place for place in search.places if place.kind is PlaceKind.IPP), None)
    if elevation is None or ipp is None:
        missing = "no elevation" if elevation is None else "no initial planning point"
        raise UsageError(f"{search.name} has {missing}", "begin anew: esar incident new")
    ground, persons = Ground.of(elevation).coarser(CELL), load_lost_persons()
    offset = next((raster.values.astype(float) for raster in search.rasters if raster.unit == OFFSET), None)
    subject = about.get("subject", "hiker")
    found = persons.found(subject)
    if not about.get("drainages"):
        found = replace(found, in_drainages=0.0)
    terrain = Terrain.of(ground, found, offset)
    prior = lay_prior(
        words, ipp, ground, persons.category(subject, about.get("domain", "temperate_mountains")), terrain
    )
    searched = [area for area in search.areas if area.kind is AreaKind.SEARCH]
    others = [area for area in search.areas if area.kind is not AreaKind.SEGMENT]
    search.areas = others + segments(prior.cells, ground, cells_in(searched, ground) if searched else None)
    kept = [raster for raster in search.rasters if raster.unit != POA]
    search.rasters = [*kept, raster_on(ground, prior.cells, PRIOR, POA)]
    return prior, terrain
