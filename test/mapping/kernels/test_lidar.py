"""LiDAR beams against a plain reading of what they say."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.inputs import Scan
from esar_ros.mapping.kernels.blocks import HIT, MIN_LOG_ODDS, MISS, NEVER_SEEN
from esar_ros.mapping.kernels.integration import NOISE_MARGIN, SURFACE_MARGIN
from esar_ros.mapping.map.voxel_map import FREE, OCCUPIED, UNKNOWN, VoxelMap

REACH = 20.0
SEEDS = st.integers(0, 2**32 - 1)


def random_scan(seed: int, beams: int = 60) -> Scan:
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(beams, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    ranges = rng.uniform(0.5, 30.0, beams)
    kind = rng.uniform(size=beams)
    ranges[kind < 0.1], ranges[(kind > 0.1) & (kind < 0.2)], ranges[(kind > 0.2) & (kind < 0.25)] = np.inf, np.nan, -1.0
    turn = rng.normal(size=4)
    return Scan(directions, ranges, Pose(rng.uniform(-25.0, 25.0, 3), turn / np.linalg.norm(turn)))


def plain(scan: Any, reach: Any, noise: Any, voxel_map: Any, centers: Any) -> Any:
    """Voxels (N,) that a scan hits and crosses, each beam against each voxel's box; what is too close to call."""
    size = voxel_map.resolution
    low, high = centers - size / 2, centers + size / 2
    hit, crossed, undecided = (np.zeros(len(centers), bool) for _ in range(3))
    along = scan.directions @ scan.pose.rotation.T
    for direction, length in zip(along, scan.ranges, strict=True):
        if not length > 0.0:
            continue
        if length <= reach:
            end = scan.pose.position + direction * length
            hit |= ((end >= low) & (end < high)).all(axis=1)
        margin = SURFACE_MARGIN * size + NOISE_MARGIN * noise * min(length, reach)
        free = min(length - margin if length <= reach else length, reach)
        faces = np.sort([(low - scan.pose.position) / direction, (high - scan.pose.position) / direction], axis=0)
        enter, leave = faces[0].max(axis=1), faces[1].min(axis=1)
        met = (leave > 0.0) & (leave - np.maximum(enter, 0.0) > -1e-6) & (leave < free + 1e-6)
        close = met & ((leave - np.maximum(enter, 0.0) < 1e-6) | (np.abs(leave - free) < 1e-6))
        crossed |= met & ~close
        undecided |= close
    return hit, crossed & ~hit, undecided & ~crossed & ~hit


@settings(deadline=None, max_examples=8)
@given(seed=SEEDS, noisy=st.booleans())
def test_beams_hit_and_free_what_they_cross(
    small_map: Callable[..., VoxelMap], voxel_centers: Any, seed: int, noisy: Any
) -> None:
    voxel_map, scan, noise = small_map(2.0), random_scan(seed), 0.02 * noisy
    voxel_map.integrate_scan(scan, REACH, noise)
    centers = voxel_centers(voxel_map)
    hit, crossed, undecided = plain(scan, REACH, noise, voxel_map, centers)
    odds = voxel_map.log_odds(centers)
    found = np.where(np.isnan(odds), NEVER_SEEN, np.round(odds * 20)).astype(int)
    expected = np.where(hit, HIT, np.where(crossed, -MISS, NEVER_SEEN))
    np.testing.assert_array_equal(found[~undecided], expected[~undecided])
    assert undecided.sum() < 0.01 * crossed.sum() + 2
    x, y, z = (int(n) for n in voxel_map.shape)
    state = voxel_map.window(voxel_map.first_cell, (x, y, z))
    assert (voxel_map.free_count, voxel_map.occupied_count) == ((state == FREE).sum(), (state == OCCUPIED).sum())


@settings(deadline=None, max_examples=15)
@given(seed=SEEDS)
def test_the_order_of_beams_does_not_matter_and_depth_may_come_between(
    small_map: Callable[..., VoxelMap], random_frames: Any, whole: Any, seed: int
) -> None:
    one, other, scan = small_map(), small_map(), random_scan(seed)
    order = np.random.default_rng(seed).permutation(len(scan.ranges))
    frame = random_frames(seed, count=1)[0]
    for _ in range(6):
        one.integrate_scan(scan, REACH)
        other.integrate_scan(Scan(scan.directions[order], scan.ranges[order], scan.pose), REACH)
        one.integrate_frame(frame, REACH)
        other.integrate_frame(frame, REACH)
    np.testing.assert_array_equal(whole(one), whole(other))
    state = whole(one)
    assert (one.free_count, one.occupied_count) == ((state == FREE).sum(), (state == OCCUPIED).sum())
    assert np.nanmin(one.log_odds(np.argwhere(state == FREE)[:500] - 32 + 0.5)) >= MIN_LOG_ODDS * 0.05 - 1e-6


def test_points_become_beams(small_map: Callable[..., VoxelMap]) -> None:
    points = np.array([[10.0, 0.0, 0.0], [np.nan, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, np.inf, 0.0], [0.0, 0.0, -40.0]])
    scan = Scan.of_points(points, Pose(np.array([0.5, 0.5, 0.5])))
    assert np.isnan(scan.ranges[[1, 2, 3]]).all()
    voxel_map = small_map()
    voxel_map.integrate_scan(scan, REACH)
    np.testing.assert_array_equal(
        voxel_map.state([[10.5, 0.5, 0.5], [5.5, 0.5, 0.5], [0.5, 0.5, -15.5], [0.5, 0.5, -25.5]]),
        [OCCUPIED, FREE, FREE, UNKNOWN],
    )
    voxel_map.integrate_scan(Scan.of_points(np.zeros((0, 3)), Pose()), REACH)
    assert voxel_map.occupied_count == 1


def test_the_noisier_the_range_the_more_is_left_alone_before_a_beam_s_end(small_map: Callable[..., VoxelMap]) -> None:
    voxel_map = small_map()
    voxel_map.integrate_scan(Scan.of_points(np.array([[20.0, 0.0, 0.0]]), Pose(np.full(3, 0.5))), REACH, 0.1)
    places = [[x, 0.5, 0.5] for x in (14.5, 17.5, 20.5)]
    np.testing.assert_array_equal(voxel_map.state(places), [FREE, UNKNOWN, OCCUPIED])


def test_bad_scans_are_refused(small_map: Callable[..., VoxelMap]) -> None:
    voxel_map, good = small_map(), random_scan(1)
    bad = [
        Scan(good.directions * 2.0, good.ranges, good.pose),
        Scan(good.directions[:-1], good.ranges, good.pose),
        Scan(good.directions, good.ranges * 1000.0, good.pose),
        Scan(good.directions * np.nan, good.ranges, good.pose),
        Scan(good.directions, good.ranges, Pose(np.array([math.nan, 0.0, 0.0]))),
    ]
    for scan in bad:
        with pytest.raises(MapInputError):
            voxel_map.integrate_scan(scan, REACH)
    with pytest.raises(MapInputError):
        voxel_map.integrate_scan(good, math.inf)
    assert voxel_map.free_count == 0
