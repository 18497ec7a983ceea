"""Animals of the four places, standing, lying or grazing; heads along +x."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from esar_ros.sim.assets.mesh_builder import Colour, MeshBuilder, Model
from esar_ros.sim.assets.palette import BLACK, COLOURS, shade
from esar_ros.sim.assets.variants import Variant, one

FUR_WARMTH = 9.0  # K above the air, of fur; birds' feathers less


@dataclass(frozen=True)
class Beast:
    """Measures of a four-legged animal, m."""

    length: float  # chest to rump
    shoulder: float  # height of the back
    girth: float  # half width of the trunk
    leg: float  # radius
    head: float  # length
    neck: float  # rise of the head above the back; negative: grazing
    fur: float = 0.0  # m the coat hangs below the belly
    horns: float = 0.0  # length
    tail: float = 0.25
    ears: float = 0.0
    tail_up: bool = False


def beast(measures: Beast, coat: Colour, patch: Colour, lying: bool = False) -> Model:
    b = MeshBuilder()
    b.warmth = FUR_WARMTH
    half, g = measures.length / 2, measures.girth
    back = 0.36 * measures.shoulder if lying else measures.shoulder
    depth = 0.9 * g if not lying else min(g, back / 1.9)
    z = back - depth
    b.body(
        [(-half, 0.0, z), (-0.9 * half, 0.0, z), (0.0, 0.0, z - 0.03), (0.8 * half, 0.0, z + 0.02), (half, 0.0, z)],
        np.array([0.45, 0.9, 1.0, 0.95, 0.5]) * g,
        np.array([0.5, 0.95, 1.0, 1.05, 0.55]) * depth,
        [coat, coat, coat, patch, patch],
        9,
    )
    if measures.fur:
        for side in (-1.0, 1.0):
            b.sheet(
                [
                    [(-0.9 * half, side * 0.9 * g, z), (-0.9 * half, side * g, z - depth - measures.fur)],
                    [(0.0, side * g, z), (0.0, side * 1.06 * g, z - depth - 1.1 * measures.fur)],
                    [(0.9 * half, side * 0.9 * g, z), (0.9 * half, side * g, z - depth - 0.8 * measures.fur)],
                ][:: int(side)],
                shade(coat, 0.8),
            )
    for x in (-0.78 * half, 0.78 * half):
        for y in (-0.55 * g, 0.55 * g):
            if lying:
                leg = measures.leg
                b.limb((x, 1.5 * y, 0.06), (x + 0.35 * half, 2.0 * y, 0.04), 1.1 * leg, 0.8 * leg, coat, 5)
            else:
                b.limb((x, y, z), (x + 0.02, y, 0.0), 1.4 * measures.leg, 0.8 * measures.leg, shade(coat, 0.85), 5)
    crown = np.array([half + 0.55 * measures.head + 0.2 * abs(measures.neck), 0.0, max(back + measures.neck, 0.12)])
    b.limb((0.75 * half, 0.0, z + 0.25 * depth), crown, 0.62 * g, 0.36 * measures.head, patch, 7)
    muzzle = crown + [0.72 * measures.head, 0.0, -0.45 * measures.head if measures.neck >= 0 else -0.2 * measures.head]
    b.limb(crown - 0.1 * (muzzle - crown), muzzle, 0.40 * measures.head, 0.20 * measures.head, patch, 7)
    for side in (-1.0, 1.0):
        if measures.ears:
            ear = crown + [-0.05, side * 0.28 * measures.head, 0.25 * measures.head]
            b.limb(ear, ear + [-0.02, side * 0.25 * measures.ears, measures.ears], 0.035, 0.0, shade(patch, 0.7), 4)
        if measures.horns:
            root = crown + [-0.02, side * 0.2 * measures.head, 0.3 * measures.head]
            mid = root + [-0.25 * measures.horns, side * 0.45 * measures.horns, 0.55 * measures.horns]
            tip = mid + [-0.3 * measures.horns, side * 0.05, 0.4 * measures.horns]
            b.tube([root, mid, tip], 0.028, (0.14, 0.12, 0.09), 5)
    b.limb(
        (-half, 0.0, z + 0.5 * depth),
        (-half - 0.5 * measures.tail, 0.0, z + 0.5 * depth + (0.7 if measures.tail_up else -0.8) * measures.tail),
        0.05,
        0.03,
        coat,
        5,
    )
    low = 0.0 if lying else z - depth - measures.fur
    b.solid((-half, -g, low), (half, g, back))
    b.solid_rod(crown - [0.1, 0.0, 0.0], muzzle, 0.45 * measures.head)
    if not lying:
        b.solid((-0.8 * half, -0.7 * g, 0.0), (-0.6 * half, 0.7 * g, z))
        b.solid((0.6 * half, -0.7 * g, 0.0), (0.8 * half, 0.7 * g, z))
    return b.model()


_GOAT = Beast(0.85, 0.72, 0.19, 0.035, 0.22, 0.16, horns=0.32, ears=0.10, tail=0.12)
_GRAZING = Beast(0.85, 0.72, 0.19, 0.035, 0.22, -0.52, horns=0.26, ears=0.10, tail=0.12)
_YAK = Beast(1.75, 1.35, 0.42, 0.08, 0.42, -0.20, fur=0.28, horns=0.45, tail=0.7)
_DOG = Beast(0.58, 0.50, 0.14, 0.032, 0.25, 0.10, ears=0.11, tail=0.32, tail_up=True)


def _quadruped(measures: Beast, coat: Colour, patch: Colour, lying: bool = False) -> Callable[[], Model]:
    return lambda: beast(measures, coat, patch, lying)


def bird(body: Colour, wings: Colour, beak: Colour, size: float) -> Callable[[], Model]:
    """Bird on the ground, of a body length (m), wings folded."""

    def make() -> Model:
        b = MeshBuilder()
        b.warmth = 4.0
        b.body(
            [(-0.55, 0.0, 0.36), (-0.40, 0.0, 0.40), (0.0, 0.0, 0.48), (0.30, 0.0, 0.62), (0.38, 0.0, 0.72)],
            [0.06, 0.12, 0.20, 0.12, 0.08],
            [0.03, 0.10, 0.19, 0.13, 0.08],
            body,
            8,
        )
        b.ellipsoid((0.42, 0.0, 0.80), (0.13, 0.10, 0.11), body, 8, 5)
        b.limb((0.50, 0.0, 0.80), (0.70, 0.0, 0.76), 0.05, 0.0, beak, 5)
        for s in (-1, 1):
            grid = np.array(
                [
                    [(0.25, 0.12 * s, 0.55), (0.10, 0.22 * s, 0.46)],
                    [(-0.15, 0.14 * s, 0.52), (-0.62, 0.21 * s, 0.40)],
                ]
            )
            b.sheet(grid[:: -1 if s > 0 else 1], wings, thick=0.03)
            b.limb((0.02, 0.08 * s, 0.34), (0.04, 0.09 * s, 0.0), 0.03, 0.02, beak, 4)
            b.limb((0.0, 0.09 * s, 0.012), (0.16, 0.10 * s, 0.012), 0.02, 0.01, beak, 3)
        b.quad([(-0.45, 0.10, 0.38), (-0.45, -0.10, 0.38), (-0.95, -0.14, 0.30), (-0.95, 0.14, 0.30)], wings, True)
        b.map(lambda p: p * size)
        b.solid((-0.6 * size, -0.25 * size, 0.0), (0.6 * size, 0.25 * size, 0.9 * size))
        return b.model()

    return make


_WHITE: Colour = (0.62, 0.60, 0.55)
_TAN: Colour = (0.30, 0.19, 0.10)
_SOOT: Colour = (0.025, 0.022, 0.02)
ANIMALS: dict[str, tuple[Variant, ...]] = {
    "goat": (
        one("white", "white", "white goat", _quadruped(_GOAT, _WHITE, _WHITE)),
        one("brown", "brown", "brown goat", _quadruped(_GOAT, COLOURS["brown"], shade(COLOURS["brown"], 0.6))),
        one("grazing_black", "black", "black goat, grazing", _quadruped(_GRAZING, _SOOT, _SOOT)),
        one("lying_white", "white", "white goat lying down", _quadruped(_GOAT, _WHITE, _WHITE, True)),
        one("lying_tan", "tan", "tan goat lying down", _quadruped(_GOAT, _TAN, _WHITE, True), True),
    ),
    "yak": (
        one("black", "black", "black yak", _quadruped(_YAK, _SOOT, _SOOT)),
        one("brown", "brown", "brown yak", _quadruped(_YAK, shade(COLOURS["brown"], 0.6), _SOOT)),
        one("pied", "black and white", "black and white yak", _quadruped(_YAK, _SOOT, _WHITE)),
        one("lying_black", "black", "black yak lying down", _quadruped(_YAK, _SOOT, _SOOT, True), True),
    ),
    "dog": (
        one("tan", "tan", "tan dog", _quadruped(_DOG, _TAN, shade(_TAN, 0.7))),
        one("black", "black", "black dog", _quadruped(_DOG, _SOOT, _SOOT)),
        one("white", "white", "white dog", _quadruped(_DOG, _WHITE, _WHITE)),
        one("lying_tan", "tan", "tan dog lying down", _quadruped(_DOG, _TAN, _WHITE, True), True),
    ),
    "bird": (
        one("crow", "black", "crow", bird(_SOOT, _SOOT, BLACK, 0.42)),
        one("gull", "white", "gull", bird(_WHITE, (0.35, 0.36, 0.38), (0.75, 0.5, 0.05), 0.5)),
        one(
            "vulture",
            "brown",
            "vulture",
            bird(COLOURS["brown"], shade(_TAN, 0.6), BLACK, 0.95),
        ),
        one("chough", "black", "chough with a red bill", bird(_SOOT, _SOOT, COLOURS["red"], 0.36), True),
    ),
}
