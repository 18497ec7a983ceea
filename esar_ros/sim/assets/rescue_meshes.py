"""Meshes of a rescue on foot: a stretcher on low wheels, an ambulance, a door. Fronts along +x, standing on z = 0."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.households.parts import DARK, LAMP_RED, LAMP_WHITE, PANE, STEEL, Parts
from esar_ros.sim.assets.mesh_builder import Colour, Model
from esar_ros.sim.assets.palette import COLOURS, shade
from esar_ros.sim.assets.variants import Variant, one

STRETCHER_TOP = 0.40  # m, of the mattress
DOOR_WIDTH, DOOR_HEIGHT = 1.0, 2.05  # m

_WHITE: Colour = (0.66, 0.66, 0.65)
_BAND: Colour = (0.62, 0.06, 0.02)
_STAR: Colour = (0.02, 0.10, 0.42)
_BLUE_LAMP: Colour = (0.03, 0.16, 0.85)
_MATTRESS: Colour = (0.70, 0.22, 0.03)
_WOOD: Colour = (0.19, 0.10, 0.045)


def _stretcher() -> Model:
    """Wheeled stretcher let down, 2.0 x 0.6 m, its head at -x."""
    b = Parts()
    x, y, frame = 1.0, 0.28, 0.27
    for s in (-1.0, 1.0):
        b.rod((-x, s * y, frame), (x, s * y, frame), 0.025, STEEL)
        b.rod((-0.62, s * y, frame), (0.62, s * y * 0.9, 0.1), 0.016, STEEL)
        b.rod((0.62, s * y, frame), (-0.62, s * y * 0.9, 0.1), 0.016, STEEL)
        for at in (-0.72, 0.72):
            b.wheel((at, s * 0.24, 0.075), 0.075, 0.04, STEEL)
            b.rod((at, s * 0.24, 0.08), (at, s * 0.24, frame), 0.02, STEEL)
        b.rod((-0.35, s * 0.315, frame + 0.17), (0.35, s * 0.315, frame + 0.17), 0.014, STEEL)
        for at in (-0.35, 0.0, 0.35):
            b.rod((at, s * y, frame), (at, s * 0.315, frame + 0.17), 0.012, STEEL)
    for at in (-x, -0.4, 0.4, x):
        b.rod((at, -y, frame), (at, y, frame), 0.022, STEEL)
    b.block((-0.97, -0.26, frame + 0.02), (0.97, 0.26, STRETCHER_TOP), _MATTRESS)
    b.block((-0.93, -0.21, STRETCHER_TOP), (-0.55, 0.21, STRETCHER_TOP + 0.07), COLOURS["white"])
    b.block((0.25, -0.265, frame + 0.06), (0.95, 0.265, STRETCHER_TOP + 0.03), COLOURS["white"])
    for at in (-0.25, 0.12):
        b.block((at - 0.03, -0.27, frame + 0.02), (at + 0.03, 0.27, STRETCHER_TOP + 0.012), DARK)
    b.solid((-x, -0.3, 0.0), (x, 0.3, STRETCHER_TOP))
    return b.model()


def _ambulance() -> Model:
    """Ambulance with a box body, 5.8 m long and 2.1 m wide, its doors for stretchers at -x."""
    b = Parts()
    half = 1.02
    b.prism(
        [(1.05, 0.42), (2.85, 0.42), (2.9, 0.75), (2.82, 1.1), (2.05, 1.3), (1.55, 2.05), (1.05, 2.12)],
        -0.94, 0.94, _WHITE,
    )  # fmt: skip
    b.prism([(-2.9, 0.45), (1.15, 0.45), (1.15, 2.62), (1.0, 2.7), (-2.8, 2.7), (-2.9, 2.6)], -half, half, _WHITE)
    b.quad([(2.10, -0.78, 1.31), (2.10, 0.78, 1.31), (1.615, 0.72, 2.02), (1.615, -0.72, 2.02)], PANE, True)
    for s in (-1.0, 1.0):
        b.prism(
            [(1.2, 1.32), (1.92, 1.32), (1.55, 1.95), (1.2, 1.97)],
            min(s * 0.945, s * 0.955),
            max(s * 0.945, s * 0.955),
            PANE,
        )
        b.block(*_span((1.98, s * 0.95, 1.3), (2.1, s * 1.16, 1.62)), DARK)
        b.block(*_span((-2.9, s * half, 1.0), (1.15, s * (half + 0.008), 1.32)), _BAND)
        b.block(*_span((1.15, s * 0.94, 0.92), (2.78, s * 0.949, 1.18)), _BAND)
        b.block(*_span((-2.9, s * half, 0.72), (1.15, s * (half + 0.006), 0.8)), _STAR)
        _star(b, s * (half + 0.012), (-1.7, 1.95), s)
        b.block(*_span((-0.6, s * half, 1.72), (0.75, s * (half + 0.01), 2.3)), PANE)
        b.block(*_span((-2.9, s * half, 0.38), (1.15, s * (half - 0.05), 0.5)), DARK)
        for x in (2.05, -1.75):
            b.wheel((x, s * 0.9, 0.36), 0.36, 0.26, STEEL)
            b.rod((x, s * 0.86, 0.4), (x, s * (half - 0.02), 0.4), 0.44, DARK, 14)
        b.block((2.86, s * 0.68 - 0.17, 0.78), (2.915, s * 0.68 + 0.17, 0.98), LAMP_WHITE)
        b.block((-2.93, s * 0.88 - 0.09, 0.62), (-2.89, s * 0.88 + 0.09, 0.95), LAMP_RED)
        b.block((-2.915, min(s * 0.1, s * 0.86), 1.5), (-2.895, max(s * 0.1, s * 0.86), 2.2), PANE)
        b.block((-2.93, s * 0.04 - 0.015, 1.05), (-2.895, s * 0.04 + 0.015, 1.4), DARK)
        for x in (1.02, -2.75):
            b.ellipsoid((x, s * 0.62, 2.76), (0.13, 0.24, 0.1), _BLUE_LAMP, 10, 6)
    b.block((-2.92, -half, 1.0), (-2.9, half, 1.32), _BAND)
    b.block((2.86, -0.42, 0.62), (2.925, 0.42, 0.9), DARK)
    b.block((2.78, -0.95, 0.4), (2.98, 0.95, 0.56), shade(_WHITE, 0.5))
    b.block((-3.02, -0.95, 0.4), (-2.88, 0.95, 0.52), DARK)
    b.block((0.85, -0.8, 2.68), (1.12, 0.8, 2.73), DARK)
    b.solid((-3.0, -half, 0.0), (1.15, half, 2.75))
    b.solid((1.15, -0.95, 0.0), (2.95, 0.95, 1.3))
    b.solid((1.15, -0.95, 1.3), (1.85, 0.95, 2.1))
    return b.model()


def _star(b: Parts, y: float, middle: tuple[float, float], side: float) -> None:
    """Six-armed star on a side wall, as paramedics have it; middle: x, z."""
    for angle in np.arange(3) * np.pi / 3.0:
        along = np.array([np.sin(angle), 0.0, np.cos(angle)])
        across = np.array([np.cos(angle), 0.0, -np.sin(angle)])
        c = np.array([middle[0], y, middle[1]])
        corners = [c + 0.36 * u * along + 0.1 * v * across for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        b.quad(corners, _STAR, two_sided=True)


def _door() -> Model:
    """Wooden door in its frame's opening, shut: one passes along x; its sill's middle is the origin."""
    b = Parts()
    y = DOOR_WIDTH / 2
    b.block((-0.025, -y, 0.01), (0.025, y, DOOR_HEIGHT), _WOOD)
    for s in (-1.0, 1.0):
        for low, high in ((0.18, 0.95), (1.12, 1.9)):
            for left, right in ((-0.38, -0.05), (0.05, 0.38)):
                b.block(*_span((s * 0.025, left, low), (s * 0.033, right, high)), shade(_WOOD, 1.35))
        b.rod((s * 0.03, 0.40, 1.03), (s * 0.08, 0.40, 1.03), 0.014, STEEL)
        b.rod((s * 0.08, 0.40, 1.03), (s * 0.08, 0.28, 1.03), 0.013, STEEL)
    b.solid((-0.04, -y, 0.0), (0.04, y, DOOR_HEIGHT))
    return b.model()


def _span(one_corner: tuple[float, float, float], other: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Minimum and maximum corner of the box between two corners."""
    return np.minimum(one_corner, other), np.maximum(one_corner, other)


RESCUES: dict[str, tuple[Variant, ...]] = {
    "stretcher": (one("orange", "orange", "stretcher on wheels with an orange mattress", _stretcher),),
    "ambulance": (one("white", "white", "white ambulance with a red band and blue lights", _ambulance),),
    "door": (one("brown", "brown", "brown wooden door", _door),),
}
