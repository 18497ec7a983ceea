"""Relief, its triangles for a view, and the light baked on it."""

from __future__ import annotations

import math
from datetime import datetime

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from esar_ros.sim.render.detail_textures import paint_noise
from esar_ros.sim.render.ground_light import GroundLight, cast_shadows
from esar_ros.sim.render.terrain_lod import TerrainLod
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.terrain.noise import fbm, gradient_noise, ridged
from esar_ros.sim.terrain.relief import surface_normals
from esar_ros.sim.world.environment import Environment
from esar_ros.sim.world.world import World

EVERYWHERE = np.zeros((0, 4))


@given(x=st.floats(-1e4, 1e4), y=st.floats(-1e4, 1e4), seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=200)
def test_noise_is_bounded_continuous_and_repeatable(x: float, y: float, seed: int) -> None:
    for value in (gradient_noise(x, y, seed), fbm(x, y, 4, seed, 0.5)):
        assert -2.0 <= value <= 2.0
    assert 0.0 <= ridged(x, y, 4, seed) <= 1.0
    assert abs(gradient_noise(x + 1e-6, y, seed) - gradient_noise(x, y, seed)) < 1e-4
    assert gradient_noise(x, y, seed) == gradient_noise(x, y, seed)


def test_normals_of_a_plane() -> None:
    x = np.arange(9, dtype=np.float32) * 2.0
    normals = surface_normals(np.tile(0.5 * x, (9, 1)), 2.0)
    assert normals == pytest.approx(np.broadcast_to([-1 / math.sqrt(5), 0, 2 / math.sqrt(5)], (9, 9, 3)), abs=1e-5)


def area_of(vertices: np.ndarray, faces: np.ndarray) -> float:
    """Area in m^2 that triangles cover from above."""
    a, b, c = (vertices[faces[:, k], :2].astype(np.float64) for k in range(3))
    u, v = b - a, c - a
    return float(np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]).sum() / 2)


@pytest.mark.parametrize("eye", [(0.0, 0.0, 10.0), (-800.0, 700.0, 40.0), (300.0, 2.0, 200.0)])
def test_triangles_tile_the_map_without_cracks(place: PlaceMap, eye: tuple[float, float, float]) -> None:
    lod = TerrainLod(place.heights, place.size)
    at = np.array([eye[0], eye[1], float(place.ground_height(eye[:2])) + eye[2]])
    vertices, near, far = lod.select(at, EVERYWHERE, 0.004, 0.1, 140.0)
    faces = np.concatenate([near, far])
    assert area_of(vertices, faces) == pytest.approx(place.size**2, rel=1e-6)
    # No T-junctions: every edge inside the map belongs to two triangles.
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    unique, counts = np.unique(edges, axis=0, return_counts=True)
    lonely = unique[counts == 1]
    ends = np.abs(vertices[lonely][..., :2])
    assert counts.max() == 2
    assert (np.isclose(ends, place.size / 2).all(axis=1)).any(axis=1).all()


def test_near_ground_keeps_its_error_bound(place: PlaceMap) -> None:
    lod = TerrainLod(place.heights, place.size)
    eye = np.array([0.0, 0.0, 10.0])
    vertices, near, _ = lod.select(eye, EVERYWHERE, 0.004, 0.1, 140.0)
    corners = vertices[near].astype(np.float64)
    for weights in ((1 / 3, 1 / 3, 1 / 3), (0.5, 0.5, 0.0), (0.2, 0.2, 0.6)):
        points = np.einsum("k,tkc->tc", weights, corners)
        close = np.hypot(points[:, 0], points[:, 1]) < 120.0
        error = np.abs(points[close, 2] - place.ground_height(points[close, :2]))
        assert np.percentile(error, 99) < 0.15 and error.max() < 0.5


