"""Importing elevation models: a surveyed one, a projected tile with gaps, and everything that is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.app.maps import main as maps_command
from esar_ros.mission.errors import UsageError
from esar_ros.mission.map_files import known_maps, map_file
from esar_ros.sim.terrain.dem import ImportedDem
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.map_ground import generate
from esar_ros.sim.terrain.map_import import ImportOptions, import_map
from esar_ros.sim.terrain.maps import load_map

rasterio = pytest.importorskip("rasterio")
pytest.importorskip("rasterio.shutil")
pytest.importorskip("rasterio.vrt")
pytest.importorskip("pyproj")

Writer = Callable[..., Path]
UTM_48N = "EPSG:32648"
EAST, NORTH = 500_000.0, 3_760_000.0  # on the central meridian, 105 degrees east; about 33.98 degrees north


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESAR_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ESAR_MAPS", raising=False)


def write(path: Path, heights: np.ndarray, transform: Any, crs: str | None, nodata: float | None = None) -> Path:
    """A GeoTIFF of one band."""
    rows, columns = heights.shape
    with rasterio.open(
        path, "w", driver="GTiff", height=rows, width=columns, count=1, dtype="float32", crs=crs, transform=transform,
        nodata=nodata,
    ) as file:  # fmt: skip
        file.write(heights.astype(np.float32), 1)
    return path


def hills(east: np.ndarray, north: np.ndarray) -> np.ndarray:
    """Altitude (m) of smooth hills by UTM coordinates."""
    return 1800.0 + 90.0 * np.sin((east - EAST) / 310.0) * np.cos((north - NORTH) / 270.0) + 0.05 * (east - EAST)


def utm_tile(path: Path, cell: float = 12.5, half: float = 1600.0, holes: tuple[Any, ...] = (), **kind: Any) -> Path:
    """A tile of hills about EAST, NORTH with rectangular gaps (x, y, half width in m from the centre)."""
    axis = np.arange(-half + cell / 2, half, cell)
    east, north = np.meshgrid(EAST + axis, NORTH + axis[::-1])
    heights = hills(east, north)
    for x, y, reach in holes:
        heights[(np.abs(east - EAST - x) < reach) & (np.abs(north - NORTH - y) < reach)] = -9999.0
    transform = rasterio.transform.from_origin(EAST - half, NORTH + half, cell, cell)
    return write(path, heights, transform, kind.get("crs", UTM_48N), nodata=kind.get("nodata", -9999.0))


def options(**changes: Any) -> ImportOptions:
    return replace(ImportOptions(id="tile", character="alpine", size=1000.0, samples=257), **changes)


def test_a_utm_tile_keeps_its_heights_and_its_place(tmp_path: Path) -> None:
    made = import_map(utm_tile(tmp_path / "tile.tif"), options())
    assert made.cell == pytest.approx(12.5, rel=1e-2) and made.filled == 0.0
    assert "tile" in known_maps() and map_file("tile") == made.path
    place = load_map("tile")
    assert (place.size, place.samples) == (1000.0, 257)
    # UTM's scale on the central meridian is 0.9996, its north is true there: map metres are 1.0004 tile metres.
    points = np.random.default_rng(0).uniform(-480.0, 480.0, (500, 2))
    truth = hills(EAST + 0.9996 * points[:, 0], NORTH + 0.9996 * points[:, 1])
    found = place.ground_height(points) + place.origin.altitude
    assert np.abs(found - truth).max() < 2.5  # detail below 12.5 m is added: at most some decimetres a metre of cell
    assert np.sqrt(np.mean((found - truth) ** 2)) < 0.5
    assert place.origin.longitude == pytest.approx(105.0, abs=1e-4)
    assert float(place.ground_height((0.0, 0.0))) == 0.0


def test_the_same_file_gives_the_same_map_and_detail_is_added(tmp_path: Path) -> None:
    source = utm_tile(tmp_path / "tile.tif", cell=30.0)
    first = import_map(source, options(), tmp_path / "a")
    second = import_map(source, options(), tmp_path / "b")
    assert first.path.read_bytes() == second.path.read_bytes()
    assert (tmp_path / "a/tile.npz").read_bytes() == (tmp_path / "b/tile.npz").read_bytes()
    relief = first.spec.relief
    assert isinstance(relief, ImportedDem) and relief.finer is not None and relief.finer.amplitude > 0.0
    assert f"amplitude: {relief.finer.amplitude}" in first.path.read_text()
    without = first.spec.model_copy(update={"relief": relief.model_copy(update={"finer": None})})
    added = generate(first.spec, tmp_path / "a").heights - generate(without, tmp_path / "a").heights
    assert float(added.std()) == pytest.approx(relief.finer.amplitude, rel=0.05)


def test_a_survey_as_fine_as_the_map_is_left_alone(tmp_path: Path) -> None:
    made = import_map(utm_tile(tmp_path / "tile.tif", cell=4.0, half=600.0), options())
    relief = made.spec.relief
    assert isinstance(relief, ImportedDem) and relief.finer is None


def test_gaps_are_filled_smoothly(tmp_path: Path) -> None:
    whole = import_map(utm_tile(tmp_path / "whole.tif"), options(id="whole"))
    holed = import_map(utm_tile(tmp_path / "holed.tif", holes=((100.0, 50.0, 60.0), (-300.0, -200.0, 25.0))), options())
    assert whole.filled == 0.0 and 0.01 < holed.filled < 0.03
    points = np.array([[100.0, 50.0], [120.0, 30.0], [-300.0, -200.0]])
    gap = load_map("tile").ground_height(points) + holed.spec.origin.altitude
    truth = load_map("whole").ground_height(points) + whole.spec.origin.altitude
    assert np.abs(gap - truth).max() < 8.0  # of hills 90 m high, across gaps of 120 m


def test_a_surveyed_model_in_degrees(tmp_path: Path) -> None:
    """The Jacksboro fault, Tennessee: matplotlib's sample data, a USGS model with cells of a third of an arc second."""
    from matplotlib import cbook

    with np.load(cbook.get_sample_data("jacksboro_fault_dem.npz", asfileobj=False)) as dem:
        heights, dx, dy = dem["elevation"], float(dem["dx"]), float(dem["dy"])
        transform = rasterio.transform.from_origin(float(dem["xmin"]), float(dem["ymax"]), dx, dy)
    source = write(tmp_path / "jacksboro.tif", heights, transform, "EPSG:4269")
    assert maps_command(["import", str(source), "--id", "jacksboro", "--character", "alpine"]) == 0
    place = load_map("jacksboro")
    assert 36.0 < place.origin.latitude < 37.0 and -85.0 < place.origin.longitude < -84.0
    altitude = place.heights + place.origin.altitude
    assert heights.min() - 5.0 < altitude.min() and altitude.max() < heights.max() + 5.0
    assert np.ptp(altitude) > 100.0
    # The middle of the model is the centre of the map, north is up: compare with the model's own rows and columns.
    for x, y in ((0.0, 0.0), (600.0, 0.0), (0.0, 600.0), (-700.0, -500.0)):
        latitude, longitude, _ = place.origin.to_geodetic((x, y, 0.0))
        row, column = int((transform.f - latitude) / -transform.e), int((longitude - transform.c) / transform.a)
        around = heights[row - 2 : row + 3, column - 2 : column + 3]
        assert around.min() - 5.0 < float(place.ground_height((x, y))) + place.origin.altitude < around.max() + 5.0
    assert (place.land_cover == LandCover.FOREST).mean() > 0.3  # far below the tree line


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ({"crs": None}, {}, "does not say its coordinate system"),
        ({"crs": "EPSG:32718"}, {"centre": (33.98, 105.0)}, "too small|does not reach"),
        ({"crs": "EPSG:5714"}, {}, "does not place anything on Earth"),
        ({}, {"crs": "EPSG:0"}, "unusable coordinate system"),
        ({}, {"size": 4000.0}, "too small: a square of 4000 m"),
        ({}, {"centre": (34.4, 105.0)}, "too small"),
        ({"cell": 100.0}, {}, "too coarse"),
        ({"holes": ((0.0, 0.0, 3000.0),)}, {}, "all of it is no-data"),
        ({"holes": ((0.0, 0.0, 300.0),)}, {"centre": (33.9795, 105.0)}, "% of the square is no-data|holds no heights"),
        ({"holes": ((0.0, 0.0, 120.0),)}, {}, "a gap reaches 1.. m"),
        ({}, {"id": "aotai"}, "shipped map"),
        ({}, {"character": "lunar"}, "unknown character"),
        ({}, {"samples": 300}, "power of two"),
        *(({}, {"samples": count}, "--samples .*: between 65 and 4097") for count in (-3, 0, 1)),
        *(({}, {"size": size}, "--size .*: between 200 and 10000") for size in (0.0, float("nan"), float("inf"))),
        *(({}, {"max_hole": gap}, "--max-hole .*: between 0 and") for gap in (-1.0, float("nan"), float("inf"))),
        ({"crs": None}, {"crs": "EPSG:4979"}, "above the ellipsoid"),
        ({}, {"crs": "EPSG:32648+5715"}, "depths"),
        ({}, {"id": "Not An Id"}, "key id"),
    ],
)
def test_what_cannot_be_flown_is_refused_in_one_line(
    tmp_path: Path, kind: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    source = utm_tile(tmp_path / "tile.tif", **kind)
    with pytest.raises(UsageError, match=message) as refused:
        import_map(source, options(**changes))
    assert "\n" not in str(refused.value)
    assert not any((tmp_path / "cache/imported").glob("*.yaml"))


@pytest.mark.parametrize("own", [None, UTM_48N, f"{UTM_48N}+5773"])
def test_a_system_that_is_told_may_tell_the_unit_of_heights(tmp_path: Path, own: str | None) -> None:
    metres = import_map(utm_tile(tmp_path / "m.tif"), options())
    feet = f"{UTM_48N}+8228"  # NAVD 88 in feet
    made = import_map(utm_tile(tmp_path / "ft.tif", crs=own), options(id="feet", crs=feet))
    assert made.spec.origin.altitude == pytest.approx(0.3048 * metres.spec.origin.altitude, abs=0.01)
    of_file = import_map(utm_tile(tmp_path / "own.tif", crs=feet), options(id="own", crs=UTM_48N))
    assert of_file.spec.origin == made.spec.origin, "what --crs does not say, the file may"


def test_files_that_are_no_raster_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not there"):
        import_map(tmp_path / "absent.tif", options())
    (tmp_path / "text.tif").write_text("no raster")
    with pytest.raises(UsageError, match="is not a raster"):
        import_map(tmp_path / "text.tif", options())
    identity = write(tmp_path / "plain.tif", np.ones((64, 64)), rasterio.Affine.identity(), UTM_48N)
    with pytest.raises(UsageError, match="no georeference"):
        import_map(identity, options())


def test_a_shore_becomes_sea(tmp_path: Path) -> None:
    axis = np.arange(-1600.0 + 6.25, 1600.0, 12.5)
    east, _ = np.meshgrid(axis, axis)
    transform = rasterio.transform.from_origin(EAST - 1600.0, NORTH + 1600.0, 12.5, 12.5)
    source = write(tmp_path / "shore.tif", np.maximum(40.0 - 0.2 * east, -3.0), transform, UTM_48N)
    import_map(source, options(character="coastal"))
    place = load_map("tile")
    assert place.water_level == pytest.approx(-40.0, abs=0.5)
    assert bool(place.is_water((420.0, 0.0))) and not bool(place.is_water((100.0, 0.0)))
    assert float(place.ground_height((420.0, 0.0))) == pytest.approx(place.water_level, abs=1e-4)


def test_a_map_without_its_heights_says_so(tmp_path: Path) -> None:
    made = import_map(utm_tile(tmp_path / "tile.tif"), options())
    made.path.with_suffix(".npz").write_bytes(b"something else")
    with pytest.raises(UsageError, match="not those the map was made with"):
        load_map("tile")
    made.path.with_suffix(".npz").unlink()
    with pytest.raises(UsageError, match="cannot read the map's heights"):
        load_map("tile")


def test_an_npz_that_unpacks_to_more_than_the_map_is_refused(tmp_path: Path) -> None:
    made = import_map(utm_tile(tmp_path / "tile.tif"), options())
    file = made.path.with_suffix(".npz")
    np.savez_compressed(file, heights=np.zeros((257, 257)), more=np.zeros(10_000_000))
    text = made.path.read_text()
    digest = next(line.split()[1] for line in text.splitlines() if line.strip().startswith("sha256:"))
    made.path.write_text(text.replace(digest, hashlib.sha256(file.read_bytes()).hexdigest()))
    assert file.stat().st_size < 200_000
    with pytest.raises(UsageError, match="cannot read the map's heights: its compressed data hold more than 1 MB"):
        load_map("tile")


def test_a_file_that_names_others_is_not_opened(tmp_path: Path) -> None:
    """GDAL's virtual rasters name files and addresses, which it would read."""
    source = utm_tile(tmp_path / "tile.tif")
    with rasterio.open(source) as tile, rasterio.vrt.WarpedVRT(tile) as virtual:
        rasterio.shutil.copy(virtual, tmp_path / "tile.vrt", driver="VRT")
    with rasterio.open(tmp_path / "tile.vrt") as opened:
        assert opened.driver == "VRT"
    with pytest.raises(UsageError, match=r"tile\.vrt is not a raster of GTiff, AAIGrid"):
        import_map(tmp_path / "tile.vrt", options())


def test_an_ascii_grid_is_read(tmp_path: Path) -> None:
    source = utm_tile(tmp_path / "tile.tif")
    rasterio.shutil.copy(source, tmp_path / "tile.asc", driver="AAIGrid")
    assert import_map(tmp_path / "tile.asc", options(crs=UTM_48N)).cell == pytest.approx(12.5, rel=1e-3)


def test_a_raster_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    size = {"height": 100_000, "width": 100_000, "count": 1, "dtype": "float32"}
    with rasterio.open(tmp_path / "vast.tif", "w", driver="GTiff", crs=UTM_48N, sparse_ok=True, tiled=True, **size):
        pass
    with pytest.raises(UsageError, match="100000 x 100000 heights, at most 200 million are read: cut out"):
        import_map(tmp_path / "vast.tif", options())


def test_out_names_the_folder_to_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = utm_tile(tmp_path / "tile.tif")
    argv = ["import", str(source), "--id", "mine", "--character", "desert", "--size", "800", "--samples", "129"]
    assert maps_command([*argv, "--out", str(tmp_path / "maps")]) == 0
    assert f"export ESAR_MAPS={tmp_path / 'maps'}" in capsys.readouterr().out
    assert "mine" not in known_maps()
    monkeypatch.setenv("ESAR_MAPS", str(tmp_path / "maps"))
    assert "mine" in known_maps() and load_map("mine").horizon == "flat"


def test_without_the_extra_the_cure_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "rasterio", None)
    with pytest.raises(UsageError, match=r"maps import needs rasterio: .*esar_ros\[geo\]"):
        import_map(tmp_path / "any.tif", options())
