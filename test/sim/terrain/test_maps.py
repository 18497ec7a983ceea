"""Maps: shipped files, cache, ground queries and the picture for reports."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.errors import UsageError
from esar_ros.mission.map_files import known_maps
from esar_ros.sim.terrain import maps
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.map_ground import generate
from esar_ros.sim.terrain.map_spec import MapSpec, parse_spec
from esar_ros.sim.terrain.maps import PlaceMap, load_map, load_spec

inside = st.floats(-990.0, 990.0)


@pytest.fixture(scope="module")
def coast() -> PlaceMap:
    """A map with the sea."""
    return load_map("dapeng")


def small_spec(**changes: object) -> MapSpec:
    """The Aotai map at a quarter of its side, for tests that generate."""
    _, text = load_spec("aotai")
    data = (
        yaml.safe_load(text)
        | {"samples": 129, "size": 500.0, "erosion": {"droplets": 2000}, "structures": []}
        | changes
    )
    return parse_spec(yaml.safe_dump(data).encode(), "test")


def test_aotai_is_where_and_what_it_says(place: PlaceMap) -> None:
    assert (place.id, place.size, place.samples) == ("aotai", 2000.0, 1025)
    assert place.origin.latitude == pytest.approx(33.95) and place.origin.altitude == 2800.0
    assert float(place.ground_height((0.0, 0.0))) == pytest.approx(0.0, abs=1e-6)
    share = np.bincount(place.land_cover.ravel(), minlength=len(LandCover)) / place.land_cover.size
    for cover, least in ((LandCover.GRASS, 0.25), (LandCover.FOREST, 0.2), (LandCover.BLOCKFIELD, 0.02)):
        assert share[cover] > least
    slope = np.degrees(np.arccos(place.normal(np.random.default_rng(0).uniform(-990, 990, (4000, 2)))[:, 2]))
    assert 15.0 < np.median(slope) < 30.0
    camp = np.random.default_rng(1).uniform(-50, 50, (500, 2))
    assert np.degrees(np.arccos(place.normal(camp)[:, 2])).max() < 15.0


@given(x=inside, y=inside)
@settings(deadline=None)
def test_ground_is_bilinear_and_continuous(place: PlaceMap, x: float, y: float) -> None:
    near = place.ground_height(np.array([[x, y], [x + 1e-4, y], [x, y + 1e-4]]))
    assert np.abs(near - near[0]).max() < 1e-2
    normal = place.normal((x, y))
    assert np.linalg.norm(normal) == pytest.approx(1.0)
    assert normal[2] > 0.0


@given(x=inside, y=inside)
@settings(deadline=None)
def test_slope_agrees_with_heights_and_normal(place: PlaceMap, x: float, y: float) -> None:
    slope = float(place.slope((x, y)))
    assert 0.0 <= slope < math.pi / 2
    assert math.cos(slope) == pytest.approx(float(place.normal((x, y))[2]), abs=1e-9)
    # No step of any direction climbs faster than the steepest of the patches it crosses.
    angles = np.linspace(0.0, 2.0 * math.pi, 8, endpoint=False)
    near = np.array([x, y]) + 0.01 * np.column_stack([np.cos(angles), np.sin(angles)])
    steepest = np.tan(np.maximum(place.slope(near), slope)).max()
    assert (np.abs(place.ground_height(near) - place.ground_height((x, y))) <= 0.0101 * steepest + 1e-5).all()


@given(points=st.lists(st.tuples(st.floats(-3000.0, 3000.0), st.floats(-3000.0, 3000.0)), min_size=1, max_size=20))
@settings(deadline=None)
def test_many_points_answer_as_one_does(coast: PlaceMap, points: list[tuple[float, float]]) -> None:
    xy = np.array(points)
    for ask in (coast.ground_height, coast.slope, coast.cover_at, coast.is_water, coast.contains):
        assert [ask(point) for point in xy] == pytest.approx(ask(xy), abs=1e-12)
    water = coast.is_water(xy)
    assert (coast.cover_at(xy)[water] == LandCover.WATER).all()
    assert coast.water_level is not None
    assert (coast.ground_height(xy) >= coast.water_level - 1e-3).all()


def test_heights_are_met_at_samples(place: PlaceMap) -> None:
    rows, columns = np.array([0, 7, 512, 1024]), np.array([1024, 3, 512, 0])
    xy = np.stack([columns, rows], axis=-1) * place.cell - place.size / 2
    assert place.ground_height(xy) == pytest.approx(place.heights[rows, columns], abs=1e-4)


def test_beyond_the_map_the_edge_goes_on(place: PlaceMap) -> None:
    assert float(place.ground_height((5000.0, 0.0))) == float(place.ground_height((1000.0, 0.0)))
    assert not place.contains((5000.0, 0.0)) and place.contains((1000.0, -1000.0))


def test_shaded_relief_is_north_up(place: PlaceMap) -> None:
    image = place.shaded_relief(200)
    assert image.shape == (200, 200, 3) and image.dtype == np.uint8
    assert image.std() > 10.0
    # Forest is the darkest cover: the picture must be darker where the map, turned north up, has it.
    forest = place.land_cover[::-1][2::5, 2::5][:200, :200] == LandCover.FOREST
    assert image[forest].mean() < 0.8 * image[~forest].mean()
    with pytest.raises(ValueError, match="shows nothing"):
        place.shaded_relief(4)


def test_generation_repeats_byte_for_byte() -> None:
    first, second = generate(small_spec()), generate(small_spec())
    assert first.heights.tobytes() == second.heights.tobytes()
    assert first.land_cover.tobytes() == second.land_cover.tobytes()
    assert {name: line.tobytes() for name, line in first.tracks.items()} == {
        name: line.tobytes() for name, line in second.tracks.items()
    }
    other = generate(small_spec(seed=5))
    assert other.heights.tobytes() != first.heights.tobytes()


def test_the_sea_must_lie_at_sea_level() -> None:
    _, text = load_spec("dapeng")
    data = yaml.safe_load(text) | {"water_level": -150.0}
    with pytest.raises(UsageError, match=r"water_level -150.0 is not sea level, -200.0"):
        parse_spec(yaml.safe_dump(data).encode(), "test")


def test_unknown_map_names_the_known() -> None:
    with pytest.raises(UsageError, match=r"unknown map 'moon': known: .*aotai"):
        load_map("moon")
    assert "aotai" in known_maps()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": 1000}, "power of two"),
        ({"size": -5.0}, "size"),
        ({"colour": "red"}, "colour"),
        ({"relief": {"kind": "moon"}}, "key relief.*moon"),
        ({"cover": {"kind": "alpine"}}, "key cover.alpine.tree_line"),
        ({"flora": {"rock": {"spacing": 3.0, "height": [1, 2], "share": {"lava": 0.5}}}}, "no land cover .* 'lava'"),
        ({"flora": {"rock": {"spacing": 3.0, "height": [1, 2], "share": {"rock": 1.5}}}}, "share on rock is 1.5"),
        ({"tracks": {"far": {"via": [[0, 0], [900, 0]]}}}, "track far at 900, 0 is not on the map"),
        ({"structures": [{"asset": "structure_hut", "at": [0, 300]}]}, "structure_hut at 0, 300 is not on the map"),
    ],
)
def test_bad_map_file_is_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        small_spec(**change)
    with pytest.raises(UsageError, match="not YAML"):
        parse_spec(b"a: [", "test")


def test_damaged_cache_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESAR_CACHE", str(tmp_path))
    spec = small_spec()
    monkeypatch.setattr(maps, "load_spec", lambda _: (spec, b"text"))
    first = load_map("aotai")
    (stored,) = (tmp_path / "maps").iterdir()
    whole = stored.read_bytes()
    assert load_map("aotai").digest == first.digest
    for damaged in (b"", whole[: len(whole) // 2], b"x" * len(whole), whole[:2000] + b"\0\1" + whole[2002:]):
        stored.write_bytes(damaged)
        assert load_map("aotai").digest == first.digest
        assert stored.read_bytes() == whole
        assert len(list((tmp_path / "maps").iterdir())) == 1


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESAR_CACHE", str(tmp_path))
    (tmp_path / "maps").write_text("a file where the folder should be")
    monkeypatch.setattr(maps, "load_spec", lambda _: (small_spec(), b"text"))
    assert load_map("aotai").samples == 129
