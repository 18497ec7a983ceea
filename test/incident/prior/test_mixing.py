"""The first POA: it sums to 1, follows words and statistics, and leaves nobody where no height is known."""

from __future__ import annotations

import numpy as np
import pytest

from esar_ros.incident.features import Place, PlaceKind, Position
from esar_ros.incident.ground import Ground
from esar_ros.incident.prior.mixing import BY_WORDS, Prior, lay_prior, segments
from esar_ros.incident.prior.terrain import Terrain
from esar_ros.planning.methods.patterns.lost_persons import load_lost_persons

pytest.importorskip("pyproj")
CELL, COUNT = 20.0, 200
HIKER, HIKERS = load_lost_persons().category("hiker"), load_lost_persons().found("hiker")


def flat(zone: str = "EPSG:32648", west: float = 500_000.0) -> Ground:
    return Ground(np.full((COUNT, COUNT), 1000.0), west, 3_764_000.0, CELL, zone)


def laid(words: str, ground: Ground | None = None, sigma: float | None = None) -> tuple[Prior, Ground]:
    ground = ground or flat()
    latitude, longitude = ground.to_geodetic(ground.west + 2000.0, ground.north - 2000.0)
    ipp = Place("IPP", PlaceKind.IPP, Position(latitude, longitude), sigma)
    return lay_prior(words, ipp, ground, HIKER, Terrain.of(ground, HIKERS)), ground


@pytest.mark.parametrize("words", ["Nobody knows anything.", "She went 600 m north from here. You start here."])
@pytest.mark.parametrize("sigma", [None, 200.0])
def test_it_sums_to_one(words: str, sigma: float | None) -> None:
    prior, _ = laid(words, sigma=sigma)
    assert prior.cells.sum() + prior.rest == pytest.approx(1.0, abs=1e-9) and (prior.cells >= 0.0).all()
    assert 0.0 < prior.rest < 1.0


def test_without_words_it_is_as_the_statistics_say() -> None:
    prior, _ = laid("Nobody knows anything.")
    assert prior.by_words == 0.0
    away = np.hypot(*np.meshgrid(*(2 * [np.arange(COUNT) * CELL + CELL / 2.0 - 2000.0])))
    for distance in (500.0, 1100.0, 1900.0):
        inside = float(prior.cells[away <= distance].sum())
        assert inside == pytest.approx(float(HIKER.within(np.array(distance))), rel=0.03)


def test_words_draw_it_to_where_they_lead_also_where_grid_north_is_not_true_north() -> None:
    words = "The drone starts at the hut. She was last seen 900 m north of the hut."
    for west in (500_000.0, 220_000.0):
        prior, ground = laid(words, flat(west=west))
        assert prior.by_words == BY_WORDS
        row, column = np.unravel_index(prior.cells.argmax(), prior.cells.shape)
        x, y = ground.west + CELL * (column + 0.5), ground.north - CELL * (row + 0.5)
        latitude, longitude = ground.to_geodetic(x, y)
        start = ground.to_geodetic(ground.west + 2000.0, ground.north - 2000.0)
        assert (latitude - start[0]) * 111_000.0 == pytest.approx(900.0, abs=120.0)
        assert abs(longitude - start[1]) * 92_000.0 < 120.0


def test_nobody_is_laid_where_no_height_is_known_and_the_mass_of_the_map_stays() -> None:
    heights = np.full((COUNT, COUNT), 1000.0)
    heights[:, 120:] = np.nan
    prior, _ = laid("Nobody knows anything.", Ground(heights, 500_000.0, 3_764_000.0, CELL, "EPSG:32648"))
    even, _ = laid("Nobody knows anything.")
    assert prior.cells[:, 120:].sum() == 0.0
    assert prior.cells.sum() == pytest.approx(even.cells.sum())


def test_who_fell_lies_at_the_foot_of_a_cliff() -> None:
    heights = np.full((COUNT, COUNT), 1000.0)
    heights[:, 120:] = 1400.0
    prior, _ = laid("Nobody knows anything.", Ground(heights, 500_000.0, 3_764_000.0, CELL, "EPSG:32648"))
    even, _ = laid("Nobody knows anything.")
    assert prior.cells == pytest.approx(even.cells), "in the same cell as its wall"


def test_segments_part_the_ground_and_hold_all_of_it() -> None:
    prior, ground = laid("Nobody knows anything.")
    parts = segments(prior.cells, ground)
    assert len({part.name for part in parts}) == len(parts) == 14 * 14 and parts[0].name == "A1"
    assert sum(part.poa or 0.0 for part in parts) == pytest.approx(prior.cells.sum())
    inside = np.zeros((COUNT, COUNT), bool)
    inside[:15, :15] = True
    assert [part.name for part in segments(prior.cells, ground, inside)] == ["A1"]
