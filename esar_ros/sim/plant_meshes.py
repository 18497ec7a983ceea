"""Plants and rocks: unit height, a detailed and a coarse mesh a kind; instances scale them."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.mesh_builder import Mesh, MeshBuilder, unit_sphere

# Crown shapes shared by meshes and ray-cast proxies, as shares of the plant's height.
CONIFER_CROWN_BASE = 0.08
CONIFER_RADIUS = 0.17
BROADLEAF_CROWN = (0.62, 0.36, 0.38)  # centre z, horizontal radius, vertical radius
BROADLEAF_TRUNK_RADIUS = 0.03
BUSH_CROWN = (0.45, 0.62, 0.55)
ROCK_CROWN = (0.30, 0.85, 0.70)

_BARK = (0.085, 0.055, 0.036)


def conifer(seed: int, tiers: int, branches: int) -> Mesh:
    """Fir of stacked ragged cones; darker inside, lighter at the tips."""
    rng = np.random.default_rng(seed)
    b = MeshBuilder()
    if tiers > 3:
        b.limb((0.0, 0.0, 0.0), (0.0, 0.0, 0.2), 0.022, 0.018, _BARK, 4)
    span = 1.0 - CONIFER_CROWN_BASE
    for tier in range(tiers):
        share = tier / tiers
        z = CONIFER_CROWN_BASE + span * share
        radius = 1.12 * CONIFER_RADIUS * (1.0 - share) ** 0.9 * rng.uniform(0.92, 1.08)
        top = min(1.0, z + 1.75 * span / tiers) if tier < tiers - 1 else 1.0
        count = 2 * branches
        angles = rng.uniform(0.0, 6.28) + np.arange(count) * (2.0 * np.pi / count)
        tip = np.arange(count) % 2 == 0
        r = radius * np.where(tip, rng.uniform(0.9, 1.15, count), rng.uniform(0.55, 0.7, count))
        rim_z = z + np.where(tip, -0.02, 0.02) * rng.uniform(0.6, 1.4, count)
        rim = np.stack([r * np.cos(angles), r * np.sin(angles), rim_z], axis=1)
        up = np.stack([np.cos(angles), np.sin(angles), np.full(count, 0.75)], axis=1)
        normals = np.concatenate([up / np.linalg.norm(up, axis=1, keepdims=True), [[0.0, 0.0, 1.0]]])
        light = np.where(tip, 1.35, 0.55) * rng.uniform(0.85, 1.15, count)
        green = np.array([0.036, 0.062, 0.027])
        colours = np.concatenate([light[:, None] * green, [green * (0.42 + 0.5 * share)]])
        i = np.arange(count)
        faces = np.stack([i, (i + 1) % count, np.full(count, count)], axis=1)
        b.add(np.concatenate([rim, [[0.0, 0.0, top]]]), normals, faces, colours)
    return b.mesh()


def broadleaf(seed: int, sides: int, rings: int) -> Mesh:
    """Birch: a trunk under a lumpy crown, darker underneath."""
    rng = np.random.default_rng(seed)
    b = MeshBuilder()
    centre, wide, high = BROADLEAF_CROWN
    b.limb((0.0, 0.0, 0.0), (0.0, 0.0, centre), BROADLEAF_TRUNK_RADIUS, 0.02, (0.30, 0.28, 0.25), 4)
    _blob(b, rng, (0.0, 0.0, centre), (wide, wide, high), (0.085, 0.125, 0.030), sides, rings, 0.22)
    return b.mesh()


def bush(seed: int, sides: int, rings: int) -> Mesh:
    """Rhododendron scrub."""
    rng = np.random.default_rng(seed)
    b = MeshBuilder()
    centre, wide, high = BUSH_CROWN
    _blob(b, rng, (0.0, 0.0, centre), (wide, wide, high), (0.060, 0.085, 0.030), sides, rings, 0.28)
    return b.mesh()


def rock(seed: int, sides: int, rings: int) -> Mesh:
    """Angular boulder with flat facets, partly sunk."""
    rng = np.random.default_rng(seed)
    unit, faces = unit_sphere(sides, rings)
    centre, wide, high = ROCK_CROWN
    stretch = np.array([wide, wide, high]) * rng.uniform(0.88, 1.1, 3)
    points = unit * rng.uniform(0.80, 1.14, (len(unit), 1)) * stretch + [0.0, 0.0, centre]
    grey = np.array([0.205, 0.198, 0.182]) * rng.uniform(0.72, 1.2, (len(faces), 1))
    lichen = rng.random((len(faces), 1)) < 0.25
    b = MeshBuilder()
    b.flat(points[faces], np.where(lichen, grey * [0.85, 0.95, 0.62], grey))
    return b.mesh()


def pebble(seed: int, sides: int, rings: int) -> Mesh:
    """Boulder for afar: a few shared vertices, dark below."""
    b = MeshBuilder()
    centre, wide, high = ROCK_CROWN
    _blob(b, np.random.default_rng(seed), (0.0, 0.0, centre), (wide, wide, high), (0.25, 0.24, 0.22), sides, rings, 0.2)
    return b.mesh()


def _blob(
    b: MeshBuilder,
    rng: np.random.Generator,
    centre: tuple[float, float, float],
    radii: tuple[float, float, float],
    colour: tuple[float, float, float],
    sides: int,
    rings: int,
    rough: float,
) -> None:
    unit, faces = unit_sphere(sides, rings)
    swell = 1.0 + rng.uniform(-rough, 0.6 * rough, (len(unit), 1))
    light = (0.66 + 0.46 * unit[:, 2:]) * rng.uniform(0.6, 1.35, (len(unit), 1))
    b.add(unit * swell * radii + np.array(centre), unit, faces, light * np.array(colour))
