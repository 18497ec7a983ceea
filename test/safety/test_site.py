"""The site: fence, ceiling and home."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.errors import UsageError
from esar_ros.safety.limits import Limits
from esar_ros.safety.polygons import distance_outside, reaches_beyond
from esar_ros.safety.site import Site

L_SHAPE = np.array([[0.0, 0.0], [40.0, 0.0], [40.0, 20.0], [20.0, 20.0], [20.0, 40.0], [0.0, 40.0]])
HOME = np.array([10.0, 10.0, 0.0])


def test_distance_outside_a_concave_fence() -> None:
    site = Site(L_SHAPE, 50.0, HOME)
    assert site.outside(np.array([10.0, 10.0, 5.0])) == pytest.approx(-10.0)
    assert site.outside(np.array([25.0, 30.0, 5.0])) == pytest.approx(5.0)
    assert site.outside(np.array([50.0, 10.0, 5.0])) == pytest.approx(10.0)


def test_corners_may_come_in_either_order() -> None:
    point = np.array([15.0, 35.0, 0.0])
    assert Site(L_SHAPE, 50.0, HOME).outside(point) == Site(L_SHAPE[::-1], 50.0, HOME).outside(point)


@pytest.mark.parametrize(
    ("fence", "ceiling", "home", "why"),
    [
        (L_SHAPE[:2], 50.0, HOME, "no three finite corners"),
        (L_SHAPE.ravel(), 50.0, HOME, "no three finite corners"),
        (np.zeros((4, 3)), 50.0, HOME, "no three finite corners"),
        (L_SHAPE * math.nan, 50.0, HOME, "no three finite corners"),
        (np.zeros((4, 2)), 50.0, HOME, "encloses no area"),
        (L_SHAPE * 1e6, 50.0, HOME, "reaches farther"),
        (L_SHAPE, 0.0, HOME, "the ceiling is"),
        (L_SHAPE, math.inf, HOME, "the ceiling is"),
        (L_SHAPE, 50.0, np.array([30.0, 30.0, 0.0]), "home lies outside the fence"),
        (L_SHAPE, 50.0, HOME * math.nan, "home is not finite"),
    ],
)
def test_bad_sites_are_refused(fence: np.ndarray, ceiling: float, home: np.ndarray, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Site(fence, ceiling, home)


def test_covering_keeps_an_area_that_holds_home(kit: SimpleNamespace) -> None:
    area = kit.square(100.0)
    np.testing.assert_array_equal(Site.covering(area, 50.0, np.zeros(3)).fence, area)


def test_covering_widens_to_a_home_outside(kit: SimpleNamespace) -> None:
    site = Site.covering(kit.square(100.0), 50.0, np.array([150.0, 0.0, 0.0]))
    assert site.outside(np.array([150.0, 0.0, 0.0])) <= -20.0
    assert site.outside(np.array([-99.0, -99.0, 0.0])) < 0.0


def test_looser_than(kit: SimpleNamespace) -> None:
    site = Site(kit.square(100.0), 50.0, np.zeros(3))
    assert not site.is_looser_than(site)
    assert not Site(kit.square(90.0), 40.0, np.zeros(3)).is_looser_than(site)
    assert Site(kit.square(101.0), 50.0, np.zeros(3)).is_looser_than(site)
    assert Site(kit.square(100.0), 51.0, np.zeros(3)).is_looser_than(site)
    assert Site(kit.square(100.0), 50.0, np.ones(3)).is_looser_than(site)


def test_a_fence_of_too_many_corners_or_edges_is_refused_before_it_is_compared() -> None:
    turns = np.linspace(0.0, 2.0 * np.pi, 201, endpoint=False)
    circle = 100.0 * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    home = np.zeros(3)
    assert Site(circle[::2], 50.0, home).ceiling == 50.0
    with pytest.raises(UsageError, match="201 corners"):
        Site(circle, 50.0, home)
    star = circle[:200] * np.where(np.arange(200) % 2, 190.0, 1.0)[:, None]
    with pytest.raises(UsageError, match="km of edges"):
        Site(star, 50.0, home)


def test_a_wide_fence_is_looser_by_a_notch_of_two_metres() -> None:
    turns = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    circle = 19_900.0 * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    home = np.zeros(3)
    site, inner, notched = Site(circle, 50.0, home), Site(0.99 * circle, 50.0, home), circle.copy()
    notched[7] *= 1.0 - 2.0 / 19_900.0
    assert not inner.is_looser_than(site) and not Site(notched, 50.0, home).is_looser_than(site)
    assert site.is_looser_than(inner) and site.is_looser_than(Site(notched, 50.0, home))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_leaving_another_fence_agrees_with_a_look_at_every_point(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def star(corners: int) -> np.ndarray:
        turns = np.sort(rng.uniform(0.0, 2.0 * np.pi, corners))
        reach = rng.choice([20.0, 30.0, 40.0], corners) if seed % 2 else rng.uniform(20.0, 40.0, corners)
        return reach[:, None] * np.stack([np.cos(turns), np.sin(turns)], axis=1)

    a, b = star(int(rng.integers(3, 9))), star(int(rng.integers(3, 9)))
    if seed % 3 == 0:
        b = np.insert(a, 1, 0.5 * (a[0] + a[1]), axis=0) * rng.choice([1.0, 1.01, 0.99])
    edges = np.roll(a, -1, axis=0) - a
    places = [p + share * e for p, e in zip(a, edges, strict=True) for share in np.linspace(0.0, 1.0, 300)]
    farthest = max(distance_outside(b, place) for place in places)
    if farthest > 1e-3 or farthest < 1e-9:
        assert reaches_beyond(a, b) == (farthest > 1e-3)


def test_a_fence_that_leaves_only_between_its_corners_is_looser() -> None:
    bay = np.array([[0, 0], [90, 0], [90, 60], [60, 60], [60, 20], [30, 20], [30, 60], [0, 60]], dtype=np.float64)
    home = np.array([10.0, 10.0, 0.0])
    site = Site(bay, 50.0, home)
    hull = np.array([[0, 0], [90, 0], [90, 60], [0, 60]], dtype=np.float64)
    strip = np.array([[5, 5], [5, 50], [85, 50], [85, 40], [20, 40], [20, 5]], dtype=np.float64)
    for fence in (hull, strip):
        assert Site(fence, 50.0, home).is_looser_than(site)
    low = np.array([[0, 0], [90, 0], [90, 20], [0, 20]], dtype=np.float64)
    assert not Site(low, 50.0, home).is_looser_than(site) and not site.is_looser_than(site)


@given(st.integers(0, 2**31))
@settings(deadline=None, max_examples=200)
def test_limits_never_force_a_standing_vehicle_inside_and_always_lead_back_outside(seed: int) -> None:
    rng = np.random.default_rng(seed)
    site, limits = Site(L_SHAPE, 50.0, HOME), Limits()
    position = np.array([*rng.uniform(-10.0, 50.0, 2), 10.0])
    kept = site.fence_limits(position, np.zeros(3), limits)
    np.testing.assert_allclose(np.linalg.norm(kept.normals, axis=1), 1.0, atol=1e-9)
    if site.outside(position) <= 0.0:
        assert (kept.bounds >= 0.0).all()
    else:
        # The slowest velocity that keeps the limit brings it nearer.
        velocity = kept.normals[0] * kept.bounds[0]
        assert site.outside(position + 0.1 * velocity) < site.outside(position)


def test_a_keep_out_zone_must_enclose_ground_and_not_home(kit: SimpleNamespace) -> None:
    fence = kit.square(100.0)
    with pytest.raises(UsageError, match="keep-out zone 1 encloses no area"):
        Site(fence, 50.0, np.zeros(3), (np.array([[10.0, 10.0], [20.0, 20.0], [30.0, 30.0]]),))
    with pytest.raises(UsageError, match="home lies in a keep-out zone"):
        Site(fence, 50.0, np.zeros(3), (kit.square(5.0),))
    with pytest.raises(UsageError, match="above sea level"):
        Site(fence, 50.0, np.zeros(3), top=-1.0)
    with pytest.raises(UsageError, match="greatest speed"):
        Site(fence, 50.0, np.zeros(3), speed=0.0)


@pytest.mark.parametrize("where", [40.0, 40.0005])
def test_on_an_edge_of_the_fence_its_normal_says_which_way_is_out(where: float) -> None:
    """Half a millimetre off, no direction can be taken from the distance."""
    site, limits = Site(L_SHAPE, 50.0, HOME), Limits()
    kept = site.fence_limits(np.array([where, 10.0, 5.0]), np.zeros(3), limits)
    east = np.flatnonzero((kept.normals == [1.0, 0.0, 0.0]).all(axis=1))
    assert len(east) == 1
    assert kept.bounds[east[0]] == (-limits.push_speed if where > 40.0 else 0.0)


def test_out_of_a_zone_it_is_led_the_shortest_way() -> None:
    """It goes over the corner where the zone is notched, along no edge's normal."""
    zone, limits = L_SHAPE + [100.0, 100.0], Limits()
    site = Site(200.0 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]), 50.0, np.zeros(3), (zone,))
    kept = site.keep_out_limits(np.array([118.0, 118.0, 5.0]), np.zeros(3), limits)
    np.testing.assert_allclose(kept.normals, [[-math.sqrt(0.5), -math.sqrt(0.5), 0.0]])
    assert kept.bounds == [-limits.push_speed]


