"""Signal flares, smoke canisters, lanterns, torches and headlamps in their real sizes.

Only the dense foot of a smoke is mesh, so that it bears its object's id; the plume above is drawn from the emitter.
"""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.emitters import canister, flare, lamp, torch
from esar_ros.sim.assets.mesh_builder import Colour, MeshBuilder, Model
from esar_ros.sim.assets.palette import BLACK, CHAR, COLOURS, SILVER, mix, shade
from esar_ros.sim.assets.variants import Variant, in_colours, one

_GLOW: Colour = (3.2, 2.8, 1.9)
_WHITE_GLOW: Colour = (3.2, 3.2, 3.0)


def _puffs(
    b: MeshBuilder, foot: float, top: float, minimum: float, maximum: float, lean: float, colour: Colour
) -> None:
    """Thick billowing smoke from one height to another, wider and further along +x as it rises."""
    rng = np.random.default_rng(13)
    angles = np.arange(9) * (2.0 * np.pi / 9)
    rings, tones = [], []
    for k, t in enumerate(np.linspace(0.0, 1.0, 10)):
        r = (minimum + (maximum - minimum) * t) * (0.25 if k in (0, 9) else (0.85 if k % 2 else 1.12))
        billow = r * rng.uniform(0.82, 1.2, 9)
        middle = np.array([lean * t * t, 0.2 * lean * np.sin(4.0 * t), foot + (top - foot) * t])
        rings.append(
            middle + np.stack([billow * np.cos(angles), billow * np.sin(angles), rng.uniform(-0.05, 0.05, 9)], 1)
        )
        tones.append(shade(colour, 0.82 if k % 2 else 1.08))
    b.loft(rings, tones)
    for t in (0.45, 0.8):
        r = 0.62 * (minimum + (maximum - minimum) * t)
        spot = (lean * t * t + (0.9 - t) * r, 0.8 * r * (1.0 if t < 0.5 else -1.0), foot + (top - foot) * t)
        b.lump(spot, (r, r, 0.9 * r), shade(colour, 0.95), rng, 0.14, 7, 5)


def _burning_flare(colour: Colour) -> Model:
    """Hand flare, 0.3 m, stuck in the ground and burning under its smoke."""
    b = MeshBuilder()
    b.limb((0.0, 0.0, -0.03), (0.01, 0.0, 0.14), 0.017, 0.017, BLACK, 6)
    b.limb((0.01, 0.0, 0.14), (0.02, 0.0, 0.30), 0.022, 0.022, shade(colour, 0.9), 8)
    b.warmth = 900.0
    peak = max(colour)
    bright: Colour = tuple(4.0 * (0.25 + 0.75 * c / peak) for c in colour)  # type: ignore[assignment]
    b.ellipsoid((0.02, 0.0, 0.38), (0.10, 0.10, 0.14), bright, 8, 6, 1.0)
    b.ellipsoid((0.02, 0.0, 0.37), (0.125, 0.07, 0.07), (4.0, 3.8, 3.4), 6, 4, 1.0)
    b.warmth = 8.0
    smoke = mix(colour, (0.6, 0.6, 0.6), 0.35)
    _puffs(b, 0.68, 1.9, 0.14, 0.36, 0.5, smoke)
    b.emit(flare(tuple(c / peak for c in colour), smoke, (0.02, 0.0, 0.38)))  # type: ignore[arg-type]
    b.solid((-0.025, -0.025, 0.0), (0.045, 0.025, 0.42))
    return b.model()


def _can(b: MeshBuilder, colour: Colour, upright: bool) -> None:
    """Smoke canister, 0.24 m high and 0.09 m thick, with a pull ring."""
    ends = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.22)) if upright else ((-0.12, 0.0, 0.045), (0.10, 0.0, 0.045))
    a, c = np.array(ends[0]), np.array(ends[1])
    b.limb(a, a + 0.3 * (c - a), 0.046, 0.046, BLACK, 9)
    b.limb(a + 0.3 * (c - a), a + 0.8 * (c - a), 0.045, 0.045, colour, 9)
    b.limb(a + 0.8 * (c - a), c, 0.046, 0.04, SILVER, 9)
    u = np.linspace(0.0, 2.0 * np.pi, 8)
    b.tube(
        c
        + np.stack([0.03 * np.cos(u) * (1.0 if upright else 0.3), 0.045 + 0.03 * np.sin(u), 0.02 * np.cos(u)], axis=1),
        0.005,
        SILVER,
        3,
    )
    b.solid_rod(a, c, 0.046)


