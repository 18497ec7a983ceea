"""Places of reports on Earth, with the error of the detector's object that each is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.coordinates import grid_position, radius_95
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission import names
from esar_ros.mission.clues import PERSON
from esar_ros.mission.decision import ReportType
from esar_ros.mission.same_object import nearest_of_kind
from esar_ros.mission.stamps import NANO
from esar_ros.scoring.findings import Claim
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.record.rows import CluesRow, ReportRow
from esar_ros.scoring.result import Where


def covariance_of(record: EpisodeRecord, vehicle: str, row: ReportRow) -> NDArray[np.float64] | None:
    """Returns the covariance (3, 3) m², map, of the object that a report is about, as known when it was reported.

    None where the vehicle's detector knows no object of the kind there, or states no error.
    """
    known: list[CluesRow] = record.rows(vehicle, names.CLUES, row.stamp - NANO, row.stamp)
    if not known:
        return None
    seen = zip(known[-1].clues, known[-1].covariances, strict=False)
    kind = PERSON if row.type == ReportType.VICTIM else row.kind
    nearest = nearest_of_kind(kind, (row.x, row.y, row.z), seen, lambda pair: (pair[0][1], pair[0][3:6]))
    return None if nearest is None else stated(nearest[1])


def stated(covariance: ArrayLike) -> NDArray[np.float64] | None:
    """Returns a covariance of nine numbers as (3, 3); None where it states no error: not finite, or not positive."""
    matrix = np.asarray(covariance, dtype=np.float64).reshape(3, 3)
    return matrix if np.isfinite(matrix).all() and (np.diag(matrix) > 0.0).all() else None


def place_on_earth(origin: Origin | None, position: ArrayLike, covariance: NDArray[np.float64] | None) -> Where | None:
    """Returns a place (3,) m of the map on Earth; None where nobody knows where the map lies.

    covariance: (3, 3) m², map; None: not known. The map's east and north are taken for those at the place, which they
    are to a thousandth of a degree a hundred metres.
    """
    if origin is None:
        return None
    latitude, longitude, altitude = origin.to_geodetic(position)
    grid = grid_position(latitude, longitude)
    utm, mgrs = ("", "") if grid is None else (grid.utm, grid.mgrs)
    error = None if covariance is None else radius_95(covariance[:2, :2])
    return Where(latitude=latitude, longitude=longitude, altitude=altitude, utm=utm, mgrs=mgrs, error=error)


def places_of(record: EpisodeRecord, claims: Iterable[Claim]) -> list[Where | None]:
    """Returns where each claim lies on Earth; None of one without a place."""
    origin = record.origin
    return [
        None
        if claim.position is None
        else place_on_earth(origin, claim.position, covariance_of(record, claim.vehicle, claim.row))
        for claim in claims
    ]


def told_reports(record: EpisodeRecord, start: int, after: int, until: int) -> Iterator[str]:
    """Yields a line for each report with after < stamp <= until (ns); start: of the mission."""
    origin = record.origin
    for vehicle, row in record.all_rows(names.REPORTS):
        if after < row.stamp <= until:
            position = (row.x, row.y, row.z)
            is_placed = row.frame == names.MAP and bool(np.isfinite(position).all())
            where = place_on_earth(origin, position, covariance_of(record, vehicle, row)) if is_placed else None
            what = f"{(row.stamp - start) / NANO:.0f} s, {vehicle}: {row.text or row.kind}, {row.confidence:.0%} sure"
            yield what if where is None else f"{what}: {where.words}"
