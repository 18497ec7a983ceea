"""Canopy of any raster: percent and shares, no data, another place; and what it leaves of a plan and a look."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from esar_ros.incident.canopy import read_canopy
from esar_ros.incident.ground import Ground
from esar_ros.mission.errors import UsageError
from esar_ros.sim.terrain import map_layers

rasterio = pytest.importorskip("rasterio")
GROUND = Ground(np.full((50, 60), 500.0), 500_000.0, 3_764_000.0, 20.0, "EPSG:32648")


def written(path: Path, values: np.ndarray, west: float = 500_000.0, crs: str | None = "EPSG:32648") -> Path:
    place = rasterio.Affine(10.0, 0.0, west, 0.0, -10.0, 3_764_000.0)
    rows, columns = values.shape
    with rasterio.open(path, "w", "GTiff", columns, rows, 1, crs=crs, transform=place, dtype=values.dtype) as dataset:
        dataset.write(values, 1)
    return path


def test_percent_of_finer_cells_are_averaged_and_what_exceeds_it_is_no_data(tmp_path: Path) -> None:
    percent = np.full((100, 120), 40, np.uint8)
    percent[0, 0] = 80
    percent[20:40, :] = 255
    canopy = read_canopy(written(tmp_path / "a.tif", percent), GROUND)
    assert canopy.shape == (50, 60) and canopy[0, 0] == pytest.approx(0.5) and canopy[5, 5] == pytest.approx(0.4)
    assert np.isnan(canopy[12, 5])


def test_fractions_are_shares_of_one_and_whole_numbers_are_percent(tmp_path: Path) -> None:
    shares = read_canopy(written(tmp_path / "a.tif", np.full((100, 120), 0.7, np.float32)), GROUND)
    assert shares[3, 3] == pytest.approx(0.7)
    few = read_canopy(written(tmp_path / "b.tif", np.full((100, 120), 1, np.uint8)), GROUND)
    assert few[3, 3] == pytest.approx(0.01)


def test_of_a_tile_of_the_earth_the_part_about_the_map_alone_is_read(tmp_path: Path) -> None:
    """Hansen's are of 40,000 x 40,000 cells: as a whole they would take 27 GB."""
    side = 12_000
    place = rasterio.Affine(10.0, 0.0, 500_000.0 - 10.0 * side / 2, 0.0, -10.0, 3_764_000.0 + 10.0 * side / 2)
    told = {"crs": "EPSG:32648", "transform": place, "dtype": "uint8", "tiled": True, "sparse_ok": True}
    with rasterio.open(tmp_path / "a.tif", "w", "GTiff", side, side, 1, **told) as dataset:
        part = rasterio.windows.Window(side // 2 - 100, side // 2 - 100, 300, 300)
        dataset.write(np.full((300, 300), 40, np.uint8), 1, window=part)
    tracemalloc.start()
    canopy = read_canopy(tmp_path / "a.tif", GROUND)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert canopy == pytest.approx(np.full((50, 60), 0.4)) and peak < 20e6


def test_a_raster_that_is_turned_or_of_fractions_is_read_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turned = rasterio.Affine(0.0, 10.0, 499_000.0, -10.0, 0.0, 3_765_000.0)
    for name, kind, share in (("a.tif", np.uint8, 40), ("b.tif", np.float32, 0.4)):
        told = {"crs": "EPSG:32648", "transform": turned, "dtype": kind}
        with rasterio.open(tmp_path / name, "w", "GTiff", 300, 300, 1, **told) as dataset:
            dataset.write(np.full((300, 300), share, kind), 1)
        assert read_canopy(tmp_path / name, GROUND)[10, 10] == pytest.approx(0.4)
    monkeypatch.setattr(map_layers, "_MOST_CELLS", 1000)
    with pytest.raises(UsageError, match="300 x 300 cells, at most 0 million are read: cut out the part about the map"):
        read_canopy(tmp_path / "b.tif", GROUND)


def test_another_place_and_what_is_no_raster_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not reach"):
        read_canopy(written(tmp_path / "a.tif", np.full((10, 10), 40, np.uint8), west=600_000.0), GROUND)
    with pytest.raises(UsageError, match="does not say its coordinate system"):
        read_canopy(written(tmp_path / "b.tif", np.full((10, 10), 40, np.uint8), crs=None), GROUND)
    site = 'LOCAL_CS["site",UNIT["metre",1]]'
    with pytest.raises(UsageError, match="its coordinate system puts it nowhere on Earth"):
        read_canopy(written(tmp_path / "d.tif", np.full((10, 10), 40, np.uint8), crs=site), GROUND)
    (tmp_path / "c.tif").write_text("words")
    with pytest.raises(UsageError, match="is no raster"):
        read_canopy(tmp_path / "c.tif", GROUND)
