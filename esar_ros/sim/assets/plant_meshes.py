"""Plants and rocks: unit height, a detailed and a coarse mesh a kind; instances scale them."""

from __future__ import annotations

import dataclasses

import numpy as np

from esar_ros.sim.assets.mesh_builder import Mesh, MeshBuilder, unit_sphere

# Crown shapes shared by meshes and ray-cast proxies, as shares of the plant's height: centre z, horizontal and
# vertical radius; a fir's or larch's is a cone on CONIFER_CROWN_BASE.
CONIFER_CROWN_BASE = 0.08
BROADLEAF_TRUNK_RADIUS = 0.03
SHAPES: dict[str, tuple[float, float, float]] = {
    "conifer": (0.54, 0.17, 0.46),
    "broadleaf": (0.62, 0.36, 0.38),
    "larch": (0.54, 0.17, 0.46),
    "evergreen": (0.58, 0.46, 0.42),
    "bush": (0.45, 0.62, 0.55),
    "rock": (0.30, 0.85, 0.70),
    "boulder": (0.32, 0.80, 0.68),
    "tamarisk": (0.36, 0.62, 0.58),
    "salt_block": (0.30, 0.62, 0.62),
    "gobi_stone": (0.28, 0.80, 0.66),
    "ice_block": (0.40, 0.60, 0.60),
}
TREES = ("conifer", "broadleaf", "larch", "evergreen")  # drawn as billboards from afar

StoneColours = tuple[tuple[float, float, float], tuple[float, float, float], float]

_BARK = (0.085, 0.055, 0.036)

# A billboard is one triangle about the painted shape: half the set-up of a quad and, for firs, half the pixels.
# Corners by tree, x in half atlas cells, y in heights.
_SLENDER = ((-0.54, -0.01), (0.54, -0.01), (0.0, 1.06))
_ROUND = ((1.2, 1.02), (-1.2, 1.02), (0.0, -0.35))
_BROAD = ((1.45, 1.02), (-1.45, 1.02), (0.0, -0.42))
BILLBOARD_CORNERS: dict[str, tuple[tuple[float, float], ...]] = {
    "conifer": _SLENDER, "broadleaf": _ROUND, "larch": _SLENDER, "evergreen": _BROAD,
}  # fmt: skip


def meshes(species: str, variant: int) -> tuple[Mesh, Mesh]:
    """Full and coarse mesh of a species."""
    v = variant
    if species == "conifer":
        return conifer(31 + v, 7, 6), conifer(41 + v, 3, 3)
    if species == "larch":
        return larch(131 + v, 8, 5), larch(141 + v, 3, 3)
    if species == "broadleaf":
        return broadleaf(51 + v, 8, 6), broadleaf(61 + v, 5, 3)
    if species == "evergreen":
        return evergreen(151 + v, 9, 6), evergreen(161 + v, 6, 3)
    if species == "bush":
        return bush(71 + v, 7, 5), bush(81 + v, 5, 3)
    if species == "tamarisk":
        return tamarisk(171 + v, 7, 5), tamarisk(181 + v, 5, 3)
    colours = _STONES[species]
    if species == "salt_block":
        return slab(191 + v, 3, colours), slab(201 + v, 1, colours)
    if species == "rock":
        return rock(91 + v, 7, 5), pebble(101 + v, 5, 3)
    return stone(211 + v, 7, 5, species, colours), stone(221 + v, 5, 3, species, colours)


# Stones: base colour, colour of a share of the facets, that share.
_STONES: dict[str, tuple[tuple[float, float, float], tuple[float, float, float], float]] = {
    "rock": ((0.205, 0.198, 0.182), (0.174, 0.188, 0.113), 0.25),
    "boulder": ((0.200, 0.162, 0.120), (0.105, 0.092, 0.078), 0.35),
    "salt_block": ((0.560, 0.540, 0.500), (0.400, 0.355, 0.300), 0.45),
    "gobi_stone": ((0.120, 0.098, 0.080), (0.230, 0.190, 0.150), 0.25),
    "ice_block": ((0.480, 0.640, 0.740), (0.780, 0.830, 0.870), 0.40),
}


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
        radius = 1.12 * SHAPES["conifer"][1] * (1.0 - share) ** 0.9 * rng.uniform(0.92, 1.08)
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
    centre, wide, high = SHAPES["broadleaf"]
    b.limb((0.0, 0.0, 0.0), (0.0, 0.0, centre), BROADLEAF_TRUNK_RADIUS, 0.02, (0.30, 0.28, 0.25), 4)
    _blob(b, rng, (0.0, 0.0, centre), (wide, wide, high), (0.085, 0.125, 0.030), sides, rings, 0.22)
    return b.mesh()


