"""Stones broken along planes, within the shapes that rays and collisions meet (plant_meshes.SHAPES)."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.cards.card_mesh import CardBuilder, CardMesh, of_length_one
from esar_ros.sim.assets.cards.pictures import Picture
from esar_ros.sim.assets.mesh_builder import Colour, unit_sphere
from esar_ros.sim.assets.plant_meshes import SHAPES

_PX = 0.55  # pictures that a unit of height is wide
_SOFT = 0.6  # share of its neighbours' light at a corner: edges are worn, they are not those of cut glass


def cut_stone(
    seed: int, species: str, colours: tuple[Colour, Colour], core: tuple[int, int], cuts: int, round_: float = 0.0
) -> CardMesh:
    """A sphere turned at random and cut by planes; dark where it is buried; spots of lichen or varnish.

    colours: of the stone and of its spots; core: sides and rings of the sphere; round_: share of the cuts' depth that
    is left out, as water wears stones.
    """
    rng = np.random.default_rng(seed)
    sphere, faces = unit_sphere(*core)
    turn, _ = np.linalg.qr(rng.normal(0.0, 1.0, (3, 3)))  # the sphere's poles are nowhere in particular
    turn *= np.sign(np.linalg.det(turn))
    planes = of_length_one(rng.normal(0.0, 1.0, (cuts, 3)))  # before the corners: both meshes of a stone are cut alike
    depths = rng.uniform(0.55, 0.85, cuts)
    points = sphere @ turn.T * rng.uniform(0.94, 1.08, (len(sphere), 1))
    for plane, depth in zip(planes, depths, strict=True):
        over = np.maximum(0.0, points @ plane - depth)
        points = points - (1.0 - round_) * over[:, None] * plane
    points[:, 2] *= max(1.0, 0.95 / points[:, 2].max())  # it stays as high as what rays meet
    under = points[:, 2] < 0.0  # what touches the ground does not taper: it would seem to float
    points[under, :2] /= np.sqrt(np.maximum(1.0 - points[under, 2:] ** 2, 0.45))
    centre, wide, high = SHAPES[species]
    points = points * np.array([wide, wide, high]) * rng.uniform(0.95, 1.06, 3) + [0.0, 0.0, centre]
    corners = points[faces]  # (T, 3, 3)
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = of_length_one(facing)
    shared = np.zeros_like(points)
    np.add.at(shared, faces.ravel(), np.repeat(facing, 3, axis=0))  # large faces count for more
    soft = of_length_one((1.0 - _SOFT) * normals[:, None] + _SOFT * of_length_one(shared)[faces])
    patches = np.sin(5.0 * points[:, 0] + seed) * np.sin(4.0 * points[:, 1] + 2.0 * seed)
    spots = np.clip(0.5 + 1.5 * (patches + rng.uniform(-0.5, 0.5, len(points)) - 0.35), 0.0, 1.0)[faces].reshape(-1, 1)
    paint = (1.0 - spots) * np.array(colours[0]) + spots * np.array(colours[1])
    paint *= np.repeat(rng.uniform(0.94, 1.05, (len(faces), 1)), 3, axis=0)
    flat = corners.reshape(-1, 3)
    buried = 0.45 + 0.55 * np.clip((flat[:, 2:] - 0.05) / 0.4, 0.0, 1.0)
    axis = np.abs(normals).argmax(axis=1)  # the picture is thrown along an axis, so that it runs on over edges
    u, v = (np.take_along_axis(corners, ((axis + k) % 3)[:, None, None], axis=2).ravel() for k in (1, 2))
    place = np.column_stack([_PX * u + rng.random(), _PX * v + rng.random(), np.full(len(flat), float(Picture.SOLID))])
    made = CardBuilder()
    made.add(
        flat,
        soft.reshape(-1, 3),
        paint * buried,
        place,
        np.arange(len(flat)).reshape(-1, 3),
    )
    return made.mesh()
