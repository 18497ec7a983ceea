"""PODs: of looks from one side and from several, through canopy, by night, on foot; and the bookkeeping of POA."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import Mover, Track
from esar_ros.incident.pod import (
    CONSPICUITY,
    Coverage,
    Curves,
    Target,
    pod_of_look,
    pod_of_walks,
    pod_on_foot,
    shift,
    sweep_width,
    together,
)  # fmt: skip
from esar_ros.incident.visibility import Seen
from helpers.hills import LATITUDE, LONGITUDE, hills

SHARES = st.floats(0.0, 0.99)
ROWS = np.arange(3)


def seen(zenith: float, azimuth: float, slant: float = 30.0) -> Seen:
    """The three cells of a row, seen from one direction (degrees)."""
    z, a = math.radians(zenith), math.radians(azimuth)
    toward = np.tile([math.sin(z) * math.cos(a), math.sin(z) * math.sin(a), math.cos(z)], (3, 1))
    return Seen(np.zeros(3, int), ROWS, np.full(3, slant), toward[:, 2], toward)


def total(*looks: tuple[float, float, float]) -> float:
    coverage = Coverage((1, 3))
    for zenith, azimuth, pod in looks:
        coverage.add(seen(zenith, azimuth), np.full(3, pod))
    return float(coverage.pod[0, 0])


@given(SHARES, st.floats(0.0, 89.0), st.floats(0.0, 359.0))
def test_one_look_has_its_own_pod(pod: float, zenith: float, azimuth: float) -> None:
    assert total((zenith, azimuth, pod)) == pytest.approx(pod, abs=1e-6)


def test_looks_share_their_misses_since_one_person_is_hard_to_see_for_all() -> None:
    twice = total((50.0, 10.0, 0.6), (50.0, 190.0, 0.6))
    assert 0.6 < twice < 1.0 - 0.4**2, "more than one look, less than two that know nothing of each other"
    # Of a population of people, each seen with his own conspicuity, both looks miss as many.
    conspicuity = np.random.default_rng(0).gamma(1.0 / CONSPICUITY, CONSPICUITY, 400_000)
    one = ((1.0 - 0.6) ** -CONSPICUITY - 1.0) / CONSPICUITY
    assert np.exp(-conspicuity * one).mean() == pytest.approx(0.4, abs=2e-3)
    assert 1.0 - np.exp(-2.0 * conspicuity * one).mean() == pytest.approx(twice, abs=2e-3)


def test_looks_together_are_the_same_in_any_order_and_however_they_are_parted() -> None:
    pods = [np.array([0.1, 0.6]), np.array([0.3, 0.0]), np.array([0.9, 0.5])]
    whole = together(pods)
    assert together(pods[::-1]) == pytest.approx(whole)
    assert together([together(pods[:2]), pods[2]]) == pytest.approx(whole)


@given(st.lists(st.tuples(st.floats(0, 89), st.floats(0, 359), SHARES), min_size=1, max_size=8))
def test_more_looks_never_lower_the_pod_nor_beat_independent_ones(looks: list[tuple[float, float, float]]) -> None:
    pods = [pod for _, _, pod in looks]
    assert max(pods) - 1e-6 <= total(*looks) <= 1.0 - np.prod(1.0 - np.array(pods)) + 1e-6
    assert total(*looks) >= total(*looks[:-1]) - 1e-6


def test_distance_night_grazing_and_canopy_lower_a_looks_pod() -> None:
    curves = Curves("esar_yolo", "clear")
    day = curves.of(500.0, None, 0.0)
    near, far = (pod_of_look(seen(20.0, 0.0, slant), day)[0] for slant in (20.0, 110.0))
    assert 0.0 < far < near < 1.0
    noon, midnight = 12 * 3600.0, 0.0
    assert curves.of(500.0, midnight, 0.0).person[60] < curves.of(500.0, noon, 0.0).person[60]
    assert curves.of(500.0, midnight, 180.0) is curves.of(500.0, noon, 0.0)  # noon on the other side of the Earth
    assert pod_of_look(seen(88.0, 0.0), day)[0] < pod_of_look(seen(60.0, 0.0), day)[0]
    canopy = np.full((1, 3), 0.5)
    assert pod_of_look(seen(60.0, 0.0), day, canopy)[0] == pytest.approx(pod_of_look(seen(60.0, 0.0), day)[0] * 0.25)
    assert pod_of_look(seen(0.0, 0.0, 500.0), day)[0] == 0.0


def test_a_longer_lens_sees_farther() -> None:
    curves = Curves("esar_yolo", "clear")
    assert curves.of(2000.0, None, 0.0).person[120] > curves.of(400.0, None, 0.0).person[120]


def test_a_recall_measured_on_such_pictures_is_the_pod_near_and_in_the_open() -> None:
    curves = Curves("esar_yolo", "clear", 0.03)
    day = curves.of(800.0, None, 0.0)
    assert curves.share(800.0) * pod_of_look(seen(10.0, 0.0, 1.0), day)[0] == pytest.approx(0.03, rel=1e-2)
    assert Curves("esar_yolo", "clear").share(800.0) == 1.0


def test_people_on_foot() -> None:
    width = sweep_width(25.0, Target.MEDIUM)
    assert width == 40.0
    assert pod_on_foot(width, 2500.0, 100_000.0) == pytest.approx(1.0 - math.exp(-1.0))
    assert pod_on_foot(width, 0.0, 100_000.0) == 0.0
    assert sweep_width(25.0, Target.LOW) < width < sweep_width(25.0, Target.HIGH)


def walk(*offsets: tuple[float, float]) -> Track:
    """Through points (east, north, m) about the middle of the hills."""
    frame = Origin(LATITUDE, LONGITUDE, 0.0)
    latitude, longitude, _ = np.array([frame.to_geodetic([*offset, 0.0]) for offset in offsets]).T
    return Track(
        "team", Mover.PERSON, latitude, longitude, np.full(len(latitude), np.nan), np.full(len(latitude), np.nan)
    )


@pytest.mark.parametrize("width", [10.0, 40.0])
def test_ground_walked_over_in_lines_has_the_pod_of_its_coverage(width: float) -> None:
    lines = [walk((-200.0, y), (200.0, y)) for y in np.arange(-100.0, 101.0, 20.0)]
    pod = pod_of_walks(lines, hills(), width)
    middle = pod[110:130, 100:140]  # 100 m by 200 m, away from the edges of what was walked
    missed = -np.log1p(-middle).mean()
    assert missed == pytest.approx(width / 20.0, rel=0.15)
    assert pod[5, 5] == pytest.approx(0.0, abs=1e-9)


def test_rest_and_rides_are_not_walked() -> None:
    random = np.random.default_rng(0)
    rest = walk(*random.normal(0.0, 1.2, (500, 2)))
    assert pod_of_walks([rest], hills(), 20.0).max() < 0.5
    ride = replace(walk((-200.0, 0.0), (200.0, 0.0)), time=np.array([0.0, 40.0]))
    assert pod_of_walks([ride], hills(), 20.0).max() == pytest.approx(0.0, abs=1e-9)


def test_a_walk_beyond_the_map_counts_as_far_as_it_lies_on_it() -> None:
    pod = pod_of_walks([walk((0.0, 0.0), (5000.0, 0.0))], hills(), 20.0)
    assert pod[:, -1].max() > 0.5 and pod[:, 0].max() == pytest.approx(0.0, abs=1e-9)


@given(arrays(np.float64, (6, 7), elements=st.floats(0.0, 1.0)), arrays(np.float64, (6, 7), elements=SHARES), SHARES)
def test_probability_is_neither_lost_nor_made(weights: np.ndarray, pod: np.ndarray, rest: float) -> None:
    poa = (weights + 1e-6) / (weights + 1e-6).sum() * (1.0 - rest)
    after = shift(poa, rest, pod)
    assert float(after.left.sum()) + after.rest + after.success == pytest.approx(1.0, abs=1e-9)
    assert float(after.normalised.sum()) + after.normalised_rest == pytest.approx(1.0, abs=1e-9)
    assert after.rest == rest
    assert (after.left <= poa + 1e-15).all()
    # What was not searched is likelier than before, in the same ratio everywhere.
    assert after.normalised_rest >= rest - 1e-12