@pytest.mark.parametrize(
    ("position", "height", "where"),
    [
        ([10.0, 10.0, 5.0], None, ""),
        ([10.0, 10.0, 79.0], 50.0, ""),
        ([25.0, 30.0, 5.0], None, "5 m outside its fence"),
        ([10.0, 31.0, 5.0], 5.0, "3 m in one of its keep-out zones"),
        ([10.0, 10.0, 5.0], 60.0, "10 m above its ceiling"),
        ([10.0, 10.0, 90.0], None, "10 m above its ceiling"),
    ],
)
def test_a_vehicle_must_be_where_its_site_lets_it_be(
    kit: SimpleNamespace, position: list[float], height: float | None, where: str
) -> None:
    """A height that is not known is above no ceiling but that above sea level."""
    site = Site(L_SHAPE, 50.0, HOME, (kit.square(4.0) + [10.0, 32.0],), top=80.0)
    if not where:
        site.require_inside(np.array(position), height)
        return
    with pytest.raises(UsageError, match=where):
        site.require_inside(np.array(position), height)


def test_dropping_a_zone_raising_a_ceiling_or_a_speed_is_looser(kit: SimpleNamespace) -> None:
    zone = kit.square(5.0) + [50.0, 0.0]
    strict = Site(kit.square(100.0), 50.0, np.zeros(3), (zone,), 80.0, 4.0)
    assert not strict.is_looser_than(strict)
    assert Site(kit.square(100.0), 50.0, np.zeros(3), (), 80.0, 4.0).is_looser_than(strict)
    assert Site(kit.square(100.0), 50.0, np.zeros(3), (zone,), 90.0, 4.0).is_looser_than(strict)
    assert Site(kit.square(100.0), 50.0, np.zeros(3), (zone,), 80.0, 5.0).is_looser_than(strict)
    assert not strict.is_looser_than(Site(kit.square(100.0), 50.0, np.zeros(3)))


def test_depth_in_a_keep_out_zone(kit: SimpleNamespace) -> None:
    site = Site(kit.square(100.0), 50.0, np.zeros(3), (kit.square(5.0) + [50.0, 0.0],))
    assert site.inside_keep_out(np.array([50.0, 1.0, 9.0])) == pytest.approx(4.0)
    assert site.inside_keep_out(np.array([40.0, 0.0, 9.0])) == pytest.approx(-5.0)
    assert Site(kit.square(100.0), 50.0, np.zeros(3)).inside_keep_out(np.zeros(3)) == -math.inf