def test_frustum_takes_away_only_what_is_outside(place: PlaceMap) -> None:
    lod = TerrainLod(place.heights, place.size)
    eye = np.array([0.0, 0.0, 10.0])
    east = np.array([[1.0, 0.0, 0.0, 0.0]])
    every = sum(len(part) for part in lod.select(eye, EVERYWHERE, 0.004, 0.1, 140.0)[1:])
    vertices, near, far = lod.select(eye, east, 0.004, 0.1, 140.0)
    assert len(near) + len(far) < 0.75 * every
    assert area_of(vertices, np.concatenate([near, far])) >= place.size**2 / 2


def test_shadows_fall_away_from_the_sun(world: World, place: PlaceMap) -> None:
    light = GroundLight(place, world.flora, 2048, paint_noise(), world.scenery.solids)
    light.shine(Environment().to_sun(place))
    assert light.texture.shape == (2048, 2048, 4)
    assert light.sun_share.mean() > 0.95  # a high summer sun leaves little in shadow
    assert 0.03 < (light.texture[..., 2] < 128).mean() < 0.6  # but trees throw theirs
    light.shine(Environment(local_time=datetime(2024, 7, 1, 19, 20)).to_sun(place))
    east_facing = surface_normals(place.heights, place.cell)[..., 0] > 0.4
    assert light.sun_share[east_facing].mean() < light.sun_share[~east_facing].mean() - 0.2
    light.shine(Environment(local_time=datetime(2024, 7, 1, 0, 30)).to_sun(place))
    assert not light.sun_share.any() and not light.texture[..., 0].any()


@given(azimuth=st.floats(0.0, 2.0 * math.pi), height=st.floats(0.01, 1.2), seed=st.integers(0, 50))
@example(azimuth=0.0, height=math.pi / 2.0, seed=1)
@settings(deadline=None, max_examples=40)
def test_shadows_are_those_of_marching_all_the_way(azimuth: float, height: float, seed: int) -> None:
    """The rest of the way is left out where all the ground ahead is risen over: the share of the sun stays the same."""
    n, cell = 33, 2.0
    h = np.array([[8.0 * fbm(x / 6.0, y / 6.0, 3, seed, 0.5) for x in range(n)] for y in range(n)], np.float32)
    level = math.cos(height) if height < 1.5 else 0.0
    sun = level * math.cos(azimuth), level * math.sin(azimuth), math.sin(height)
    shares = np.empty_like(h)
    cast_shadows(h, cell, *sun, shares)
    flat = math.hypot(sun[0], sun[1]) + 1e-9
    ux, uy, climb = sun[0] / flat, sun[1] / flat, sun[2] / flat * cell
    for j, i in np.ndindex(h.shape):
        share, t = 1.0, 1.0
        while share > 0.0:
            x, y, z = i + ux * t, j + uy * t, float(h[j, i]) + 0.3 + climb * t
            if not (0.0 <= x < n - 1 and 0.0 <= y < n - 1) or z > h.max():
                break
            a, b = int(x), int(y)
            rows = h[b : b + 2, a : a + 2].astype(float) @ [1.0 - (x - a), x - a]
            gap = z - (rows[0] * (1.0 - (y - b)) + rows[1] * (y - b))
            share = min(share, gap / (t * cell) * 25.0 + 0.5)
            t += max(1.0, 0.35 * gap / cell)
        assert shares[j, i] == pytest.approx(max(share, 0.0), abs=1e-4)


def test_steep_ground_holds_no_snow_and_only_hollows_hold_water(world: World, place: PlaceMap) -> None:
    light = GroundLight(place, world.flora, 2048, paint_noise(), world.scenery.solids)
    hold = light.texture[1::2, 1::2, 3][: place.samples - 1, : place.samples - 1] / 255.0
    up = surface_normals(place.heights, place.cell)[1:, 1:, 2]
    assert hold[up < 0.5].max(initial=0.0) < 0.1
    assert hold[up > 0.95].mean() > hold[(up > 0.6) & (up < 0.75)].mean() + 0.1
    assert not (hold[up < 0.95] > 0.84).any()