def _smoking_canister(colour: Colour) -> Model:
    """Canister giving off thick coloured smoke that first hugs the ground."""
    b = MeshBuilder()
    _can(b, colour, True)
    b.warmth = 6.0
    _puffs(b, 0.40, 2.0, 0.20, 0.55, 0.9, colour)
    rng = np.random.default_rng(3)
    b.lump((0.45, 0.12, 0.22), (0.38, 0.30, 0.24), shade(colour, 0.9), rng, 0.15, 8, 5)
    b.emit(canister(colour, (0.0, 0.0, 0.30)))
    return b.model()


def _spent_flare(colour: Colour) -> Model:
    """Burnt-out hand flare on scorched ground, its cap beside it."""
    b = MeshBuilder()
    a = np.arange(9) * (2.0 * np.pi / 9)
    r = 0.24 * np.random.default_rng(2).uniform(0.7, 1.15, 9)
    b.slab(np.stack([0.14 + r * np.cos(a), r * np.sin(a)], axis=1), -0.05, 0.012, CHAR)
    b.limb((-0.20, 0.0, 0.028), (-0.06, 0.02, 0.028), 0.017, 0.017, BLACK, 6)
    b.limb((-0.06, 0.02, 0.028), (0.08, 0.04, 0.028), 0.022, 0.022, colour, 8)
    b.limb((0.08, 0.04, 0.028), (0.15, 0.05, 0.028), 0.021, 0.014, CHAR, 7)
    b.limb((-0.02, -0.14, 0.024), (0.03, -0.17, 0.024), 0.024, 0.024, colour, 8)
    b.solid_rod((-0.20, 0.0, 0.025), (0.15, 0.05, 0.025), 0.025)
    return b.model()


def _spent_canister(colour: Colour) -> Model:
    """Empty smoke canister on its side, the ground about its mouth dyed."""
    b = MeshBuilder()
    a = np.arange(9) * (2.0 * np.pi / 9)
    r = 0.30 * np.random.default_rng(4).uniform(0.7, 1.15, 9)
    b.slab(np.stack([0.28 + r * np.cos(a), 0.8 * r * np.sin(a)], axis=1), -0.05, 0.012, shade(colour, 0.55))
    _can(b, colour, False)
    return b.model()


SIGNAL_FLARES: tuple[Variant, ...] = (
    *in_colours(_burning_flare, "", "burning {} signal flare", "red orange white green pink"),
    *in_colours(_smoking_canister, "smoke", "{} smoke signal", "orange red purple yellow lime"),
    *in_colours(_spent_flare, "spent", "burnt-out {} signal flare", "red orange white"),
    *in_colours(_spent_canister, "spent_smoke", "empty {} smoke canister", "orange red blue", held_out=True),
)


def _lantern(colour: Colour) -> Model:
    """Camping lantern, 0.26 m high, shining, with a wire handle."""
    b = MeshBuilder()
    b.limb((0.0, 0.0, 0.0), (0.0, 0.0, 0.06), 0.085, 0.075, colour, 9)
    b.warmth = 15.0
    b.limb((0.0, 0.0, 0.06), (0.0, 0.0, 0.19), 0.066, 0.066, _GLOW, 9, 1.0)
    b.warmth = 0.0
    for a in (0.5, 2.6, 4.7):
        b.limb(
            (0.072 * np.cos(a), 0.072 * np.sin(a), 0.06),
            (0.072 * np.cos(a), 0.072 * np.sin(a), 0.19),
            0.007,
            0.007,
            BLACK,
            4,
        )
    b.limb((0.0, 0.0, 0.19), (0.0, 0.0, 0.25), 0.08, 0.03, colour, 9)
    b.tube([(0.0, 0.09 * np.cos(u), 0.20 + 0.14 * np.sin(u)) for u in np.linspace(0.0, np.pi, 7)], 0.006, SILVER, 3)
    b.emit(lamp((0.0, 0.0, 0.125), 400.0))
    b.solid((-0.085, -0.085, 0.0), (0.085, 0.085, 0.26))
    return b.model()


