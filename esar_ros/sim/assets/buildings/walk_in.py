"""Pieces for people on foot: crates and containers to go around, a deck to walk up to, a house to walk into."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.buildings.houses import ROOFS, WALLS
from esar_ros.sim.assets.buildings.masonry import Masonry
from esar_ros.sim.assets.mesh_builder import Colour
from esar_ros.sim.assets.palette import shade
from esar_ros.sim.terrain.rescue_places import house
from esar_ros.sim.terrain.settlements.plan import Piece

_DOORWAY, _LINTEL = 1.04, 2.1  # m, width and height of the openings for doors
_PLANKS: Colour = (0.25, 0.17, 0.10)
_INSIDE: Colour = (0.50, 0.48, 0.43)
_FRAME: Colour = (0.52, 0.50, 0.46)
_STONE: Colour = (0.34, 0.335, 0.32)
_STEEL: tuple[Colour, ...] = (
    (0.30, 0.06, 0.04),
    (0.05, 0.14, 0.27),
    (0.07, 0.20, 0.12),
    (0.42, 0.21, 0.05),
    (0.33, 0.34, 0.34),
)
_BOARD: Colour = (0.36, 0.26, 0.15)


def crates(m: Masonry, piece: Piece) -> None:
    """A stack of wooden crates with battens along their edges."""
    rng = np.random.default_rng(piece.seed)
    x, y, top = piece.length / 2, piece.width / 2, piece.height
    tone = shade(_BOARD, float(rng.uniform(0.7, 1.2)))
    m.block((-x, -y, -0.05), (x, y, top), tone, solid=True)
    layers = max(1, round(top / 0.8))
    for k in range(layers):
        low, high = k * top / layers, (k + 1) * top / layers
        for z in (low + 0.05, high - 0.05):
            for s in (-1.0, 1.0):
                m.boxes([(0.0, s * (y + 0.01), z)], (x + 0.02, 0.015, 0.05), shade(tone, 0.7))
                m.boxes([(s * (x + 0.01), 0.0, z)], (0.015, y + 0.02, 0.05), shade(tone, 0.7))
        for u in np.linspace(-x + 0.06, x - 0.06, max(2, round(piece.length / 0.7) + 1)):
            for s in (-1.0, 1.0):
                m.boxes([(u, s * (y + 0.01), (low + high) / 2)], (0.05, 0.012, (high - low) / 2), shade(tone, 0.8))


def walk_in_house(m: Masonry, piece: Piece) -> None:
    """A house of two floors that one walks into: walls with doorways and windows, a stair, slabs, a pitched roof.

    Style: wall and roof as of other houses, such as "plaster_white red". Its measures: terrain.rescue_places.house.
    """
    walls, cover = piece.style.split()
    wall, tiles = WALLS[walls], ROOFS[cover]
    x, y, t = house.LENGTH / 2, house.WIDTH / 2, house.THICK
    inner = y - t
    m.block((-x, -y, -0.6), (x, y, house.FLOOR), _PLANKS, solid=True)
    for floor in range(2):
        low = house.FLOOR + floor * house.STOREY
        high = low + house.STOREY
        panes = [(u, 1.2, low + 0.9, low + 2.1) for u in (-3.2, 3.3)]
        front = (
            [*panes, (house.FRONT_DOOR, _DOORWAY, low, low + _LINTEL)] if floor == 0 else [*panes, (0.2, *panes[0][1:])]
        )
        _wall(m, (-x, -y), (x, -y + t), front, low, high, wall, 0)
        _wall(m, (-x, y - t), (x, y), panes[:1], low, high, wall, 0)
        for at in (-x, x - t):
            _wall(m, (at, -inner), (at + t, inner), [(-1.2, 1.2, low + 0.9, low + 2.1)], low, high, wall, 1)
        half = t / 4
        doorway = [(0.0, _DOORWAY, low, low + _LINTEL)]
        _wall(m, (house.PARTITION - half, -inner), (house.PARTITION + half, inner), doorway, low, high - t, _INSIDE, 1)
    _upper_floor(m, x - t, inner)
    _stair(m, inner)
    _furnish(m, np.random.default_rng(piece.seed))
    eaves = house.FLOOR + 2 * house.STOREY
    m.block((-x, -y, eaves - t), (x, y, eaves), _INSIDE, solid=True)
    ridge = eaves + 0.6 * y
    for s in (-1.0, 1.0):
        m.slope(
            (0.0, s * (y + 0.4), eaves - 0.24), (0.0, 0.0, ridge), 2 * x + 0.8, 0.15, shade(tiles, 1.0 - 0.1 * (s < 0))
        )
        m.triangles([[(s * x, s * y, eaves), (s * x, 0.0, ridge), (s * x, -s * y, eaves)]], shade(wall, 0.93))


def _wall(
    m: Masonry,
    start: tuple[float, float],
    end: tuple[float, float],
    openings: list[tuple[float, float, float, float]],
    low: float,
    high: float,
    tone: Colour,
    along: int,
) -> None:
    """A wall along an axis from its minimum to its maximum corner (x, y); openings: middle, width, low and high z."""

    def part(left: float, right: float, bottom: float, top: float, paint: Colour, thicker: float = 0.0) -> None:
        a, b = [*start, bottom], [*end, top]
        a[along], b[along] = left, right
        a[1 - along], b[1 - along] = a[1 - along] - thicker, b[1 - along] + thicker
        m.block(a, b, paint, solid=thicker == 0.0)

    at = start[along]
    for middle, width, bottom, top in sorted(openings):
        left, right = middle - width / 2, middle + width / 2
        part(at, left, low, high, tone)
        if bottom > low:
            part(left, right, low, bottom, tone)
        part(left, right, top, high, tone)
        for edge in (left, right - 0.06):
            part(edge, edge + 0.06, bottom, top, _FRAME, 0.02)
        part(left, right, top - 0.06, top, _FRAME, 0.02)
        at = right
    part(at, end[along], low, high, tone)


def _upper_floor(m: Masonry, x: float, y: float) -> None:
    """The slab between the floors around the opening of the stair, and a railing along that."""
    top = house.FLOOR + house.STOREY
    left, right = house.STAIR_FOOT - house.STEPS * house.RUN, house.STAIR_FOOT + 0.1
    for low, high in (((-x, -y), (left, y)), ((right, -y), (x, y)), ((left, -y), (right, house.STAIR_SIDE))):
        m.block((*low, top - house.THICK), (*high, top - 0.03), _INSIDE, solid=True)
        m.block((*low, top - 0.03), (*high, top), _PLANKS, solid=True)
    rails = (
        ((left, house.STAIR_SIDE - 0.05), (right, house.STAIR_SIDE)),
        ((right, house.STAIR_SIDE), (right + 0.05, y)),
    )
    for low, high in rails:
        m.solid((*low, top), (*high, top + 0.95))
        m.block((*low, top + 0.88), (*high, top + 0.95), _FRAME)
        along = 0 if high[0] - low[0] > 0.1 else 1
        for u in np.arange(low[along] + 0.02, high[along], 0.2):
            a, b = [*low, top], [*high, top + 0.9]
            a[along], b[along] = u, u + 0.03
            m.block(a, b, _FRAME)


def _stair(m: Masonry, y: float) -> None:
    """Steps up towards -x along the back wall."""
    for k in range(house.STEPS):
        right, top = house.STAIR_FOOT - k * house.RUN, house.FLOOR + (k + 1) * house.RISE
        tone = shade(_BOARD, 0.9 if k % 2 else 1.05)
        m.block((right - house.RUN, house.STAIR_SIDE, house.FLOOR), (right, y, top), tone, solid=True)


def _furnish(m: Masonry, rng: np.random.Generator) -> None:
    """A table and a cupboard below, two beds above."""
    upper = house.FLOOR + house.STOREY
    cloth = ((0.10, 0.16, 0.34), (0.34, 0.07, 0.06), (0.12, 0.25, 0.12))[int(rng.integers(3))]
    m.block((-4.75, 2.0, house.FLOOR), (-4.2, 3.7, 1.9), shade(_BOARD, 0.6), solid=True)
    m.block((2.6, -2.9, 0.72), (4.0, -2.0, 0.77), _BOARD)
    for u in (2.68, 3.92):
        for v in (-2.82, -2.08):
            m.block((u - 0.04, v - 0.04, house.FLOOR), (u + 0.04, v + 0.04, 0.74), shade(_BOARD, 0.8))
    m.solid((2.6, -2.9, house.FLOOR), (4.0, -2.0, 0.77))
    for low in ((-4.7, 1.7), (3.7, -3.7)):
        x0, y0 = low
        m.block((x0, y0, upper), (x0 + 1.0, y0 + 2.05, upper + 0.3), shade(_BOARD, 0.7))
        m.block((x0 + 0.03, y0 + 0.03, upper + 0.3), (x0 + 0.97, y0 + 2.0, upper + 0.5), cloth)
        m.block((x0 + 0.15, y0 + 1.6, upper + 0.5), (x0 + 0.85, y0 + 1.95, upper + 0.58), (0.62, 0.62, 0.60))
        m.solid((x0, y0, upper), (x0 + 1.0, y0 + 2.05, upper + 0.55))


def container(m: Masonry, piece: Piece) -> None:
    """Shipping containers of 2.6 m, one upon another, with ribs and doors at +x."""
    rng = np.random.default_rng(piece.seed)
    x, y = piece.length / 2, piece.width / 2
    count = max(1, round(piece.height / 2.6))
    for k in range(count):
        low, high = k * piece.height / count, (k + 1) * piece.height / count - 0.02
        tone = shade(_STEEL[int(rng.integers(len(_STEEL)))], float(rng.uniform(0.85, 1.15)))
        m.block((-x, -y, low - 0.05 * (k == 0)), (x, y, high), tone, solid=True)
        ribs = np.arange(-x + 0.25, x - 0.1, 0.28)
        for s in (-1.0, 1.0):
            centres = np.column_stack([ribs, np.full(len(ribs), s * y), np.full(len(ribs), (low + high) / 2)])
            m.boxes(centres, (0.07, 0.03, (high - low) / 2 - 0.15), shade(tone, 0.8), fine=True)
        for v in (-0.6, -0.25, 0.25, 0.6):
            m.boxes([(x, v, (low + high) / 2)], (0.03, 0.025, (high - low) / 2 - 0.1), (0.42, 0.42, 0.41))
        m.boxes([(x, 0.0, (low + high) / 2)], (0.012, 0.015, (high - low) / 2), shade(tone, 0.4))


def loading_deck(m: Masonry, piece: Piece) -> None:
    """A deck on posts to walk upon, a ramp up to it along -x and steps at +x."""
    x, y, top = piece.length / 2, piece.width / 2, piece.height
    ramp, tread = 0.38 * piece.length, 0.32
    steps = max(2, round(top / 0.2))
    left, right = -x + ramp, x - steps * tread
    m.block((left, -y, top - 0.16), (right, y, top), _PLANKS, solid=True)
    m.solid((left, -y, -0.3), (right, y, top - 0.16))
    for u in np.linspace(left + 0.15, right - 0.15, 4):
        for v in (-y + 0.12, 0.0, y - 0.12):
            m.block((u - 0.1, v - 0.1, -0.3), (u + 0.1, v + 0.1, top - 0.16), shade(_BOARD, 0.6))
    for s in (-1.0, 1.0):
        m.boxes([((left + right) / 2, s * (y - 0.05), top - 0.3)], ((right - left) / 2, 0.05, 0.14), shade(_BOARD, 0.7))
    for k in range(steps):
        height = top * (steps - k) / (steps + 1)
        low = right + k * tread
        m.block((low, -0.7 * y, -0.2), (low + tread, 0.7 * y, height), shade(_STONE, 1.0 if k % 2 else 0.9), solid=True)
    m.ramp((-x, -0.8 * y, 0.0), (left, 0.8 * y, top), shade(_BOARD, 0.85))
