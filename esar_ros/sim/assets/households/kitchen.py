"""Pots, kettles, cookers, grills, bottles and lamps of a kitchen."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.households.make import Family, Finish, Shape, Stand, family
from esar_ros.sim.assets.households.parts import DARK, LAMP_WHITE, STEEL, Parts
from esar_ros.sim.assets.mesh_builder import Model
from esar_ros.sim.assets.palette import BLACK, COLOURS, shade


def _teapot(finish: Finish) -> Model:
    """Round teapot, 0.32 m from spout to handle."""
    b = Parts()
    b.turned([(0.07, 0.0), (0.11, 0.03), (0.12, 0.09), (0.09, 0.15), (0.05, 0.17)], finish.tone, 14)
    b.turned([(0.05, 0.17), (0.04, 0.19), (0.015, 0.2)], shade(finish.tone, 0.8), 10)
    b.ellipsoid((0.0, 0.0, 0.21), (0.016, 0.016, 0.016), shade(finish.tone, 0.6), 7, 5)
    b.limb((0.1, 0.0, 0.07), (0.2, 0.0, 0.16), 0.025, 0.012, finish.tone, 7)
    arc = np.linspace(-1.3, 1.3, 8)
    b.tube(np.stack([-0.1 - 0.06 * np.cos(arc), 0.0 * arc, 0.09 + 0.055 * np.sin(arc)], axis=1), 0.01, finish.tone, 5)
    return b.model()


def _kettle(finish: Finish) -> Model:
    """Tall kettle with a bow over its lid, 0.3 m high."""
    b = Parts()
    b.turned([(0.11, 0.0), (0.12, 0.02), (0.1, 0.14), (0.05, 0.17)], finish.tone, 14)
    b.limb((0.08, 0.0, 0.08), (0.2, 0.0, 0.19), 0.028, 0.014, finish.tone, 7)
    arc = np.linspace(0.2, np.pi - 0.2, 9)
    b.tube(np.stack([0.1 * np.cos(arc), 0.0 * arc, 0.14 + 0.15 * np.sin(arc)], axis=1), 0.01, DARK, 5)
    b.ellipsoid((0.0, 0.0, 0.18), (0.02, 0.02, 0.015), DARK, 7, 5)
    return b.model()


def _pot(finish: Finish) -> Model:
    """Cooking pot with two handles and a lid, 0.42 m across."""
    b = Parts()
    b.turned([(0.19, 0.0), (0.21, 0.03), (0.21, 0.26), (0.215, 0.27)], finish.tone, 16)
    b.turned([(0.215, 0.27), (0.18, 0.31), (0.03, 0.34)], shade(finish.tone, 0.8), 16)
    b.ellipsoid((0.0, 0.0, 0.355), (0.03, 0.03, 0.02), DARK, 8, 5)
    for s in (-1.0, 1.0):
        b.rods(
            [(-0.06, s * 0.2, 0.2), (-0.06, s * 0.27, 0.21), (0.06, s * 0.27, 0.21), (0.06, s * 0.2, 0.2)], 0.012, DARK
        )
    return b.model()


def _pan(finish: Finish) -> Model:
    """Frying pan with a long handle, 0.65 m over all."""
    b = Parts()
    b.turned([(0.15, 0.0), (0.18, 0.05), (0.185, 0.05), (0.155, 0.012), (0.02, 0.01)], finish.tone, 16)
    b.limb((0.17, 0.0, 0.045), (0.45, 0.0, 0.075), 0.016, 0.02, DARK, 6)
    return b.model()


def _cooker(finish: Finish) -> Model:
    """Cooker with four plates and an oven door, 0.6 m wide."""
    b = Parts()
    b.block((-0.3, -0.3, 0.0), (0.3, 0.3, 0.86), finish.tone)
    for x in (-0.14, 0.14):
        for y in (-0.14, 0.14):
            b.rod((x, y, 0.86), (x, y, 0.88), 0.1, BLACK, 12)
    b.block((0.3, -0.25, 0.16), (0.32, 0.25, 0.62), DARK)
    b.rod((0.35, -0.22, 0.66), (0.35, 0.22, 0.66), 0.014, STEEL)
    for y in (-0.2, -0.07, 0.07, 0.2):
        b.rod((0.3, y, 0.77), (0.33, y, 0.77), 0.03, DARK, 8)
    b.block((-0.32, -0.3, 0.86), (-0.28, 0.3, 1.1), shade(finish.tone, 0.85))
    b.solid((-0.32, -0.3, 0.0), (0.33, 0.3, 0.9))
    return b.model()


def _wood_stove(finish: Finish) -> Model:
    """Round-bodied wood stove on legs with a stove pipe, 1.8 m high."""
    b = Parts()
    b.turned([(0.26, 0.22), (0.32, 0.3), (0.32, 0.78), (0.24, 0.86)], finish.tone, 14)
    b.block((0.26, -0.14, 0.36), (0.34, 0.14, 0.64), shade(finish.tone, 0.6))
    b.rod((0.36, 0.1, 0.5), (0.36, 0.1, 0.58), 0.015, STEEL)
    b.rod((-0.06, 0.0, 0.84), (-0.06, 0.0, 1.8), 0.07, shade(finish.tone, 0.7), 10)
    b.legs(0.18, 0.18, 0.26, 0.03, DARK, 0.05)
    b.solid((-0.32, -0.32, 0.0), (0.34, 0.32, 0.86))
    b.solid_rod((-0.06, 0.0, 0.86), (-0.06, 0.0, 1.8), 0.07)
    return b.model()


def _kettle_grill(finish: Finish) -> Model:
    """Round grill on three legs with a domed lid, 1.0 m high."""
    b = Parts()
    b.ellipsoid((0.0, 0.0, 0.78), (0.29, 0.29, 0.2), finish.tone, 14, 8)
    b.hoop((0.0, 0.0, 0.78), 0.295, 0.015, STEEL)
    b.rods([(-0.05, 0.0, 0.97), (-0.05, 0.0, 1.02), (0.05, 0.0, 1.02), (0.05, 0.0, 0.97)], 0.012, DARK)
    for k in range(3):
        a = k * 2.0 * np.pi / 3
        c, s = float(np.cos(a)), float(np.sin(a))
        b.rod((0.34 * c, 0.34 * s, 0.0), (0.2 * c, 0.2 * s, 0.66), 0.015, STEEL)
    b.solid((-0.28, -0.28, 0.55), (0.28, 0.28, 0.98))
    b.solid((-0.2, -0.2, 0.0), (0.2, 0.2, 0.55))
    return b.model()


def _box_grill(finish: Finish) -> Model:
    """Gas grill on a cart with two shelves, 1.4 m wide."""
    b = Parts()
    b.block((-0.25, -0.35, 0.1), (0.25, 0.35, 0.82), shade(finish.tone, 0.6))
    b.body(
        [(0.0, -0.38, 0.92), (0.0, 0.0, 0.94), (0.0, 0.38, 0.92)], [0.29, 0.3, 0.29], [0.2, 0.22, 0.2], finish.tone, 10
    )
    for s in (-1.0, 1.0):
        low, high = sorted((s * 0.38, s * 0.7))
        b.block((-0.22, low, 0.8), (0.22, high, 0.84), STEEL)
        b.wheel((-0.2, s * 0.3, 0.09), 0.09, 0.05, STEEL)
    b.rod((0.32, -0.3, 0.94), (0.32, 0.3, 0.94), 0.015, STEEL)
    b.solid((-0.28, -0.38, 0.0), (0.3, 0.38, 1.12))
    b.solid((-0.22, -0.7, 0.78), (0.22, 0.7, 0.86))
    return b.model()


def _bottle(finish: Finish) -> Model:
    """Bottle, 0.35 m high."""
    b = Parts()
    b.turned([(0.045, 0.0), (0.05, 0.02), (0.05, 0.2), (0.018, 0.27), (0.018, 0.33)], finish.tone, 12)
    b.turned([(0.02, 0.33), (0.02, 0.35)], (0.35, 0.25, 0.14), 8)
    b.turned([(0.0515, 0.08), (0.0515, 0.16)], LAMP_WHITE, 12)
    return b.model()


def _demijohn(finish: Finish) -> Model:
    """Big-bellied bottle, 0.55 m high."""
    b = Parts()
    b.turned([(0.12, 0.0), (0.2, 0.1), (0.21, 0.22), (0.14, 0.36), (0.045, 0.42), (0.045, 0.52)], finish.tone, 14)
    b.turned([(0.035, 0.52), (0.035, 0.56)], (0.35, 0.25, 0.14), 8)
    return b.model()


def _milk_can(finish: Finish) -> Model:
    """Milk can with a lid and two handles, 0.72 m high."""
    b = Parts()
    b.turned([(0.19, 0.0), (0.2, 0.03), (0.2, 0.45), (0.12, 0.58), (0.12, 0.66)], finish.tone, 14)
    b.turned([(0.15, 0.66), (0.15, 0.69), (0.05, 0.72)], shade(finish.tone, 0.75), 12)
    for s in (-1.0, 1.0):
        b.rods([(0.0, s * 0.13, 0.62), (0.0, s * 0.22, 0.6), (0.0, s * 0.21, 0.44)], 0.014, shade(finish.tone, 0.75))
    return b.model()


def _milk_bottle_crate(finish: Finish) -> Model:
    """Crate of twelve milk bottles, 0.46 m."""
    b = Parts()
    for s in (-1.0, 1.0):
        b.block((-0.23, s * 0.17 - 0.015, 0.0), (0.23, s * 0.17 + 0.015, 0.22), finish.tone)
        b.block((s * 0.23 - 0.015, -0.17, 0.0), (s * 0.23 + 0.015, 0.17, 0.22), finish.tone)
    b.block((-0.23, -0.17, 0.0), (0.23, 0.17, 0.02), shade(finish.tone, 0.8))
    for x in (-0.17, -0.057, 0.057, 0.17):
        for y in (-0.11, 0.0, 0.11):
            b.turned([(0.042, 0.02), (0.042, 0.2), (0.02, 0.26), (0.022, 0.3)], COLOURS["white"], 8, (x, y))
    return b.model()


def _lantern(finish: Finish) -> Model:
    """Storm lantern with a wire bow, 0.38 m high."""
    b = Parts()
    b.turned([(0.09, 0.0), (0.1, 0.02), (0.1, 0.07), (0.05, 0.09)], finish.tone, 12)
    b.turned([(0.045, 0.09), (0.065, 0.15), (0.045, 0.21)], LAMP_WHITE, 10)
    b.turned([(0.05, 0.21), (0.07, 0.23), (0.04, 0.28), (0.045, 0.3)], finish.tone, 12)
    for s in (-1.0, 1.0):
        b.rods([(0.0, s * 0.08, 0.05), (0.0, s * 0.1, 0.2), (0.0, s * 0.05, 0.27)], 0.009, finish.tone)
    arc = np.linspace(0.0, np.pi, 8)
    b.tube(np.stack([0.0 * arc, 0.11 * np.cos(arc), 0.22 + 0.16 * np.sin(arc)], axis=1), 0.006, STEEL, 4)
    return b.model()


def _square_lantern(finish: Finish) -> Model:
    """Square house lantern with a pointed roof, 0.5 m high."""
    b = Parts()
    b.block((-0.12, -0.12, 0.0), (0.12, 0.12, 0.03), finish.tone)
    for x in (-0.1, 0.1):
        for y in (-0.1, 0.1):
            b.rod((x, y, 0.03), (x, y, 0.3), 0.012, finish.tone, 4)
    b.turned([(0.04, 0.03), (0.04, 0.18)], LAMP_WHITE, 10)
    b.turned([(0.18, 0.3), (0.17, 0.33), (0.03, 0.43)], finish.tone, 4)
    turn = np.linspace(0.0, 2.0 * np.pi, 11)
    ring = [0.035 * np.cos(turn), 0.0 * turn, 0.465 + 0.035 * np.sin(turn)]
    b.tube(np.stack(ring, axis=1), 0.007, finish.tone, 5)
    return b.model()


KITCHEN: tuple[Family, ...] = (
    family(
        "teapot",
        Stand.ANY,
        Shape("round", "round {} teapot", _teapot, "white/blue china, red clay, golden metal"),
        Shape("kettle", "{} kettle with a bow handle", _kettle, "silver/red/blue metal"),
    ),
    family(
        "cooking pot",
        Stand.ANY,
        Shape("lid", "{} cooking pot with a lid and two handles", _pot, "silver/red/orange/black metal"),
        Shape("pan", "{} frying pan with a long handle", _pan, "black/blue/silver metal"),
    ),
    family(
        "stove",
        Stand.ANY,
        Shape("cooker", "{} cooker with four plates", _cooker, "white/red/black metal"),
        Shape("wood", "{} wood stove with a pipe", _wood_stove, "black/green/rusty metal"),
    ),
    family(
        "grill",
        Stand.ANY,
        Shape("kettle", "round {} grill on three legs", _kettle_grill, "black/red/green/orange metal"),
        Shape("gas", "{} gas grill with two side shelves", _box_grill, "black/silver/red metal"),
    ),
    family(
        "bottle",
        Stand.ANY,
        Shape("slim", "slim {} bottle with a white label", _bottle, "green/brown/clear glass"),
        Shape("belly", "big-bellied {} bottle", _demijohn, "green/brown/clear glass"),
    ),
    family(
        "milk can",
        Stand.GREEN,
        Shape("can", "{} milk can with two handles", _milk_can, "silver/blue/white/red/rusty metal"),
        Shape("crate", "{} crate of white milk bottles", _milk_bottle_crate, "blue/red plastic"),
    ),
    family(
        "lantern",
        Stand.ANY,
        Shape("storm", "round {} storm lantern", _lantern, "red/blue/green/black metal"),
        Shape("house", "square {} lantern with a pointed roof", _square_lantern, "black/white/golden metal"),
    ),
)