def _torch(colour: Colour) -> Model:
    """Hand torch lying, 0.24 m, its beam along +x."""
    b = MeshBuilder()
    b.limb((-0.12, 0.0, 0.035), (0.05, 0.0, 0.035), 0.018, 0.018, colour, 8)
    b.limb((0.05, 0.0, 0.035), (0.10, 0.0, 0.036), 0.018, 0.034, colour, 8)
    b.limb((0.10, 0.0, 0.036), (0.115, 0.0, 0.036), 0.036, 0.036, BLACK, 10)
    b.limb((0.114, 0.0, 0.036), (0.12, 0.0, 0.036), 0.032, 0.028, _WHITE_GLOW, 10, 1.0)
    b.box((-0.02, 0.0, 0.055), (0.012, 0.006, 0.005), SILVER)
    b.emit(torch((0.13, 0.0, 0.036), (1.0, 0.0, 0.0), 6000.0, 0.22))
    b.solid((-0.12, -0.036, 0.0), (0.12, 0.036, 0.072))
    return b.model()


def _headlamp(colour: Colour) -> Model:
    """Headlamp dropped with its elastic band, beam along +x and a little up."""
    b = MeshBuilder()
    u = np.linspace(-2.7, 2.7, 13)
    b.body(
        np.stack([-0.09 + 0.09 * np.cos(u), 0.08 * np.sin(u), np.full(13, 0.02)], axis=1),
        np.full(13, 0.004),
        np.full(13, 0.016),
        colour,
        4,
    )
    b.box((0.015, 0.0, 0.035), (0.022, 0.034, 0.025), BLACK)
    b.limb((0.03, 0.0, 0.04), (0.047, 0.0, 0.042), 0.025, 0.022, _WHITE_GLOW, 9, 1.0)
    b.emit(torch((0.06, 0.0, 0.045), (0.966, 0.0, 0.259), 2200.0, 0.4))
    b.solid((-0.18, -0.085, 0.0), (0.05, 0.085, 0.06))
    return b.model()


def _glow_stick() -> Model:
    """Chemical light, 0.2 m, glowing green on its cord."""
    b = MeshBuilder()
    b.limb((-0.10, 0.0, 0.02), (0.08, 0.0, 0.02), 0.013, 0.013, (0.5, 2.6, 0.3), 7, 1.0)
    b.limb((0.08, 0.0, 0.02), (0.11, 0.0, 0.02), 0.015, 0.009, BLACK, 6)
    b.tube(
        [(0.11, 0.0, 0.02), (0.17, 0.06, 0.01), (0.22, 0.0, 0.01), (0.17, -0.05, 0.01), (0.11, 0.0, 0.02)],
        0.004,
        COLOURS["white"],
        3,
    )
    b.emit(lamp((0.0, 0.0, 0.02), 12.0, (0.2, 1.0, 0.1)))
    b.solid((-0.1, -0.015, 0.0), (0.11, 0.015, 0.035))
    return b.model()


def _cube_lamp() -> Model:
    """Inflated solar lantern: a glowing cube of 0.14 m with dark edges."""
    b = MeshBuilder()
    square = np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]) * 0.066
    b.loft([np.column_stack([square, np.full(4, z)]) for z in (0.012, 0.138)], _GLOW, 1.0)
    b.box((0.0, 0.0, 0.143), (0.05, 0.05, 0.006), (0.03, 0.04, 0.08))
    for x in (-0.066, 0.066):
        for y in (-0.066, 0.066):
            b.limb((x, y, 0.005), (x, y, 0.145), 0.008, 0.008, COLOURS["white"], 4)
    b.emit(lamp((0.0, 0.0, 0.075), 120.0))
    b.solid((-0.07, -0.07, 0.0), (0.07, 0.07, 0.15))
    return b.model()


LIGHTS: tuple[Variant, ...] = (
    *in_colours(_lantern, "", "{} camping lantern, lit", "red green black blue teal"),
    *in_colours(_torch, "torch", "{} torch, lit", "black yellow silver pink"),
    *in_colours(_headlamp, "headlamp", "headlamp with a {} band, lit", "red orange navy"),
    one("glow_stick", "green", "glowing green light stick", _glow_stick),
    one("cube", "white", "glowing cube lantern", _cube_lamp, True),
)
