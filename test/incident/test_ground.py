"""The elevation model: places on its grid, its north, heights, lines cast on it, and files that are none."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio

from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import Raster
from esar_ros.incident.ground import Ground, read_ground, utm_zone
from esar_ros.mission.errors import UsageError
from helpers.hills import CRS, LATITUDE, LONGITUDE, NORTH, WEST, hills

GROUND = hills()


def test_grid_and_degrees_go_there_and_back() -> None:
    x, y = GROUND.to_grid(LATITUDE, LONGITUDE)
    assert GROUND.to_geodetic(x, y) == pytest.approx((LATITUDE, LONGITUDE), abs=1e-10)


@pytest.mark.parametrize("longitude", [102.5, 105.0, 107.9])
def test_convergence_turns_true_north_to_the_grids(longitude: float) -> None:
    x, y = GROUND.to_grid(LATITUDE, longitude)
    latitude, east, _ = Origin(LATITUDE, longitude, 0.0).to_geodetic([0.0, 100.0, 0.0])
    ahead = GROUND.to_grid(latitude, east)
    grid_azimuth = math.degrees(math.atan2(ahead[0] - x, ahead[1] - y))
    assert grid_azimuth == pytest.approx(-GROUND.convergence(LATITUDE, longitude), abs=1e-3)


def test_heights_are_those_of_cells_and_between() -> None:
    x, y = WEST + 10.5 * GROUND.cell, NORTH - 20.5 * GROUND.cell
    assert GROUND.height(x, y) == GROUND.heights[20, 10]
    assert GROUND.height(x + 2.5, y) == pytest.approx(GROUND.heights[20, 10:12].mean())
    assert math.isnan(GROUND.height(WEST - 1.0, y))
    places = np.array([GROUND.to_geodetic(x + 2.5, y), (LATITUDE, LONGITUDE), (35.0, 107.0)])
    below = GROUND.under(*places.T)
    assert below[:2] == pytest.approx([GROUND.height(x + 2.5, y), GROUND.height(*GROUND.to_grid(LATITUDE, LONGITUDE))])
    assert math.isnan(below[2])


def test_a_line_ends_on_the_ground() -> None:
    origin = np.array([WEST + 600.0, NORTH - 600.0, 1600.0])
    direction = np.array([0.6, 0.3, -0.5]) / np.linalg.norm([0.6, 0.3, -0.5])
    far = GROUND.cast(origin, direction, 1000.0)
    end = origin + far * direction
    assert end[2] == pytest.approx(GROUND.height(end[0], end[1]), abs=0.02)
    assert math.isnan(GROUND.cast(origin, np.array([0.0, 0.0, 1.0]), 1000.0))
    assert math.isnan(GROUND.cast(origin, direction, far - 1.0))


def test_a_raster_of_degrees_comes_to_its_zone(tmp_path: Path) -> None:
    step, side = 1e-4, 120
    longitude, latitude = 107.0 + (np.arange(side) + 0.5) * step, 34.0 - (np.arange(side) + 0.5) * step
    heights = 1500.0 + 1e4 * (longitude[None, :] - 107.0) + 2e4 * (latitude[:, None] - 34.0)
    profile = {"driver": "GTiff", "width": side, "height": side, "count": 1, "dtype": "float32", "crs": "EPSG:4326"}
    place = rasterio.Affine(step, 0, 107.0, 0, -step, 34.0)
    with rasterio.open(tmp_path / "a.tif", "w", transform=place, **profile) as out:
        out.write(heights.astype(np.float32), 1)
    ground = read_ground(tmp_path / "a.tif")
    assert ground.crs == CRS
    x, y = ground.to_grid(34.0 - 60.3 * step, 107.0 + 44.7 * step)
    assert ground.height(x, y) == pytest.approx(1500.0 + 44.7 - 120.6, abs=0.1)


def tile(path: Path, west: float, north: float, width: float, crs: str = "EPSG:4326", step: float = 0.002) -> Path:
    """A level model of degrees (or metres), half as high as it is wide."""
    columns = round(width / step)
    profile = {"driver": "GTiff", "width": columns, "height": columns // 2, "count": 1, "dtype": "float32", "crs": crs}
    with rasterio.open(path, "w", transform=rasterio.Affine(step, 0, west, 0, -step, north), **profile) as out:
        out.write(np.full((columns // 2, columns), 700.0, np.float32), 1)
    return path


@pytest.mark.parametrize(
    ("west", "north", "width", "about", "crs"),
    [
        (9.5, 49.0, 2.0, (48.7, 9.6), "EPSG:32632"),  # of a model whose middle lies in the next zone's
        (9.5, 49.0, 6.0, (47.5, 15.3), "EPSG:32633"),
        (288.7, 44.28, 0.2, (44.25, -71.25), "EPSG:32619"),  # longitudes to 360
        (179.9, -16.7, 0.2, (-16.75, -179.95), "EPSG:32701"),  # over the antimeridian
        (9.5, 49.0, 0.2, (15.0, 100.0), "EPSG:32632"),  # off the model: the middle's, and it reaches nowhere near
    ],
)
def test_the_zone_is_that_of_the_search(
    tmp_path: Path, west: float, north: float, width: float, about: tuple[float, float], crs: str
) -> None:
    ground = read_ground(tile(tmp_path / "a.tif", west, north, width), about)
    assert ground.crs == crs
    height = ground.under(*(np.array([degrees]) for degrees in about))[0]
    assert height == pytest.approx(700.0) or (about[0] == 15.0 and math.isnan(height))


def test_a_model_over_the_antimeridian_has_its_middle_there(tmp_path: Path) -> None:
    source = tile(tmp_path / "a.tif", 818_000.0, 8_144_000.0, 12_000.0, "EPSG:32760", 30.0)
    assert read_ground(source).crs in ("EPSG:32760", "EPSG:32701")


def elevation(path: Path, value: float, crs: str, told: dict[str, Any]) -> Path:
    bands, kind = told.get("count", 1), told.get("dtype", "float32")
    profile = {"driver": "GTiff", "width": 40, "height": 40, "count": bands, "dtype": kind, "crs": crs}
    place = told.get("place", rasterio.Affine(1e-4, 0, 7.0, 0, -1e-4, 46.0))
    with rasterio.open(path, "w", transform=place, photometric=told.get("shown", "MINISBLACK"), **profile) as out:
        for band in range(1, bands + 1):
            out.write(np.full((40, 40), value, kind), band)
        out.units = [told.get("unit")] * bands
        out.scales = [told.get("scale", 1.0)] * bands
        out.offsets = [told.get("offset", 0.0)] * bands
    return path


@pytest.mark.parametrize(
    ("value", "crs", "told"),
    [
        (900.0, "EPSG:4326", {}),
        (900.0, "EPSG:4326", {"unit": "m above mean sea level"}),
        (900.0 / 0.3048, "EPSG:4326", {"unit": "ft"}),
        (900.0 * 3937.0 / 1200.0, "EPSG:4326", {"unit": "US survey foot"}),
        (900.0 * 3937.0 / 1200.0, "EPSG:4269+6360", {}),  # NAVD 88 in feet of the US survey
        (900.0 / 0.3048, "EPSG:4269+8228", {}),  # NAVD 88 in feet
        (900.0, "EPSG:4326+5773", {}),  # EGM96
        (4000, "EPSG:4326", {"dtype": "int16", "scale": 0.1, "offset": 500.0}),
    ],
)
def test_heights_in_any_unit_become_metres(tmp_path: Path, value: float, crs: str, told: dict[str, Any]) -> None:
    ground = read_ground(elevation(tmp_path / "a.tif", value, crs, told))
    assert np.nanmean(ground.heights) == pytest.approx(900.0, abs=1e-3)


@pytest.mark.parametrize(
    ("value", "crs", "told", "said"),
    [
        (900.0, "EPSG:4979", {}, "above the ellipsoid"),
        (900.0, "EPSG:4326", {"unit": "m above ellipsoid"}, "above the ellipsoid"),
        (900.0, "EPSG:4326+5715", {}, "depths"),
        (900.0, "EPSG:4326", {"unit": "fathom"}, "in 'fathom'"),
        (120, "EPSG:4326", {"dtype": "uint8", "count": 3}, "a picture of 3 bands"),
        (900, "EPSG:4326", {"dtype": "uint16", "count": 3, "shown": "RGB"}, "a picture of 3 bands"),
        (900.0, "EPSG:4326", {"place": rasterio.Affine.identity()}, "has no georeference"),
        (900.0, "EPSG:4326", {"place": rasterio.Affine(30, 0, 6e5, 0, -30, 5e6)}, "puts it nowhere on Earth"),
        (900.0, 'LOCAL_CS["site",UNIT["metre",1]]', {}, "puts it nowhere on Earth"),
        (-9999.0, "EPSG:4326", {}, "no heights"),
    ],
)
def test_what_are_no_heights_above_the_sea_is_refused(
    tmp_path: Path, value: float, crs: str, told: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        read_ground(elevation(tmp_path / "a.tif", value, crs, told))


def test_a_scanned_map_is_no_elevation_model(tmp_path: Path) -> None:
    """Its numbers are those of its colours."""
    path = elevation(tmp_path / "a.tif", 120, "EPSG:4326", {"dtype": "uint8"})
    with rasterio.open(path, "r+") as out:
        out.write_colormap(1, {n: (n, n, n, 255) for n in range(256)})
    with pytest.raises(UsageError, match="a picture of 1 bands: give an elevation model"):
        read_ground(path)


@pytest.mark.parametrize("content", [b"", b"no raster"])
def test_what_is_no_elevation_model_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.tif").write_bytes(content)
    with pytest.raises(UsageError, match=r"a\.tif"):
        read_ground(tmp_path / "a.tif")


def test_zones() -> None:
    assert utm_zone(34.0, 107.0) == CRS
    assert utm_zone(-8.3, 115.4) == "EPSG:32750"
    assert utm_zone(10.0, 180.0) == "EPSG:32660"
    assert utm_zone(44.0, 288.7) == utm_zone(44.0, -71.3) == "EPSG:32619"


def test_a_feature_becomes_ground() -> None:
    raster = Raster("dem", np.full((4, 4), 7.0, np.float32), 0.0, 40.0, 10.0, CRS, "m")
    assert Ground.of(raster).height(20.0, 20.0) == 7.0


def test_coarser_cells_are_means_at_the_same_place() -> None:
    coarse = GROUND.coarser(12.0)
    assert coarse.cell == 10.0
    assert coarse.heights[3, 4] == pytest.approx(GROUND.heights[6:8, 8:10].mean())
    assert coarse.height(WEST + 45.0, NORTH - 35.0) == pytest.approx(coarse.heights[3, 4])
    assert GROUND.coarser(7.0) is GROUND
