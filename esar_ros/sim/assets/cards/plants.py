"""Trees and bushes of cut-out cards, within the shapes that rays and collisions meet (plant_meshes.SHAPES)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.assets.cards.card_mesh import CardBuilder, CardMesh, of_length_one
from esar_ros.sim.assets.cards.pictures import Picture
from esar_ros.sim.assets.mesh_builder import Colour, MeshBuilder, unit_sphere
from esar_ros.sim.assets.plant_meshes import BROADLEAF_TRUNK_RADIUS, CONIFER_CROWN_BASE, SHAPES

_BARK = (0.085, 0.055, 0.036)
_SAND = (0.360, 0.285, 0.195)
_GOLDEN = 2.39996  # rad, between one leaf and the next
Vectors = NDArray[np.float64]


def fir(seed: int, whorls: int, fronds: int, green: Colour, spires: int, stem: bool) -> CardMesh:
    """Whorls of drooping branches about crossed spires that fill the crown where it is seen from the side."""
    rng = np.random.default_rng(seed)
    made, tone = CardBuilder(), np.array(green)
    wide, base = SHAPES["conifer"][1], CONIFER_CROWN_BASE
    if stem:
        trunk = MeshBuilder()
        trunk.limb((0.0, 0.0, 0.0), (0.0, 0.0, 0.3), 0.018, 0.014, _BARK, 4)
        made.solid(trunk.mesh())
    for k in range(spires):
        a = rng.uniform(0.0, 0.5) + k * math.pi / spires
        side = np.array([math.cos(a), math.sin(a), 0.0])
        low, high, up = np.array([0.0, 0.0, 0.6 * base]), np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.6])
        corners = np.array([low - wide * side, high, low + wide * side])
        normals = of_length_one(np.array([up - side, up, up + side]))
        made.blade(corners, normals, np.outer((0.30, 0.80, 0.30), tone), Picture.SPIRE)
    for whorl in range(whorls):
        share = (whorl + 0.35) / (whorls - 0.35)
        reach = 1.12 * wide * (1.0 - share) ** 0.95
        start = rng.uniform(0.0, 2.0 * math.pi)
        for k in range(fronds):
            a = start + (k + rng.uniform(-0.2, 0.2)) * 2.0 * math.pi / fronds
            long = reach * rng.uniform(0.82, 1.12) + 0.012
            out, roll = np.array([math.cos(a), math.sin(a), 0.0]), rng.uniform(-0.45, 0.45)
            across = np.array([-math.sin(a) * math.cos(roll), math.cos(a) * math.cos(roll), math.sin(roll)])
            half = long * (0.48 if fronds > 5 else 0.62) + 0.008
            root = np.array([0.0, 0.0, base + (1.0 - base) * share + 0.15 * long])
            tip = root + long * out - np.array([0.0, 0.0, rng.uniform(0.18, 0.42) * long])
            corners = np.array([root - half * across, tip, root + half * across])
            bright = rng.uniform(0.8, 1.2) * (0.75 + 0.35 * share)
            normal = of_length_one(0.75 * out + np.array([0.0, 0.0, 0.85]))
            made.blade(corners, normal, bright * np.outer((0.55, 1.55, 0.55), tone), Picture.FROND)
    return made.mesh()


def crown(
    seed: int, species: str, green: Colour, cards: int, size: float, core: tuple[int, int], bark: Colour | None
) -> CardMesh:
    """Leaf cards about a dark core, lit as a round body; bark: of a trunk, if there is one.

    size: of a card's half side, in crown radii; core: sides and rings of it.
    """
    rng = np.random.default_rng(seed)
    made = CardBuilder()
    centre, wide, high = SHAPES[species]
    radii, middle = np.array([wide, wide, high]), np.array([0.0, 0.0, centre])
    if bark is not None:
        trunk = MeshBuilder()
        trunk.limb((0.0, 0.0, 0.0), (0.0, 0.0, centre), BROADLEAF_TRUNK_RADIUS, 0.02, bark, 4)
        made.solid(trunk.mesh())
    unit, faces = unit_sphere(*core)
    body = 0.74 * unit * (1.0 + rng.uniform(-0.15, 0.1, (len(unit), 1))) * radii + middle
    made.add(body, unit, np.array(green) * (0.45 + 0.25 * unit[:, 2:]), (0.0, 0.0, float(Picture.SOLID)), faces)
    for k in range(cards):
        z = 0.95 * max(1.0 - 2.0 * (k + 0.5) / cards, -0.8) + 0.05
        a, r = _GOLDEN * k + rng.uniform(-0.3, 0.3), math.sqrt(max(0.0, 1.0 - z * z))
        out = np.array([r * math.cos(a), r * math.sin(a), z])
        at = rng.uniform(0.60, 0.86) * out * radii + middle
        half = size * rng.uniform(0.8, 1.2) * wide
        tint = np.array(green) * rng.uniform(0.75, 1.3) * (1.0 + rng.random() * np.array([0.27, 0.12, 0.0]))
        _leaf_card(made, rng, at, out, half, high / wide, tint, centre, high)
    return made.mesh()


def tamarisk(seed: int, cards: int, size: float, core: tuple[int, int]) -> CardMesh:
    """A mound of sand held together by a half-dead tamarisk on top of it."""
    rng = np.random.default_rng(seed)
    made = CardBuilder()
    _, wide, _ = SHAPES["tamarisk"]
    unit, faces = unit_sphere(*core)
    mound = unit * (1.0 + rng.uniform(-0.14, 0.08, (len(unit), 1))) * (wide, wide, 0.5) + [0.0, 0.0, 0.02]
    place = np.column_stack([2.0 * mound[:, :2], np.full(len(mound), float(Picture.SOLID))])
    made.add(mound, unit, np.array(_SAND) * rng.uniform(0.9, 1.08, (len(unit), 1)), place, faces)
    for k in range(cards):
        a, r = _GOLDEN * k, 0.36 * math.sqrt((k + 0.5) / cards)
        at = np.array([r * math.cos(a), r * math.sin(a), 0.74 - 0.55 * r + rng.uniform(-0.06, 0.08)])
        out = of_length_one(np.array([math.cos(a) * r, math.sin(a) * r, 0.35]))
        tint = np.array([0.118, 0.104, 0.058]) * rng.uniform(0.7, 1.25)
        _leaf_card(made, rng, at, out, size * rng.uniform(0.8, 1.2), 1.0, tint, 0.6, 0.3)
    return made.mesh()


def _leaf_card(
    made: CardBuilder,
    rng: np.random.Generator,
    at: Vectors,
    out: Vectors,
    half: float,
    stretch: float,
    tint: Vectors,
    centre: float,
    high: float,
) -> None:
    """A card about a point that faces somewhere out; its normals are a round body's, and it is darker below."""
    face = of_length_one(out + rng.normal(0.0, 0.30, 3))
    u = of_length_one(np.cross(face, rng.normal(0.0, 1.0, 3)))
    v = np.cross(face, u)
    corners = at + half * np.array([-u - v, u - v, u + v, v - u]) * (1.0, 1.0, stretch)
    bright = np.maximum(1.5 * (0.62 + 0.45 * (corners[:, 2] - centre) / high), 0.3)
    made.card(corners, of_length_one(0.8 * out + (corners - at) / (2.5 * half)), np.outer(bright, tint), Picture.LEAVES)
