"""POA and POD of an incident as they stand: the first POA, and what all that was done leaves of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from esar_ros.incident.features import Area, AreaKind, Floats, Raster, Search
from esar_ros.incident.ground import Ground
from esar_ros.incident.pod import Shifted, shift, together
from esar_ros.incident.rasters import CANOPY, ELEVATION, POA, POD, POD_ON_FOOT, on_raster
from esar_ros.incident.store import Incident
from esar_ros.mission.errors import UsageError, install

SUREST = 0.999  # of a POD: more would say that nobody can be there


def poa_ground(incident: Incident) -> Ground:
    """Returns the ground by the cells of the POA. Raises UsageError where the incident has none."""
    poa, elevation = incident.rasters(POA), incident.rasters(ELEVATION)
    if not poa or not elevation:
        raise UsageError(f"{incident.folder} has no probability of area", "make it: esar incident new")
    return Ground.of(elevation[0]).coarser(poa[0].cell)


def stand(incident: Incident) -> tuple[Shifted, Floats]:
    """Returns the POA that is left, and the cumulative POD (H, W) of all that was done, by the cells of the POA."""
    poa = incident.rasters(POA)[0]
    missed = np.ones(poa.values.shape)
    looks = [np.minimum(on_raster(poa, raster), SUREST) for raster in incident.rasters(POD)]
    if looks:
        missed -= together(looks)
    for raster in incident.rasters(POD_ON_FOOT):  # they walk beneath what hides somebody from above
        missed *= 1.0 - on_raster(poa, raster)
    ground = poa_ground(incident)
    for area in incident.search.areas:
        if area.kind is AreaKind.SEARCHED and area.pod is not None:
            missed[cells_in([area], ground)] *= 1.0 - area.pod
    prior = np.nan_to_num(poa.values.astype(np.float64))
    rest = max(0.0, 1.0 - float(prior.sum()))  # a raster's single precision, too
    return shift(prior, rest, 1.0 - missed), 1.0 - missed


def open_sky(incident: Incident, target: Raster) -> Floats:
    """Returns the share (H, W) of each cell of a raster that no crown covers; 1 where the canopy is not known."""
    free = np.ones(target.values.shape)
    for raster in incident.rasters(CANOPY):
        free -= on_raster(target, raster)
    return free


def by_segment(incident: Incident, now: Shifted, pod: Floats) -> list[Area]:
    """Returns the segments with the POA that is left in each, normalised, and their POD, a mean by the POA before."""
    ground, prior = poa_ground(incident), np.nan_to_num(incident.rasters(POA)[0].values.astype(np.float64))
    told = []
    for area in incident.search.areas:
        if area.kind is AreaKind.SEGMENT:
            inside = cells_in([area], ground)
            weight = prior[inside]
            mean = float((pod[inside] * weight).sum() / weight.sum()) if weight.sum() > 0.0 else 0.0
            told.append(replace(area, poa=float(now.normalised[inside].sum()), pod=mean))
    return told


def closed_cells(search: Search, ground: Ground) -> NDArray[np.bool_] | None:
    """Returns the cells (H, W) that zones or the edge of the search area close; None where all are open."""
    zones = [area for area in search.areas if area.kind is AreaKind.NO_FLY]
    bounds = [area for area in search.areas if area.kind is AreaKind.SEARCH]
    if not zones and not bounds:
        return None
    closed = cells_in(zones, ground) if zones else np.zeros(ground.heights.shape, bool)
    return closed | ~cells_in(bounds, ground) if bounds else closed


def cells_in(areas: list[Area], ground: Ground) -> NDArray[np.bool_]:
    """Returns which cells (H, W) of the ground have their middle in one of the areas."""
    try:
        import shapely
        from rasterio import Affine
        from rasterio.features import rasterize
    except ImportError as error:
        raise UsageError(f"areas need {error.name}", install("geo")) from None
    shapes = []
    for area in areas:
        outline, *holes = (ground.on_grid(ring) for ring in (area.outline, *area.holes))
        shapes.append(shapely.Polygon(outline, holes))
    place = Affine(ground.cell, 0.0, ground.west, 0.0, -ground.cell, ground.north)
    burnt = rasterize(shapes, ground.heights.shape, transform=place, dtype="uint8") if shapes else 0
    return np.asarray(burnt, dtype=bool) | np.zeros(ground.heights.shape, bool)
