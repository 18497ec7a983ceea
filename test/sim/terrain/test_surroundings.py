"""Ground around an imported map: of the same model, as far as that reaches, and joined to the map's own border."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from esar_ros.mission.errors import UsageError
from esar_ros.sim.terrain.far_terrain import SURVEYED, build_far_terrain, far_grid, paint_far_terrain
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.map_import import Imported, ImportOptions, import_map
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.sim.terrain.surroundings import OUTWARD, REACH, ring_points, sample_rings

rasterio = pytest.importorskip("rasterio")
pyproj = pytest.importorskip("pyproj")

EAST, NORTH = 500_000.0, 3_760_000.0  # UTM 48N, about 33.98 degrees north
SCALE = 0.9996  # of UTM on its central meridian
CELL = 80.0  # m
RADIUS = 6_378_137.0  # m


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESAR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ESAR_MAPS", str(tmp_path / "maps"))


def altitude(east: Any, north: Any) -> NDArray[np.float64]:
    """A broad mountain 6 km east of the map, on a plain that rises northwards."""
    return np.asarray(1800.0 + 0.01 * north + 900.0 * np.exp(-((east - 6000.0) ** 2 + north**2) / (2.0 * 1500.0**2)))


def imported(folder: Path, west: float, east: float, north: float = 24_000.0) -> Imported:
    """A map of 2 km, of a model that reaches so far from its centre (m)."""
    x, y = np.arange(-west + CELL / 2, east, CELL), np.arange(north - CELL / 2, -north, -CELL)
    heights = altitude(*np.meshgrid(x, y)).astype(np.float32)
    with rasterio.open(
        folder / "model.tif", "w", driver="GTiff", height=len(y), width=len(x), count=1, dtype="float32",
        crs="EPSG:32648", transform=rasterio.transform.from_origin(EAST - west, NORTH + north, CELL, CELL),
    ) as file:  # fmt: skip
        file.write(heights, 1)
    longitude, latitude = pyproj.Transformer.from_crs("EPSG:32648", "EPSG:4326", always_xy=True).transform(EAST, NORTH)
    options = ImportOptions("valley", "alpine", 2000.0, 129, (latitude, longitude))
    return import_map(folder / "model.tif", options)


def rows(place: PlaceMap) -> NDArray[np.float32]:
    """Vertices (rings, points, 3) of what is drawn around a place."""
    made = build_far_terrain(place, far_grid(place, fine=True))
    return made.vertices.reshape(len(OUTWARD), -1, 6)[..., :3]


def test_what_is_drawn_around_the_map_is_the_model(tmp_path: Path) -> None:
    made = imported(tmp_path, 24_000.0, 24_000.0)
    assert made.around == 1.0
    place = load_map("valley")
    assert far_grid(place, fine=False) is far_grid(place, fine=True) is SURVEYED
    drawn = rows(place)
    assert np.abs(drawn[-1, :, :2]).max() == pytest.approx(place.size / 2 + REACH)
    east, north = drawn[..., 0].astype(float), drawn[..., 1].astype(float)
    truth = altitude(SCALE * east, SCALE * north) - place.origin.altitude - (east**2 + north**2) / (2.0 * RADIUS)
    beyond = np.array(OUTWARD) > 250.0
    # UTM stretches with the square of the distance from its meridian, by 5 m at the corners.
    assert np.abs(drawn[..., 2] - truth)[beyond].max() < 8.0
    assert drawn[..., 2].max() > 700.0  # the mountain


def test_it_meets_the_map_at_its_border(tmp_path: Path) -> None:
    imported(tmp_path, 24_000.0, 24_000.0)
    place = load_map("valley")
    edge = rows(place)[0]
    assert edge[:, 2] == pytest.approx(place.ground_height(edge[:, :2].astype(float)), abs=0.01)


def test_without_data_it_is_invented_and_goes_over_without_a_step(tmp_path: Path) -> None:
    made = imported(tmp_path, 3000.0, 24_000.0)
    assert 0.4 < made.around < 0.7
    place = load_map("valley")
    assert place.surroundings is not None
    drawn, known = rows(place), np.isfinite(place.surroundings.heights)
    assert known[:, np.abs(ring_points(1000.0)[-1, :, 0] - 21_000.0) < 1.0].all()
    assert not known[-1, np.abs(ring_points(1000.0)[-1, :, 0] + 21_000.0) < 1.0].any()
    assert np.isfinite(drawn).all() and drawn[..., 2][~known].std() > 1.0
    model = np.where(known, place.surroundings.heights, 0.0)
    well_within = known & (ring_points(1000.0)[..., 0] > 0.0) & (np.array(OUTWARD) > 250.0)[:, None]
    assert np.abs(drawn[..., 2] - model)[well_within].max() < 0.1
    steepest = np.abs(np.diff(drawn[..., 2], axis=0)) / np.diff(OUTWARD)[:, None]
    assert steepest.max() < 2.0


def test_a_model_of_the_map_alone_leaves_the_horizon_as_it_was(tmp_path: Path) -> None:
    made = imported(tmp_path, 1200.0, 1200.0, 1200.0)
    assert made.around == 0.0 and made.spec.surroundings is None
    assert load_map("valley").surroundings is None and not list((tmp_path / "maps").glob("*.ring.npz"))


def test_it_has_the_colours_of_the_maps_own_ground(tmp_path: Path) -> None:
    imported(tmp_path, 24_000.0, 24_000.0)
    place = load_map("valley")
    assert place.surroundings is not None
    meadow = dataclasses.replace(
        place,
        surroundings=dataclasses.replace(
            place.surroundings, cover=np.full_like(place.surroundings.cover, LandCover.GRASS)
        ),
        land_cover=np.full_like(place.land_cover, LandCover.GRASS),
    )
    albedo = np.empty((64, 64, 3), dtype=np.uint8)
    albedo[:] = (200, 90, 40)
    paint = paint_far_terrain(meadow, albedo, SURVEYED)
    assert np.abs(paint - (np.array([200, 90, 40]) / 255.0) ** 2).max() < 1e-3
    woods = dataclasses.replace(
        meadow,
        surroundings=dataclasses.replace(
            place.surroundings, cover=np.full_like(place.surroundings.cover, LandCover.FOREST)
        ),
    )
    dark = paint_far_terrain(woods, albedo, SURVEYED).reshape(len(OUTWARD), -1, 3)
    assert dark[0] == pytest.approx(paint[:256], abs=1e-6) and dark[-1].max() < 0.08


def test_the_sea_stays_level_around_a_shore(tmp_path: Path) -> None:
    def shore(east: NDArray[np.float64], north: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(east < 500.0, -40.0, 0.1 * (east - 500.0)) + 0.0 * north

    assert sample_rings(lambda east, north: np.full(east.shape, np.nan), 1000.0) is None
    heights = sample_rings(lambda east, north: np.maximum(shore(east, north), 0.0), 1000.0)
    assert heights is not None and heights.min() == 0.0


def test_what_was_changed_or_is_missing_is_refused(tmp_path: Path) -> None:
    made = imported(tmp_path, 24_000.0, 24_000.0)
    file = made.path.with_suffix(".ring.npz")
    kept = file.read_bytes()
    digest = load_map("valley").digest
    file.write_bytes(kept + b"x")
    with pytest.raises(UsageError, match="is not what the map was made with"):
        load_map("valley")
    file.unlink()
    with pytest.raises(UsageError, match="cannot read the ground around the map"):
        load_map("valley")
    file.write_bytes(kept)
    assert load_map("valley").digest == digest
