"""Settlements: the same from the same seed, well laid out, on ground of their own; wildernesses are as they were."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.map_files import known_maps, settlement_maps, shipped_maps
from esar_ros.sim.assets.buildings.builders import BUILDERS
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.map_spec import parse_spec
from esar_ros.sim.terrain.maps import PlaceMap, load_map, load_spec
from esar_ros.sim.terrain.settlements.plan import Piece, Plan
from esar_ros.sim.terrain.settlements.presets import PRESETS, plan_of

MAPS = ("standin_farmyard", "standin_lake_cabins", "standin_park", "standin_street")
GOLDEN = {  # first digits of the plans' digests
    "standin_farmyard": "963c6449412847b7",
    "standin_lake_cabins": "46177667b1bbb670",
    "standin_park": "afbfe3a1967d7062",
    "standin_street": "d63e1d9f8442c9ed",
}


@pytest.fixture(scope="module", params=MAPS)
def settlement(request: pytest.FixtureRequest) -> PlaceMap:
    return load_map(request.param)


def plan(place: PlaceMap) -> Plan:
    assert place.plan is not None
    return place.plan


def test_the_four_are_maps_but_no_wildernesses() -> None:
    assert tuple(settlement_maps()) == MAPS
    assert set(MAPS) <= set(known_maps()) and not set(MAPS) & set(shipped_maps())


def test_the_plans_are_those_that_were_shipped() -> None:
    for map_id, told in GOLDEN.items():
        spec, _ = load_spec(map_id)
        made = PRESETS[spec.relief.preset](spec.seed, spec.size)  # type: ignore[union-attr]
        assert made.digest[:16] == told, map_id


@pytest.mark.parametrize("preset", PRESETS)
def test_a_plan_follows_from_its_seed(preset: str) -> None:
    first, again, other = (PRESETS[preset](seed, 340.0) for seed in (3, 3, 4))
    assert first == again and first.digest == again.digest
    assert first.digest != other.digest
    assert {piece.kind for piece in first.pieces} <= set(BUILDERS)
    assert len(first.pieces) > 100 and len(first.trees) > 50 and len(first.surfaces) > 10


def corners(piece: Piece, grow: float = 0.0) -> np.ndarray:
    """Corners (4, 2) of a piece's outline."""
    half = np.array([piece.length, piece.width]) / 2 + grow
    c, s = math.cos(piece.yaw), math.sin(piece.yaw)
    signs = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    return signs * half @ np.array([[c, s], [-s, c]]) + piece.xy


def apart(one: np.ndarray, other: np.ndarray) -> bool:
    """Returns whether a line parts two convex outlines."""
    for outline in (one, other):
        for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
            normal = np.array([b[1] - a[1], a[0] - b[0]])
            if (one @ normal).max() <= (other @ normal).min() or (other @ normal).max() <= (one @ normal).min():
                return True
    return False


def test_houses_stand_apart_on_dry_land_beside_the_streets(settlement: PlaceMap) -> None:
    houses = [piece for piece in plan(settlement).pieces if piece.kind in ("house", "silo", "open_shed", "pavilion")]
    assert len(houses) >= 10
    for one, other in itertools.combinations(houses, 2):
        if math.dist(one.xy, other.xy) < 40.0:
            assert apart(corners(one, -0.25), corners(other, -0.25)), (one, other)
    for house in houses:
        assert settlement.contains(corners(house)).all()
        assert not settlement.is_water(corners(house, -0.5)).any(), house
        if house.height > 6.2 and settlement.id in ("standin_street", "standin_park"):  # not those on squares
            assert (settlement.cover_at(corners(house, -0.6)) != LandCover.PAVED).mean() >= 0.5, house


def test_ground_is_gentle_and_water_lies_where_it_was_planned(settlement: PlaceMap) -> None:
    assert float(settlement.ground_height((0.0, 0.0))) == 0.0
    points = np.random.default_rng(0).uniform(-settlement.size / 2 + 2, settlement.size / 2 - 2, (4000, 2))
    wet = settlement.is_water(points)
    assert np.percentile(settlement.slope(points[~wet]), 99) < math.radians(14.0)
    assert wet.any() == bool(plan(settlement).waters)
    if settlement.water_level is not None:
        assert settlement.ground_height(points[wet]) == pytest.approx(settlement.water_level, abs=0.31)  # the bank
        assert float(settlement.ground_height(points[~wet]).min()) > settlement.water_level - 0.01


def test_the_same_plan_is_made_once() -> None:
    assert plan_of("park", 5, 300.0) is plan_of("park", 5, 300.0)


def test_relief_and_cover_of_a_settlement_go_together() -> None:
    _, text = load_spec("standin_park")
    with pytest.raises(UsageError, match="go together"):
        parse_spec(text.replace(b"{kind: settled}", b"{kind: desert, rock_slope: 1.0, salt_level: 0.0}"), "test")
    with pytest.raises(UsageError, match="preset"):
        parse_spec(text.replace(b"preset: park", b"preset: venice"), "test")
