"""A photograph, land cover and tracks come onto an imported map, or are refused in one line."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.sim.render.detail_textures import paint_noise
from esar_ros.sim.render.ground_bake import GroundBake
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.map_import import ImportOptions, import_map
from esar_ros.sim.terrain.map_layers import Square, read_cover, read_photo
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.sim.terrain.relief import surface_normals

rasterio = pytest.importorskip("rasterio")
pyproj = pytest.importorskip("pyproj")
pyogrio = pytest.importorskip("pyogrio")
geopandas, pandas, shapely = (pytest.importorskip(name) for name in ("geopandas", "pandas", "shapely"))

UTM_48N = "EPSG:32648"
EAST, NORTH = 500_000.0, 3_760_000.0
HALF, SIZE, SAMPLES = 700.0, 800.0, 129  # m, m
RED, GREEN = (0.30, 0.06, 0.05), (0.06, 0.24, 0.05)  # linear


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESAR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ESAR_MAPS", str(tmp_path / "maps"))


def raster(path: Path, bands: np.ndarray, cell: float, crs: str = UTM_48N) -> Path:
    with rasterio.open(
        path, "w", driver="GTiff", height=bands.shape[1], width=bands.shape[2], count=len(bands), dtype=bands.dtype,
        crs=crs, transform=rasterio.transform.from_origin(EAST - HALF, NORTH + HALF, cell, cell),
    ) as file:  # fmt: skip
        file.write(bands)
    return path


def grid(cell: float) -> tuple[np.ndarray, np.ndarray]:
    axis = np.arange(-HALF + cell / 2, HALF, cell)
    return np.meshgrid(axis, -axis)


def altitude(east: np.ndarray, north: np.ndarray) -> np.ndarray:
    return 1500.0 + 60.0 * np.sin(east / 110.0) * np.cos(north / 90.0)


def model(folder: Path) -> Path:
    return raster(folder / "dem.tif", altitude(*grid(10.0)).astype(np.float32)[None], 10.0)


def photo(folder: Path, sun: tuple[float, float, float] = (0.0, 0.0, 1.0), crs: str = UTM_48N) -> Path:
    """Red in the east and green in the west, lit by a sun."""
    east, north = grid(2.0)
    colour = np.where(east[..., None] > 0.0, np.array(RED), np.array(GREEN))
    step = np.gradient(altitude(east, north), 2.0)
    normals = np.stack([-step[1], step[0], np.ones_like(east)], axis=-1)
    light = normals @ np.array(sun) / np.linalg.norm(normals, axis=-1)
    lit = np.clip(colour * np.maximum(light, 0.0)[..., None], 0.0, 1.0)
    grey = np.where(lit <= 0.0031308, 12.92 * lit, 1.055 * lit ** (1 / 2.4) - 0.055)
    return raster(folder / "photo.tif", np.moveaxis(255 * grey, -1, 0).round().astype(np.uint8), 2.0, crs)


def cover(folder: Path, classes: np.ndarray | None = None) -> Path:
    """Wood in the north, built-up in the south-west, a raster's own no data in the south-east."""
    east, north = grid(10.0)
    told = np.where(north > 0.0, 10, np.where(east < 0.0, 50, 0)) if classes is None else classes
    return raster(folder / "cover.tif", told.astype(np.uint8)[None], 10.0)


def imported(folder: Path, **layers: Any) -> PlaceMap:
    import_map(model(folder), ImportOptions("own", "alpine", SIZE, SAMPLES, **layers))
    return load_map("own")


