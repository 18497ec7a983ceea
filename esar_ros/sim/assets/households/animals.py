"""Animals of farms and parks."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.animal_meshes import FUR_WARMTH, Beast, beast, bird
from esar_ros.sim.assets.households.make import Family, Finish, Shape, Stand, family
from esar_ros.sim.assets.households.parts import Parts
from esar_ros.sim.assets.mesh_builder import Colour, Model
from esar_ros.sim.assets.palette import BLACK, shade

_WHITE: Colour = (0.66, 0.64, 0.60)
_COW = Beast(1.75, 1.38, 0.36, 0.07, 0.42, 0.12, horns=0.22, ears=0.14, tail=0.75)
_GRAZING_COW = Beast(1.7, 1.36, 0.37, 0.07, 0.42, -0.75, horns=0.18, ears=0.14, tail=0.8)
_HORSE = Beast(1.6, 1.52, 0.29, 0.06, 0.46, 0.5, ears=0.13, tail=0.85)
_GRAZING_HORSE = Beast(1.6, 1.5, 0.3, 0.06, 0.46, -0.85, ears=0.12, tail=0.85)
_DOG = Beast(0.66, 0.58, 0.145, 0.034, 0.27, 0.14, ears=0.12, tail=0.36, tail_up=True)


def _beast(measures: Beast, patched: bool, lying: bool, finish: Finish) -> Model:
    patch = _WHITE if patched else shade(finish.tone, 0.8)
    return beast(measures, finish.tone, patch, lying)


def _sheep(grazing: bool, face: Colour, finish: Finish) -> Model:
    """Woolly sheep, 1.1 m long."""
    b = Parts()
    b.warmth = FUR_WARMTH
    rng = np.random.default_rng(5)
    b.lump((0.0, 0.0, 0.62), (0.52, 0.3, 0.29), finish.tone, rng, 0.07, 12, 8)
    for x in (-0.32, 0.32):
        for y in (-0.15, 0.15):
            b.limb((x, y, 0.5), (x, y, 0.0), 0.05, 0.035, face, 6)
    head = np.array([0.66, 0.0, 0.28]) if grazing else np.array([0.66, 0.0, 0.92])
    b.limb((0.42, 0.0, 0.7), head, 0.16, 0.1, finish.tone, 8)
    b.limb(head - [0.06, 0.0, 0.0], head + [0.2, 0.0, -0.1], 0.11, 0.06, face, 8)
    for s in (-1.0, 1.0):
        b.limb(head + [-0.03, s * 0.07, 0.05], head + [-0.05, s * 0.2, 0.02], 0.035, 0.015, face, 5)
    b.limb((-0.5, 0.0, 0.68), (-0.6, 0.0, 0.45), 0.05, 0.04, finish.tone, 5)
    b.solid((-0.52, -0.3, 0.32), (0.52, 0.3, 0.9))
    b.solid((-0.38, -0.2, 0.0), (0.38, 0.2, 0.32))
    b.solid_rod(head - [0.1, 0.0, 0.0], head + [0.2, 0.0, -0.08], 0.1)
    return b.model()


def _pig(spots: bool, finish: Finish) -> Model:
    """Pig with a snout and a curled tail, 1.3 m long; with dark spots."""
    b = Parts()
    b.warmth = FUR_WARMTH
    x = np.array([-0.55, -0.45, 0.0, 0.35, 0.5])
    b.body(np.stack([x, 0.0 * x, [0.47, 0.46, 0.44, 0.46, 0.48]], axis=1), [0.12, 0.24, 0.28, 0.24, 0.16],
           [0.12, 0.24, 0.28, 0.25, 0.17], finish.tone, 12)  # fmt: skip
    b.limb((0.4, 0.0, 0.52), (0.7, 0.0, 0.46), 0.19, 0.1, finish.tone, 10)
    b.rod((0.68, 0.0, 0.46), (0.74, 0.0, 0.45), 0.09, shade(finish.tone, 0.75), 10)
    for s in (-1.0, 1.0):
        b.limb((0.5, s * 0.1, 0.66), (0.6, s * 0.16, 0.7), 0.06, 0.0, shade(finish.tone, 0.8), 5)
        for u in (-0.36, 0.3):
            b.limb((u, s * 0.14, 0.34), (u, s * 0.14, 0.0), 0.075, 0.045, shade(finish.tone, 0.9), 6)
        if spots:
            for u, z in ((-0.25, 0.6), (0.12, 0.5)):
                b.ellipsoid((u + 0.1 * s, s * 0.225, z), (0.13, 0.06, 0.11), BLACK, 9, 6)
    turn = np.linspace(0.0, 7.0, 9)
    b.tube(
        np.stack([-0.54 - 0.012 * turn, 0.04 * np.sin(turn), 0.55 + 0.04 * np.cos(turn)], axis=1), 0.014, finish.tone, 4
    )
    b.solid((-0.58, -0.28, 0.0), (0.5, 0.28, 0.72))
    b.solid((0.4, -0.15, 0.3), (0.74, 0.15, 0.66))
    return b.model()


_WHITE_BEAK, _RED_BEAK = (0.72, 0.40, 0.05), (0.55, 0.05, 0.03)
ANIMALS: tuple[Family, ...] = (
    family(
        "cow",
        Stand.GREEN,
        Shape("plain", "{} cow, standing", lambda f: _beast(_COW, False, False, f), "brown/black/cream -"),
        Shape("patched", "{} and white cow, grazing", lambda f: _beast(_GRAZING_COW, True, False, f), "brown/black -"),
        Shape("lying", "{} cow, lying", lambda f: _beast(_COW, False, True, f), "brown/black -"),
    ),
    family(
        "horse",
        Stand.GREEN,
        Shape(
            "standing",
            "{} horse, standing",
            lambda f: _beast(_HORSE, False, False, f),
            "brown/black/white/light brown -",
        ),
        Shape("grazing", "{} horse, grazing", lambda f: _beast(_GRAZING_HORSE, False, False, f), "brown/black/white -"),
    ),
    family(
        "sheep",
        Stand.GREEN,
        Shape("black_face", "{} sheep with a black face", lambda f: _sheep(False, BLACK, f), "white/light brown -"),
        Shape("white_face", "{} sheep with a white face", lambda f: _sheep(False, _WHITE, f), "white/brown -"),
        Shape("grazing", "{} sheep with a black face, grazing", lambda f: _sheep(True, BLACK, f), "white/brown -"),
    ),
    family(
        "pig",
        Stand.GREEN,
        Shape("plain", "{} pig", lambda f: _pig(False, f), "cream/black/brown -"),
        Shape("spots", "{} pig with black spots", lambda f: _pig(True, f), "cream/white/light brown -"),
    ),
    family(
        "goose",
        Stand.GREEN,
        Shape(
            "orange",
            "{} goose with an orange beak",
            lambda f: bird(f.tone, shade(f.tone, 0.75), _WHITE_BEAK, 0.72)(),
            "white/grey/brown -",
        ),
        Shape(
            "red",
            "{} hen with a red beak",
            lambda f: bird(f.tone, shade(f.tone, 0.6), _RED_BEAK, 0.44)(),
            "white/brown/black -",
        ),
    ),
    family(
        "dog",
        Stand.ANY,
        Shape("standing", "{} dog, standing", lambda f: _beast(_DOG, False, False, f), "brown/black/white -"),
        Shape("patched", "{} and white dog, standing", lambda f: _beast(_DOG, True, False, f), "black/light brown -"),
        Shape("lying", "{} dog, lying", lambda f: _beast(_DOG, False, True, f), "black/light brown -"),
    ),
)
