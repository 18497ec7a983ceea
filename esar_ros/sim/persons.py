"""People in four poses: a skeleton a pose, dressed in one of several outfits. Facing +x; lying, heads at -x."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from esar_ros.mission.clues import VictimPose
from esar_ros.sim.mesh_builder import Colour, Mesh, MeshBuilder

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Outfit:
    """Linear albedo of clothes; the hat doubles as hair."""

    jacket: Colour
    trousers: Colour
    hat: Colour


OUTFITS: dict[str, Outfit] = {
    "red": Outfit((0.62, 0.035, 0.03), (0.030, 0.035, 0.06), (0.02, 0.015, 0.012)),
    "orange": Outfit((0.80, 0.22, 0.02), (0.05, 0.05, 0.05), (0.75, 0.20, 0.02)),
    "blue": Outfit((0.03, 0.13, 0.55), (0.10, 0.09, 0.07), (0.02, 0.015, 0.012)),
    "yellow": Outfit((0.75, 0.55, 0.03), (0.03, 0.04, 0.09), (0.35, 0.03, 0.03)),
    "olive": Outfit((0.12, 0.13, 0.05), (0.14, 0.11, 0.07), (0.10, 0.10, 0.05)),
    "white": Outfit((0.65, 0.66, 0.68), (0.16, 0.17, 0.20), (0.03, 0.02, 0.015)),
    "black": Outfit((0.02, 0.02, 0.022), (0.03, 0.03, 0.035), (0.015, 0.012, 0.01)),
}

_SKIN: Colour = (0.55, 0.34, 0.24)
_BOOT: Colour = (0.045, 0.032, 0.024)
_GLOVE: Colour = (0.05, 0.05, 0.055)


@dataclass(frozen=True)
class _Skeleton:
    """Joints in m; pairs are left, right."""

    head: Point
    neck: Point
    pelvis: Point
    elbows: tuple[Point, Point]
    hands: tuple[Point, Point]
    hips: tuple[Point, Point]
    knees: tuple[Point, Point]
    ankles: tuple[Point, Point]
    toes: tuple[Point, Point]
    shoulders: tuple[Point, Point]


_SKELETONS: dict[VictimPose, _Skeleton] = {
    VictimPose.STANDING: _Skeleton(
        head=(0.02, 0.0, 1.62),
        neck=(0.0, 0.0, 1.46),
        pelvis=(0.0, 0.0, 0.95),
        shoulders=((0.0, 0.20, 1.40), (0.0, -0.20, 1.40)),
        elbows=((0.0, 0.30, 1.14), (0.06, -0.42, 1.52)),
        hands=((0.10, 0.28, 0.90), (0.10, -0.50, 1.80)),  # the right arm waves
        hips=((0.0, 0.10, 0.92), (0.0, -0.10, 0.92)),
        knees=((0.03, 0.12, 0.50), (0.03, -0.12, 0.50)),
        ankles=((0.0, 0.13, 0.09), (0.0, -0.13, 0.09)),
        toes=((0.18, 0.15, 0.05), (0.18, -0.15, 0.05)),
    ),
    VictimPose.SITTING: _Skeleton(
        head=(0.10, 0.0, 0.86),
        neck=(0.02, 0.0, 0.70),
        pelvis=(-0.12, 0.0, 0.16),
        shoulders=((0.0, 0.20, 0.63), (0.0, -0.20, 0.63)),
        elbows=((0.20, 0.26, 0.46), (0.20, -0.26, 0.46)),
        hands=((0.42, 0.12, 0.44), (0.42, -0.12, 0.44)),
        hips=((-0.08, 0.10, 0.16), (-0.08, -0.10, 0.16)),
        knees=((0.34, 0.16, 0.48), (0.34, -0.16, 0.48)),
        ankles=((0.58, 0.15, 0.10), (0.58, -0.15, 0.10)),
        toes=((0.76, 0.17, 0.06), (0.76, -0.17, 0.06)),
    ),
    VictimPose.LYING: _Skeleton(
        head=(-0.78, 0.05, 0.14),
        neck=(-0.60, 0.02, 0.14),
        pelvis=(-0.06, 0.0, 0.14),
        shoulders=((-0.54, 0.21, 0.13), (-0.54, -0.20, 0.13)),
        elbows=((-0.34, 0.46, 0.09), (-0.74, -0.42, 0.09)),
        hands=((-0.08, 0.52, 0.07), (-0.96, -0.50, 0.07)),
        hips=((-0.02, 0.11, 0.13), (-0.02, -0.11, 0.13)),
        knees=((0.38, 0.26, 0.20), (0.42, -0.14, 0.11)),
        ankles=((0.66, 0.12, 0.09), (0.84, -0.18, 0.08)),
        toes=((0.74, 0.30, 0.08), (0.90, -0.36, 0.09)),
    ),
}


def person(pose: VictimPose, outfit: Outfit) -> Mesh:
    """A grown person, about 1.75 m tall."""
    builder = MeshBuilder()
    if pose is VictimPose.COVERED:
        _body(builder, _SKELETONS[VictimPose.LYING], outfit)
        _blanket(builder)
    else:
        _body(builder, _SKELETONS[pose], outfit)
    return builder.mesh()


def _body(builder: MeshBuilder, s: _Skeleton, outfit: Outfit) -> None:
    chest = (np.array(s.neck) * 0.62 + np.array(s.pelvis) * 0.38, np.array(s.pelvis))
    builder.limb(chest[1], chest[0], 0.155, 0.185, outfit.jacket, sides=8)
    builder.limb(chest[0], s.neck, 0.185, 0.085, outfit.jacket, sides=8)
    for side in (0, 1):
        builder.limb(s.neck, s.shoulders[side], 0.085, 0.085, outfit.jacket, sides=6)
        builder.limb(s.shoulders[side], s.elbows[side], 0.075, 0.062, outfit.jacket, sides=6)
        builder.limb(s.elbows[side], s.hands[side], 0.062, 0.048, outfit.jacket, sides=6)
        builder.ellipsoid(s.hands[side], (0.06, 0.06, 0.06), _GLOVE, 5, 3)
        builder.limb(s.hips[side], s.knees[side], 0.105, 0.075, outfit.trousers, sides=7)
        builder.limb(s.knees[side], s.ankles[side], 0.075, 0.058, outfit.trousers, sides=7)
        builder.limb(s.ankles[side], s.toes[side], 0.066, 0.045, _BOOT, sides=6)
    builder.ellipsoid(s.head, (0.10, 0.088, 0.12), _SKIN, 8, 6)
    up = np.array(s.head) - np.array(s.neck)
    crown = np.array(s.head) + 0.045 * up / np.linalg.norm(up)
    builder.ellipsoid(crown - np.array([0.012, 0.0, 0.0]), (0.108, 0.098, 0.105), outfit.hat, 8, 5)


def _blanket(builder: MeshBuilder) -> None:
    """Silver rescue sheet over trunk and thighs: head, an arm and the shins stay in sight."""
    rng = np.random.default_rng(7)
    x = np.linspace(-0.48, 0.62, 8)
    y = np.linspace(-0.50, 0.48, 7)
    height = 0.05 + 0.28 * np.exp(-((y / 0.30) ** 4))[None, :] * (0.85 + 0.15 * np.cos(x * 7.0))[:, None]
    height += rng.uniform(-0.025, 0.025, height.shape)
    height[:, [0, -1]] = 0.0
    edge = rng.uniform(-0.05, 0.05, (8, 7, 2))
    grid = np.stack([x[:, None] + edge[..., 0], y[None, :] + edge[..., 1], height], axis=-1)
    shade = rng.uniform(0.75, 1.15, (7, 6, 2))
    facets, colours = [], []
    for i in range(7):
        for j in range(6):
            a, b, c, d = grid[i, j], grid[i + 1, j], grid[i + 1, j + 1], grid[i, j + 1]
            facets += [[a, b, c], [a, c, d]]
            colours += [np.array([0.62, 0.60, 0.52]) * shade[i, j, k] for k in (0, 1)]
    builder.flat(facets, colours)
