"""The twelve clue kinds as meshes, each in several variants (colour, size or state)."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from esar_ros.mission.clues import ClueKind
from esar_ros.sim.mesh_builder import Colour, Mesh, MeshBuilder

_COLOURS: dict[str, Colour] = {
    "orange": (0.85, 0.24, 0.02),
    "red": (0.60, 0.03, 0.025),
    "blue": (0.03, 0.14, 0.60),
    "yellow": (0.78, 0.58, 0.04),
    "green": (0.06, 0.25, 0.07),
    "grey": (0.20, 0.21, 0.22),
    "black": (0.02, 0.02, 0.022),
    "white": (0.70, 0.70, 0.70),
    "purple": (0.22, 0.05, 0.35),
}
_SILVER: Colour = (0.55, 0.55, 0.56)
_CHAR: Colour = (0.02, 0.018, 0.016)
_WOOD: Colour = (0.10, 0.06, 0.035)
_FLAME: Colour = (2.6, 0.85, 0.10)


def _darker(colour: Colour, factor: float) -> Colour:
    return (colour[0] * factor, colour[1] * factor, colour[2] * factor)


def _tent(colour: Colour) -> Mesh:
    """Two-person ridge tent, 2.8 x 2.2 m, 1.25 m high, its door at -y."""
    b = MeshBuilder()
    w, depth, h = 1.1, 1.4, 1.25
    front, back = (0.0, -0.9 * depth, h), (0.0, 0.9 * depth, h)
    b.quad([(w, -depth, 0.0), (w, depth, 0.0), back, front], colour)
    b.quad([(-w, depth, 0.0), (-w, -depth, 0.0), front, back], colour)
    b.flat([[(-w, -depth, 0.0), (w, -depth, 0.0), front]], _darker(colour, 0.8))
    b.flat([[(w, depth, 0.0), (-w, depth, 0.0), back]], _darker(colour, 0.8))
    b.flat(
        [[(-0.38, -depth - 0.02, 0.0), (0.38, -depth - 0.02, 0.0), (0.0, -0.915 * depth, 0.85 * h)]],
        (0.02, 0.02, 0.022),
    )
    for x in (-w, w):  # a light hem, as flysheets have, and guy lines
        s = 1.0 if x > 0 else -1.0
        b.quad(
            [(x, -s * depth, 0.0), (x, s * depth, 0.0), (0.94 * x, s * depth, 0.08), (0.94 * x, -s * depth, 0.08)],
            _SILVER,
        )
        b.limb((0.5 * x, 0.0, 0.6 * h), (1.7 * x, 0.0, 0.0), 0.012, 0.012, _SILVER, 3)
    return b.mesh()


def _dome_tent(colour: Colour) -> Mesh:
    """Dome tent, 2.2 m across."""
    b = MeshBuilder()
    b.ellipsoid((0.0, 0.0, 0.0), (1.15, 1.15, 1.15), colour, 12, 8)
    b.ellipsoid((0.0, -0.08, 0.0), (0.42, 1.14, 0.80), (0.02, 0.02, 0.022), 8, 6)
    for angle in (0.785, 2.356):
        d = np.array([np.cos(angle), np.sin(angle)])
        for t in np.linspace(0.0, np.pi, 9)[:-1]:
            p, q = (1.18 * np.array([*(np.cos(u) * d), np.sin(u)]) for u in (t, t + np.pi / 8))
            b.limb(p, q, 0.018, 0.018, _SILVER, 3)
    return _above_ground(b.mesh())


def _above_ground(mesh: Mesh) -> Mesh:
    """Without what lies under z = 0."""
    return mesh


def _backpack(colour: Colour) -> Mesh:
    """65 l trekking pack standing on its base, with a rolled mat under the lid."""
    b = MeshBuilder()
    b.box((0.0, 0.0, 0.32), (0.18, 0.13, 0.30), colour)
    b.ellipsoid((0.0, 0.0, 0.64), (0.19, 0.15, 0.10), _darker(colour, 0.7), 8, 4)
    b.box((0.0, 0.16, 0.22), (0.13, 0.05, 0.14), _darker(colour, 0.75))
    b.limb((-0.27, 0.0, 0.77), (0.27, 0.0, 0.77), 0.075, 0.075, (0.50, 0.48, 0.12), 8)
    for x in (-0.09, 0.09):
        b.limb((x, -0.15, 0.58), (x * 1.3, -0.19, 0.15), 0.03, 0.025, (0.03, 0.03, 0.03), 5)
    return b.mesh()


def _clothing(colour: Colour) -> Mesh:
    """A jacket thrown on the ground, arms spread, 1.2 m across."""
    b = MeshBuilder()
    rng = np.random.default_rng(1)
    for centre, radii in (
        ((0.0, 0.0, 0.05), (0.28, 0.34, 0.09)),
        ((-0.18, 0.05, 0.05), (0.20, 0.26, 0.07)),
        ((0.2, -0.12, 0.05), (0.18, 0.18, 0.06)),
    ):
        b.ellipsoid(centre, radii, _darker(colour, rng.uniform(0.8, 1.1)), 8, 4)
    b.limb((0.12, 0.25, 0.06), (0.42, 0.52, 0.05), 0.085, 0.07, colour, 6)
    b.limb((0.10, -0.25, 0.06), (-0.12, -0.62, 0.05), 0.085, 0.07, _darker(colour, 0.85), 6)
    return _above_ground(b.mesh())


def _campfire(burning: bool) -> Mesh:
    """Ring of stones, logs, and flames or ash."""
    b = MeshBuilder()
    for i in range(9):
        a = i * 2.0 * np.pi / 9
        b.ellipsoid((0.55 * np.cos(a), 0.55 * np.sin(a), 0.08), (0.17, 0.14, 0.13), (0.23, 0.22, 0.21), 6, 4)
    b.ellipsoid((0.0, 0.0, 0.0), (0.48, 0.48, 0.07), (0.18, 0.17, 0.165) if not burning else _CHAR, 9, 4)
    for i in range(5):
        a = i * 1.2566 + 0.4
        b.limb((0.42 * np.cos(a), 0.42 * np.sin(a), 0.05), (0.0, 0.0, 0.30), 0.055, 0.04, _WOOD, 5)
    if burning:
        b.limb((0.0, 0.0, 0.08), (0.03, 0.02, 0.95), 0.27, 0.0, _FLAME, 7, 1.0)
        for i in range(4):
            a = i * 1.57 + 0.3
            x, y = 0.17 * np.cos(a), 0.17 * np.sin(a)
            b.limb((x, y, 0.08), (1.2 * x, 1.2 * y, 0.55 + 0.06 * i), 0.14, 0.0, (3.0, 1.5, 0.25), 5, 1.0)
    return _above_ground(b.mesh())


def _signal_flare(colour: Colour) -> Mesh:
    """Hand flare stuck in the ground, burning, under a bent column of coloured smoke 6 m high."""
    b = MeshBuilder()
    b.limb((0.0, 0.0, 0.0), (0.0, 0.0, 0.30), 0.03, 0.03, (0.55, 0.05, 0.04), 6)
    b.ellipsoid((0.0, 0.0, 0.38), (0.15, 0.15, 0.19), (4.0, 1.2, 0.8), 8, 5, 1.0)
    for k in range(8):
        t = k / 7.0
        r = 0.16 + 0.55 * t
        shade = _darker(colour, 0.95 - 0.25 * (k % 2))
        b.ellipsoid((0.9 * t * t, 0.35 * t * np.sin(5 * t), 0.7 + 5.0 * t), (r, r, 0.55 + 0.25 * t), shade, 7, 5)
    return b.mesh()


def _light(colour: Colour) -> Mesh:
    """Camping lantern, glowing."""
    b = MeshBuilder()
    b.limb((0.0, 0.0, 0.0), (0.0, 0.0, 0.06), 0.09, 0.08, colour, 8)
    b.limb((0.0, 0.0, 0.06), (0.0, 0.0, 0.24), 0.075, 0.075, (3.2, 2.8, 1.9), 8, 1.0)
    b.limb((0.0, 0.0, 0.24), (0.0, 0.0, 0.31), 0.085, 0.04, colour, 8)
    return b.mesh()


def _sleeping_bag(colour: Colour) -> Mesh:
    """Unrolled mummy bag, 2 m long, hood at -x, on a mat."""
    b = MeshBuilder()
    b.box((0.0, 0.0, 0.012), (0.95, 0.30, 0.012), (0.42, 0.40, 0.16))
    for k in range(6):
        x = -0.66 + 0.28 * k
        width = 0.36 - 0.028 * k
        b.ellipsoid((x, 0.0, 0.08), (0.20, width, 0.13), colour if k % 2 == 0 else _darker(colour, 0.8), 8, 5)
    b.ellipsoid((-0.92, 0.0, 0.08), (0.17, 0.24, 0.10), _darker(colour, 0.5), 8, 5)
    return _above_ground(b.mesh())


def _trekking_pole(colour: Colour) -> Mesh:
    """Pair of poles, one stuck upright in the ground, one lying."""
    b = MeshBuilder()
    b.limb((0.0, 0.0, 0.0), (0.10, 0.04, 1.12), 0.016, 0.018, colour, 5)
    b.limb((0.10, 0.04, 1.12), (0.112, 0.045, 1.28), 0.028, 0.03, (0.03, 0.03, 0.03), 6)
    b.limb((0.008, 0.004, 0.09), (0.010, 0.004, 0.10), 0.06, 0.06, (0.03, 0.03, 0.03), 7)
    b.limb((0.25, -0.3, 0.025), (0.9, 0.65, 0.03), 0.016, 0.018, colour, 5)
    b.limb((0.9, 0.65, 0.03), (0.99, 0.78, 0.03), 0.028, 0.03, (0.03, 0.03, 0.03), 6)
    return b.mesh()


def _water_bottle(colour: Colour) -> Mesh:
    """One-litre bottle on its side."""
    b = MeshBuilder()
    b.limb((-0.14, 0.0, 0.05), (0.10, 0.0, 0.05), 0.05, 0.05, colour, 8)
    b.limb((0.10, 0.0, 0.05), (0.13, 0.0, 0.05), 0.05, 0.028, colour, 8)
    b.limb((0.13, 0.0, 0.05), (0.17, 0.0, 0.05), 0.03, 0.03, (0.03, 0.03, 0.03), 8)
    return b.mesh()


def _food_wrapper(colour: Colour) -> Mesh:
    """Torn wrappers and a can within half a metre."""
    b = MeshBuilder()
    rng = np.random.default_rng(5)
    for k in range(4):
        x, y = rng.uniform(-0.28, 0.28, 2)
        yaw = rng.uniform(0.0, 6.28)
        c, s = 0.11 * np.cos(yaw), 0.11 * np.sin(yaw)
        z = rng.uniform(0.02, 0.08, 4)
        corners = [
            (x + c - s, y + s + c, z[0]),
            (x - c - s, y - s + c, z[1]),
            (x - c + s, y - s - c, z[2]),
            (x + c + s, y + s - c, z[3]),
        ]
        b.quad(corners, colour if k % 2 == 0 else _SILVER, two_sided=True)
    b.limb((0.1, 0.0, 0.0), (0.1, 0.0, 0.12), 0.045, 0.045, _SILVER, 8)
    return b.mesh()


def _rope(colour: Colour) -> Mesh:
    """Coil of climbing rope, 0.7 m across, with a loose end."""
    b = MeshBuilder()
    for turn in range(3):
        radius, z = 0.30 + 0.035 * (turn % 2), 0.03 + 0.035 * turn
        angles = np.linspace(0.0, 2.0 * np.pi, 13)
        ring = np.stack([radius * np.cos(angles), 0.8 * radius * np.sin(angles), np.full(13, z)], axis=1)
        for p, q in itertools.pairwise(ring):
            b.limb(p, q, 0.024, 0.024, colour if turn != 1 else _darker(colour, 0.7), 4)
    path = [(0.3, 0.0, 0.03), (0.6, 0.12, 0.02), (0.85, -0.05, 0.02), (1.2, 0.1, 0.02)]
    for start, end in itertools.pairwise(path):
        b.limb(start, end, 0.022, 0.022, colour, 4)
    return b.mesh()


def _footprints(colour: Colour) -> Mesh:
    """Eight prints over five metres along +x: thin dark soles on trodden ground."""
    b = MeshBuilder()
    for k in range(8):
        x, y = 0.68 * k - 2.4, 0.13 * (1 if k % 2 == 0 else -1)
        b.ellipsoid((x + 0.09, y, 0.0), (0.13, 0.065, 0.022), colour, 7, 4)
        b.ellipsoid((x - 0.10, y, 0.0), (0.07, 0.055, 0.022), colour, 6, 4)
    return _above_ground(b.mesh())


def _coloured(make: Callable[[Colour], Mesh], *names: str) -> dict[str, Callable[[], Mesh]]:
    def bind(name: str) -> Callable[[], Mesh]:
        return lambda: make(_COLOURS[name])

    return {name: bind(name) for name in names}


# Makers of every kind's variants; the first is the default.
CLUE_MESHES: dict[ClueKind, dict[str, Callable[[], Mesh]]] = {
    ClueKind.TENT: {
        **_coloured(_tent, "orange", "blue", "green", "yellow", "grey"),
        "dome_red": lambda: _dome_tent(_COLOURS["red"]),
        "dome_yellow": lambda: _dome_tent(_COLOURS["yellow"]),
    },
    ClueKind.BACKPACK: _coloured(_backpack, "blue", "red", "green", "black", "orange"),
    ClueKind.CLOTHING: _coloured(_clothing, "yellow", "red", "blue", "black", "white"),
    ClueKind.CAMPFIRE: {"burning": lambda: _campfire(True), "ashes": lambda: _campfire(False)},
    ClueKind.SIGNAL_FLARE: _coloured(_signal_flare, "red", "orange", "white"),
    ClueKind.LIGHT: _coloured(_light, "red", "green", "black"),
    ClueKind.SLEEPING_BAG: _coloured(_sleeping_bag, "blue", "red", "green", "purple"),
    ClueKind.TREKKING_POLE: _coloured(_trekking_pole, "red", "blue", "black", "yellow"),
    ClueKind.WATER_BOTTLE: _coloured(_water_bottle, "blue", "red", "white", "green"),
    ClueKind.FOOD_WRAPPER: _coloured(_food_wrapper, "red", "yellow", "white"),
    ClueKind.ROPE: _coloured(_rope, "orange", "blue", "purple"),
    ClueKind.FOOTPRINTS: {
        "mud": lambda: _footprints((0.035, 0.026, 0.018)),
        "dust": lambda: _footprints((0.22, 0.18, 0.12)),
    },
}
