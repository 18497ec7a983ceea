"""Each shipped map against the published character of its place; numbers are those of the files' own comments."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from esar_ros.mission.map_files import shipped_maps
from esar_ros.sim.assets.meshes import assets
from esar_ros.sim.render.detail_textures import paint_noise
from esar_ros.sim.render.ground_bake import GroundBake
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.sim.world.scatter import NAMES, SPECIES, scatter

MAPS = ("aotai", "dapeng", "k2", "lop_nur")


@pytest.fixture(scope="module", params=MAPS)
def any_place(request: pytest.FixtureRequest) -> PlaceMap:
    return load_map(request.param)


def slopes(place: PlaceMap, count: int = 30_000) -> np.ndarray:
    """Slopes (deg) of random points on land."""
    xy = np.random.default_rng(3).uniform(-place.size / 2, place.size / 2, (count, 2))
    return np.degrees(place.slope(xy[~place.is_water(xy)]))


def shares(place: PlaceMap) -> dict[LandCover, float]:
    """Share of the map by land cover."""
    counts = np.bincount(place.land_cover.ravel(), minlength=len(LandCover)) / place.land_cover.size
    return {kind: float(counts[kind]) for kind in LandCover}


def altitudes(place: PlaceMap) -> tuple[float, float]:
    """Lowest and highest ground, m AMSL."""
    return float(place.heights.min()) + place.origin.altitude, float(place.heights.max()) + place.origin.altitude


def test_these_are_all() -> None:
    assert tuple(shipped_maps()) == MAPS


def test_every_map_is_whole(any_place: PlaceMap) -> None:
    place = any_place
    assert np.isfinite(place.heights).all()
    assert float(place.ground_height((0.0, 0.0))) == 0.0
    assert place.land_cover.max() < len(LandCover)
    assert place.tracks and place.structures
    for line in place.tracks.values():
        assert line.ndim == 2 and line.shape[1] == 2 and len(line) >= 2
        assert place.contains(line).all()
        assert np.hypot(*np.diff(line, axis=0).T).max() < 0.1 * place.size
        assert not place.is_water(line).any()
    for built in place.structures:
        assert built.asset in assets() and bool(place.contains(built.xy))
        assert not bool(place.is_water(built.xy)) and float(place.slope(built.xy)) < np.radians(35.0)


def test_clearings_are_level_and_bare(any_place: PlaceMap) -> None:
    place = any_place
    plants = scatter(place)
    angles = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    for x, y, radius in place.clearings:
        points = np.array([x, y]) + np.concatenate([0.3 * ring, 0.7 * ring]) * radius
        assert np.degrees(place.slope(points)).max() < 8.0
        assert np.hypot(plants.positions[:, 0] - x, plants.positions[:, 1] - y).min() > radius


def test_plants_stand_on_the_ground_off_tracks_and_water(any_place: PlaceMap) -> None:
    plants = scatter(any_place)
    assert len(plants) > 300 and set(NAMES) == set(SPECIES)
    xy = plants.positions[:, :2].astype(float)
    sunk = any_place.ground_height(xy) - plants.positions[:, 2]
    assert (sunk > -0.01).all() and (sunk < 0.25 * plants.height + 0.01).all()
    assert any_place.is_water(xy).mean() < 0.002  # a site beside the shore may round into it
    assert {SPECIES[index] for index in np.unique(plants.species)} >= set(any_place.flora)


def test_aotai(place: PlaceMap) -> None:
    share = shares(place)
    assert share[LandCover.GRASS] > 0.25 and share[LandCover.FOREST] > 0.2 and share[LandCover.BLOCKFIELD] > 0.02
    # The crest runs west to east, north of the centre; flanks of 20 to 35 degrees; the trail keeps to it.
    profile = place.heights[:, ::16].argmax(axis=0) * place.cell - place.size / 2
    assert np.median(profile) > 50.0
    assert 15.0 < np.median(slopes(place)) < 30.0
    assert place.tracks["trail"][:, 0].min() == -1000.0 and place.tracks["trail"][:, 0].max() == 1000.0
    assert {"conifer", "larch", "broadleaf", "bush", "rock"} <= {SPECIES[i] for i in np.unique(scatter(place).species)}


def test_lop_nur() -> None:
    place = load_map("lop_nur")
    low, high = altitudes(place)
    assert place.size == 5000.0 and 778.0 < low and high < 812.0  # lake floor 780 m, mesas 10 to 30 m
    share = shares(place)
    assert share[LandCover.SALT] > 0.25 and share[LandCover.GOBI] > 0.2
    assert share[LandCover.SAND] > 0.1 and share[LandCover.CLAY] > 0.05
    slope = slopes(place)
    assert np.median(slope) < 4.0  # almost level
    salt = np.argwhere(place.land_cover == LandCover.SALT)[::97, ::-1] * place.cell - 2500.0
    assert np.ptp(np.percentile(place.ground_height(salt), [5, 95])) < 3.0
    # Yardangs run with the north-eastern wind: among orientations, gradients are strongest across 45 degrees.
    clay = place.land_cover == LandCover.CLAY
    gy, gx = np.asarray(np.gradient(place.heights, place.cell))
    energy = [
        float(((gx[clay] * np.cos(a) + gy[clay] * np.sin(a)) ** 2).sum())
        for a in np.radians(np.arange(0.0, 180.0, 15.0))
    ]
    axis = (15.0 * int(np.argmin(energy))) % 180.0  # mathematical angle of the ridges
    assert 22.5 <= 90.0 - axis <= 67.5  # compass, as published
    # Dunes: the slip face (downwind, south-west) is steeper than the windward slope, near the angle of repose.
    sand = place.land_cover == LandCover.SAND
    downwind = -(gx + gy)[sand] / np.sqrt(2.0)  # rise towards the south-west
    slip, windward = downwind[downwind < -0.05], downwind[downwind > 0.05]
    assert len(slip) < 0.7 * len(windward)
    assert 15.0 < np.degrees(np.arctan(-np.percentile(slip, 10))) < 36.0
    # The tomb, 50 m beside the track, and the fork that was missed.
    assert any(item.asset.startswith("structure_tomb") and item.xy == (0.0, 0.0) for item in place.structures)
    assert 25.0 < np.hypot(*place.tracks["south_track"].T).min() < 70.0
    assert np.hypot(*(place.tracks["west_track"][0] - (-500.0, 1233.0))) < 10.0
    latitude, longitude, _ = place.origin.to_geodetic((-500.0, 1233.0, 0.0))
    assert latitude == pytest.approx(40.0 + 34.0 / 60.0 + 34.0 / 3600.0, abs=3e-4)
    assert longitude == pytest.approx(90.0 + 18.0 / 60.0 + 44.0 / 3600.0, abs=3e-4)


def test_k2() -> None:
    place = load_map("k2")
    row, column = np.unravel_index(int(place.heights.argmax()), place.heights.shape)
    summit = np.array([column, row]) * place.cell - place.size / 2
    latitude, longitude, altitude = place.origin.to_geodetic((*summit, float(place.heights.max())))
    assert altitude == pytest.approx(8611.0, abs=0.5)
    assert latitude == pytest.approx(35.0 + 52.0 / 60.0 + 57.0 / 3600.0, abs=1e-4)
    assert longitude == pytest.approx(76.0 + 30.0 / 60.0 + 48.0 / 3600.0, abs=1e-4)
    slope = slopes(place)
    assert 42.0 < np.median(slope) < 52.0 and (slope >= 45.0).mean() > 0.4
    share = shares(place)
    assert share[LandCover.SNOW] + share[LandCover.ICE] > 0.6 and share[LandCover.ROCK] > 0.1
    assert share[LandCover.ICE] > 0.04 and share[LandCover.GRASS] == share[LandCover.FOREST] == 0.0
    # Snow lies on gentler ground than rock.
    snow, rock = (np.argwhere(place.land_cover == kind)[::53, ::-1] for kind in (LandCover.SNOW, LandCover.ROCK))
    at = [np.median(place.slope(cells * place.cell - place.size / 2)) for cells in (snow, rock)]
    assert at[0] < at[1] - np.radians(5.0)
    # The Shoulder just below 8000 m, almost level; the Bottleneck, some 50 degrees at 8200 m; above it the ice cliff.
    shoulder = np.array([[110.0 + 15.0 * k, -125.0 - 17.0 * k] for k in range(9)])
    assert ((7880.0 < place.ground_height(shoulder) + 8050.0) & (place.ground_height(shoulder) + 8050.0 < 8000.0)).all()
    assert np.degrees(np.median(place.slope(shoulder))) < 25.0
    way = np.linspace((-150.0, 170.0), (-60.0, 60.0), 40)
    climb = place.ground_height(way[0]) - place.ground_height(way[-1])
    assert 42.0 < np.degrees(np.arctan2(climb, np.hypot(*(way[0] - way[-1])))) < 60.0
    across = np.linspace((-190.0, 222.0), (-155.0, 178.0), 60)
    assert np.ptp(place.ground_height(across)) > 70.0
    steps = np.degrees(place.slope(across))
    assert steps.max() > 65.0


def test_dapeng() -> None:
    place = load_map("dapeng")
    assert place.water_level == -place.origin.altitude  # the sea is at 0 m AMSL
    low, high = altitudes(place)
    assert low == pytest.approx(0.0, abs=1e-3) and 250.0 < high < 450.0
    share = shares(place)
    assert 0.25 < share[LandCover.WATER] < 0.5
    land = 1.0 - share[LandCover.WATER]
    assert share[LandCover.FOREST] / land > 0.6  # 76 % of the peninsula, 98 % of the geopark is wooded
    assert share[LandCover.ROCK] / land > 0.04 and share[LandCover.SAND] > 0.002
    assert np.percentile(slopes(place), 50) > 22.0  # steep hills
    # The sea lies east and south, open to the edge, and is level.
    water = place.land_cover == LandCover.WATER
    assert water[:, -1].mean() > 0.6 and water[0].mean() > 0.9
    assert np.ptp(place.heights[water]) == 0.0
    assert (place.heights[~water] > place.water_level).mean() > 0.9999
    # Sea cliffs: within 20 m of the shore much of the ground is steeper than 45 degrees, and beaches are gentle.
    near = cv2.dilate(water.astype(np.uint8), np.ones((21, 21), np.uint8)).astype(bool) & ~water
    at = np.argwhere(near)[::5, ::-1] * place.cell - place.size / 2
    steep = np.degrees(place.slope(at))
    assert (steep > 45.0).mean() > 0.25
    sand = np.argwhere(place.land_cover == LandCover.SAND)[:, ::-1] * place.cell - place.size / 2
    assert np.degrees(np.median(place.slope(sand))) < 10.0
    assert (place.ground_height(sand) + place.origin.altitude).max() < 8.0
    for x, y in ((540.0, 180.0), (-110.0, -572.0)):  # the two beaches
        assert (np.hypot(sand[:, 0] - x, sand[:, 1] - y) < 60.0).sum() > 50


@pytest.mark.parametrize(("map_id", "track"), [("lop_nur", "south_track"), ("k2", "abruzzi"), ("dapeng", "south_path")])
def test_tracks_are_painted_in_the_ground(map_id: str, track: str) -> None:
    place = load_map(map_id)
    albedo = GroundBake(place, paint_noise()).albedo.astype(float)
    line = place.tracks[track]
    steps = np.diff(line, axis=0)
    across = np.column_stack([-steps[:, 1], steps[:, 0]]) / np.maximum(np.hypot(*steps.T), 1e-9)[:, None]

    def colour(offset: float) -> np.ndarray:
        xy = line[:-1] + offset * across
        texel = np.clip(((xy + place.size / 2) / place.size * len(albedo)).astype(int), 0, len(albedo) - 1)
        return albedo[texel[:, 1], texel[:, 0]]

    # A track differs from the ground beside it more than the ground on its two sides differs.
    on, left, right = colour(0.0), colour(9.0), colour(-9.0)
    contrast = np.abs(on - 0.5 * (left + right)).mean()
    assert contrast > 5.0 and np.abs(np.median(on - 0.5 * (left + right), axis=0)).max() > 4.0


def test_the_sea_is_lighter_where_it_is_shallow() -> None:
    place = load_map("dapeng")
    albedo = GroundBake(place, paint_noise()).albedo
    size = len(albedo)
    axis = (np.arange(size) + 0.5) / size * place.size - place.size / 2
    water = place.is_water(np.stack(np.meshgrid(axis, axis), axis=-1))
    far = cv2.distanceTransform(water.astype(np.uint8), cv2.DIST_L2, 5) * place.size / size
    near, deep = albedo[(far > 15.0) & (far < 40.0)].mean(axis=0), albedo[far > 250.0].mean(axis=0)
    assert (near - deep)[1] > 20.0 and deep[2] > deep[0]  # greener near the shore, blue far out