def bush(seed: int, sides: int, rings: int) -> Mesh:
    """Rhododendron scrub."""
    rng = np.random.default_rng(seed)
    b = MeshBuilder()
    centre, wide, high = SHAPES["bush"]
    _blob(b, rng, (0.0, 0.0, centre), (wide, wide, high), (0.060, 0.085, 0.030), sides, rings, 0.28)
    return b.mesh()


def larch(seed: int, tiers: int, branches: int) -> Mesh:
    """Larch: a slim, open fir of lighter, yellower green on a visible stem."""
    made = conifer(seed, tiers, branches)
    colours = made.colours * np.array([2.0, 1.62, 1.15])
    positions = made.positions.copy()
    upper = positions[:, 2] > 0.05
    positions[upper, :2] *= 0.92
    return dataclasses.replace(made, positions=positions.astype(np.float32), colours=colours.astype(np.float32))


def evergreen(seed: int, sides: int, rings: int) -> Mesh:
    """Subtropical broad-leaved tree: a short trunk under a wide crown of several domes, dark and glossy."""
    rng = np.random.default_rng(seed)
    b = MeshBuilder()
    centre, wide, high = SHAPES["evergreen"]
    b.limb((0.0, 0.0, 0.0), (0.0, 0.0, centre), BROADLEAF_TRUNK_RADIUS, 0.02, (0.115, 0.098, 0.080), 4)
    if rings <= 3:
        _leaves(b, rng, (0.0, 0.0, centre), (wide, wide, high), (0.046, 0.078, 0.022), sides, rings + 1)
        return b.mesh()
    _leaves(b, rng, (0.0, 0.0, centre), (0.80 * wide, 0.80 * wide, 0.94 * high), (0.040, 0.072, 0.020), sides, rings)
    for angle in rng.uniform(0.0, 1.2) + np.arange(4) * 1.571:
        at = (0.48 * wide * np.cos(angle), 0.48 * wide * np.sin(angle), centre + rng.uniform(-0.10, 0.12))
        tone = rng.uniform(0.85, 1.35)
        _leaves(b, rng, at, (0.50 * wide, 0.50 * wide, 0.48 * high), (0.048 * tone, 0.080 * tone, 0.022 * tone), 8, 5)
    return b.mesh()


def tamarisk(seed: int, sides: int, rings: int) -> Mesh:
    """Sand mound held together by a half-dead tamarisk."""
    rng = np.random.default_rng(seed)
    b = MeshBuilder()
    _, wide, _ = SHAPES["tamarisk"]
    _blob(b, rng, (0.0, 0.0, 0.02), (wide, wide, 0.5), (0.360, 0.285, 0.195), sides, rings, 0.14)
    for angle in np.arange(5 if rings > 3 else 3) * 1.256 + rng.uniform(0.0, 1.2):
        reach = rng.uniform(0.1, 0.34)
        at = (reach * np.cos(angle), reach * np.sin(angle), rng.uniform(0.44, 0.62))
        tone = rng.uniform(0.7, 1.2)
        _blob(
            b, rng, at, (0.24, 0.24, 0.30), (0.118 * tone, 0.104 * tone, 0.062 * tone), 5, 4 if rings > 3 else 3, 0.35
        )
    return b.mesh()


