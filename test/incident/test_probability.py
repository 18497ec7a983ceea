"""POA and POD of an incident as they stand, and its page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from esar_ros.incident.debrief import debrief_page
from esar_ros.incident.features import (
    Area,
    AreaKind,
    Find,
    FindState,
    Floats,
    Mover,
    Place,
    PlaceKind,
    Position,
    Raster,
    Search,
    Track,
)
from esar_ros.incident.ground import Ground
from esar_ros.incident.prior.mixing import segments
from esar_ros.incident.probability import by_segment, cells_in, closed_cells, poa_ground, stand
from esar_ros.incident.rasters import ELEVATION, POA, POD
from esar_ros.incident.store import Incident
from esar_ros.mission.errors import UsageError

pytest.importorskip("rasterio")
pytest.importorskip("geopandas")
GROUND = Ground(np.full((60, 60), 1000.0), 500_000.0, 3_764_000.0, 20.0, "EPSG:32648")


def raster(name: str, values: Floats, unit: str, cell: float = 20.0) -> Raster:
    return Raster(name, values.astype(np.float32), GROUND.west, GROUND.north, cell, GROUND.crs, unit)


def square(left: int, top: int, side: int, kind: AreaKind, pod: float | None = None) -> Area:
    corners = ((left, top), (left + side, top), (left + side, top + side), (left, top + side))
    ring = [GROUND.to_geodetic(GROUND.west + 20.0 * c, GROUND.north - 20.0 * r)[::-1] for c, r in corners]
    return Area("square", kind, np.array(ring), pod=pod)


@pytest.fixture
def incident(tmp_path: Path) -> Incident:
    poa = np.full((60, 60), 0.8 / 3600.0)
    search = Search(
        "valley", places=[Place("IPP", PlaceKind.IPP, Position(*GROUND.to_geodetic(500_600.0, 3_763_400.0)))]
    )
    search.rasters = [raster("elevation", GROUND.heights, ELEVATION), raster("prior", poa, POA)]
    search.areas = segments(poa, GROUND)
    return Incident.create(tmp_path / "valley", search, {"subject": "hiker", "time": "", "by_words": "0"}, "Words <b>.")


def test_before_anything_is_done_it_is_the_first_poa(incident: Incident) -> None:
    now, pod = stand(incident)
    assert now.success == 0.0 and not pod.any()
    assert now.normalised.sum() + now.normalised_rest == pytest.approx(1.0, abs=1e-9)
    assert now.normalised_rest == pytest.approx(0.2, abs=1e-6)


def test_looks_of_finer_cells_and_searched_ground_both_count(incident: Incident) -> None:
    seen = np.zeros((240, 240))
    seen[:120] = 0.5  # cells of 5 m: the northern half
    incident.search.rasters.append(raster("flight", seen, POD, 5.0))
    incident.search.areas.append(square(0, 0, 30, AreaKind.SEARCHED, 0.6))  # its north-western quarter, 600 m
    incident.search.areas.append(square(0, 30, 30, AreaKind.SEARCHED))  # no POD is told: not counted
    now, pod = stand(incident)
    assert pod[10, 10] == pytest.approx(0.8) and pod[10, 50] == pytest.approx(0.5) and pod[50, 10] == 0.0
    assert now.success == pytest.approx(0.8 * (0.25 * 0.8 + 0.25 * 0.5), rel=1e-6)
    assert now.normalised.sum() + now.normalised_rest == pytest.approx(1.0, abs=1e-9)
    told = {area.name: area for area in by_segment(incident, now, pod)}
    assert told["A1"].pod == pytest.approx(0.8) and told["D4"].pod == pytest.approx(0.0)
    assert sum(area.poa or 0.0 for area in told.values()) == pytest.approx(now.normalised.sum())
    assert (told["A1"].poa or 0.0) < (told["D4"].poa or 0.0)


def test_zones_and_what_lies_off_the_search_area_are_closed() -> None:
    search = Search("valley")
    assert closed_cells(search, GROUND) is None
    search.areas = [square(0, 0, 10, AreaKind.NO_FLY), square(0, 0, 20, AreaKind.SEARCH)]
    closed = closed_cells(search, GROUND)
    assert closed is not None and closed[5, 5] and not closed[15, 15] and closed[25, 25]
    assert cells_in([square(3, 2, 4, AreaKind.SEGMENT)], GROUND).sum() == 16


def test_without_a_poa_it_is_told_how_to_make_one(tmp_path: Path) -> None:
    bare = Incident.create(tmp_path / "bare", Search("bare"), {}, "")
    with pytest.raises(UsageError, match="has no probability of area: make it: esar incident new"):
        poa_ground(bare)


def test_the_page_tells_finds_ground_and_ways_and_holds_no_foreign_markup(incident: Incident) -> None:
    here = Position(*GROUND.to_geodetic(500_700.0, 3_763_500.0))
    incident.search.finds = [
        Find("7", "tent", here, 9.0 * np.eye(2), probability=0.75, time=1.6e9, note="<script>alert(1)</script>"),
        Find("8", "person", here, state=FindState.DISMISSED),
        Find("9", "backpack", here, probability=0.06),
    ]
    line = np.linspace(0.0, 0.002, 5)
    minutes = np.array(60.0 * np.arange(5), dtype=np.float64)
    track = Track("Team <1>", Mover.PERSON, here.latitude + line, here.longitude + line, line, 1.6e9 + minutes)
    incident.search.tracks = [track]
    page = debrief_page(incident)
    assert "75.0 %" in page and "MGRS 48S" in page and "dismissed" in page and "Team &lt;1&gt;" in page
    assert "backpack" not in page and "in the layer <code>finds</code> alone: 1." in page
    assert "<script" not in page and "Words &lt;b&gt;." in page and "data:image/png;base64," in page
    assert "http:" not in page and "https:" not in page