def test_a_photograph_is_the_colour_of_the_ground_where_it_lies_on_the_earth(tmp_path: Path) -> None:
    place = imported(tmp_path, photo=photo(tmp_path))
    albedo = (GroundBake(place, paint_noise()).albedo / 255.0) ** 2
    n = albedo.shape[0]
    open_ground = np.kron(place.land_cover[:-1, :-1], np.ones((2, 2))) != LandCover.FOREST
    for side, colour in ((slice(n // 2 + 4, n), RED), (slice(0, n // 2 - 4), GREEN)):
        shown = np.median(albedo[:, side][open_ground[:, side]], axis=0)  # borders of woods wander
        np.testing.assert_allclose(shown / shown.sum(), np.array(colour) / np.sum(colour), atol=0.03)


def test_the_photographs_own_light_is_taken_out(tmp_path: Path) -> None:
    square = Square(*_middle(), SIZE)
    axis = np.linspace(-SIZE / 2, SIZE / 2, SAMPLES)
    ground = altitude(*np.meshgrid(axis, axis))
    sun = np.array([0.5, 0.3, 0.81])
    path = tmp_path / "albedo.png"
    path.write_bytes(read_photo(photo(tmp_path, (0.5, 0.3, 0.81)), square, ground))
    from PIL import Image

    texels = (np.asarray(Image.open(path))[..., 0] / 255.0) ** 2
    east_half = texels[8:-8, texels.shape[1] // 2 + 8 : -8]
    lit = np.kron(surface_normals(ground.astype(np.float32), SIZE / (SAMPLES - 1)) @ sun, np.ones((2, 2)))
    n = texels.shape[0]
    lit = lit[:n, :n][8:-8, n // 2 + 8 : -8]
    # Red is red on either side of a hill: what is left goes with the light no more.
    assert east_half.std() / east_half.mean() < 0.25 * lit.std() / lit.mean()
    assert lit.std() / lit.mean() > 0.1


def _middle() -> tuple[float, float]:
    longitude, latitude = pyproj.Transformer.from_crs(UTM_48N, "EPSG:4326", always_xy=True).transform(EAST, NORTH)
    return latitude, longitude


def test_land_cover_is_as_told_and_made_up_where_it_is_not(tmp_path: Path) -> None:
    place = imported(tmp_path, cover=cover(tmp_path))
    middle = SAMPLES // 2
    assert (place.land_cover[middle + 2 :] == LandCover.FOREST).all()
    assert (place.land_cover[: middle - 2, : middle - 2] == LandCover.PAVED).all()
    assert len(np.unique(place.land_cover[: middle - 2, middle + 2 :])) > 1


def test_of_a_tile_of_the_earth_the_part_about_the_map_alone_is_read(tmp_path: Path) -> None:
    """ESA's are of 36,000 x 36,000 cells: as a whole they would take 11 GB."""
    side = 12_000
    place = rasterio.transform.from_origin(EAST - 5.0 * side, NORTH + 5.0 * side, 10.0, 10.0)
    told = {"crs": UTM_48N, "transform": place, "dtype": "uint8", "nodata": 0, "tiled": True, "sparse_ok": True}
    with rasterio.open(tmp_path / "a.tif", "w", "GTiff", side, side, 1, **told) as file:
        part = rasterio.windows.Window(side // 2 - 100, side // 2 - 100, 200, 200)
        file.write(np.full((200, 200), 10, np.uint8), 1, window=part)
    latitude, longitude = pyproj.Transformer.from_crs(UTM_48N, "EPSG:4326").transform(EAST, NORTH)
    tracemalloc.start()
    surface, known = read_cover(tmp_path / "a.tif", Square(latitude, longitude, SIZE), "alpine", np.zeros((129, 129)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert known == 1.0 and (surface == LandCover.FOREST).all() and peak < 20e6


def test_water_on_a_slope_is_not_believed(tmp_path: Path) -> None:
    east, _ = grid(10.0)
    place = imported(tmp_path, cover=cover(tmp_path, np.full_like(east, 80.0)))
    water = place.land_cover == LandCover.WATER
    rise = np.gradient(place.heights.astype(np.float64), place.cell)
    assert 0.0 < water.mean() < 0.5
    assert np.hypot(*rise)[water].max() < 0.2


def test_tracks_come_by_name_and_width_cut_at_the_edge(tmp_path: Path) -> None:
    to_degrees = pyproj.Transformer.from_crs(UTM_48N, "EPSG:4326", always_xy=True).transform

    def line(name: str | None, *places: tuple[float, float]) -> dict[str, Any]:
        ends = [list(to_degrees(EAST + x, NORTH + y)) for x, y in places]
        told = {"name": name, "width": 4.0}
        return {"type": "Feature", "properties": told, "geometry": {"type": "LineString", "coordinates": ends}}

    path = tmp_path / "roads.geojson"
    roads = [
        line("mill road", (-600.0, -20.0), (600.0, -20.0)),
        line(None, (0, 0), (0, 100)),
        line("far", (690, 690), (695, 695)),
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": roads}))
    place = imported(tmp_path, tracks=path)
    assert list(place.tracks) == ["mill road", "track"]
    package = tmp_path / "roads.gpkg"  # as QGIS saves it: with its styles in a table beside
    geopandas.read_file(path).to_file(package, driver="GPKG")
    pyogrio.write_dataframe(pandas.DataFrame([{"styleName": "red"}]), package, layer="layer_styles", driver="GPKG")
    assert list(imported(tmp_path, tracks=package).tracks) == ["mill road", "track"]
    np.testing.assert_allclose(place.tracks["mill road"][[0, -1]], [[-400.0, -20.0], [400.0, -20.0]], atol=0.5)
    assert place.track_width["mill road"] == 4.0


def test_tables_and_broken_lines_beside_tracks_cost_nothing(tmp_path: Path) -> None:
    """QGIS keeps its styles in a table of the same GeoPackage; a logger that was on for a moment leaves one point."""
    to_degrees = pyproj.Transformer.from_crs(UTM_48N, "EPSG:4326", always_xy=True).transform
    ends = [to_degrees(EAST + x, NORTH) for x in (-100.0, 100.0)]
    path = tmp_path / "roads.gpkg"
    lines = geopandas.GeoDataFrame({"name": ["mill road"]}, geometry=[shapely.LineString(ends)], crs="EPSG:4326")
    lines.to_file(path, layer="roads", driver="GPKG")
    pyogrio.write_dataframe(pandas.DataFrame({"styleName": ["plain"]}), path, layer="layer_styles", driver="GPKG")
    assert list(imported(tmp_path, tracks=path).tracks) == ["mill road"]
    point = [{"type": "LineString", "coordinates": [list(ends[0])]}, {"type": "LineString", "coordinates": ends}]
    features = [{"type": "Feature", "properties": {}, "geometry": geometry} for geometry in point]
    (tmp_path / "a.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    assert list(imported(tmp_path, tracks=tmp_path / "a.geojson").tracks) == ["track"]


def test_the_maps_digest_tells_its_picture(tmp_path: Path) -> None:
    bare = imported(tmp_path)
    assert imported(tmp_path, photo=photo(tmp_path)).digest != bare.digest


@pytest.mark.parametrize(
    ("layer", "make", "said"),
    [
        ("photo", lambda folder: folder / "no.tif", "is not there"),
        ("photo", lambda folder: model(folder), "has 1 bands"),
        ("photo", lambda folder: photo(folder, crs="EPSG:32633"), "does not reach the map"),
        ("photo", lambda folder: photo(folder, crs='LOCAL_CS["site",UNIT["metre",1]]'), "nowhere on Earth"),
        ("cover", lambda folder: cover(folder, np.full((140, 140), 7)), "none of ESA WorldCover's classes.*it has 7"),
        ("tracks", lambda folder: folder / "no.geojson", "is not there"),
        ("tracks", lambda folder: _text(folder, "nonsense"), "cannot be read"),
        ("tracks", lambda folder: _text(folder, '{"type": "FeatureCollection", "features": []}'), "no line of it"),
    ],
)
def test_what_is_no_layer_of_this_place_is_refused_in_one_line(
    tmp_path: Path, layer: str, make: Any, said: str
) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        imported(tmp_path, **{layer: make(tmp_path)})
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "maps" / "own.yaml").exists()


def test_a_picture_that_was_changed_is_refused(tmp_path: Path) -> None:
    imported(tmp_path, photo=photo(tmp_path))
    path = tmp_path / "maps" / "own.png"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(UsageError, match="not the picture the map was made with"):
        load_map("own")


def _text(folder: Path, text: str) -> Path:
    path = folder / "lines.geojson"
    path.write_text(text)
    return path