def slab(seed: int, plates: int, colours: StoneColours) -> Mesh:
    """Plates of salt crust that pushed each other up: tilted, sharp-edged, earthy underneath."""
    rng = np.random.default_rng(seed)
    b = MeshBuilder()
    base, other, share = colours
    for plate in range(plates):
        yaw = rng.uniform(0.0, 6.28)
        tilt = rng.uniform(0.55, 1.15)
        count = 5
        angles = np.sort(rng.uniform(0.0, 6.28, count)) + yaw
        r = rng.uniform(0.45, 0.68, count)
        flat = np.stack([r * np.cos(angles), r * np.sin(angles), np.zeros(count)], axis=1)
        turn = np.array([[1.0, 0.0, 0.0], [0.0, np.cos(tilt), -np.sin(tilt)], [0.0, np.sin(tilt), np.cos(tilt)]])
        spin = np.array([[np.cos(yaw), -np.sin(yaw), 0.0], [np.sin(yaw), np.cos(yaw), 0.0], [0.0, 0.0, 1.0]])
        thick = 0.16 * (turn @ np.array([0.0, 0.0, 1.0]))
        shift = (
            np.array([rng.uniform(-0.25, 0.25), rng.uniform(-0.25, 0.25), 0.36]) if plate else np.array([0.0, 0.0, 0.4])
        )
        top = (flat @ turn.T + thick) @ spin.T + shift
        under = (flat @ turn.T - thick) @ spin.T + shift
        rim = np.arange(count)
        after = (rim + 1) % count
        fans = [np.stack([np.full(count - 2, 0), rim[1:-1], rim[2:]], axis=1)]
        points = np.concatenate([top, under])
        faces = np.concatenate(
            [
                fans[0],
                fans[0][:, ::-1] + count,
                np.stack([rim, rim + count, after], axis=1),
                np.stack([after, rim + count, after + count], axis=1),
            ]
        )
        tone = rng.uniform(0.75, 1.15, (len(faces), 1))
        earthy = (rng.random((len(faces), 1)) < share) & (np.arange(len(faces))[:, None] >= count - 2)
        b.flat(points[faces], np.where(earthy, np.array(other), np.array(base)) * tone)
    return b.mesh()


def stone(seed: int, sides: int, rings: int, species: str, colours: StoneColours) -> Mesh:
    """Boulder, gobi stone or block of ice with flat facets; coastal boulders are the rounder ones."""
    rng = np.random.default_rng(seed)
    unit, faces = unit_sphere(sides, rings)
    centre, wide, high = SHAPES[species]
    rough = 0.10 if species == "boulder" else 0.20
    stretch = np.array([wide, wide, high]) * rng.uniform(0.88, 1.08, 3)
    points = unit * rng.uniform(1.0 - rough, 1.0 + 0.7 * rough, (len(unit), 1)) * stretch + [0.0, 0.0, centre]
    base, other, share = colours
    tone = rng.uniform(0.78, 1.18, (len(faces), 1))
    b = MeshBuilder()
    b.flat(points[faces], np.where(rng.random((len(faces), 1)) < share, np.array(other), np.array(base)) * tone)
    return b.mesh()


def rock(seed: int, sides: int, rings: int) -> Mesh:
    """Angular boulder with flat facets, partly sunk."""
    rng = np.random.default_rng(seed)
    unit, faces = unit_sphere(sides, rings)
    centre, wide, high = SHAPES["rock"]
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
    centre, wide, high = SHAPES["rock"]
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


def _leaves(
    b: MeshBuilder,
    rng: np.random.Generator,
    centre: tuple[float, float, float],
    radii: tuple[float, float, float],
    colour: tuple[float, float, float],
    sides: int,
    rings: int,
) -> None:
    """A crown of flat tufts, each its own green; darker below."""
    unit, faces = unit_sphere(sides, rings)
    points = unit * rng.uniform(0.80, 1.12, (len(unit), 1))
    up = points[faces].mean(axis=1)[:, 2:]
    tone = (0.80 + 0.38 * up) * rng.uniform(0.62, 1.38, (len(faces), 1))
    yellow = 1.0 + np.array([0.5, 0.25, 0.0]) * rng.uniform(0.0, 0.6, (len(faces), 1))
    b.flat((points * radii + np.array(centre))[faces], tone * yellow * np.array(colour))
